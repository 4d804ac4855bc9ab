//! Which rules, list entries and branches of conditions no case reaches.
//!
//! Every branch becomes an observed rule of its own in a second table, so that the classifier itself
//! says which of them hold for a case.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::examples::signal;
use crate::{
    classify::Scratch,
    lang::{
        source::{SourceId, Span, Spanned},
        tree::{
            BucketId, Case, Cond, Expectation, LetId, Op, Phrases, Quantifier, Rule, RuleId, Ruleset, Test,
        },
    },
    table::{NoSettings, Table, TableError},
};

/// How many of a kind of thing the cases reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Reached.
    pub reached: usize,
    /// All.
    pub total: usize,
}

impl Share {
    /// In hundredths of a percent, rounded down: 10,000 means all. Of nothing, all is reached.
    #[must_use]
    pub fn hundredths(self) -> usize {
        (self.reached * 10_000).checked_div(self.total).unwrap_or(10_000)
    }

    /// In percent with at most two places, rounded down: `99.99`, `50`, `100`.
    #[must_use]
    pub fn percent(self) -> String {
        let (whole, rest) = (self.hundredths() / 100, self.hundredths() % 100);
        match (rest / 10, rest % 10) {
            (0, 0) => whole.to_string(),
            (tenths, 0) => format!("{whole}.{tenths}"),
            _ => format!("{whole}.{rest:02}"),
        }
    }
}

/// A thing that no case reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreached {
    /// Where it stands.
    pub span: Span,
    /// What it is: ``rule `a.b` ``, ``entry `daily` ``, ``branch `status is 429` ``.
    pub what: String,
}

/// What the examples and tests of the rules reach. Of an operator's rule set only what the operator's
/// own files declare: shipped files come without their cases there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Rules that decide (or are observed in) some case.
    pub rules: Share,
    /// Entries of named lists that hold in a case decided by a rule that uses them.
    pub entries: Share,
    /// Alternatives in conditions that hold in a case decided by their rule.
    pub branches: Share,
    /// What is not reached, in order of place.
    pub unreached: Vec<Unreached>,
    /// Rules of shipped files that an operator's rule set uses; they do not count.
    pub left_out: usize,
}

impl Coverage {
    /// The lowest of the three shares, in hundredths of a percent, rounded down; for `--min`.
    #[must_use]
    pub fn least(&self) -> usize {
        let shares = [self.rules, self.entries, self.branches];
        shares.into_iter().map(Share::hundredths).min().unwrap_or(10_000)
    }
}

/// Whether what stands there counts: all of the shipped list itself, and of other rule sets what does
/// not stand in shipped files.
fn counts(set: &Ruleset, span: Span) -> bool {
    let is_shipped = |source| set.sources.get(source).is_some_and(|source| source.shipped.is_some());
    !is_shipped(span.source) || is_shipped(SourceId(0))
}

/// Runs all cases and says what they reach.
///
/// # Errors
/// When the branches are more than one table holds.
pub fn coverage(table: &Table) -> Result<Coverage, TableError> {
    let set = table.ruleset();
    let mut branches = Branches::default();
    for (id, rule) in set.rules.iter().enumerate() {
        let id = RuleId(u32::try_from(id).unwrap_or(u32::MAX));
        let mut seen = HashSet::new();
        branches.walk(set, &rule.when, id, &mut seen);
        let mut at = rule.block;
        while let Some(block) = at.and_then(|b| set.blocks.get(b.index())) {
            branches.walk(set, &block.guard, id, &mut seen);
            at = block.parent;
        }
    }
    let found: Vec<(Key, Branch)> = branches.0.into_iter().filter(|(key, _)| counts(set, key.span)).collect();
    let probes = probe_rules(set, &found);
    let probe_table = Table::compile(probes, &NoSettings)?;
    let mut decided: HashSet<RuleId> = HashSet::new();
    let mut reached = vec![false; found.len()];
    let mut scratch = Scratch::default();
    for case in cases(set) {
        let signal = signal(case);
        let verdict = table.classify(&signal, &mut scratch);
        decided.extend(&verdict.observed);
        let Some(rule) = verdict.rule else { continue };
        decided.insert(rule);
        for probe in probe_table.classify(&signal, &mut scratch).observed {
            let users = found.get(probe.index()).map(|(_, branch)| &branch.users);
            if users.is_some_and(|users| users.contains(&rule))
                && let Some(hit) = reached.get_mut(probe.index())
            {
                *hit = true;
            }
        }
    }
    Ok(summary(set, &decided, &found, &reached))
}

/// Examples and lines of tests; counterexamples show what a rule is not for.
fn cases(set: &Ruleset) -> impl Iterator<Item = &Case> {
    let examples = set.rules.iter().flat_map(|r| &r.examples).filter(|e| !e.counter).map(|e| &e.case);
    let tests = set.tests.iter().flat_map(|t| &t.cases).filter_map(|line| match line {
        Expectation::Verdict { case, .. } => Some(case),
        Expectation::Backoff { .. } => None,
    });
    examples.chain(tests)
}

fn summary(set: &Ruleset, decided: &HashSet<RuleId>, found: &[(Key, Branch)], reached: &[bool]) -> Coverage {
    let mut coverage = Coverage::default();
    for (id, rule) in set.rules.iter().enumerate() {
        if !counts(set, rule.name_span) {
            coverage.left_out += 1;
            continue;
        }
        let hit = u32::try_from(id).is_ok_and(|id| decided.contains(&RuleId(id)));
        coverage.rules.total += 1;
        coverage.rules.reached += usize::from(hit);
        if !hit {
            coverage
                .unreached
                .push(Unreached { span: rule.name_span, what: format!("rule `{}`", rule.name) });
        }
    }
    // A branch of a rule that is not reached at all would only be noise.
    let alive = |branch: &Branch| branch.users.iter().any(|user| decided.contains(user));
    for ((key, branch), hit) in found.iter().zip(reached) {
        let share = if key.entry { &mut coverage.entries } else { &mut coverage.branches };
        share.total += 1;
        share.reached += usize::from(*hit);
        if !hit && alive(branch) {
            let kind = if key.entry { "entry" } else { "branch" };
            let snippet = set.sources.snippet(key.span);
            let snippet = snippet.strip_prefix('"').and_then(|s| s.strip_suffix('"')).unwrap_or(snippet);
            let text: Vec<&str> = snippet.split_whitespace().collect();
            let text: String = text.join(" ").chars().take(80).collect();
            coverage.unreached.push(Unreached { span: key.span, what: format!("{kind} `{text}`") });
        }
    }
    coverage.unreached.sort_by_key(|u| u.span);
    coverage
}

/// Where a branch stands, and whether it is an entry of a named list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    span: Span,
    entry: bool,
}

#[derive(Debug)]
struct Branch {
    cond: Cond,
    users: BTreeSet<RuleId>,
}

#[derive(Debug, Default)]
struct Branches(BTreeMap<Key, Branch>);

impl Branches {
    fn add(&mut self, key: Key, cond: Cond, user: RuleId) {
        let branch = self
            .0
            .entry(key)
            .or_insert_with(|| Branch { cond: Cond::Any(Vec::new()), users: BTreeSet::new() });
        branch.users.insert(user);
        // A list may be asked of several fields.
        let field = |cond: &Cond| if let Cond::Test(test) = cond { Some(test.field.clone()) } else { None };
        if let Cond::Any(parts) = &mut branch.cond
            && !parts.iter().any(|part| field(part) == field(&cond))
        {
            parts.push(cond);
        }
    }

    fn walk(&mut self, set: &Ruleset, cond: &Cond, user: RuleId, seen: &mut HashSet<LetId>) {
        match cond {
            Cond::Always | Cond::Not(_) => {}
            Cond::All(parts) => parts.iter().for_each(|part| self.walk(set, part, user, seen)),
            Cond::Any(parts) => {
                for part in parts {
                    if let Some(span) = span_of(part) {
                        self.add(Key { span, entry: false }, part.clone(), user);
                    }
                    self.walk(set, part, user, seen);
                }
            }
            Cond::Let(id, _) => {
                if let Some(named) = set.lets.get(id.index()).filter(|_| seen.insert(*id)) {
                    self.walk(set, &named.cond, user, seen);
                }
            }
            Cond::Test(test) => self.phrases(set, test, user),
        }
    }

    fn phrases(&mut self, set: &Ruleset, test: &Test, user: RuleId) {
        let Op::Has(Quantifier::Any, phrases) = &test.op else { return };
        let (entries, entry): (&[Spanned<String>], bool) = match phrases {
            Phrases::Inline(entries) => (entries, false),
            Phrases::List(id, _) => (set.lists.get(id.index()).map_or(&[][..], |l| &l.entries), true),
        };
        if entries.len() < 2 && !entry {
            return;
        }
        for phrase in entries {
            let op = Op::Has(Quantifier::Any, Phrases::Inline(vec![phrase.clone()]));
            let cond = Cond::Test(Test { field: test.field.clone(), op, span: test.span });
            self.add(Key { span: phrase.span, entry }, cond, user);
        }
    }
}

/// From the first test or name of a condition to its last.
fn span_of(cond: &Cond) -> Option<Span> {
    match cond {
        Cond::Always => None,
        Cond::All(parts) | Cond::Any(parts) => parts.iter().filter_map(span_of).reduce(|a, b| Span {
            source: a.source,
            start: a.start.min(b.start),
            end: a.end.max(b.end),
        }),
        Cond::Not(inner) => span_of(inner),
        Cond::Let(_, span) => Some(*span),
        Cond::Test(test) => Some(test.span),
    }
}

/// The rule set with an observed rule for each branch in the place of its rules.
fn probe_rules(set: &Ruleset, found: &[(Key, Branch)]) -> Ruleset {
    let probe = |(number, (key, branch)): (usize, &(Key, Branch))| Rule {
        name: format!("branch_{number}").into(),
        doc: None,
        block: None,
        bucket: BucketId::UNCLASSIFIED,
        when: branch.cond.clone(),
        otherwise: false,
        observe: true,
        reaction: None,
        examples: Vec::new(),
        allows: Vec::new(),
        span: key.span,
        name_span: key.span,
    };
    Ruleset {
        rules: found.iter().enumerate().map(probe).collect(),
        blocks: Vec::new(),
        tests: Vec::new(),
        ..set.clone()
    }
}
