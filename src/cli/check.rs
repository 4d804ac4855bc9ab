//! `check`: what is wrong with rule files.

use std::{io::Write, path::PathBuf};

use super::{
    args::Global,
    failure::{Failure, Outcome},
    report::{counted, report},
    rulebook, sarif,
    world::World,
};
use crate::{lang::diagnostic::render, verify};

/// Check rules: syntax, names, types, patterns, policy, and everything that looks unintended
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A rule file, or a folder with `main.rules`; without it, the rules in force
    path: Option<PathBuf>,
    /// How findings are printed
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
    /// What counts as an error beside errors
    #[arg(long, value_enum, value_name = "WHAT")]
    deny: Option<Deny>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// On stderr, with the source
    Human,
    /// On stdout, one object a line
    Json,
    /// On stdout, SARIF 2.1.0
    Sarif,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Deny {
    Warnings,
}

pub(super) fn run(
    args: &Args,
    global: &Global,
    world: &World,
    out: &mut dyn Write,
) -> Result<Outcome, Failure> {
    let path = args.path.as_deref().or(global.rules.as_deref());
    let (sources, found, summary) = match rulebook::read(path)? {
        Ok((rules, found)) => {
            let table = rulebook::compile(rules, world)?;
            let found = verify::warnings(&table, found);
            let rules = table.ruleset();
            let summary = format!("{} rules, {} buckets", rules.rules.len(), rules.buckets.len());
            (rules.sources.clone(), found, summary)
        }
        Err(failed) => (failed.sources, failed.diagnostics, String::new()),
    };
    let (errors, warnings) = found.count();
    match args.format {
        Format::Human => {
            report(&found, &sources, world);
            let name = rulebook::name(path);
            let counts = if found.is_empty() { summary } else { counted(errors, warnings) };
            world.say(&format!("{name}: {counts}"));
        }
        Format::Json => {
            for found in &found {
                serde_json::to_writer(&mut *out, &render::json(found, &sources))
                    .map_err(std::io::Error::from)?;
                writeln!(out)?;
            }
        }
        Format::Sarif => {
            let log = sarif::log(&found, &sources);
            serde_json::to_writer_pretty(&mut *out, &log).map_err(std::io::Error::from)?;
            writeln!(out)?;
        }
    }
    Ok(Outcome::of(errors == 0 && (warnings == 0 || args.deny != Some(Deny::Warnings))))
}
