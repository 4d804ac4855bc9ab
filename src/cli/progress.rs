//! A counter on the terminal for work that takes longer than a moment.

use std::io::Write as _;

use super::world::World;
use crate::time::Timestamp;

/// How many steps pass between two looks at the clock.
const STRIDE: u64 = 8192;

/// Shows `VERB N THINGS` on stderr twice a second, once a second has passed. Silent off a terminal, and when
/// results scroll by on the same one.
pub(super) struct Progress<'a> {
    world: &'a World,
    what: &'static str,
    shown_at: Option<Timestamp>,
    wait: u64,
    visible: bool,
}

impl<'a> Progress<'a> {
    /// Starts counting while results go out.
    pub(super) fn new(world: &'a World, what: &'static str) -> Self {
        Self::when(world.stderr_terminal && !world.stdout_terminal, world, what)
    }

    /// Starts counting for work whose results come at its end.
    pub(super) fn before_results(world: &'a World, what: &'static str) -> Self {
        Self::when(world.stderr_terminal, world, what)
    }

    fn when(on: bool, world: &'a World, what: &'static str) -> Self {
        Self { world, what, shown_at: on.then(|| world.now()), wait: 1000, visible: false }
    }

    /// `done` steps lie behind.
    pub(super) fn at(&mut self, done: u64) {
        let Some(shown_at) = self.shown_at else { return };
        if !done.is_multiple_of(STRIDE) {
            return;
        }
        let now = self.world.now();
        if now.as_millis() - shown_at.as_millis() >= i64::try_from(self.wait).unwrap_or(i64::MAX) {
            let _ = write!(std::io::stderr().lock(), "\r{done} {}…", self.what);
            self.shown_at = Some(now);
            self.wait = 500;
            self.visible = true;
        }
    }
}

impl Drop for Progress<'_> {
    /// Wipes the counter.
    fn drop(&mut self) {
        if self.visible {
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K");
        }
    }
}
