//! What an edit names.

use std::borrow::Cow;

use crate::lang::{
    ast::{DropKind, Edit, PolicyForm, Statement, StatementKind},
    resolve::names::block_name,
};

/// A kind of thing that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// `rule`.
    Rule,
    /// `group` or `provider`.
    Block,
    /// `bucket`.
    Bucket,
    /// `alias`.
    Alias,
    /// `list`.
    List,
    /// `let`.
    Let,
    /// `setting`.
    Setting,
    /// `backoff`.
    Backoff,
    /// `reset`.
    Reset,
    /// `on`.
    On,
    /// `test`.
    Test,
    /// `source`.
    Source,
    /// A policy form that stands once; its words are its name.
    Form,
}

impl Kind {
    /// As a person writes it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::Block => "block",
            Self::Bucket => "bucket",
            Self::Alias => "alias",
            Self::List => "list",
            Self::Let => "let",
            Self::Setting => "setting",
            Self::Backoff => "backoff",
            Self::Reset => "reset",
            Self::On => "on",
            Self::Test => "test",
            Self::Source => "source",
            Self::Form => "policy",
        }
    }
}

/// A kind and a name; of rules the full name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Target {
    /// What it is.
    pub kind: Kind,
    /// What it is called.
    pub name: String,
}

impl Target {
    /// Of an edit.
    pub(super) fn of(edit: &Edit) -> Self {
        match edit {
            Edit::Drop { kind, target } => {
                let (kind, name) = match kind.node {
                    DropKind::Rule => (Kind::Rule, target.full()),
                    DropKind::Group | DropKind::Provider => (Kind::Block, target.full()),
                    DropKind::Reset => (Kind::Reset, target.full()),
                    DropKind::Alias => (Kind::Alias, target.full()),
                    DropKind::Test => (Kind::Test, target.full()),
                };
                Self { kind, name }
            }
            Edit::Replace { block, statement } => {
                let mut target = Self::declared(statement)
                    .unwrap_or_else(|| Self { kind: Kind::Form, name: String::new() });
                if let (Kind::Rule, Some(block)) = (target.kind, block) {
                    target.name = format!("{}.{}", block.node, target.name);
                }
                target
            }
            Edit::Extend { list, .. } => Self { kind: Kind::List, name: list.node.clone() },
            Edit::Set { setting, .. } => Self { kind: Kind::Setting, name: setting.node.clone() },
            Edit::Insert { block, .. } => Self { kind: Kind::Block, name: block.node.clone() },
        }
    }

    /// What a statement declares; of rules the bare name.
    #[must_use]
    pub fn declared(statement: &Statement) -> Option<Self> {
        let (kind, name) = Self::named(statement)?;
        Some(Self { kind, name: name.into_owned() })
    }

    /// [`declared`](Self::declared), not yet copied: each edit looks through the whole list.
    pub(super) fn named(statement: &Statement) -> Option<(Kind, Cow<'_, str>)> {
        Some(match &statement.kind {
            StatementKind::Bucket(d) => (Kind::Bucket, d.name.node.as_str().into()),
            StatementKind::Alias(d) => (Kind::Alias, d.name.node.as_str().into()),
            StatementKind::List(d) => (Kind::List, d.name.node.as_str().into()),
            StatementKind::Let(d) => (Kind::Let, d.name.node.as_str().into()),
            StatementKind::Rule(d) => (Kind::Rule, d.name.node.as_str().into()),
            StatementKind::Group(d) => (Kind::Block, d.name.node.as_str().into()),
            StatementKind::Provider(d) => (Kind::Block, block_name(d)?.node.into()),
            StatementKind::Setting(d) => (Kind::Setting, d.name.node.as_str().into()),
            StatementKind::Backoff(d) => (Kind::Backoff, d.name.node.as_str().into()),
            StatementKind::Reset(d) => (Kind::Reset, d.name.node.as_str().into()),
            StatementKind::On { bucket, .. } => (Kind::On, bucket.node.as_str().into()),
            StatementKind::Test(d) => (Kind::Test, d.title.node.as_str().into()),
            StatementKind::Policy(PolicyForm::Source(s)) => {
                (Kind::Source, format!("{:?}", s.source.node).to_lowercase().into())
            }
            StatementKind::Policy(form) => (Kind::Form, form_name(form).into()),
            StatementKind::Use(_) | StatementKind::Edit(_) | StatementKind::Broken(_) => return None,
        })
    }

    /// For messages: `rule a.b`, `order profiles`.
    #[must_use]
    pub fn shown(&self) -> String {
        match self.kind {
            Kind::Form => format!("`{}`", self.name),
            Kind::Test => format!("test `{}`", self.name),
            kind => format!("{} `{}`", kind.word(), self.name),
        }
    }
}

fn form_name(form: &PolicyForm) -> &'static str {
    use crate::lang::ast::PinKind;
    match form {
        PolicyForm::ForgetFailures(_) => "forget failures",
        PolicyForm::OnSuccess(_) => "on success",
        PolicyForm::OrderProfiles(_) => "order profiles",
        PolicyForm::PinProfile { kind, .. } => match kind.node {
            PinKind::Auto => "pin profile auto",
            PinKind::User => "pin profile user",
        },
        PolicyForm::Source(_) => "source",
        PolicyForm::ProbePrimary(_) => "probe primary",
        PolicyForm::ProbeSibling(_) => "probe sibling",
        PolicyForm::Budget(_) => "budget per run",
        PolicyForm::SkipCache(_) => "skip cache",
        PolicyForm::SdkRetry(_) => "sdk retry",
        PolicyForm::NoticeFallback(_) => "notice fallback",
        PolicyForm::NoticeCleared(_) => "notice cleared",
    }
}
