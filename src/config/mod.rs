//! A host's config file (L): YAML → the part that pointsman reads, with clear errors.
//!
//! Sections that are pointsman's own are strict; everything else of a host's file is passed over,
//! with a hint where a key looks like a misspelt one.

mod error;
mod keys;
mod locate;
mod numbers;
mod read;
mod size;
mod source;
mod walk;

pub use error::{ConfigError, Problem};
pub use numbers::Numbers;
pub(crate) use read::{is_profile_id, section};
pub use source::Outside;
#[cfg(feature = "cli")]
pub(crate) use walk::found_at;
pub(crate) use walk::{Unknown, Walker, parse};

use std::collections::BTreeMap;

/// What pointsman reads of a host's config (L1).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// `auth.profiles`, in the order of the file: metadata, never secrets (C3).
    pub profiles: Vec<ConfiguredProfile>,
    /// `auth.order`, by provider (C5).
    pub order: BTreeMap<String, Vec<String>>,
    /// `agents.defaults`.
    pub defaults: AgentModels,
    /// `agents.list`.
    pub agents: Vec<Agent>,
    /// Every number of the file, by dotted path: what settings of the rules ask for (L2).
    pub numbers: Numbers,
    /// Keys that look misspelt.
    pub hints: Vec<Problem>,
}

/// An entry of `auth.profiles` (C5).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfiguredProfile {
    /// `provider:NAME` (C2).
    pub id: String,
    /// Its provider, if the entry says.
    pub provider: Option<String>,
    /// Its kind in words (`oauth`, `token`, `api_key`), if the entry says.
    pub kind: Option<String>,
    /// The login's e-mail.
    pub email: Option<String>,
}

impl ConfiguredProfile {
    /// The provider that it is for: as it says, else by its id (C2).
    #[must_use]
    pub fn provider(&self) -> &str {
        let by_id = || self.id.split_once(':').map_or(self.id.as_str(), |(provider, _)| provider);
        self.provider.as_deref().unwrap_or_else(by_id)
    }
}

/// The models of the defaults or of one agent (L1).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentModels {
    /// `model` (B1, B2).
    pub model: Option<ModelChoice>,
    /// `imageModel` (G6).
    pub image_model: Option<ModelChoice>,
    /// `heartbeat.model` (B3).
    pub heartbeat_model: Option<ModelRef>,
}

/// An entry of `agents.list` (B2).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agent {
    /// Its id.
    pub id: String,
    /// Its models.
    pub models: AgentModels,
}

/// `model`: a string, or `{primary, fallbacks?}` (B1, B2).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelChoice {
    /// The primary.
    pub primary: Option<ModelRef>,
    /// The fallbacks; a missing list differs from an empty one (B2).
    pub fallbacks: Option<Vec<ModelRef>>,
}

/// `provider/model`; the model may hold further slashes (L1).
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModelRef {
    /// The provider.
    pub provider: String,
    /// The model.
    pub model: String,
}

impl ModelRef {
    /// Reads `provider/model`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (provider, model) = text.trim().split_once('/')?;
        let (provider, model) = (provider.trim(), model.trim());
        let whole = !provider.is_empty() && !model.is_empty();
        whole.then(|| Self { provider: provider.to_owned(), model: model.to_owned() })
    }
}

impl Config {
    /// Reads a config from YAML (or JSON, being YAML). An empty text is an empty config.
    ///
    /// # Errors
    /// [`ConfigError`] with every problem found, each with its line: bad YAML, wrong types, unknown
    /// keys in pointsman's own sections.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        read::config(text)
    }
}
