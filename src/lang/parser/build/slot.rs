//! Small values: names, strings, numbers, durations, and parts that may be given once.

use std::{collections::BTreeMap, time::Duration};

use super::{
    super::{
        grammar::{Node, Rule},
        report::{Built, Report},
        values,
    },
    Builder,
};
use crate::lang::{
    ast::{CountSlot, DurationSlot, Name, NumberRange, Path, Slot},
    diagnostic::{Diagnostic, codes::syntax},
    source::{Span, Spanned},
};

/// Parts that were already given.
#[derive(Default)]
pub struct Seen(BTreeMap<&'static str, Span>);

impl Seen {
    /// Reports a part that was given before; `what` as a person calls it.
    pub fn once(&mut self, what: &'static str, span: Span, report: &mut Report<'_>) -> Built<()> {
        match self.0.get(what) {
            None => {
                self.0.insert(what, span);
                Ok(())
            }
            Some(first) => Err(report.push(
                Diagnostic::new(syntax::TWICE, span, format!("{what} is given twice"))
                    .related(*first, "first here")
                    .help("keep one of them"),
            )),
        }
    }
}

impl Builder<'_, '_> {
    /// The text of a node.
    pub(super) fn text(&self, node: &Node) -> &str {
        self.text.get(node.range.clone()).unwrap_or("")
    }

    /// A word as it stands.
    pub(super) fn plain(&self, node: &Node) -> Name {
        Spanned { node: self.text(node).to_owned(), span: self.span(node) }
    }

    /// The `name` part.
    pub(super) fn name(&mut self, node: &Node) -> Built<Name> {
        let name = node.need(Rule::name)?;
        Ok(self.plain(name))
    }

    /// A `string` node itself.
    pub(super) fn unquote(&mut self, node: &Node) -> Built<Spanned<String>> {
        let value = values::string(self.text(node)).map_err(|wrong| self.wrong(node, wrong))?;
        Ok(Spanned { node: value, span: self.span(node) })
    }

    /// The first `string` part.
    pub(super) fn string(&mut self, node: &Node) -> Built<Spanned<String>> {
        let string = node.need(Rule::string)?;
        self.unquote(string)
    }

    /// All `string` parts of a `strings` node.
    pub(super) fn strings(&mut self, node: &Node) -> Built<Vec<Spanned<String>>> {
        let strings = node.need(Rule::strings)?;
        self.each(strings, Rule::string, Self::unquote)
    }

    /// An `id`, `scalar` or `value` node that holds a string, word or number, as text.
    pub(super) fn text_of(&mut self, node: &Node) -> Built<Name> {
        match node.part(Rule::string) {
            Some(string) => self.unquote(string),
            None => Ok(self.plain(node)),
        }
    }

    /// All parts read by a rule. Each is built, so that all errors are reported, before one fails.
    pub(super) fn each<T>(
        &mut self,
        node: &Node,
        of: Rule,
        mut build: impl FnMut(&mut Self, &Node) -> Built<T>,
    ) -> Built<Vec<T>> {
        let results: Vec<_> = node.all(of).map(|part| build(self, part)).collect();
        results.into_iter().collect()
    }

    /// The `number` part.
    pub(super) fn number(&mut self, node: &Node, what: &str, low: u32, high: u32) -> Built<Spanned<u32>> {
        let number = node.need(Rule::number)?;
        self.number_at(number, what, low, high)
    }

    /// A `number` node itself.
    pub(super) fn number_at(&mut self, node: &Node, what: &str, low: u32, high: u32) -> Built<Spanned<u32>> {
        let value =
            values::number(self.text(node), what, low, high).map_err(|wrong| self.wrong(node, wrong))?;
        Ok(Spanned { node: value, span: self.span(node) })
    }

    /// The `number` part as a status.
    pub(super) fn status(&mut self, node: &Node) -> Built<Spanned<u16>> {
        let number = self.number(node, "a status", 100, 599)?;
        Ok(Spanned { node: u16::try_from(number.node).unwrap_or(u16::MAX), span: number.span })
    }

    /// A `range` node: `500..599`, or one number.
    pub(super) fn range(&mut self, node: &Node) -> Built<NumberRange> {
        let text = self.text(node).to_owned();
        let (low, high) = text.split_once("..").unwrap_or((&text, &text));
        let bound = |text| values::number(text, "this", 0, u32::MAX);
        let (low, high) = bound(low)
            .and_then(|low| bound(high).map(|high| (low, high)))
            .map_err(|wrong| self.wrong(node, wrong))?;
        if low > high {
            let range = node.range.clone();
            let message = format!("the range `{text}` ends before it begins");
            return Err(self.report.at(
                syntax::BAD_NUMBER,
                range,
                message,
                &format!("write `{high}..{low}`"),
            ));
        }
        Ok(NumberRange { low, high, span: self.span(node) })
    }

    /// A `duration` node itself.
    pub(super) fn duration_at(&mut self, node: &Node) -> Built<Spanned<Duration>> {
        let value = values::duration(self.text(node)).map_err(|wrong| self.wrong(node, wrong))?;
        Ok(Spanned { node: value, span: self.span(node) })
    }

    /// The first `duration_slot` part.
    pub(super) fn duration(&mut self, node: &Node) -> Built<DurationSlot> {
        let slot = node.need(Rule::duration_slot)?;
        self.duration_slot(slot)
    }

    /// A `duration_slot` node itself.
    pub(super) fn duration_slot(&mut self, node: &Node) -> Built<DurationSlot> {
        let span = self.span(node);
        let value = match node.part(Rule::duration) {
            Some(duration) => Slot::Fixed(self.duration_at(duration)?.node),
            None => Slot::Setting(self.name(node)?.node),
        };
        Ok(Spanned { node: value, span })
    }

    /// The `count_slot` part.
    pub(super) fn count(&mut self, node: &Node) -> Built<CountSlot> {
        let slot = node.need(Rule::count_slot)?;
        let span = self.span(slot);
        let value = match slot.part(Rule::number) {
            Some(number) => Slot::Fixed(self.number_at(number, "a count", 0, u32::MAX)?.node),
            None => Slot::Setting(self.name(slot)?.node),
        };
        Ok(Spanned { node: value, span })
    }

    /// A `path` node itself.
    pub(super) fn path(&mut self, node: &Node) -> Built<Path> {
        let part = node.need(Rule::path_part)?;
        let first = self.plain(part);
        Ok(match node.part(Rule::after_dot) {
            Some(last) => Path { block: Some(first), name: self.plain(last) },
            None => Path { block: None, name: first },
        })
    }
}
