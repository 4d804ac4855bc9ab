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
    /// What is there is no secret.
    #[error("the secret from `{place}` {flaw}")]
    Flawed {
        /// Where it is.
        place: String,
        /// Why it is none.
        flaw: Flaw,
    },
}

/// Why a text is no secret (C8): refused wherever one is stored, and when it is read for use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// There is nothing in it.
    #[error("is empty")]
    Empty,
    /// There is a line break or another control character in it; no key has one, and no header takes it.
    #[error("has a line break or another control character in it; give the key alone, on one line")]
    Control,
    /// It begins like a reference and is none: `env:` alone, say.
    #[error(
        "begins like a reference and is none; one is `env:NAME`, of letters, digits and `_`, or `file:PATH`"
    )]
    Reference,
}

impl Flaw {
    /// What is wrong with a secret, if anything is.
    #[must_use]
    pub fn of(secret: &str) -> Option<Self> {
        let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
        if secret.trim().is_empty() {
            return Some(Self::Empty);
        }
        if secret.contains(breaks) {
            return Some(Self::Control);
        }
        let scheme = secret.split_once(':').map_or("", |(scheme, _)| scheme.trim());
        let refers = ["env", "file"].iter().any(|to| scheme.eq_ignore_ascii_case(to));
        (refers && matches!(Secret::parse(secret), Secret::Direct(_))).then_some(Self::Reference)
    }
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

    /// What is wrong with a secret that is given; a reference is looked at when it is read (C8).
    #[must_use]
    pub fn flaw(&self) -> Option<Flaw> {
        match self {
            Self::Direct(secret) => Flaw::of(secret.expose_secret()),
            Self::Env(_) | Self::File(_) => None,
        }
    }

    /// The secret itself (C8).
    ///
    /// # Errors
    /// [`SecretError`] when the place that it refers to holds none.
    pub fn resolve(&self, source: &dyn SecretSource) -> Result<SecretString, SecretError> {
        let found = match self {
            Self::Direct(secret) => secret.clone(),
            Self::Env(name) => source.env(name).ok_or_else(|| SecretError::Env(name.clone()))?,
            Self::File(path) => {
                let failed =
                    |error: io::Error| SecretError::File { path: path.clone(), detail: error.to_string() };
                source.file(path).map_err(failed)?
            }
        };
        match Flaw::of(found.expose_secret()) {
            Some(flaw) => Err(SecretError::Flawed { place: self.place(), flaw }),
            None => Ok(found),
        }
    }

    /// Where it is, for a person.
    fn place(&self) -> String {
        match self {
            Self::Direct(_) => "the state".to_owned(),
            Self::Env(name) => format!("env:{name}"),
            Self::File(path) => format!("file:{}", path.display()),
        }
    }
}

fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
