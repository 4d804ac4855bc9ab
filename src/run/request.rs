//! What a run is asked for, and the lists of models that a host's config holds.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    lang::policy::SelectionSource,
    state::{
        model::{Candidate, ProfileId},
        select::SameFamily,
    },
};

/// One turn of a host (A1).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The conversation; without one nothing of a session is read or written.
    pub session: Option<String>,
    /// The agent whose lists count; `None`: the defaults alone.
    pub agent: Option<String>,
    /// Text or image: each has lists of its own (G6).
    pub kind: Kind,
    /// The model that this turn asks for; `None`: what the session holds, else what the config says.
    pub choice: Option<Choice>,
    /// A heartbeat turn (B3, K1). Its own model, if it has one, is looked up in the config when
    /// `choice` is `None`.
    pub heartbeat: bool,
}

/// Which lists a run uses (G6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `agents.defaults.model`.
    #[default]
    Text,
    /// `agents.defaults.imageModel`. Such a run neither reads nor writes the session's selection.
    Image,
}

/// A model that comes with the request and not from the session (B4, B6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The model.
    pub candidate: Candidate,
    /// Whose choice it is: `User` is a one-off choice, strict and not stored (B4); `Cron` a job's
    /// primary (B6); `Default` and `Agent` are a host's own idea, which a stored selection beats (K2).
    pub source: SelectionSource,
    /// The job's own list (B6); `Some(vec![])` is strict (G5).
    pub fallbacks: Option<Vec<Candidate>>,
}

/// The part of a host's config that routes runs (L1), resolved to plain lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Routing {
    /// `agents.defaults.model` (B1).
    pub model: ModelList,
    /// `agents.defaults.imageModel` (G6).
    pub image: ModelList,
    /// `agents.defaults.heartbeat.model`.
    pub heartbeat: Option<Candidate>,
    /// `agents.list[]`, by id.
    pub agents: BTreeMap<String, AgentRouting>,
    /// `auth.order`, by provider (C5).
    pub order: BTreeMap<String, Vec<ProfileId>>,
    /// Ids of `auth.profiles`, in the order of the file (C5).
    pub profiles: Vec<ProfileId>,
    /// Providers that need no credential; they are called with no profile.
    pub no_credentials: BTreeSet<String>,
}

/// One agent's own lists (B2).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentRouting {
    /// `agents.list[].model`.
    pub model: ModelList,
    /// `agents.list[].imageModel`.
    pub image: ModelList,
    /// `agents.list[].heartbeat.model`.
    pub heartbeat: Option<Candidate>,
}

/// A `model` object of the config: `{ primary, fallbacks? }` (L1).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelList {
    /// The primary.
    pub primary: Option<Candidate>,
    /// The fallbacks; a missing list differs from an empty one (B2).
    pub fallbacks: Option<Vec<Candidate>>,
}

impl ModelList {
    /// Whether the config says nothing here.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.primary.is_none() && self.fallbacks.is_none()
    }
}

impl Routing {
    /// The defaults' list for a kind of run.
    #[must_use]
    pub const fn defaults(&self, kind: Kind) -> &ModelList {
        match kind {
            Kind::Text => &self.model,
            Kind::Image => &self.image,
        }
    }

    /// The agent's own list for a kind of run, if it has one.
    #[must_use]
    pub fn agent(&self, agent: Option<&str>, kind: Kind) -> Option<&ModelList> {
        let agent = self.agents.get(agent?)?;
        let list = match kind {
            Kind::Text => &agent.model,
            Kind::Image => &agent.image,
        };
        (!list.is_empty()).then_some(list)
    }

    /// The order of a provider's profiles, also one that stands under its legacy name (C2, C5).
    #[must_use]
    pub fn order_of(&self, provider: &str, family: SameFamily<'_>) -> Option<&[ProfileId]> {
        let by_other_name = || self.order.iter().find(|(of, _)| family(of, provider));
        let order = self.order.get(provider).or_else(|| by_other_name().map(|(_, order)| order));
        order.map(Vec::as_slice)
    }

    /// The heartbeat's own model: the agent's, else the defaults' (B3).
    #[must_use]
    pub fn heartbeat(&self, agent: Option<&str>) -> Option<&Candidate> {
        let own = agent.and_then(|agent| self.agents.get(agent)).and_then(|agent| agent.heartbeat.as_ref());
        own.or(self.heartbeat.as_ref())
    }
}
