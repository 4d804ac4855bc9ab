//! A timeline for people: time, session, and one line for each thing that happens.

use std::{
    collections::BTreeSet,
    io::{self, Write},
    time::Duration,
};

use unicode_width::UnicodeWidthStr as _;

use super::{Printing, words};
use crate::{
    cli::{
        escape::Shown,
        table::{Style, clip},
        world::World,
    },
    host::simulate::{Line, Scenario, Turn, Watch},
    lang::diagnostic::counted,
    run::Event,
    time::format_duration,
};

/// Columns of the time.
const TIME: usize = 9;

/// Columns of a session's name, at most.
const LONGEST: usize = 20;

/// Prints as it goes.
pub(super) struct Timeline<'o> {
    out: &'o mut dyn Write,
    colour: bool,
    width: usize,
    /// Columns of a session's name; none when there is one session only.
    names: Option<usize>,
    /// What the last line was about.
    last: Option<(Duration, String)>,
    counts: Counts,
    failed: Option<io::Error>,
}

/// What came of it all.
#[derive(Default)]
struct Counts {
    turns: usize,
    calls: usize,
    answered: usize,
    surfaced: usize,
    exhausted: usize,
    switched: usize,
    windows: usize,
    end: Duration,
}

impl<'o> Timeline<'o> {
    pub(super) fn new(scenario: &Scenario, world: &World, out: &'o mut dyn Write) -> Self {
        let sessions: BTreeSet<_> = scenario.turns.iter().map(|turn| turn.session.as_str()).collect();
        let longest = sessions.iter().map(|name| name.width()).max().unwrap_or(0).min(LONGEST);
        Self {
            out,
            colour: world.stdout_colour(),
            width: world.width,
            names: (sessions.len() > 1).then_some(longest),
            last: None,
            counts: Counts::default(),
            failed: None,
        }
    }

    fn print(&mut self, at: Duration, session: &str, style: Style, text: &str) {
        if self.failed.is_none() {
            self.failed = self.try_print(at, session, style, text).err();
        }
    }

    /// Time and session are said when they change.
    fn try_print(&mut self, at: Duration, session: &str, style: Style, text: &str) -> io::Result<()> {
        let told = self.last.as_ref();
        let same_time = told.is_some_and(|(then, _)| *then == at);
        let same_session = told.is_some_and(|(_, of)| of == session);
        let time = if same_time { String::new() } else { format_duration(at) };
        let time = format!("{time:>TIME$}");
        let mut used = TIME + 2;
        let mut line = format!("{}  ", Style::Dim.paint(&time, self.colour));
        if let Some(columns) = self.names {
            let name = if same_session && same_time { String::new() } else { Shown(session).to_string() };
            let name = clip(&name, columns);
            let pad = " ".repeat(columns.saturating_sub(name.width()) + 2);
            line += &Style::Bold.paint(&name, self.colour);
            line += &pad;
            used += columns + 2;
        }
        let text = clip(&Shown(text).to_string(), self.width.saturating_sub(used).max(40));
        line += &style.paint(&text, self.colour);
        writeln!(self.out, "{}", line.trim_end())?;
        self.last = Some((at, session.to_owned()));
        Ok(())
    }

    fn summary(&mut self) -> io::Result<()> {
        let Counts { turns, calls, answered, surfaced, exhausted, switched, windows, end } = self.counts;
        let mut ends = vec![format!("{answered} answered")];
        for (n, what) in [(surfaced, "surfaced"), (exhausted, "exhausted"), (switched, "switched")] {
            if n > 0 {
                ends.push(format!("{n} {what}"));
            }
        }
        let text = format!(
            "{} in {}: {}; {}, {}",
            counted(turns, "turn"),
            format_duration(end),
            ends.join(", "),
            counted(calls, "call"),
            counted(windows, "window"),
        );
        writeln!(self.out, "\n{}", Style::Bold.paint(&text, self.colour))
    }
}

impl Watch for Timeline<'_> {
    fn turn(&mut self, turn: &Turn) {
        if matches!(turn.act, crate::host::simulate::Act::Ask(_)) {
            self.counts.turns += 1;
        }
        self.counts.end = self.counts.end.max(turn.at);
        self.last = None;
        self.print(turn.at, &turn.session, Style::Bold, &words::turn(&turn.act));
    }

    fn line(&mut self, line: Line) {
        let counts = &mut self.counts;
        counts.end = counts.end.max(line.at);
        match &line.event {
            Event::Attempt { .. } => counts.calls += 1,
            Event::Window { .. } => counts.windows += 1,
            Event::Answered { .. } => counts.answered += 1,
            Event::Surfaced { .. } => counts.surfaced += 1,
            Event::Exhausted { .. } => counts.exhausted += 1,
            Event::Switched { .. } => counts.switched += 1,
            _ => {}
        }
        if let Some((style, text)) = words::event(&line.event, line.at) {
            self.print(line.at, &line.session, style, &format!("  {text}"));
        }
    }
}

impl Printing for Timeline<'_> {
    fn watch(&mut self) -> &mut dyn Watch {
        self
    }

    fn end(&mut self) -> io::Result<()> {
        self.failed.take().map_or(Ok(()), Err)?;
        self.summary()
    }
}
