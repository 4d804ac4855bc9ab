//! Verdicts as JSON lines. What depends on the rule alone is made once and copied afterwards.

use serde_json::value::RawValue;

use super::{
    escape::Shown,
    jsonl::{push_json, push_string},
};
use crate::{
    classify::Verdict,
    lang::{policy::Reaction, tree::RuleId},
    signal::{Evidence, SegmentKind, mask},
    table::Table,
    time::Timestamp,
    verify::snapshot,
};

/// As much of a message as any terminal shows.
const LONGEST_MESSAGE: usize = 400;

/// Writes answers of one rule set.
pub(super) struct Answers<'t> {
    table: &'t Table,
    /// By rule, then by bucket: everything between `id` and the value of `resetMs`.
    middles: Vec<Box<[u8]>>,
}

impl<'t> Answers<'t> {
    pub(super) fn new(table: &'t Table) -> Self {
        let rules = table.ruleset();
        Self { table, middles: vec![Box::default(); rules.rules.len() + rules.buckets.len()] }
    }

    /// Appends `{"id":…,"bucket":…,…}` and a line break. `now` is what `resetMs` counts from.
    pub(super) fn push(
        &mut self,
        out: &mut Vec<u8>,
        id: Option<&RawValue>,
        verdict: &Verdict,
        now: Timestamp,
    ) {
        out.extend_from_slice(b"{\"id\":");
        push_json(out, id.map_or("null", RawValue::get));
        let table = self.table;
        let index = verdict.rule.map_or(table.ruleset().rules.len() + verdict.bucket.index(), RuleId::index);
        if let Some(middle) = self.middles.get_mut(index) {
            if middle.is_empty() {
                *middle = make_middle(table, verdict);
            }
            out.extend_from_slice(middle);
        }
        match verdict.reset {
            Some(hint) => push_number(out, hint.at.since(now).as_millis()),
            None => out.extend_from_slice(b"null"),
        }
        out.extend_from_slice(b"}\n");
    }
}

/// Appends what stands in place of a line that cannot be read.
pub(super) fn push_error(out: &mut Vec<u8>, line: u64, error: &str) {
    out.extend_from_slice(b"{\"line\":");
    push_number(out, line.into());
    out.extend_from_slice(b",\"error\":");
    push_string(out, error);
    out.extend_from_slice(b"}\n");
}

fn make_middle(table: &Table, verdict: &Verdict) -> Box<[u8]> {
    let mut out = b",\"bucket\":".to_vec();
    push_string(&mut out, &table.bucket(verdict.bucket).name);
    match verdict.rule.map(|rule| table.rule(rule)) {
        Some(rule) => {
            out.extend_from_slice(b",\"rule\":");
            push_string(&mut out, &rule.name);
            out.extend_from_slice(b",\"at\":");
            push_string(&mut out, &table.locate(rule.span));
        }
        None => out.extend_from_slice(b",\"rule\":null,\"at\":null"),
    }
    let reaction = table.reaction(verdict);
    out.extend_from_slice(b",\"action\":");
    push_string(&mut out, action(reaction));
    out.extend_from_slice(b",\"then\":");
    push_string(&mut out, then(reaction));
    out.extend_from_slice(b",\"resetMs\":");
    out.into_boxed_slice()
}

/// What happens to the profile.
pub(super) fn action(reaction: &Reaction) -> &'static str {
    snapshot::action(reaction.window.as_ref().map(|window| window.lane))
}

/// What happens when the provider is exhausted.
pub(super) fn then(reaction: &Reaction) -> &'static str {
    snapshot::then(*reaction.end)
}

fn push_number(out: &mut Vec<u8>, number: u128) {
    // A vector takes everything.
    let _ = std::io::Write::write_fmt(out, format_args!("{number}"));
}

/// What the provider said, on one line and fit for a terminal; without a message, what else there is.
pub(super) fn message(evidence: &Evidence) -> String {
    let text = |kind| {
        let segment = evidence.segments.iter().find(|segment| segment.kind == kind)?;
        let text = evidence.original.get(segment.original.clone())?.trim();
        (!text.is_empty()).then_some(text)
    };
    let status = evidence.status.map(|status| status.to_string());
    let text = [SegmentKind::Message, SegmentKind::Detail, SegmentKind::Code, SegmentKind::Type]
        .into_iter()
        .find_map(text)
        .or(status.as_deref())
        .unwrap_or("");
    let head: String = mask(text)
        .split_whitespace()
        .flat_map(|word| [word, " "])
        .flat_map(str::chars)
        .take(LONGEST_MESSAGE)
        .collect();
    Shown(head.trim_end()).to_string()
}
