//! `explain`: why an error was judged as it was, or the page of a diagnostic.

use std::{io::Write, path::PathBuf};

use super::{
    args::Global,
    escape::{shown_lines, write_json},
    failure::{Failure, Outcome},
    flags::ErrorFlags,
    format::ViewFormat,
    input::Input,
    jsonl,
    lines::{Lines, Stop},
    rulebook,
    world::World,
};
use crate::{classify, lang::diagnostic::codes, signal::SignalRef, table::Table, time::Timestamp};

/// Explain the verdict on one error, or what a diagnostic means
///
/// Takes the same input as `classify`. `--code P0102` prints the page of that diagnostic.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// JSON lines (or, with --raw, log lines); without it, or as `-`, stdin
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Each line is a plain error text
    #[arg(long)]
    raw: bool,
    /// Which line of the input; the first, if left out
    #[arg(long, value_name = "N", conflicts_with = "id")]
    line: Option<u64>,
    /// The line with this `id`
    #[arg(long, value_name = "ID", conflicts_with = "raw")]
    id: Option<String>,
    /// The clock, if the error has no `receivedAt`; now, if left out
    #[arg(long, value_name = "TIME", value_parser = jsonl::instant)]
    now: Option<Timestamp>,
    /// How the explanation is printed
    #[arg(long, value_enum, default_value = "human")]
    format: ViewFormat,
    /// Print all codes of diagnostics
    #[arg(long)]
    codes: bool,
    #[command(flatten)]
    error: ErrorFlags,
}

pub(super) fn run(
    args: &Args,
    global: &Global,
    world: &World,
    out: &mut dyn Write,
) -> Result<Outcome, Failure> {
    if args.codes {
        for code in codes::all() {
            writeln!(out, "{}  {:7}  {}", code.id, code.severity.to_string(), code.title)?;
        }
        return Ok(Outcome::Fine);
    }
    if let Some(id) = args.error.lone_code().filter(|code| is_diagnostic(code)) {
        return page(id, out);
    }
    let one = args.error.signal()?;
    if one.is_some() && args.file.is_some() {
        return Err(Failure::Usage("an error is given by FILE or by flags, not by both".into()));
    }
    let table = rulebook::load(global, world)?;
    match one {
        Some(signal) => explain(args, &table, signal.as_ref(), world, out)?,
        None => pick(args, &table, world, out)?,
    }
    Ok(Outcome::Fine)
}

/// Finds the line that is meant and explains it.
fn pick(args: &Args, table: &Table, world: &World, out: &mut dyn Write) -> Result<(), Failure> {
    let input = Input::open(args.file.as_deref(), world)?;
    let (reader, unreadable) = input.into_parts();
    let mut lines = Lines::new(reader);
    let (provider, model) = args.error.defaults();
    loop {
        let line = match lines.next(|| Ok(())) {
            Ok(Some(line)) => line,
            Ok(None) => return Err(Failure::Usage(missing(args))),
            Err(Stop::Input(error) | Stop::Hook(error)) => return Err(unreadable(error)),
        };
        if line.bytes.trim_ascii().is_empty() || args.line.is_some_and(|wanted| wanted != line.number) {
            continue;
        }
        let number = line.number;
        let text = String::from_utf8_lossy(line.bytes);
        if args.raw {
            let signal = SignalRef { provider, model, message: Some(&text), ..SignalRef::default() };
            return explain(args, table, signal, world, out);
        }
        let parsed = match jsonl::read_line(&line, &text) {
            Ok(parsed) => parsed,
            Err(_) if args.id.is_some() => continue,
            Err(error) => return Err(Failure::Usage(format!("line {number}: {error}"))),
        };
        if args.id.as_ref().is_some_and(|wanted| parsed.id_text().as_deref() != Some(wanted.as_str())) {
            continue;
        }
        let mut signal = parsed.signal();
        signal.provider = signal.provider.or(provider);
        signal.model = signal.model.or(model);
        return explain(args, table, signal, world, out);
    }
}

/// What to say when the line that is meant is not there.
fn missing(args: &Args) -> String {
    match (&args.id, args.line) {
        (Some(id), _) => format!("no line has the id `{id}`"),
        (_, Some(line)) => format!("the input has no line {line}"),
        _ => "the input holds no error".into(),
    }
}

fn explain(
    args: &Args,
    table: &Table,
    signal: SignalRef<'_>,
    world: &World,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let now = args.now.unwrap_or_else(|| world.now());
    let explanation = classify::explain(table, &signal, now);
    match args.format {
        ViewFormat::Human => out.write_all(shown_lines(&explanation.to_string()).as_bytes())?,
        ViewFormat::Json => {
            write_json(out, &explanation)?;
        }
    }
    Ok(())
}

/// Whether a code has the form of a diagnostic's: `P` and four digits. No provider's has.
fn is_diagnostic(code: &str) -> bool {
    let digits = code.strip_prefix(['P', 'p']);
    digits.is_some_and(|digits| digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

fn page(id: &str, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let Some(code) = codes::find(id) else {
        let what = "`pointsman explain --codes` prints all";
        return Err(Failure::Usage(format!("there is no diagnostic `{id}`; {what}")));
    };
    out.write_all(codes::page(code).as_bytes())?;
    Ok(Outcome::Fine)
}
