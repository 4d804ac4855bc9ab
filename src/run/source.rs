//! Where the selection of a run comes from (A1, B).

use super::request::{Choice, Kind, Request, Routing};
use crate::{
    lang::policy::SelectionSource,
    state::model::{Candidate, Origin, Session},
};

/// The selection that a run starts from (A1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selected {
    /// The model.
    pub candidate: Candidate,
    /// Who chose it.
    pub source: SelectionSource,
    /// The job's own list (B6).
    pub job: Option<Vec<Candidate>>,
    /// Where it was found.
    pub place: Place,
    /// The origin that an automatic override of this run remembers (B3): this selection itself, or
    /// the origin of the override that it starts from.
    pub origin: Origin,
}

/// Where a selection was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// In the request: a one-off choice, a job's model, a heartbeat's.
    Request,
    /// In the session.
    Session,
    /// In the config, or in the host's own idea of it.
    Config,
}

impl Selected {
    fn new(candidate: &Candidate, source: SelectionSource, job: Option<&[Candidate]>, place: Place) -> Self {
        let job = job.map(<[Candidate]>::to_vec);
        let origin = Origin { candidate: candidate.clone(), source, fallbacks: job.clone() };
        Self { candidate: candidate.clone(), source, job, place, origin }
    }
}

/// The selection of a run; `None` when nothing names a model.
///
/// The request's own model (a one-off choice, a job's, a heartbeat's) comes first, then what the
/// session holds, then the host's own idea (K2), the agent's primary, the configured default.
#[must_use]
pub fn select(request: &Request, routing: &Routing, session: &Session) -> Option<Selected> {
    let choice = request.choice.as_ref();
    if let Some(choice) = choice.filter(|choice| request.heartbeat || firm(choice)) {
        let chosen = chosen(choice, Place::Request);
        return Some(went_on(request, session, &chosen).unwrap_or(chosen));
    }
    if request.kind == Kind::Text {
        if request.heartbeat
            && let Some(model) = routing.heartbeat(request.agent.as_deref())
        {
            return Some(Selected::new(model, configured_source(request, routing), None, Place::Request));
        }
        if let Some(stored) = stored(request, routing, session) {
            return Some(stored);
        }
    }
    choice.map(|choice| chosen(choice, Place::Config)).or_else(|| configured(request, routing))
}

/// The configured selection: the agent's primary (B2), else the default's (B1).
pub(super) fn configured(request: &Request, routing: &Routing) -> Option<Selected> {
    let agent = routing.agent(request.agent.as_deref(), request.kind).and_then(|list| list.primary.as_ref());
    let primary = agent.or(routing.defaults(request.kind).primary.as_ref())?;
    Some(Selected::new(primary, configured_source(request, routing), None, Place::Config))
}

fn configured_source(request: &Request, routing: &Routing) -> SelectionSource {
    match routing.agent(request.agent.as_deref(), request.kind) {
        Some(_) => SelectionSource::Agent,
        None => SelectionSource::Default,
    }
}

/// Whether a choice beats what the session holds.
fn firm(choice: &Choice) -> bool {
    !matches!(choice.source, SelectionSource::Default | SelectionSource::Agent)
}

fn chosen(choice: &Choice, place: Place) -> Selected {
    Selected::new(&choice.candidate, choice.source, choice.fallbacks.as_deref(), place)
}

/// B3: a job goes on from the automatic override that its session holds, if that came from the same
/// model and list of the job.
fn went_on(request: &Request, session: &Session, job: &Selected) -> Option<Selected> {
    let stored = session.selected.as_ref().filter(|_| request.kind == Kind::Text)?;
    let its = job.source == SelectionSource::Cron
        && stored.source == Some(SelectionSource::Auto)
        && stored.origin.as_ref() == Some(&job.origin);
    let mut selected = Selected::new(&stored.candidate, SelectionSource::Auto, None, Place::Session);
    selected.origin = job.origin.clone();
    its.then_some(selected)
}

/// What the session holds; a stored model without a source is the user's (B5).
fn stored(request: &Request, routing: &Routing, session: &Session) -> Option<Selected> {
    let stored = session.selected.as_ref()?;
    let source = stored.source.unwrap_or(SelectionSource::Legacy);
    let mut selected = Selected::new(&stored.candidate, source, None, Place::Session);
    if source == SelectionSource::Auto {
        let origin = stored.origin.clone().or_else(|| configured(request, routing).map(|c| c.origin));
        selected.origin = origin.unwrap_or(selected.origin);
    }
    Some(selected)
}
