//! `rules`: the shipped rules, and the merged ones with their origins.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use super::{
    args::Global,
    atomic,
    failure::{Failure, Outcome},
    world::World,
};
use crate::lang::{diagnostic::nearest, shipped};

mod effective;

/// Print or write out the shipped rules, or print the merged ones
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Print the shipped rules, all files or one
    Show {
        /// A file's path, such as `main.rules`
        file: Option<String>,
    },
    /// Write the shipped rules into a folder, to read or to start from
    Export {
        /// The folder; files of the same name in it stay as they are unless --force is given
        dir: PathBuf,
        /// Overwrite files
        #[arg(long)]
        force: bool,
    },
    /// Print the merged rules in order of trial, each with the file and line that won
    Effective(effective::Args),
}

pub(super) fn run(
    args: &Args,
    global: &Global,
    world: &World,
    out: &mut dyn Write,
) -> Result<Outcome, Failure> {
    match &args.action {
        Action::Show { file: None } => {
            for (path, text) in shipped::FILES {
                writeln!(out, "# ── {path}\n{text}")?;
            }
            Ok(Outcome::Fine)
        }
        Action::Show { file: Some(path) } => show(path, out),
        Action::Export { dir, force } => export(dir, *force, world),
        Action::Effective(args) => effective::run(args, global, world, out),
    }
}

fn show(path: &str, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let Some((_, text)) = shipped::FILES.iter().find(|(name, _)| *name == path) else {
        let paths = shipped::FILES.iter().map(|(name, _)| *name);
        // `codes` and `codes.rules` for `classify/codes.rules`.
        let bare = path.trim_end_matches(".rules");
        let tail =
            paths.clone().find(|name| name.trim_end_matches(".rules").rsplit('/').next() == Some(bare));
        let hint = tail.map(|name| format!("did you mean `{name}`?"));
        let hint = hint.or_else(|| nearest::did_you_mean(path, paths));
        let hint = hint.unwrap_or_else(|| "`pointsman rules show | grep '^# ──'` names them all".into());
        return Err(Failure::Usage(format!("no shipped file is called `{path}`; {hint}")));
    };
    out.write_all(text.as_bytes())?;
    Ok(Outcome::Fine)
}

/// Writes all files or, when one of them is there already, none.
fn export(dir: &Path, force: bool, world: &World) -> Result<Outcome, Failure> {
    let targets: Vec<_> = shipped::FILES.iter().map(|(name, text)| (dir.join(name), *text)).collect();
    if !force && let Some((taken, _)) = targets.iter().find(|(path, _)| path.exists()) {
        return Err(Failure::Usage(format!(
            "`{}` exists; choose another folder, or give --force to overwrite it",
            taken.display()
        )));
    }
    for (path, text) in &targets {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)
                .map_err(|error| Failure::Write { path: folder.to_owned(), error })?;
        }
        atomic::write(path, text.as_bytes())?;
    }
    world.say(&format!(
        "{} files written; check them with `pointsman check {}`",
        targets.len(),
        dir.display()
    ));
    Ok(Outcome::Fine)
}
