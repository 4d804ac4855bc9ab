//! `import`: takes legacy files over (C4).

use std::{io::Write, path::PathBuf};

use super::{
    args::Global,
    escape::{Shown, write_json},
    failure::{Failure, Outcome},
    format::ViewFormat,
    rulebook,
    statefile::ViewArgs,
    world::World,
};
use crate::state::import::{Report, import};

/// Take profiles and usage over from the JSON files of an older host
///
/// The files stay as they are, and what is stored already is kept, so that it can be run again.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The folder that holds `agents/`, `agent/` or `credentials/`
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    #[command(flatten)]
    view: ViewArgs,
}

pub(super) fn run(
    args: &Args,
    global: &Global,
    world: &World,
    out: &mut dyn Write,
) -> Result<Outcome, Failure> {
    let failed = |error| Failure::Read { path: args.dir.clone(), error };
    // A folder that cannot be read is no folder without files.
    if !std::fs::metadata(&args.dir).map_err(failed)?.is_dir() {
        let dir = args.dir.to_string_lossy();
        return Err(Failure::Usage(format!(
            "`{dir}` is a file; name the folder that holds `agents/`, `agent/` or `credentials/`"
        )));
    }
    std::fs::read_dir(&args.dir).map_err(failed)?;
    let table = rulebook::load_to_judge(global, world)?;
    let store = args.view.state.open(world)?;
    let family = |a: &str, b: &str| table.same_provider(a, b);
    let report = import(&args.dir, &args.view.state.agent, &store, &family, world.now())?;
    if report.files.is_empty() {
        let (dir, agent) = (args.dir.to_string_lossy(), &args.view.state.agent);
        return Err(Failure::Usage(format!("`{dir}` holds no legacy files of agent `{agent}`")));
    }
    match args.view.format {
        ViewFormat::Json => {
            write_json(out, &report)?;
        }
        ViewFormat::Human => human(&report, out)?,
    }
    Ok(Outcome::of(report.files.iter().all(|file| !file.unread)))
}

fn human(report: &Report, out: &mut dyn Write) -> std::io::Result<()> {
    for file in &report.files {
        writeln!(out, "{}", Shown(&file.path.to_string_lossy()))?;
        let taken = [
            ("stored", &file.profiles),
            ("secret filled in", &file.filled),
            ("usage taken over", &file.usage),
            ("kept as stored", &file.kept),
        ];
        for (what, ids) in taken.iter().filter(|(_, ids)| !ids.is_empty()) {
            writeln!(out, "  {what}: {}", Shown(&ids.join(", ")))?;
        }
        for left in &file.not_understood {
            let at = if left.at.is_empty() { String::new() } else { format!("`{}`: ", left.at) };
            writeln!(out, "  not understood: {}", Shown(&format!("{at}{}", left.why)))?;
        }
    }
    Ok(())
}
