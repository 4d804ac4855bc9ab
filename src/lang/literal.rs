//! Required literals: strings one of which every match of an expression must contain.
//!
//! They are given in the normal form of the scanned buffer: folded as `signal` folds, and with `_`
//! and `-` turned into blanks, since a phrase's blank stands for any of the three.

use std::collections::BTreeSet;

use regex_syntax::hir::{Class, Hir, HirKind};

use super::pattern::MIN_LITERAL;

/// How many alternatives a set of literals may have, and how long one may grow.
const MAX_SET: usize = 48;
const MAX_LENGTH: usize = 64;

type Set = BTreeSet<String>;

/// Whether folding leaves this character alone.
#[must_use]
pub fn is_folded(c: char) -> bool {
    let mut lower = c.to_lowercase();
    c != 'ſ' && lower.next() == Some(c) && lower.next().is_none()
}

/// A phrase as the scanned buffer shows it: lower case, `_`, `-` and white space as blanks.
#[must_use]
pub fn normal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    if text.is_ascii() {
        out.extend(text.bytes().map(|byte| match byte {
            b'_' | b'-' => ' ',
            byte if char::from(byte).is_whitespace() => ' ',
            byte => char::from(byte.to_ascii_lowercase()),
        }));
        return out;
    }
    for c in text.chars().flat_map(char::to_lowercase) {
        let c = match c {
            '_' | '-' => ' ',
            '\u{2018}' | '\u{2019}' => '\'',
            '\u{201c}' | '\u{201d}' => '"',
            c if c.is_whitespace() => ' ',
            c => c,
        };
        out.push(c);
    }
    out
}

/// The best set of required literals, each of at least [`MIN_LITERAL`] bytes.
pub(super) fn required(hir: &Hir) -> Option<Vec<String>> {
    let found = analyse(hir);
    let best = better(found.exact.as_ref(), found.required.as_ref())?;
    Some(best.into_iter().collect())
}

struct Found {
    /// All strings that it can match, when they are few.
    exact: Option<Set>,
    /// One of these is part of every match.
    required: Option<Set>,
}

fn nothing() -> Found {
    Found { exact: None, required: None }
}

fn analyse(hir: &Hir) -> Found {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => exactly([String::new()]),
        HirKind::Literal(l) => match std::str::from_utf8(&l.0) {
            Ok(text) => literal(text),
            Err(_) => nothing(),
        },
        HirKind::Class(class) => class_set(class).map_or_else(nothing, exactly),
        HirKind::Capture(c) => analyse(&c.sub),
        HirKind::Repetition(r) => {
            let sub = analyse(&r.sub);
            match (r.min, r.max) {
                (0, Some(1)) => Found {
                    exact: sub.exact.map(|mut set| {
                        set.insert(String::new());
                        set
                    }),
                    required: None,
                },
                (0, _) => nothing(),
                (1, Some(1)) => sub,
                _ => Found { exact: None, required: better(sub.exact.as_ref(), sub.required.as_ref()) },
            }
        }
        HirKind::Concat(parts) => concat(parts),
        HirKind::Alternation(parts) => {
            let all: Vec<Found> = parts.iter().map(analyse).collect();
            let mut exact = Some(Set::new());
            let mut required = Some(Set::new());
            for found in all {
                required = union(required, better(found.exact.as_ref(), found.required.as_ref()));
                exact = union(exact, found.exact);
            }
            Found { exact, required }
        }
    }
}

fn exactly(set: impl IntoIterator<Item = String>) -> Found {
    Found { exact: Some(set.into_iter().collect()), required: None }
}

/// A literal whose characters folding might change in a way not known here is cut there.
fn literal(text: &str) -> Found {
    let pieces: Vec<&str> = text.split(|c: char| !c.is_ascii() && !is_plain(c)).collect();
    if let [whole] = pieces.as_slice() {
        return exactly([normal(whole)]);
    }
    let longest = pieces.into_iter().max_by_key(|p| p.len()).unwrap_or("");
    Found { exact: None, required: better(Some(&Set::from([normal(longest)])), None) }
}

/// A letter beyond ASCII that folding surely keeps.
fn is_plain(c: char) -> bool {
    c.is_alphabetic() && is_folded(c) && c.to_uppercase().eq([c])
}

fn class_set(class: &Class) -> Option<Set> {
    let Class::Unicode(class) = class else { return None };
    let size: u32 = class.ranges().iter().map(|r| u32::from(r.end()) - u32::from(r.start()) + 1).sum();
    if size == 0 || size > 8 {
        return None;
    }
    let chars = class.ranges().iter().flat_map(|r| r.start()..=r.end());
    chars.map(|c| (c.is_ascii() || is_plain(c)).then(|| normal(c.encode_utf8(&mut [0; 4])))).collect()
}

fn concat(parts: &[Hir]) -> Found {
    let mut whole = true;
    let mut run = Set::from([String::new()]);
    let mut best: Option<Set> = None;
    for part in parts {
        let found = analyse(part);
        match found.exact {
            Some(exact)
                if run.len() * exact.len() <= MAX_SET && longest(&run) + longest(&exact) <= MAX_LENGTH =>
            {
                run = run.iter().flat_map(|a| exact.iter().map(move |b| format!("{a}{b}"))).collect();
            }
            exact => {
                whole = false;
                best = better(better(Some(&run), best.as_ref()).as_ref(), found.required.as_ref());
                run = exact.filter(|e| e.len() <= MAX_SET).unwrap_or_else(|| Set::from([String::new()]));
            }
        }
    }
    if whole {
        Found { exact: Some(run), required: best }
    } else {
        Found { exact: None, required: better(Some(&run), best.as_ref()) }
    }
}

fn longest(set: &Set) -> usize {
    set.iter().map(String::len).max().unwrap_or(0)
}

fn union(a: Option<Set>, b: Option<Set>) -> Option<Set> {
    let (mut a, b) = (a?, b?);
    a.extend(b);
    (a.len() <= MAX_SET).then_some(a)
}

/// The set whose shortest literal is longer; neither when both have one too short.
fn better(a: Option<&Set>, b: Option<&Set>) -> Option<Set> {
    let worth = |set: &Set| set.iter().map(String::len).min().unwrap_or(0).min(12);
    match (a.and_then(tidy), b.and_then(tidy)) {
        (Some(a), Some(b)) if worth(&b) > worth(&a) => Some(b),
        (Some(a), _) => Some(a),
        (None, b) => b,
    }
}

/// Folding makes one blank of a run of white space but not of `_` and `-`, and may trim a text: so
/// only what stands between runs is certain. An alternative that contains another says nothing more.
/// `None` when one is too short to look for.
fn tidy(set: &Set) -> Option<Set> {
    let certain = |text: &String| {
        // Looking first is much cheaper than splitting, and hardly any text has such a run.
        if !text.as_bytes().windows(2).any(|pair| pair == b"  ") {
            return text.trim().to_owned();
        }
        let longest = text.split("  ").map(str::trim).max_by_key(|piece| piece.len());
        longest.unwrap_or("").to_owned()
    };
    let set: Set = set.iter().map(certain).collect();
    if set.iter().any(|literal| literal.len() < MIN_LITERAL) || set.is_empty() {
        return None;
    }
    if set.len() == 1 {
        return Some(set);
    }
    let holds_other = |literal: &String| {
        set.iter().any(|other| other.len() < literal.len() && literal.contains(other.as_str()))
    };
    Some(set.iter().filter(|literal| !holds_other(literal)).cloned().collect())
}
