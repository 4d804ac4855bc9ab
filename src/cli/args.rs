//! The arguments of the whole program, and the way from them to an exit code.

use std::{
    io::{BufWriter, Write as _},
    path::PathBuf,
    process::ExitCode,
};

use clap::{Parser, Subcommand, builder::TypedValueParser as _};

#[cfg(feature = "lsp")]
use super::lsp;
use super::{
    check, classify, completions, diff,
    escape::shown_lines,
    explain,
    failure::{Failure, Outcome},
    fmt, import, inbox, man, profiles, rules, session, simulate, snapshot, status, test,
    world::World,
};

/// Failover policy for language-model calls, written as rules.
#[derive(Debug, Parser)]
#[command(name = "pointsman", version, max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 fine; 1 the checked thing is not fine; 2 wrong usage or unreadable input."
)]
pub struct Args {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// Arguments that every command takes.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Global {
    /// A rule file, or a folder with `main.rules`; without it, the shipped rules
    #[arg(long, global = true, value_name = "PATH", env = "POINTSMAN_RULES", hide_env_values = true, value_parser = clap::builder::OsStringValueParser::new().try_map(rule_path))]
    pub(super) rules: Option<PathBuf>,
}

/// An empty path is a variable that was meant to be unset, more often than not.
fn rule_path(said: std::ffi::OsString) -> Result<PathBuf, &'static str> {
    if said.is_empty() {
        return Err("it names no file; leave it out for the shipped rules, and unset `POINTSMAN_RULES`");
    }
    Ok(said.into())
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(check::Args),
    Classify(classify::Args),
    Explain(explain::Args),
    Test(test::Args),
    Fmt(fmt::Args),
    Snapshot(snapshot::Args),
    Diff(diff::Args),
    Rules(rules::Args),
    Simulate(simulate::Args),
    Status(status::Args),
    Profiles(profiles::Args),
    Session(session::Args),
    Import(import::Args),
    Inbox(inbox::Args),
    #[cfg(feature = "lsp")]
    Lsp(lsp::Args),
    Completions(completions::Args),
    Man(man::Args),
}

/// Runs the program: the whole of `main`.
#[must_use]
pub fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(told) if told.use_stderr() => {
            // It quotes what the user wrote.
            World::real().say(shown_lines(&told.render().to_string()).trim_end());
            return ExitCode::from(Failure::EXIT_CODE);
        }
        Err(help) => {
            return match help.print().and_then(|()| std::io::stdout().flush()).map_err(Failure::Output) {
                Err(failure) if !failure.is_closed_pipe() => {
                    World::real().say(&format!("error: {failure}"));
                    ExitCode::from(Failure::EXIT_CODE)
                }
                _ => ExitCode::SUCCESS,
            };
        }
    };
    let world = World::real();
    let mut out = BufWriter::with_capacity(64 * 1024, std::io::stdout().lock());
    let outcome = run(&args, &world, &mut out).and_then(|outcome| {
        out.flush().map_err(Failure::Output)?;
        Ok(outcome)
    });
    match outcome {
        Ok(outcome) => outcome.into(),
        Err(failure) if failure.is_closed_pipe() => {
            // What is still buffered has no reader either.
            let _ = out.into_parts();
            ExitCode::SUCCESS
        }
        Err(failure) => {
            let _ = out.flush();
            world.say(&format!("error: {failure}"));
            ExitCode::from(Failure::EXIT_CODE)
        }
    }
}

fn run(args: &Args, world: &World, out: &mut dyn std::io::Write) -> Result<Outcome, Failure> {
    let global = &args.global;
    match &args.command {
        Command::Check(args) => check::run(args, global, world, out),
        Command::Classify(args) => classify::run(args, global, world, out),
        Command::Explain(args) => explain::run(args, global, world, out),
        Command::Test(args) => test::run(args, global, world, out),
        Command::Fmt(args) => fmt::run(args, global, world, out),
        Command::Snapshot(args) => snapshot::run(args, global, world, out),
        Command::Diff(args) => diff::run(args, world, out),
        Command::Rules(args) => rules::run(args, global, world, out),
        Command::Simulate(args) => simulate::run(args, global, world, out),
        Command::Status(args) => status::run(args, global, world, out),
        Command::Profiles(args) => profiles::run(args, global, world, out),
        Command::Session(args) => session::run(args, global, world, out),
        Command::Import(args) => import::run(args, global, world, out),
        Command::Inbox(args) => inbox::run(args, global, world, out),
        #[cfg(feature = "lsp")]
        Command::Lsp(args) => lsp::run(args, world, out),
        Command::Completions(args) => completions::run(args, out),
        Command::Man(args) => man::run(args, out),
    }
}
