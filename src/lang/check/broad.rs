//! Phrases of one word that find too much.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use super::phrases::has_words;
use crate::lang::{
    diagnostic::{Diagnostic, Diagnostics, codes::lints},
    literal,
    source::{Span, Spanned},
    tree::{BlockId, BucketId, Cond, Field, LetId, Op, Phrases, Quantifier, Rule, Ruleset, Test, each_test},
};

/// Words that tell nothing, also beside a status or a code.
const EMPTY: &str = include_str!("../../../rules/lint/empty_words.txt");

/// Words that stand in every second error message of any provider: a rule of one of them alone says
/// nothing.
const COMMON: &str = include_str!("../../../rules/lint/common_words.txt");

/// Words that are looked for in the examples: each look goes through all of them.
const WORDS: usize = 1_000;

pub(super) fn lints(set: &Ruleset, out: &mut Diagnostics) {
    let examples = Examples::of(set);
    let mut look = Look {
        set,
        examples: &examples,
        words: examples.words(),
        witnesses: HashMap::new(),
        told: HashSet::new(),
        out,
    };
    for rule in &set.rules {
        // Beside a status or a code even a common word tells something.
        let beside = is_guarded(set, rule.block);
        look.deciding(rule, &rule.when, beside, &mut HashSet::new());
    }
}

/// Whether a block around a rule asks for a status or a code.
fn is_guarded(set: &Ruleset, block: Option<BlockId>) -> bool {
    let mut guarded = false;
    let mut at = block;
    while let Some(block) = at.and_then(|id| set.blocks.get(id.index())) {
        each_test(&block.guard, &mut |test| {
            guarded |= matches!(test.field, Field::Status | Field::AnyStatus | Field::Code | Field::Type);
        });
        at = block.parent;
    }
    guarded
}

struct Look<'a> {
    set: &'a Ruleset,
    examples: &'a Examples,
    /// By word of plain letters and digits: the first example of each bucket that it stands in.
    words: HashMap<&'a str, Firsts>,
    /// The same of other words, for which all examples were looked through.
    witnesses: HashMap<String, Firsts>,
    /// A list may be asked by several rules.
    told: HashSet<Span>,
    out: &'a mut Diagnostics,
}

impl Look<'_> {
    /// Phrases that a rule hangs on; `beside`: below a status or a code.
    fn deciding(&mut self, rule: &Rule, cond: &Cond, beside: bool, seen: &mut HashSet<(LetId, bool)>) {
        match cond {
            Cond::Any(parts) => parts.iter().for_each(|part| self.deciding(rule, part, beside, seen)),
            Cond::Let(id, _) if seen.insert((*id, beside)) => {
                if let Some(named) = self.set.lets.get(id.index()) {
                    self.deciding(rule, &named.cond, beside, seen);
                }
            }
            Cond::Test(Test {
                field: Field::Text | Field::Message | Field::Detail | Field::Wrapper,
                op: Op::Has(quantifier, phrases),
                ..
            }) => {
                let set = self.set;
                let entries = match phrases {
                    Phrases::Inline(entries) => entries.as_slice(),
                    Phrases::List(id, _) => set.lists.get(id.index()).map_or(&[][..], |list| &list.entries),
                };
                if *quantifier == Quantifier::Any || entries.len() == 1 {
                    for entry in entries {
                        self.phrase(rule, entry, beside);
                    }
                }
            }
            _ => {}
        }
    }

    fn phrase(&mut self, rule: &Rule, phrase: &Spanned<String>, beside: bool) {
        let word = literal::normal(&phrase.node);
        let word = word.trim();
        if word.is_empty() || word.contains(' ') {
            return;
        }
        let said = is_empty(word) || (!beside && among(COMMON, word));
        let witness = if said || beside { None } else { self.witness(rule, word) };
        if (!said && witness.is_none()) || !self.told.insert(phrase.span) {
            return;
        }
        let mut problem = Diagnostic::new(
            lints::COMMON_WORD,
            phrase.span,
            format!("`{word}` alone decides for rule `{}`, and stands in errors of many kinds", rule.name),
        )
        .here("one common word")
        .help(match longer(rule, word) {
            Some(longer) => format!("add a word that stands beside it, such as `has \"{longer}\"`"),
            None => "add the words that stand beside it in the error's text".to_owned(),
        });
        if let Some((bucket, span)) = witness {
            problem = problem.related(span, format!("in this one, too, which goes to `{bucket}`"));
        }
        self.out.push(problem);
    }

    /// Examples of two other buckets that hold the word, the first of them.
    fn witness(&mut self, rule: &Rule, word: &str) -> Option<(String, Span)> {
        let set = self.set;
        let found = if word.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            self.words.get(word)?
        } else if self.witnesses.len() < WORDS || self.witnesses.contains_key(word) {
            let examples = self.examples;
            self.witnesses.entry(word.to_owned()).or_insert_with(|| examples.holding(word))
        } else {
            return None;
        };
        let mut others = found.iter().filter(|(bucket, _)| *bucket != rule.bucket);
        let (bucket, span) = others.next()?;
        others.next()?;
        Some((set.buckets.get(bucket.index())?.name.to_string(), *span))
    }
}

fn among(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|listed| listed == word)
}

/// A letter or two, or a word that tells nothing.
fn is_empty(word: &str) -> bool {
    (word.len() <= 2 && word.bytes().all(|byte| byte.is_ascii_alphabetic())) || among(EMPTY, word)
}

/// The word with the one before or behind it in an example of the rule, one that tells something.
fn longer(rule: &Rule, word: &str) -> Option<String> {
    let shown = rule.examples.iter().filter(|example| !example.counter);
    shown.filter_map(|example| example.case.message.as_deref()).find_map(|message| {
        let text = literal::normal(message);
        let words: Vec<&str> = text
            .split_whitespace()
            .map(|part| part.trim_matches(|c: char| c.is_ascii_punctuation()))
            .collect();
        let pairs = words.windows(2).filter_map(|pair| <[&str; 2]>::try_from(pair).ok());
        let telling = |[before, behind]: &[&str; 2]| {
            let other = if *before == word { behind } else { before };
            (*before == word || *behind == word)
                && !is_empty(other)
                && other.len() > 2
                && !other.bytes().any(|byte| byte.is_ascii_digit())
        };
        pairs.filter(telling).map(|pair| pair.join(" ")).find(|phrase| has_words(&text, phrase))
    })
}

/// The examples that are no counterexamples.
#[derive(Default)]
struct Examples {
    /// The messages as phrases are compared, each on a line.
    text: String,
    /// Of each, its bucket, its place, and its line.
    all: Vec<(BucketId, Span, Range<usize>)>,
}

/// The first example of each bucket, among some.
type Firsts = Vec<(BucketId, Span)>;

impl Examples {
    fn of(set: &Ruleset) -> Self {
        let mut out = Self::default();
        for rule in set.rules.iter().filter(|rule| !rule.observe) {
            for example in rule.examples.iter().filter(|example| !example.counter) {
                let Some(message) = &example.case.message else { continue };
                let start = out.text.len();
                out.text.push_str(&literal::normal(message));
                out.all.push((rule.bucket, example.case.span, start..out.text.len()));
                out.text.push('\n');
            }
        }
        out
    }

    /// By word: every stretch of letters and digits, which is where [`has_words`] finds a word that holds
    /// nothing else.
    fn words(&self) -> HashMap<&str, Firsts> {
        let mut words: HashMap<&str, Firsts> = HashMap::new();
        for (bucket, span, line) in &self.all {
            let text = self.text.get(line.clone()).unwrap_or("");
            for word in text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
                first(words.entry(word).or_default(), *bucket, *span);
            }
        }
        words
    }

    /// Of any other word.
    fn holding(&self, word: &str) -> Firsts {
        let mut found = Firsts::new();
        for at in memchr::memmem::find_iter(self.text.as_bytes(), word) {
            let nth = self.all.partition_point(|(.., line)| line.end <= at);
            let Some((bucket, span, line)) = self.all.get(nth) else { continue };
            if self.text.get(line.clone()).is_some_and(|text| has_words(text, word)) {
                first(&mut found, *bucket, *span);
            }
        }
        found
    }
}

fn first(found: &mut Firsts, bucket: BucketId, span: Span) {
    if found.iter().all(|(known, _)| *known != bucket) {
        found.push((bucket, span));
    }
}
