//! `explain`: why an error was judged as it was, or the page of a diagnostic.

use std::io::Write;

use super::failure::{Failure, Outcome};
use crate::lang::diagnostic::codes;

/// Explain a verdict (same input as `classify`), or with --code a diagnostic
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Print the page of a diagnostic instead, such as P0102; `list` prints all codes
    #[arg(long, value_name = "CODE")]
    code: Option<String>,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<Outcome, Failure> {
    if let Some(id) = &args.code {
        return page(id, out);
    }
    Ok(Outcome::Fine)
}

fn page(id: &str, out: &mut dyn Write) -> Result<Outcome, Failure> {
    if id == "list" {
        for code in codes::all() {
            writeln!(out, "{}  {:7}  {}", code.id, code.severity.to_string(), code.title)?;
        }
        return Ok(Outcome::Fine);
    }
    let Some(code) = codes::find(id) else {
        let what = "`explain --code list` prints all";
        return Err(Failure::Usage(format!("there is no diagnostic `{id}`; {what}")));
    };
    out.write_all(codes::page(code).as_bytes())?;
    Ok(Outcome::Fine)
}
