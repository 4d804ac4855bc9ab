//! The lists of a host's config, as a run reads them (L1).

use super::request::{AgentRouting, ModelList, Routing};
use crate::{
    config::{AgentModels, Config, ModelChoice, ModelRef},
    state::model::{Candidate, ProfileId},
};

impl From<&Config> for Routing {
    /// Providers that need no credentials are the host's to name ([`Routing::no_credentials`]).
    fn from(config: &Config) -> Self {
        let ids = |ids: &[String]| ids.iter().map(|id| ProfileId(id.as_str().into())).collect();
        let agent = |models: &AgentModels| AgentRouting {
            model: list(models.model.as_ref()),
            image: list(models.image_model.as_ref()),
            heartbeat: models.heartbeat_model.as_ref().map(candidate),
        };
        let defaults = agent(&config.defaults);
        Self {
            model: defaults.model,
            image: defaults.image,
            heartbeat: defaults.heartbeat,
            agents: config.agents.iter().map(|one| (one.id.clone(), agent(&one.models))).collect(),
            order: config.order.iter().map(|(provider, order)| (provider.clone(), ids(order))).collect(),
            profiles: config.profiles.iter().map(|profile| ProfileId(profile.id.as_str().into())).collect(),
            no_credentials: std::collections::BTreeSet::new(),
        }
    }
}

fn list(choice: Option<&ModelChoice>) -> ModelList {
    choice.map_or_else(ModelList::default, |choice| ModelList {
        primary: choice.primary.as_ref().map(candidate),
        fallbacks: choice.fallbacks.as_ref().map(|all| all.iter().map(candidate).collect()),
    })
}

fn candidate(model: &ModelRef) -> Candidate {
    Candidate { provider: model.provider.as_str().into(), model: model.model.as_str().into() }
}
