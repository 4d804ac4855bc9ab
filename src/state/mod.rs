//! Profiles, usage and sessions; pure transitions; stores.

pub mod model;
