//! Statements: what stands at the top of a file, or inside a block.

use super::{
    DurationSlot, Group, Name, Path, PolicyForm, ProviderBlock, Reaction, Rule, TestBlock, cond::Cond,
};
use crate::lang::{
    source::{Span, Spanned},
    tree::{Regex, Unit},
};

/// A statement with what belongs to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// The `##` lines above it, without the marks, joined by line breaks.
    pub doc: Option<Spanned<String>>,
    /// The `allow` lines above it.
    pub allows: Vec<Allow>,
    /// What it says.
    pub kind: StatementKind,
    /// From its first word to its last.
    pub span: Span,
}

impl Statement {
    /// How many statements it is: itself and those inside.
    #[must_use]
    pub fn count(&self) -> usize {
        let inside = match &self.kind {
            StatementKind::Group(group) => group.body.as_slice(),
            StatementKind::Provider(block) => block.body.as_slice(),
            _ => &[],
        };
        1 + inside.iter().map(Self::count).sum::<usize>()
    }
}

/// `allow P0207 "reason"`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allow {
    /// The code.
    pub code: Name,
    /// Why.
    pub reason: Spanned<String>,
    /// The whole line.
    pub span: Span,
}

/// Every kind of statement. Inside a block only [`Rule`], [`Group`], [`ProviderBlock`] and [`Broken`]
/// occur.
#[derive(Clone, Debug, PartialEq)]
pub enum StatementKind {
    /// `bucket …`.
    Bucket(Bucket),
    /// `alias …`.
    Alias(Alias),
    /// `list …`.
    List(List),
    /// `let …`.
    Let(Let),
    /// `rule …`, `observe rule …`.
    Rule(Box<Rule>),
    /// `group … { … }`.
    Group(Group),
    /// `provider … { … }`.
    Provider(ProviderBlock),
    /// `setting …`.
    Setting(Setting),
    /// `backoff …`.
    Backoff(Backoff),
    /// `reset …`.
    Reset(Box<Reset>),
    /// `on BUCKET { … }`.
    On {
        /// The bucket.
        bucket: Name,
        /// Its reaction.
        reaction: Box<Reaction>,
    },
    /// `test "…" { … }`.
    Test(TestBlock),
    /// `use …`.
    Use(UseTarget),
    /// `drop`, `replace`, `extend`, `set`, `in … before|after`.
    Edit(Edit),
    /// One of the closed policy forms.
    Policy(PolicyForm),
    /// A statement with an error that is already reported.
    Broken(Broken),
}

/// What is left of a statement that could not be read. The name is kept so that nothing that refers
/// to it is reported as unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Its first word (`rule`, `let`), if it has one.
    pub keyword: Option<String>,
    /// The name it declares, as far as that can be seen.
    pub name: Option<Name>,
}

/// `bucket NAME { http N; transient; auth_class; skips_provider [from step N]; keeps_probe_slot }`.
#[derive(Clone, Debug, PartialEq)]
pub struct Bucket {
    /// Its name.
    pub name: Name,
    /// What a host should answer its own client with.
    pub http: Option<Spanned<u16>>,
    /// `transient`.
    pub transient: Option<Span>,
    /// `auth_class`.
    pub auth_class: Option<Span>,
    /// `skips_provider`: the step from which it does (1 when none is given).
    pub skips_provider_from: Option<Spanned<u32>>,
    /// `keeps_probe_slot`.
    pub keeps_probe_slot: Option<Span>,
}

/// `alias NAME = ID, ID`.
#[derive(Clone, Debug, PartialEq)]
pub struct Alias {
    /// The family's id.
    pub name: Name,
    /// The other ids.
    pub members: Vec<Name>,
}

/// `list NAME = ["…", …]`.
#[derive(Clone, Debug, PartialEq)]
pub struct List {
    /// Its name.
    pub name: Name,
    /// The entries.
    pub entries: Vec<Spanned<String>>,
}

/// `let NAME = CONDITION`.
#[derive(Clone, Debug, PartialEq)]
pub struct Let {
    /// Its name.
    pub name: Name,
    /// What it stands for.
    pub cond: Cond,
}

/// `setting NAME = VALUE from config "…" in UNIT by provider from config "…" in UNIT from env "…" in UNIT`.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Its name.
    pub name: Name,
    /// The value.
    pub value: Spanned<SettingValue>,
    /// `from config …`.
    pub from_config: Option<External>,
    /// `by provider from config …`.
    pub by_provider: Option<External>,
    /// `from env …`.
    pub from_env: Option<External>,
}

/// The value of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingValue {
    /// `5h`.
    Duration(std::time::Duration),
    /// `3`.
    Count(u32),
    /// `off`: a duration of zero.
    Off,
}

/// `"path" in UNIT`.
#[derive(Clone, Debug, PartialEq)]
pub struct External {
    /// Config path or variable name.
    pub path: Spanned<String>,
    /// The unit; none for counts.
    pub unit: Option<Spanned<Unit>>,
}

/// `backoff NAME = … [jitter N%]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Backoff {
    /// Its name.
    pub name: Name,
    /// How it grows.
    pub growth: Growth,
    /// Percent.
    pub jitter: Option<Spanned<u8>>,
}

/// The steps of a backoff.
#[derive(Clone, Debug, PartialEq)]
pub enum Growth {
    /// `steps D, D, …`; never empty.
    Steps(Vec<DurationSlot>),
    /// `doubling from D up to D`.
    Doubling {
        /// First step.
        from: DurationSlot,
        /// Longest step.
        up_to: DurationSlot,
    },
}

/// `reset NAME from PLACE [when COND] in UNIT, … [trusted up to D]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Reset {
    /// Its name.
    pub name: Name,
    /// Where the time is found.
    pub from: ResetPlace,
    /// Only then.
    pub when: Option<Cond>,
    /// Units, tried in order; never empty.
    pub units: Vec<Spanned<Unit>>,
    /// Beyond the bounds of the bucket.
    pub trusted: Option<DurationSlot>,
}

/// The place of a reset time.
#[derive(Clone, Debug, PartialEq)]
pub enum ResetPlace {
    /// `header "…"`.
    Header(Spanned<String>),
    /// `field "…"`.
    Field(Spanned<String>),
    /// `text /…/`.
    Text(Regex),
}

/// What `use` names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UseTarget {
    /// `use default`: a rule set that comes with the engine.
    Named(Name),
    /// `use "path"`: a file, from the folder of this one.
    Path(Spanned<String>),
}

/// A change to something that another statement declares. It names its target, never a position.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// `drop KIND NAME`.
    Drop {
        /// What kind of thing.
        kind: Spanned<DropKind>,
        /// Which one.
        target: Path,
    },
    /// `replace STATEMENT`: the declaration of the same kind and name gives way to this one. A rule
    /// is named in full (`replace rule block.rule -> …`); `block` then holds the block's name.
    Replace {
        /// The block of a replaced rule.
        block: Option<Name>,
        /// The new declaration.
        statement: Box<Statement>,
    },
    /// `extend NAME with ["…"]`.
    Extend {
        /// The list.
        list: Name,
        /// What is added at its end.
        entries: Vec<Spanned<String>>,
    },
    /// `set NAME = VALUE`.
    Set {
        /// The setting.
        setting: Name,
        /// Its new value.
        value: Spanned<SettingValue>,
    },
    /// `in group|provider NAME before|after RULE { … }`.
    Insert {
        /// `provider` instead of `group`.
        provider: bool,
        /// The block's name.
        block: Name,
        /// `after` instead of `before`.
        after: bool,
        /// The rule (or inner block) beside which the new ones go.
        anchor: Name,
        /// What is inserted.
        body: Vec<Statement>,
    },
}

/// What `drop` can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DropKind {
    /// `drop rule block.rule`.
    Rule,
    /// `drop group NAME`.
    Group,
    /// `drop provider NAME`.
    Provider,
    /// `drop reset NAME`.
    Reset,
    /// `drop alias NAME`.
    Alias,
    /// `drop test "…"`: the title stands in the target's name.
    Test,
}
