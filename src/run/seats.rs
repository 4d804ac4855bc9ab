//! The eligible profiles of a candidate, in the order in which they are tried, and what blocks them
//! (C5–C8, E8). A provider may have thousands: none is copied, and they are not put in order, for mostly
//! one is wanted.

use std::collections::{BTreeMap, BTreeSet};

use super::request::Routing;
use crate::{
    lang::policy::{Lane, ProfileOrder},
    state::{
        model::{Candidate, ProfileId, Usage, Window},
        select::{Listing, Place, eligible, listing},
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seat<'a> {
    pub profile: Option<&'a ProfileId>,
    /// What blocks it for the candidate's model.
    pub block: Option<Block<'a>>,
    /// Its credential has expired and can be refreshed (C8).
    pub refresh_first: bool,
    /// Its place in the order, if nothing were blocked: what "earlier" means for a displaced pin (C9).
    pub place: Place,
}

/// Why a profile is blocked: the open row that ends last (E8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block<'a> {
    pub until: Timestamp,
    pub lane: Lane,
    pub bucket: &'a str,
    /// Some open row is of a bucket that skips the whole provider (I1).
    pub skips_provider: bool,
}

impl Seat<'_> {
    /// Whether it is this profile's, also by its legacy name (C2).
    pub fn is(&self, id: &ProfileId, table: &Table) -> bool {
        let family = |a: &str, b: &str| table.same_provider(a, b);
        self.profile.is_some_and(|profile| profile.same(id, &family))
    }
}

/// The seats of a candidate.
#[derive(Clone)]
pub(super) struct Seats<'a> {
    scene: Scene<'a>,
    candidate: &'a Candidate,
    from: From<'a>,
    /// The one that goes before all others: a pinned profile's (C9).
    pinned: Option<Seat<'a>>,
}

/// The place in the order: until when it is blocked, where that counts (C7), then by C6.
type Rank = (Option<Timestamp>, Place);

/// Where seats come from.
#[derive(Clone)]
enum From<'a> {
    /// The provider's profiles.
    Profiles(Listing<'a>),
    /// These are all.
    These(Vec<Seat<'a>>),
}

impl<'a> Scene<'a> {
    /// The seats of a candidate, before any pin.
    pub fn seats(self, candidate: &'a Candidate) -> Seats<'a> {
        let provider = candidate.provider.as_str();
        let from = if self.routing.no_credentials.contains(provider) {
            From::These(vec![Seat::default()])
        } else {
            let family = |a: &str, b: &str| self.table.same_provider(a, b);
            let order = self.routing.order_of(provider, &family);
            From::Profiles(listing(provider, order, &self.routing.profiles, &self.view.profiles, &family))
        };
        Seats { scene: self, candidate, from, pinned: None }
    }

    /// Usage as it is stored, or as it would be if it could be.
    fn usage(self, profile: &'a ProfileView) -> &'a Usage {
        self.unstored.get(&profile.info.id).unwrap_or(&profile.usage)
    }

    fn block(self, usage: &'a Usage, model: &'a str) -> Option<Block<'a>> {
        let last = usage.blocking(Some(model), self.now).max_by_key(|window| window.until)?;
        let skips_provider = usage.blocking(Some(model), self.now).any(|window| self.skips_provider(window));
        Some(Block { until: last.until, lane: last.lane, bucket: &last.bucket, skips_provider })
    }

    fn skips_provider(self, window: &Window) -> bool {
        let bucket = self.table.bucket_named(&window.bucket);
        bucket
            .and_then(|(_, bucket)| bucket.traits.skips_provider_from)
            .is_some_and(|from| window.step >= from)
    }

    fn order(self) -> Option<&'a ProfileOrder> {
        self.table.policy().order.as_ref().map(|slot| &slot.node)
    }
}

impl<'a> Seats<'a> {
    /// The same seats, with this one before all others (C9).
    pub fn beginning_with(self, seat: Seat<'a>) -> Self {
        Self { pinned: Some(seat), ..self }
    }

    /// Of the seats only these.
    pub fn only(self, these: Vec<Seat<'a>>) -> Self {
        Self { from: From::These(these), ..self }
    }

    /// All, in no order; one that a list names twice comes twice.
    pub fn all(&self) -> Box<dyn Iterator<Item = Seat<'a>> + '_> {
        let (table, provider) = (self.scene.table, self.candidate.provider.as_str());
        let family = move |a: &str, b: &str| table.same_provider(a, b);
        let stored = &self.scene.view.profiles;
        match &self.from {
            From::These(these) => Box::new(these.iter().copied()),
            From::Profiles(Listing::Stored) => {
                Box::new(stored.of(provider, &family).filter_map(|profile| self.seat(profile, None)))
            }
            From::Profiles(Listing::Configured(ids)) => {
                let its = ids.iter().filter(move |id| family(id.provider(), provider));
                Box::new(its.filter_map(move |id| self.seat(stored.same(id, &family)?, None)))
            }
            From::Profiles(Listing::Order(ids)) => {
                let its = ids.iter().enumerate();
                Box::new(its.filter_map(move |(at, id)| self.seat(stored.same(id, &family)?, Some(at))))
            }
        }
    }

    /// Those of a profile, also under its legacy name (C2), as they come in the order.
    pub fn named(&self, id: &ProfileId) -> Vec<Seat<'a>> {
        let table = self.scene.table;
        let family = |a: &str, b: &str| table.same_provider(a, b);
        let stored = &self.scene.view.profiles;
        // Whatever the list calls it, it means the first of the name.
        let listed = |ids: &[ProfileId]| {
            let at = ids.iter().position(|listed| listed.same(id, &family))?;
            Some((stored.same(id, &family)?, at))
        };
        let of_provider = family(id.provider(), &self.candidate.provider);
        let mut its: Vec<Seat<'a>> = match &self.from {
            From::These(these) => these.iter().filter(|seat| seat.is(id, table)).copied().collect(),
            From::Profiles(Listing::Stored) => {
                stored.all_same(id, &family).filter_map(|profile| self.seat(profile, None)).collect()
            }
            From::Profiles(Listing::Configured(ids)) => {
                let listed = listed(ids).filter(|_| of_provider);
                listed.and_then(|(profile, _)| self.seat(profile, None)).into_iter().collect()
            }
            From::Profiles(Listing::Order(ids)) => {
                listed(ids).and_then(|(profile, at)| self.seat(profile, Some(at))).into_iter().collect()
            }
        };
        its.sort_by_key(|seat| self.rank(seat));
        its
    }

    /// The one of exactly this profile, or of none.
    pub fn of(&self, profile: Option<&ProfileId>) -> Option<Seat<'a>> {
        match profile {
            Some(id) => self.named(id).into_iter().find(|seat| seat.profile == Some(id)),
            None => self.all().find(|seat| seat.profile.is_none()),
        }
    }

    /// The first of those that fit (C6, C7, C9).
    pub fn first(&self, fits: impl Fn(&Seat<'a>) -> bool) -> Option<Seat<'a>> {
        if let Some(pinned) = self.pinned.filter(&fits) {
            return Some(pinned);
        }
        let mut first: Option<(Rank, Seat<'a>)> = None;
        for seat in self.all() {
            // To compare takes less than to see whether it fits.
            let rank = self.rank(&seat);
            if first.is_none_or(|(first, _)| rank < first) && fits(&seat) {
                first = Some((rank, seat));
            }
        }
        first.map(|(_, seat)| seat)
    }

    /// The first in the order, whatever is blocked or pinned (C9).
    pub fn head(&self) -> Option<Seat<'a>> {
        self.all().min_by_key(|seat| seat.place)
    }

    /// Whether it goes before all others.
    pub fn is_pinned(&self, seat: &Seat<'_>) -> bool {
        self.pinned.is_some_and(|pinned| pinned.profile == seat.profile)
    }

    /// C7: blocked ones go to the end where the rules say so, soonest expiry first.
    fn rank(&self, seat: &Seat<'_>) -> Rank {
        let last = self.scene.order().is_some_and(|order| order.blocked_last);
        (seat.block.filter(|_| last).map(|block| block.until), seat.place)
    }

    /// A profile's seat, if it is eligible (C8). `at`: its place in an order that is never sorted (C5).
    fn seat(&self, profile: &'a ProfileView, at: Option<usize>) -> Option<Seat<'a>> {
        let (scene, info) = (self.scene, &profile.info);
        let family = |a: &str, b: &str| scene.table.same_provider(a, b);
        let refresh_first = eligible(info, &self.candidate.provider, &family, scene.now).ok()?;
        if scene.left_out.contains(&info.id) {
            return None;
        }
        Some(Seat {
            profile: Some(&info.id),
            block: scene.block(scene.usage(profile), &self.candidate.model),
            refresh_first,
            place: at.map_or_else(|| Place::of(self.scene.order(), profile), Place::listed),
        })
    }
}

#[cfg(test)]
mod tests;
