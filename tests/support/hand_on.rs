//! For stores of tests that hand most calls on to a store within: what an `impl Store` names.

pub use pointsman::{
    state::{
        change::{Applied, Batch},
        model::{Profile, ProfileId, Session},
        store::{Put, Store, StoreError},
        view::{View, ViewQuery},
    },
    time::Timestamp,
};

/// In an `impl Store`: these methods ask the store in the field behind the arrow.
macro_rules! hand_on {
    (view => $within:ident) => {
        fn view(&self, query: &ViewQuery<'_>, now: Timestamp) -> Result<View, StoreError> {
            self.$within.view(query, now)
        }
    };
    (apply => $within:ident) => {
        fn apply(&self, batch: &Batch, now: Timestamp) -> Result<Applied, StoreError> {
            self.$within.apply(batch, now)
        }
    };
    (put_profile => $within:ident) => {
        fn put_profile(&self, profile: &Profile) -> Result<Put, StoreError> {
            self.$within.put_profile(profile)
        }
    };
    (remove_profile => $within:ident) => {
        fn remove_profile(&self, id: &ProfileId) -> Result<bool, StoreError> {
            self.$within.remove_profile(id)
        }
    };
    (profile => $within:ident) => {
        fn profile(&self, id: &ProfileId) -> Result<Option<Profile>, StoreError> {
            self.$within.profile(id)
        }
    };
    (sessions => $within:ident) => {
        fn sessions(&self) -> Result<Vec<(String, Session)>, StoreError> {
            self.$within.sessions()
        }
    };
    (flush => $within:ident) => {
        fn flush(&self) -> Result<(), StoreError> {
            self.$within.flush()
        }
    };
    ($($method:ident)+ => $within:ident) => {
        $(hand_on! { $method => $within })+
    };
}

pub(crate) use hand_on;
