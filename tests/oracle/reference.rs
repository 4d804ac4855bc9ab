//! The reference: rule by rule, plain search, one regular expression at a time. It folds the original
//! texts itself and never looks at the folded ones.

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use pointsman::{
    classify::{ResetHint, Verdict},
    lang::{
        policy::ResetBounds,
        tree::{
            BlockId, BucketId, Cond, Field, Op, Phrases, Quantifier, Reset, ResetId, ResetPlace, Rule,
            RuleId, Ruleset, Test,
        },
    },
    signal::{Evidence, SegmentKind},
    table::Settings,
    time::{Timestamp, parse_in},
};

/// The rules, and the values of settings in force, in which reset bounds may stand.
#[derive(Clone, Copy)]
pub struct Reference<'a> {
    pub rules: &'a Ruleset,
    pub settings: &'a Settings,
}

/// One error, as the reference reads it.
pub struct Case<'a> {
    evidence: &'a Evidence,
    texts: Vec<Text>,
}

struct Text {
    kind: SegmentKind,
    original: String,
    folded: String,
    /// Folded, and `_` and `-` as blanks.
    letters: String,
}

impl<'a> Case<'a> {
    pub fn new(evidence: &'a Evidence) -> Self {
        let texts = evidence
            .segments
            .iter()
            .map(|segment| Text::new(segment.kind, &evidence.original[segment.original.clone()]));
        Self { evidence, texts: texts.collect() }
    }
}

impl Text {
    fn new(kind: SegmentKind, original: &str) -> Self {
        let folded = fold(original);
        Self { kind, original: original.to_owned(), letters: letters(&folded), folded }
    }
}

impl Reference<'_> {
    pub fn verdict(self, case: &Case, received_at: Option<Timestamp>) -> Verdict {
        let mut observed = Vec::new();
        let mut decided = None;
        for (id, rule) in (0u32..).map(RuleId).zip(&self.rules.rules) {
            if !self.rule_holds(rule, case) {
                continue;
            }
            if !rule.observe {
                decided = Some((id, rule));
                break;
            }
            observed.push(id);
        }
        let bucket = match decided {
            Some((_, rule)) => rule.bucket,
            None if nothing_to_look_at(case) => BucketId::EMPTY_RESPONSE,
            None => BucketId::UNCLASSIFIED,
        };
        let own = decided.and_then(|(_, rule)| rule.reaction.as_ref());
        let reaction = own.unwrap_or(&self.rules.buckets[bucket.index()].reaction);
        let bounds = reaction.window.node.and_then(|window| window.until_reset);
        let reset = received_at.zip(bounds).and_then(|(now, bounds)| self.reset(case, bounds, now));
        Verdict { bucket, rule: decided.map(|(id, _)| id), reset, observed }
    }

    pub fn rule_holds(self, rule: &Rule, case: &Case) -> bool {
        let mut block = rule.block;
        while let Some(BlockId(at)) = block {
            let outer = &self.rules.blocks[at as usize];
            if !self.cond(case, &outer.guard) {
                return false;
            }
            block = outer.parent;
        }
        self.cond(case, &rule.when)
    }

    fn cond(self, case: &Case, what: &Cond) -> bool {
        match what {
            Cond::Always => true,
            Cond::All(parts) => parts.iter().all(|part| self.cond(case, part)),
            Cond::Any(parts) => parts.iter().any(|part| self.cond(case, part)),
            Cond::Not(inner) => !self.cond(case, inner),
            Cond::Let(id, _) => self.cond(case, &self.rules.lets[id.index()].cond),
            Cond::Test(test) => self.test(case, test),
        }
    }

    fn test(self, case: &Case, test: &Test) -> bool {
        let evidence = case.evidence;
        match &test.field {
            Field::Status => numbers(&test.op, evidence.status.map(u32::from).as_slice()),
            Field::AnyStatus => {
                numbers(&test.op, &evidence.statuses.iter().map(|n| u32::from(*n)).collect::<Vec<_>>())
            }
            Field::LeadingNumber => numbers(&test.op, evidence.leading_number.as_slice()),
            Field::Provider => ids(&test.op, &evidence.provider, &|id| self.family(id)),
            Field::Model => ids(&test.op, &evidence.model, &str::to_owned),
            Field::Body => words(&test.op, Some(&format!("{:?}", evidence.body).to_lowercase())),
            Field::Aborted => {
                words(&test.op, evidence.aborted.map(|how| format!("{how:?}").to_lowercase()).as_deref())
            }
            Field::Header(name) => {
                let values: Vec<Text> = evidence
                    .headers
                    .iter()
                    .filter(|(key, _)| key == name)
                    .map(|(_, value)| Text::new(SegmentKind::Param, value))
                    .collect();
                match test.op {
                    Op::Present => !values.is_empty(),
                    Op::Absent => values.is_empty(),
                    _ => self.texts(&test.op, &values.iter().collect::<Vec<_>>()),
                }
            }
            field => {
                let texts = case.texts.iter().filter(|text| covers(field, text.kind));
                self.texts(&test.op, &texts.collect::<Vec<_>>())
            }
        }
    }

    fn family(self, id: &str) -> String {
        let is = |member: &String| member.to_lowercase() == id;
        let of = self.rules.aliases.iter().find(|alias| is(&alias.family) || alias.members.iter().any(is));
        of.map_or(id.to_owned(), |alias| alias.family.to_lowercase())
    }

    fn texts(self, op: &Op, found: &[&Text]) -> bool {
        let bare = |text: &str| text.strip_suffix(['.', '!']).unwrap_or(text).to_owned();
        let is = |wanted: &str| {
            let wanted = bare(&folded(wanted));
            !wanted.is_empty()
                && found.iter().any(|text| text.folded == wanted || bare(&text.folded) == wanted)
        };
        let has = |phrase: &str| found.iter().any(|text| has(&letters(&folded(phrase)), text));
        match op {
            Op::Is(wanted) => is(wanted),
            Op::In(all) => all.iter().any(|wanted| is(wanted)),
            Op::Has(quantifier, phrases) => {
                let all = match phrases {
                    Phrases::Inline(all) => all,
                    Phrases::List(id, _) => &self.rules.lists[id.index()].entries,
                };
                match quantifier {
                    Quantifier::Any => all.iter().any(|phrase| has(phrase)),
                    Quantifier::All => all.iter().all(|phrase| has(phrase)),
                }
            }
            Op::Contains(part) => {
                let blank = |there: bool| if there { " " } else { "" };
                let first = blank(part.starts_with(char::is_whitespace));
                let part = format!("{first}{}{}", folded(part), blank(part.ends_with(char::is_whitespace)));
                found.iter().any(|text| text.folded.contains(&part))
            }
            Op::StartsWith(prefix) => {
                let last = if prefix.ends_with(char::is_whitespace) { " " } else { "" };
                let prefix = format!("{}{last}", folded(prefix));
                found.iter().any(|text| text.folded.starts_with(&prefix))
            }
            Op::Matches(regex) => {
                let expr = expression(&regex.pattern, regex.case_sensitive);
                found.iter().any(|text| {
                    expr.is_match(if regex.case_sensitive { &text.original } else { &text.folded })
                })
            }
            Op::Present => found.iter().any(|text| !text.folded.is_empty()),
            Op::Absent => !found.iter().any(|text| !text.folded.is_empty()),
            Op::Number(_) => false,
        }
    }

    /// The first declaration that yields a time, within the bounds of its use.
    fn reset(self, case: &Case, bounds: ResetBounds, now: Timestamp) -> Option<ResetHint> {
        let resets = (0u32..).map(ResetId).zip(&self.rules.resets);
        let (from, reset, given) = resets
            .filter(|(_, reset)| self.cond(case, &reset.when))
            .find_map(|(id, reset)| given(case, reset, now).map(|given| (id, reset, given)))?;
        let provider = Some(case.evidence.provider.as_str()).filter(|id| !id.is_empty());
        let value = |slot| self.settings.duration(slot, provider);
        let least = value(bounds.at_least);
        let most = [Some(value(bounds.at_most)), reset.trusted.map(value), Some(least)];
        let most = most.into_iter().flatten().max()?;
        let at = given.max(now.after(least)).min(now.after(most));
        Some(ResetHint { at, given, from })
    }
}

/// What one declaration finds.
fn given(case: &Case, reset: &Reset, now: Timestamp) -> Option<Timestamp> {
    let read = |text: &str| reset.units.iter().find_map(|unit| parse_in(text, *unit, now));
    let evidence = case.evidence;
    match &reset.from {
        ResetPlace::Header(name) => {
            let headers = evidence.headers.iter().filter(|(key, _)| glob(name, key));
            headers.filter_map(|(_, value)| read(value)).max()
        }
        ResetPlace::Field(name) => {
            let fields = evidence.scalars.iter().map(|scalar| evidence.scalar_text(scalar));
            fields
                .filter(|(key, _)| key.to_ascii_lowercase() == name.to_ascii_lowercase())
                .find_map(|(_, value)| read(value))
        }
        ResetPlace::Text(regex) => {
            let expr = expression(&regex.pattern, regex.case_sensitive);
            let texts = case.texts.iter().filter(|text| covers(&Field::Text, text.kind));
            texts
                .filter_map(|text| {
                    let text = if regex.case_sensitive { &text.original } else { &text.folded };
                    expr.captures(text)?.name("t")
                })
                .find_map(|found| read(found.as_str()))
        }
    }
}

fn nothing_to_look_at(case: &Case) -> bool {
    let evidence = case.evidence;
    evidence.status.is_none()
        && evidence.leading_number.is_none()
        && evidence.aborted.is_none()
        && case.texts.iter().all(|text| text.kind == SegmentKind::Echo)
}

fn covers(field: &Field, kind: SegmentKind) -> bool {
    match field {
        Field::Text => matches!(kind, SegmentKind::Message | SegmentKind::Detail),
        Field::Message => kind == SegmentKind::Message,
        Field::Detail => kind == SegmentKind::Detail,
        Field::Wrapper => kind == SegmentKind::Wrapper,
        Field::Echo => kind == SegmentKind::Echo,
        Field::Code => kind == SegmentKind::Code,
        Field::Type => kind == SegmentKind::Type,
        Field::Param => kind == SegmentKind::Param,
        _ => false,
    }
}

fn numbers(op: &Op, found: &[u32]) -> bool {
    match op {
        Op::Number(ranges) => found.iter().any(|n| ranges.iter().any(|(a, b)| a <= n && n <= b)),
        Op::Present => !found.is_empty(),
        Op::Absent => found.is_empty(),
        _ => false,
    }
}

fn words(op: &Op, found: Option<&str>) -> bool {
    match op {
        Op::Is(word) => found == Some(word.node.as_str()),
        Op::In(all) => all.iter().any(|word| found == Some(word.node.as_str())),
        Op::Present => found.is_some(),
        Op::Absent => found.is_none(),
        _ => false,
    }
}

fn ids(op: &Op, found: &str, family: &dyn Fn(&str) -> String) -> bool {
    let is = |wanted: &str| {
        let wanted = wanted.to_lowercase();
        !found.is_empty()
            && (glob(&wanted, found) || !wanted.contains('*') && family(&wanted) == family(found))
    };
    match op {
        Op::Is(id) => is(id),
        Op::In(all) => all.iter().any(|id| is(id)),
        Op::Present => !found.is_empty(),
        Op::Absent => found.is_empty(),
        _ => false,
    }
}

fn glob(pattern: &str, text: &str) -> bool {
    let pattern = regex::escape(pattern).replace(r"\*", ".*");
    built(&format!("(?s)^{pattern}$")).is_match(text)
}

/// Folding, sign by sign (language.md, "Matching").
pub fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\u{200b}' | '\u{feff}' => {}
            '‘' | '’' | '‚' | '‛' | '′' | 'ʼ' => out.push('\''),
            '“' | '”' | '„' | '‟' | '″' | '«' | '»' => out.push('"'),
            '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' => out.push('-'),
            'ſ' => out.push('s'),
            c if c.is_whitespace() || c.is_control() => out.push(' '),
            c => out.extend(c.to_lowercase()),
        }
    }
    out.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// [`fold`] of a text of the rules, which comes again and again.
fn folded(text: &str) -> Rc<str> {
    thread_local! {
        static KNOWN: RefCell<HashMap<String, Rc<str>>> = RefCell::default();
    }
    KNOWN.with_borrow_mut(|known| {
        if let Some(folded) = known.get(text) {
            return Rc::clone(folded);
        }
        let folded: Rc<str> = fold(text).into();
        known.insert(text.to_owned(), Rc::clone(&folded));
        folded
    })
}

fn letters(text: &str) -> String {
    text.replace(['_', '-'], " ")
}

/// A phrase as words: each place where it stands, until one has no letter or digit beside it that
/// would make its own edge part of a longer word.
fn has(phrase: &str, text: &Text) -> bool {
    let word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let mut from = 0;
    while let Some(at) = text.letters[from..].find(phrase).filter(|_| !phrase.is_empty()) {
        let (start, end) = (from + at, from + at + phrase.len());
        let before = text.letters[..start].chars().next_back();
        let after = text.letters[end..].chars().next();
        let longer = word(before) && word(phrase.chars().next());
        let longer = longer || word(after) && word(phrase.chars().next_back());
        if !longer {
            return true;
        }
        from = start + phrase.chars().next().map_or(1, char::len_utf8);
    }
    false
}

/// An expression of the rules: `\b`, `\w`, `\d` are ASCII; without `/c` its letters are lower case.
fn expression(pattern: &str, case_sensitive: bool) -> regex::Regex {
    let mut out = String::new();
    let mut signs = pattern.chars();
    let mut class = false;
    while let Some(c) = signs.next() {
        match c {
            '\\' => match (signs.next(), class) {
                (Some('d'), true) => out.push_str("0-9"),
                (Some('d'), false) => out.push_str("[0-9]"),
                (Some('D'), _) => out.push_str("[^0-9]"),
                (Some('w'), true) => out.push_str("0-9A-Za-z_"),
                (Some('w'), false) => out.push_str("[0-9A-Za-z_]"),
                (Some('W'), _) => out.push_str("[^0-9A-Za-z_]"),
                (Some('b'), _) => out.push_str(r"(?-u:\b)"),
                (Some(other), _) => out.extend(['\\', other]),
                (None, _) => out.push('\\'),
            },
            '(' if !class && signs.as_str().starts_with('?') => out.push('('),
            c => {
                class = c == '[' || class && c != ']';
                if case_sensitive { out.push(c) } else { out.extend(c.to_lowercase()) }
            }
        }
    }
    built(&out)
}

/// An expression, built once.
fn built(pattern: &str) -> regex::Regex {
    thread_local! {
        static BUILT: RefCell<HashMap<String, regex::Regex>> = RefCell::default();
    }
    BUILT.with_borrow_mut(|known| {
        if let Some(built) = known.get(pattern) {
            built.clone()
        } else {
            let built = regex::Regex::new(pattern).unwrap();
            known.insert(pattern.to_owned(), built.clone());
            built
        }
    })
}
