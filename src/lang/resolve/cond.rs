//! Conditions: names resolved, questions and values checked against their fields.

use std::sync::Arc;

use super::Resolver;
use crate::lang::{
    ast,
    diagnostic::{
        Diagnostic,
        codes::{lints, names as name_codes, patterns, types},
        nearest::did_you_mean,
    },
    literal,
    pattern::Pattern,
    resolve::names,
    source::{Span, Spanned},
    tree::{ABORTS, BODIES, Cond, Field, LetId, ListId, Op, Phrases, Regex, Test},
};

/// Longest phrase, in bytes. A longer one is a whole message, and makes the matcher large.
const MAX_PHRASE: usize = 1_000;

/// What kind of values a field has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    /// Texts, codes, headers.
    Text,
    /// Provider and model.
    Id,
    /// Status and the like.
    Number,
    /// One of a few words.
    Words(&'static [&'static str]),
}

fn sort(field: &Field) -> Sort {
    match field {
        Field::Text
        | Field::Message
        | Field::Detail
        | Field::Wrapper
        | Field::Echo
        | Field::Code
        | Field::Type
        | Field::Param
        | Field::Header(_) => Sort::Text,
        Field::Provider | Field::Model => Sort::Id,
        Field::Status | Field::AnyStatus | Field::LeadingNumber => Sort::Number,
        Field::Body => Sort::Words(BODIES),
        Field::Aborted => Sort::Words(ABORTS),
    }
}

impl Resolver<'_> {
    /// A condition; a stand-in where something is wrong, which is then reported.
    pub(super) fn cond(&mut self, cond: &ast::Cond) -> Cond {
        match cond {
            ast::Cond::All(parts, _) => Cond::All(parts.iter().map(|p| self.cond(p)).collect()),
            ast::Cond::Any(parts, _) => Cond::Any(parts.iter().map(|p| self.cond(p)).collect()),
            ast::Cond::Not(inner, _) => Cond::Not(Box::new(self.cond(inner))),
            ast::Cond::Named(name) => {
                let Some(id) = self.lets.take(&name.node) else {
                    self.unknown_let(name);
                    return Cond::Always;
                };
                Cond::Let(LetId(id), name.span)
            }
            ast::Cond::Test(test) => self.test(test).map_or(Cond::Always, Cond::Test),
        }
    }

    fn unknown_let(&mut self, name: &ast::Name) {
        if self.unsure.may_be(&name.node) {
            return;
        }
        let mut problem = names::unknown(name_codes::UNKNOWN_LET, "let", name, &self.lets, self.program);
        if self.lists.get(&name.node).is_some() {
            problem =
                problem.help(format!("`{}` is a list: write `text has any of {}`", name.node, name.node));
        }
        self.out.push(problem);
    }

    fn test(&mut self, test: &ast::Test) -> Option<Test> {
        let field = &test.field;
        let sort = sort(&field.node);
        let at = test.op.span;
        let op = match &test.op.node {
            ast::Op::Present => Op::Present,
            ast::Op::Absent => Op::Absent,
            ast::Op::Is(value) => self.values(field, sort, std::slice::from_ref(value), true)?,
            ast::Op::In(ast::Values::Inline(values)) => {
                if values.is_empty() {
                    self.empty_list(at);
                    return None;
                }
                self.values(field, sort, values, false)?
            }
            ast::Op::In(ast::Values::List(name)) => {
                let id = self.list(name)?;
                if sort == Sort::Number {
                    self.wrong_value(
                        field,
                        name.span,
                        "a list of phrases",
                        "numbers stand in place: `in [429, 500..599]`",
                    );
                    return None;
                }
                Op::In(self.set.lists.get(id.index())?.entries.clone())
            }
            ast::Op::Has(quantifier, phrases) => {
                self.only_text(field, sort, at, "has")?;
                Op::Has(*quantifier, self.phrases(phrases, at)?)
            }
            ast::Op::Contains(phrase) => {
                self.only_text(field, sort, at, "contains")?;
                if phrase.node.trim().is_empty() {
                    self.empty_phrase(phrase);
                    return None;
                }
                self.not_too_long(phrase);
                Op::Contains(phrase.clone())
            }
            ast::Op::StartsWith(phrase) => {
                if sort != Sort::Id {
                    self.only_text(field, sort, at, "starts with")?;
                }
                if phrase.node.trim().is_empty() {
                    self.empty_phrase(phrase);
                    return None;
                }
                self.not_too_long(phrase);
                Op::StartsWith(phrase.clone())
            }
            ast::Op::Matches(regex) => {
                self.only_text(field, sort, at, "matches")?;
                self.regex(regex)?;
                Op::Matches(regex.clone())
            }
        };
        Some(Test { field: field.node.clone(), op, span: test.span })
    }

    fn only_text(&mut self, field: &Spanned<Field>, sort: Sort, at: Span, word: &str) -> Option<()> {
        if sort == Sort::Text {
            return Some(());
        }
        let name = self.set.sources.snippet(field.span).to_owned();
        let help = match sort {
            Sort::Number => {
                format!("a number is asked with `is` or `in`: `{name} is 429`, `{name} in [500..599]`")
            }
            Sort::Id => format!("ids are asked with `is` or `in`, and globs: `{name} is \"kimi*\"`"),
            Sort::Words(words) => format!("it is asked with `is`: {}", names::listed(words)),
            Sort::Text => String::new(),
        };
        self.out.push(
            Diagnostic::new(types::WRONG_QUESTION, at, format!("`{name}` cannot be asked with `{word}`"))
                .here("not for this field")
                .help(help),
        );
        None
    }

    fn wrong_value(&mut self, field: &Spanned<Field>, at: Span, what: &str, help: impl Into<String>) {
        let name = self.set.sources.snippet(field.span).to_owned();
        self.out.push(
            Diagnostic::new(types::WRONG_VALUE, at, format!("`{name}` is never {what}"))
                .here("cannot be")
                .help(help),
        );
    }

    fn values(
        &mut self,
        field: &Spanned<Field>,
        sort: Sort,
        values: &[ast::Value],
        single: bool,
    ) -> Option<Op> {
        if sort == Sort::Number {
            let ranges: Vec<(u32, u32)> = values.iter().map_while(|v| self.range(field, v)).collect();
            return (ranges.len() == values.len()).then_some(Op::Number(ranges));
        }
        let mut texts = Vec::new();
        for value in values {
            let text = match value {
                ast::Value::Text(text) => text.clone(),
                // A code may be written as the number that it looks like.
                ast::Value::Number(n)
                    if n.low == n.high
                        && matches!(
                            field.node,
                            Field::Code | Field::Type | Field::Param | Field::Header(_)
                        ) =>
                {
                    Spanned { node: self.set.sources.snippet(n.span).trim().to_owned(), span: n.span }
                }
                ast::Value::Number(n) => {
                    self.wrong_value(
                        field,
                        n.span,
                        "a number",
                        "write a string, or ask for `status` or `leading_number`",
                    );
                    return None;
                }
            };
            if text.node.trim().is_empty() {
                self.empty_phrase(&text);
                return None;
            }
            self.not_too_long(&text);
            if let Sort::Words(words) = sort
                && !words.contains(&text.node.as_str())
            {
                let help = did_you_mean(&text.node, words.iter().copied())
                    .unwrap_or_else(|| format!("it is one of {}", names::listed(words)));
                self.wrong_value(field, text.span, &format!("`{}`", text.node), help);
                return None;
            }
            texts.push(text);
        }
        if single { texts.pop().map(Op::Is) } else { Some(Op::In(texts)) }
    }

    fn range(&mut self, field: &Spanned<Field>, value: &ast::Value) -> Option<(u32, u32)> {
        let range = match value {
            ast::Value::Number(range) => range,
            ast::Value::Text(text) => {
                let number = text.node.trim().parse::<u32>();
                let help = match number {
                    Ok(n) => format!("write it without quotes: `{n}`"),
                    Err(_) => "write a number, such as `429`, or a range, such as `500..599`".to_owned(),
                };
                self.wrong_value(field, text.span, "a text", help);
                return None;
            }
        };
        if field.node != Field::LeadingNumber
            && !(100..=999).contains(&range.low) | !(100..=999).contains(&range.high)
        {
            let written = self.set.sources.snippet(range.span).to_owned();
            self.wrong_value(
                field,
                range.span,
                &format!("`{written}`"),
                "a status has three digits, such as `429`",
            );
            return None;
        }
        Some((range.low, range.high))
    }

    /// The number of a list.
    pub(super) fn list(&mut self, name: &ast::Name) -> Option<ListId> {
        let id = self.lists.take(&name.node);
        if id.is_none() && !self.unsure.may_be(&name.node) {
            self.out.push(names::unknown(name_codes::UNKNOWN_LIST, "list", name, &self.lists, self.program));
        }
        id.map(ListId)
    }

    fn phrases(&mut self, phrases: &ast::Phrases, at: Span) -> Option<Phrases> {
        match phrases {
            ast::Phrases::List(name) => Some(Phrases::List(self.list(name)?, name.span)),
            ast::Phrases::Inline(entries) => {
                if entries.is_empty() {
                    self.empty_list(at);
                    return None;
                }
                for entry in entries {
                    self.phrase(entry);
                }
                Some(Phrases::Inline(entries.clone()))
            }
        }
    }

    pub(super) fn empty_list(&mut self, at: Span) {
        self.out.push(
            Diagnostic::new(types::EMPTY_LIST, at, "this list has no entries")
                .here("empty")
                .help("name one phrase at least"),
        );
    }

    /// Reports a phrase that holds nothing to look for, or too much.
    pub(super) fn phrase(&mut self, phrase: &Spanned<String>) {
        self.not_too_long(phrase);
        if literal::normal(&phrase.node).trim().is_empty() {
            self.empty_phrase(phrase);
        }
    }

    fn not_too_long(&mut self, phrase: &Spanned<String>) {
        let bytes = phrase.node.len();
        if bytes > MAX_PHRASE {
            self.out.push(
                Diagnostic::new(
                    types::LONG_TEXT,
                    phrase.span,
                    format!("this phrase has {bytes} bytes, and {MAX_PHRASE} is the most"),
                )
                .here("far too long")
                .help("keep the few words that tell this error from others"),
            );
        }
    }

    fn empty_phrase(&mut self, phrase: &Spanned<String>) {
        self.out.push(
            Diagnostic::new(types::EMPTY_PHRASE, phrase.span, "this phrase is empty")
                .here("nothing to look for")
                .help("write the words that tell this error from others; to ask whether there is any text, write `is present`"),
        );
    }

    /// Checks a regular expression.
    pub(super) fn regex(&mut self, regex: &Regex) -> Option<Arc<Pattern>> {
        let problem = match regex.parse() {
            Ok(parsed) if parsed.literals.is_empty() && !regex.always => {
                self.out.push(
                    Diagnostic::new(
                        patterns::NO_LITERAL,
                        regex.span,
                        "no fixed piece of three bytes is in every match of this expression",
                    )
                    .here("would have to run on every text")
                    .help("add a word that every match holds, or write `always` behind the expression"),
                );
                return None;
            }
            Ok(parsed) => {
                if regex.always {
                    self.out.push(
                        Diagnostic::new(lints::ALWAYS, regex.span, "this expression runs on every text")
                            .here("`always`")
                            .help("give it a word that every match holds, and take `always` out"),
                    );
                }
                return Some(parsed);
            }
            Err(problem) => problem,
        };
        let code = if problem.too_large { patterns::REGEX_TOO_LARGE } else { patterns::BAD_REGEX };
        let span = self.inside(regex, &problem.at);
        let message = format!(
            "this regular expression {}: {}",
            if problem.too_large { "is too large" } else { "cannot be read" },
            problem.message
        );
        self.out.push(Diagnostic::new(code, span, message).help(problem.help));
        None
    }

    /// The span of a range of the pattern. `\/` in the file is `/` in the pattern, perhaps.
    fn inside(&self, regex: &Regex, at: &std::ops::Range<usize>) -> Span {
        let text = self.set.sources.snippet(regex.span);
        let Some(open) = text.find('/') else { return regex.span };
        let body = text.get(open + 1..).unwrap_or("");
        let place = |wanted: usize| {
            let (mut raw, mut seen) = (0, 0);
            let bytes = body.as_bytes();
            let kept = regex.pattern.as_bytes();
            while seen < wanted && raw < bytes.len() {
                if bytes.get(raw) == Some(&b'\\')
                    && bytes.get(raw + 1) == Some(&b'/')
                    && kept.get(seen) == Some(&b'/')
                {
                    raw += 1;
                }
                raw += 1;
                seen += 1;
            }
            raw
        };
        let (first, last) = (place(at.start), place(at.end));
        // A place between two characters shows the one behind it.
        let width = body.get(first..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
        let spot = |raw: usize| regex.span.start + u32::try_from(open + 1 + raw).unwrap_or(0);
        let end = spot(last.max(first + width)).min(regex.span.end);
        Span { source: regex.span.source, start: spot(first), end }
    }
}
