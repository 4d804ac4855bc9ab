//! Phrases and expressions that say too little, or too much.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::lang::{
    diagnostic::{Diagnostic, Diagnostics, codes::lints},
    literal,
    source::{Span, Spanned},
    tree::{Cond, ListId, Op, Phrases, Quantifier, Ruleset, Test, each_test},
};

/// Longest phrase that is still a phrase, in characters.
const LONG: usize = 60;

pub(super) fn lints(set: &Ruleset, out: &mut Diagnostics) {
    let decides = |cond: &Cond, out: &mut Diagnostics| each_test(cond, &mut |test| self::test(test, out));
    set.lets.iter().for_each(|l| decides(&l.cond, out));
    set.blocks.iter().for_each(|b| decides(&b.guard, out));
    set.rules.iter().for_each(|r| decides(&r.when, out));
    set.resets.iter().for_each(|r| decides(&r.when, out));
    let asked = asked(set);
    for (id, list) in (0u32..).map(ListId).zip(&set.lists) {
        list.entries.iter().for_each(|entry| shape(entry, out));
        // Asked by nobody, or in two ways, no entry of a list is surely never needed.
        if let Some(Asked::Only(quantifier)) = asked.lists.get(&id)
            && !list.entries.iter().any(|entry| asked.whole.contains(&entry.span))
        {
            covered(&list.entries, *quantifier, out);
        }
    }
}

/// How the entries of a list are looked for as phrases.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// Always like this.
    Only(Quantifier),
    /// Here any of them, there all.
    Both,
}

/// How each list is asked.
#[derive(Default)]
struct Questions {
    lists: HashMap<ListId, Asked>,
    /// Entries that are compared whole (`in`): there none covers another.
    whole: HashSet<Span>,
}

fn asked(set: &Ruleset) -> Questions {
    let mut found = Questions::default();
    let mut look = |cond: &Cond| {
        each_test(cond, &mut |test| match &test.op {
            Op::Has(quantifier, Phrases::List(id, _)) => {
                let only = Asked::Only(*quantifier);
                let known = found.lists.entry(*id).or_insert(only);
                if *known != only {
                    *known = Asked::Both;
                }
            }
            Op::In(values) => found.whole.extend(values.iter().map(|value| value.span)),
            _ => {}
        });
    };
    set.lets.iter().for_each(|l| look(&l.cond));
    set.blocks.iter().for_each(|b| look(&b.guard));
    set.rules.iter().for_each(|r| look(&r.when));
    set.resets.iter().for_each(|r| look(&r.when));
    found
}

fn test(test: &Test, out: &mut Diagnostics) {
    match &test.op {
        Op::Has(quantifier, Phrases::Inline(entries)) => {
            for entry in entries {
                shape(entry, out);
            }
            covered(entries, *quantifier, out);
        }
        Op::Contains(phrase) => {
            out.push(
                Diagnostic::new(lints::CONTAINS, test.span, "`contains` looks inside words")
                    .here("finds it in the middle of a word, too")
                    .help(format!("write `has \"{}\"`, which finds whole words", phrase.node)),
            );
            shape(phrase, out);
        }
        Op::Matches(regex) => {
            if let Ok(parsed) = regex.parse()
                && let Some(plain) = &parsed.plain
                && !regex.case_sensitive
            {
                out.push(
                    Diagnostic::new(
                        lints::PLAIN_REGEX,
                        regex.span,
                        "this regular expression is a plain phrase",
                    )
                    .here("a phrase")
                    .help(format!("write `has \"{plain}\"`")),
                );
            }
        }
        _ => {}
    }
}

/// Numbers and whole messages as phrases.
fn shape(phrase: &Spanned<String>, out: &mut Diagnostics) {
    let text = phrase.node.trim();
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b' ' | b'-' | b'_' | b'.'))
    {
        out.push(
            Diagnostic::new(
                lints::NUMBER_PHRASE,
                phrase.span,
                format!("`{text}` is a number, and numbers stand in ids and amounts as well"),
            )
            .here("a number as a phrase")
            .help("ask for `status`, `code` or `leading_number`, or add the words around it"),
        );
    }
    let length = text.chars().count();
    if length > LONG {
        out.push(
            Diagnostic::new(lints::LONG_PHRASE, phrase.span, format!("this phrase has {length} characters"))
                .here(format!("more than {LONG}"))
                .help("keep the few words that tell this error from others"),
        );
    }
}

/// Phrases that are never needed beside another one, which they hold as words, or which holds them: who
/// asks for any phrase needs no longer one, who asks for all of them no shorter one.
///
/// Every stretch of a phrase that lies between word edges is looked up, so that a list of many
/// thousand entries costs no more than its length. What is longer than a phrase should be is not
/// looked for; [`shape`] says so.
fn covered(entries: &[Spanned<String>], quantifier: Quantifier, out: &mut Diagnostics) {
    const LONGEST: usize = 4 * LONG;
    if entries.len() < 2 {
        return;
    }
    let normal: Vec<String> = entries.iter().map(|e| literal::normal(e.node.trim())).collect();
    let mut first: HashMap<&str, usize> = HashMap::with_capacity(normal.len());
    let mut lengths = [false; LONGEST + 1];
    for (at, text) in normal.iter().enumerate() {
        if let Some(known) = lengths.get_mut(text.len()).filter(|_| !text.is_empty()) {
            *known = true;
            first.entry(text).or_insert(at);
        }
    }
    // What is not needed, and beside what.
    let mut needless: BTreeMap<usize, usize> = BTreeMap::new();
    let mut edges = Vec::new();
    for (at, long) in normal.iter().enumerate() {
        word_edges(long, &mut edges);
        let stretches = edges.iter().enumerate().flat_map(|(nth, start)| {
            let ends = edges.iter().skip(nth + 1).take_while(move |end| *end - start <= LONGEST);
            ends.map(move |end| *start..*end)
        });
        let known = stretches.filter(|range| lengths.get(range.len()) == Some(&true));
        let held = known.filter_map(|range| Some((range.len(), *first.get(long.get(range)?)?)));
        for (length, other) in held.filter(|(_, other)| *other != at) {
            // Of two that are the same the first stays.
            let (less, more) = match quantifier {
                Quantifier::All if length < long.len() => (other, at),
                _ => (at, other),
            };
            let beside = needless.entry(less).or_insert(more);
            *beside = more.min(*beside);
        }
    }
    for (less, more) in needless {
        if let (Some(less), Some(more)) = (entries.get(less), entries.get(more)) {
            out.push(never_needed(less, more, quantifier));
        }
    }
}

fn never_needed(less: &Spanned<String>, more: &Spanned<String>, quantifier: Quantifier) -> Diagnostic {
    let (why, help) = match quantifier {
        Quantifier::Any => {
            ("finds all of its texts", "take the longer one out, or the shorter one where it finds too much")
        }
        Quantifier::All => (
            "has to be there, and holds it",
            "take the shorter one out, or ask for `any of` where one of them is enough",
        ),
    };
    let message = format!("`{}` is covered by `{}`", less.node, more.node);
    Diagnostic::new(lints::COVERED_PHRASE, less.span, message)
        .here("never needed")
        .related(more.span, why)
        .help(help)
}

/// The places of a text that lie inside no word, its ends included.
fn word_edges(text: &str, edges: &mut Vec<usize>) {
    edges.clear();
    let mut before = false;
    for (at, c) in text.char_indices() {
        let word = c.is_ascii_alphanumeric();
        if !(before && word) {
            edges.push(at);
        }
        before = word;
    }
    edges.push(text.len());
}

/// Whether every text that has `long` as words has `short` as words.
#[must_use]
pub fn has_words(long: &str, short: &str) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let starts = is_word(short.chars().next());
    let ends = is_word(short.chars().next_back());
    let mut from = 0;
    // `memmem` needs no preparation for short texts, as nearly all phrases are.
    while let Some(rest) = long.as_bytes().get(from..)
        && let Some(found) = memchr::memmem::find(rest, short.as_bytes())
        && !short.is_empty()
    {
        let at = from + found;
        let before = long.get(..at).and_then(|s| s.chars().next_back());
        let after = long.get(at + short.len()..).and_then(|s| s.chars().next());
        // At the ends of `long` its own edges see to it, when they are words where `short` is.
        if (!starts || !is_word(before)) && (!ends || !is_word(after)) {
            return true;
        }
        from = at + 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::has_words;

    #[test]
    fn words_hold_words() {
        assert!(has_words("quota exceeded", "quota"));
        assert!(has_words("daily quota", "quota"));
        assert!(!has_words("quotas exceeded", "quota"));
        assert!(has_words("余额不足", "余额"));
        assert!(!has_words("quota", ""));
    }
}
