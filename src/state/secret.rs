//! Secrets at the moment of use: given, in the environment, or in a file (C8).

use std::{
    io::{self, Read},
    path::{Path, PathBuf},
};

pub(super) use secrecy::zeroize::Zeroizing;
use secrecy::{ExposeSecret, SecretString};

use super::model::Secret;
use crate::lang::load::files::open;

/// A secret file longer than this is none.
const LONGEST: u64 = 64 * 1024;

/// Where referred secrets are read (C8). The environment is behind this trait so that only a driver
/// touches it.
pub trait SecretSource {
    /// The environment variable `name`.
    fn env(&self, name: &str) -> Option<SecretString>;

    /// The file at `path`, without the line break at its end.
    ///
    /// # Errors
    /// When it is a pipe, a device or a socket, which may never end or never begin; when it cannot be
    /// read, is not UTF-8, or is longer than 64 KiB.
    fn file(&self, path: &Path) -> io::Result<SecretString> {
        let mut text = Zeroizing::new(String::new());
        open(path)?.take(LONGEST + 1).read_to_string(&mut text)?;
        if text.len() as u64 > LONGEST {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "longer than 64 KiB"));
        }
        Ok(SecretString::from(text.trim_end_matches(['\n', '\r'])))
    }
}

/// Why a secret cannot be had (C8).
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// The variable is not set.
    #[error("the environment variable `{0}` is not set, and a profile takes its secret from there")]
    Env(String),
    /// The file cannot be read.
    #[error("the file `{path}` cannot be read ({detail}), and a profile takes its secret from there", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        detail: String,
    },
    /// The source panicked.
    #[error("the source of the secret broke off; look into the host's own log")]
    BrokenOff,
    /// There is nothing in it.
    #[error("the secret from `{0}` is empty")]
    Empty(String),
    /// There is a line break or another control character in it; no key has one, and no header takes it.
    #[error(
        "the secret from `{0}` has a line break or another control character in it; give the key alone, on one line"
    )]
    Control(String),
}

impl Secret {
    /// Reads `env:NAME` and `file:PATH` as references and anything else as the secret itself.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        match text.split_once(':') {
            Some(("env", name)) if is_variable(name) => Self::Env(name.to_owned()),
            Some(("file", path)) if !path.is_empty() => Self::File(PathBuf::from(path)),
            _ => Self::Direct(SecretString::from(text)),
        }
    }

    /// The secret itself (C8).
    ///
    /// # Errors
    /// [`SecretError`] when the place that it refers to holds none.
    pub fn resolve(&self, source: &dyn SecretSource) -> Result<SecretString, SecretError> {
        let (found, place) = match self {
            Self::Direct(secret) => (secret.clone(), "the state".to_owned()),
            Self::Env(name) => {
                let found = source.env(name).ok_or_else(|| SecretError::Env(name.clone()))?;
                (found, format!("env:{name}"))
            }
            Self::File(path) => {
                let failed =
                    |error: io::Error| SecretError::File { path: path.clone(), detail: error.to_string() };
                (source.file(path).map_err(failed)?, format!("file:{}", path.display()))
            }
        };
        let secret = found.expose_secret();
        if secret.trim().is_empty() {
            return Err(SecretError::Empty(place));
        }
        if !is_one_line(secret) {
            return Err(SecretError::Control(place));
        }
        Ok(found)
    }
}

/// Whether nothing in a secret breaks a line, or is a control character of another kind (C8).
#[must_use]
pub fn is_one_line(secret: &str) -> bool {
    !secret.chars().any(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}'))
}

fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
