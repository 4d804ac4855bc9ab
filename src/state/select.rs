//! Which profiles a provider has, which of them may be used, and in what order (C2, C5–C8). Pure.

use std::{cmp::Reverse, collections::HashSet};

use super::{
    model::ProfileId,
    profiles::Profiles,
    view::{ProfileInfo, ProfileView},
};
use crate::{
    lang::policy::{CredentialKind, LastUsed, ProfileOrder},
    time::Timestamp,
};

/// Whether two providers share their profiles; [`crate::table::Table::same_provider`] is what a run uses (C2).
pub type SameFamily<'a> = &'a dyn Fn(&str, &str) -> bool;

impl ProfileId {
    /// The part before the colon; the whole id when there is none.
    #[must_use]
    pub fn provider(&self) -> &str {
        self.0.split_once(':').map_or(self.0.as_str(), |(provider, _)| provider)
    }

    /// The part behind the colon; empty when there is none.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.split_once(':').map_or("", |(_, name)| name)
    }

    /// Whether both mean the same profile: `openai-codex:X` is `openai:X` (C2).
    #[must_use]
    pub fn same(&self, other: &Self, family: SameFamily<'_>) -> bool {
        self == other || (self.name() == other.name() && family(self.provider(), other.provider()))
    }
}

/// Two stored profiles that are one by their family's name (C2).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` and `{1}` are the same profile under two names; remove one of them", first.0, second.0)]
pub struct Collision {
    /// The one stored first.
    pub first: ProfileId,
    /// The other.
    pub second: ProfileId,
}

/// Every pair of stored profiles that are one (C2).
#[must_use]
pub fn collisions(stored: &Profiles, family: SameFamily<'_>) -> Vec<Collision> {
    let one = |second: &ProfileView| {
        let (first, second) = (&stored.same(&second.info.id, family)?.info.id, &second.info.id);
        (first != second).then(|| Collision { first: first.clone(), second: second.clone() })
    };
    stored.iter().filter_map(one).collect()
}

/// Where the set of a provider's profiles comes from (C5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listed {
    /// `auth.order`: tried as listed.
    Order,
    /// `auth.profiles`.
    Configured,
    /// All that are stored.
    Stored,
}

/// The profiles of a provider (C5).
#[derive(Clone, Debug)]
pub struct ProfileSet<'a> {
    /// Stored profiles: as listed for [`Listed::Order`], else by insertion.
    pub profiles: Vec<&'a ProfileView>,
    /// Where the set comes from.
    pub listed: Listed,
    /// Ids that the list names and that are not stored. When it names no others, the stored ones are
    /// used instead, and `check` and `status` say so.
    pub missing: Vec<ProfileId>,
}

/// The list that a provider's profiles come from: `auth.order` for it, else `auth.profiles`, if it names one
/// of the provider that is stored; else all that are stored (C5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing<'a> {
    /// `auth.order`.
    Order(&'a [ProfileId]),
    /// `auth.profiles`; those of other providers are to be passed over.
    Configured(&'a [ProfileId]),
    /// No list.
    Stored,
}

/// Which list counts for `provider` (C5). It is looked at up to the first profile that is stored.
#[must_use]
pub fn listing<'a>(
    provider: &str,
    order: Option<&'a [ProfileId]>,
    configured: &'a [ProfileId],
    stored: &Profiles,
    family: SameFamily<'_>,
) -> Listing<'a> {
    let is_stored = |id: &ProfileId| stored.same(id, family).is_some();
    match order {
        Some(order) if order.iter().any(is_stored) => Listing::Order(order),
        None if configured.iter().any(|id| family(id.provider(), provider) && is_stored(id)) => {
            Listing::Configured(configured)
        }
        _ => Listing::Stored,
    }
}

/// The set of profiles of `provider`: `auth.order` for it, else the configured ones, else the stored
/// ones (C5). `configured` may hold profiles of other providers; these are passed over.
#[must_use]
pub fn profile_set<'a>(
    provider: &str,
    order: Option<&[ProfileId]>,
    configured: &[ProfileId],
    stored: &'a Profiles,
    family: SameFamily<'_>,
) -> ProfileSet<'a> {
    let configured_of = || configured.iter().filter(|id| family(id.provider(), provider));
    let named: Vec<&ProfileId> = order.map_or_else(|| configured_of().collect(), |ids| ids.iter().collect());
    let (mut profiles, mut missing, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
    for id in named {
        match stored.same(id, family) {
            Some(there) if seen.insert(&there.info.id) => profiles.push(there),
            Some(_) => {}
            None => missing.push(id.clone()),
        }
    }
    let listed = match listing(provider, order, configured, stored, family) {
        Listing::Order(_) => Listed::Order,
        Listing::Configured(_) => Listed::Configured,
        Listing::Stored => {
            profiles = stored.of(provider, family).collect();
            Listed::Stored
        }
    };
    if listed != Listed::Order {
        profiles.sort_by_key(|profile| profile.info.inserted);
    }
    ProfileSet { profiles, listed, missing }
}

/// Why a credential is left out (C8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Ineligible {
    /// A token past its expiry.
    #[error("its token expired at {0}; store a new one")]
    TokenExpired(Timestamp),
    /// A login past its expiry that cannot be refreshed.
    #[error("its login expired at {0} and has no refresh token; log in again")]
    LoginExpired(Timestamp),
    /// Nothing to authenticate with.
    #[error("it has no secret; store one")]
    NoSecret,
    /// It is another provider's.
    #[error("it is another provider's")]
    WrongProvider,
}

/// Whether a credential may be used now for `provider` (C8); `Ok(true)`: after a refresh.
///
/// # Errors
/// [`Ineligible`] with the reason to show in `status`.
pub fn eligible(
    profile: &ProfileInfo,
    provider: &str,
    family: SameFamily<'_>,
    now: Timestamp,
) -> Result<bool, Ineligible> {
    if !family(&profile.provider, provider) {
        return Err(Ineligible::WrongProvider);
    }
    let expired = profile.expires.filter(|expires| *expires <= now);
    match profile.kind {
        CredentialKind::ApiKey if !profile.has_secret => Err(Ineligible::NoSecret),
        CredentialKind::ApiKey => Ok(false),
        CredentialKind::Token => match expired {
            _ if !profile.has_secret => Err(Ineligible::NoSecret),
            Some(at) => Err(Ineligible::TokenExpired(at)),
            None => Ok(false),
        },
        CredentialKind::Oauth => match (profile.has_secret, profile.has_refresh, expired) {
            (false, false, _) => Err(Ineligible::NoSecret),
            (true, false, Some(at)) => Err(Ineligible::LoginExpired(at)),
            (has_secret, _, expired) => Ok(!has_secret || expired.is_some()),
        },
    }
}

/// A profile at its place in the sequence (C6).
#[derive(Clone, Debug)]
pub struct Seated<'a> {
    /// The profile.
    pub profile: &'a ProfileView,
    /// Until when it is blocked for the model.
    pub blocked_until: Option<Timestamp>,
    /// The host should refresh it before the call (C8).
    pub refresh_first: bool,
    /// Its place if nothing were blocked: what "earlier in the order" means (C9).
    pub rank: usize,
}

/// The eligible profiles of a set in the order in which they are tried, and the others with the
/// reason (C6–C8). `blocked` says until when a profile is blocked for the model in question.
///
/// A set listed by `auth.order` keeps its order; any other is sorted as `order` says, by insertion
/// without it. In both, blocked ones go to the end where `order` says so (C7).
#[must_use]
pub fn sequence<'a>(
    set: &ProfileSet<'a>,
    provider: &str,
    order: Option<&ProfileOrder>,
    family: SameFamily<'_>,
    blocked: &dyn Fn(&ProfileView) -> Option<Timestamp>,
    now: Timestamp,
) -> (Vec<Seated<'a>>, Vec<(&'a ProfileView, Ineligible)>) {
    let (mut seated, mut left_out) = (Vec::with_capacity(set.profiles.len()), Vec::new());
    for profile in &set.profiles {
        match eligible(&profile.info, provider, family, now) {
            Ok(refresh_first) => {
                seated.push(Seated { profile, blocked_until: blocked(profile), refresh_first, rank: 0 });
            }
            Err(reason) => left_out.push((*profile, reason)),
        }
    }
    if let (Some(order), true) = (order, set.listed != Listed::Order) {
        seated.sort_by_cached_key(|seat| Place::of(Some(order), seat.profile));
    }
    for (rank, seat) in seated.iter_mut().enumerate() {
        seat.rank = rank;
    }
    if order.is_some_and(|order| order.blocked_last) {
        seated.sort_by_key(|seat| seat.blocked_until);
    }
    (seated, left_out)
}

/// A place in an order: the lower comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// By the kind, or by the place in a list.
    class: usize,
    /// The last use where the oldest comes first.
    oldest: Option<Timestamp>,
    /// The last use where the newest comes first.
    newest: Reverse<Option<Timestamp>>,
    inserted: u64,
}

impl Place {
    /// The place in a list.
    #[must_use]
    pub fn listed(at: usize) -> Self {
        Self { class: at, ..Self::default() }
    }

    /// C6: by kind, then by last use; ties, and all without a rule, by insertion.
    #[must_use]
    pub fn of(order: Option<&ProfileOrder>, profile: &ProfileView) -> Self {
        let inserted = profile.info.inserted;
        let Some(order) = order else { return Self { inserted, ..Self::default() } };
        let kind = order.kinds.iter().position(|kind| *kind == profile.info.kind);
        let used = profile.usage.last_used;
        let (oldest, newest) = match order.last_used {
            None => (None, None),
            Some(LastUsed::OldestFirst) => (used, None),
            Some(LastUsed::NewestFirst) => (None, used),
        };
        Self { class: kind.unwrap_or(order.kinds.len()), oldest, newest: Reverse(newest), inserted }
    }
}
