//! Provider-given reset times (E6): declarations are tried in order, the first that yields wins.

use regex_automata::{Input, util::primitives::PatternID};

use super::{
    ResetHint,
    find::glob,
    judge::{Judge, texts},
};
use crate::{
    lang::{
        policy::ResetBounds,
        tree::{Field, Reset, ResetId, ResetPlace},
    },
    signal::Evidence,
    table::{ask, exprs::Expr},
    time::{self, Timestamp},
};

/// Groups of an expression that are looked at; `t` must be among them.
const GROUPS: usize = 16;

/// The hint that a reaction asks for, within its bounds.
pub(super) fn hint(judge: &mut Judge<'_>, bounds: ResetBounds, now: Timestamp) -> Option<ResetHint> {
    let table = judge.table;
    for (index, (reset, program)) in (0u32..).zip(table.ruleset().resets.iter().zip(&table.matcher().resets))
    {
        if !judge.run(program.when) {
            continue;
        }
        let found = match (&reset.from, &program.expr) {
            (ResetPlace::Text(_), Some((expr, gates))) => {
                if !gates.iter().all(|gate| judge.holds(*gate)) {
                    continue;
                }
                table.matcher().exprs.get(*expr).and_then(|expr| in_texts(reset, expr, judge.evidence, now))
            }
            _ => in_fields(reset, judge.evidence, now),
        };
        if let Some(given) = found {
            return Some(clamp(judge, reset, ResetId(index), bounds, given, now));
        }
    }
    None
}

/// The group `t` of the expression, in the first text where it says a time. Dates keep their case
/// only in the original, which an expression with `/c` searches.
fn in_texts(reset: &Reset, expr: &Expr, evidence: &Evidence, now: Timestamp) -> Option<Timestamp> {
    let built = expr.get()?;
    let group = built.group_info().to_index(PatternID::ZERO, "t")?;
    texts(evidence, ask::mask(&Field::Text)).find_map(|(folded, original)| {
        let text = if expr.case_sensitive { original } else { folded };
        let mut slots = [None; 2 * GROUPS];
        built.search_slots(&Input::new(text), &mut slots)?;
        let start = slots.get(2 * group).copied().flatten()?.get();
        let end = slots.get(2 * group + 1).copied().flatten()?.get();
        read(reset, text.get(start..end)?, now)
    })
}

/// The latest time of headers that fit, or the first of JSON fields.
fn in_fields(reset: &Reset, evidence: &Evidence, now: Timestamp) -> Option<Timestamp> {
    match &reset.from {
        ResetPlace::Header(name) => {
            let headers = evidence.headers.iter().filter(|(key, _)| glob(name, key));
            headers.filter_map(|(_, value)| read(reset, value, now)).max()
        }
        ResetPlace::Field(name) => {
            let original =
                |range: &std::ops::Range<usize>| evidence.original.get(range.clone()).unwrap_or("");
            let fields = evidence.scalars.iter();
            fields
                .filter(|field| original(&field.key).eq_ignore_ascii_case(name))
                .find_map(|field| read(reset, original(&field.value), now))
        }
        ResetPlace::Text(_) => None,
    }
}

/// The first unit in which the text is a time.
fn read(reset: &Reset, text: &str, now: Timestamp) -> Option<Timestamp> {
    reset.units.iter().find_map(|unit| time::parse_in(text, *unit, now))
}

/// A given time within the bounds of its use; a declaration that is trusted further extends them.
fn clamp(
    judge: &Judge<'_>,
    reset: &Reset,
    from: ResetId,
    bounds: ResetBounds,
    given: Timestamp,
    now: Timestamp,
) -> ResetHint {
    let provider = Some(judge.evidence.provider.as_str()).filter(|provider| !provider.is_empty());
    let value = |slot| judge.table.settings().duration(slot, provider);
    let least = value(bounds.at_least);
    let most = value(bounds.at_most).max(reset.trusted.map(value).unwrap_or_default()).max(least);
    ResetHint { at: given.clamp(now.after(least), now.after(most)), given, from }
}
