//! The difference between two rule sets, for people.

use std::io::{self, Write};

use super::{Found, Sample, rule};
use crate::{
    cli::{
        escape::Shown,
        table::{Style, clip},
        world::World,
    },
    lang::diagnostic::counted,
    lang::tree::RuleId,
    table::Table,
};

/// Columns of an id, and of the name of a slot.
const ID: usize = 24;
const SLOT: usize = 7;

pub(super) fn print(
    found: &Found,
    unreadable: u64,
    (old, new): (&Table, &Table),
    world: &World,
    out: &mut dyn Write,
) -> io::Result<()> {
    let colour = world.stdout_colour();
    for group in &found.groups {
        let title = format!("{} → {}", name(old, group.old), name(new, group.new));
        writeln!(out, "{}   {}", Style::Bold.paint(&title, colour), counted(group.count, "error"))?;
        for change in &group.changes {
            let (old, new) = (Shown(&change.old).to_string(), Shown(&change.new).to_string());
            let (old, new) = (Style::Bad.paint(&old, colour), Style::Good.paint(&new, colour));
            // Each error of the group has its own.
            let first = if change.what == "reset" && group.count > 1 { " (the first)" } else { "" };
            writeln!(out, "  {:<SLOT$} {old} → {new}{first}", change.what)?;
        }
        for Sample { name, message } in &group.samples {
            let id = clip(&Shown(name).to_string(), ID);
            let text = clip(message, world.width.saturating_sub(ID + 6).max(16));
            writeln!(out, "    {id:<ID$}  {}", Style::Dim.paint(&text, colour))?;
        }
        let more = group.count - u64::try_from(group.samples.len()).unwrap_or(u64::MAX).min(group.count);
        if more > 0 && !group.samples.is_empty() {
            writeln!(out, "    … and {more} more")?;
        }
        writeln!(out)?;
    }
    let changed = if found.changed == 0 { "none".to_owned() } else { found.changed.to_string() };
    writeln!(out, "{}: {changed} judged differently", counted(found.errors, "error"))?;
    if found.by_other_rule > 0 {
        writeln!(out, "{} more by another rule, with the same outcome", found.by_other_rule)?;
    }
    if unreadable > 0 {
        writeln!(out, "{unreadable} could not be read")?;
    }
    Ok(())
}

/// `credit_gone (billing.rules:12)`.
fn name(table: &Table, id: Option<RuleId>) -> String {
    match rule(table, id) {
        Some((name, at)) => format!("{name} ({})", Shown(&at)),
        None => "no rule".to_owned(),
    }
}
