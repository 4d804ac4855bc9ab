//! The stored profiles as a snapshot shows them: cheap to clone, cheap to change one of, and found by
//! provider and id without a look at the others.

use std::{ops::Index, sync::Arc};

use foldhash::HashMap;

use super::{
    model::{ProfileId, Usage},
    select::SameFamily,
    store::Put,
    view::{ProfileInfo, ProfileView},
};

/// Profiles copied together when one of them changes.
const CHUNK: usize = 16;

/// Stored profiles by insertion.
#[derive(Clone, Debug, Default)]
pub struct Profiles {
    chunks: Arc<Vec<Arc<Vec<ProfileView>>>>,
    places: Arc<Places>,
}

/// Where profiles stand. Changes of usage leave it as it is.
#[derive(Clone, Debug, Default)]
struct Places {
    ids: HashMap<ProfileId, usize>,
    /// By the name behind the colon of the id.
    names: HashMap<String, Vec<usize>>,
    /// By the provider that they are for.
    providers: HashMap<String, Vec<usize>>,
}

impl Profiles {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        let full = self.chunks.len().saturating_sub(1) * CHUNK;
        full + self.chunks.last().map_or(0, |last| last.len())
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// All, by insertion.
    pub fn iter(&self) -> impl Iterator<Item = &ProfileView> {
        self.chunks.iter().flat_map(|chunk| chunk.iter())
    }

    /// The one at a position.
    #[must_use]
    pub fn get(&self, place: usize) -> Option<&ProfileView> {
        self.chunks.get(place / CHUNK)?.get(place % CHUNK)
    }

    /// Those of a provider, also under another name of it (C2), by insertion under each name.
    pub fn of<'a>(
        &'a self,
        provider: &str,
        family: SameFamily<'_>,
    ) -> impl Iterator<Item = &'a ProfileView> + use<'a> {
        let its = self.places.providers.iter().filter(|(of, _)| family(of, provider));
        let its: Vec<&Vec<usize>> = its.map(|(_, places)| places).collect();
        its.into_iter().flatten().filter_map(|place| self.get(*place))
    }

    /// The first profile that this id means, also under another name of its provider (C2).
    #[must_use]
    pub fn same(&self, id: &ProfileId, family: SameFamily<'_>) -> Option<&ProfileView> {
        self.all_same(id, family).next()
    }

    /// All profiles that this id means; more than one is an error (C2).
    pub fn all_same<'a>(
        &'a self,
        id: &ProfileId,
        family: SameFamily<'_>,
    ) -> impl Iterator<Item = &'a ProfileView> {
        let places = self.places.names.get(id.name()).map(Vec::as_slice).unwrap_or_default();
        let its = places.iter().filter_map(|place| self.get(*place));
        its.filter(|there| there.info.id.same(id, family))
    }

    /// The position of the profile with exactly this id.
    #[must_use]
    pub fn find(&self, id: &ProfileId) -> Option<usize> {
        self.places.ids.get(id).copied()
    }

    /// The one at a position, to change: no other snapshot sees it. Id and provider must stay.
    pub(super) fn get_mut(&mut self, place: usize) -> Option<&mut ProfileView> {
        let chunk = Arc::make_mut(&mut self.chunks).get_mut(place / CHUNK)?;
        Arc::make_mut(chunk).get_mut(place % CHUNK)
    }

    /// Takes a credential over; the usage and place of one that is there are kept.
    pub(super) fn put(&mut self, info: ProfileInfo) -> Put {
        let info = Arc::new(info);
        let Some(place) = self.find(&info.id) else {
            self.push(ProfileView { info, usage: Arc::new(Usage::default()) });
            return Put::Added;
        };
        if let Some(there) = self.get_mut(place) {
            let before = std::mem::replace(&mut there.info, Arc::clone(&info));
            if before.provider != info.provider {
                Arc::make_mut(&mut self.places).give_over(place, &before.provider, &info.provider);
            }
        }
        Put::Replaced
    }

    fn push(&mut self, profile: ProfileView) {
        let place = self.len();
        let places = Arc::make_mut(&mut self.places);
        let info = &profile.info;
        places.ids.insert(info.id.clone(), place);
        places.names.entry(info.id.name().to_owned()).or_default().push(place);
        places.providers.entry(info.provider.clone()).or_default().push(place);
        let chunks = Arc::make_mut(&mut self.chunks);
        match chunks.last_mut().filter(|last| last.len() < CHUNK) {
            Some(last) => Arc::make_mut(last).push(profile),
            None => chunks.push(Arc::new(vec![profile])),
        }
    }

    /// Whether both are the same snapshot.
    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.chunks, &other.chunks)
    }
}

impl Places {
    /// The profile at a position is another provider's now.
    fn give_over(&mut self, place: usize, from: &str, to: &str) {
        if let Some(its) = self.providers.get_mut(from) {
            its.retain(|there| *there != place);
        }
        let its = self.providers.entry(to.to_owned()).or_default();
        its.insert(its.partition_point(|there| *there < place), place);
    }
}

impl FromIterator<ProfileView> for Profiles {
    fn from_iter<I: IntoIterator<Item = ProfileView>>(all: I) -> Self {
        let mut profiles = Self::default();
        all.into_iter().for_each(|profile| profiles.push(profile));
        profiles
    }
}

impl Index<usize> for Profiles {
    type Output = ProfileView;

    #[expect(clippy::expect_used, reason = "what an index promises")]
    fn index(&self, place: usize) -> &ProfileView {
        self.get(place).expect("a position within the profiles")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::{
        lang::policy::CredentialKind,
        state::{model::Usage, view::ProfileInfo},
    };

    fn profile(id: &str, inserted: usize) -> ProfileView {
        let id = ProfileId(id.into());
        let info = ProfileInfo {
            provider: id.provider().to_owned(),
            id,
            kind: CredentialKind::ApiKey,
            has_secret: true,
            has_refresh: false,
            expires: None,
            email: None,
            extra: BTreeMap::new(),
            inserted: inserted as u64,
        };
        ProfileView { info: Arc::new(info), usage: Arc::new(Usage::default()) }
    }

    fn many() -> Profiles {
        (0..100).map(|n| profile(&format!("{}:{n}", ["acme", "beta", "openai"][n % 3]), n)).collect()
    }

    #[test]
    fn order_and_places_hold_over_many_chunks() {
        let all = many();
        assert_eq!(all.len(), 100);
        assert!(all.iter().enumerate().all(|(n, profile)| profile.info.inserted == n as u64));
        for (place, profile) in all.iter().enumerate() {
            assert_eq!(all.find(&profile.info.id), Some(place));
        }
        let of_beta: Vec<u64> = all.of("beta", &str::eq).map(|profile| profile.info.inserted).collect();
        assert_eq!(of_beta, (0..100).filter(|n| n % 3 == 1).collect::<Vec<u64>>());
        assert_eq!(all.find(&ProfileId("acme:1".into())), None);
    }

    #[test]
    fn c2_a_legacy_name_finds_the_profile() {
        let all: Profiles =
            [profile("old:a", 0), profile("new:b", 1), profile("new:a", 2)].into_iter().collect();
        let family = |a: &str, b: &str| a == b || [a, b].iter().all(|name| ["old", "new"].contains(name));
        let ids = |of: &str| -> BTreeSet<u64> {
            all.of(of, &family).map(|profile| profile.info.inserted).collect()
        };
        assert_eq!((ids("old"), ids("new")), ([0, 1, 2].into(), [0, 1, 2].into()));
        let new = ProfileId("new:a".into());
        assert_eq!(all.same(&new, &family).map(|there| there.info.inserted), Some(0));
        assert_eq!(all.find(&new), Some(2));
    }

    #[test]
    fn a_credential_that_is_put_again_keeps_usage_and_place() {
        let mut all = many();
        let before = all.clone();
        all.get_mut(7).unwrap().usage = Arc::new(Usage { error_count: 1, ..Usage::default() });
        let info = |provider: &str| {
            let (provider, email) = (provider.to_owned(), Some("new".to_owned()));
            ProfileInfo { provider, email, ..ProfileInfo::clone(&before[7].info) }
        };
        assert_eq!((&*before[7].info.provider, all.put(info("beta"))), ("beta", Put::Replaced));
        assert_eq!((all[7].info.email.as_deref(), all[7].usage.error_count), (Some("new"), 1));
        assert_eq!(all.put(info("acme")), Put::Replaced);
        let of = |provider: &str| -> Vec<usize> {
            all.of(provider, &str::eq).map(|it| all.find(&it.info.id).unwrap()).collect()
        };
        assert_eq!(of("acme")[..5], [0, 3, 6, 7, 9]);
        assert_eq!(of("beta")[..4], [1, 4, 10, 13]);
        assert_eq!((before[7].info.email.as_deref(), before.of("beta", &str::eq).count()), (None, 33));
    }

    #[test]
    fn a_change_is_seen_by_nobody_else() {
        let before = many();
        let mut after = before.clone();
        let usage = Usage { error_count: 1, ..Usage::default() };
        after.get_mut(70).unwrap().usage = Arc::new(usage);
        assert_eq!((before[70].usage.error_count, after[70].usage.error_count), (0, 1));
        assert!(!after.is(&before) && before.is(&before.clone()));
    }
}
