//! Drivers: they do the I/O that a run asks for.
//!
//! [`Engine`] runs turns under tokio (feature `tokio`); [`Rules`] holds the table in force and takes a new one while runs go on; [`AttemptError`] carries a host's error;
//! [`sdk_retry()`] answers for a provider's SDK (E9); [`simulate`] plays hosts and providers on a virtual clock. None of them knows policy.

#[cfg(feature = "tokio")]
mod attempt;
#[cfg(feature = "tokio")]
mod by_hand;
mod clock;
#[cfg(feature = "tokio")]
mod credentials;
#[cfg(feature = "tokio")]
mod engine;
mod environment;
mod error;
mod facts;
#[cfg(feature = "tokio")]
mod handle;
#[cfg(feature = "tokio")]
mod keeper;
#[cfg(feature = "tokio")]
mod listener;
#[cfg(feature = "tokio")]
mod notes;
#[cfg(feature = "tokio")]
mod outcome;
mod recorder;
#[cfg(feature = "tokio")]
mod recording;
#[cfg(feature = "tokio")]
mod redact;
#[cfg(feature = "tokio")]
mod reload;
mod rules;
mod sdk_retry;
pub mod simulate;
#[cfg(feature = "tokio")]
mod spelt;
#[cfg(feature = "tokio")]
mod trace;
#[cfg(feature = "tokio")]
mod turn;
mod watch;

pub use clock::{Clock, SystemClock};
pub use environment::{Environment, Process};
pub use error::AttemptError;
pub use facts::{Facts, ReadError};
pub use recorder::Recorder;
pub use rules::{ReloadError, Reloaded, Rules, source, version};
pub use sdk_retry::{SdkRetry, sdk_retry};
#[cfg(feature = "tokio")]
pub use {
    attempt::Attempt,
    engine::{Engine, EngineError},
    handle::Handle,
    listener::{Listener, Said},
    outcome::{Outcome, RunError},
    turn::Turn,
};
