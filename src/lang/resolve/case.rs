//! Examples and tests.

use super::{Resolver, declare::Found, names::unknown};
use crate::lang::{
    ast,
    diagnostic::{
        Diagnostic,
        codes::{names, types},
        nearest::{Hints, did_you_mean},
    },
    source::Spanned,
    tree::{self, BackoffId, BucketId, Case, RuleId},
};

impl Resolver<'_> {
    pub(super) fn case(&mut self, case: &ast::Case) -> Case {
        let text = |name: &Option<ast::Name>| name.as_ref().map(|n| n.node.clone());
        if let Some(aborted) = &case.aborted
            && !["user", "host", "deadline"].contains(&aborted.node.as_str())
        {
            let help = did_you_mean(&aborted.node, ["user", "host", "deadline"])
                .unwrap_or_else(|| "it is one of `user`, `host` and `deadline`".to_owned());
            self.out.push(
                Diagnostic::new(
                    types::WRONG_VALUE,
                    aborted.span,
                    format!("`aborted` is never `{}`", aborted.node),
                )
                .here("cannot be")
                .help(help),
            );
        }
        if let Some(status) = &case.status
            && !(100..=999).contains(&status.node)
        {
            self.out.push(
                Diagnostic::new(
                    types::WRONG_VALUE,
                    status.span,
                    format!("`status` is never `{}`", status.node),
                )
                .here("cannot be")
                .help("a status has three digits, such as `429`"),
            );
        }
        Case {
            provider: text(&case.provider),
            model: text(&case.model),
            status: case.status.as_ref().map(|s| s.node),
            code: text(&case.code),
            error_type: text(&case.error_type),
            param: text(&case.param),
            message: text(&case.message),
            details: case.details.iter().map(|d| d.node.clone()).collect(),
            headers: case.headers.iter().map(|(n, v)| (n.node.clone(), v.node.clone())).collect(),
            aborted: text(&case.aborted),
            at: case.at.as_ref().map(|t| t.node),
            reset: case.reset.as_ref().map(|r| r.node),
            span: case.span,
        }
    }

    pub(super) fn tests(&mut self, found: &Found<'_>) {
        for (test, _) in &found.tests {
            let cases = test.cases.iter().map(|line| self.expectation(line)).collect();
            self.set.tests.push(tree::TestBlock { title: test.title.node.clone(), cases, span: test.head });
        }
    }

    fn expectation(&mut self, line: &ast::Expectation) -> tree::Expectation {
        match line {
            ast::Expectation::Verdict { case, bucket, by, span } => {
                let mut case = self.case(case);
                case.span = *span;
                // A test's own bucket is no use of it.
                let known = self.buckets.get(&bucket.node).map(BucketId);
                let bucket = known.or_else(|| self.bucket(bucket)).unwrap_or(BucketId::UNCLASSIFIED);
                let by = by.as_ref().and_then(|path| self.rule(path));
                tree::Expectation::Verdict { case, bucket, by }
            }
            ast::Expectation::Backoff { backoff, failures, expect, span } => {
                self.not_zero(
                    failures.node,
                    failures.span,
                    "the number of failures",
                    "the first step follows the first failure: write `after 1 failures`",
                );
                tree::Expectation::Backoff {
                    backoff: self.backoff(backoff).unwrap_or(BackoffId(0)),
                    failures: failures.node,
                    expect: expect.node,
                    span: *span,
                }
            }
        }
    }

    fn rule(&mut self, path: &ast::Path) -> Option<RuleId> {
        let full = path.full();
        let id = self.rules.take(&full);
        if id.is_none() && !self.unsure.may_be(&path.name.node) && !self.unsure.may_be(&full) {
            let name = Spanned { node: full.clone(), span: path.span() };
            let mut problem = unknown(names::UNKNOWN_RULE, "rule", &name, &self.rules, self.program);
            let mut known = self.rules.names().take(Hints::NAMES);
            let tail = known.find(|n| n.rsplit('.').next() == Some(full.as_str()));
            if let Some(tail) = tail {
                problem = problem.help(format!("did you mean `{tail}`?"));
            }
            self.out.push(problem);
        }
        id.map(RuleId)
    }
}
