//! Which rules can apply at all: every rule waits for one of a few atoms, and is looked at only when
//! one of them is true.

use super::{
    ask::{Ask, Want},
    atom::{Atom, AtomId},
    hash::Names,
};
use crate::{
    lang::tree::Field,
    signal::{Aborted, Body},
};

/// Atoms one of which must be true for a condition to hold.
#[derive(Clone, Debug)]
pub(super) enum Clause {
    /// No such set: the condition may hold without any.
    Always,
    /// One of these; the cost says in how many of a million errors that is likely to be so.
    OneOf { atoms: Vec<AtomId>, cost: u32 },
}

impl Clause {
    pub(super) fn never() -> Self {
        Self::OneOf { atoms: Vec::new(), cost: 0 }
    }

    pub(super) fn one(atom: AtomId, cost: u32) -> Self {
        Self::OneOf { atoms: vec![atom], cost }
    }

    /// How often a question that the scan does not answer is answered with yes, roughly.
    pub(super) fn cost(ask: &Ask) -> u32 {
        let values = |texts: &[String]| u32::try_from(texts.len()).unwrap_or(u32::MAX);
        match (&ask.field, &ask.want) {
            (_, Want::Absent) => 900_000,
            (Field::Header(_) | Field::Body, _) => 100_000,
            (_, Want::Present) => 800_000,
            (Field::Provider | Field::Model, Want::Is(globs)) => values(globs).saturating_mul(60_000),
            (Field::Status | Field::AnyStatus, _) => 200_000,
            _ => 50_000,
        }
    }

    /// Of two sets that must both be hit, the one that is rarer.
    pub(super) fn or_narrower(self, other: Self) -> Self {
        match (self, other) {
            (Self::Always, other) => other,
            (own, Self::Always) => own,
            (Self::OneOf { atoms, cost }, Self::OneOf { atoms: others, cost: other_cost }) => {
                if cost <= other_cost {
                    Self::OneOf { atoms, cost }
                } else {
                    Self::OneOf { atoms: others, cost: other_cost }
                }
            }
        }
    }

    /// The set for "this or that".
    pub(super) fn and_also(self, other: Self) -> Self {
        match (self, other) {
            (Self::OneOf { mut atoms, cost }, Self::OneOf { atoms: others, cost: other_cost }) => {
                atoms.extend(others);
                Self::OneOf { atoms, cost: cost.saturating_add(other_cost) }
            }
            _ => Self::Always,
        }
    }
}

/// From true atoms to rules worth a look.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// Rules that wait for atom `n` stand at `offsets[n]..offsets[n + 1]`.
    offsets: Vec<u32>,
    waiting: Vec<u32>,
    /// Rules that wait for nothing.
    pub(crate) always: Vec<u32>,
    /// Awaited atoms that hold at the status of an error.
    by_status: ByStatus,
    /// Awaited atoms that hold when an error has this status among others.
    by_any_status: ByStatus,
    /// Awaited atoms that hold for a kind of body, in the order of [`Body::ALL`].
    by_body: [Vec<AtomId>; Body::ALL.len()],
    /// Awaited atoms that hold for a kind of cutting off, in the order of [`Aborted::ALL`].
    by_aborted: [Vec<AtomId>; Aborted::ALL.len()],
    /// Awaited atoms that hold for a provider.
    by_provider: Names<Vec<AtomId>>,
    /// Other awaited atoms that the scan does not set: looked at each time.
    pub(crate) active: Vec<AtomId>,
}

impl Index {
    /// Rules that wait for an atom.
    #[inline]
    pub(crate) fn waiting(&self, atom: AtomId) -> &[u32] {
        let (Some(from), Some(to)) = (self.offsets.get(atom.index()), self.offsets.get(atom.index() + 1))
        else {
            return &[];
        };
        self.waiting.get(*from as usize..*to as usize).unwrap_or_default()
    }

    /// Awaited atoms that hold at this status of an error.
    pub(crate) fn at_status(&self, status: u16) -> &[AtomId] {
        self.by_status.at(status)
    }

    /// Awaited atoms that hold when this status is among those of an error.
    pub(crate) fn at_any_status(&self, status: u16) -> &[AtomId] {
        self.by_any_status.at(status)
    }

    /// Awaited atoms that hold for a kind of body.
    pub(crate) fn of_body(&self, body: Body) -> &[AtomId] {
        self.by_body.get(body as usize).map_or(&[], Vec::as_slice)
    }

    /// Awaited atoms that hold for a kind of cutting off.
    pub(crate) fn of_aborted(&self, aborted: Aborted) -> &[AtomId] {
        self.by_aborted.get(aborted as usize).map_or(&[], Vec::as_slice)
    }

    /// Awaited atoms that hold for a provider (folded); none when it is empty.
    pub(crate) fn of_provider(&self, provider: &str) -> &[AtomId] {
        if provider.is_empty() {
            return &[];
        }
        self.by_provider.get(provider).map_or(&[], Vec::as_slice)
    }
}

/// Statuses have three digits.
const STATUSES: u32 = 1_000;

/// Atoms by the status at which they hold.
#[derive(Debug, Default)]
struct ByStatus(Vec<Vec<AtomId>>);

impl ByStatus {
    fn at(&self, status: u16) -> &[AtomId] {
        self.0.get(usize::from(status)).map_or(&[], Vec::as_slice)
    }

    fn add(&mut self, ranges: &[(u32, u32)], atom: AtomId) {
        for status in ranges.iter().flat_map(|(first, last)| *first..=*last) {
            let at = status as usize;
            if self.0.len() <= at {
                self.0.resize(at + 1, Vec::new());
            }
            if let Some(atoms) = self.0.get_mut(at) {
                add(atoms, atom);
            }
        }
    }
}

/// Whether none lies beyond all statuses.
fn are_statuses(ranges: &[(u32, u32)]) -> bool {
    ranges.iter().all(|(_, last)| *last < STATUSES)
}

fn holds(words: &[String], kind: &str) -> bool {
    words.iter().any(|word| word == kind)
}

/// Adds an atom unless it is there.
fn add(atoms: &mut Vec<AtomId>, atom: AtomId) {
    if !atoms.contains(&atom) {
        atoms.push(atom);
    }
}

pub(super) struct IndexBuilder<'a> {
    pub(super) atoms: &'a [Atom],
    pub(super) families: &'a Names<String>,
}

impl IndexBuilder<'_> {
    pub(super) fn build(&self, clauses: &[Clause]) -> Index {
        let mut index = Index::default();
        let mut waiting: Vec<Vec<u32>> = vec![Vec::new(); self.atoms.len()];
        for (rule, clause) in (0u32..).zip(clauses) {
            match clause {
                Clause::Always => index.always.push(rule),
                Clause::OneOf { atoms, .. } => {
                    for atom in atoms {
                        if let Some(rules) = waiting.get_mut(atom.index())
                            && rules.last() != Some(&rule)
                        {
                            rules.push(rule);
                        }
                    }
                }
            }
        }
        index.offsets.push(0);
        for (atom, rules) in (0u32..).map(AtomId).zip(&waiting) {
            if !rules.is_empty() {
                self.await_atom(&mut index, atom);
            }
            index.waiting.extend_from_slice(rules);
            index.offsets.push(u32::try_from(index.waiting.len()).unwrap_or(u32::MAX));
        }
        // Until here by families: each member is to be found by its own name.
        let by_family = index.by_provider.clone();
        for (member, family) in self.families {
            let atoms = by_family.get(family).cloned().unwrap_or_default();
            index.by_provider.insert(member.clone(), atoms);
        }
        index
    }

    /// Sees to it that an awaited atom is found when it is true.
    fn await_atom(&self, index: &mut Index, atom: AtomId) {
        let Some(Atom::Direct(ask)) = self.atoms.get(atom.index()) else { return };
        match (&ask.field, &ask.want) {
            (Field::Status, Want::Number(ranges)) if are_statuses(ranges) => {
                index.by_status.add(ranges, atom);
            }
            (Field::AnyStatus, Want::Number(ranges)) if are_statuses(ranges) => {
                index.by_any_status.add(ranges, atom);
            }
            (Field::Body, Want::Is(words)) => {
                let kinds = Body::ALL.iter().zip(&mut index.by_body);
                kinds.filter(|(kind, _)| holds(words, kind.word())).for_each(|(_, atoms)| add(atoms, atom));
            }
            (Field::Aborted, Want::Is(words)) => {
                let kinds = Aborted::ALL.iter().zip(&mut index.by_aborted);
                kinds.filter(|(kind, _)| holds(words, kind.word())).for_each(|(_, atoms)| add(atoms, atom));
            }
            (Field::Provider, Want::Is(ids)) if !ids.iter().any(|id| id.contains('*')) => {
                for id in ids {
                    let family = self.families.get(id).unwrap_or(id);
                    add(index.by_provider.entry(family.clone()).or_default(), atom);
                }
            }
            _ => index.active.push(atom),
        }
    }
}
