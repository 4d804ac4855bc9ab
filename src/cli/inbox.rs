//! `inbox`: errors that no rule matched, and drafts of rules for them.

mod show;
mod suggest;

use std::io::Write;

use serde_json::json;

use super::{
    args::Global,
    escape::write_json,
    failure::{Failure, Outcome},
    format::ViewFormat,
    statefile::{StateArgs, ViewArgs},
    world::World,
};
use crate::{
    lang::diagnostic::counted,
    state::{
        inbox::{Entry, Inbox, Records as _},
        store::Store as _,
    },
};

/// Look at errors that no rule matched, and draft rules for them
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// List the errors, the latest last, and how often each came
    List {
        #[command(flatten)]
        view: ViewArgs,
    },
    /// Show all that is kept of one error
    Show {
        /// Its number
        #[arg(value_name = "N")]
        id: u64,
        #[command(flatten)]
        view: ViewArgs,
    },
    /// Draft a rule and its example for one error, tried on a corpus before it is shown
    Suggest(suggest::Args),
    /// Drop errors from the inbox
    Drop {
        /// Their numbers
        #[arg(value_name = "N")]
        ids: Vec<u64>,
        /// All of them
        #[arg(long, conflicts_with = "ids")]
        all: bool,
        #[command(flatten)]
        state: StateArgs,
    },
    /// Print errors as JSON lines that `classify` and `--corpus` read
    Export {
        /// Their numbers; left out, all of them
        #[arg(value_name = "N")]
        ids: Vec<u64>,
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
        Action::List { view } => {
            let inbox = load(&view.state, world)?;
            match view.format {
                ViewFormat::Human => show::list(&inbox, world, out)?,
                ViewFormat::Json => {
                    let entries: Vec<_> = inbox.entries.iter().map(show::json).collect();
                    write_json(out, &json!({ "entries": entries, "dropped": inbox.dropped }))?;
                }
            }
        }
        Action::Show { id, view } => {
            let inbox = load(&view.state, world)?;
            let entry = entry(&inbox, *id)?;
            match view.format {
                ViewFormat::Human => show::entry(entry, out)?,
                ViewFormat::Json => write_json(out, &show::json(entry))?,
            }
        }
        Action::Suggest(args) => return suggest::run(args, global, world, out),
        Action::Drop { ids, all, state } => drop_entries(ids, *all, state, world)?,
        Action::Export { ids, state } => {
            let inbox = load(state, world)?;
            for id in ids {
                entry(&inbox, *id)?;
            }
            for entry in inbox.entries.iter().filter(|entry| ids.is_empty() || ids.contains(&entry.id)) {
                write_json(out, &show::line(entry))?;
            }
        }
    }
    Ok(Outcome::Fine)
}

fn load(state: &StateArgs, world: &World) -> Result<Inbox, Failure> {
    match state.reader(world)? {
        Some(store) => Ok(store.inbox()?),
        None => Ok(Inbox::default()),
    }
}

fn entry(inbox: &Inbox, id: u64) -> Result<&Entry, Failure> {
    inbox.entries.iter().find(|entry| entry.id == id).ok_or_else(|| {
        Failure::Usage(format!("the inbox has no entry {id}; `pointsman inbox list` shows what it has"))
    })
}

fn drop_entries(ids: &[u64], all: bool, state: &StateArgs, world: &World) -> Result<(), Failure> {
    if ids.is_empty() && !all {
        let why = "say which errors to drop: their numbers, as `pointsman inbox list` shows them, or `--all`";
        return Err(Failure::Usage(why.into()));
    }
    let store = state.existing(world)?;
    let inbox = store.inbox()?;
    for id in ids {
        entry(&inbox, *id)?;
    }
    let ids: Vec<u64> = if all { inbox.entries.iter().map(|entry| entry.id).collect() } else { ids.to_vec() };
    let dropped = store.drop_entries(&ids)?;
    store.flush()?;
    world.say(&format!("{} dropped", counted(dropped, "entry")));
    Ok(())
}
