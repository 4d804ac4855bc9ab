//! What the interpreter reads from a table: buckets, reactions, schedules, families, policy.

use std::{borrow::Cow, time::Duration};

use super::{Settings, Table, hash::Names};
use crate::{
    classify::Verdict,
    lang::{
        policy::{Growth, Policy, Reaction},
        source::Span,
        tree::{Alias, BackoffId, Bucket, BucketId, Reset, ResetId, Rule, RuleId, Ruleset, engine_list},
    },
};

#[expect(clippy::indexing_slicing, reason = "ids come from the rule set that the table was made from")]
impl Table {
    /// The rule set behind it.
    #[must_use]
    pub fn ruleset(&self) -> &Ruleset {
        &self.rules
    }

    /// The policy slots beside reactions and schedules.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.rules.policy
    }

    /// The values of settings in force (L2).
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// A bucket. Panics on an id of another rule set.
    #[must_use]
    pub fn bucket(&self, id: BucketId) -> &Bucket {
        &self.rules.buckets[id.index()]
    }

    /// The bucket of that name.
    #[must_use]
    pub fn bucket_named(&self, name: &str) -> Option<(BucketId, &Bucket)> {
        (0u32..).map(BucketId).zip(&self.rules.buckets).find(|(_, bucket)| &*bucket.name == name)
    }

    /// A schedule by its name, as stored ladders say it.
    #[must_use]
    pub fn backoff_named(&self, name: &str) -> Option<BackoffId> {
        let named = (0u32..).map(BackoffId).zip(&self.rules.backoffs);
        named.into_iter().find(|(_, backoff)| &*backoff.name == name).map(|(id, _)| id)
    }

    /// A rule. Panics on an id of another rule set.
    #[must_use]
    pub fn rule(&self, id: RuleId) -> &Rule {
        &self.rules.rules[id.index()]
    }

    /// A reset declaration. Panics on an id of another rule set.
    #[must_use]
    pub fn reset(&self, id: ResetId) -> &Reset {
        &self.rules.resets[id.index()]
    }

    /// The name of a schedule. Panics on an id of another rule set.
    #[must_use]
    pub fn backoff_name(&self, id: BackoffId) -> &str {
        &self.rules.backoffs[id.index()].name
    }

    /// What follows from a verdict: its rule's own reaction, else its bucket's (E0).
    #[must_use]
    pub fn reaction(&self, verdict: &Verdict) -> &Reaction {
        let own = verdict.rule.and_then(|rule| self.rule(rule).reaction.as_ref());
        own.unwrap_or(&self.bucket(verdict.bucket).reaction)
    }

    /// The length of a step of a schedule (E1, E3, E5), without jitter. Steps count from 1; those
    /// beyond the last repeat it. Panics on an id of another rule set.
    #[must_use]
    pub fn backoff_step(&self, id: BackoffId, step: u32, provider: Option<&str>) -> Duration {
        let index = step.saturating_sub(1);
        match &self.rules.backoffs[id.index()].backoff.growth {
            Growth::Steps(steps) => {
                let slot = steps.get(index as usize).or(steps.last());
                slot.map_or(Duration::ZERO, |slot| self.settings.duration(*slot, provider))
            }
            Growth::Doubling { from, up_to } => {
                let cap = self.settings.duration(*up_to, provider);
                let start = self.settings.duration(*from, provider);
                2u32.checked_pow(index)
                    .and_then(|times| start.checked_mul(times))
                    .map_or(cap, |at| at.min(cap))
            }
        }
    }

    /// The family of a provider, by the rules' `alias` lines (G3); a provider without an alias is
    /// its own. Case is folded.
    #[must_use]
    pub fn family<'a>(&'a self, provider: &'a str) -> Cow<'a, str> {
        if let Some(family) = self.families.get(provider) {
            return Cow::Borrowed(family);
        }
        if !provider.chars().any(char::is_uppercase) {
            return Cow::Borrowed(provider);
        }
        let folded = provider.to_lowercase();
        match self.families.get(&folded) {
            Some(family) => Cow::Borrowed(family),
            None => Cow::Owned(folded),
        }
    }

    /// The provider whose profiles are also those of `provider`: itself, or the first of its family when
    /// the rules' list `legacy_providers` has it (C2). What pins and probes are kept by.
    #[must_use]
    pub fn present_name<'a>(&'a self, provider: &'a str) -> &'a str {
        self.renamed.iter().find(|(old, _)| old == provider).map_or(provider, |(_, present)| present)
    }

    /// Whether two providers share their profiles (C2). A family is wider: a key of one member is none
    /// of another.
    #[must_use]
    pub fn same_provider(&self, a: &str, b: &str) -> bool {
        a == b || self.present_name(a) == self.present_name(b)
    }

    /// `file:line` of a span in the rules.
    #[must_use]
    pub fn locate(&self, span: Span) -> String {
        self.rules.sources.locate(span)
    }

    /// A number that changes when a rule file or a setting in force does, and is the same on every
    /// machine.
    #[must_use]
    pub fn hash(&self) -> u64 {
        self.hash
    }
}

pub(super) fn renamed(rules: &Ruleset) -> Vec<(String, String)> {
    let family =
        |old: &str| rules.aliases.iter().find(|alias| alias.members.iter().any(|member| member == old));
    let legacy = rules.engine_list(engine_list::LEGACY_PROVIDERS);
    legacy.filter_map(|old| Some((old.to_owned(), family(old)?.family.clone()))).collect()
}

pub(super) fn families(aliases: &[Alias]) -> Names<String> {
    let mut families = Names::default();
    for alias in aliases {
        let family = alias.family.to_lowercase();
        for member in alias.members.iter().map(|member| member.to_lowercase()).chain([family.clone()]) {
            families.entry(member).or_insert_with(|| family.clone());
        }
    }
    families
}
