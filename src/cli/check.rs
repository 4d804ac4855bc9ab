//! `check`: what is wrong with rule files, and with a host's configuration beside them.

mod config;

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

use self::config::Remark;
use super::{
    args::Global,
    escape::{Shown, harmless_json, write_json},
    failure::{Failure, Outcome},
    report::{errors_and_warnings, report},
    rulebook, sarif,
    statefile::StateArgs,
    world::World,
};
use crate::{
    lang::{
        diagnostic::{Diagnostics, Severity, render},
        source::Sources,
    },
    verify,
};

/// Check rules: syntax, names, types, patterns, policy, and everything that looks unintended
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A rule file, or a folder with `main.rules`; without it, the rules in force
    path: Option<PathBuf>,
    /// A host's configuration (YAML or JSON) to check beside the rules; its orders against what the
    /// state file holds, or against its own profiles as long as there is none
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// How findings are printed
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
    /// What counts as an error beside errors
    #[arg(long, value_enum, value_name = "WHAT")]
    deny: Option<Deny>,
    #[command(flatten)]
    state: StateArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// On stderr, with the source
    Human,
    /// On stdout, one object a line
    #[value(alias = "jsonl")]
    Json,
    /// On stdout, SARIF 2.1.0
    Sarif,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Deny {
    Warnings,
}

/// Everything that was found.
#[derive(Default)]
struct Findings {
    sources: Sources,
    rules: Diagnostics,
    /// Not even the first file of the rules is text.
    unreadable: bool,
    config: Vec<Remark>,
    /// What is there, when the rules load.
    summary: String,
}

pub(super) fn run(
    args: &Args,
    global: &Global,
    world: &World,
    out: &mut dyn Write,
) -> Result<Outcome, Failure> {
    let path = args.path.as_deref().or(global.rules.as_deref());
    let found = find(path, args.config.as_deref(), &args.state, world)?;
    match args.format {
        Format::Human => found.human(&rulebook::name(path), args.config.as_deref(), world),
        Format::Json => found.json(out)?,
        Format::Sarif => found.sarif(out)?,
    }
    if found.unreadable {
        return Ok(Outcome::Unreadable);
    }
    let (errors, warnings) = found.count();
    Ok(Outcome::of(errors == 0 && (warnings == 0 || args.deny != Some(Deny::Warnings))))
}

fn find(
    path: Option<&Path>,
    config: Option<&Path>,
    state: &StateArgs,
    world: &World,
) -> Result<Findings, Failure> {
    let mut found = Findings::default();
    let mut host = None;
    if let Some(config) = config {
        (host, found.config) = config::read(config)?;
    }
    match rulebook::read(path)? {
        Ok((mut rules, warnings)) => {
            rulebook::name_files(&mut rules.sources, path);
            let table = match host {
                Some(host) => {
                    let table = host.compile(rules, world, &mut found.config)?;
                    host.twice(&table, &mut found.config);
                    host.schedules(&table, &mut found.config);
                    host.orders(&table, state, world, &mut found.config)?;
                    table
                }
                None => rulebook::compile(rules, world)?,
            };
            found.rules = verify::warnings(&table, warnings);
            let rules = table.ruleset();
            found.summary = format!("{} rules, {} buckets", rules.rules.len(), rules.buckets.len());
            found.sources = rules.sources.clone();
        }
        Err(failed) => {
            found.rules = failed.diagnostics;
            found.unreadable = failed.sources.iter().next().is_none();
            found.sources = failed.sources;
        }
    }
    Ok(found)
}

impl Findings {
    /// Errors and warnings.
    fn count(&self) -> (usize, usize) {
        sum(self.rules.count(), count(self.config.iter()))
    }

    fn human(&self, name: &str, config: Option<&Path>, world: &World) {
        report(&self.rules, &self.sources, world);
        for remark in &self.config {
            world.say(&remark.line());
        }
        let counts = |found, fine| match found {
            (0, 0) => format!("{fine}nothing to complain about"),
            (errors, warnings) => errors_and_warnings(errors, warnings),
        };
        let (config, file) = (config.is_some(), config.map(Path::to_string_lossy).unwrap_or_default());
        // What the configuration makes of a rule file is a remark about that file.
        let (its, of_rules): (Vec<_>, Vec<_>) = self.config.iter().partition(|remark| remark.file == file);
        let of_rules = sum(self.rules.count(), count(of_rules.into_iter()));
        world.say(&format!("{name}: {}", counts(of_rules, format!("{}, ", self.summary))));
        if config {
            world.say(&format!("`{}`: {}", Shown(&file), counts(count(its.into_iter()), String::new())));
        }
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        for found in &self.rules {
            write_json(out, &render::json(found, &self.sources))?;
        }
        for remark in &self.config {
            write_json(out, &remark.json())?;
        }
        Ok(())
    }

    fn sarif(&self, out: &mut dyn Write) -> io::Result<()> {
        let config = self.config.iter().map(Remark::sarif).collect();
        let log = serde_json::to_string_pretty(&sarif::log(&self.rules, &self.sources, config))?;
        writeln!(out, "{}", harmless_json(&log))
    }
}

/// Errors and warnings.
fn count<'a>(remarks: impl Iterator<Item = &'a Remark>) -> (usize, usize) {
    let (errors, warnings): (Vec<_>, Vec<_>) = remarks.partition(|remark| remark.severity == Severity::Error);
    (errors.len(), warnings.len())
}

fn sum(one: (usize, usize), other: (usize, usize)) -> (usize, usize) {
    (one.0 + other.0, one.1 + other.1)
}
