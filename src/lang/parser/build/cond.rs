//! Conditions.

use super::{
    super::{
        grammar::{Node, Rule},
        layout::DEEPEST,
        report::Built,
    },
    Builder,
};
use crate::lang::{
    ast::{Cond, Op, Phrases, Test, Value, Values},
    diagnostic::codes::syntax,
    pattern::Parsed,
    source::{Span, Spanned},
    tree::{Field, Quantifier, Regex},
};

impl Builder<'_, '_> {
    /// The `condition` part.
    pub(super) fn condition(&mut self, node: &Node) -> Built<Cond> {
        let condition = node.need(Rule::condition)?;
        self.joined(condition, Rule::conjunction, Cond::Any, |this, part| {
            this.joined(part, Rule::negation, Cond::All, Self::negation)
        })
    }

    /// The `when` part, if there is one.
    pub(super) fn when(&mut self, node: &Node) -> Built<Option<Cond>> {
        node.part(Rule::when).map(|when| self.condition(when)).transpose()
    }

    fn joined(
        &mut self,
        node: &Node,
        of: Rule,
        join: fn(Vec<Cond>, Span) -> Cond,
        build: impl FnMut(&mut Self, &Node) -> Built<Cond>,
    ) -> Built<Cond> {
        let mut parts = self.each(node, of, build)?;
        match parts.pop() {
            Some(only) if parts.is_empty() => Ok(only),
            Some(last) => {
                parts.push(last);
                Ok(join(parts, self.span(node)))
            }
            None => Err(self.unreadable(node.range.clone())),
        }
    }

    fn negation(&mut self, node: &Node) -> Built<Cond> {
        let nots: Vec<_> = node.all(Rule::k_not).collect();
        if nots.len() > DEEPEST {
            let message = format!("more than {DEEPEST} times `not`");
            let help = "two of them cancel each other out";
            return Err(self.report.at(syntax::TOO_DEEP, node.range.clone(), message, help));
        }
        let mut cond = if let Some(parens) = node.part(Rule::parens) {
            self.condition(parens)?
        } else if let Some(question) = node.part(Rule::question) {
            Cond::Test(self.question(question)?)
        } else {
            Cond::Named(self.name(node)?)
        };
        for not in nots.iter().rev() {
            let span = self.report.span(not.range.start..node.range.end);
            cond = Cond::Not(Box::new(cond), span);
        }
        Ok(cond)
    }

    fn question(&mut self, node: &Node) -> Built<Test> {
        let field = node.need(Rule::field)?;
        let field = Spanned { node: self.field(field)?, span: self.span(field) };
        let asked = node.need(Rule::asked)?;
        let op = Spanned { node: self.asked(asked)?, span: self.span(asked) };
        Ok(Test { field, op, span: self.span(node) })
    }

    fn field(&mut self, node: &Node) -> Built<Field> {
        if node.has(Rule::k_any_status) {
            return Ok(Field::AnyStatus);
        }
        if node.has(Rule::k_header) {
            return Ok(Field::Header(self.string(node)?.node.to_ascii_lowercase()));
        }
        Ok(match self.text(node) {
            "text" => Field::Text,
            "message" => Field::Message,
            "detail" => Field::Detail,
            "wrapper" => Field::Wrapper,
            "echo" => Field::Echo,
            "code" => Field::Code,
            "type" => Field::Type,
            "param" => Field::Param,
            "provider" => Field::Provider,
            "model" => Field::Model,
            "status" => Field::Status,
            "leading_number" => Field::LeadingNumber,
            "body" => Field::Body,
            "aborted" => Field::Aborted,
            _ => return Err(self.unreadable(node.range.clone())),
        })
    }

    fn asked(&mut self, node: &Node) -> Built<Op> {
        let Some(op) = node.parts.first() else { return Err(self.unreadable(node.range.clone())) };
        Ok(match op.rule {
            Rule::is if op.has(Rule::k_present) => Op::Present,
            Rule::is if op.has(Rule::k_absent) => Op::Absent,
            Rule::is => Op::Is(self.value(op.need(Rule::value)?)?),
            Rule::in_ => Op::In(match op.part(Rule::values) {
                Some(values) => Values::Inline(self.each(values, Rule::value, Self::value)?),
                None => Values::List(self.name(op)?),
            }),
            Rule::has => {
                let quantifier = if op.has(Rule::k_has_all_of) { Quantifier::All } else { Quantifier::Any };
                let phrases = if op.has(Rule::k_has) {
                    Phrases::Inline(vec![self.string(op)?])
                } else if op.has(Rule::strings) {
                    Phrases::Inline(self.strings(op)?)
                } else {
                    Phrases::List(self.name(op)?)
                };
                Op::Has(quantifier, phrases)
            }
            Rule::contains => Op::Contains(self.string(op)?),
            Rule::matches => Op::Matches(self.regex(op)?),
            Rule::starts => Op::StartsWith(self.string(op)?),
            _ => return Err(self.unreadable(node.range.clone())),
        })
    }

    fn value(&mut self, node: &Node) -> Built<Value> {
        match node.part(Rule::range) {
            Some(range) => Ok(Value::Number(self.range(range)?)),
            None => Ok(Value::Text(self.text_of(node)?)),
        }
    }

    /// The `regex` part, and `always` beside it.
    pub(super) fn regex(&mut self, node: &Node) -> Built<Regex> {
        let regex = node.need(Rule::regex)?;
        let (body, flags) = self.text(regex).rsplit_once('/').unwrap_or_default();
        Ok(Regex {
            pattern: body.get(1..).unwrap_or("").to_owned(),
            case_sensitive: flags.contains('c'),
            always: node.has(Rule::k_always),
            span: self.span(regex),
            parsed: Parsed::default(),
        })
    }
}
