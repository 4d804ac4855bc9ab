//! Rules and the blocks around them.

use super::{
    super::{
        grammar::{Node, Rule},
        layout::Piece,
        report::Built,
    },
    Builder,
};
use crate::lang::{
    ast::{self, Condition, Group, Name, OwnReaction, ProviderBlock},
    diagnostic::codes::syntax,
};

impl Builder<'_, '_> {
    /// A rule, and the block that a `replace rule block.name` names.
    pub(super) fn rule(&mut self, node: &Node, piece: &Piece) -> Built<(Option<Name>, ast::Rule)> {
        let path = self.path(node.need(Rule::path)?)?;
        let bucket = self.name(node.need(Rule::to_bucket)?)?;
        let condition = match node.part(Rule::k_otherwise) {
            Some(otherwise) => Condition::Otherwise(self.span(otherwise)),
            None => Condition::When(self.condition(node.need(Rule::when)?)?),
        };
        let mut head = node.range.clone();
        let reaction = if let Some(own) = node.part(Rule::own_reaction) {
            let body = self.body(piece)?;
            let only = own.part(Rule::k_only).map(|only| self.span(only));
            let reaction = self.reaction(body)?;
            head.end = self.whole(piece).end;
            Some(OwnReaction { only, reaction })
        } else {
            self.bodiless(piece)?;
            None
        };
        let observe = node.part(Rule::k_observe).map(|observe| self.span(observe));
        let head = self.report.span(head);
        let rule =
            ast::Rule { observe, name: path.name, bucket, condition, reaction, examples: Vec::new(), head };
        Ok((path.block, rule))
    }

    /// A rule that is declared where it stands: its name has no dot.
    pub(super) fn own_rule(&mut self, node: &Node, piece: &Piece) -> Built<ast::Rule> {
        let (block, rule) = self.rule(node, piece)?;
        let Some(block) = block else { return Ok(rule) };
        let range = block.span.start as usize..rule.name.span.end as usize;
        let message = format!("the rule's name `{}.{}` has a dot", block.node, rule.name.node);
        let help = format!("write `rule {}` inside the block `{}`", rule.name.node, block.node);
        Err(self.report.at(syntax::BAD_NAME, range, message, &help))
    }

    pub(super) fn group(&mut self, node: &Node, piece: &Piece) -> Built<Group> {
        let name = self.name(node);
        let when = self.when(node);
        let body = self.body(piece)?;
        let body = self.block(body);
        Ok(Group { name: name?, when: when?, body, head: self.span(node) })
    }

    pub(super) fn provider(&mut self, node: &Node, piece: &Piece) -> Built<ProviderBlock> {
        let ids = match node.part(Rule::id_list) {
            Some(list) => self.each(list, Rule::id, Self::text_of),
            None => self.each(node, Rule::id, Self::text_of),
        };
        let name = node.part(Rule::name).map(|name| self.plain(name));
        let body = self.body(piece)?;
        let body = self.block(body);
        Ok(ProviderBlock { ids: ids?, name, body, head: self.span(node) })
    }
}
