//! Drivers: they do the I/O that a run asks for.
//!
//! [`Engine`] runs turns under tokio (feature `tokio`); [`AttemptError`] carries a host's error;
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
mod outcome;
#[cfg(feature = "tokio")]
mod redact;
mod sdk_retry;
pub mod simulate;
#[cfg(feature = "tokio")]
mod trace;
#[cfg(feature = "tokio")]
mod turn;

pub use clock::{Clock, SystemClock};
pub use environment::{Environment, Process};
pub use error::AttemptError;
pub use facts::{Facts, ReadError};
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
