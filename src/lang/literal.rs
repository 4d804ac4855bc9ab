//! Required literals: strings one of which every match of an expression must contain.
//!
//! They are given in the normal form of the scanned buffer: folded as `signal` folds, and with `_`
//! and `-` turned into blanks, since a phrase's blank stands for any of the three.

use regex_syntax::hir::{Class, Hir, HirKind};

use super::pattern::MIN_LITERAL;

/// How many alternatives a set of literals may have, and how long one may grow.
const MAX_SET: usize = 48;
const MAX_LENGTH: usize = 64;
/// How many sets are kept.
const MOST_SETS: usize = 3;

/// In order, each once.
type Set = Vec<String>;

fn set(mut of: Vec<String>) -> Set {
    of.sort_unstable();
    of.dedup();
    of
}

/// Whether folding leaves this character alone.
#[must_use]
pub fn is_folded(c: char) -> bool {
    let mut lower = c.to_lowercase();
    c != 'ſ' && lower.next() == Some(c) && lower.next().is_none()
}

/// A phrase as the scanned buffer shows it: lower case, `_`, `-`, white space and control characters as
/// blanks.
#[must_use]
pub fn normal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    if text.is_ascii() {
        out.extend(text.bytes().map(|byte| match byte {
            b'_' | b'-' => ' ',
            byte if byte.is_ascii_control() => ' ',
            byte => char::from(byte.to_ascii_lowercase()),
        }));
        return out;
    }
    for c in text.chars().flat_map(char::to_lowercase) {
        let c = match c {
            '_' | '-' => ' ',
            '\u{2018}' | '\u{2019}' => '\'',
            '\u{201c}' | '\u{201d}' => '"',
            c if c.is_whitespace() || c.is_control() => ' ',
            c => c,
        };
        out.push(c);
    }
    out
}

/// Sets of required literals, each of at least [`MIN_LITERAL`] bytes: of every set one is part of every
/// match. The one that is likely to be rarest comes first.
pub(super) fn required(hir: &Hir) -> Vec<Vec<String>> {
    let mut sets = analyse(hir).sets();
    // Stable: of equals the first.
    sets.sort_by_key(|set| std::cmp::Reverse(worth(set)));
    let mut kept: Vec<Set> = Vec::new();
    for set in sets {
        if kept.len() < MOST_SETS && !kept.contains(&set) {
            kept.push(set);
        }
    }
    kept
}

struct Found {
    /// All strings that it can match, when they are few.
    exact: Option<Set>,
    /// Of each of these sets one is part of every match; tidied.
    required: Vec<Set>,
}

impl Found {
    /// Sets of literals, of each of which one is part of every match.
    fn sets(self) -> Vec<Set> {
        self.exact.and_then(tidy).into_iter().chain(self.required).collect()
    }
}

fn nothing() -> Found {
    Found { exact: None, required: Vec::new() }
}

fn analyse(hir: &Hir) -> Found {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => exactly(vec![String::new()]),
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
                    exact: sub.exact.map(|mut all| {
                        all.push(String::new());
                        set(all)
                    }),
                    required: Vec::new(),
                },
                (0, _) => nothing(),
                (1, Some(1)) => sub,
                _ => Found { exact: None, required: sub.sets() },
            }
        }
        HirKind::Concat(parts) => concat(parts),
        HirKind::Alternation(parts) => alternation(parts),
    }
}

fn exactly(all: Vec<String>) -> Found {
    Found { exact: Some(set(all)), required: Vec::new() }
}

/// A literal whose characters folding might change in a way not known here is cut there.
fn literal(text: &str) -> Found {
    let pieces: Vec<&str> = text.split(|c: char| !c.is_ascii() && !is_plain(c)).collect();
    if let [whole] = pieces.as_slice() {
        return exactly(vec![normal(whole)]);
    }
    let longest = pieces.into_iter().max_by_key(|p| p.len()).unwrap_or("");
    Found { exact: None, required: tidy(vec![normal(longest)]).into_iter().collect() }
}

/// A letter beyond ASCII that folding surely keeps.
fn is_plain(c: char) -> bool {
    c.is_alphabetic() && is_folded(c) && c.to_uppercase().eq([c])
}

fn class_set(class: &Class) -> Option<Vec<String>> {
    let Class::Unicode(class) = class else { return None };
    let size: u32 = class.ranges().iter().map(|r| u32::from(r.end()) - u32::from(r.start()) + 1).sum();
    if size == 0 || size > 8 {
        return None;
    }
    let chars = class.ranges().iter().flat_map(|r| r.start()..=r.end());
    chars.map(|c| (c.is_ascii() || is_plain(c)).then(|| normal(c.encode_utf8(&mut [0; 4])))).collect()
}

fn alternation(parts: &[Hir]) -> Found {
    let (mut exact, mut required) = (Some(Set::new()), Some(Set::new()));
    for part in parts {
        let found = analyse(part);
        exact = union(exact, found.exact.clone());
        required = union(required, found.sets().into_iter().rev().max_by_key(worth));
    }
    Found { exact, required: required.and_then(tidy).into_iter().collect() }
}

fn concat(parts: &[Hir]) -> Found {
    let mut whole = true;
    let mut run = vec![String::new()];
    let mut required = Vec::new();
    for part in parts {
        let found = analyse(part);
        match found.exact {
            Some(exact)
                if run.len() * exact.len() <= MAX_SET && longest(&run) + longest(&exact) <= MAX_LENGTH =>
            {
                run = product(run, &exact);
            }
            exact => {
                whole = false;
                required.extend(tidy(run));
                required.extend(found.required);
                run = exact.filter(|e| e.len() <= MAX_SET).unwrap_or_else(|| vec![String::new()]);
            }
        }
    }
    if whole {
        return Found { exact: Some(run), required };
    }
    required.extend(tidy(run));
    Found { exact: None, required }
}

/// Each of `heads` before each of `tails`.
fn product(mut heads: Set, tails: &Set) -> Set {
    if let [tail] = tails.as_slice() {
        for head in &mut heads {
            head.push_str(tail);
        }
        return set(heads);
    }
    set(heads.iter().flat_map(|head| tails.iter().map(move |tail| [head.as_str(), tail].concat())).collect())
}

fn longest(set: &Set) -> usize {
    set.iter().map(String::len).max().unwrap_or(0)
}

fn union(a: Option<Set>, b: Option<Set>) -> Option<Set> {
    let (mut a, b) = (a?, b?);
    a.extend(b);
    let both = set(a);
    (both.len() <= MAX_SET).then_some(both)
}

/// How rare one of a tidied set is likely to be: as its shortest literal is long.
fn worth(set: &Set) -> usize {
    set.iter().map(String::len).min().unwrap_or(0).min(12)
}

/// Folding makes one blank of a run of white space but not of `_` and `-`, and may trim a text: so
/// only what stands between runs is certain. An alternative that contains another says nothing more.
/// `None` when one is too short to look for.
fn tidy(all: Set) -> Option<Set> {
    let certain = |text: String| {
        // Looking first is much cheaper than splitting, and hardly any text has such a run.
        if !text.as_bytes().windows(2).any(|pair| pair == b"  ") {
            let trimmed = text.trim();
            return if trimmed.len() == text.len() { text } else { trimmed.to_owned() };
        }
        let longest = text.split("  ").map(str::trim).max_by_key(|piece| piece.len());
        longest.unwrap_or("").to_owned()
    };
    let certain = set(all.into_iter().map(certain).collect());
    if certain.is_empty() || certain.iter().any(|literal| literal.len() < MIN_LITERAL) {
        return None;
    }
    if certain.len() == 1 {
        return Some(certain);
    }
    let holds_other = |literal: &String| {
        certain.iter().any(|other| other.len() < literal.len() && literal.contains(other.as_str()))
    };
    Some(certain.iter().filter(|literal| !holds_other(literal)).cloned().collect())
}
