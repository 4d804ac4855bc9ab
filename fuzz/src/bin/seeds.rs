//! Writes the seeds of every target below the folder that is named, or below `fuzz/seeds`.

use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let named = std::env::args_os().nth(1).map(PathBuf::from);
    let folder = named.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("seeds"));
    fuzz::seeds::write(&folder)
}
