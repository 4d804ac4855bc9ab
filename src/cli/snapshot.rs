//! `snapshot`: what the classifier says of a corpus, against what is stored.

mod accept;
mod human;
mod review;
mod source;

use std::{
    fs,
    io::{self, Read as _, Write},
    path::{Path, PathBuf},
};

use serde_json::json;

use super::{
    answer,
    args::Global,
    atomic, corpus,
    escape::write_json,
    failure::{Failure, Outcome},
    rulebook,
    world::World,
};
use crate::{
    classify::Scratch,
    lang::{diagnostic::counted, load::files::open},
    table::Table,
    verify::snapshot::{CLOCK, Change, Counts, Ids, Judgement, Snapshot},
};

/// Largest snapshot, in bytes: millions of errors.
const LONGEST: u64 = 256 << 20;

const FILES: &str = "\
The snapshot of `errors.jsonl` is `snapshots/errors.snap`: beside the rules of --rules, without it
in the current folder. It is text, one error a line, in the format of `cargo insta`. An error is
known by its `id`, else by its text.";

/// Compare what the classifier says of a corpus with what it said before
#[derive(Debug, clap::Args)]
#[command(after_long_help = FILES)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Show what has moved; exit code 1 when something has
    Check {
        #[command(flatten)]
        files: Files,
        /// How many errors are shown of each group; 0 is all
        #[arg(long, value_name = "N", default_value_t = 10)]
        samples: usize,
        /// How the difference is printed
        #[arg(long, value_enum, default_value = "human")]
        format: Format,
    },
    /// Store what the classifier says now
    Accept {
        #[command(flatten)]
        files: Files,
    },
    /// Look at what has moved one by one, on a terminal, and store what is taken
    Review {
        #[command(flatten)]
        files: Files,
    },
}

#[derive(Debug, clap::Args)]
struct Files {
    /// Errors as JSON lines
    corpus: PathBuf,
    /// Each line is a plain error text
    #[arg(long)]
    raw: bool,
    /// Where snapshots are kept; left out, `snapshots` beside the rules
    #[arg(long, value_name = "DIR")]
    snapshots: Option<PathBuf>,
}

impl Files {
    /// The command that stores a first snapshot of the same corpus, by the same rules, in the same place.
    fn making(&self, global: &Global) -> String {
        let mut words = vec!["pointsman snapshot accept".to_owned()];
        for (flag, path) in [("--rules", &global.rules), ("--snapshots", &self.snapshots)] {
            words.extend(path.iter().map(|path| format!("{flag} {}", path.to_string_lossy())));
        }
        words.extend(self.raw.then(|| "--raw".to_owned()));
        words.push(self.corpus.to_string_lossy().into_owned());
        words.join(" ")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Human,
    /// One object a line
    #[value(alias = "jsonl")]
    Json,
}

/// A change, and what the provider said; nothing for an error that is gone.
struct Shift {
    change: Change,
    message: String,
}

/// The stored snapshot, the present one, and how they differ.
struct Compared {
    old: Snapshot,
    new: Snapshot,
    shifts: Vec<Shift>,
    unreadable: u64,
}

pub(super) fn run(
    args: &Args,
    global: &Global,
    world: &World,
    out: &mut dyn Write,
) -> Result<Outcome, Failure> {
    let (What::Check { files, .. } | What::Accept { files } | What::Review { files }) = &args.what;
    if matches!(args.what, What::Review { .. }) && !(world.stdin_terminal && world.stdout_terminal) {
        let why = "`snapshot review` asks on a terminal; elsewhere `snapshot check` shows what has moved, and `snapshot accept` takes it";
        return Err(Failure::Usage(why.into()));
    }
    let table = rulebook::load(global, world)?;
    let store = store(files, global);
    let stored = stored(&store)?;
    if let What::Accept { .. } = args.what {
        return accept::run(&table, files, &store, stored.as_deref(), world);
    }
    let Some(stored) = stored else {
        let (store, making) = (store.to_string_lossy(), files.making(global));
        return Err(Failure::Usage(format!("there is no snapshot `{store}`; `{making}` makes it")));
    };
    let old = Snapshot::parse(&stored).map_err(|error| no_snapshot(&store, &error))?;
    drop(stored);
    source::same(&old, &source::name(&files.corpus, &store), files, &store)?;
    let found = compare(&table, files, old, world)?;
    match &args.what {
        What::Check { samples, format, .. } => {
            match format {
                Format::Human => human::print(&found, *samples, world, out)?,
                Format::Json => json_lines(&found, out)?,
            }
            Ok(Outcome::of(found.shifts.is_empty() && found.unreadable == 0))
        }
        // Accepting has ended above.
        What::Accept { .. } | What::Review { .. } => {
            fit_to_keep(files, &store, found.unreadable, found.new.rows.len(), found.old.rows.len())?;
            let mut store = |taken: &[bool]| keep(&store, &found, |at| taken.get(at) == Some(&true));
            let taken = review::ask(&found, world, &mut io::stdin().lock(), out, &mut store)?;
            let count = taken.iter().filter(|taken| **taken).count();
            writeln!(out, "{count} of {} taken", found.shifts.len())?;
            Ok(Outcome::of(count == found.shifts.len()))
        }
    }
}

impl Compared {
    fn counts(&self) -> Counts {
        Counts::of(self.shifts.iter().map(|shift| &shift.change))
    }
}

/// Whether what was read may take the place of what is stored; `new` and `old` count errors.
///
/// # Errors
/// When lines could not be read, or there is nothing to put in the place of something.
fn fit_to_keep(files: &Files, store: &Path, unreadable: u64, new: usize, old: usize) -> Result<(), Failure> {
    let (corpus, store) = (files.corpus.to_string_lossy(), store.to_string_lossy());
    if unreadable > 0 {
        let lines = counted(usize::try_from(unreadable).unwrap_or(usize::MAX), "line");
        return Err(Failure::Usage(format!(
            "nothing is stored in `{store}`: {lines} of `{corpus}` cannot be read (named above); mend them or take them out"
        )));
    }
    if new == 0 && old > 0 {
        let kept = counted(old, "error");
        return Err(Failure::Usage(format!(
            "nothing is stored: `{corpus}` holds no errors, and `{store}` holds {kept}; remove that file when it is no longer wanted"
        )));
    }
    Ok(())
}

/// Where the snapshot of a corpus lies.
fn store(files: &Files, global: &Global) -> PathBuf {
    let folder = files.snapshots.clone().unwrap_or_else(|| {
        let rules = global.rules.as_deref();
        let beside =
            rules.map(|path| if path.is_dir() { path } else { path.parent().unwrap_or(Path::new("")) });
        beside.unwrap_or(Path::new("")).join("snapshots")
    });
    let stem = if files.corpus.as_os_str() == "-" { None } else { files.corpus.file_stem() };
    let mut name = stem.unwrap_or("stdin".as_ref()).to_os_string();
    name.push(".snap");
    folder.join(name)
}

/// The text that is stored there.
fn stored(path: &Path) -> Result<Option<String>, Failure> {
    let mut text = String::new();
    let read = open(path).and_then(|file| file.take(LONGEST + 1).read_to_string(&mut text));
    match read {
        Ok(_) if text.len() as u64 > LONGEST => {
            let error = io::Error::other(format!(
                "it is larger than {} MiB, too large for a snapshot",
                LONGEST >> 20
            ));
            Err(Failure::Read { path: path.to_owned(), error })
        }
        Ok(_) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(no_snapshot(path, "it is not UTF-8")),
        Err(error) => Err(Failure::Read { path: path.to_owned(), error }),
    }
}

fn no_snapshot(path: &Path, error: impl std::fmt::Display) -> Failure {
    let path = path.to_string_lossy();
    Failure::Usage(format!(
        "`{path}` is no snapshot: {error}; move it away, or remove it, and `snapshot accept` makes it anew"
    ))
}

fn compare(table: &Table, files: &Files, old: Snapshot, world: &World) -> Result<Compared, Failure> {
    let mut new = Snapshot::default();
    let known: std::collections::HashMap<&str, &Judgement> =
        old.rows.iter().map(|(id, judgement)| (id.as_str(), judgement)).collect();
    let mut messages = std::collections::HashMap::new();
    let mut ids = Ids::default();
    let mut scratch = Scratch::default();
    let unreadable = corpus::read(&files.corpus, files.raw, world, |error| {
        let id = ids.next(error.id, error.line.bytes);
        let verdict = table.classify(&error.signal, &mut scratch);
        let judgement = Judgement::of(table, &verdict, error.signal.received_at.unwrap_or(CLOCK));
        if known.get(id.as_str()) != Some(&&judgement) {
            messages.insert(id.clone(), answer::message(scratch.evidence()));
        }
        new.rows.push((id, judgement));
        Ok(())
    })?;
    drop(known);
    let message = |change: Change| Shift { message: messages.remove(&change.id).unwrap_or_default(), change };
    let shifts = old.changes(&new).into_iter().map(message).collect();
    Ok(Compared { old, new, shifts, unreadable })
}

/// Writes the snapshot with the changes that `takes` says.
fn keep(path: &Path, found: &Compared, takes: impl Fn(usize) -> bool) -> Result<(), Failure> {
    let changes: Vec<Change> = found.shifts.iter().map(|shift| shift.change.clone()).collect();
    write(path, &found.old.taking(&found.new, &changes, takes).print())
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| Failure::Write { path: folder.to_owned(), error })?;
    }
    atomic::write(path, text.as_bytes())
}

fn json_lines(found: &Compared, out: &mut dyn Write) -> io::Result<()> {
    let judgement = |is: &Option<Judgement>| {
        is.as_ref().map(|is| {
            json!({ "bucket": is.bucket, "rule": is.rule, "action": is.action, "then": is.then, "reset": is.reset })
        })
    };
    for Shift { change, message } in &found.shifts {
        let (old, new) = (judgement(&change.old), judgement(&change.new));
        let message = change.new.as_ref().map(|_| message);
        write_json(out, &json!({ "id": change.id, "old": old, "new": new, "message": message }))?;
    }
    let (errors, changed) = (found.new.rows.len(), found.shifts.len());
    let Counts { moved, new, gone } = found.counts();
    let unreadable = found.unreadable;
    writeln!(
        out,
        "{}",
        json!({ "errors": errors, "changed": changed, "moved": moved, "new": new, "gone": gone, "unreadable": unreadable })
    )
}
