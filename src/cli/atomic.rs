//! Files that are never half written.

use std::{
    fs,
    io::{self, Write as _},
    path::Path,
};

use super::failure::Failure;

/// Replaces a file by way of a new one beside it, so that a reader (or a crash) sees the old text or
/// the new one. Permissions stay; a link's target is replaced, not the link.
///
/// # Errors
/// When the file is read-only or has more than one name, the folder cannot be written to, or the disk
/// is full; the old file is then untouched.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let failed = |error| Failure::Write { path: path.to_owned(), error };
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut beside = target.clone().into_os_string();
    beside.push(format!(".{}.new", std::process::id()));
    let old = fs::metadata(&target).ok();
    if let Some(why) = old.as_ref().and_then(kept_as_it_is) {
        return Err(failed(io::Error::other(why)));
    }
    let written = (|| {
        let mut file = fs::File::create_new(&beside)?;
        file.write_all(bytes)?;
        if let Some(old) = old {
            file.set_permissions(old.permissions())?;
        }
        file.sync_all()?;
        fs::rename(&beside, &target)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written.map_err(failed)
}

/// Why a file must not be replaced: a new file beside it would get around its permissions, and part it
/// from its other names.
fn kept_as_it_is(old: &fs::Metadata) -> Option<&'static str> {
    if old.permissions().readonly() {
        return Some("it is read-only; `chmod u+w` lets it be written");
    }
    #[cfg(unix)]
    if std::os::unix::fs::MetadataExt::nlink(old) > 1 {
        return Some(
            "it has more than one name (hard links), and replacing it would part them; make it a file of its own",
        );
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_nothing_else_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.rules");
        write(&path, b"one").unwrap();
        write(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(write(&folder.path().join("missing/a.rules"), b"x").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn permissions_and_links_stay() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("a.rules"), folder.path().join("b.rules"));
        fs::write(&path, "one").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&path, &link).unwrap();
        write(&link, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert!(link.is_symlink());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    }
}
