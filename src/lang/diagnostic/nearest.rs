//! "Did you mean": the nearest name within a sensible distance.

use std::cell::Cell;

/// The candidate nearest to `written`: at most a third of its letters may differ, and at least one
/// change is always granted for names of three letters or more. Swapped neighbours count once.
/// Among equals the first.
#[must_use]
pub fn nearest<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = written.chars().count();
    let allowed = if length < 3 { 0 } else { (length / 3).max(1) };
    let written_lower = written.to_lowercase();
    candidates
        .into_iter()
        // A name differs by as many letters at least as it is longer or shorter.
        .filter(|name| name.chars().count().abs_diff(length) <= allowed)
        .map(|name| (strsim::osa_distance(&written_lower, name), name))
        .filter(|(distance, name)| *distance <= allowed && *name != written)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// The help that names it: ``did you mean `rate_limit`?``.
#[must_use]
pub fn did_you_mean<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(written, candidates).map(|name| format!("did you mean `{name}`?"))
}

/// Looks for the nearest of any number of names, in bounded time: each look goes through many of them,
/// and a file may hold a hundred thousand names that nobody knows.
#[derive(Clone, Debug)]
pub struct Hints {
    left: Cell<u32>,
}

impl Hints {
    /// How many looks there are.
    pub const LOOKS: u32 = 100;
    /// How many names a look goes through.
    pub const NAMES: usize = 10_000;

    /// Whether this finding may look for a name; every call takes a look.
    #[must_use]
    pub fn take(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        left > 0
    }

    /// See [`nearest`]; nothing when no look is left.
    #[must_use]
    pub fn nearest<'a>(
        &self,
        written: &str,
        candidates: impl IntoIterator<Item = &'a str>,
    ) -> Option<&'a str> {
        if self.take() { nearest(written, candidates.into_iter().take(Self::NAMES)) } else { None }
    }
}

impl Default for Hints {
    fn default() -> Self {
        Self { left: Cell::new(Self::LOOKS) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_and_names_are_counted() {
        let seen = Cell::new(0usize);
        let name = || {
            seen.set(seen.get() + 1);
            "billing"
        };
        let hints = Hints::default();
        let found = (0..1_000).filter_map(|_| hints.nearest("biling", std::iter::repeat_with(name))).count();
        assert_eq!(found, Hints::LOOKS as usize);
        assert_eq!(seen.get(), Hints::LOOKS as usize * Hints::NAMES);
    }

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let names = ["rate_limit", "billing", "auth", "auth_permanent"];
        assert_eq!(nearest("rate_limits", names), Some("rate_limit"));
        assert_eq!(nearest("biling", names), Some("billing"));
        assert_eq!(nearest("auht", names), Some("auth"));
        assert_eq!(nearest("Billing", names), Some("billing"));
        assert_eq!(nearest("timeout", names), None);
        assert_eq!(nearest("xy", names), None);
        assert_eq!(nearest("", names), None);
    }
}
