//! The shipped rules, embedded. A test compares this list with the folder `rules/`.

macro_rules! files {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../../rules/", $path)))),*]
    };
}

/// Path below `rules/`, and text.
pub const FILES: &[(&str, &str)] = files![
    "main.rules",
    "policy/buckets.rules",
    "policy/reactions.rules",
    "policy/resets.rules",
    "policy/routing.rules",
    "policy/schedules.rules",
];

/// The file behind `use NAME`: `default` is the shipped list, other names are presets.
#[must_use]
pub fn named(name: &str) -> Option<&'static str> {
    let path = if name == "default" { "main.rules".to_owned() } else { format!("presets/{name}.rules") };
    FILES.iter().map(|(path, _)| *path).find(|p| *p == path)
}

/// What `use` may name.
pub fn names() -> impl Iterator<Item = &'static str> {
    let presets = FILES.iter().filter_map(|(path, _)| path.strip_prefix("presets/")?.strip_suffix(".rules"));
    std::iter::once("default").chain(presets)
}
