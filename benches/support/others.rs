//! Published classifiers of other projects, installed from their registries into a folder that goes
//! again. Each says less or more than a verdict does, and the line printed says what.

use std::{
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

const CORPUS: &str = include_str!("../../tests/corpus/field.jsonl");

/// Prints a line each: microseconds a verdict over the corpus, or why there are none.
pub fn print() {
    let folder = tempfile::tempdir().unwrap();
    let npm = ["install", "--silent", "--no-audit", "--no-fund", "--prefix"];
    one(
        "@smithy/service-error-classification 4.6.2 (the AWS SDK; looks at name, code and status only)",
        Command::new("npm").args(npm).arg(folder.path()).arg("@smithy/service-error-classification@4.6.2"),
        Command::new("node").arg(script("others.mjs")).arg(folder.path()),
    );
    let pip = ["-m", "pip", "install", "--quiet", "--no-cache-dir", "--target"];
    one(
        "litellm 1.110.2 (searches the text too; makes and raises an exception, with its log)",
        Command::new("python3").args(pip).arg(folder.path()).arg("litellm==1.110.2"),
        Command::new("python3").arg(script("others.py")).env("PYTHONPATH", folder.path()),
    );
}

fn script(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/support").join(name)
}

fn one(what: &str, install: &mut Command, run: &mut Command) {
    match measured(install, run) {
        Ok(line) => println!("{what}: {line}"),
        Err(why) => println!("{what}: SKIPPED, {why}"),
    }
}

fn measured(install: &mut Command, run: &mut Command) -> Result<String, &'static str> {
    let quiet = install.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if !quiet.status().is_ok_and(|status| status.success()) {
        return Err("it cannot be installed here");
    }
    let piped = run.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = piped.spawn().map_err(|_| "its language is not here")?;
    // A child that does not read has failed, and says so below.
    let _ = child.stdin.take().unwrap().write_all(CORPUS.as_bytes());
    let said = child.wait_with_output().map_err(|_| "it does not run here")?.stdout;
    let said = String::from_utf8_lossy(&said).into_owned();
    match said.split_whitespace().collect::<Vec<_>>().as_slice() {
        [median, classed, all] => Ok(format!("{median} µs a verdict; {classed} of {all} errors get a class")),
        _ => Err("it does not run here"),
    }
}
