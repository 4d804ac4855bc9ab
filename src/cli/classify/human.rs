//! Verdicts as a table for people.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use serde_json::value::RawValue;

use crate::{
    classify::Verdict,
    cli::{
        answer::{action, message, then},
        escape::Shown,
        jsonl,
        table::{Cell, Style, Table as Columns, clip},
        world::World,
    },
    lang::{
        diagnostic::counted,
        policy::{Lane, Reaction},
    },
    signal::Evidence,
    table::Table,
    time::{Timestamp, format_duration},
};

/// Terminals from these widths on get a column with the reaction, and one with the rule's place.
const WITH_REACTION: usize = 130;
const WITH_PLACE: usize = 160;

/// Columns of an id.
const LONGEST_ID: usize = 20;

/// Rows as they come, and a summary at the end.
pub(super) struct Human<'t> {
    table: &'t Table,
    columns: Columns,
    width: usize,
    counts: BTreeMap<&'t str, u64>,
    unmatched: u64,
    unreadable: u64,
}

impl<'t> Human<'t> {
    pub(super) fn new(table: &'t Table, world: &World) -> Self {
        let width = world.width;
        let head = optional(width, ["error", "bucket", "rule", "reaction", "at", "message"]);
        Self {
            table,
            columns: Columns::new(&head, width, world.stdout_colour()),
            width,
            counts: BTreeMap::new(),
            unmatched: 0,
            unreadable: 0,
        }
    }

    pub(super) fn row(
        &mut self,
        id: Option<&RawValue>,
        line: u64,
        verdict: &Verdict,
        evidence: &Evidence,
        now: Timestamp,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let bucket = &*self.table.bucket(verdict.bucket).name;
        *self.counts.entry(bucket).or_default() += 1;
        let reaction = self.table.reaction(verdict);
        let style = match reaction.window.as_ref().map(|window| window.lane) {
            Some(Lane::Disable) => Style::Bad,
            Some(Lane::Cooldown) => Style::Warn,
            None => Style::Plain,
        };
        let rule = verdict.rule.map(|rule| self.table.rule(rule));
        self.unmatched += u64::from(rule.is_none());
        let at = rule.map(|rule| self.table.locate(rule.span)).unwrap_or_default();
        let cells = [
            Cell::plain(name(id, line)),
            Cell::styled(bucket, style),
            rule.map_or(Cell::styled("no rule", Style::Dim), |rule| Cell::plain(&*rule.name)),
            Cell::styled(says(reaction, verdict, now), style),
            Cell::styled(Shown(&at).to_string(), Style::Dim),
            Cell::styled(message(evidence), Style::Dim),
        ];
        self.columns.row(optional(self.width, cells), out)
    }

    pub(super) fn error(&mut self, line: u64, error: &str, out: &mut dyn Write) -> io::Result<()> {
        self.unreadable += 1;
        let none = Cell::default;
        let first = Cell::styled(format!("line {line}"), Style::Bad);
        let last = Cell::styled(Shown(error).to_string(), Style::Bad);
        let cells = [first, none(), none(), none(), none(), last];
        self.columns.row(optional(self.width, cells), out)
    }

    pub(super) fn flush(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.columns.flush(out)
    }

    /// How many fell where, most first.
    pub(super) fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let total: u64 = self.counts.values().sum();
        if total + self.unreadable < 2 {
            return Ok(());
        }
        let mut counts: Vec<_> = self.counts.iter().collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let counts: Vec<_> = counts.iter().map(|(bucket, count)| format!("{bucket} {count}")).collect();
        writeln!(out, "\n{}: {}", counted(total, "error"), counts.join(", "))?;
        if self.unmatched > 0 {
            writeln!(out, "{} matched no rule; `pointsman explain` shows the nearest", self.unmatched)?;
        }
        if self.unreadable > 0 {
            writeln!(out, "{} could not be read", self.unreadable)?;
        }
        Ok(())
    }
}

/// The columns that a terminal of this width has room for.
fn optional<T>(width: usize, [error, bucket, rule, reaction, at, message]: [T; 6]) -> Vec<T> {
    let mut columns = vec![error, bucket, rule];
    columns.extend((width >= WITH_REACTION).then_some(reaction));
    columns.extend((width >= WITH_PLACE).then_some(at));
    columns.push(message);
    columns
}

/// The id as the user knows it, else the line's number.
fn name(id: Option<&RawValue>, line: u64) -> String {
    match id.and_then(jsonl::text) {
        None => line.to_string(),
        Some(text) => clip(&Shown(&text).to_string(), LONGEST_ID),
    }
}

/// `cooldown 30s, fallback`.
fn says(reaction: &Reaction, verdict: &Verdict, now: Timestamp) -> String {
    let until = verdict.reset.map(|hint| format!(" {}", format_duration(hint.at.since(now))));
    let then = then(reaction).replace('_', " ");
    match action(reaction) {
        "none" => then,
        action => format!("{action}{}, {then}", until.unwrap_or_default()),
    }
}
