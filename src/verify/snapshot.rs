//! What the classifier says of a corpus, kept beside the rules, and what has moved since.
//!
//! The text is a snapshot of `insta`: a YAML header between `---` lines, then one error a line: its
//! id, bucket, rule, action, end, and the time until a reset where the reaction asks for one.

use std::{
    collections::{BTreeMap, HashMap},
    fmt::{self, Write as _},
    time::Duration,
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
            reset: verdict.reset.map(|hint| written(hint.at.since(now))),
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

fn written(reset: Duration) -> String {
    format_duration(reset)
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
        let (mut out, lines) = Self::opened(text)?;
        out.rows = lines.into_iter().filter_map(|(_, line)| row(line)).collect();
        Ok(out)
    }

    /// A snapshot's header alone, and its rows as they stand there, each behind its id: a third of the memory of
    /// [`Snapshot::parse`].
    ///
    /// # Errors
    /// When it is not one.
    pub fn opened(text: &str) -> Result<(Self, Lines<'_>), SnapshotError> {
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
        let mut rows = Vec::new();
        for (at, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
            let id = line.split_whitespace().next().filter(|_| row(line).is_some());
            rows.push((id.ok_or(SnapshotError::Row { line: at + 1 })?, line));
        }
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
        let there = now.rows.iter().map(|(id, _)| id.as_str()).collect::<std::collections::HashSet<_>>();
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

fn row(line: &str) -> Option<(String, Judgement)> {
    let mut words = line.split_whitespace();
    let mut word = || words.next().map(ToOwned::to_owned);
    let (id, bucket, rule, action, then) = (word()?, word()?, word()?, word()?, word()?);
    let reset = word();
    let rule = (rule != NONE).then_some(rule);
    word().is_none().then_some((id, Judgement { bucket, rule, action, then, reset }))
}

/// An error that is judged otherwise than before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its id.
    pub id: String,
    /// The judgement of the snapshot; `None` for an error that it does not know.
    pub old: Option<Judgement>,
    /// The judgement now; `None` for an error that the corpus no longer has.
    pub new: Option<Judgement>,
}

/// How many errors changed, by how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// They are judged otherwise than before.
    pub moved: usize,
    /// The snapshot does not know them.
    pub new: usize,
    /// The corpus no longer has them.
    pub gone: usize,
}

impl Counts {
    /// Counts changes.
    #[must_use]
    pub fn of<'a>(changes: impl IntoIterator<Item = &'a Change>) -> Self {
        let mut out = Self::default();
        for change in changes {
            match (&change.old, &change.new) {
                (None, _) => out.new += 1,
                (_, None) => out.gone += 1,
                _ => out.moved += 1,
            }
        }
        out
    }
}

impl fmt::Display for Counts {
    /// `1 judged otherwise than before, 2 new`; without a change, `all judged as before`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { moved, new, gone } = *self;
        let parts = [(moved, "judged otherwise than before"), (new, "new"), (gone, "gone")];
        let parts = parts.iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> = parts.map(|(count, what)| format!("{count} {what}")).collect();
        if parts.is_empty() { f.write_str("all judged as before") } else { f.write_str(&parts.join(", ")) }
    }
}

/// Where errors moved from and where to.
pub type Way = (Option<Judgement>, Option<Judgement>);

/// Changes by where they moved from and to, the largest group first; places in `changes`.
#[must_use]
pub fn grouped(changes: &[Change]) -> Vec<(Way, Vec<usize>)> {
    let mut groups: BTreeMap<Way, Vec<usize>> = BTreeMap::new();
    for (at, change) in changes.iter().enumerate() {
        let kind = |is: &Option<Judgement>| is.as_ref().map(Judgement::kind);
        groups.entry((kind(&change.old), kind(&change.new))).or_default().push(at);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, places)| std::cmp::Reverse(places.len()));
    groups
}

/// Makes ids that are one word each, and no two the same.
#[derive(Debug, Default)]
pub struct Ids(HashMap<String, u32>);

impl Ids {
    /// The id of an error: its own, else one made from its text, so that errors added above it do
    /// not change it. The second error with the same id gets `~2` behind it.
    pub fn next(&mut self, own: Option<&str>, text: &[u8]) -> String {
        let mut id = match own {
            Some(own) if is_word(own) => own.to_owned(),
            Some(own) => quoted(own),
            None => format!("#{:012x}", fingerprint(text) >> 16),
        };
        let base = id.clone();
        while let Some(count) = self.0.get_mut(&id) {
            *count += 1;
            id = format!("{base}~{count}");
        }
        self.0.insert(id.clone(), 1);
        id
    }
}

fn is_word(id: &str) -> bool {
    !id.is_empty() && !id.starts_with(['"', '#']) && !id.chars().any(|c| c.is_whitespace() || c.is_control())
}

/// A JSON string without blanks.
fn quoted(id: &str) -> String {
    let mut out = String::new();
    for c in serde_json::Value::from(id).to_string().chars() {
        if c.is_whitespace() || c.is_control() {
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}

/// FNV-1a: the same on every machine and with every release.
fn fingerprint(text: &[u8]) -> u64 {
    text.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
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

    #[test]
    fn ids_are_words_and_differ() {
        let mut ids = Ids::default();
        let made = [Some("a"), Some("a"), Some("a b"), Some(""), Some("#x"), None, None]
            .map(|own| ids.next(own, b"text"));
        for (at, id) in made.iter().enumerate() {
            assert_eq!(id.split_whitespace().count(), 1, "{id}");
            assert!(!made[..at].contains(id), "{id}");
        }
        assert_eq!(made[..3], ["a", "a~2", "\"a\\u0020b\""]);
        assert_eq!(Ids::default().next(None, b"text"), made[5], "the same text, the same id");
    }
}
