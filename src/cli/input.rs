//! Where a command's input comes from.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use super::{failure::Failure, lines::LONGEST, world::World};
use crate::lang::load::files;

/// A file, or stdin.
pub(super) struct Input {
    name: PathBuf,
    reader: Box<dyn Read + Send>,
}

impl Input {
    /// Opens FILE; none or `-` is stdin.
    ///
    /// # Errors
    /// When it cannot be opened, or is a folder.
    pub(super) fn open(path: Option<&Path>, world: &World) -> Result<Self, Failure> {
        let Some(path) = path.filter(|path| path.as_os_str() != "-") else {
            if world.stdin_terminal {
                world.say("reading errors from the keyboard, one a line; Ctrl-D ends");
            }
            return Ok(Self { name: "stdin".into(), reader: Box::new(io::stdin()) });
        };
        let failed = |error| Failure::Read { path: path.to_owned(), error };
        let file = File::open(path).map_err(failed)?;
        if file.metadata().map_err(failed)?.is_dir() {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        Ok(Self { name: path.to_owned(), reader: Box::new(file) })
    }

    /// The bytes, and how to speak of a failure to read them.
    pub(super) fn into_parts(self) -> (Box<dyn Read + Send>, impl Fn(io::Error) -> Failure) {
        let name = self.name;
        (self.reader, move |error| Failure::Read { path: name.clone(), error })
    }
}

/// The text of a whole file (or of stdin, as `-`), as much of it as any line may hold. What is not
/// UTF-8 is replaced.
///
/// # Errors
/// When it cannot be read, or is a folder, a pipe, a device or a socket.
pub(super) fn text(path: &Path) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(LONGEST).unwrap_or(u64::MAX);
    let read = if path.as_os_str() == "-" {
        io::stdin().lock().take(limit).read_to_end(&mut bytes)
    } else {
        files::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes))
    };
    read.map_err(|error| Failure::Read { path: path.to_owned(), error })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
