//! Where rule files come from: a folder, the shipped set, or memory. Paths are relative to the root
//! file's folder, with `/`, and never leave it.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, ErrorKind, Read},
    path::{Path, PathBuf},
};

use crate::lang::shipped;

/// Largest rule file, in bytes.
pub const MAX_FILE: u64 = 4 << 20;

/// Why a rule file could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// There is no such file.
    #[error("it does not exist")]
    Missing,
    /// It is a folder.
    #[error("it is a folder")]
    Folder,
    /// It is larger than [`MAX_FILE`].
    #[error("it is larger than {} MiB", MAX_FILE >> 20)]
    TooLarge,
    /// It is a pipe, a device or a socket: reading it might never end.
    #[error("it is no file, but a pipe, a device or a socket")]
    Special,
    /// A link leads out of the root's folder.
    #[error("it lies outside of the root file's folder")]
    Outside,
    /// The system said no.
    #[error("{0}")]
    Other(String),
}

/// A place that holds rule files.
pub trait Files {
    /// The bytes of the file at a path such as `texts/billing.rules`.
    ///
    /// # Errors
    /// See [`ReadError`].
    fn read(&self, path: &str) -> Result<Vec<u8>, ReadError>;

    /// Paths that exist, for suggestions; may be empty.
    fn list(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A real folder.
#[derive(Clone, Debug)]
pub struct Folder {
    base: PathBuf,
    /// The root file itself may be a link to anywhere; what it uses may not.
    root: Option<String>,
}

impl Folder {
    /// The folder at `base`.
    #[must_use]
    pub fn new(base: impl Into<PathBuf>) -> Self {
        Self { base: base.into(), root: None }
    }

    /// The folder and the root file's name in it, for a path to a file or to a folder with a
    /// `main.rules`.
    #[must_use]
    pub fn of_root(path: &Path) -> (Self, String) {
        if path.is_dir() {
            return (Self::new(path), "main.rules".to_owned());
        }
        let base = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        (Self { root: Some(name.clone()), ..Self::new(base) }, name)
    }
}

impl Files for Folder {
    fn read(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        let other = |e: std::io::Error| match e.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => ReadError::Missing,
            ErrorKind::IsADirectory => ReadError::Folder,
            ErrorKind::PermissionDenied => ReadError::Other("it may not be read".to_owned()),
            _ => e.downcast().unwrap_or_else(|e| ReadError::Other(e.to_string())),
        };
        let base = self.base.canonicalize().map_err(other)?;
        let full = base.join(path).canonicalize().map_err(other)?;
        if !full.starts_with(&base) && self.root.as_deref() != Some(path) {
            return Err(ReadError::Outside);
        }
        let file = open(&full).map_err(other)?;
        if file.metadata().map_err(other)?.len() > MAX_FILE {
            return Err(ReadError::TooLarge);
        }
        // It may grow in between: read no more than the limit.
        let mut bytes = Vec::new();
        file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(other)?;
        if bytes.len() as u64 > MAX_FILE { Err(ReadError::TooLarge) } else { Ok(bytes) }
    }

    fn list(&self) -> Vec<String> {
        let mut names = Vec::new();
        walk(&self.base, "", 0, &mut names);
        names.sort();
        names
    }
}

/// Opens a file of which the whole is wanted, and nothing else: a pipe or a device may never begin, or
/// never end.
///
/// # Errors
/// When it cannot be opened, or is no file.
pub(crate) fn open(path: &Path) -> io::Result<fs::File> {
    let meta = fs::metadata(path)?;
    if meta.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    if !meta.is_file() {
        return Err(io::Error::other(ReadError::Special));
    }
    fs::File::open(path)
}

/// Rule files below a folder, a few levels deep and not too many.
fn walk(base: &Path, below: &str, depth: usize, names: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(base.join(below)) else { return };
    for entry in entries.flatten().take(1_000) {
        let name = format!("{below}{}", entry.file_name().to_string_lossy());
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && depth < 3 => walk(base, &format!("{name}/"), depth + 1, names),
            _ if Path::new(&name).extension().is_some_and(|e| e == "rules") && names.len() < 1_000 => {
                names.push(name);
            }
            _ => {}
        }
    }
}

/// The shipped rules.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shipped;

impl Files for Shipped {
    fn read(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        let found = shipped::FILES.iter().find(|(name, _)| *name == path);
        found.map(|(_, text)| text.as_bytes().to_vec()).ok_or(ReadError::Missing)
    }

    fn list(&self) -> Vec<String> {
        shipped::FILES.iter().map(|(name, _)| (*name).to_owned()).collect()
    }
}

/// Files in memory, for tests and editors.
#[derive(Clone, Debug, Default)]
pub struct Memory(BTreeMap<String, Vec<u8>>);

impl Memory {
    /// No files.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file.
    #[must_use]
    pub fn with(mut self, path: &str, text: impl Into<Vec<u8>>) -> Self {
        self.0.insert(path.to_owned(), text.into());
        self
    }
}

impl Files for Memory {
    fn read(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        if let Some(bytes) = self.0.get(path) {
            return if bytes.len() as u64 > MAX_FILE { Err(ReadError::TooLarge) } else { Ok(bytes.clone()) };
        }
        let folder = format!("{path}/");
        let is_folder = self.0.keys().any(|k| k.starts_with(&folder));
        Err(if is_folder { ReadError::Folder } else { ReadError::Missing })
    }

    fn list(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }
}

/// A `use` path, taken relative to the file that uses it. `None`: absolute, or above the root.
#[must_use]
pub fn join(user: &str, path: &str) -> Option<String> {
    if path.is_empty() || path.starts_with('/') || path.contains(['\\', '\0', ':']) {
        return None;
    }
    let mut parts: Vec<&str> = user.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_below_the_root() {
        assert_eq!(join("main.rules", "a.rules").as_deref(), Some("a.rules"));
        assert_eq!(join("texts/en.rules", "../a.rules").as_deref(), Some("a.rules"));
        assert_eq!(join("texts/en.rules", "./zh.rules").as_deref(), Some("texts/zh.rules"));
        assert_eq!(join("main.rules", "../a.rules"), None);
        assert_eq!(join("main.rules", "a/../../b.rules"), None);
        assert_eq!(join("main.rules", "/etc/passwd"), None);
    }

    #[cfg(unix)]
    #[test]
    fn devices_are_no_files() {
        let dir = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/dev/zero", dir.path().join("zero.rules")).unwrap();
        let (files, root) = Folder::of_root(&dir.path().join("zero.rules"));
        assert_eq!(files.read(&root), Err(ReadError::Special));
        assert_eq!(open(Path::new("/dev/zero")).unwrap_err().to_string(), ReadError::Special.to_string());
    }

    #[cfg(unix)]
    #[test]
    fn links_do_not_lead_out() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("rules");
        fs::create_dir(&root).unwrap();
        fs::create_dir(root.join("sub")).unwrap();
        fs::write(dir.path().join("secret.rules"), "x").unwrap();
        std::os::unix::fs::symlink(dir.path().join("secret.rules"), root.join("sub/link.rules")).unwrap();
        std::os::unix::fs::symlink(dir.path(), root.join("up")).unwrap();
        let files = Folder::new(&root);
        assert_eq!(files.read("sub/link.rules"), Err(ReadError::Outside));
        assert_eq!(files.read("up/secret.rules"), Err(ReadError::Outside));
        assert_eq!(files.read("sub"), Err(ReadError::Folder));
        assert_eq!(files.read("none.rules"), Err(ReadError::Missing));
    }
}
