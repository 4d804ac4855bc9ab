//! Examples, counterexamples and tests, each through the whole list.

use std::time::Duration;

use crate::{
    classify::{Scratch, Verdict},
    lang::{
        diagnostic::{Diagnostic, Diagnostics, codes::lints},
        effective::duration,
        source::Span,
        tree::{BucketId, Case, Expectation, Rule, RuleId},
    },
    signal::{Aborted, Headers, SignalRef, Texts},
    table::Table,
    time::Timestamp,
};

/// The clock of a case that names none: 2026-01-01T00:00:00Z.
pub(super) const CLOCK: Timestamp = Timestamp::from_millis(1_767_225_600_000);

/// What running all cases showed.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// How many cases were run: examples, counterexamples, lines of tests.
    pub cases: usize,
    /// Those that came out otherwise than expected, and not as allowed, in order of place.
    pub failures: Diagnostics,
}

impl Report {
    /// Whether every case came out as expected.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.failures.is_empty()
    }
}

/// Runs every example, counterexample and test of the rules, whatever is allowed.
pub(super) fn run(table: &Table) -> Report {
    let mut runner = Runner { table, scratch: Scratch::default(), report: Report::default() };
    for (id, rule) in table.ruleset().rules.iter().enumerate() {
        let id = RuleId(u32::try_from(id).unwrap_or(u32::MAX));
        for example in &rule.examples {
            runner.example(id, rule, &example.case, example.counter);
        }
    }
    for test in &table.ruleset().tests {
        for line in &test.cases {
            runner.line(&test.title, line);
        }
    }
    runner.report.failures.sort();
    runner.report
}

/// A case as the classifier takes it.
#[must_use]
pub fn signal(case: &Case) -> SignalRef<'_> {
    SignalRef {
        provider: case.provider.as_deref(),
        model: case.model.as_deref(),
        status: case.status,
        code: case.code.as_deref(),
        error_type: case.error_type.as_deref(),
        param: case.param.as_deref(),
        message: case.message.as_deref(),
        details: Texts::Owned(&case.details),
        headers: Headers::Owned(&case.headers),
        aborted: match case.aborted.as_deref() {
            Some("user") => Some(Aborted::User),
            Some("host") => Some(Aborted::Host),
            Some("deadline") => Some(Aborted::Deadline),
            _ => None,
        },
        received_at: Some(case.at.unwrap_or(CLOCK)),
    }
}

struct Runner<'a> {
    table: &'a Table,
    scratch: Scratch,
    report: Report,
}

impl Runner<'_> {
    fn classify(&mut self, case: &Case) -> Verdict {
        self.report.cases += 1;
        self.table.classify(&signal(case), &mut self.scratch)
    }

    fn example(&mut self, id: RuleId, rule: &Rule, case: &Case, counter: bool) {
        let verdict = self.classify(case);
        let decides = verdict.rule == Some(id) || (rule.observe && verdict.observed.contains(&id));
        if decides == counter {
            let problem = if counter {
                Diagnostic::new(
                    lints::EXAMPLE_LOST,
                    case.span,
                    format!("rule `{}` decides its own counterexample", rule.name),
                )
                .here("should not be decided by it")
                .related(rule.span, "decides it")
                .help("narrow the condition")
            } else {
                self.lost(id, rule, case, &verdict)
            };
            self.report.failures.push(problem);
        } else if !counter {
            self.reset(case, &verdict);
        }
    }

    fn lost(&self, id: RuleId, rule: &Rule, case: &Case, verdict: &Verdict) -> Diagnostic {
        let text = case.message.as_deref().or(case.code.as_deref()).unwrap_or("this case");
        let text: String = text.chars().take(80).collect();
        match verdict.rule.map(|winner| self.table.rule(winner)) {
            Some(winner) => Diagnostic::new(
                lints::EXAMPLE_LOST,
                case.span,
                format!("rule `{}` wins `{text}`, an example of rule `{}`", winner.name, rule.name),
            )
            .here("decided by another rule")
            .related(winner.span, "wins")
            .related(rule.span, "should win")
            .help(if verdict.rule < Some(id) {
                "move the rule above the other, or narrow the other's condition"
            } else {
                "widen the condition, or mend the example"
            }),
            None => Diagnostic::new(
                lints::EXAMPLE_LOST,
                case.span,
                format!("no rule matches `{text}`, an example of rule `{}`", rule.name),
            )
            .here("not matched")
            .related(rule.span, "should match")
            .help("widen the condition, or mend the example"),
        }
    }

    fn line(&mut self, title: &str, line: &Expectation) {
        match line {
            Expectation::Verdict { case, bucket, by } => {
                let verdict = self.classify(case);
                if verdict.bucket != *bucket || (by.is_some() && verdict.rule != *by) {
                    let wanted = self.shown(*bucket, *by);
                    let got = self.shown(verdict.bucket, verdict.rule);
                    let mut problem = failed(title, case.span, &wanted, &got);
                    if let Some(rule) = verdict.rule.map(|r| self.table.rule(r)) {
                        problem = problem.related(rule.span, "decided it");
                    }
                    self.report.failures.push(problem);
                } else {
                    self.reset(case, &verdict);
                }
            }
            Expectation::Backoff { backoff, failures, expect, span } => {
                self.report.cases += 1;
                let got = self.table.backoff_step(*backoff, *failures, None);
                if got != *expect {
                    self.report.failures.push(failed(title, *span, &duration(*expect), &duration(got)));
                }
            }
        }
    }

    fn reset(&mut self, case: &Case, verdict: &Verdict) {
        let Some(wanted) = case.reset else { return };
        let now = case.at.unwrap_or(CLOCK);
        let got = verdict.reset.map(|hint| hint.at.since(now));
        if got != wanted {
            let shown = |reset: Option<Duration>| match reset {
                Some(span) => format!("reset in {}", duration(span)),
                None => "no reset".to_owned(),
            };
            self.report.failures.push(failed("reset time", case.span, &shown(wanted), &shown(got)));
        }
    }

    fn shown(&self, bucket: BucketId, rule: Option<RuleId>) -> String {
        let bucket = &self.table.bucket(bucket).name;
        match rule {
            Some(rule) => format!("{bucket} by {}", self.table.rule(rule).name),
            None => bucket.to_string(),
        }
    }
}

fn failed(title: &str, span: Span, wanted: &str, got: &str) -> Diagnostic {
    Diagnostic::new(lints::TEST_FAILED, span, format!("`{title}`: expected `{wanted}`, got `{got}`"))
        .here("came out otherwise")
        .help("mend the rules, or the test where the rules are right; `pointsman explain` shows each step")
}
