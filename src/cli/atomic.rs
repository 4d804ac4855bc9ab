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
    remove_stale(&target);
    let old = fs::metadata(&target).ok();
    if let Some(why) = old.as_ref().and_then(kept_as_it_is) {
        return Err(failed(io::Error::other(why)));
    }
    let written = (|| {
        let mut file = fs::File::create_new(&beside)?;
        // Where locks are to be had, it tells others that its writer lives.
        let _ = file.try_lock();
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

/// Removes what writers of the same file left beside it when they were killed. One whose process is there, or
/// that is still locked, is left alone.
fn remove_stale(target: &Path) {
    let (Some(folder), Some(name)) = (target.parent(), target.file_name()) else { return };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let (Some(name), Ok(entries)) = (name.to_str(), fs::read_dir(folder)) else { return };
    for entry in entries.flatten() {
        let file = entry.file_name();
        let middle = file.to_str().and_then(|file| file.strip_prefix(name)?.strip_prefix('.'));
        let process = middle.and_then(|rest| rest.strip_suffix(".new")?.parse::<u32>().ok());
        let plain = entry.file_type().is_ok_and(|kind| kind.is_file());
        if plain && process.is_some_and(is_gone) && is_unlocked(&entry.path()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Whether a process has ended. Where that cannot be told, the lock alone tells.
fn is_gone(process: u32) -> bool {
    let processes = Path::new("/proc");
    process != std::process::id()
        && !(processes.join("self").exists() && processes.join(process.to_string()).exists())
}

fn is_unlocked(path: &Path) -> bool {
    fs::OpenOptions::new().write(true).open(path).is_ok_and(|file| file.try_lock().is_ok())
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

    #[test]
    fn what_a_killed_writer_left_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        // No process has so high a number.
        let dead = 4_294_967_294_u32;
        let (left, held) = (format!("a.rules.{dead}.new"), format!("a.rules.{}.new", dead - 1));
        let kept =
            [&held, "b.rules.4294967294.new", "a.rules.x.new", "a.rules.new", "a.rules.4294967294.new.bak"];
        for name in kept.into_iter().chain([left.as_str()]) {
            fs::write(path(name), "half").unwrap();
        }
        let writer = fs::File::open(path(&held)).unwrap();
        writer.try_lock().unwrap();
        write(&path("a.rules"), b"whole").unwrap();
        assert!(!path(&left).exists());
        for name in kept {
            assert!(path(name).exists(), "{name}");
        }
        assert_eq!(fs::read(path("a.rules")).unwrap(), b"whole");
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
