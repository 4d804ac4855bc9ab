//! Secrets at the moment of use: given, in the environment, or in a file (C8).

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

pub(super) use secrecy::zeroize::Zeroizing;
use secrecy::{ExposeSecret, SecretString};

use super::model::Secret;

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
    /// When it cannot be read, is not UTF-8, or is longer than 64 KiB.
    fn file(&self, path: &Path) -> io::Result<SecretString> {
        let mut text = Zeroizing::new(String::new());
        File::open(path)?.take(LONGEST + 1).read_to_string(&mut text)?;
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
    /// There is nothing in it.
    #[error("the secret from `{0}` is empty")]
    Empty(String),
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
        if found.expose_secret().trim().is_empty() { Err(SecretError::Empty(place)) } else { Ok(found) }
    }
}

fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
