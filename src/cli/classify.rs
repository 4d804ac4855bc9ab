//! `classify`: which bucket errors fall into, and what follows.

mod human;
mod pass;
mod pipeline;

use std::{io::Write, path::PathBuf};

use super::{
    args::Global,
    failure::{Failure, Outcome},
    flags::ErrorFlags,
    format::StreamFormat,
    input::Input,
    jsonl, rulebook,
    statefile::StateArgs,
    world::World,
};
use crate::time::Timestamp;

const FORMAT: &str = r#"JSON lines in, any of `message`, `status`, `code`, `errorType` is enough, other keys are ignored:
  {"id":"a1","provider":"openrouter","model":"x","status":403,"code":"…","errorType":"…",
   "message":"…","details":["…"],"headers":{"retry-after":"30"},"aborted":"user",
   "receivedAt":"2026-11-30T10:00:00Z"}

JSON lines out, in the same order:
  {"id":"a1","bucket":"billing","rule":"openrouter.key_limit","at":"providers.rules:12",
   "action":"disable","then":"fallback","resetMs":null}

A line that cannot be read gives {"line":7,"error":"…"} in its place, and exit code 1 at the end.
Blank lines are skipped."#;

/// Classify errors: JSON lines, plain log lines, or one error from flags
#[derive(Debug, clap::Args)]
#[command(after_long_help = FORMAT)]
pub(super) struct Args {
    /// JSON lines (or, with --raw, log lines); without it, or as `-`, stdin
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Each line is a plain error text
    #[arg(long)]
    raw: bool,
    /// The clock for lines without `receivedAt`; now, if left out
    #[arg(long, value_name = "TIME", value_parser = jsonl::instant)]
    now: Option<Timestamp>,
    /// A table or JSON lines; left out, a table on a terminal and JSON lines elsewhere
    #[arg(long, value_enum)]
    format: Option<StreamFormat>,
    #[command(flatten)]
    error: ErrorFlags,
    /// Keep errors that no rule matched in the inbox of the state file, and count what each rule decides
    #[arg(long)]
    record: bool,
    #[command(flatten)]
    state: StateArgs,
}

pub(super) fn run(
    args: &Args,
    global: &Global,
    world: &World,
    out: &mut dyn Write,
) -> Result<Outcome, Failure> {
    let one = args.error.signal()?;
    if one.is_some() && args.file.is_some() {
        return Err(Failure::Usage("an error is given by FILE or by flags, not by both".into()));
    }
    let table = rulebook::load_to_judge(global, world)?;
    let human = StreamFormat::for_people(args.format, world);
    let store = if args.record { Some(args.state.open(world)?) } else { None };
    let mut pass = pass::Pass::new(&table, args.now, human, world, store);
    if let Some(signal) = one {
        pass.one(&signal, out)?;
    } else {
        let input = Input::open(args.file.as_deref(), world)?;
        pass.lines(input, args.raw, args.error.defaults(), out)?;
    }
    Ok(Outcome::of(pass.finish(out)?))
}
