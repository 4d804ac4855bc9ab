//! The `pointsman` command.

/// A fifth of what a start takes is memory asked for and given back.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    pointsman::cli::main()
}
