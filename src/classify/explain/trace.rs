//! One rule, condition by condition, each with the place in the text that satisfied it.

use serde::Serialize;

use super::{findings::kind_word, place};
use crate::{
    classify::{
        find::{Place, find},
        judge,
    },
    lang::tree::{Cond, Field, RuleId, Test},
    signal::Evidence,
    table::{
        Table,
        ask::{self, Ask, ExprId, Want},
    },
};

/// A rule that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Considered {
    /// Full name.
    pub rule: String,
    /// `file:line`.
    pub at: String,
    /// The bucket that it names.
    pub bucket: String,
    /// It decides nothing.
    pub observe: bool,
    /// Whether its condition and its blocks' guards hold.
    pub holds: bool,
    /// Guards, outermost first, then the rule's own condition.
    pub tests: Vec<Tested>,
}

/// A condition and whether it held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tested {
    /// How its parts go together.
    pub kind: Kind,
    /// As written; the name for a named one.
    pub what: String,
    /// `file:line`.
    pub at: String,
    /// Whether it held.
    pub holds: bool,
    /// What satisfied it.
    pub hit: Option<Hit>,
    /// Its parts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Tested>,
}

/// How the parts of a condition go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    /// Nothing is asked.
    Always,
    /// `and`.
    All,
    /// `or`.
    Any,
    /// `not`.
    Not,
    /// A named condition or a block's guard.
    Named,
    /// One test.
    Test,
}

/// The stretch of text that satisfied a test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Hit {
    /// `message`, `detail`, … or `header`.
    pub field: String,
    /// First byte in that text, as it came.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// The stretch, as it came.
    pub text: String,
}

/// Answers conditions plainly.
pub(super) struct Tracer<'a> {
    pub(super) table: &'a Table,
    pub(super) evidence: &'a Evidence,
}

impl Tracer<'_> {
    pub(super) fn rule(&self, id: RuleId) -> Considered {
        let rule = self.table.rule(id);
        let mut tests = self.guards(id);
        if rule.when == Cond::Always && !tests.is_empty() {
            tests.push(self.node(Kind::Always, "otherwise".to_owned(), place(self.table, rule.span), true));
        } else {
            tests.push(self.cond(&rule.when));
        }
        Considered {
            rule: rule.name.to_string(),
            at: place(self.table, rule.span),
            bucket: self.table.bucket(rule.bucket).name.to_string(),
            observe: rule.observe,
            holds: tests.iter().all(|test| test.holds),
            tests,
        }
    }

    /// The guards of a rule's blocks, outermost first.
    fn guards(&self, id: RuleId) -> Vec<Tested> {
        let blocks = &self.table.ruleset().blocks;
        let mut guards = Vec::new();
        let mut at = self.table.rule(id).block;
        while let Some(block) = at.and_then(|at| blocks.get(at.index())) {
            let guard = self.cond(&block.guard);
            let mut named = self.node(
                Kind::Named,
                format!("block {}", block.name),
                place(self.table, block.span),
                guard.holds,
            );
            named.parts.push(guard);
            guards.push(named);
            // Outer blocks come before inner ones; anything else would be a ring.
            at = block.parent.filter(|parent| at.is_some_and(|at| *parent < at));
        }
        guards.reverse();
        guards
    }

    pub(super) fn cond(&self, cond: &Cond) -> Tested {
        self.cond_within(cond, 0)
    }

    fn cond_within(&self, cond: &Cond, depth: u32) -> Tested {
        let group = |kind, what: &str, parts: Vec<Tested>, holds| {
            let at = parts.first().map_or_else(String::new, |part| part.at.clone());
            Tested { parts, ..self.node(kind, what.to_owned(), at, holds) }
        };
        match cond {
            Cond::Always => self.node(Kind::Always, "always".to_owned(), String::new(), true),
            Cond::All(parts) => {
                let parts: Vec<_> = parts.iter().map(|part| self.cond_within(part, depth)).collect();
                let holds = parts.iter().all(|part| part.holds);
                group(Kind::All, "all of", parts, holds)
            }
            Cond::Any(parts) => {
                let parts: Vec<_> = parts.iter().map(|part| self.cond_within(part, depth)).collect();
                let holds = parts.iter().any(|part| part.holds);
                group(Kind::Any, "any of", parts, holds)
            }
            Cond::Not(inner) => {
                let inner = self.cond_within(inner, depth);
                let holds = !inner.holds;
                group(Kind::Not, "not", vec![inner], holds)
            }
            Cond::Let(id, span) => {
                let named = self.table.ruleset().lets.get(id.index()).filter(|_| depth < 64);
                let inner = named.map(|named| self.cond_within(&named.cond, depth + 1));
                let name = named.map_or("?", |named| &named.name).to_owned();
                let holds = inner.as_ref().is_some_and(|inner| inner.holds);
                Tested {
                    parts: inner.into_iter().collect(),
                    ..self.node(Kind::Named, name, place(self.table, *span), holds)
                }
            }
            Cond::Test(test) => self.test(test),
        }
    }

    #[expect(clippy::unused_self, reason = "reads as the other makers of nodes do")]
    fn node(&self, kind: Kind, what: String, at: String, holds: bool) -> Tested {
        Tested { kind, what, at, holds, hit: None, parts: Vec::new() }
    }

    fn test(&self, test: &Test) -> Tested {
        let rules = self.table.ruleset();
        let exprs = &self.table.matcher().exprs;
        let asks = Ask::of(test, rules, &mut |regex| exprs.id(regex).unwrap_or(ExprId(u32::MAX)));
        let holds = asks.iter().all(|ask| judge::direct(ask, self.evidence, self.table));
        let hit = asks.first().filter(|_| holds).and_then(|ask| self.hit(ask));
        let written = rules.sources.snippet(test.span).split_whitespace().collect::<Vec<_>>().join(" ");
        let what = if written.is_empty() { format!("{:?}", test.op) } else { written };
        Tested { hit, ..self.node(Kind::Test, what, place(self.table, test.span), holds) }
    }

    /// The first text that satisfies a question, and where.
    fn hit(&self, ask: &Ask) -> Option<Hit> {
        let exprs = &self.table.matcher().exprs;
        if let Field::Header(name) = &ask.field {
            let (_, value) = self.evidence.headers.iter().find(|(key, value)| {
                key == name && find(&ask.want, &ask::fold(value), value, exprs).is_some()
            })?;
            let field = format!("header {name}");
            return Some(Hit { field, start: 0, end: value.len(), text: value.clone() });
        }
        let mask = ask::mask(&ask.field);
        self.evidence.segments.iter().filter(|segment| ask::bit(segment.kind) & mask != 0).find_map(
            |segment| {
                let folded = self.evidence.folded.get(segment.folded.clone())?;
                let original = self.evidence.original.get(segment.original.clone())?;
                let Place { range, original: in_original } = match &ask.want {
                    Want::Present => Place { range: 0..folded.len(), original: false },
                    want => find(want, folded, original, exprs)?,
                };
                let span = if in_original {
                    range
                } else {
                    let from = segment.folded.start;
                    let whole = self.evidence.original_of(&(from + range.start..from + range.end))?;
                    let base = segment.original.start;
                    whole.start.checked_sub(base)?..whole.end.checked_sub(base)?
                };
                let text = original.get(span.clone())?.to_owned();
                Some(Hit {
                    field: kind_word(segment.kind).to_owned(),
                    start: span.start,
                    end: span.end,
                    text,
                })
            },
        )
    }
}
