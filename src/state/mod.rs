//! Profiles, usage and sessions; pure transitions; stores.
//!
//! A run reads a [`view::View`] and asks for [`change::Change`]s; a [`store::Store`] applies them to
//! the fresh rows in one transaction.

pub mod change;
pub mod import;
pub mod inbox;
pub mod legacy;
pub mod memory;
pub mod model;
pub mod name;
pub mod profiles;
pub mod resilient;
pub mod schedule;
pub mod secret;
pub mod select;
mod snapshot;
#[cfg(feature = "sqlite")]
pub mod sqlite;
pub mod store;
pub mod transition;
pub mod view;
