//! What a test of the rules asks, ready to be answered: folded, lists resolved, equal questions alike.

use crate::{
    lang::{
        literal,
        tree::{Field, Op, Phrases, Quantifier, Ruleset, Test},
    },
    signal::{SegmentKind, fold_into},
};

/// Index into the table's regular expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ExprId(pub(crate) u32);

/// One question about one field.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Ask {
    pub(crate) field: Field,
    pub(crate) want: Want,
}

/// The question.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Want {
    /// Equal to one of these (folded, without a final `.` or `!`); globs for provider and model.
    Is(Vec<String>),
    /// In one of these inclusive ranges.
    Number(Vec<(u32, u32)>),
    /// One of these phrases as words, in the normal form of [`literal::normal`].
    Has(Vec<String>),
    /// This folded substring.
    Contains(String),
    /// This folded prefix, with the blank at its end.
    Starts(String),
    /// This expression.
    Matches(ExprId),
    Present,
    Absent,
}

impl Ask {
    /// The questions that must all be answered with yes for `test` to hold. `expr` gives the id of
    /// a regular expression.
    pub(crate) fn of(
        test: &Test,
        rules: &Ruleset,
        expr: &mut dyn FnMut(&crate::lang::tree::Regex) -> ExprId,
    ) -> Vec<Self> {
        let one = |want| vec![Self { field: test.field.clone(), want }];
        match &test.op {
            Op::Is(value) => one(Want::Is(vec![equal_form(value)])),
            Op::In(values) => one(Want::Is(values.iter().map(|value| equal_form(value)).collect())),
            Op::Number(ranges) => one(Want::Number(ranges.clone())),
            Op::Has(Quantifier::Any, phrases) => one(Want::Has(phrase_forms(phrases, rules))),
            Op::Has(Quantifier::All, phrases) => phrase_forms(phrases, rules)
                .into_iter()
                .map(|phrase| Self { field: test.field.clone(), want: Want::Has(vec![phrase]) })
                .collect(),
            Op::Contains(part) => one(Want::Contains(fold_part(part))),
            Op::StartsWith(prefix) => one(Want::Starts(fold_start(prefix))),
            Op::Matches(regex) => one(Want::Matches(expr(regex))),
            Op::Present => one(Want::Present),
            Op::Absent => one(Want::Absent),
        }
    }
}

/// The phrases behind an inline list or the name of one.
pub(crate) fn phrase_texts<'a>(phrases: &'a Phrases, rules: &'a Ruleset) -> impl Iterator<Item = &'a str> {
    let entries = match phrases {
        Phrases::Inline(entries) => entries.as_slice(),
        Phrases::List(id, _) => rules.lists.get(id.index()).map_or(&[][..], |list| &list.entries),
    };
    entries.iter().map(|entry| entry.node.as_str())
}

fn phrase_forms(phrases: &Phrases, rules: &Ruleset) -> Vec<String> {
    phrase_texts(phrases, rules).map(phrase_form).collect()
}

/// A phrase as the scan sees it.
pub(crate) fn phrase_form(phrase: &str) -> String {
    literal::normal(&fold(phrase))
}

/// Folded, without a final `.` or `!`.
pub(crate) fn equal_form(text: &str) -> String {
    let folded = fold(text);
    without_final(&folded).to_owned()
}

/// Without one final `.` or `!`, which `is` ignores.
pub(crate) fn without_final(text: &str) -> &str {
    text.strip_suffix(['.', '!']).unwrap_or(text)
}

/// As texts are folded.
pub(crate) fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    fold_into(text, &mut out);
    out
}

/// Folded, but with the blanks at its ends: a part of a text may have neighbours.
pub(crate) fn fold_part(part: &str) -> String {
    let first = if part.starts_with(char::is_whitespace) { " " } else { "" };
    format!("{first}{}", fold_start(part))
}

/// Folded, but with the blank at its end: more may follow the start of a text.
pub(crate) fn fold_start(start: &str) -> String {
    let last = if start.ends_with(char::is_whitespace) { " " } else { "" };
    format!("{}{last}", fold(start))
}

/// The set of segment kinds that a field covers; 0 for fields that are no segments.
pub(crate) fn mask(field: &Field) -> u8 {
    match field {
        Field::Text => bit(SegmentKind::Message) | bit(SegmentKind::Detail),
        Field::Message => bit(SegmentKind::Message),
        Field::Detail => bit(SegmentKind::Detail),
        Field::Wrapper => bit(SegmentKind::Wrapper),
        Field::Echo => bit(SegmentKind::Echo),
        Field::Code => bit(SegmentKind::Code),
        Field::Type => bit(SegmentKind::Type),
        Field::Param => bit(SegmentKind::Param),
        _ => 0,
    }
}

/// A segment kind as a bit.
pub(crate) fn bit(kind: SegmentKind) -> u8 {
    1 << match kind {
        SegmentKind::Message => 0u8,
        SegmentKind::Detail => 1,
        SegmentKind::Wrapper => 2,
        SegmentKind::Echo => 3,
        SegmentKind::Code => 4,
        SegmentKind::Type => 5,
        SegmentKind::Param => 6,
    }
}
