//! Conditions: fields and what is asked of them.

use std::{fmt, sync::Arc};

use super::{LetId, ListId};
use crate::lang::{
    pattern::{Parsed, Pattern, PatternError},
    source::{Span, Spanned},
};

/// What `body` can be.
pub const BODIES: &[&str] = &["text", "json", "html"];

/// Who can abort an attempt.
pub const ABORTS: &[&str] = &["user", "host", "deadline"];

/// A condition.
#[derive(Clone, Debug, PartialEq)]
pub enum Cond {
    /// Holds for everything.
    Always,
    /// `and`.
    All(Vec<Cond>),
    /// `or`.
    Any(Vec<Cond>),
    /// `not`.
    Not(Box<Cond>),
    /// A named condition.
    Let(LetId, Span),
    /// One test.
    Test(Test),
}

/// A field and what is asked of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Test {
    /// The field.
    pub field: Field,
    /// The question.
    pub op: Op,
    /// The whole test.
    pub span: Span,
}

/// A field of the evidence.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// Message, then details.
    Text,
    /// The innermost message.
    Message,
    /// The details.
    Detail,
    /// Prose around a payload.
    Wrapper,
    /// What the user wrote.
    Echo,
    /// Every `code` found.
    Code,
    /// Every `type` found.
    Type,
    /// Every `param` found.
    Param,
    /// A response header, by lower-case name.
    Header(String),
    /// The provider.
    Provider,
    /// The model.
    Model,
    /// The status.
    Status,
    /// Every status found.
    AnyStatus,
    /// A leading number that is no status.
    LeadingNumber,
    /// The kind of body.
    Body,
    /// How the attempt was aborted.
    Aborted,
}

/// What is asked of a field. Which goes with which field is checked before it gets here.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// Equal after folding, a final `.` or `!` ignored; for provider and model a glob (`kimi*`),
    /// for provider also the other members of its family.
    Is(Spanned<String>),
    /// Any of them, as `Is`.
    In(Vec<Spanned<String>>),
    /// A number in one of these inclusive ranges.
    Number(Vec<(u32, u32)>),
    /// The phrases, as words.
    Has(Quantifier, Phrases),
    /// The raw substring, folded.
    Contains(Spanned<String>),
    /// A regular expression (ASCII classes), matched against folded text.
    Matches(Regex),
    /// A prefix, folded.
    StartsWith(Spanned<String>),
    /// There is one.
    Present,
    /// There is none.
    Absent,
}

/// `any of` or `all of`; one phrase is `Any`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    /// At least one.
    Any,
    /// Every one (each in some text).
    All,
}

/// Phrases given in place or by the name of a list.
#[derive(Clone, Debug, PartialEq)]
pub enum Phrases {
    /// In place.
    Inline(Vec<Spanned<String>>),
    /// A list.
    List(ListId, Span),
}

/// A regular expression as written.
#[derive(Clone, PartialEq, Eq)]
pub struct Regex {
    /// Between the slashes.
    pub pattern: String,
    /// `/…/c`: the case of the original text counts. Else the folded text is searched.
    pub case_sensitive: bool,
    /// `always`: may have no required literal.
    pub always: bool,
    /// Slashes and flags included.
    pub span: Span,
    /// What it parses to, once somebody has asked.
    pub parsed: Parsed,
}

impl fmt::Debug for Regex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pattern, case_sensitive, always, span, parsed: _ } = self;
        let mut regex = f.debug_struct("Regex");
        regex.field("pattern", pattern).field("case_sensitive", case_sensitive);
        regex.field("always", always).field("span", span).finish()
    }
}

impl Regex {
    /// The parsed expression.
    ///
    /// # Errors
    /// A malformed or oversized expression.
    pub fn parse(&self) -> Result<Arc<Pattern>, PatternError> {
        self.parsed.of(&self.pattern, self.case_sensitive)
    }
}

/// Calls `with` for every test of a condition, but not for those behind named conditions.
pub fn each_test<'a>(cond: &'a Cond, with: &mut impl FnMut(&'a Test)) {
    match cond {
        Cond::Always | Cond::Let(..) => {}
        Cond::All(parts) | Cond::Any(parts) => parts.iter().for_each(|part| each_test(part, with)),
        Cond::Not(inner) => each_test(inner, with),
        Cond::Test(test) => with(test),
    }
}

/// Calls `with` for every named condition that a condition uses itself.
pub fn each_let(cond: &Cond, with: &mut impl FnMut(LetId)) {
    match cond {
        Cond::Always | Cond::Test(_) => {}
        Cond::All(parts) | Cond::Any(parts) => parts.iter().for_each(|part| each_let(part, with)),
        Cond::Not(inner) => each_let(inner, with),
        Cond::Let(id, _) => with(*id),
    }
}
