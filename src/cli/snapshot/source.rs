//! Which corpus a snapshot belongs to.

use std::{
    fs,
    path::{Component, Path, PathBuf, absolute},
};

use super::Files;
use crate::{cli::failure::Failure, verify::snapshot::Snapshot};

/// The corpus as the header calls it: its path from the folder that holds the folder of snapshots,
/// so that it is the same from wherever the command is run; its bare name when the two have no folder
/// in common.
pub(super) fn name(corpus: &Path, store: &Path) -> String {
    let bare = || corpus.file_name().unwrap_or(corpus.as_os_str()).to_string_lossy().into_owned();
    if corpus.as_os_str() == "-" {
        return "-".into();
    }
    let folder = real(corpus.parent().unwrap_or(Path::new("")));
    let snapshots = real(store.parent().unwrap_or(Path::new("")));
    let beside = snapshots.parent().unwrap_or(&snapshots);
    let names = |path: &Path| -> Vec<String> {
        let names = path.components().filter(|part| matches!(part, Component::Normal(_)));
        names.map(|part| part.as_os_str().to_string_lossy().into_owned()).collect()
    };
    let (from, to) = (names(beside), names(&folder));
    let common = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
    if common == 0 && !from.is_empty() {
        return bare();
    }
    let up = from.iter().skip(common).map(|_| "..".to_owned());
    up.chain(to.into_iter().skip(common)).chain([bare()]).collect::<Vec<_>>().join("/")
}

/// The path without links and `..`, as far as it exists.
fn real(path: &Path) -> PathBuf {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let whole = absolute(path).unwrap_or_else(|_| path.to_owned());
    let known = whole.ancestors().find_map(|there| {
        let rest = whole.strip_prefix(there).ok()?;
        Some(fs::canonicalize(there).ok()?.join(rest))
    });
    known.unwrap_or(whole)
}

/// Whether the stored snapshot was made of this corpus, in this way.
///
/// # Errors
/// When its header says otherwise.
pub(super) fn same(old: &Snapshot, name: &str, files: &Files, store: &Path) -> Result<(), Failure> {
    let store = store.to_string_lossy();
    let mend =
        "`--snapshots DIR` keeps a snapshot in another folder, and without the old file a new one is begun";
    if let Some(source) = old.source().filter(|source| source != name) {
        let why = format!("`{store}` was made of `{source}`, not of `{name}`; {mend}");
        return Err(Failure::Usage(why));
    }
    if let Some(raw) = old.raw().filter(|raw| *raw != files.raw) {
        let way = if raw { "with" } else { "without" };
        return Err(Failure::Usage(format!("`{store}` was made {way} `--raw`; {mend}")));
    }
    Ok(())
}
