//! `rules effective`: the merged rules in order of trial.

use std::io::Write;

use crate::cli::{
    args::Global,
    failure::{Failure, Outcome},
    rulebook,
    world::World,
};

/// Print the merged rules
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

pub(super) fn run(_: &Args, global: &Global, world: &World, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let table = rulebook::load(global, world)?;
    for rule in &table.ruleset().rules {
        writeln!(out, "{}  {}", rule.name, table.locate(rule.span))?;
    }
    Ok(Outcome::Fine)
}
