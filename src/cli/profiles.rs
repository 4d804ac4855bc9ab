//! `profiles`: the stored credentials.

mod add;
mod list;

pub(super) use list::kind;

use std::io::Write;

use super::{
    args::Global,
    failure::{Failure, Outcome},
    rulebook,
    statefile::StateArgs,
    world::World,
};
use crate::{
    lang::diagnostic::nearest::did_you_mean,
    state::{
        change::{Batch, Change},
        model::ProfileId,
        store::Store,
        view::ViewQuery,
    },
    table::Table,
};

/// Look at and change the stored credentials
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    List(list::Args),
    Add(add::Args),
    /// Remove a profile with its secret and its usage
    Remove {
        /// The profile, `provider:NAME`
        #[arg(value_name = "ID")]
        id: String,
        #[command(flatten)]
        state: StateArgs,
    },
    /// End the windows of a profile by hand, and forget its failures
    Clear {
        /// The profile, `provider:NAME`; left out, all of them
        #[arg(value_name = "ID")]
        id: Option<String>,
        /// Only what concerns this model (the bare id)
        #[arg(long, value_name = "MODEL")]
        model: Option<String>,
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
        Action::List(args) => list::run(args, world, out),
        Action::Add(args) => add::run(args, global, world),
        Action::Remove { id, state } => {
            let store = state.existing(world)?;
            let id = known(&store, id, &rulebook::load_to_judge(global, world)?, world)?;
            store.remove_profile(&id)?;
            world.say(&format!("`{}` is removed", super::escape::Shown(&id.0)));
            Ok(Outcome::Fine)
        }
        Action::Clear { id, model, state } => {
            let store = state.existing(world)?;
            let profile = id
                .as_deref()
                .map(|id| known(&store, id, &rulebook::load_to_judge(global, world)?, world))
                .transpose()?;
            let who = profile.as_ref().map_or_else(|| "every profile".to_owned(), |id| format!("`{}`", id.0));
            let change = Change::Clear { profile, model: model.clone() };
            store.apply(&Batch { session: None, changes: vec![change] }, world.now())?;
            world.say(&super::escape::Shown(&format!("the windows of {who} are cleared")).to_string());
            Ok(Outcome::Fine)
        }
    }
}

/// A stored profile by its id, or by its legacy one (C2).
pub(super) fn known(store: &dyn Store, id: &str, table: &Table, world: &World) -> Result<ProfileId, Failure> {
    let view = store.view(&ViewQuery::default(), world.now())?;
    let ids = || view.profiles.iter().map(|profile| &profile.info.id);
    let wanted = ProfileId(id.into());
    let exact = ids().find(|there| **there == wanted);
    let family = |a: &str, b: &str| table.same_provider(a, b);
    let found = exact.or_else(|| ids().find(|there| there.same(&wanted, &family)));
    found.cloned().ok_or_else(|| {
        let near = did_you_mean(id, ids().map(|id| id.0.as_str()));
        let near = near.unwrap_or_else(|| "`pointsman profiles list` shows what is stored".to_owned());
        Failure::Usage(format!("no stored profile is called `{id}`; {near}"))
    })
}
