//! `fmt`: rule files in their canonical form.

use std::{
    fs,
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use super::{
    args::Global,
    atomic,
    escape::Shown,
    failure::{Failure, Outcome},
    report::report,
    world::World,
};
use crate::lang::{
    fmt,
    load::{self, files::MAX_FILE},
    source::Sources,
};

/// Write rule files in their canonical form; comments stay
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Rule files, folders (all `.rules` files in them), or `-` for stdin to stdout; without any,
    /// the rules of --rules
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Change nothing; name the files that are not in canonical form
    #[arg(long)]
    check: bool,
}

/// How it went with one file.
enum Went {
    /// It is in canonical form, and was before.
    Canonical,
    /// It was not.
    Changed,
    /// It cannot be read as rules.
    Broken,
}

pub(super) fn run(
    args: &Args,
    global: &Global,
    world: &World,
    out: &mut dyn Write,
) -> Result<Outcome, Failure> {
    let paths = if args.paths.is_empty() { global.rules.as_slice() } else { &args.paths };
    match paths {
        [] => return Err(Failure::Usage("say which files or folders to format".into())),
        [path] if path.as_os_str() == "-" => return stdin(args.check, world, out),
        _ if paths.iter().any(|path| path.as_os_str() == "-") => {
            return Err(Failure::Usage("`-` stands alone: stdin goes to stdout".into()));
        }
        _ => {}
    }
    let mut all = Vec::new();
    for path in paths {
        all.extend(files(path)?.into_iter().filter(|file| !all.contains(file)).collect::<Vec<_>>());
    }
    let mut fine = true;
    for file in all {
        let shown = Shown(&file.to_string_lossy()).to_string();
        match format(&file, args.check, world)? {
            Went::Canonical => {}
            Went::Changed if args.check => {
                writeln!(out, "{shown}")?;
                fine = false;
            }
            Went::Changed => writeln!(out, "formatted {shown}")?,
            Went::Broken => fine = false,
        }
    }
    Ok(Outcome::of(fine))
}

fn stdin(check: bool, world: &World, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let path = Path::new("stdin");
    let text = text(io::stdin().lock()).map_err(|error| Failure::Read { path: path.into(), error })?;
    let Some(canonical) = canonical(path, &text, world) else { return Ok(Outcome::NotFine) };
    if check {
        return Ok(Outcome::of(canonical == text));
    }
    out.write_all(canonical.as_bytes())?;
    Ok(Outcome::Fine)
}

fn format(path: &Path, check: bool, world: &World) -> Result<Went, Failure> {
    let read = load::files::open(path).and_then(text);
    let text = read.map_err(|error| Failure::Read { path: path.into(), error })?;
    let Some(canonical) = canonical(path, &text, world) else { return Ok(Went::Broken) };
    if canonical == text {
        return Ok(Went::Canonical);
    }
    if !check {
        atomic::write(path, canonical.as_bytes())?;
    }
    Ok(Went::Changed)
}

/// The canonical form; `None` after its syntax errors have been printed.
fn canonical(path: &Path, text: &str, world: &World) -> Option<String> {
    match fmt::format(text) {
        Ok(canonical) => Some(canonical),
        Err(errors) => {
            let mut sources = Sources::default();
            sources.add(path.to_string_lossy(), text);
            report(&errors, &sources, world);
            None
        }
    }
}

fn text(input: impl Read) -> io::Result<String> {
    let mut text = String::new();
    input.take(MAX_FILE + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_FILE {
        let limit = MAX_FILE >> 20;
        return Err(io::Error::other(format!("it is larger than {limit} MiB, too large for a rule file")));
    }
    Ok(text)
}

/// The file itself, or all `.rules` files below a folder, by name. Links to folders are not followed.
fn files(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    let failed = |path: &Path, error| Failure::Read { path: path.to_owned(), error };
    if !fs::metadata(path).map_err(|error| failed(path, error))?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut folders = vec![path.to_owned()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(|error| failed(&folder, error))? {
            let entry = entry.map_err(|error| failed(&folder, error))?;
            let kind = entry.file_type().map_err(|error| failed(&entry.path(), error))?;
            let hidden = entry.file_name().to_string_lossy().starts_with('.');
            if kind.is_dir() && !hidden {
                folders.push(entry.path());
            } else if !kind.is_dir() && entry.path().extension().is_some_and(|end| end == "rules") {
                files.push(entry.path());
            }
        }
    }
    if files.is_empty() {
        let path = path.to_string_lossy();
        return Err(Failure::Usage(format!("`{path}` holds no `.rules` files, so nothing to format")));
    }
    files.sort();
    Ok(files)
}
