//! An explanation as plain text. Error texts may hold anything: control characters are escaped, so
//! that nothing in them reaches a terminal raw.

use std::{fmt, time::Duration};

use super::{Considered, Explanation, Findings, Kind, Tested};
use crate::time::format_duration;

/// Longest text that is shown whole, in characters.
const LONG: usize = 300;

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        found(&self.found, f)?;
        match &self.rule {
            Some(rule) => writeln!(f, "\nverdict: {} by {}  {}", self.bucket, rule.name, rule.at)?,
            None => writeln!(f, "\nverdict: {}; no rule matched", self.bucket)?,
        }
        if let Some(doc) = self.rule.as_ref().and_then(|rule| rule.doc.as_ref()) {
            doc.lines().try_for_each(|line| writeln!(f, "  {line}"))?;
        }
        if !self.considered.is_empty() {
            writeln!(f, "\nrules looked at, in order ({} could not apply):", self.passed_over)?;
            self.considered.iter().try_for_each(|rule| considered(rule, f))?;
        }
        for rule in &self.observed {
            writeln!(f, "\nobserved: {}  {}", rule.name, rule.at)?;
        }
        if !self.nearest.is_empty() {
            writeln!(f, "\nnearest rules:")?;
        }
        for near in &self.nearest {
            writeln!(f, "  {} -> {}  {}", near.rule, near.bucket, near.at)?;
            near.failed.iter().try_for_each(|test| tested(test, 2, f))?;
        }
        writeln!(f, "\nwhat follows:")?;
        for slot in &self.reaction {
            writeln!(f, "  {:<7} {}  {}", slot.slot, shown(&slot.value), slot.at)?;
        }
        if let Some(reset) = &self.reset {
            write!(f, "\nreset: {} by {}  {}", reset.until, reset.by, reset.declared_at)?;
            if reset.clamped {
                write!(f, " (given as {}, clamped)", reset.given)?;
            }
            writeln!(f)?;
        }
        if let Some(window) = &self.window {
            let whom = window
                .model
                .as_ref()
                .map_or("the profile".to_owned(), |model| format!("model {}", shown(model)));
            let span = format_duration(Duration::from_millis(window.for_ms));
            let why = if window.by_reset { "until the reset; schedule" } else { "first step of" };
            write!(f, "\nwindow: {} of {whom} for {span} ({why} {})", window.lane, window.schedule)?;
            if window.from_failure > 1 {
                write!(f, ", from failure {} in a row", window.from_failure)?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

fn found(found: &Findings, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    writeln!(f, "found:")?;
    let mut line = |name: &str, value: Option<String>| match value {
        Some(value) => writeln!(f, "  {name:<9} {value}"),
        None => Ok(()),
    };
    let family =
        found.family.as_ref().map_or_else(String::new, |family| format!(" (family {})", shown(family)));
    line("provider", found.provider.as_ref().map(|provider| format!("{}{family}", shown(provider))))?;
    line("model", found.model.as_deref().map(shown))?;
    let from = found.status_from.unwrap_or("text");
    line("status", found.status.map(|status| format!("{status} (from the {from})")))?;
    line("statuses", (found.statuses.len() > 1).then(|| format!("{:?}", found.statuses)))?;
    line("number", found.leading_number.map(|number| format!("{number}, leading, no status")))?;
    line("aborted", found.aborted.map(str::to_owned))?;
    line("body", (found.body != "text").then(|| found.body.to_owned()))?;
    for text in &found.texts {
        line(text.kind, Some(shown(&text.text)))?;
    }
    for header in &found.headers {
        let value = header.value.as_deref().map_or("(not shown)".to_owned(), shown);
        line("header", Some(format!("{}: {value}", shown(&header.name))))?;
    }
    line("note", found.cut.then(|| "texts were cut to their limit".to_owned()))?;
    line("note", found.too_deep.then(|| "JSON deeper than the limit was left closed".to_owned()))
}

fn considered(rule: &Considered, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let observe = if rule.observe { "observe " } else { "" };
    writeln!(f, "  {} {observe}{} -> {}  {}", mark(rule.holds), rule.rule, rule.bucket, rule.at)?;
    rule.tests.iter().try_for_each(|test| tested(test, 2, f))
}

fn tested(test: &Tested, depth: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{:indent$}{} {}", "", mark(test.holds), shown(&test.what), indent = depth * 2)?;
    if let Some(hit) = &test.hit {
        write!(f, "  <- {} {}..{} `{}`", hit.field, hit.start, hit.end, shown(&hit.text))?;
    }
    writeln!(f)?;
    // Of a choice that holds, the parts that do not hold say nothing.
    let quiet = test.kind == Kind::Any && test.holds;
    test.parts.iter().filter(|part| !quiet || part.holds).try_for_each(|part| tested(part, depth + 1, f))
}

fn mark(holds: bool) -> char {
    if holds { '+' } else { '-' }
}

/// A text on one line, control characters escaped, the middle of a long one left out.
fn shown(text: &str) -> String {
    let count = text.chars().count();
    let escaped = |text: &str| {
        let mut out = String::with_capacity(text.len());
        for c in text.chars() {
            if c.is_control() || is_direction(c) {
                out.extend(c.escape_default());
            } else {
                out.push(c);
            }
        }
        out
    };
    if count <= LONG {
        return escaped(text);
    }
    let head: String = text.chars().take(LONG * 2 / 3).collect();
    let tail: String = text.chars().skip(count - LONG / 3).collect();
    format!("{} … {}", escaped(&head), escaped(&tail))
}

/// Characters that turn the direction of text can make a line read as something else.
fn is_direction(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
