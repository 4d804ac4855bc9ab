//! The candidate chain of a run (B, G). Pure: lists in, list out.

use super::{
    request::{Request, Routing},
    source::Selected,
};
use crate::{
    lang::policy::{Fallbacks, Policy, SelectionSource, SourcePolicy},
    state::model::{Candidate, Origin},
};

/// The candidates of a run in order, none twice (G2).
///
/// G7, with F the configured fallbacks and P the configured primary: default `[P]+F`; cron X
/// `[X]+F+[P]`; agent or cron X with its own list L `[X]+L`; strict `[X]`; auto at F2
/// `[F2]+(F without F2)+[P]`, P being that of the list's owner.
#[must_use]
pub fn chain(policy: &Policy, routing: &Routing, request: &Request, selected: &Selected) -> Vec<Candidate> {
    let owner = match source(policy, selected.source) {
        Some(SourcePolicy { fallbacks: Fallbacks::OfOrigin, .. }) => {
            of_origin(policy, routing, request, selected)
        }
        slot => followers(slot, routing, request, selected.source, selected.job.as_deref()),
    };
    let rest = owner.fallbacks.iter().chain(owner.primary);
    let mut chain = Vec::with_capacity(owner.fallbacks.len() + 2);
    for candidate in std::iter::once(&selected.candidate).chain(rest) {
        if !chain.contains(candidate) {
            chain.push(candidate.clone());
        }
    }
    chain
}

/// The slot of a source; `None` when no rule fills it, which is strict.
pub(super) fn source(policy: &Policy, source: SelectionSource) -> Option<SourcePolicy> {
    policy.sources.get(source as usize)?.as_ref().map(|slot| slot.node)
}

/// What follows the selected model.
struct Followers<'a> {
    fallbacks: &'a [Candidate],
    /// The primary at the end (G4).
    primary: Option<&'a Candidate>,
}

fn followers<'a>(
    slot: Option<SourcePolicy>,
    routing: &'a Routing,
    request: &Request,
    source: SelectionSource,
    job: Option<&'a [Candidate]>,
) -> Followers<'a> {
    let none = Followers { fallbacks: &[], primary: None };
    let Some(slot) = slot else { return none };
    let own = match source {
        SelectionSource::Cron => job,
        _ => routing
            .agent(request.agent.as_deref(), request.kind)
            .and_then(|agent| agent.fallbacks.as_deref())
            .or(job),
    };
    let own = own.map(|fallbacks| Followers { fallbacks, primary: None });
    let defaults = routing.defaults(request.kind);
    let configured = || Followers {
        fallbacks: defaults.fallbacks.as_deref().unwrap_or_default(),
        primary: defaults.primary.as_ref().filter(|_| slot.then_primary),
    };
    match slot.fallbacks {
        Fallbacks::Strict | Fallbacks::OfOrigin => none,
        Fallbacks::Configured => configured(),
        Fallbacks::OwnElseNone => own.unwrap_or(none),
        Fallbacks::OwnElseConfigured => own.unwrap_or_else(configured),
    }
}

/// The chain of the selection that an automatic override came from goes on (B3). Its list's owner
/// has its primary at the end: the default's, or else the origin itself.
fn of_origin<'a>(
    policy: &Policy,
    routing: &'a Routing,
    request: &Request,
    selected: &'a Selected,
) -> Followers<'a> {
    let Origin { candidate, source: from, fallbacks } = &selected.origin;
    let mut followers = followers(source(policy, *from), routing, request, *from, fallbacks.as_deref());
    let configured = followers.primary.is_some()
        || source(policy, *from).is_some_and(|slot| slot.fallbacks == Fallbacks::Configured);
    followers.primary =
        if configured { routing.defaults(request.kind).primary.as_ref() } else { Some(candidate) };
    followers
}
