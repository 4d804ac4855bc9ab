//! `lsp`: the language server, for editors.

use std::{
    io::{BufReader, Write},
    path::PathBuf,
};

use super::{
    failure::{Failure, Outcome},
    rulebook::Environment,
    world::World,
};
use crate::lsp;

/// Serve an editor over stdin and stdout: diagnostics, hover, definitions, completion, formatting
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Taken for the sake of editors that pass it; stdio is the only way
    #[arg(long, hide = true)]
    stdio: bool,
}

pub(super) fn run(_: &Args, world: &World, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let input = BufReader::new(std::io::stdin());
    let end = lsp::serve(input, out, &Environment(world), &cache(world))?;
    Ok(Outcome::of(end == lsp::End::Orderly))
}

/// The user's folder for what can be had again.
fn cache(world: &World) -> PathBuf {
    let set = |name| world.env(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    set("XDG_CACHE_HOME")
        .or_else(|| set("LOCALAPPDATA"))
        .or_else(|| set("HOME").map(|home| home.join(".cache")))
        .unwrap_or_else(std::env::temp_dir)
}
