//! Changes to what other statements declare.

use super::{
    super::{
        grammar::{Node, Rule},
        layout::Piece,
        report::Built,
    },
    Builder,
};
use crate::lang::{
    ast::{DropKind, Edit, Path, Statement, StatementKind},
    source::Spanned,
};

impl Builder<'_, '_> {
    pub(super) fn edit(&mut self, node: &Node, piece: &Piece) -> Built<Edit> {
        match node.rule {
            Rule::drop_ => self.drop(node),
            Rule::replace => self.replace(node, piece),
            Rule::extend => Ok(Edit::Extend { list: self.name(node)?, entries: self.strings(node)? }),
            Rule::set => Ok(Edit::Set { setting: self.name(node)?, value: self.setting_value(node)? }),
            _ => self.insert(node, piece),
        }
    }

    fn drop(&mut self, node: &Node) -> Built<Edit> {
        let Some(what) = node.parts.iter().find(|p| p.rule != Rule::k_drop) else {
            return Err(self.unreadable(node.range.clone()));
        };
        let whole = |name| Path { block: None, name };
        let Some(keyword) = what.parts.first() else { return Err(self.unreadable(node.range.clone())) };
        let (kind, target) = match what.rule {
            Rule::drop_rule => (DropKind::Rule, self.path(what.need(Rule::path)?)?),
            Rule::drop_alias => {
                let id = what.need(Rule::id)?;
                (DropKind::Alias, whole(self.text_of(id)?))
            }
            Rule::drop_test => (DropKind::Test, whole(self.string(what)?)),
            _ => {
                let kind = match keyword.rule {
                    Rule::k_group => DropKind::Group,
                    Rule::k_provider => DropKind::Provider,
                    _ => DropKind::Reset,
                };
                (kind, whole(self.name(what)?))
            }
        };
        Ok(Edit::Drop { kind: Spanned { node: kind, span: self.span(keyword) }, target })
    }

    fn replace(&mut self, node: &Node, piece: &Piece) -> Built<Edit> {
        let Some(new) = node.parts.iter().find(|p| p.rule != Rule::k_replace) else {
            return Err(self.unreadable(node.range.clone()));
        };
        let (block, kind) = if new.rule == Rule::rule {
            let (block, rule) = self.rule(new, piece)?;
            (block, StatementKind::Rule(Box::new(rule)))
        } else {
            (None, self.kind(new, piece)?)
        };
        let span = self.report.span(new.range.start..self.whole(piece).end);
        let statement = Box::new(Statement { doc: None, allows: Vec::new(), kind, span });
        Ok(Edit::Replace { block, statement })
    }

    fn insert(&mut self, node: &Node, piece: &Piece) -> Built<Edit> {
        let mut names = node.all(Rule::name).map(|name| self.plain(name));
        let (Some(block), Some(anchor)) = (names.next(), names.next()) else {
            return Err(self.unreadable(node.range.clone()));
        };
        let body = self.body(piece)?;
        Ok(Edit::Insert {
            provider: node.has(Rule::k_provider),
            block,
            after: node.has(Rule::k_after),
            anchor,
            body: self.block(body),
        })
    }
}
