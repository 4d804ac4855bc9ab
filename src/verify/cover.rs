//! Whether one condition implies another. Sound and incomplete: `true` is a proof, `false` says
//! nothing.

use std::{cell::Cell, collections::HashSet};

use crate::{
    lang::{
        check::has_words,
        source::Spanned,
        tree::{Cond, Field, Op, Phrases, Quantifier, Ruleset, Test},
    },
    table::ask::{equal_form, fold, phrase_form, phrase_texts},
};

/// A prover with a bounded number of steps. It takes conditions that are [`prepared`].
pub(super) struct Prover {
    lets: Vec<Cond>,
    /// Providers that belong to a family, so that `is` holds for others too.
    families: HashSet<String>,
    left: Cell<usize>,
}

/// The same condition with lists written out and all texts in the form in which they are compared.
pub(super) fn prepared(set: &Ruleset, cond: &Cond) -> Cond {
    let all = |parts: &[Cond]| parts.iter().map(|part| prepared(set, part)).collect();
    let one = |text: &Spanned<String>, node: String| Spanned { node, span: text.span };
    match cond {
        Cond::Always | Cond::Let(..) => cond.clone(),
        Cond::All(parts) => Cond::All(all(parts)),
        Cond::Any(parts) => Cond::Any(all(parts)),
        Cond::Not(inner) => Cond::Not(Box::new(prepared(set, inner))),
        Cond::Test(test) => {
            let op = match &test.op {
                Op::Is(value) => Op::In(vec![one(value, equal_form(value))]),
                Op::In(values) => Op::In(values.iter().map(|v| one(v, equal_form(v))).collect()),
                Op::Has(quantifier, phrases) => {
                    let texts = phrase_texts(phrases, set);
                    let texts = texts.map(|text| Spanned { node: phrase_form(text), span: test.span });
                    Op::Has(*quantifier, Phrases::Inline(texts.collect()))
                }
                Op::Contains(part) => Op::Contains(one(part, fold(part))),
                Op::StartsWith(part) => Op::StartsWith(one(part, fold(part))),
                other => other.clone(),
            };
            Cond::Test(Test { field: test.field.clone(), op, span: test.span })
        }
    }
}

impl Prover {
    pub(super) fn new(set: &Ruleset, steps: usize) -> Self {
        let members = set.aliases.iter().flat_map(|a| a.members.iter().chain([&a.family]));
        Self {
            lets: set.lets.iter().map(|named| prepared(set, &named.cond)).collect(),
            families: members.map(|member| equal_form(member)).collect(),
            left: Cell::new(steps),
        }
    }

    /// Whether no step is left: nothing is proven any more.
    pub(super) fn is_spent(&self) -> bool {
        self.left.get() == 0
    }

    /// Takes a step, if one is left.
    fn step(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        left > 0
    }

    /// Whether `a` holding means that `b` holds, for every error.
    pub(super) fn implies(&self, a: &Cond, b: &Cond) -> bool {
        if !self.step() {
            return false;
        }
        match (a, b) {
            (_, Cond::Always) => true,
            (_, Cond::All(parts)) => parts.iter().all(|part| self.implies(a, part)),
            (Cond::Any(parts), _) if !parts.is_empty() => parts.iter().all(|part| self.implies(part, b)),
            (Cond::Let(x, _), Cond::Let(y, _)) if x == y => true,
            (_, Cond::Let(id, _)) => self.lets.get(id.index()).is_some_and(|named| self.implies(a, named)),
            (Cond::All(parts), _) => {
                parts.iter().any(|part| self.implies(part, b))
                    || matches!(b, Cond::Any(any) if any.iter().any(|part| self.implies(a, part)))
            }
            (Cond::Let(id, _), _) => self.lets.get(id.index()).is_some_and(|named| self.implies(named, b)),
            (_, Cond::Any(parts)) => {
                let covers = |case: &Cond| parts.iter().any(|part| self.implies(case, part));
                covers(a) || split(a).is_some_and(|cases| cases.iter().all(covers))
            }
            (Cond::Not(x), Cond::Not(y)) => self.implies(y, x),
            (Cond::Test(x), Cond::Test(y)) => self.test(x, y),
            _ => false,
        }
    }

    fn test(&self, a: &Test, b: &Test) -> bool {
        let part_of_text = b.field == Field::Text && matches!(a.field, Field::Message | Field::Detail);
        if a.field != b.field && !part_of_text {
            return false;
        }
        match (&a.op, &b.op) {
            (Op::Absent, Op::Absent) => !part_of_text,
            (Op::Absent, _) | (_, Op::Absent) => false,
            (_, Op::Present) => true,
            (Op::Number(x), Op::Number(y)) => {
                x.iter().all(|(low, high)| y.iter().any(|(l, h)| l <= low && high <= h))
            }
            (Op::In(values), _) => values.iter().all(|value| self.value(&a.field, value, &b.op)),
            (Op::Has(quantifier, Phrases::Inline(held)), _) => match quantifier {
                Quantifier::Any => {
                    held.iter().all(|phrase| self.phrases(std::slice::from_ref(phrase), &b.op))
                }
                Quantifier::All => self.phrases(held, &b.op),
            },
            (Op::Contains(x) | Op::StartsWith(x), Op::Contains(y)) => x.contains(y.as_str()),
            (Op::StartsWith(x), Op::StartsWith(y)) => x.starts_with(y.as_str()),
            (Op::Matches(x), Op::Matches(y)) => {
                x.pattern == y.pattern && x.case_sensitive == y.case_sensitive
            }
            _ => false,
        }
    }

    /// Whether a field that equals `value` answers `op` with yes.
    fn value(&self, field: &Field, value: &str, op: &Op) -> bool {
        let is_id = matches!(field, Field::Provider | Field::Model);
        match op {
            Op::In(others) => others.iter().any(|other| {
                // A glob takes in a plain id that stands for itself alone.
                let alone =
                    !value.contains('*') && (*field != Field::Provider || !self.families.contains(value));
                let glob = |glob: &str| {
                    glob.strip_suffix('*')
                        .is_some_and(|start| !start.contains('*') && value.starts_with(start))
                };
                other.node == value || (is_id && alone && glob(&other.node))
            }),
            _ if is_id || matches!(field, Field::Header(_)) => false,
            Op::Has(..) => {
                let held = Spanned { node: phrase_form(value), span: crate::lang::policy::BUILT_IN };
                self.phrases(&[held], op)
            }
            Op::Contains(part) => value.contains(part.as_str()),
            Op::StartsWith(part) => value.starts_with(part.as_str()),
            _ => false,
        }
    }

    /// Whether a text with all these phrases answers `op` with yes.
    fn phrases(&self, held: &[Spanned<String>], op: &Op) -> bool {
        // Each comparison is a step: a list may hold a hundred thousand phrases.
        let covers = |wanted: &Spanned<String>| held.iter().any(|h| self.step() && has_words(h, wanted));
        match op {
            Op::Has(Quantifier::Any, Phrases::Inline(wanted)) => wanted.iter().any(covers),
            Op::Has(Quantifier::All, Phrases::Inline(wanted)) => wanted.iter().all(covers),
            // A blank of a phrase may be another sign in the text.
            Op::Contains(part) => {
                !part.contains([' ', '_', '-']) && held.iter().any(|h| h.contains(part.as_str()))
            }
            _ => false,
        }
    }
}

/// A test that holds when one of several does, as those several.
fn split(cond: &Cond) -> Option<Vec<Cond>> {
    let Cond::Test(test) = cond else { return None };
    let with = |op: Op| Cond::Test(Test { field: test.field.clone(), op, span: test.span });
    match &test.op {
        Op::In(values) if values.len() > 1 => {
            Some(values.iter().map(|value| with(Op::In(vec![value.clone()]))).collect())
        }
        Op::Number(ranges) if ranges.len() > 1 => {
            Some(ranges.iter().map(|range| with(Op::Number(vec![*range]))).collect())
        }
        Op::Has(Quantifier::Any, Phrases::Inline(entries)) if entries.len() > 1 => {
            let one =
                |entry: &Spanned<String>| Op::Has(Quantifier::Any, Phrases::Inline(vec![entry.clone()]));
            Some(entries.iter().map(|entry| with(one(entry))).collect())
        }
        _ => None,
    }
}
