//! What may stand at the path of a state file, and who may open it (J6).

use std::{fs, path::Path};

use crate::state::store::StoreError;

/// Refuses what is there and is no file, before anything waits for it or changes it.
pub(super) fn only_a_file(path: &Path) -> Result<(), StoreError> {
    let what = match fs::metadata(path) {
        Ok(there) if there.is_dir() => "a folder",
        Ok(there) if !there.is_file() => "a pipe, a device or a socket",
        _ => return Ok(()),
    };
    Err(StoreError::Special { path: path.to_owned(), what })
}

/// Takes a recognised file, and the journal beside it, from everybody but its owner. Only the owner can;
/// for anyone else the file opens or does not.
#[cfg(unix)]
pub(super) fn tighten(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    // The journal lies beside the file, not beside a link to it.
    let Ok(path) = path.canonicalize() else { return };
    for end in ["", "-wal", "-shm"] {
        let mut beside = path.as_os_str().to_owned();
        beside.push(end);
        let Ok(there) = fs::symlink_metadata(&beside) else { continue };
        let mode = there.permissions().mode();
        if there.is_file() && mode & 0o077 != 0 {
            drop(fs::set_permissions(beside, fs::Permissions::from_mode(mode & 0o600)));
        }
    }
}

#[cfg(not(unix))]
pub(super) const fn tighten(_: &Path) {}
