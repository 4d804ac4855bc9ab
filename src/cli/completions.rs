//! `completions SHELL`.

use std::io::Write;

use clap::CommandFactory as _;

use super::failure::{Failure, Outcome};

/// Print a completion script for a shell
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The shell
    shell: clap_complete::Shell,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<Outcome, Failure> {
    // `generate` panics when the pipe is closed; a buffer cannot be.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut super::Args::command(), "pointsman", &mut script);
    out.write_all(&script)?;
    Ok(Outcome::Fine)
}
