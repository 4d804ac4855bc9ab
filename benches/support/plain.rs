//! The two plain ways to do it: a loop over the rules, and one big `RegexSet`.

#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test may fail so")]

use std::collections::HashMap;

use pointsman::{
    lang::tree::{Cond, Field, Op, Phrases, Quantifier, RuleId, Ruleset, Test},
    signal::{Evidence, SegmentKind},
};
use regex::{Regex, RegexSet, RegexSetBuilder};

/// Every rule after the other; phrases by substring search, expressions built beforehand.
pub struct Loop<'a> {
    rules: &'a Ruleset,
    exprs: HashMap<&'a str, Regex>,
}

impl<'a> Loop<'a> {
    pub fn new(rules: &'a Ruleset) -> Self {
        let mut exprs = HashMap::new();
        each_expr(rules, &mut |pattern| {
            exprs.entry(pattern).or_insert_with(|| Regex::new(&ascii(pattern)).unwrap());
        });
        Self { rules, exprs }
    }

    pub fn judge(&self, evidence: &Evidence) -> Option<RuleId> {
        let rules = (0u32..).map(RuleId).zip(&self.rules.rules);
        let mut deciding = rules.filter(|(_, rule)| !rule.observe);
        deciding
            .find(|(_, rule)| {
                let mut block = rule.block;
                while let Some(id) = block {
                    let outer = &self.rules.blocks[id.index()];
                    if !self.holds(&outer.guard, evidence) {
                        return false;
                    }
                    block = outer.parent;
                }
                self.holds(&rule.when, evidence)
            })
            .map(|(id, _)| id)
    }

    fn holds(&self, cond: &Cond, evidence: &Evidence) -> bool {
        match cond {
            Cond::Always => true,
            Cond::All(parts) => parts.iter().all(|part| self.holds(part, evidence)),
            Cond::Any(parts) => parts.iter().any(|part| self.holds(part, evidence)),
            Cond::Not(inner) => !self.holds(inner, evidence),
            Cond::Let(id, _) => self.holds(&self.rules.lets[id.index()].cond, evidence),
            Cond::Test(test) => self.test(test, evidence),
        }
    }

    fn test(&self, test: &Test, evidence: &Evidence) -> bool {
        let kinds: &[SegmentKind] = match &test.field {
            Field::Status => return number(&test.op, evidence.status.map(u32::from)),
            Field::Provider => return id(&test.op, &evidence.provider),
            Field::Model => return id(&test.op, &evidence.model),
            Field::Text => &[SegmentKind::Message, SegmentKind::Detail],
            Field::Message => &[SegmentKind::Message],
            Field::Detail => &[SegmentKind::Detail],
            Field::Wrapper => &[SegmentKind::Wrapper],
            Field::Code => &[SegmentKind::Code],
            Field::Type => &[SegmentKind::Type],
            Field::Param => &[SegmentKind::Param],
            _ => return false,
        };
        let segments = evidence.segments.iter().filter(|segment| kinds.contains(&segment.kind));
        let mut texts = segments.map(|segment| evidence.folded_text(segment));
        match &test.op {
            Op::Is(value) => texts.any(|text| text == value.node),
            Op::In(values) => texts.any(|text| values.iter().any(|value| text == value.node)),
            Op::Has(quantifier, phrases) => {
                let phrases = match phrases {
                    Phrases::Inline(phrases) => phrases,
                    Phrases::List(id, _) => &self.rules.lists[id.index()].entries,
                };
                let texts: Vec<&str> = texts.collect();
                let mut each =
                    phrases.iter().map(|phrase| texts.iter().any(|text| text.contains(&phrase.node)));
                match quantifier {
                    Quantifier::Any => each.any(|has| has),
                    Quantifier::All => each.all(|has| has),
                }
            }
            Op::Contains(part) => texts.any(|text| text.contains(&part.node)),
            Op::StartsWith(prefix) => texts.any(|text| text.starts_with(&prefix.node)),
            Op::Matches(regex) => texts.any(|text| self.exprs[regex.pattern.as_str()].is_match(text)),
            Op::Present => texts.next().is_some(),
            Op::Absent => texts.next().is_none(),
            Op::Number(_) => false,
        }
    }
}

fn number(op: &Op, number: Option<u32>) -> bool {
    match op {
        Op::Number(ranges) => {
            number.is_some_and(|n| ranges.iter().any(|(first, last)| (*first..=*last).contains(&n)))
        }
        Op::Present => number.is_some(),
        Op::Absent => number.is_none(),
        _ => false,
    }
}

fn id(op: &Op, id: &str) -> bool {
    let is = |value: &str| value.strip_suffix('*').map_or(value == id, |prefix| id.starts_with(prefix));
    match op {
        Op::Is(value) => is(value),
        Op::In(values) => values.iter().any(|value| is(value)),
        Op::Present => !id.is_empty(),
        _ => false,
    }
}

/// All phrases and expressions of the rules in one set, with default settings but for the size that
/// it takes to build it.
pub fn set(rules: &Ruleset) -> RegexSet {
    let mut patterns = Vec::new();
    let mut add = |test: &Test| match &test.op {
        Op::Has(_, Phrases::Inline(phrases)) => patterns.extend(phrases.iter().map(|phrase| word(phrase))),
        Op::Has(_, Phrases::List(id, _)) => {
            patterns.extend(rules.lists[id.index()].entries.iter().map(|phrase| word(phrase)));
        }
        Op::Matches(regex) => patterns.push(ascii(&regex.pattern)),
        _ => {}
    };
    each_test(rules, &mut add);
    RegexSetBuilder::new(patterns).size_limit(1 << 30).build().unwrap()
}

fn word(phrase: &str) -> String {
    format!(r"(?-u:\b){}(?-u:\b)", regex::escape(phrase).replace(' ', "[ _-]"))
}

fn ascii(pattern: &str) -> String {
    format!(
        "(?i){}",
        pattern.replace(r"\b", r"(?-u:\b)").replace(r"\d", "[0-9]").replace(r"\w", "[0-9A-Za-z_]")
    )
}

fn each_expr<'a>(rules: &'a Ruleset, with: &mut impl FnMut(&'a str)) {
    each_test(rules, &mut |test| {
        if let Op::Matches(regex) = &test.op {
            with(&regex.pattern);
        }
    });
}

fn each_test<'a>(rules: &'a Ruleset, with: &mut impl FnMut(&'a Test)) {
    let conds =
        rules.rules.iter().map(|rule| &rule.when).chain(rules.blocks.iter().map(|block| &block.guard));
    for cond in conds.chain(rules.lets.iter().map(|named| &named.cond)) {
        pointsman::lang::tree::each_test(cond, with);
    }
}
