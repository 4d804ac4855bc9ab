//! `rules effective`: the merged rules in order of trial, and beside each rule, list, slot and value
//! the place that won.

use std::io::Write;

use crate::{
    cli::{
        args::Global,
        escape::shown_lines,
        failure::{Failure, Outcome},
        rulebook,
        world::World,
    },
    lang::{effective, tree::SettingValue},
    table::Origin,
    time::format_duration,
};

/// Print the merged rules
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

pub(super) fn run(_: &Args, global: &Global, world: &World, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let table = rulebook::load(global, world)?;
    out.write_all(shown_lines(&effective::print(table.ruleset())).as_bytes())?;
    let mut title = "\n# overridden from outside\n";
    for (setting, force) in table.ruleset().settings.iter().zip(table.settings().iter()) {
        let from = match &force.origin {
            Origin::Rules(_) | Origin::Set(_) => continue,
            Origin::Config(path) => format!("config {path}"),
            Origin::Env(name) => format!("environment {name}"),
        };
        let value = match force.value {
            SettingValue::Duration(span) if span.is_zero() => "off".into(),
            SettingValue::Duration(span) => format_duration(span),
            SettingValue::Count(count) => count.to_string(),
        };
        writeln!(out, "{title}setting {} = {value}  ({from})", setting.name)?;
        title = "";
    }
    Ok(Outcome::Fine)
}
