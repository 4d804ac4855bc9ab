//! The eligible profiles of a candidate, in the order in which they are tried, and what blocks them
//! (C5–C8, E8).

use std::collections::{BTreeMap, BTreeSet};

use super::request::Routing;
use crate::{
    lang::policy::Lane,
    state::{
        model::{Candidate, ProfileId, Usage, Window},
        select::{Seated, profile_set, sequence},
        view::{ProfileView, View},
    },
    table::Table,
    time::Timestamp,
};

/// Usage that could not be stored: what the run goes by while the state cannot be written.
pub(super) type Unstored = BTreeMap<ProfileId, Usage>;

/// What a run looks at to find profiles.
#[derive(Clone, Copy)]
pub(super) struct Scene<'a> {
    pub table: &'a Table,
    pub routing: &'a Routing,
    pub view: &'a View,
    pub unstored: &'a Unstored,
    /// Profiles that this run leaves out (C8).
    pub left_out: &'a BTreeSet<ProfileId>,
    pub now: Timestamp,
}

/// A way to call a candidate: one of its profiles, or none for a provider that needs none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seat {
    pub profile: Option<ProfileId>,
    /// What blocks it for the candidate's model.
    pub block: Option<Block>,
    /// Its credential has expired and can be refreshed (C8).
    pub refresh_first: bool,
    /// Its place in the order, if nothing were blocked: what "earlier" means for a displaced pin (C9).
    pub rank: usize,
}

/// Why a profile is blocked: the open row that ends last (E8).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub until: Timestamp,
    pub lane: Lane,
    pub bucket: String,
    /// Some open row is of a bucket that skips the whole provider (I1).
    pub skips_provider: bool,
}

impl Seat {
    /// Whether it is this profile's, also by its legacy name (C2).
    pub fn is(&self, id: &ProfileId, table: &Table) -> bool {
        let family = |a: &str, b: &str| table.same_provider(a, b);
        self.profile.as_ref().is_some_and(|profile| profile.same(id, &family))
    }
}

impl Scene<'_> {
    /// The seats of a candidate, free ones before blocked ones (C7).
    pub fn seats(&self, candidate: &Candidate) -> Vec<Seat> {
        if self.routing.no_credentials.contains(&*candidate.provider) {
            return vec![Seat { profile: None, block: None, refresh_first: false, rank: 0 }];
        }
        self.sequence(candidate)
    }

    /// Usage as it is stored, or as it would be if it could be.
    pub fn usage<'a>(&'a self, profile: &'a ProfileView) -> &'a Usage {
        self.unstored.get(&profile.info.id).unwrap_or(&profile.usage)
    }

    fn block(&self, usage: &Usage, model: &str) -> Option<Block> {
        let last = usage.blocking(Some(model), self.now).max_by_key(|window| window.until)?;
        let skips_provider = usage.blocking(Some(model), self.now).any(|window| self.skips_provider(window));
        Some(Block { until: last.until, lane: last.lane, bucket: last.bucket.clone(), skips_provider })
    }

    fn skips_provider(&self, window: &Window) -> bool {
        let bucket = self.table.bucket_named(&window.bucket);
        bucket
            .and_then(|(_, bucket)| bucket.traits.skips_provider_from)
            .is_some_and(|from| window.step >= from)
    }

    fn sequence(&self, candidate: &Candidate) -> Vec<Seat> {
        let provider = candidate.provider.as_str();
        let family = |a: &str, b: &str| self.table.same_provider(a, b);
        let order = self.routing.order_of(provider, &family);
        let set = profile_set(provider, order, &self.routing.profiles, &self.view.profiles, &family);
        let blocked =
            |profile: &ProfileView| self.usage(profile).blocked_until(Some(&candidate.model), self.now);
        let order = self.table.policy().order.as_ref().map(|slot| &slot.node);
        let (seated, _) = sequence(&set, provider, order, &family, &blocked, self.now);
        let with_block = |one: Seated<'_>| Seat {
            profile: Some(one.profile.info.id.clone()),
            block: self.block(self.usage(one.profile), &candidate.model),
            refresh_first: one.refresh_first,
            rank: one.rank,
        };
        let kept = |one: &Seated<'_>| !self.left_out.contains(&one.profile.info.id);
        seated.into_iter().filter(kept).map(with_block).collect()
    }
}
