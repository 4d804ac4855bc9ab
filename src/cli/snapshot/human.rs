//! What has moved, for people.

use std::io::{self, Write};

use super::{Compared, Shift};
use crate::{
    cli::{
        escape::Shown,
        table::{Style, clip},
        world::World,
    },
    lang::diagnostic::counted,
    verify::snapshot::{Change, Judgement, Way, grouped},
};

/// Columns of an id.
const ID: usize = 24;

/// Groups by where errors moved from and to, each with its first `samples` errors (0: all).
pub(super) fn print(found: &Compared, samples: usize, world: &World, out: &mut dyn Write) -> io::Result<()> {
    let all = counted(found.new.rows.len(), "error");
    let changes: Vec<Change> = found.shifts.iter().map(|shift| shift.change.clone()).collect();
    for (way, places) in grouped(&changes) {
        let count = places.len();
        writeln!(out, "{}   {}", title(&way, world.stdout_colour()), counted(count, "error"))?;
        let shown = if samples == 0 { count } else { samples };
        for shift in places.iter().take(shown).filter_map(|at| found.shifts.get(*at)) {
            writeln!(out, "{}", line(shift, world))?;
        }
        if count > shown {
            writeln!(out, "  … and {} more", count - shown)?;
        }
        writeln!(out)?;
    }
    writeln!(out, "{all}, {}", found.counts())
}

/// `billing by credit_gone, disable, fallback → …`.
pub(super) fn title((old, new): &Way, colour: bool) -> String {
    let old = old.as_ref().map_or("not in the snapshot".to_owned(), judgement);
    let new = new.as_ref().map_or("not in the corpus any more".to_owned(), judgement);
    format!("{} → {}", Style::Bad.paint(&old, colour), Style::Good.paint(&new, colour))
}

/// A judgement on one line.
pub(super) fn judgement(is: &Judgement) -> String {
    let rule = is.rule.as_ref().map_or("no rule".to_owned(), |rule| format!("by {rule}"));
    let action = if is.action == "none" { String::new() } else { format!(", {}", is.action) };
    let reset = is.reset.as_ref().map(|reset| format!(" until reset in {reset}")).unwrap_or_default();
    let text = format!("{} {rule}{action}{reset}, {}", is.bucket, is.then.replace('_', " "));
    // A snapshot is a file that anybody may have written to.
    Shown(&text).to_string()
}

fn line(Shift { change, message }: &Shift, world: &World) -> String {
    let id = clip(&Shown(&change.id).to_string(), ID);
    let resets = match (&change.old, &change.new) {
        (Some(old), Some(new)) if old.reset != new.reset => {
            let reset = |is: &Judgement| is.reset.clone().unwrap_or("none".into());
            format!("reset {} → {}  ", reset(old), reset(new))
        }
        _ => String::new(),
    };
    let left = world.width.saturating_sub(ID + 4).max(16);
    let text = clip(&format!("{}{message}", Shown(&resets)), left);
    format!("  {id:<ID$}  {}", Style::Dim.paint(&text, world.stdout_colour())).trim_end().to_owned()
}
