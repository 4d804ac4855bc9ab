//! What may stand at a place in a file that is being written, for completion.
//!
//! The grammar itself is asked: a word may stand there when the grammar can read on past it. So a
//! word that the grammar learns is offered without a line of code.

use std::ops::Range;

use super::{
    grammar::{Rule, read},
    keywords::{CHOICES, FIELDS, is_reserved},
    layout::{Piece, layout},
    report::Report,
    token::{Bracket, Kind, Token, tokens},
    words::{Term, term},
};
use crate::lang::{diagnostic::Diagnostics, source::SourceId};

/// A name that nobody writes; it stands for the word that is being written.
const SOME_NAME: &str = "zqx";

/// Heads longer than this are not tried with every word: a long list of strings takes no keyword.
const LONGEST: usize = 4 << 10;

/// A place in a file, and what may stand there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Next {
    /// The bytes that a choice replaces: the word that is being written, or what is written of a string.
    pub range: Range<usize>,
    /// Keywords, in the grammar's order; of those of several words, what is left of them.
    pub words: Vec<&'static str>,
    /// A name (or an id, or a bare word) may stand there.
    pub name: bool,
    /// The place is inside a string.
    pub in_string: bool,
    /// The tokens of the statement before the place.
    pub before: Vec<String>,
    /// The tokens of the heads whose braces are open there, outermost first.
    pub around: Vec<Vec<String>>,
}

/// What may stand at byte `at` of `text`; `None` in comments and regular expressions.
#[must_use]
pub fn next(text: &str, at: usize) -> Option<Next> {
    let before = text.get(..at)?;
    let start = before.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.')).len();
    let written = format!("{}{SOME_NAME}", text.get(..start)?);
    let tokens = tokens(&written);
    let last = *tokens.last()?;
    let mut next = Next { range: start..at, ..Next::default() };
    match last.kind {
        Kind::Comment | Kind::Doc | Kind::OpenRegex | Kind::Regex => return None,
        Kind::OpenString => {
            next.in_string = true;
            next.range = last.start + 1..at;
        }
        _ => {}
    }
    let mut ignored = Diagnostics::default();
    let mut report = Report::new(SourceId::default(), &mut ignored);
    let pieces = layout(&written, &tokens, &mut report);
    let place = Place { text: &written, tokens: &tokens };
    let (piece, sibling) = place.innermost(&pieces, &mut next.around)?;
    let head = place.tokens_of(piece, last.start);
    next.before = head.iter().map(|t| t.text(&written).to_owned()).collect();
    if next.in_string {
        return Some(next);
    }
    let entry = entry(&next.around);
    let prefix = place.prefix(&head, last.start);
    next.name = reads_on(entry, prefix, SOME_NAME);
    if prefix.len() <= LONGEST && !in_square(&head) {
        place.words(entry, &head, prefix, &mut next);
        if let Some(sibling) = sibling.filter(|_| head.is_empty()) {
            place.joins(entry, sibling, &mut next.words);
        }
    }
    Some(next)
}

struct Place<'a> {
    text: &'a str,
    tokens: &'a [Token],
}

impl<'a> Place<'a> {
    /// The piece that ends the text, and the one above it; the heads around it go to `around`.
    fn innermost<'p>(
        &self,
        pieces: &'p [Piece],
        around: &mut Vec<Vec<String>>,
    ) -> Option<(&'p Piece, Option<&'p Piece>)> {
        let (piece, rest) = pieces.split_last()?;
        match piece.body.as_ref().filter(|body| body.close.is_none() && !body.pieces.is_empty()) {
            Some(body) => {
                let head = self.tokens_of(piece, usize::MAX);
                around.push(head.iter().map(|t| t.text(self.text).to_owned()).collect());
                self.innermost(&body.pieces, around)
            }
            None => Some((piece, rest.last())),
        }
    }

    /// The tokens of a piece's head that stand before a byte.
    fn tokens_of(&self, piece: &Piece, end: usize) -> Vec<Token> {
        let head = self.tokens.get(piece.first..piece.last).unwrap_or_default();
        head.iter().filter(|t| t.counts() && t.start < end).copied().collect()
    }

    fn prefix(&self, head: &[Token], end: usize) -> &'a str {
        self.text.get(head.first().map_or(end, |t| t.start)..end).unwrap_or("")
    }

    /// The keywords with which the grammar reads on.
    fn words(&self, entry: Rule, head: &[Token], prefix: &str, next: &mut Next) {
        let tried = read(entry, prefix, 0..prefix.len()).err().map(|stopped| stopped.expected);
        let tried = tried.unwrap_or_default();
        let mut offer = |word: &'static str| {
            if !next.words.contains(&word) {
                next.words.push(word);
            }
        };
        for keyword in keywords() {
            // Where a name may stand, most words could be one: then the grammar must have asked for it.
            let asked = tried.contains(&keyword.rule);
            let meant = match keyword.text.split_once(' ') {
                None => !next.name || is_reserved(keyword.text),
                Some((first, _)) => {
                    head.is_empty() || !reads_on(entry, prefix, &format!("{first} {SOME_NAME}"))
                }
            };
            if (asked || meant) && reads_on(entry, prefix, keyword.text) {
                offer(keyword.text);
            }
            for (written, rest) in splits(keyword.text) {
                if let Some(cut) = self.without(head, written)
                    && (!next.name || head.first().is_some_and(|first| first.start == cut))
                    && reads_on(entry, self.prefix(head, cut), keyword.text)
                {
                    offer(rest);
                }
            }
        }
        for word in FIELDS.iter().chain(CHOICES) {
            if (!next.name || is_reserved(word)) && reads_on(entry, prefix, word) {
                offer(word);
            }
        }
    }

    /// Words that begin a line and go on with the statement above.
    fn joins(&self, entry: Rule, above: &Piece, words: &mut Vec<&'static str>) {
        if above.body.is_some() {
            return;
        }
        let head = self.tokens_of(above, usize::MAX);
        let (Some(first), Some(last)) = (head.first(), head.last()) else { return };
        let prefix = format!("{} ", self.text.get(first.start..last.end).unwrap_or(""));
        if prefix.len() > LONGEST {
            return;
        }
        for word in ["when", "and", "or", "by", "reaction", "by provider from config"] {
            if reads_on(entry, &prefix, word) && !words.contains(&word) {
                words.push(word);
            }
        }
    }

    /// Where the statement ends without these words, when it ends with them.
    fn without(&self, head: &[Token], written: &str) -> Option<usize> {
        let count = written.split(' ').count();
        let last = head.get(head.len().checked_sub(count)?..)?;
        let same = last.iter().map(|t| t.text(self.text)).eq(written.split(' '));
        same.then(|| last.first().map(|t| t.start)).flatten()
    }
}

/// A keyword of the grammar.
struct Keyword {
    rule: Rule,
    text: &'static str,
}

fn keywords() -> impl Iterator<Item = Keyword> {
    Rule::all_rules().iter().filter_map(|of| match term(*of) {
        Term::Word(text) if text.starts_with(|c: char| c.is_ascii_lowercase()) => {
            Some(Keyword { rule: *of, text })
        }
        _ => None,
    })
}

/// Every word of the language, each once: for a test that compares editors' grammars.
#[must_use]
pub fn all_words() -> Vec<&'static str> {
    let keywords = keywords().flat_map(|keyword| keyword.text.split(' '));
    let mut words: Vec<&str> =
        keywords.chain(FIELDS.iter().copied()).chain(CHOICES.iter().copied()).collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// `has any of`: (`has`, `any of`), (`has any`, `of`).
fn splits(words: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    words.match_indices(' ').filter_map(|(at, _)| Some((words.get(..at)?, words.get(at + 1..)?)))
}

/// Whether the grammar reads past `word` after `prefix`.
fn reads_on(entry: Rule, prefix: &str, word: &str) -> bool {
    let text = format!("{prefix}{word} ");
    match read(entry, &text, 0..text.len()) {
        Ok(_) => true,
        Err(stopped) => stopped.at >= prefix.len() + word.len(),
    }
}

/// Whether a square bracket is open: strings and numbers stand there.
fn in_square(head: &[Token]) -> bool {
    let mut open = 0i32;
    for token in head {
        match token.kind {
            Kind::Open(Bracket::Square) => open += 1,
            Kind::Close(Bracket::Square) => open -= 1,
            _ => {}
        }
    }
    open > 0
}

/// The entry of the grammar for what stands in the innermost braces.
fn entry(around: &[Vec<String>]) -> Rule {
    let Some(head) = around.last() else { return Rule::statement };
    let mut words = head.iter().map(String::as_str).filter(|word| !matches!(*word, "replace" | "observe"));
    match (words.next().unwrap_or(""), words.next().unwrap_or("")) {
        ("bucket", _) => Rule::bucket_slot,
        ("on", "success") => Rule::success_slot,
        ("on" | "rule", _) => Rule::reaction_slot,
        ("order", _) => Rule::order_slot,
        ("pin", _) => Rule::pin_slot,
        ("source", _) => Rule::source_slot,
        ("probe", "primary") => Rule::primary_slot,
        ("probe", _) => Rule::sibling_slot,
        ("budget", _) => Rule::budget_slot,
        ("skip", _) => Rule::cache_slot,
        ("sdk", _) => Rule::sdk_slot,
        ("test", _) => Rule::test_line,
        _ => Rule::statement,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What may stand at the `|` of a text.
    fn at(text: &str) -> Next {
        let place = text.find('|').unwrap();
        next(&text.replace('|', ""), place).unwrap()
    }

    #[test]
    fn the_grammar_says_what_may_follow() {
        let asked = at("rule a -> b when text |").words;
        assert_eq!(
            asked,
            ["contains", "has", "has all of", "has any of", "in", "is", "matches", "starts with"]
        );
        assert_eq!(at("rule a -> b when text has |").words, ["all of", "any of"]);
        assert_eq!(at("rule a -> b when text has any |").words, ["of"]);
        let after = at("rule a -> b when text has \"x\" |").words;
        assert_eq!(after, ["and", "or", "reaction"]);
        assert!(at("rule a |").words.is_empty());
        assert_eq!(at("on |").words, ["success"]);
    }

    #[test]
    fn braces_say_which_slots() {
        let slots = at("on rate_limit {\n  ro|\n}");
        assert!(slots.words.contains(&"rotate") && slots.words.contains(&"cooldown"), "{slots:?}");
        assert_eq!(slots.around, [["on", "rate_limit"]]);
        assert_eq!(slots.range, 18..20);
        let traits = at("bucket x { transient; | }");
        assert_eq!(traits.words, ["auth_class", "http", "keeps_probe_slot", "skips_provider", "transient"]);
        assert!(at("bucket x { http 429 }\n|").words.contains(&"rule"));
    }

    #[test]
    fn names_are_told_from_words() {
        let using = at("on a { cooldown model using | }");
        assert!(using.name && using.words.is_empty(), "{using:?}");
        let asked = at("rule a -> b when |");
        assert!(
            asked.name && asked.words.contains(&"not") && asked.words.contains(&"any status"),
            "{asked:?}"
        );
        assert!(asked.words.contains(&"leading_number") && !asked.words.contains(&"transient"), "{asked:?}");
        assert_eq!(at("rule a -> b when code is |").words, ["absent", "present"]);
    }

    #[test]
    fn strings_and_comments_take_no_words() {
        let string = at("use \"cla|");
        assert!(string.in_string && string.words.is_empty());
        assert_eq!(string.range, 5..8);
        assert_eq!(next("# rule ", 7), None);
        assert_eq!(next("rule a -> b when text matches /a ", 33), None);
        assert_eq!(next("x", 7), None);
    }

    #[test]
    fn a_new_line_may_go_on_with_the_one_above() {
        let words = at("rule a -> b when text has \"x\"\n  |").words;
        assert!(words.contains(&"and") && words.contains(&"rule") && words.contains(&"example"), "{words:?}");
    }
}
