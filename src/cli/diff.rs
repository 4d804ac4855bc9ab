//! `diff`: which recorded errors two rule sets judge differently.

mod human;

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

use serde_json::{Map, Value, json};

use super::{
    answer,
    args::Global,
    corpus,
    escape::write_json,
    failure::{Failure, Outcome},
    rulebook,
    world::World,
};
use crate::{
    lang::tree::RuleId,
    table::Table,
    verify::diff::{self, Comparison},
};

/// Show which recorded errors two rule sets judge differently
///
/// Errors count whose bucket or reaction changes: another window, schedule, rotation, retry, end,
/// sentence, or reset time. They are grouped by old and new rule. The corpus is read once, line by
/// line, and may be as large as you like.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The rules before: a file, a folder with `main.rules`, or `shipped`
    old: PathBuf,
    /// The rules after
    new: PathBuf,
    /// Recorded errors as JSON lines; `-` is stdin
    #[arg(long, value_name = "FILE")]
    corpus: PathBuf,
    /// Each line of the corpus is a plain error text
    #[arg(long)]
    raw: bool,
    /// How many errors are shown of each group
    #[arg(long, value_name = "N", default_value_t = 3)]
    samples: usize,
    /// What gives exit code 1
    #[arg(long, value_enum, value_name = "WHAT")]
    fail_on: Option<FailOn>,
    /// How the difference is printed
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum FailOn {
    /// An error that is judged differently
    Changes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Human,
    /// One object a line
    #[value(alias = "jsonl")]
    Json,
}

/// An error as an example of its group.
struct Sample {
    /// Its id, else its line.
    name: String,
    message: String,
}

type Found = diff::Outcome<Sample>;

pub(super) fn run(args: &Args, world: &World, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let (old, new) = (load(&args.old, world)?, load(&args.new, world)?);
    let mut comparison = Comparison::new(&old, &new, args.samples);
    let unreadable = corpus::read(&args.corpus, args.raw, world, |error| {
        comparison.judge(&error.signal, |evidence| Sample {
            name: error.id.map_or_else(|| format!("line {}", error.line.number), ToOwned::to_owned),
            message: answer::message(evidence),
        });
        Ok(())
    })?;
    let found = comparison.finish();
    match args.format {
        Format::Human => human::print(&found, unreadable, (&old, &new), world, out)?,
        Format::Json => json_lines(&found, unreadable, (&old, &new), out)?,
    }
    let denied = found.changed > 0 && args.fail_on == Some(FailOn::Changes);
    Ok(Outcome::of(unreadable == 0 && !denied))
}

/// Rules at a path; `shipped` are those that are part of the program.
fn load(path: &Path, world: &World) -> Result<Table, Failure> {
    let shipped = path.as_os_str() == "shipped" && !path.exists();
    let rules = (!shipped).then(|| path.to_owned());
    rulebook::load(&Global { rules }, world)
}

/// A rule's name and place.
fn rule(table: &Table, rule: Option<RuleId>) -> Option<(&str, String)> {
    let rule = table.rule(rule?);
    Some((&rule.name, table.locate(rule.span)))
}

fn json_lines(
    found: &Found,
    unreadable: u64,
    (old, new): (&Table, &Table),
    out: &mut dyn Write,
) -> io::Result<()> {
    let side = |table, id| rule(table, id).map(|(name, at)| json!({ "rule": name, "at": at }));
    for group in &found.groups {
        let changes = group.changes.iter();
        let changes: Map<String, Value> = changes
            .map(|change| (change.what.to_owned(), json!({ "old": change.old, "new": change.new })))
            .collect();
        let samples = group.samples.iter();
        let samples: Vec<Value> =
            samples.map(|sample| json!({ "id": sample.name, "message": sample.message })).collect();
        let line = json!({
            "old": side(old, group.old),
            "new": side(new, group.new),
            "count": group.count,
            "changes": changes,
            "samples": samples,
        });
        write_json(out, &line)?;
    }
    let end = json!({
        "errors": found.errors,
        "changed": found.changed,
        "byOtherRule": found.by_other_rule,
        "unreadable": unreadable,
    });
    writeln!(out, "{end}")
}
