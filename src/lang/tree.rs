//! The resolved and checked tree: what `lang` hands to `table`. All `use`s are inserted, all edits
//! applied, all names resolved; order is the order in which rules are tried.

use std::{fmt, sync::Arc};

use super::{
    pattern::{Parsed, Pattern, PatternError},
    policy::{Backoff, Policy, Reaction, Traits},
    source::{Sources, Span, Spanned},
};
use crate::time::Timestamp;
pub use crate::time::Unit;

macro_rules! id {
    ($(#[$doc:meta] $name:ident),* $(,)?) => {$(
        #[$doc]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);
        impl $name {
            /// Position in its table.
            #[must_use]
            pub const fn index(self) -> usize { self.0 as usize }
        }
    )*};
}
id! {
    /// Index into [`Ruleset::buckets`].
    BucketId,
    /// Index into [`Ruleset::rules`]: the order of trial.
    RuleId,
    /// Index into [`Ruleset::blocks`].
    BlockId,
    /// Index into [`Ruleset::lets`].
    LetId,
    /// Index into [`Ruleset::lists`].
    ListId,
    /// Index into [`Ruleset::settings`].
    SettingId,
    /// Index into [`Ruleset::backoffs`].
    BackoffId,
    /// Index into [`Ruleset::resets`].
    ResetId,
}

/// What `body` can be.
pub const BODIES: &[&str] = &["text", "json", "html"];

/// Who can abort an attempt.
pub const ABORTS: &[&str] = &["user", "host", "deadline"];

impl BucketId {
    /// The built-in buckets and their names.
    pub const BUILT_IN: [(&'static str, Self); 2] =
        [("unclassified", Self::UNCLASSIFIED), ("empty_response", Self::EMPTY_RESPONSE)];
    /// The built-in bucket of an error that no rule matched (D12).
    pub const UNCLASSIFIED: Self = Self(0);
    /// The built-in bucket of an error with nothing to look at (D12).
    pub const EMPTY_RESPONSE: Self = Self(1);
}

/// A whole rule set, checked.
#[derive(Clone, Debug, Default)]
pub struct Ruleset {
    /// The files it came from.
    pub sources: Sources,
    /// The two built-in buckets, then the declared ones.
    pub buckets: Vec<Bucket>,
    /// Provider families.
    pub aliases: Vec<Alias>,
    /// Named phrase lists, those of [`engine_list`] among them.
    pub lists: Vec<List>,
    /// Named conditions.
    pub lets: Vec<Let>,
    /// Groups and provider blocks, outer before inner.
    pub blocks: Vec<Block>,
    /// All rules in order of trial, observed ones in their places.
    pub rules: Vec<Rule>,
    /// Settings.
    pub settings: Vec<Setting>,
    /// Schedules.
    pub backoffs: Vec<NamedBackoff>,
    /// Reset declarations, in order of trial.
    pub resets: Vec<Reset>,
    /// The other policy slots.
    pub policy: Policy,
    /// `test` blocks; rules carry their own examples.
    pub tests: Vec<TestBlock>,
    /// Edits that were applied, for `rules effective`.
    pub edits: Vec<Edit>,
    /// Every `allow`, those of rules among them.
    pub allows: Vec<Allow>,
}

/// Lists that the engine itself reads, by their names.
pub mod engine_list {
    /// Keys of a payload below which stands what the user wrote (D13).
    pub const ECHO_KEYS: &str = "echo_keys";
    /// Providers whose profiles are those of their family's first member (C2).
    pub const LEGACY_PROVIDERS: &str = "legacy_providers";
    /// All of them.
    pub const ALL: [&str; 2] = [ECHO_KEYS, LEGACY_PROVIDERS];
}

impl Ruleset {
    /// The entries of a list that the engine reads; none when the rules have no such list.
    pub fn engine_list(&self, name: &'static str) -> impl Iterator<Item = &str> {
        let lists = self.lists.iter().filter(move |list| &*list.name == name);
        lists.flat_map(|list| &list.entries).map(|entry| entry.node.as_str())
    }
}

/// A class of errors.
#[derive(Clone, Debug)]
pub struct Bucket {
    /// Its name.
    pub name: Arc<str>,
    /// Doc comment.
    pub doc: Option<String>,
    /// What a host should answer its own client with.
    pub http: Option<u16>,
    /// What the interpreter knows of it.
    pub traits: Traits,
    /// The reaction of its `on` block (or the built-in one).
    pub reaction: Reaction,
    /// The declaration.
    pub span: Span,
}

/// `alias openai = openai-codex, …`: providers of one family.
#[derive(Clone, Debug)]
pub struct Alias {
    /// The family's name; a provider itself.
    pub family: String,
    /// Its other members.
    pub members: Vec<String>,
    /// The declaration.
    pub span: Span,
}

/// A named list of phrases.
#[derive(Clone, Debug)]
pub struct List {
    /// Its name.
    pub name: Arc<str>,
    /// Doc comment.
    pub doc: Option<String>,
    /// The entries, each with its place.
    pub entries: Vec<Spanned<String>>,
    /// The declaration.
    pub span: Span,
}

/// A named condition.
#[derive(Clone, Debug)]
pub struct Let {
    /// Its name.
    pub name: Arc<str>,
    /// Doc comment.
    pub doc: Option<String>,
    /// The condition.
    pub cond: Cond,
    /// The declaration.
    pub span: Span,
}

/// A `group … when` or `provider` block: a guard around its rules.
#[derive(Clone, Debug)]
pub struct Block {
    /// Its name, unique.
    pub name: Arc<str>,
    /// Doc comment.
    pub doc: Option<String>,
    /// The enclosing block.
    pub parent: Option<BlockId>,
    /// Its own guard, without the parent's.
    pub guard: Cond,
    /// Its header.
    pub span: Span,
}

/// One rule.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Full name, `block.rule`.
    pub name: Arc<str>,
    /// Doc comment.
    pub doc: Option<String>,
    /// The innermost block; its guards and its parents' must hold too.
    pub block: Option<BlockId>,
    /// Where matching errors go.
    pub bucket: BucketId,
    /// The condition; [`Cond::Always`] for `otherwise`.
    pub when: Cond,
    /// `otherwise`.
    pub otherwise: bool,
    /// `observe rule`: counted and shown, decides nothing.
    pub observe: bool,
    /// The rule's own reaction merged over its bucket's; absent: the bucket's.
    pub reaction: Option<Reaction>,
    /// Examples and counterexamples.
    pub examples: Vec<Example>,
    /// Suppressed diagnostics.
    pub allows: Vec<Allow>,
    /// From `rule` (or `observe`) to the end of its head line.
    pub span: Span,
    /// The bare name.
    pub name_span: Span,
}

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

/// An operator's tunable value.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Its name.
    pub name: Arc<str>,
    /// Doc comment.
    pub doc: Option<String>,
    /// The value in the rules, after `set`.
    pub value: SettingValue,
    /// `from config "…" in UNIT`.
    pub from_config: Option<External>,
    /// `by provider from config "…" in UNIT`.
    pub by_provider: Option<External>,
    /// `from env "…" in UNIT`.
    pub from_env: Option<External>,
    /// The declaration.
    pub span: Span,
    /// The `set` that gave the value, if one did.
    pub set_by: Option<Span>,
}

/// The value of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingValue {
    /// A duration; `off` is zero.
    Duration(std::time::Duration),
    /// A count.
    Count(u32),
}

/// A place outside the rules from which a setting may be overridden.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct External {
    /// Config path or environment variable.
    pub path: String,
    /// The unit of numbers there; for counts, none.
    pub unit: Option<Unit>,
    /// The path.
    pub span: Span,
}

/// A named schedule.
#[derive(Clone, Debug)]
pub struct NamedBackoff {
    /// Its name.
    pub name: Arc<str>,
    /// Doc comment.
    pub doc: Option<String>,
    /// The schedule.
    pub backoff: Backoff,
    /// The declaration.
    pub span: Span,
}

/// Where a reset time may be found, and in what unit.
#[derive(Clone, Debug)]
pub struct Reset {
    /// Its name.
    pub name: Arc<str>,
    /// Doc comment.
    pub doc: Option<String>,
    /// The place.
    pub from: ResetPlace,
    /// Units, tried in order.
    pub units: Vec<Unit>,
    /// `when …`: only then.
    pub when: Cond,
    /// `trusted up to D`: beyond the bounds of the bucket.
    pub trusted: Option<super::policy::DurationSlot>,
    /// The declaration.
    pub span: Span,
}

/// The place of a reset time.
#[derive(Clone, Debug, PartialEq)]
pub enum ResetPlace {
    /// A response header; may be a glob, then the latest counts.
    Header(Spanned<String>),
    /// A JSON field, at any level.
    Field(Spanned<String>),
    /// The group `t` of a regular expression over the texts.
    Text(Regex),
}

/// `example` or `counterexample` under a rule.
#[derive(Clone, Debug)]
pub struct Example {
    /// `counterexample`: this rule must not decide it.
    pub counter: bool,
    /// The case; its guard is already filled in.
    pub case: Case,
}

/// A signal as a test writes it.
#[derive(Clone, Debug, Default)]
pub struct Case {
    /// Provider.
    pub provider: Option<String>,
    /// Model.
    pub model: Option<String>,
    /// Status.
    pub status: Option<u16>,
    /// Code.
    pub code: Option<String>,
    /// Type.
    pub error_type: Option<String>,
    /// Param.
    pub param: Option<String>,
    /// Message.
    pub message: Option<String>,
    /// Details.
    pub details: Vec<String>,
    /// Headers.
    pub headers: Vec<(String, String)>,
    /// `aborted user|host|deadline`.
    pub aborted: Option<String>,
    /// `at TIME`.
    pub at: Option<Timestamp>,
    /// `reset in D` that is expected; `Some(None)`: `no reset`.
    pub reset: Option<Option<std::time::Duration>>,
    /// The whole case.
    pub span: Span,
}

/// A `test` block.
#[derive(Clone, Debug)]
pub struct TestBlock {
    /// Its title.
    pub title: String,
    /// What it expects.
    pub cases: Vec<Expectation>,
    /// The head.
    pub span: Span,
}

/// One line of a `test` block.
#[expect(clippy::large_enum_variant, reason = "nearly all of them are verdicts")]
#[derive(Clone, Debug)]
pub enum Expectation {
    /// `… -> bucket [by RULE]`.
    Verdict {
        /// The signal.
        case: Case,
        /// The bucket.
        bucket: BucketId,
        /// The rule.
        by: Option<RuleId>,
    },
    /// `backoff NAME after N failures -> D`.
    Backoff {
        /// The schedule.
        backoff: BackoffId,
        /// How many failures there were, the last one included.
        failures: u32,
        /// The step that follows.
        expect: std::time::Duration,
        /// The line.
        span: Span,
    },
}

/// `allow P0207 "reason"`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allow {
    /// The code.
    pub code: String,
    /// Why.
    pub reason: String,
    /// The statement below it.
    pub span: Span,
    /// The line itself.
    pub at: Span,
    /// It has suppressed something.
    pub used: bool,
}

/// An edit that was applied.
#[derive(Clone, Debug)]
pub struct Edit {
    /// The statement.
    pub span: Span,
    /// What it changed, in words (`rule payment_required.anything_else dropped`).
    pub what: String,
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
