//! Cases, and the lines that hold them.

use super::{
    super::{
        grammar::{Node, Rule},
        layout::Piece,
        report::Built,
        values,
    },
    Builder,
    slot::Seen,
};
use crate::lang::{
    ast::{Case, Example, Expectation, Statement, StatementKind, TestBlock},
    diagnostic::{Diagnostic, codes::syntax},
    source::Spanned,
};

impl Builder<'_, '_> {
    /// Puts an example under the rule that stands right above it.
    pub(super) fn attach_example(&mut self, node: &Node, piece: &Piece, above: &mut [Statement]) {
        let built = self.example(node);
        self.bodiless(piece).ok();
        let Ok(example) = built else { return };
        let last = above.last_mut().map(|statement| {
            statement.span.end = example.span.end;
            &mut statement.kind
        });
        match last {
            Some(StatementKind::Rule(rule)) => rule.examples.push(example),
            Some(StatementKind::Edit(crate::lang::ast::Edit::Replace { statement, .. })) => {
                match &mut statement.kind {
                    StatementKind::Rule(rule) => rule.examples.push(example),
                    _ => self.no_rule_above(&example),
                }
            }
            Some(StatementKind::Broken(_)) => {}
            _ => self.no_rule_above(&example),
        }
    }

    fn no_rule_above(&mut self, example: &Example) {
        self.report.push(
            Diagnostic::new(syntax::MISPLACED, example.span, "no rule stands above this example")
                .help("put it under the rule that it speaks for, or write a `test`"),
        );
    }

    fn example(&mut self, node: &Node) -> Built<Example> {
        let mut case = self.case(node.need(Rule::case)?)?;
        self.expected_reset(node, &mut case)?;
        Ok(Example { counter: node.has(Rule::k_counterexample), case, span: self.span(node) })
    }

    fn case(&mut self, node: &Node) -> Built<Case> {
        let mut case = Case { span: self.span(node), ..Case::default() };
        let mut seen = Seen::default();
        let fields: Vec<_> =
            node.parts.iter().map(|field| self.case_field(field, &mut case, &mut seen)).collect();
        fields.into_iter().collect::<Built<()>>()?;
        Ok(case)
    }

    fn case_field(&mut self, node: &Node, case: &mut Case, seen: &mut Seen) -> Built<()> {
        let span = self.span(node);
        let Some(keyword) = node.parts.first().map(|part| part.rule) else { return Ok(()) };
        let once = match keyword {
            Rule::k_provider => "`provider`",
            Rule::k_model => "`model`",
            Rule::k_status => "`status`",
            Rule::k_code => "`code`",
            Rule::k_type => "`type`",
            Rule::k_param => "`param`",
            Rule::k_message => "`message`",
            Rule::k_aborted => "`aborted`",
            Rule::k_at => "`at`",
            _ => "",
        };
        if !once.is_empty() {
            seen.once(once, span, &mut self.report)?;
        }
        match keyword {
            Rule::k_provider => case.provider = Some(self.id(node)?),
            Rule::k_model => case.model = Some(self.id(node)?),
            Rule::k_status => case.status = Some(self.status(node)?),
            Rule::k_code => case.code = Some(self.scalar(node)?),
            Rule::k_type => case.error_type = Some(self.scalar(node)?),
            Rule::k_param => case.param = Some(self.scalar(node)?),
            Rule::k_message => case.message = Some(self.string(node)?),
            Rule::k_detail => case.details.push(self.string(node)?),
            Rule::k_header => {
                let mut both = self.each(node, Rule::string, Self::unquote)?.into_iter();
                if let (Some(name), Some(value)) = (both.next(), both.next()) {
                    case.headers.push((name, value));
                }
            }
            Rule::k_aborted => case.aborted = Some(self.plain(node.need(Rule::abort)?)),
            _ => {
                let time = node.need(Rule::time)?;
                let value = values::time(self.text(time)).map_err(|wrong| self.wrong(time, wrong))?;
                case.at = Some(Spanned { node: value, span: self.span(time) });
            }
        }
        Ok(())
    }

    fn id(&mut self, node: &Node) -> Built<Spanned<String>> {
        let id = node.need(Rule::id)?;
        self.text_of(id)
    }

    fn scalar(&mut self, node: &Node) -> Built<Spanned<String>> {
        let scalar = node.need(Rule::scalar)?;
        self.text_of(scalar)
    }

    fn expected_reset(&mut self, node: &Node, case: &mut Case) -> Built<()> {
        if let Some(expected) = node.part(Rule::reset_expected) {
            let duration = expected.part(Rule::duration).map(|d| self.duration_at(d)).transpose()?;
            case.reset = Some(Spanned { node: duration.map(|d| d.node), span: self.span(expected) });
        }
        Ok(())
    }

    /// `test "…" { … }`.
    pub(super) fn test(&mut self, node: &Node, piece: &Piece) -> Built<TestBlock> {
        let title = self.string(node);
        let body = self.body(piece)?;
        let mut cases = Vec::new();
        for line in &body.pieces {
            let doc = self.doc(line);
            self.undocumented(doc);
            let built = self.head(line, Rule::test_line).and_then(|node| self.expectation(&node));
            self.bodiless(line).ok();
            cases.extend(built.ok());
        }
        Ok(TestBlock { title: title?, cases, head: self.span(node) })
    }

    fn expectation(&mut self, node: &Node) -> Built<Expectation> {
        let span = self.span(node);
        if node.rule == Rule::schedule_line {
            let backoff = self.name(node)?;
            let failures = self.number(node, "a count", 0, u32::MAX)?;
            let duration = node.need(Rule::duration)?;
            return Ok(Expectation::Backoff { backoff, failures, expect: self.duration_at(duration)?, span });
        }
        let mut case = Box::new(self.case(node.need(Rule::case)?)?);
        let bucket = self.name(node.need(Rule::to_bucket)?)?;
        let by = node.part(Rule::path).map(|path| self.path(path)).transpose()?;
        self.expected_reset(node, &mut case)?;
        Ok(Expectation::Verdict { case, bucket, by, span })
    }
}
