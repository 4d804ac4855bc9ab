//! Blocks and rules.

use std::collections::HashSet;

use super::{
    Resolver,
    declare::{Found, Guard},
};
use crate::lang::{
    ast,
    tree::{self, BlockId, BucketId, Cond, Field, LetId, Op, Test},
};

impl Resolver<'_> {
    pub(super) fn blocks(&mut self, found: &Found<'_>) {
        for block in &found.blocks {
            let head = match &block.statement.kind {
                ast::StatementKind::Group(group) => group.head,
                ast::StatementKind::Provider(provider) => provider.head,
                _ => block.statement.span,
            };
            let guard = match &block.guard {
                Guard::When(None) => Cond::Always,
                Guard::When(Some(cond)) => self.cond(cond),
                Guard::Providers(ids) => {
                    ids.iter().for_each(|id| self.phrase(id));
                    let op = match ids {
                        [id] => Op::Is(id.clone()),
                        ids => Op::In(ids.to_vec()),
                    };
                    Cond::Test(Test { field: Field::Provider, op, span: head })
                }
            };
            self.set.blocks.push(tree::Block {
                name: block.name.as_str().into(),
                doc: block.statement.doc.as_ref().map(|d| d.node.clone()),
                parent: block.parent,
                guard,
                span: head,
            });
        }
    }

    pub(super) fn rules(&mut self, found: &Found<'_>) {
        for (block, rule, statement) in &found.rules {
            let bucket = self.bucket(&rule.bucket).unwrap_or(BucketId::UNCLASSIFIED);
            let (when, otherwise) = match &rule.condition {
                ast::Condition::When(cond) => (self.cond(cond), false),
                ast::Condition::Otherwise(_) => (Cond::Always, true),
            };
            let reaction = rule.reaction.as_ref().map(|own| {
                let base = self.set.buckets.get(bucket.index()).map(|b| b.reaction.clone());
                self.own_reaction(own, base.as_ref())
            });
            let examples = rule.examples.iter().map(|example| {
                let mut case = self.case(&example.case);
                case.span = example.span;
                self.fill(&mut case, *block);
                tree::Example { counter: example.counter, case }
            });
            let examples = examples.collect();
            let allows = statement.allows.iter().map(|allow| tree::Allow {
                code: allow.code.node.clone(),
                reason: allow.reason.node.clone(),
                span: statement.span,
                at: allow.span,
                used: false,
            });
            self.set.rules.push(tree::Rule {
                name: self.full_name(*block, &rule.name.node).into(),
                doc: statement.doc.as_ref().map(|d| d.node.clone()),
                block: *block,
                bucket,
                when,
                otherwise,
                observe: rule.observe.is_some(),
                reaction,
                examples,
                allows: allows.collect(),
                span: rule.head,
                name_span: rule.name.span,
            });
        }
    }

    fn full_name(&self, block: Option<BlockId>, name: &str) -> String {
        match block.and_then(|b| self.set.blocks.get(b.index())) {
            Some(block) => format!("{}.{name}", block.name),
            None => name.to_owned(),
        }
    }

    /// Fills in what the enclosing blocks' equalities say and the case leaves out, inner blocks first.
    fn fill(&self, case: &mut tree::Case, block: Option<BlockId>) {
        let mut at = block;
        while let Some(block) = at.and_then(|b| self.set.blocks.get(b.index())) {
            self.fill_from(case, &block.guard, &mut HashSet::new());
            at = block.parent;
        }
    }

    fn fill_from(&self, case: &mut tree::Case, guard: &Cond, seen: &mut HashSet<LetId>) {
        match guard {
            Cond::All(parts) => parts.iter().for_each(|p| self.fill_from(case, p, seen)),
            Cond::Let(id, _) if seen.insert(*id) => {
                if let Some(named) = self.set.lets.get(id.index()) {
                    self.fill_from(case, &named.cond, seen);
                }
            }
            Cond::Test(Test { field, op, .. }) => {
                let first = match op {
                    Op::Is(value) => Some(value.node.as_str()),
                    Op::In(values) => values.first().map(|v| v.node.as_str()),
                    _ => None,
                };
                let put = |slot: &mut Option<String>| {
                    if slot.is_none() {
                        // A glob holds for the id with nothing in the place of `*`.
                        *slot = first.map(|v| v.replace('*', "")).filter(|v| !v.is_empty());
                    }
                };
                match (field, op) {
                    (Field::Status, Op::Number(ranges)) if case.status.is_none() => {
                        case.status = ranges.first().and_then(|(low, _)| u16::try_from(*low).ok());
                    }
                    (Field::Provider, _) => put(&mut case.provider),
                    (Field::Model, _) => put(&mut case.model),
                    (Field::Code, _) if case.code.is_none() => case.code = first.map(str::to_owned),
                    (Field::Type, _) if case.error_type.is_none() => {
                        case.error_type = first.map(str::to_owned);
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
}
