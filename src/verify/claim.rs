//! Conditions in the form in which proofs compare them.

use std::{collections::HashMap, ops::Deref, rc::Rc};

use crate::{
    lang::{
        check::has_words,
        tree::{Cond, Field, LetId, ListId, Op, Phrases, Quantifier, Ruleset},
    },
    table::ask::{equal_form, fold_part, fold_start, phrase_form, phrase_texts},
};

/// A condition with lists written out, and all texts in the form in which they are compared.
pub(super) enum Claim {
    Always,
    All(Vec<Claim>),
    Any(Vec<Claim>),
    Not(Box<Claim>),
    Let(LetId),
    Test(Field, Ask),
}

/// What a test asks.
pub(super) enum Ask {
    Absent,
    Present,
    Number(Values<(u32, u32)>),
    In(Values<Value>),
    Has(Quantifier, Values<Phrase>),
    Contains(String),
    StartsWith(String),
    /// A pattern, and whether case counts.
    Matches(String, bool),
}

/// A value that a field may equal.
pub(super) struct Value {
    pub(super) text: String,
    /// The same as a phrase.
    pub(super) phrase: Phrase,
}

/// A phrase, and a mark for each pair of neighbouring bytes: another phrase that lacks one of them does not hold it
/// ([`Outline::may_have`]).
pub(super) struct Phrase {
    pub(super) text: String,
    marks: u64,
}

impl Phrase {
    fn new(text: String) -> Self {
        let pair = |pair: &[u8]| pair.iter().fold(0u32, |sum, byte| sum.wrapping_mul(37) + u32::from(*byte));
        let marks = text.as_bytes().windows(2).fold(0, |marks, two| marks | 1 << (pair(two) % 64));
        Self { text, marks }
    }

    /// Whether every text that has this one as words has the other as words.
    pub(super) fn has(&self, other: &Self) -> bool {
        other.marks & !self.marks == 0 && has_words(&self.text, &other.text)
    }
}

/// What a claim has, at most, of what another one asks for: when that is not enough, the claim does not imply the
/// other. A look at it settles most pairs.
#[derive(Clone, Copy, Default)]
pub(super) struct Outline {
    /// A bit for each field that is asked, and one for `not`.
    fields: u32,
    /// Marks of the phrases that are surely there.
    marks: u64,
}

impl Outline {
    /// Nothing is known: anything may be there.
    pub(super) const ANYTHING: Self = Self { fields: u32::MAX, marks: u64::MAX };
    const NOT: u32 = 1 << 31;

    fn with(self, other: Self) -> Self {
        Self { fields: self.fields | other.fields, marks: self.marks | other.marks }
    }

    /// The outline of `claim`. Of several cases each must imply what the claim implies: the first stands
    /// for all.
    pub(super) fn of(claim: &Claim, lets: &[Self]) -> Self {
        match claim {
            Claim::Always => Self::default(),
            Claim::All(parts) => {
                parts.iter().fold(Self::default(), |all, part| all.with(Self::of(part, lets)))
            }
            Claim::Any(cases) => cases.first().map_or(Self::ANYTHING, |case| Self::of(case, lets)),
            Claim::Not(_) => Self { fields: Self::NOT, marks: 0 },
            Claim::Let(id) => lets.get(id.index()).copied().unwrap_or(Self::ANYTHING),
            Claim::Test(field, ask) => {
                let marks = match ask {
                    Ask::In(values) => values.first().map(|value| value.phrase.marks),
                    Ask::Has(Quantifier::Any, phrases) => phrases.first().map(|phrase| phrase.marks),
                    Ask::Has(Quantifier::All, phrases) => {
                        Some(phrases.iter().fold(0, |all, phrase| all | phrase.marks))
                    }
                    Ask::Number(ranges) if ranges.is_empty() => None,
                    _ => Some(0),
                };
                let text = matches!(field, Field::Message | Field::Detail).then_some(Field::Text);
                let fields = bit(field) | text.map_or(0, |text| bit(&text));
                marks.map_or(Self::ANYTHING, |marks| Self { fields, marks })
            }
        }
    }

    /// Whether it asks a field.
    pub(super) fn asks(&self, field: &Field) -> bool {
        self.fields & bit(field) != 0
    }

    /// Whether it has a `not`.
    pub(super) fn has_not(&self) -> bool {
        self.fields & Self::NOT != 0
    }

    /// Whether its phrases may have this one as words.
    pub(super) fn may_have(&self, phrase: &Phrase) -> bool {
        phrase.marks & !self.marks == 0
    }
}

fn bit(field: &Field) -> u32 {
    1 << match field {
        Field::Text => 0,
        Field::Message => 1,
        Field::Detail => 2,
        Field::Wrapper => 3,
        Field::Echo => 4,
        Field::Code => 5,
        Field::Type => 6,
        Field::Param => 7,
        Field::Header(_) => 8,
        Field::Provider => 9,
        Field::Model => 10,
        Field::Status => 11,
        Field::AnyStatus => 12,
        Field::LeadingNumber => 13,
        Field::Body => 14,
        Field::Aborted => 15,
    }
}

/// Some values in a row, shared: one of them alone is the same row, cut.
pub(super) struct Values<T> {
    all: Rc<[T]>,
    from: usize,
    to: usize,
}

impl<T> Values<T> {
    fn new(all: Rc<[T]>) -> Self {
        Self { from: 0, to: all.len(), all }
    }

    /// Each of them alone; nothing when there is only one.
    fn each(&self) -> impl Iterator<Item = Self> {
        let several = if self.len() > 1 { self.from..self.to } else { 0..0 };
        several.map(|at| Self { all: self.all.clone(), from: at, to: at + 1 })
    }
}

impl<T> Deref for Values<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        self.all.get(self.from..self.to).unwrap_or_default()
    }
}

impl Claim {
    /// A test that holds when one of several does, as those several; else nothing.
    pub(super) fn split(&self) -> Box<dyn Iterator<Item = Self> + '_> {
        let Self::Test(field, ask) = self else { return Box::new(std::iter::empty()) };
        let with = |ask| Self::Test(field.clone(), ask);
        match ask {
            Ask::In(values) => Box::new(values.each().map(move |one| with(Ask::In(one)))),
            Ask::Number(ranges) => Box::new(ranges.each().map(move |one| with(Ask::Number(one)))),
            Ask::Has(Quantifier::Any, phrases) => {
                Box::new(phrases.each().map(move |one| with(Ask::Has(Quantifier::Any, one))))
            }
            _ => Box::new(std::iter::empty()),
        }
    }
}

/// Makes the claims of one rule set. Phrases of a list are written out once, however many ask for it.
pub(super) struct Claims<'a> {
    set: &'a Ruleset,
    lists: HashMap<ListId, Rc<[Phrase]>>,
}

impl<'a> Claims<'a> {
    pub(super) fn new(set: &'a Ruleset) -> Self {
        Self { set, lists: HashMap::new() }
    }

    pub(super) fn of(&mut self, cond: &Cond) -> Claim {
        match cond {
            Cond::Always => Claim::Always,
            Cond::Let(id, _) => Claim::Let(*id),
            Cond::All(parts) => Claim::All(parts.iter().map(|part| self.of(part)).collect()),
            Cond::Any(parts) => Claim::Any(parts.iter().map(|part| self.of(part)).collect()),
            Cond::Not(inner) => Claim::Not(Box::new(self.of(inner))),
            Cond::Test(test) => Claim::Test(test.field.clone(), self.ask(&test.op)),
        }
    }

    fn ask(&mut self, op: &Op) -> Ask {
        let value = |text: &str| {
            let text = equal_form(text);
            Value { phrase: Phrase::new(phrase_form(&text)), text }
        };
        match op {
            Op::Is(one) => Ask::In(Values::new([value(one)].into())),
            Op::In(values) => Ask::In(Values::new(values.iter().map(|one| value(one)).collect())),
            Op::Number(ranges) => Ask::Number(Values::new(ranges.as_slice().into())),
            Op::Has(quantifier, phrases) => Ask::Has(*quantifier, Values::new(self.phrases(phrases))),
            Op::Contains(part) => Ask::Contains(fold_part(part)),
            Op::StartsWith(part) => Ask::StartsWith(fold_start(part)),
            Op::Matches(regex) => Ask::Matches(regex.pattern.clone(), regex.case_sensitive),
            Op::Present => Ask::Present,
            Op::Absent => Ask::Absent,
        }
    }

    fn phrases(&mut self, phrases: &Phrases) -> Rc<[Phrase]> {
        let set = self.set;
        let written = || phrase_texts(phrases, set).map(|text| Phrase::new(phrase_form(text))).collect();
        match phrases {
            Phrases::Inline(_) => written(),
            Phrases::List(id, _) => self.lists.entry(*id).or_insert_with(written).clone(),
        }
    }
}
