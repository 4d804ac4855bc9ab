//! Whether one condition implies another. Sound and incomplete: `true` is a proof, `false` says
//! nothing.

use std::collections::HashSet;

use crate::{
    lang::{
        check::has_words,
        tree::{Cond, Field, Op, Quantifier, Ruleset, Test},
    },
    table::ask::{equal_form, fold, phrase_form, phrase_texts},
};

/// A prover with a bounded number of steps.
pub(super) struct Prover<'a> {
    set: &'a Ruleset,
    /// Providers that belong to a family, so that `is` holds for others too.
    families: HashSet<&'a str>,
    left: usize,
}

impl<'a> Prover<'a> {
    pub(super) fn new(set: &'a Ruleset, steps: usize) -> Self {
        let members = set.aliases.iter().flat_map(|a| a.members.iter().chain([&a.family]));
        Self { set, families: members.map(String::as_str).collect(), left: steps }
    }

    /// Whether `a` holding means that `b` holds, for every error.
    pub(super) fn implies(&mut self, a: &Cond, b: &Cond) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        match (a, b) {
            (_, Cond::Always) => true,
            (_, Cond::All(parts)) => parts.iter().all(|part| self.implies(a, part)),
            (Cond::Any(parts), _) if !parts.is_empty() => parts.iter().all(|part| self.implies(part, b)),
            (Cond::Let(x, _), Cond::Let(y, _)) if x == y => true,
            (_, Cond::Let(id, _)) => match self.set.lets.get(id.index()) {
                Some(named) => self.implies(a, &named.cond),
                None => false,
            },
            (Cond::All(parts), _) => {
                parts.iter().any(|part| self.implies(part, b))
                    || matches!(b, Cond::Any(any) if any.iter().any(|part| self.implies(a, part)))
            }
            (Cond::Let(id, _), _) => match self.set.lets.get(id.index()) {
                Some(named) => self.implies(&named.cond, b),
                None => false,
            },
            (_, Cond::Any(parts)) => {
                parts.iter().any(|part| self.implies(a, part))
                    || matches!((a, split(a)), (Cond::Test(_), Some(cases)) if cases.iter().all(|c| parts.iter().any(|p| self.implies(c, p))))
            }
            (Cond::Not(x), Cond::Not(y)) => self.implies(y, x),
            (Cond::Test(x), Cond::Test(y)) => self.test(x, y),
            _ => false,
        }
    }

    fn test(&self, a: &Test, b: &Test) -> bool {
        let inside = a.field == b.field
            || (b.field == Field::Text && matches!(a.field, Field::Message | Field::Detail));
        if !inside {
            return false;
        }
        if matches!(a.op, Op::Absent) || matches!(b.op, Op::Absent) {
            return a.field == b.field && matches!((&a.op, &b.op), (Op::Absent, Op::Absent));
        }
        if matches!(b.op, Op::Present) {
            return true;
        }
        match (&a.op, &b.op) {
            (Op::Number(x), Op::Number(y)) => {
                x.iter().all(|(low, high)| y.iter().any(|(l, h)| l <= low && high <= h))
            }
            (Op::Is(_) | Op::In(_), _) => {
                values(&a.op).into_iter().all(|value| self.value(&a.field, value, &b.op))
            }
            (Op::Has(quantifier, phrases), _) => {
                let phrases: Vec<String> = phrase_texts(phrases, self.set).map(phrase_form).collect();
                match quantifier {
                    Quantifier::Any => phrases.iter().all(|p| self.phrases(&[p.as_str()], &b.op)),
                    Quantifier::All => {
                        let all: Vec<&str> = phrases.iter().map(String::as_str).collect();
                        self.phrases(&all, &b.op)
                    }
                }
            }
            (Op::Contains(x), Op::Contains(y)) => fold(x).contains(&fold(y)),
            (Op::StartsWith(x), Op::StartsWith(y)) => fold(x).starts_with(&fold(y)),
            (Op::StartsWith(x), Op::Contains(y)) => fold(x).contains(&fold(y)),
            (Op::Matches(x), Op::Matches(y)) => {
                x.pattern == y.pattern && x.case_sensitive == y.case_sensitive
            }
            _ => false,
        }
    }

    /// Whether a field that equals `value` answers `op` with yes.
    fn value(&self, field: &Field, value: &str, op: &Op) -> bool {
        let equal = equal_form(value);
        let is_id = matches!(field, Field::Provider | Field::Model);
        match op {
            Op::Is(_) | Op::In(_) => values(op).into_iter().any(|other| {
                if equal_form(other) == equal {
                    return true;
                }
                // A glob takes in a plain id that stands for itself alone.
                is_id
                    && !value.contains('*')
                    && !(*field == Field::Provider && self.families.contains(value))
                    && other
                        .strip_suffix('*')
                        .is_some_and(|start| !start.contains('*') && equal.starts_with(&fold(start)))
            }),
            _ if is_id || matches!(field, Field::Header(_)) => false,
            Op::Has(Quantifier::Any, phrases) => {
                phrase_texts(phrases, self.set).any(|p| has_words(&phrase_form(&equal), &phrase_form(p)))
            }
            Op::Has(Quantifier::All, phrases) => {
                phrase_texts(phrases, self.set).all(|p| has_words(&phrase_form(&equal), &phrase_form(p)))
            }
            Op::Contains(part) => equal.contains(&fold(part)),
            Op::StartsWith(part) => equal.starts_with(&fold(part)),
            _ => false,
        }
    }

    /// Whether a text with all these phrases answers `op` with yes.
    fn phrases(&self, held: &[&str], op: &Op) -> bool {
        let covers = |wanted: &str| held.iter().any(|h| has_words(h, &phrase_form(wanted)));
        match op {
            Op::Has(Quantifier::Any, phrases) => phrase_texts(phrases, self.set).any(covers),
            Op::Has(Quantifier::All, phrases) => phrase_texts(phrases, self.set).all(covers),
            // A blank of a phrase may be another sign in the text.
            Op::Contains(part) => {
                let part = fold(part);
                !part.contains([' ', '_', '-']) && held.iter().any(|h| h.contains(&part))
            }
            _ => false,
        }
    }
}

fn values(op: &Op) -> Vec<&str> {
    match op {
        Op::Is(value) => vec![value.node.as_str()],
        Op::In(values) => values.iter().map(|v| v.node.as_str()).collect(),
        _ => Vec::new(),
    }
}

/// A test that holds when one of several does, as those several.
fn split(cond: &Cond) -> Option<Vec<Cond>> {
    let Cond::Test(test) = cond else { return None };
    let with = |op: Op| Cond::Test(Test { op, ..test.clone() });
    match &test.op {
        Op::In(values) if values.len() > 1 => Some(values.iter().map(|v| with(Op::Is(v.clone()))).collect()),
        Op::Number(ranges) if ranges.len() > 1 => {
            Some(ranges.iter().map(|r| with(Op::Number(vec![*r]))).collect())
        }
        Op::Has(Quantifier::Any, crate::lang::tree::Phrases::Inline(entries)) if entries.len() > 1 => Some(
            entries
                .iter()
                .map(|e| with(Op::Has(Quantifier::Any, crate::lang::tree::Phrases::Inline(vec![e.clone()]))))
                .collect(),
        ),
        _ => None,
    }
}
