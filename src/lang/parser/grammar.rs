//! The only place that knows pest: the generated parser, and its pairs as [`Node`]s.

use std::ops::Range;

use pest::{
    Parser as _, Token,
    error::{ErrorVariant, InputLocation},
    iterators::Pairs,
};

use super::report::{Built, Reported};

/// The parser that pest makes of `grammar/rules.pest`.
#[derive(pest_derive::Parser)]
#[grammar = "grammar/rules.pest"]
struct Grammar;

/// A piece of text that a rule of the grammar has read.
#[derive(Clone, Debug)]
pub struct Node {
    /// The rule.
    pub rule: Rule,
    /// Bytes of the whole file.
    pub range: Range<usize>,
    /// What the rules inside have read, in order.
    pub parts: Vec<Node>,
}

/// Where reading stopped, and the rules that were tried there.
#[derive(Clone, Debug)]
pub struct Stopped {
    /// Byte of the whole file.
    pub at: usize,
    /// What would have been right.
    pub expected: Vec<Rule>,
}

impl Node {
    /// The first of pest's trees, in one pass over its tokens.
    fn first(pairs: Pairs<'_, Rule>, base: usize) -> Option<Self> {
        let mut open: Vec<Self> = Vec::new();
        for token in pairs.tokens() {
            match token {
                Token::Start { rule: of, pos } => {
                    let at = pos.pos() + base;
                    open.push(Self { rule: of, range: at..at, parts: Vec::new() });
                }
                Token::End { rule: of, pos } => {
                    let mut node = open.pop()?;
                    node.range.end = pos.pos() + base;
                    match open.last_mut() {
                        Some(_) if of == Rule::EOI => {}
                        Some(outer) => outer.parts.push(node),
                        None => return Some(node),
                    }
                }
            }
        }
        None
    }

    /// The first part that this rule has read.
    pub fn part(&self, of: Rule) -> Option<&Self> {
        self.parts.iter().find(|p| p.rule == of)
    }

    /// A part that the grammar guarantees; the builder reports a statement that lacks one.
    pub fn need(&self, of: Rule) -> Built<&Self> {
        self.part(of).ok_or(Reported)
    }

    /// All parts that this rule has read.
    pub fn all(&self, of: Rule) -> impl Iterator<Item = &Self> {
        self.parts.iter().filter(move |p| p.rule == of)
    }

    /// Whether this rule has read a part.
    pub fn has(&self, of: Rule) -> bool {
        self.part(of).is_some()
    }
}

/// Reads a range of `text` by one of the grammar's entries.
pub fn read(entry: Rule, text: &str, range: Range<usize>) -> Result<Node, Stopped> {
    let base = range.start;
    let piece = text.get(range).unwrap_or("");
    let stopped = |at: usize, expected| Stopped { at: at + base, expected };
    match Grammar::parse(entry, piece) {
        Ok(pairs) => Node::first(pairs, base).ok_or_else(|| stopped(0, Vec::new())),
        Err(error) => {
            let (InputLocation::Pos(at) | InputLocation::Span((at, _))) = error.location;
            let expected = match error.variant {
                ErrorVariant::ParsingError { positives, .. } => positives,
                ErrorVariant::CustomError { .. } => Vec::new(),
            };
            Err(stopped(at, expected))
        }
    }
}
