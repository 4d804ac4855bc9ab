//! `status`: what is selected and why, every profile, and the settings in force (C8, J5, L2).

mod gather;
mod human;
mod rules;

use std::{io::Write, path::PathBuf};

use super::{
    args::Global,
    escape::write_json,
    failure::{Failure, Outcome},
    format::ViewFormat,
    input, rulebook,
    statefile::ViewArgs,
    world::World,
};
use crate::config::Config;

/// Show what is selected and why, every profile with its windows, and the settings in force
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The host's config
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The session to look at
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    #[command(flatten)]
    view: ViewArgs,
}

pub(super) fn run(
    args: &Args,
    global: &Global,
    world: &World,
    out: &mut dyn Write,
) -> Result<Outcome, Failure> {
    let config = match &args.config {
        None => Config::default(),
        Some(path) => {
            let text = input::text(path)?;
            Config::parse(&text).map_err(|error| {
                let problems = error.to_string().replace('\n', "; ");
                Failure::Usage(format!("`{}` is no config: {problems}", path.display()))
            })?
        }
    };
    let env = |name: &str| world.env(name);
    let table = rulebook::load_with(global, &config, &env, world)?;
    let seen = args.view.state.look(args.session.as_deref(), world)?;
    let agent = Some(args.view.state.agent.as_str());
    let rules = rules::of(&table, global.rules.as_deref(), &args.view.state, seen.now, world)?;
    let status = gather::gather(&table, &config, &seen, args.session.as_deref(), agent, rules);
    match args.view.format {
        ViewFormat::Json => {
            write_json(out, &status)?;
        }
        ViewFormat::Human => human::print(&status, world, out)?,
    }
    Ok(Outcome::of(status.problems.is_empty()))
}
