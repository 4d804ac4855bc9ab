//! "Did you mean": the nearest name within a sensible distance.

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

#[cfg(test)]
mod tests {
    use super::*;

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
