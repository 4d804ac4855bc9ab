//! Pure transitions: what a change does to usage and to a session. No clock, no store, no policy;
//! every duration comes with the change.

mod failure;
mod guard;
mod session;
mod success;

pub use failure::{failure, late_failure};
pub use guard::{SKEW, calm_from, guard};
pub use session::{Conflict, session};
pub use success::{clear, is_steady, late_success, success, used};
