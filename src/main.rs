//! The `pointsman` command.

fn main() -> std::process::ExitCode {
    pointsman::cli::main()
}
