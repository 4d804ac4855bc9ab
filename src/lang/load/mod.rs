//! Rule files → a checked [`Ruleset`].
//!
//! [`files`] says where files come from, `insert` puts used files in their places; then edits are
//! applied, names resolved, and everything checked.

pub mod files;
mod insert;
mod trees;

use std::path::Path;

use self::{
    files::{Files, Folder, Memory, Shipped},
    insert::Loader,
};
pub use self::{insert::Program, trees::Trees};
use super::{
    check,
    diagnostic::{Diagnostics, counted},
    overlay, resolve,
    source::Sources,
    tree::Ruleset,
};

/// Why there is no rule set: every error and warning, and the files that they point into.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the rules have {}", counted(.diagnostics.count().0, "error"))]
pub struct LoadError {
    /// The files.
    pub sources: Sources,
    /// What is wrong with them, in order of place.
    pub diagnostics: Diagnostics,
}

/// A rule set and the warnings about it, in order of place.
pub type Loaded = Result<(Ruleset, Diagnostics), Box<LoadError>>;

/// Loads the rules from a root file in `files`.
///
/// # Errors
/// Everything that is wrong with the rules, at once.
pub fn load(files: &dyn Files, root: &str) -> Loaded {
    finish(Loader::new(files, false).run(root))
}

/// Loads the rules again: files that say what they said the last time are not read anew.
///
/// # Errors
/// See [`load`].
pub fn again(files: &dyn Files, root: &str, trees: &mut Trees) -> Loaded {
    finish(Loader::new(files, false).with(trees).run(root))
}

/// Loads the rules at a path: a file, or a folder with a `main.rules`.
///
/// # Errors
/// See [`load`].
pub fn from_path(path: &Path) -> Loaded {
    let (folder, root) = Folder::of_root(path);
    load(&folder, &root)
}

/// Loads the shipped rules.
///
/// # Errors
/// None in a build that passed its tests.
pub fn shipped() -> Loaded {
    finish(Loader::new(&Shipped, true).run("main.rules"))
}

/// Loads the shipped rules for judging alone: without their examples and tests, and without a look for
/// what seems unintended in them. Half of the time that [`shipped`] takes goes there.
///
/// # Errors
/// See [`shipped`].
pub fn shipped_to_judge() -> Loaded {
    finish(Loader::new(&Shipped, true).lean().run("main.rules"))
}

/// Loads a single text, for tests; it may `use default`.
///
/// # Errors
/// See [`load`].
pub fn from_text(text: &str) -> Loaded {
    load(&Memory::new().with("main.rules", text), "main.rules")
}

fn finish((mut program, mut out): (Program, Diagnostics)) -> Loaded {
    let edits = overlay::apply(&mut program, &mut out);
    let mut set = resolve::resolve(&program, edits, &mut out);
    check::suppress(&mut set.allows, &mut out);
    out.sort();
    if out.has_errors() {
        Err(Box::new(LoadError { sources: program.sources, diagnostics: out }))
    } else {
        Ok((set, out))
    }
}
