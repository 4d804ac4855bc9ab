//! What the classifier says of a corpus, kept beside the rules, and what has moved since.
//!
//! The text is a snapshot of `insta`: a YAML header between `---` lines, then one error a line: its
//! id, bucket, rule, action, end, and the time until a reset where the reaction asks for one.

mod change;
mod ids;

use std::{
    collections::{HashMap, HashSet},
    fmt::Write as _,
};

pub use self::{
    change::{Change, Counts, Way, grouped},
    ids::Ids,
};

use crate::{
    classify::Verdict,
    lang::policy::{End, Lane},
    table::Table,
    time::{Timestamp, format_duration},
};

/// The clock of an error that brings none, so that a snapshot does not change by itself:
/// 2026-01-01T00:00:00Z.
pub const CLOCK: Timestamp = super::examples::CLOCK;

/// Stands where there is nothing to say.
const NONE: &str = "-";

/// The header's `expression`, and what it has behind it when the lines were plain texts.
const MADE: &str = "pointsman snapshot";
const RAW: &str = " --raw";

/// Why a text is no snapshot.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    /// It does not begin with a header.
    #[error("a snapshot begins with a header between two lines of `---`")]
    Header,
    /// A line has too few or too many words.
    #[error("line {line} is not `id bucket rule action end [reset]`")]
    Row {
        /// Its number in the file, from 1.
        line: usize,
    },
}

/// What the classifier says of one error.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Judgement {
    /// The bucket.
    pub bucket: String,
    /// The deciding rule; `None` when nothing matched.
    pub rule: Option<String>,
    /// `cooldown`, `disable` or `none`.
    pub action: String,
    /// `fallback`, `surface` or `fallback_else_surface`.
    pub then: String,
    /// Time until the provider serves again, as durations are written (`90s`).
    pub reset: Option<String>,
}

impl Judgement {
    /// A verdict in words; `now` is what the reset counts from.
    #[must_use]
    pub fn of(table: &Table, verdict: &Verdict, now: Timestamp) -> Self {
        let reaction = table.reaction(verdict);
        Self {
            bucket: table.bucket(verdict.bucket).name.to_string(),
            rule: verdict.rule.map(|rule| table.rule(rule).name.to_string()),
            action: action(reaction.window.as_ref().map(|window| window.lane)).to_owned(),
            then: then(*reaction.end).to_owned(),
            reset: verdict.reset.map(|hint| format_duration(hint.at.since(now))),
        }
    }

    /// The same without its reset, which differs from error to error.
    fn kind(&self) -> Self {
        Self { reset: None, ..self.clone() }
    }
}

/// The word for what happens to the profile.
#[must_use]
pub fn action(lane: Option<Lane>) -> &'static str {
    match lane {
        Some(Lane::Cooldown) => "cooldown",
        Some(Lane::Disable) => "disable",
        None => "none",
    }
}

/// The word for what happens when the provider is exhausted.
#[must_use]
pub fn then(end: End) -> &'static str {
    match end {
        End::Fallback => "fallback",
        End::Surface => "surface",
        End::FallbackElseSurface => "fallback_else_surface",
    }
}

/// Rows as they stand in a file, each behind its id.
pub type Lines<'t> = Vec<(&'t str, &'t str)>;

/// The judgements of a corpus, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// The lines of the header.
    header: String,
    /// Each error's id (see [`Ids`]) and judgement.
    pub rows: Vec<(String, Judgement)>,
}

impl Snapshot {
    /// An empty one of the corpus that is called so; `raw`: its lines are plain texts.
    #[must_use]
    pub fn new(corpus: &str, raw: bool) -> Self {
        // A JSON string is a YAML string, too.
        let source = serde_json::Value::from(corpus);
        let raw = if raw { RAW } else { "" };
        Self { header: format!("source: {source}\nexpression: {MADE}{raw}\n"), rows: Vec::new() }
    }

    /// What the corpus was called that it was made of, when the header says so.
    #[must_use]
    pub fn source(&self) -> Option<String> {
        self.field("source")
    }

    /// Whether the lines of the corpus were plain texts, when the header says so.
    #[must_use]
    pub fn raw(&self) -> Option<bool> {
        self.field("expression")?.strip_prefix(MADE).map(|rest| rest == RAW)
    }

    fn field(&self, name: &str) -> Option<String> {
        let value = self.header.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?.trim();
        let plain = || value.trim_matches('\'').to_owned();
        Some(serde_json::from_str(value).unwrap_or_else(|_| plain()))
    }

    /// Reads a snapshot.
    ///
    /// # Errors
    /// When it is not one.
    pub fn parse(text: &str) -> Result<Self, SnapshotError> {
        let (header, rows) = read(text, row)?;
        Ok(Self { header, rows })
    }

    /// A snapshot's header alone, and its rows as they stand there, each behind its id: a third of the memory of
    /// [`Snapshot::parse`].
    ///
    /// # Errors
    /// When it is not one.
    pub fn opened(text: &str) -> Result<(Self, Lines<'_>), SnapshotError> {
        let (header, rows) = read(text, |line| fields(line).map(|(id, ..)| (id, line)))?;
        Ok((Self { header, rows: Vec::new() }, rows))
    }

    /// The text of the file.
    #[must_use]
    pub fn print(&self) -> String {
        let mut out = self.head();
        for (id, is) in &self.rows {
            print_row(&mut out, id, is);
        }
        out
    }

    /// What stands above the rows.
    #[must_use]
    pub fn head(&self) -> String {
        format!("---\n{}---\n", self.header)
    }

    /// What `now` says otherwise, in the order of `now`; errors that are no longer there come last.
    #[must_use]
    pub fn changes(&self, now: &Self) -> Vec<Change> {
        let mut old: HashMap<&str, &Judgement> = self.rows.iter().map(|(id, is)| (id.as_str(), is)).collect();
        let mut out = Vec::new();
        for (id, new) in &now.rows {
            let old = old.remove(id.as_str());
            if old != Some(new) {
                out.push(Change { id: id.clone(), old: old.cloned(), new: Some(new.clone()) });
            }
        }
        let gone = self.rows.iter().filter(|(id, _)| old.contains_key(id.as_str()));
        out.extend(gone.map(|(id, is)| Change { id: id.clone(), old: Some(is.clone()), new: None }));
        out
    }

    /// `now` where `takes` says so of a change, and the old judgement elsewhere.
    #[must_use]
    pub fn taking(&self, now: &Self, changes: &[Change], takes: impl Fn(usize) -> bool) -> Self {
        let kept = changes.iter().enumerate().filter(|(at, _)| !takes(*at));
        let kept: HashMap<&str, Option<&Judgement>> =
            kept.map(|(_, change)| (change.id.as_str(), change.old.as_ref())).collect();
        let mut rows = Vec::new();
        for (id, new) in &now.rows {
            match kept.get(id.as_str()) {
                None => rows.push((id.clone(), new.clone())),
                Some(Some(old)) => rows.push((id.clone(), (*old).clone())),
                Some(None) => {}
            }
        }
        let there = now.rows.iter().map(|(id, _)| id.as_str()).collect::<HashSet<_>>();
        let gone =
            self.rows.iter().filter(|(id, _)| kept.contains_key(id.as_str()) && !there.contains(id.as_str()));
        rows.extend(gone.cloned());
        Self { header: self.header.clone(), rows }
    }
}

/// Appends the line of an error.
pub fn print_row(out: &mut String, id: &str, is: &Judgement) {
    let rule = is.rule.as_deref().unwrap_or(NONE);
    // Fixed columns, so that one longer name does not move every line.
    let _ = write!(out, "{id:<28} {:<16} {rule:<32} {:<8} {}", is.bucket, is.action, is.then);
    let _ = match &is.reset {
        Some(reset) => writeln!(out, " {reset}"),
        None => writeln!(out),
    };
}

/// The lines of the header, and what `of` makes of each row.
fn read<'t, T>(text: &'t str, of: impl Fn(&'t str) -> Option<T>) -> Result<(String, Vec<T>), SnapshotError> {
    let mut lines = text.lines().enumerate();
    let mut header = String::new();
    if lines.next().is_none_or(|(_, first)| first.trim_end() != "---") {
        return Err(SnapshotError::Header);
    }
    loop {
        match lines.next() {
            None => return Err(SnapshotError::Header),
            Some((_, line)) if line.trim_end() == "---" => break,
            Some((_, line)) => header.extend([line, "\n"]),
        }
    }
    let rows = lines.filter(|(_, line)| !line.trim().is_empty());
    let rows = rows.map(|(at, line)| of(line).ok_or(SnapshotError::Row { line: at + 1 }));
    Ok((header, rows.collect::<Result<_, _>>()?))
}

/// An id, its bucket, rule, action and end, and its reset.
fn fields(line: &str) -> Option<(&str, [&str; 4], Option<&str>)> {
    let mut words = line.split_whitespace();
    let mut word = || words.next();
    let found = (word()?, [word()?, word()?, word()?, word()?], word());
    word().is_none().then_some(found)
}

fn row(line: &str) -> Option<(String, Judgement)> {
    let (id, [bucket, rule, action, then], reset) = fields(line)?;
    let judgement = Judgement {
        bucket: bucket.to_owned(),
        rule: (rule != NONE).then(|| rule.to_owned()),
        action: action.to_owned(),
        then: then.to_owned(),
        reset: reset.map(ToOwned::to_owned),
    };
    Some((id.to_owned(), judgement))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judgement(bucket: &str, reset: Option<&str>) -> Judgement {
        Judgement {
            bucket: bucket.into(),
            rule: (bucket != "unclassified").then(|| format!("{bucket}_rule")),
            action: "cooldown".into(),
            then: "fallback".into(),
            reset: reset.map(Into::into),
        }
    }

    fn snapshot(rows: &[(&str, Judgement)]) -> Snapshot {
        let mut out = Snapshot::new("a corpus \"x\".jsonl", false);
        out.rows = rows.iter().map(|(id, is)| ((*id).to_owned(), is.clone())).collect();
        out
    }

    #[test]
    fn what_is_printed_is_read_back() {
        let long = "x".repeat(60);
        let whole = snapshot(&[
            ("a", judgement("busy", Some("1m30s"))),
            (&long, judgement("unclassified", None)),
            ("余额", judgement("billing", None)),
        ]);
        assert_eq!(Snapshot::parse(&whole.print()), Ok(whole));
    }

    #[test]
    fn a_header_says_what_the_snapshot_was_made_of() {
        let made = |header: &str| {
            let snapshot = Snapshot::parse(&format!("---\n{header}---\n")).unwrap();
            (snapshot.source(), snapshot.raw())
        };
        for raw in [false, true] {
            let snapshot = Snapshot::new("a \"b\".jsonl", raw);
            assert_eq!((snapshot.source(), snapshot.raw()), (Some("a \"b\".jsonl".into()), Some(raw)));
        }
        for source in ["a.jsonl", "'a.jsonl'", "\"a.jsonl\""] {
            assert_eq!(made(&format!("source: {source}\n")), (Some("a.jsonl".into()), None));
        }
        assert_eq!(made("expression: other\n"), (None, None));
    }

    #[test]
    fn what_is_no_snapshot_is_told() {
        for text in ["", "a b c", "---\nsource: x\n"] {
            assert_eq!(Snapshot::parse(text), Err(SnapshotError::Header), "{text}");
        }
        for row in ["a busy rule cooldown", "a busy rule cooldown fallback 1s more"] {
            let text = format!("---\nsource: x\n---\nok busy - none surface\n\n{row}\n");
            assert_eq!(Snapshot::parse(&text), Err(SnapshotError::Row { line: 6 }));
        }
    }

    #[test]
    fn changes_are_found_and_taken_one_by_one() {
        let old = snapshot(&[
            ("same", judgement("busy", None)),
            ("moved", judgement("busy", None)),
            ("later", judgement("busy", Some("1s"))),
            ("gone", judgement("busy", None)),
        ]);
        let now = snapshot(&[
            ("new", judgement("billing", None)),
            ("same", judgement("busy", None)),
            ("later", judgement("busy", Some("2s"))),
            ("moved", judgement("billing", None)),
        ]);
        let changes = old.changes(&now);
        let ids: Vec<&str> = changes.iter().map(|change| change.id.as_str()).collect();
        assert_eq!(ids, ["new", "later", "moved", "gone"]);
        assert_eq!(old.taking(&now, &changes, |_| true).rows, now.rows);
        assert!(old.changes(&old.taking(&now, &changes, |_| false)).is_empty());
        for (taken, change) in changes.iter().enumerate() {
            let left = old.taking(&now, &changes, |at| at == taken).changes(&now);
            let expected: Vec<_> = changes.iter().filter(|other| other.id != change.id).cloned().collect();
            assert_eq!(left, expected, "{}", change.id);
        }
    }

    #[test]
    fn groups_say_from_where_to_where() {
        let old = snapshot(&[
            ("a", judgement("x", None)),
            ("b", judgement("x", None)),
            ("c", judgement("y", None)),
        ]);
        let now = snapshot(&[
            ("c", judgement("z", None)),
            ("a", judgement("z", Some("1s"))),
            ("b", judgement("z", Some("2s"))),
        ]);
        let groups = grouped(&old.changes(&now));
        let sizes: Vec<usize> = groups.iter().map(|(_, places)| places.len()).collect();
        assert_eq!(sizes, [2, 1], "resets do not part a group");
    }
}
