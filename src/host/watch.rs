//! Which files rules were read from, and whether they have changed.
//!
//! Looking twice a second at the few files of a rule set costs a few microseconds, asks nothing of the
//! system, and sees what notifications miss: network mounts, and links that are turned to another
//! folder (as orchestrators do when they replace mounted configuration). So no notification library is
//! used.

use std::{
    cell::RefCell,
    path::{Path, PathBuf},
    time::SystemTime,
};

use crate::lang::load::files::{Files, Folder, ReadError};

/// What tells one state of a file from another, without reading it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp {
    modified: Option<SystemTime>,
    length: u64,
    /// A file that took the place of another, with its times copied.
    node: (u64, i64, i64),
}

impl Stamp {
    /// None: there is no such file.
    fn of(path: &Path) -> Option<Self> {
        let meta = std::fs::metadata(path).ok()?;
        Some(Self { modified: meta.modified().ok(), length: meta.len(), node: node(&meta) })
    }
}

#[cfg(unix)]
fn node(meta: &std::fs::Metadata) -> (u64, i64, i64) {
    use std::os::unix::fs::MetadataExt as _;
    (meta.ino(), meta.ctime(), meta.ctime_nsec())
}

#[cfg(not(unix))]
const fn node(_: &std::fs::Metadata) -> (u64, i64, i64) {
    (0, 0, 0)
}

/// The files of a rule set, each as it was just before it was read; missing ones too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Stamps(Vec<(PathBuf, Option<Stamp>)>);

impl Stamps {
    /// The same files as they are now.
    pub fn again(&self) -> Self {
        Self(self.0.iter().map(|(path, _)| (path.clone(), Stamp::of(path))).collect())
    }
}

/// A folder that remembers what was read from it.
pub(super) struct Remembering {
    folder: Folder,
    base: PathBuf,
    read: RefCell<Stamps>,
}

impl Remembering {
    /// The folder and the root file's name in it, for a path to a file or to a folder.
    pub fn of_root(path: &Path) -> (Self, String) {
        let (folder, root) = Folder::of_root(path);
        let base = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
        (Self { folder, base: base.to_owned(), read: RefCell::default() }, root)
    }

    /// What was read.
    pub fn into_stamps(self) -> Stamps {
        self.read.into_inner()
    }
}

impl Files for Remembering {
    fn read(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        let full = self.base.join(path);
        let stamp = Stamp::of(&full);
        self.read.borrow_mut().0.push((full, stamp));
        self.folder.read(path)
    }

    fn list(&self) -> Vec<String> {
        self.folder.list()
    }
}
