//! `man`.

use std::io::Write;

use clap::CommandFactory as _;

use super::failure::{Failure, Outcome};

/// Print the manual page (roff); `pointsman man | man -l -` shows it
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

/// The page of the program, then one section a command.
pub(super) fn run(_: &Args, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let mut program = super::Args::command();
    program.build();
    clap_mangen::Man::new(program.clone()).render(out)?;
    for command in program.get_subcommands().filter(|command| command.get_name() != "help") {
        let name = format!("pointsman {}", command.get_name());
        let page = clap_mangen::Man::new(command.clone().display_name(&name).bin_name(name));
        let mut section = Vec::new();
        page.render_synopsis_section(&mut section)?;
        page.render_description_section(&mut section)?;
        page.render_options_section(&mut section)?;
        out.write_all(&section)?;
    }
    Ok(Outcome::Fine)
}
