//! The shipped rules as texts and as a tree, dice, and the ways to change them.

use std::collections::BTreeMap;

use pointsman::{
    lang::{
        diagnostic::Diagnostics,
        load::{self, files::Memory},
        shipped,
        source::{Sources, Span, Spanned},
        tree::{Cond, Field, Op, Phrases, Quantifier, Rule, Ruleset, Test},
    },
    table::{NoSettings, Table},
    verify,
};

pub type Texts = BTreeMap<String, String>;

pub struct Workshop {
    /// A copy of the shipped rules, as an operator might keep one.
    pub set: Ruleset,
    /// Words that decide nothing alone.
    pub broad: Vec<String>,
    texts: Texts,
    dice: u64,
}

/// A phrase that decides a rule alone, where it stands, and the list that it is in.
#[derive(Clone)]
pub struct Phrase {
    pub text: String,
    pub span: Span,
    pub list: Option<String>,
    pub rule: usize,
}

impl Workshop {
    pub fn new(seed: u64) -> Self {
        let texts: Texts =
            shipped::FILES.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        let set = load::load(&memory(&texts), "main.rules").unwrap().0;
        Self {
            set,
            broad: super::words::broad().into_iter().map(|(word, _)| word).collect(),
            texts,
            dice: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
        }
    }

    pub fn roll(&mut self, below: usize) -> usize {
        self.dice ^= self.dice << 13;
        self.dice ^= self.dice >> 7;
        self.dice ^= self.dice << 17;
        usize::try_from(self.dice >> 20).unwrap() % below
    }

    pub fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        let at = self.roll(from.len());
        from[at].clone()
    }

    /// The copy, changed.
    pub fn copy(&self, change: impl FnOnce(&mut Texts, &Ruleset)) -> Memory {
        let mut texts = self.texts.clone();
        change(&mut texts, &self.set);
        memory(&texts)
    }

    pub fn texts(&self) -> &Texts {
        &self.texts
    }

    /// The copy with another text in the place of a span.
    pub fn with(&self, span: Span, text: &str) -> Memory {
        self.copy(|texts, set| {
            let name = set.sources.get(span.source).unwrap().name.to_string();
            let file = texts.get_mut(&name).unwrap();
            file.replace_range(span.start as usize..span.end as usize, text);
        })
    }

    pub fn snippet(&self, span: Span) -> &str {
        self.set.sources.snippet(span)
    }

    /// The condition of a rule, as written.
    pub fn condition(&self, rule: &Rule) -> Option<String> {
        let head = self.snippet(rule.span);
        let (_, rest) = head.split_once(" when ").or_else(|| head.split_once("when "))?;
        let rest = rest.split("reaction").next()?;
        Some(rest.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// Rules outside of any block, by number.
    pub fn plain_rules(&self) -> Vec<usize> {
        let plain = |rule: &Rule| rule.block.is_none() && !rule.otherwise && rule.when != Cond::Always;
        (0..self.set.rules.len()).filter(|at| plain(&self.set.rules[*at])).collect()
    }

    /// The phrases that decide a plain rule alone.
    pub fn phrases(&self) -> Vec<Phrase> {
        let mut out = Vec::new();
        for rule in self.plain_rules() {
            self.deciding(&self.set.rules[rule].when, rule, &mut out);
        }
        out
    }

    fn deciding(&self, cond: &Cond, rule: usize, out: &mut Vec<Phrase>) {
        match cond {
            Cond::Any(parts) => parts.iter().for_each(|part| self.deciding(part, rule, out)),
            Cond::Test(Test { field: Field::Text, op: Op::Has(quantifier, phrases), .. }) => {
                let (entries, list): (&[Spanned<String>], _) = match phrases {
                    Phrases::Inline(entries) => (entries, None),
                    Phrases::List(id, _) => {
                        let list = &self.set.lists[id.index()];
                        (&list.entries, Some(list.name.to_string()))
                    }
                };
                if *quantifier == Quantifier::Any {
                    out.extend(entries.iter().map(|entry| Phrase {
                        text: entry.node.clone(),
                        span: entry.span,
                        list: list.clone(),
                        rule,
                    }));
                }
            }
            _ => {}
        }
    }
}

fn memory(texts: &Texts) -> Memory {
    texts.iter().fold(Memory::new(), |files, (path, text)| files.with(path, text.as_str()))
}

/// An operator's file.
pub fn overlay(text: &str) -> Memory {
    Memory::new().with("main.rules", format!("language 1\n{text}"))
}

/// Everything that `check` says.
pub fn findings(files: &Memory) -> (Diagnostics, Sources) {
    match load::load(files, "main.rules") {
        Err(error) => (error.diagnostics, error.sources),
        Ok((set, found)) => {
            let sources = set.sources.clone();
            let table = Table::compile(set, &NoSettings).unwrap();
            (verify::warnings(&table, found), sources)
        }
    }
}
