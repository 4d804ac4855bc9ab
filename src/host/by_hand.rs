//! What a host does to a session between turns (B4, C10, K5).

use super::engine::Engine;
use crate::state::{
    change::{Applied, Batch, Change},
    store::StoreError,
};

impl Engine {
    /// Changes a session by hand: [`crate::run::session`] words the changes. A turn of the session
    /// that is under way sees it (H4). `reset` and `new` also forget what this engine remembers of the
    /// session beside the state (K5).
    ///
    /// # Errors
    /// [`StoreError`] when the state cannot be written.
    pub async fn change(&self, session: &str, change: Change) -> Result<Applied, StoreError> {
        if matches!(change, Change::Reset { .. } | Change::New { .. }) {
            self.forget(session);
        }
        let batch = Batch { session: Some(session.to_owned()), changes: vec![change] };
        self.keeper.apply(batch, &self.clock).await
    }
}
