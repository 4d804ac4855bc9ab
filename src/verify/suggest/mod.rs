//! Drafts of rules for errors that no rule matched.
//!
//! What is stable of the error (codes, phrases) gives candidates; each is tried on a corpus before
//! anything is shown: a draft takes no other error away from the rule that decides it now.

mod candidates;
mod draft;

use self::candidates::{Core, cores};
pub use self::draft::{Draft, Unguarded};
use super::examples;
use crate::{
    classify::Scratch,
    lang::{
        load,
        policy::Reaction,
        tree::{BucketId, Expectation, Rule, Ruleset},
    },
    signal::{Signal, SignalRef, fingerprint},
    table::{NoSettings, Table},
};

/// Samples that are kept of what a candidate would move.
const SAMPLES: usize = 5;

/// Why there is no draft.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SuggestError {
    /// The texts are too short, or nothing but ids and numbers.
    #[error(
        "nothing in this error stays the same when it comes again: no code, and no phrase of two words; write \
         the rule by hand"
    )]
    NothingStable,
    /// Every candidate takes other errors away from their rules.
    #[error(
        "every rule that catches this error would move others as well, such as {}; write the rule by hand, with \
         a condition that tells them apart",
        .0.iter().map(|sample| format!("`{sample}`")).collect::<Vec<_>>().join(", ")
    )]
    MovesOthers(Vec<String>),
    /// Nothing but sentences around the error stays the same.
    #[error(
        "all that stays the same in this error, such as `{0}`, stands beside other errors as well; write the rule \
         by hand, with a condition that tells them apart"
    )]
    Boilerplate(String),
    /// Every candidate would bring a warning.
    #[error(
        "`check` would have something to say about every rule that catches this error; write the rule by hand"
    )]
    Warned,
}

/// A draft under way: begun with an error, fed with a corpus, finished with the best candidate.
#[derive(Debug)]
pub struct Drafting<'t> {
    table: &'t Table,
    signal: &'t Signal,
    bucket: BucketId,
    fingerprint: String,
    cores: Vec<Core>,
    unguarded: Option<Unguarded>,
    /// All candidates as observed rules before those of `table`: one pass says which of them match.
    probe: Table,
    hits: Vec<Hits>,
    scratch: Scratch,
    rows: u64,
    same: u64,
}

/// What a candidate would do to the corpus.
#[derive(Clone, Debug, Default)]
struct Hits {
    /// Other errors that it matches.
    matched: u64,
    /// Those of them that would get another bucket or reaction than a rule gives them.
    moved: Vec<String>,
    /// Those of them that no rule matches.
    caught: Vec<String>,
}

impl<'t> Drafting<'t> {
    /// Begins a draft of a rule that puts `signal` into `bucket`, above the rules of `table`.
    ///
    /// # Errors
    /// [`SuggestError::NothingStable`] when there is nothing to hold on to.
    pub fn begin(table: &'t Table, signal: &'t Signal, bucket: BucketId) -> Result<Self, SuggestError> {
        let mut scratch = Scratch::default();
        table.classify(&signal.as_ref(), &mut scratch);
        let fingerprint = fingerprint(scratch.evidence());
        let unguarded = Unguarded::of(signal.provider.as_deref());
        let cores = cores(scratch.evidence(), unguarded.is_none());
        let conditions: Vec<String> =
            cores.iter().flat_map(|core| [core.anywhere.clone(), core.scoped.clone()]).collect();
        let probe = with_observed(table, &conditions).ok_or(SuggestError::NothingStable)?;
        let verdict = probe.classify(&signal.as_ref(), &mut scratch);
        // What does not match the error itself, in its own words, is no candidate.
        let matches = |index: usize| verdict.observed.iter().any(|rule| rule.index() == index);
        let kept: Vec<bool> =
            (0..cores.len()).map(|core| matches(2 * core) && matches(2 * core + 1)).collect();
        if !kept.iter().any(|kept| *kept) {
            return Err(SuggestError::NothingStable);
        }
        let mut hits = vec![Hits::default(); conditions.len()];
        for (core, _) in kept.iter().enumerate().filter(|(_, kept)| !**kept) {
            for hits in hits.iter_mut().skip(2 * core).take(2) {
                hits.matched = u64::MAX;
            }
        }
        let (rows, same) = (0, 0);
        Ok(Self { table, signal, bucket, fingerprint, cores, unguarded, probe, hits, scratch, rows, same })
    }

    /// Tries the candidates on an error of the corpus; `label` names it to people. The error itself,
    /// also with other ids and numbers, counts for nothing.
    pub fn row(&mut self, label: &str, signal: &SignalRef<'_>) {
        self.rows += 1;
        let verdict = self.probe.classify(signal, &mut self.scratch);
        let hit: Vec<usize> = verdict
            .observed
            .iter()
            .map(|rule| rule.index())
            .filter(|index| *index < self.hits.len())
            .collect();
        if hit.is_empty() {
            return;
        }
        if fingerprint(self.scratch.evidence()) == self.fingerprint {
            self.same += 1;
            return;
        }
        let moved = verdict.bucket != self.bucket || self.probe.reaction(&verdict) != self.reaction();
        for index in hit {
            if let Some(hits) = self.hits.get_mut(index) {
                hits.matched = hits.matched.saturating_add(1);
                let kind = if verdict.rule.is_some() { &mut hits.moved } else { &mut hits.caught };
                if moved && kind.len() < SAMPLES {
                    kind.push(label.to_owned());
                }
            }
        }
    }

    /// Tries the candidates on the examples, counterexamples and tests of the rules.
    pub fn own_cases(&mut self) {
        let rules = self.table.ruleset();
        let examples = rules.rules.iter().flat_map(|rule| &rule.examples).map(|example| &example.case);
        let tests = rules.tests.iter().flat_map(|test| &test.cases).filter_map(|line| match line {
            Expectation::Verdict { case, .. } => Some(case),
            Expectation::Backoff { .. } => None,
        });
        for case in examples.chain(tests) {
            self.row(&self.table.locate(case.span), &examples::signal(case));
        }
    }

    fn reaction(&self) -> &Reaction {
        &self.table.bucket(self.bucket).reaction
    }

    /// The best candidate that moves nothing else and that `check` has nothing to say about.
    ///
    /// # Errors
    /// When there is none: why.
    pub fn finish(self) -> Result<Draft, SuggestError> {
        let matched = |place: usize| self.hits.get(place).map_or(u64::MAX, |hits| hits.matched);
        let moved = |place: usize| self.hits.get(place).map_or(&[][..], |hits| &hits.moved);
        let places = || 0..self.cores.len();
        // First what would be right for any provider, then what is so for this one.
        // A code alone must be this error's own; of a phrase it is enough that it speaks against nothing.
        let against = |core: usize| {
            let code_alone = self.cores.get(core).is_some_and(|core| core.phrases.is_empty());
            self.hits
                .get(2 * core)
                .is_some_and(|hits| !hits.moved.is_empty() || (code_alone && hits.matched > 0))
        };
        // A corpus may hold no other error of this provider, and the provider say them all the same: a
        // phrase that would take other providers' errors would take this one's.
        let offered = || {
            places().filter(|core| {
                let phrases = self.cores.get(*core).filter(|core| !core.phrases.is_empty());
                phrases.is_none_or(|phrases| !phrases.says_nothing && moved(2 * core).is_empty())
            })
        };
        let free = |core: &usize| matched(2 * core + 1) == 0;
        let best = offered().filter(free).filter(|core| !against(*core));
        let good = offered().filter(free).filter(|core| against(*core));
        let fair = offered().filter(|core| {
            let matched = matched(2 * core + 1);
            matched != 0 && matched != u64::MAX && moved(2 * core + 1).is_empty()
        });
        // Last what catches others that no rule matches, which is said.
        let caught = |place: usize| self.hits.get(place).map_or(&[][..], |hits| &hits.caught);
        let (fair, last): (Vec<_>, Vec<_>) = fair.partition(|core| caught(2 * core + 1).is_empty());
        for place in best.chain(good).chain(fair).chain(last) {
            let Some(core) = self.cores.get(place) else { continue };
            if let Some(mut draft) = draft::draft(self.table, self.signal, self.bucket, core, self.unguarded)
            {
                (draft.rows, draft.same) = (self.rows, self.same);
                draft.caught = caught(2 * place + 1).to_vec();
                return Ok(draft);
            }
        }
        Err(self.why_none())
    }

    /// Why no candidate will do.
    fn why_none(&self) -> SuggestError {
        let moved = self.hits.iter().map(|hits| &hits.moved).filter(|moved| !moved.is_empty());
        let mut phrased = self.cores.iter().filter(|core| !core.phrases.is_empty());
        if let Some(core) = phrased.clone().next().filter(|_| phrased.all(|core| core.says_nothing)) {
            return SuggestError::Boilerplate(core.phrases.join("`, `"));
        }
        match moved.min_by_key(|moved| moved.len()) {
            Some(fewest) => SuggestError::MovesOthers(fewest.clone()),
            None => SuggestError::Warned,
        }
    }
}

/// The rules of a text that needs nothing but itself, each to be put into another list.
fn parsed(statements: &str) -> Option<Vec<Rule>> {
    let text = format!("language 1\nbucket drafted {{ }}\non drafted {{ surface }}\n{statements}");
    Some(load::from_text(&text).ok()?.0.rules)
}

/// The table with these conditions as observed rules in front.
fn with_observed(table: &Table, conditions: &[String]) -> Option<Table> {
    let rules = conditions
        .iter()
        .enumerate()
        .map(|(n, condition)| format!("observe rule candidate_{n} -> drafted when {condition}\n"));
    let mut rules = parsed(&rules.collect::<String>())?;
    for rule in &mut rules {
        rule.bucket = BucketId::UNCLASSIFIED;
    }
    in_front(table, rules)
}

/// The table with these rules before its own. Tests name rules by number, so they stay behind.
fn in_front(table: &Table, mut rules: Vec<Rule>) -> Option<Table> {
    let old = table.ruleset();
    rules.extend(old.rules.iter().cloned());
    let set = Ruleset { rules, tests: Vec::new(), ..old.clone() };
    Table::compile(set, &NoSettings).ok()
}
