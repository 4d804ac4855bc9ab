//! The registry: every code once, with its severity, title and page. One file an area:
//!
//! | codes | area |
//! | --- | --- |
//! | P01xx | [`syntax`] |
//! | P02xx | [`names`] |
//! | P03xx | [`types`] |
//! | P04xx | [`patterns`] |
//! | P05xx | [`edits`] |
//! | P06xx | [`policy`] |
//! | P07xx | [`lints`] |
//! | P08xx | [`loading`] |
//!
//! A code that is no longer used keeps its number in its area's `RETIRED` list, so that nobody uses
//! the number again.

pub mod edits;
pub mod lints;
pub mod loading;
pub mod names;
pub mod patterns;
pub mod policy;
pub mod syntax;
pub mod types;

use super::Code;

/// Declares the codes of one area: constants, and `ALL` with all of them. The page is
/// `pages/ID.md`.
macro_rules! codes {
    ($($name:ident = $id:literal $severity:ident $title:literal;)*) => {
        $(
            #[doc = concat!($id, ": ", $title, ".")]
            pub const $name: $crate::lang::diagnostic::Code = $crate::lang::diagnostic::Code {
                id: $id,
                severity: $crate::lang::diagnostic::Severity::$severity,
                title: $title,
                page: include_str!(concat!("../pages/", $id, ".md")),
            };
        )*
        /// All codes of this area.
        pub const ALL: &[$crate::lang::diagnostic::Code] = &[$($name),*];
    };
}
pub(crate) use codes;

/// The areas, in the order of their numbers.
const AREAS: &[&[Code]] =
    &[syntax::ALL, names::ALL, types::ALL, patterns::ALL, edits::ALL, policy::ALL, lints::ALL, loading::ALL];

/// Numbers of codes that once were.
pub const RETIRED: &[&str] = &[];

/// Every code, by number.
pub fn all() -> impl Iterator<Item = Code> {
    AREAS.iter().flat_map(|area| area.iter().copied())
}

/// The code with this id, in any case of letters (`p0101`).
#[must_use]
pub fn find(id: &str) -> Option<Code> {
    all().find(|code| code.id.eq_ignore_ascii_case(id))
}

/// Its page as `explain --code` prints it: id and title as a heading, then the text.
#[must_use]
pub fn page(code: Code) -> String {
    format!("# {} ({}): {}\n\n{}\n", code.id, code.severity, code.title, code.page.trim())
}

/// The bad and the good example of its page, without the fences.
#[must_use]
pub fn examples(code: Code) -> Option<(&'static str, &'static str)> {
    let fenced = |text: &'static str| {
        let (_, inside) = text.split_once("\n```rules\n")?;
        inside.split_once("\n```").map(|(inside, _)| inside)
    };
    let (_, from_bad) = code.page.split_once("\n## Bad\n")?;
    let (bad, from_good) = from_bad.split_once("\n## Good\n")?;
    Some((fenced(bad)?, fenced(from_good)?))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_code_repeats_and_none_comes_back() {
        let mut seen = BTreeSet::new();
        for code in all() {
            assert!(seen.insert(code.id), "{} is declared twice", code.id);
            assert!(!RETIRED.contains(&code.id), "{} was retired", code.id);
            assert_eq!(code.id.len(), 5, "{}", code.id);
            assert!(
                code.id.starts_with('P') && code.id[1..].bytes().all(|b| b.is_ascii_digit()),
                "{}",
                code.id
            );
        }
        assert!(seen.iter().eq(all().map(|c| c.id).collect::<Vec<_>>().iter()), "areas stand in order");
    }

    #[test]
    fn every_code_has_a_page_with_all_parts() {
        for Code { id, title, page, .. } in all() {
            let (meaning, rest) =
                page.split_once("\n\n## Bad\n\n").unwrap_or_else(|| panic!("{id}: no bad example"));
            let (_, rest) =
                rest.split_once("\n\n## Good\n\n").unwrap_or_else(|| panic!("{id}: no good example"));
            let (_, why) = rest.split_once("\n\n## Why\n\n").unwrap_or_else(|| panic!("{id}: no reason"));
            assert!(meaning.trim().len() > 20 && !meaning.starts_with('#'), "{id}: say first what it means");
            assert!(why.trim().len() > 20, "{id}: an empty reason");
            let (bad, good) =
                examples(find(id).unwrap()).unwrap_or_else(|| panic!("{id}: examples stand in fences"));
            assert!(!bad.trim().is_empty() && !good.trim().is_empty() && bad != good, "{id}: examples");
            assert!(!title.is_empty() && !title.ends_with('.'), "{id}: title");
        }
    }

    #[test]
    fn no_page_is_left_without_its_code() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/lang/diagnostic/pages");
        for entry in std::fs::read_dir(folder).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(find(name.trim_end_matches(".md")).is_some(), "{name} belongs to no code");
        }
    }
}
