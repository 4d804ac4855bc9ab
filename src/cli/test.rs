//! `test`: the examples, counterexamples and tests that stand in rule files.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use serde_json::json;

use super::{
    args::Global,
    escape::{Shown, write_json},
    failure::{Failure, Outcome},
    report::report,
    rulebook,
    world::World,
};
use crate::{
    lang::diagnostic::counted,
    lang::{diagnostic::render, source::Sources},
    verify::{self, Coverage, Report, coverage::Share},
};

/// Run the examples and tests of rule files
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A rule file, or a folder with `main.rules`; without it, the rules in force
    path: Option<PathBuf>,
    /// Say which rules, list entries and branches no case reaches
    #[arg(long)]
    coverage: bool,
    /// With --coverage: fail when rules, entries or branches are reached less than this
    #[arg(long, value_name = "PERCENT", requires = "coverage", value_parser = hundredths)]
    min: Option<usize>,
    /// How the outcome is printed
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Failures on stderr with the source, the rest on stdout
    Human,
    /// On stdout, one object a line
    Json,
}

pub(super) fn run(
    args: &Args,
    global: &Global,
    world: &World,
    out: &mut dyn Write,
) -> Result<Outcome, Failure> {
    let path = args.path.as_ref().or(global.rules.as_ref()).cloned();
    let table = rulebook::load(&Global { rules: path.clone() }, world)?;
    let mut sources = table.ruleset().sources.clone();
    rulebook::name_files(&mut sources, path.as_deref());
    let tested = verify::run(&table);
    let reached = if args.coverage {
        let failed = |error: crate::table::TableError| Failure::Usage(error.to_string());
        Some(verify::coverage(&table).map_err(failed)?)
    } else {
        None
    };
    match args.format {
        Format::Human => human(&sources, &tested, reached.as_ref(), world, out)?,
        Format::Json => json_lines(&sources, &tested, reached.as_ref(), out)?,
    }
    let enough = reached.is_none_or(|reached| reached.least() >= args.min.unwrap_or(0));
    Ok(Outcome::of(tested.passed() && enough))
}

/// A share in percent, with up to two places, as hundredths of a percent.
fn hundredths(text: &str) -> Result<usize, String> {
    let (whole, places) = text.split_once('.').unwrap_or((text, "00"));
    let digits = format!("{whole}{places:0<2}");
    let is_number = !whole.is_empty() && !places.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let share = digits.parse().ok().filter(|share| is_number && places.len() <= 2 && *share <= 10_000);
    share.ok_or_else(|| "write a number from 0 to 100, such as `90` or `99.5`".to_owned())
}

fn human(
    sources: &Sources,
    tested: &Report,
    reached: Option<&Coverage>,
    world: &World,
    out: &mut dyn Write,
) -> io::Result<()> {
    report(&tested.failures, sources, world);
    let failed = tested.failures.len();
    let cases = counted(tested.cases, "case");
    match failed {
        0 => writeln!(out, "{cases}, all as expected")?,
        _ => writeln!(out, "{cases}, {failed} not as expected")?,
    }
    let Some(reached) = reached else { return Ok(()) };
    for (share, what) in
        [(reached.rules, "rules"), (reached.entries, "list entries"), (reached.branches, "branches")]
    {
        writeln!(out, "{what}: {} of {} reached, {} %", share.reached, share.total, share.percent())?;
    }
    if reached.left_out > 0 {
        writeln!(out, "only what your own files declare counts; the shipped rules are left out")?;
    }
    for place in &reached.unreached {
        writeln!(
            out,
            "{}: {} is reached by no case",
            Shown(&sources.locate(place.span)),
            Shown(&place.what)
        )?;
    }
    Ok(())
}

fn json_lines(
    sources: &Sources,
    tested: &Report,
    reached: Option<&Coverage>,
    out: &mut dyn Write,
) -> io::Result<()> {
    for failure in &tested.failures {
        write_json(out, &render::json(failure, sources))?;
    }
    let mut end = json!({ "cases": tested.cases, "failed": tested.failures.len() });
    if let (Some(reached), Some(end)) = (reached, end.as_object_mut()) {
        let share = |share: Share| {
            // A number as it is written: 99.99 has no exact binary form.
            let percent: Option<serde_json::Number> = share.percent().parse().ok();
            json!({ "reached": share.reached, "total": share.total, "percent": percent })
        };
        let unreached = reached.unreached.iter();
        let unreached =
            unreached.map(|place| json!({ "at": sources.locate(place.span), "what": place.what }));
        end.insert(
            "coverage".into(),
            json!({
                "rules": share(reached.rules),
                "entries": share(reached.entries),
                "branches": share(reached.branches),
                "unreached": unreached.collect::<Vec<_>>(),
                "shippedRulesLeftOut": reached.left_out,
            }),
        );
    }
    write_json(out, &end)
}
