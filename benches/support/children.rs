//! What child processes took.

use std::time::Duration;

#[cfg(unix)]
fn children() -> nix::sys::resource::Usage {
    use nix::sys::resource::{UsageWho, getrusage};
    getrusage(UsageWho::RUSAGE_CHILDREN).unwrap()
}

/// CPU time of the children that have ended, user and system together.
#[cfg(unix)]
pub fn cpu() -> Duration {
    let used = children();
    [used.user_time(), used.system_time()]
        .iter()
        .map(|time| Duration::from_micros(u64::try_from(time.tv_sec() * 1_000_000 + time.tv_usec()).unwrap()))
        .sum()
}

/// The most memory that one of them took, in MiB.
#[cfg(unix)]
pub fn peak() -> f64 {
    // Linux counts in kibibytes.
    children().max_rss() as f64 / 1024.0
}

#[cfg(not(unix))]
pub fn cpu() -> Duration {
    Duration::ZERO
}

#[cfg(not(unix))]
pub fn peak() -> f64 {
    0.0
}
