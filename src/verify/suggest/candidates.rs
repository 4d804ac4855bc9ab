//! What an error offers to hold on to, best first.

use std::fmt::Write as _;

use crate::{
    lang::check::has_words,
    signal::{Evidence, SegmentKind, is_boilerplate, looks_like_id, stretches},
};

/// Longest phrase, in characters.
pub(super) const LONGEST: usize = 60;

/// Shortest phrase, in characters.
const SHORTEST: usize = 8;

/// Phrases that are looked at.
const PHRASES: usize = 12;

/// Something to hold on to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Core {
    /// The condition for any provider.
    pub anywhere: String,
    /// The condition for this provider; the same when it is unknown.
    pub scoped: String,
    /// Codes and types that it names.
    pub codes: Vec<(SegmentKind, String)>,
    /// Phrases that it names.
    pub phrases: Vec<String>,
    /// It names phrases, and none says more than what stands beside any error.
    pub says_nothing: bool,
}

/// Structured fields first, then the longest phrases, then both together; for this provider when it is
/// `guarded`.
pub(super) fn cores(evidence: &Evidence, guarded: bool) -> Vec<Core> {
    let codes = codes(evidence);
    let phrases = phrases(evidence);
    let mut out = Vec::new();
    let mut add = |codes: &[(SegmentKind, String)], phrases: &[String], whole: bool| {
        let anywhere = condition(codes, phrases, whole);
        let scoped = match evidence.provider.as_str() {
            provider if guarded => format!("provider is {} and {anywhere}", quoted(provider)),
            _ => anywhere.clone(),
        };
        // The whole text is no other error's.
        let says_nothing =
            !whole && !phrases.is_empty() && phrases.iter().all(|phrase| is_boilerplate(phrase));
        let (codes, phrases) = (codes.to_vec(), phrases.to_vec());
        out.push(Core { anywhere, scoped, codes, phrases, says_nothing });
    };
    for code in codes.iter().filter(|(_, code)| says_what(code)) {
        add(std::slice::from_ref(code), &[], false);
    }
    for phrase in &phrases {
        add(&[], std::slice::from_ref(phrase), false);
    }
    for code in &codes {
        for phrase in phrases.iter().take(4) {
            add(std::slice::from_ref(code), std::slice::from_ref(phrase), false);
        }
    }
    for (n, first) in phrases.iter().enumerate() {
        for second in phrases.iter().skip(n + 1).filter(|second| !overlap(first, second)) {
            add(&[], &[first.clone(), second.clone()], false);
        }
    }
    for text in evidence.texts().filter(|text| stretches(text, &evidence.model) == [*text]) {
        if text.chars().count() <= LONGEST {
            add(&[], &[text.to_owned()], true);
        }
    }
    for code in &codes {
        add(std::slice::from_ref(code), &[], false);
    }
    out
}

fn condition(codes: &[(SegmentKind, String)], phrases: &[String], whole: bool) -> String {
    let mut out = String::new();
    for (kind, code) in codes {
        let field = if *kind == SegmentKind::Code { "code" } else { "type" };
        // Writing to a string cannot fail.
        let _ = write!(out, "{field} is {} and ", quoted(code));
    }
    match phrases {
        [] => {
            out.truncate(out.trim_end_matches(" and ").len());
            out
        }
        [one] if whole => out + "text is " + &quoted(one),
        [one] => out + "text has " + &quoted(one),
        all => {
            let all: Vec<String> = all.iter().map(|phrase| quoted(phrase)).collect();
            format!("{out}text has all of [{}]", all.join(", "))
        }
    }
}

/// A string of the language.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Codes and types without a number in them, codes first.
fn codes(evidence: &Evidence) -> Vec<(SegmentKind, String)> {
    let mut out: Vec<(SegmentKind, String)> = Vec::new();
    for kind in [SegmentKind::Code, SegmentKind::Type] {
        for code in evidence.of(kind) {
            let plain = code.chars().all(|c| c.is_alphabetic() || "_-. ".contains(c));
            let fits = (3..=LONGEST).contains(&code.chars().count());
            if plain && fits && !looks_like_id(code) && !out.iter().any(|(_, there)| there == code) {
                out.push((kind, code.to_owned()));
            }
        }
    }
    out
}

/// Whether a code alone may decide: it has several words, and is no mere class of exceptions.
fn says_what(code: &str) -> bool {
    let words = code.split(['_', '-', '.', ' ']).filter(|word| !word.is_empty());
    words.count() > 1 && !code.ends_with("error") && !code.ends_with("exception")
}

/// Stable stretches of the texts, cut to length at words, the longest first.
fn phrases(evidence: &Evidence) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for text in evidence.texts() {
        for stretch in stretches(text, &evidence.model) {
            windows(without_loose_end(stretch), &mut out);
        }
    }
    out.retain(|phrase| is_phrase(phrase));
    out.sort_by_key(|phrase| std::cmp::Reverse(phrase.chars().count()));
    let mut kept: Vec<String> = Vec::new();
    for phrase in out {
        if !kept.contains(&phrase) {
            kept.push(phrase);
        }
    }
    kept.truncate(PHRASES);
    kept
}

/// Without a lone word behind the last comma: most often the name of what was taken out.
fn without_loose_end(stretch: &str) -> &str {
    match stretch.rsplit_once(", ") {
        Some((head, tail)) if !tail.contains(' ') && head.contains(' ') => head,
        _ => stretch,
    }
}

/// A stretch, or pieces of a longer one: each as many words as fit, one from the start, one up to the
/// end.
fn windows(stretch: &str, out: &mut Vec<String>) {
    if stretch.chars().count() <= LONGEST {
        out.push(stretch.to_owned());
        return;
    }
    let words: Vec<&str> = stretch.split(' ').collect();
    if let [one] = *words.as_slice() {
        // A script without blanks.
        out.push(one.chars().take(LONGEST).collect());
        return;
    }
    let fits =
        |words: &[&str]| words.iter().map(|word| word.chars().count() + 1).sum::<usize>() <= LONGEST + 1;
    let mut rest = words.as_slice();
    while !rest.is_empty() {
        let count = (1..=rest.len()).take_while(|n| rest.get(..*n).is_some_and(fits)).last().unwrap_or(1);
        let (head, tail) = rest.split_at(count);
        push(head, out);
        rest = tail;
    }
    let last = (0..words.len()).find(|n| words.get(*n..).is_some_and(fits)).unwrap_or(0);
    push(words.get(last..).unwrap_or_default(), out);
}

fn push(words: &[&str], out: &mut Vec<String>) {
    let phrase = words.join(" ");
    let phrase = phrase.trim_matches(|c: char| !c.is_alphanumeric());
    if phrase.chars().count() <= LONGEST {
        out.push(phrase.to_owned());
    }
}

/// Whether a stretch says enough to be looked for.
fn is_phrase(text: &str) -> bool {
    let length = text.chars().count();
    if !text.is_ascii() {
        return length >= 4;
    }
    length >= SHORTEST && (text.contains(' ') || length >= 2 * SHORTEST || text.contains('_'))
}

fn overlap(a: &str, b: &str) -> bool {
    has_words(a, b) || has_words(b, a)
}
