//! The shipped rules, embedded. A test compares this list with the folder `rules/`.

macro_rules! files {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../../rules/", $path)))),*]
    };
}

/// Path below `rules/`, and text.
pub const FILES: &[(&str, &str)] = files![
    "cases/account.rules",
    "cases/limits.rules",
    "cases/requests.rules",
    "cases/service.rules",
    "classify/by_status.rules",
    "classify/checks.rules",
    "classify/codes.rules",
    "classify/status.rules",
    "classify/texts_account.rules",
    "classify/texts_loose.rules",
    "classify/texts_model.rules",
    "classify/texts_service.rules",
    "classify/words.rules",
    "main.rules",
    "policy/buckets.rules",
    "policy/reactions.rules",
    "policy/resets.rules",
    "policy/routing.rules",
    "policy/schedules.rules",
    "presets/quick.rules",
    "presets/strict.rules",
    "providers/amazon.rules",
    "providers/anthropic.rules",
    "providers/chinese.rules",
    "providers/google.rules",
    "providers/openai.rules",
    "providers/others.rules",
    "providers/routers.rules",
];

/// Below it are shipped files that hold nothing but tests of the shipped list as it stands: whoever only judges,
/// or builds on that list, passes them over.
pub const CASES: &str = "cases/";

/// The file behind `use NAME`: `default` is the shipped list, other names are presets.
#[must_use]
pub fn named(name: &str) -> Option<&'static str> {
    let path = if name == "default" { "main.rules".to_owned() } else { format!("presets/{name}.rules") };
    self::path(&path)
}

/// A path, when a shipped file has it.
#[must_use]
pub fn path(path: &str) -> Option<&'static str> {
    FILES.iter().map(|(known, _)| *known).find(|known| *known == path)
}

/// What `use` may name.
pub fn names() -> impl Iterator<Item = &'static str> {
    let presets = FILES.iter().filter_map(|(path, _)| path.strip_prefix("presets/")?.strip_suffix(".rules"));
    std::iter::once("default").chain(presets)
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    fn walk(folder: &Path, base: &Path, out: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, base, out);
            } else {
                out.push(path.strip_prefix(base).unwrap().to_str().unwrap().to_owned());
            }
        }
    }

    #[test]
    fn the_list_names_every_file() {
        let base = Path::new(env!("CARGO_MANIFEST_DIR")).join("rules");
        let mut there = Vec::new();
        walk(&base, &base, &mut there);
        there.retain(|path| path.rsplit_once('.').is_some_and(|(_, end)| end == "rules"));
        there.sort();
        let listed: Vec<&str> = super::FILES.iter().map(|(path, _)| *path).collect();
        assert_eq!(listed, there);
    }
}
