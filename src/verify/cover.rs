//! Whether one condition implies another. Sound and incomplete: `true` is a proof, `false` says
//! nothing.

use std::{cell::Cell, collections::HashSet};

use super::claim::{Ask, Claim, Claims, Outline, Phrase, Value};
use crate::{
    lang::tree::{Field, Quantifier, Ruleset},
    table::ask::equal_form,
};

/// A prover with a bounded number of steps.
pub(super) struct Prover {
    lets: Vec<Claim>,
    outlines: Vec<Outline>,
    /// Providers that belong to a family, so that `is` holds for others too.
    families: HashSet<String>,
    left: Cell<usize>,
}

impl Prover {
    pub(super) fn new(set: &Ruleset, claims: &mut Claims<'_>, steps: usize) -> Self {
        let members = set.aliases.iter().flat_map(|a| a.members.iter().chain([&a.family]));
        let lets: Vec<Claim> = set.lets.iter().map(|named| claims.of(&named.cond)).collect();
        Self {
            outlines: outlines(&lets),
            lets,
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

    /// The outline of a claim, for [`Self::may_imply`].
    pub(super) fn outline(&self, claim: &Claim) -> Outline {
        Outline::of(claim, &self.outlines)
    }

    /// Whether a claim of this outline may imply `b`: `false` is a proof that [`Self::implies`] finds none.
    pub(super) fn may_imply(&self, a: Outline, b: &Claim) -> bool {
        if !self.step() {
            return false;
        }
        match b {
            Claim::Always => true,
            Claim::All(parts) => parts.iter().all(|part| self.may_imply(a, part)),
            Claim::Any(parts) => parts.iter().any(|part| self.may_imply(a, part)),
            Claim::Not(_) => a.has_not(),
            Claim::Let(id) => self.lets.get(id.index()).is_some_and(|named| self.may_imply(a, named)),
            Claim::Test(field, ask) => {
                a.asks(field)
                    && match ask {
                        Ask::Has(Quantifier::Any, phrases) => {
                            phrases.iter().any(|one| self.step() && a.may_have(one))
                        }
                        Ask::Has(Quantifier::All, phrases) => phrases.iter().all(|one| a.may_have(one)),
                        // Ids may be globs.
                        Ask::In(values) if !matches!(field, Field::Provider | Field::Model) => {
                            values.iter().any(|value| self.step() && a.may_have(&value.phrase))
                        }
                        _ => true,
                    }
            }
        }
    }

    /// Whether `a` holding means that `b` holds, for every error.
    pub(super) fn implies(&self, a: &Claim, b: &Claim) -> bool {
        if !self.step() {
            return false;
        }
        match (a, b) {
            (_, Claim::Always) => true,
            (_, Claim::All(parts)) => parts.iter().all(|part| self.implies(a, part)),
            (Claim::Any(parts), _) if !parts.is_empty() => parts.iter().all(|part| self.implies(part, b)),
            (Claim::Let(x), Claim::Let(y)) if x == y => true,
            (_, Claim::Let(id)) => self.lets.get(id.index()).is_some_and(|named| self.implies(a, named)),
            (Claim::All(parts), _) => {
                parts.iter().any(|part| self.implies(part, b))
                    || matches!(b, Claim::Any(any) if any.iter().any(|part| self.implies(a, part)))
            }
            (Claim::Let(id), _) => self.lets.get(id.index()).is_some_and(|named| self.implies(named, b)),
            (_, Claim::Any(parts)) => {
                let covers = |case: &Claim| parts.iter().any(|part| self.implies(case, part));
                let mut cases = a.split().peekable();
                covers(a) || cases.peek().is_some() && cases.all(|case| covers(&case))
            }
            (Claim::Not(x), Claim::Not(y)) => self.implies(y, x),
            (Claim::Test(field, ask), Claim::Test(other, wanted)) => self.test((field, ask), (other, wanted)),
            _ => false,
        }
    }

    fn test(&self, (a, held): (&Field, &Ask), (b, wanted): (&Field, &Ask)) -> bool {
        let part_of_text = *b == Field::Text && matches!(a, Field::Message | Field::Detail);
        if a != b && !part_of_text {
            return false;
        }
        match (held, wanted) {
            (Ask::Absent, Ask::Absent) => !part_of_text,
            (Ask::Absent, _) | (_, Ask::Absent) => false,
            (_, Ask::Present) => true,
            (Ask::Number(x), Ask::Number(y)) => {
                x.iter().all(|(low, high)| y.iter().any(|(l, h)| l <= low && high <= h))
            }
            (Ask::In(values), _) => values.iter().all(|value| self.value(a, value, wanted)),
            (Ask::Has(Quantifier::Any, held), _) => {
                held.iter().all(|phrase| self.phrases(std::slice::from_ref(phrase), wanted))
            }
            (Ask::Has(Quantifier::All, held), _) => self.phrases(held, wanted),
            (Ask::Contains(x) | Ask::StartsWith(x), Ask::Contains(y)) => x.contains(y.as_str()),
            (Ask::StartsWith(x), Ask::StartsWith(y)) => x.starts_with(y.as_str()),
            (Ask::Matches(x, x_case), Ask::Matches(y, y_case)) => x == y && x_case == y_case,
            _ => false,
        }
    }

    /// Whether a field that equals `value` answers `wanted` with yes.
    fn value(&self, field: &Field, value: &Value, wanted: &Ask) -> bool {
        let is_id = matches!(field, Field::Provider | Field::Model);
        match wanted {
            Ask::In(others) => others.iter().any(|other| {
                // A glob takes in a plain id that stands for itself alone.
                let alone = || {
                    !value.text.contains('*')
                        && (*field != Field::Provider || !self.families.contains(&value.text))
                };
                let glob = |glob: &str| {
                    glob.strip_suffix('*')
                        .is_some_and(|start| !start.contains('*') && value.text.starts_with(start))
                };
                other.text == value.text || (is_id && glob(&other.text) && alone())
            }),
            _ if is_id || matches!(field, Field::Header(_)) => false,
            Ask::Has(..) => self.phrases(std::slice::from_ref(&value.phrase), wanted),
            Ask::Contains(part) => value.text.contains(part.as_str()),
            Ask::StartsWith(part) => value.text.starts_with(part.as_str()),
            _ => false,
        }
    }

    /// Whether a text with all these phrases answers `wanted` with yes.
    fn phrases(&self, held: &[Phrase], wanted: &Ask) -> bool {
        // Each comparison is a step: a list may hold a hundred thousand phrases.
        let covers = |wanted: &Phrase| held.iter().any(|phrase| self.step() && phrase.has(wanted));
        match wanted {
            Ask::Has(Quantifier::Any, wanted) => wanted.iter().any(covers),
            Ask::Has(Quantifier::All, wanted) => wanted.iter().all(covers),
            // A blank of a phrase may be another sign in the text.
            Ask::Contains(part) => {
                !part.contains([' ', '_', '-'])
                    && held.iter().any(|phrase| phrase.text.contains(part.as_str()))
            }
            _ => false,
        }
    }
}

/// The outlines of named conditions. One may name another that stands behind it: after two rounds nearly
/// all are known, and the others only hold back less.
fn outlines(lets: &[Claim]) -> Vec<Outline> {
    let mut known = vec![Outline::ANYTHING; lets.len()];
    for _ in 0..2 {
        for (at, named) in lets.iter().enumerate() {
            let outline = Outline::of(named, &known);
            if let Some(slot) = known.get_mut(at) {
                *slot = outline;
            }
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::{load, tree::Cond};

    #[test]
    fn an_outline_holds_nothing_back_that_is_proven() {
        let (set, _) = load::shipped().unwrap();
        let mut claims = Claims::new(&set);
        let prover = Prover::new(&set, &mut claims, usize::MAX);
        let conds: Vec<&Cond> =
            set.rules.iter().map(|rule| &rule.when).chain(set.lets.iter().map(|named| &named.cond)).collect();
        let mut count = 0;
        for (at, a) in conds.iter().enumerate() {
            let b = conds.iter().cycle().nth(at * 7 + 1).unwrap();
            let parts = || vec![(*a).clone(), (*b).clone()];
            let nots = || Cond::Not(Box::new((*a).clone()));
            let all = [(*a).clone(), Cond::All(parts()), Cond::Any(parts()), nots(), Cond::Any(vec![])];
            let all = all.map(|cond| claims.of(&cond));
            for (one, other) in all.iter().flat_map(|one| all.iter().map(move |other| (one, other))) {
                if prover.implies(one, other) {
                    count += 1;
                    assert!(prover.may_imply(prover.outline(one), other), "{a:?} {b:?}");
                }
            }
        }
        assert!(count > 5 * conds.len(), "{count} of {}", conds.len());
    }
}
