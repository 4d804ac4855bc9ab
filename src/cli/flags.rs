//! One error, given by flags.

use std::path::PathBuf;

use super::{failure::Failure, input, jsonl};
use crate::signal::{Aborted, Signal};

/// An error, described by flags instead of a file
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "One error from flags")]
pub(super) struct ErrorFlags {
    /// Its message
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,
    /// HTTP status
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(100..1000))]
    status: Option<u16>,
    /// Error code
    #[arg(long, value_name = "TEXT")]
    code: Option<String>,
    /// Error type, or the class of an exception
    #[arg(long = "type", value_name = "TEXT")]
    error_type: Option<String>,
    /// The provider that was called
    #[arg(long, value_name = "ID")]
    provider: Option<String>,
    /// The model that was asked for
    #[arg(long, value_name = "ID")]
    model: Option<String>,
    /// A response header; may be repeated
    #[arg(long = "header", value_name = "NAME:VALUE", value_parser = header)]
    headers: Vec<(String, String)>,
    /// A file with the response's body; `-` is stdin
    #[arg(long, value_name = "FILE")]
    body: Option<PathBuf>,
    /// Who cut the attempt off: user, host or deadline
    #[arg(long, value_name = "WHO", value_parser = jsonl::aborted)]
    aborted: Option<Aborted>,
}

impl ErrorFlags {
    /// Whether any of them describes an error. The provider and the model alone do not.
    fn describes_one(&self) -> bool {
        self.message.is_some()
            || self.status.is_some()
            || self.code.is_some()
            || self.error_type.is_some()
            || self.body.is_some()
            || self.aborted.is_some()
            || !self.headers.is_empty()
    }

    /// The code, when it is all that is given.
    pub(super) fn lone_code(&self) -> Option<&str> {
        let rest = Self { code: None, ..self.clone() };
        self.code.as_deref().filter(|_| !rest.describes_one())
    }

    /// Whether only the provider or the model is given; they then stand for every line of input
    /// that names none.
    pub(super) fn defaults(&self) -> (Option<&str>, Option<&str>) {
        (self.provider.as_deref(), self.model.as_deref())
    }

    /// The error that the flags describe, if they do. A body beside a message is its detail.
    ///
    /// # Errors
    /// When the body cannot be read.
    pub(super) fn signal(&self) -> Result<Option<Signal>, Failure> {
        if !self.describes_one() {
            return Ok(None);
        }
        let body = self.body.as_deref().map(input::text).transpose()?;
        let (message, details) = match (&self.message, body) {
            (Some(message), body) => (Some(message.clone()), body.into_iter().collect()),
            (None, body) => (body, Vec::new()),
        };
        Ok(Some(Signal {
            provider: self.provider.clone(),
            model: self.model.clone(),
            status: self.status,
            code: self.code.clone(),
            error_type: self.error_type.clone(),
            param: None,
            message,
            details,
            headers: self.headers.clone(),
            aborted: self.aborted,
            received_at: None,
        }))
    }
}

fn header(text: &str) -> Result<(String, String), String> {
    match text.split_once(':') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("write it like `retry-after: 30`".into()),
    }
}
