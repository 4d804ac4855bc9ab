//! `session`: what is stored for a session, and changes of it by hand (B4, C10, K5).

use std::io::Write;

use serde_json::{Value, json};

use super::{
    args::Global,
    escape::{Shown, write_json},
    failure::{Failure, Outcome},
    format::ViewFormat,
    profiles, rulebook,
    statefile::{Seen, StateArgs, ViewArgs},
    world::World,
};
use crate::{
    config::ModelRef,
    lang::{diagnostic::nearest::did_you_mean, policy::SelectionSource},
    run::session as by_hand,
    state::{
        change::Batch,
        model::{Candidate, Session},
        store::Store as _,
        view::ViewQuery,
    },
    table::Table,
};

/// Look at and change what is stored for sessions
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Show a session's model and pinned profiles
    Show {
        /// The session; left out, all of them
        #[arg(value_name = "SESSION")]
        session: Option<String>,
        #[command(flatten)]
        view: ViewArgs,
    },
    /// Choose a session's model or profile, as its user. Both are strict; the profile is held until the
    /// session is reset, the model until the session is new
    Set {
        /// The session
        #[arg(value_name = "SESSION")]
        session: String,
        /// The model
        #[arg(long, value_name = "PROVIDER/MODEL")]
        model: Option<String>,
        /// The profile to pin
        #[arg(long, value_name = "ID")]
        profile: Option<String>,
        #[command(flatten)]
        state: StateArgs,
    },
    /// Forget a session's automatic override and its pins; the user's model stays
    Reset {
        /// The session
        #[arg(value_name = "SESSION")]
        session: String,
        /// Forget the user's model too, as a new conversation does
        #[arg(long)]
        new: bool,
        #[command(flatten)]
        state: StateArgs,
    },
}

pub(super) fn run(
    args: &Args,
    global: &Global,
    world: &World,
    out: &mut dyn Write,
) -> Result<Outcome, Failure> {
    match &args.action {
        Action::Show { session, view } => {
            show(session.as_deref(), view.format, &view.state.look(session.as_deref(), world)?, out)
        }
        Action::Set { session, model, profile, state } => {
            let table = rulebook::load_to_judge(global, world)?;
            set(session, model.as_deref(), profile.as_deref(), state, &table, world)
        }
        Action::Reset { session, new, state } => {
            let table = rulebook::load_to_judge(global, world)?;
            let change = if *new { by_hand::new(table.policy()) } else { by_hand::reset(table.policy()) };
            let store = state.existing(world)?;
            let stored = store.sessions()?;
            if !stored.iter().any(|(id, _)| id == session) {
                return Err(nothing_stored(session, stored.iter().map(|(id, _)| id.as_str())));
            }
            store.apply(&Batch { session: Some(session.clone()), changes: vec![change] }, world.now())?;
            let done = if *new { "new" } else { "reset" };
            world.say(&format!("session `{}` is {done}", Shown(session)));
            Ok(Outcome::Fine)
        }
    }
}

fn nothing_stored<'a>(id: &str, stored: impl Iterator<Item = &'a str>) -> Failure {
    let near = did_you_mean(id, stored).map(|near| format!("; {near}")).unwrap_or_default();
    Failure::Usage(format!("nothing is stored for session `{id}`{near}"))
}

fn show(
    session: Option<&str>,
    format: ViewFormat,
    seen: &Seen,
    out: &mut dyn Write,
) -> Result<Outcome, Failure> {
    let ids = || seen.sessions.iter().map(|(id, _)| id.as_str());
    if let Some(id) = session.filter(|id| !ids().any(|there| there == *id)) {
        return Err(nothing_stored(id, ids()));
    }
    let wanted = seen.sessions.iter().filter(|(id, _)| session.is_none_or(|wanted| wanted == id));
    if format == ViewFormat::Json {
        let all: Vec<_> = wanted.map(|(id, session)| as_json(id, session)).collect();
        let value = match (session, all.as_slice()) {
            (Some(_), [one]) => one.clone(),
            _ => json!({ "sessions": all }),
        };
        write_json(out, &value)?;
        return Ok(Outcome::Fine);
    }
    for (id, session) in wanted {
        writeln!(out, "{}", Shown(id))?;
        for line in lines(session) {
            writeln!(out, "  {}", Shown(&line))?;
        }
    }
    Ok(Outcome::Fine)
}

/// What is stored for a session, for people.
pub(super) fn lines(session: &Session) -> Vec<String> {
    let mut lines = Vec::new();
    match &session.selected {
        None => lines.push("model: as configured".to_owned()),
        Some(there) => {
            let source = match there.source {
                None | Some(SelectionSource::Legacy) => "the user's, stored by an old host".to_owned(),
                Some(SelectionSource::Auto) => {
                    let origin = there.origin.as_ref().map(|origin| full(&origin.candidate));
                    let why = there.reason.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
                    format!("fallback for {}{why}", origin.as_deref().unwrap_or("the configured model"))
                }
                Some(_) => "the user's".to_owned(),
            };
            lines.push(format!("model: {} ({source}, since {})", full(&there.candidate), there.written_at));
        }
    }
    for (provider, pin) in &session.pins {
        let whose = if pin.by_user { "pinned by the user" } else { "preferred" };
        lines.push(format!("{provider}: {} {whose}", pin.profile.0));
    }
    if session.compaction_count > 0 {
        lines.push(format!("compacted {} times", session.compaction_count));
    }
    lines
}

fn as_json(id: &str, session: &Session) -> Value {
    // Fields of the host may hold anything; they are the host's to show.
    let Session { selected, pins, compaction_count, .. } = session;
    json!({ "id": id, "selected": selected, "pins": pins, "compactionCount": compaction_count })
}

fn set(
    session: &str,
    model: Option<&str>,
    profile: Option<&str>,
    state: &StateArgs,
    table: &Table,
    world: &World,
) -> Result<Outcome, Failure> {
    if model.is_none() && profile.is_none() {
        return Err(Failure::Usage("say what to set: --model PROVIDER/MODEL, --profile ID, or both".into()));
    }
    let model = model.map(|text| {
        ModelRef::parse(text)
            .map(|model| Candidate { provider: model.provider.into(), model: model.model.into() })
            .ok_or_else(|| Failure::Usage(format!("`{text}` names no model; write `provider/model`")))
    });
    let model = model.transpose()?;
    let store = state.open(world)?;
    let view = store.view(&ViewQuery { session: Some(session) }, world.now())?;
    let mut changes = Vec::new();
    if let Some(candidate) = model {
        changes.push(by_hand::choose_model(Some(candidate), world.now()));
    }
    if let Some(id) = profile {
        changes.push(by_hand::pin_profile(table, &view.session, profiles::known(&store, id, table, world)?));
    }
    store.apply(&Batch { session: Some(session.to_owned()), changes }, world.now())?;
    world.say(&format!("session `{}` is set", Shown(session)));
    Ok(Outcome::Fine)
}

/// `provider/model`.
pub(super) fn full(candidate: &Candidate) -> String {
    format!("{}/{}", candidate.provider, candidate.model)
}
