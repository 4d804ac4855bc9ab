//! The status for people.

use std::io::{self, Write};

use super::gather::{Next, Profile, Status};
use crate::{
    cli::{
        escape::Shown,
        table::{Cell, Style, Table},
        world::World,
    },
    time::format_duration,
};

pub(super) fn print(status: &Status, world: &World, out: &mut dyn Write) -> io::Result<()> {
    let colour = world.stdout_colour();
    let show = |text: &str| Shown(text).to_string();
    let there = if status.exists { "" } else { " (not there yet)" };
    writeln!(out, "{}", Style::Dim.paint(&format!("state {}{there}", show(&status.file)), colour))?;
    for problem in &status.problems {
        writeln!(out, "{} {}", Style::Bad.paint("error:", colour), show(problem))?;
    }
    for warning in &status.warnings {
        writeln!(out, "{} {}", Style::Warn.paint("warning:", colour), show(warning))?;
    }
    writeln!(out)?;
    match (&status.selected, &status.active) {
        (None, _) => writeln!(out, "no model is selected; a config names one (--config FILE)")?,
        (Some(selected), active) => {
            let source = status.source.unwrap_or_default();
            writeln!(out, "model    {} ({source})", Style::Bold.paint(&show(selected), colour))?;
            if let Some(active) = active {
                let why = status.reason.as_deref().unwrap_or("no reason is stored");
                writeln!(out, "fallback {} ({})", Style::Warn.paint(&show(active), colour), show(why))?;
            }
        }
    }
    writeln!(out)?;
    if status.profiles.is_empty() {
        writeln!(out, "no profiles are stored; `pointsman profiles add` stores one")?;
    }
    for profile in &status.profiles {
        of_profile(profile, colour, out)?;
    }
    writeln!(out)?;
    super::rules::print(&status.rules, world, out)?;
    writeln!(out)?;
    let mut table = Table::new(&["setting", "value", "from"], world.width, colour);
    for setting in &status.settings {
        let mut value = setting.value.clone();
        for (provider, its) in &setting.by_provider {
            value.extend([", ", its, " for ", provider]);
        }
        table.row(
            vec![
                Cell::plain(show(&setting.name)),
                Cell::plain(show(&value)),
                Cell::styled(show(&setting.origin), Style::Dim),
            ],
            out,
        )?;
    }
    table.flush(out)
}

fn of_profile(profile: &Profile, colour: bool, out: &mut dyn Write) -> io::Result<()> {
    let (state, style) = match (profile.eligible, profile.windows.is_empty()) {
        (false, _) => ("left out", Style::Bad),
        (true, false) => ("in a window", Style::Warn),
        (true, true) => ("free", Style::Good),
    };
    let pinned = match profile.pinned {
        Some("user") => ", pinned by the user",
        Some(_) => ", preferred by this session",
        None => "",
    };
    let unlisted = if profile.not_listed { ", not in the config's list" } else { "" };
    writeln!(
        out,
        "{} ({}{pinned}{unlisted}): {}",
        Style::Bold.paint(&Shown(&profile.id).to_string(), colour),
        profile.kind,
        style.paint(state, colour),
    )?;
    if let Some(reason) = &profile.reason {
        writeln!(out, "  {}", Shown(reason))?;
    }
    for window in &profile.windows {
        let model = window.model.as_deref().map(|model| format!(" for {model}")).unwrap_or_default();
        let left = format_duration(std::time::Duration::from_millis(window.left_ms));
        let hint = match (&window.hint, window.clamped) {
            (Some(hint), true) => format!(", the provider said {hint}"),
            (Some(_), false) => ", as the provider said".to_owned(),
            (None, _) => String::new(),
        };
        let next = next(window.next_step.as_ref());
        let text = format!(
            "{} by {}{model} until {} ({left} left), step {}{hint}{next}",
            window.lane, window.bucket, window.until, window.step
        );
        writeln!(out, "  {}", Shown(&text))?;
    }
    for ladder in &profile.ladders {
        let model = ladder.model.as_deref().map(|model| format!(" for {model}")).unwrap_or_default();
        let next = next(ladder.next_step.as_ref());
        let text = format!("{}{model}: step {} behind it{next}", ladder.schedule, ladder.step);
        writeln!(out, "  {}", Style::Dim.paint(&Shown(&text).to_string(), colour))?;
    }
    Ok(())
}

fn next(next: Option<&Next>) -> String {
    next.map_or_else(String::new, |next| {
        format!("; next {}", format_duration(std::time::Duration::from_millis(next.ms)))
    })
}
