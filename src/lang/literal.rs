//! Required literals: strings one of which every match of an expression must contain.
//!
//! They are given in the normal form of the scanned buffer: folded as `signal` folds, and with `_`
//! and `-` turned into blanks, since a phrase's blank stands for any of the three.

use regex_syntax::hir::{Class, Hir, HirKind};

use super::pattern::MIN_LITERAL;

/// How many alternatives a set of literals may have, and how long one may grow.
const MAX_SET: usize = 48;
const MAX_LENGTH: usize = 64;

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
    analyse(hir).best()
}

struct Found {
    /// All strings that it can match, when they are few.
    exact: Option<Set>,
    /// One of these is part of every match; tidied.
    required: Option<Set>,
}

impl Found {
    /// The best set of literals, one of which is part of every match.
    fn best(self) -> Option<Set> {
        better(self.exact.and_then(tidy), self.required)
    }
}

fn nothing() -> Found {
    Found { exact: None, required: None }
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
                    required: None,
                },
                (0, _) => nothing(),
                (1, Some(1)) => sub,
                _ => Found { exact: None, required: sub.best() },
            }
        }
        HirKind::Concat(parts) => concat(parts),
        HirKind::Alternation(parts) => alternation(parts),
    }
}

fn exactly(all: Vec<String>) -> Found {
    Found { exact: Some(set(all)), required: None }
}

/// A literal whose characters folding might change in a way not known here is cut there.
fn literal(text: &str) -> Found {
    let pieces: Vec<&str> = text.split(|c: char| !c.is_ascii() && !is_plain(c)).collect();
    if let [whole] = pieces.as_slice() {
        return exactly(vec![normal(whole)]);
    }
    let longest = pieces.into_iter().max_by_key(|p| p.len()).unwrap_or("");
    Found { exact: None, required: tidy(vec![normal(longest)]) }
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
        required = union(required, found.best());
    }
    Found { exact, required: required.and_then(tidy) }
}

fn concat(parts: &[Hir]) -> Found {
    let mut whole = true;
    let mut run = vec![String::new()];
    let mut best: Option<Set> = None;
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
                best = better(better(tidy(run), best), found.required);
                run = exact.filter(|e| e.len() <= MAX_SET).unwrap_or_else(|| vec![String::new()]);
            }
        }
    }
    if whole {
        Found { exact: Some(run), required: best }
    } else {
        Found { exact: None, required: better(tidy(run), best) }
    }
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

/// Of two tidied sets that whose shortest literal is longer.
fn better(a: Option<Set>, b: Option<Set>) -> Option<Set> {
    let worth = |set: &Set| set.iter().map(String::len).min().unwrap_or(0).min(12);
    match (a, b) {
        (Some(a), Some(b)) if worth(&b) > worth(&a) => Some(b),
        (Some(a), _) => Some(a),
        (None, b) => b,
    }
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
