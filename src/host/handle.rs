//! How a host breaks into a turn that goes on.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use crate::{run::Interrupt, signal::Aborted, state::model::Candidate};

/// Breaks into one turn, from anywhere (H4). Clones are the same handle.
#[derive(Clone, Debug, Default)]
pub struct Handle(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    pending: Mutex<Option<Interrupt>>,
    come: Notify,
}

impl Handle {
    /// A handle that has done nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the turn; a call under way is dropped (D11).
    pub fn abort(&self, by: Aborted) {
        self.interrupt(Interrupt::Abort(by));
    }

    /// The session's model has changed; `by_user` when a person asked for it (H4, K1).
    ///
    /// It stores nothing: store a person's choice first, by [`crate::run::session::choose_model`].
    pub fn switch(&self, to: Candidate, by_user: bool) {
        self.interrupt(Interrupt::Switch { to, by_user });
    }

    fn interrupt(&self, interrupt: Interrupt) {
        let mut pending = self.lock();
        // An abort outweighs a switch, whichever came first.
        if !matches!(*pending, Some(Interrupt::Abort(_))) {
            *pending = Some(interrupt);
        }
        drop(pending);
        self.0.come.notify_one();
    }

    /// What has come and was not taken yet.
    pub(super) fn take(&self) -> Option<Interrupt> {
        self.lock().take()
    }

    /// Waits until something has come.
    pub(super) async fn come(&self) {
        while self.lock().is_none() {
            self.0.come.notified().await;
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Interrupt>> {
        self.0.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
