//! Drivers: they do the I/O that a run asks for.
//!
//! [`Engine`] runs turns under tokio (feature `tokio`); [`AttemptError`] carries a host's error;
//! [`sdk_retry()`] answers for a provider's SDK (E9). None of them knows policy.

mod clock;
mod environment;
mod error;
mod facts;
mod redact;
mod sdk_retry;

pub use clock::{Clock, SystemClock};
pub use environment::{Environment, Process};
pub use error::AttemptError;
pub use facts::{Facts, ReadError};
pub use sdk_retry::{SdkRetry, sdk_retry};
