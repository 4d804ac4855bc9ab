//! Generated errors: phrases of the rules themselves and rows of the corpus, mixed, wrapped as providers
//! do, and distorted.

use pointsman::{
    lang::tree::{Cond, Field, Op, Phrases, ResetPlace, Ruleset, Test, each_test},
    signal::{Aborted, Signal},
    time::Timestamp,
};
use regex_syntax::hir::{Class, Hir, HirKind};

use super::dice::Dice;

/// What errors about a rule set are made of.
#[derive(Default)]
pub struct Stock {
    rows: Vec<Signal>,
    phrases: Vec<String>,
    expressions: Vec<Hir>,
    /// Values that `is` asks for, of any text field.
    values: Vec<String>,
    numbers: Vec<u32>,
    providers: Vec<String>,
    models: Vec<String>,
    headers: Vec<String>,
    fields: Vec<String>,
}

/// Words that overlap with phrases, join them, or stand between them.
const FILLERS: &[&str] = &[
    "the",
    "request",
    "failed:",
    "limit",
    "limits",
    "rate",
    "quota",
    "a",
    "429",
    "402",
    "error",
    "invalid",
    "not",
    "key",
    "model",
    "your",
    "for",
    "请稍后再试",
    "余额",
    "ошибка",
    "é",
    "ſ",
    "K",
    "İ",
    "x_y",
    "…",
    "{",
    "}",
    "\"",
    "1.5s",
    "try again in 20s",
    "resets in 2 hours",
    "http://a.b/c?d=e",
    "\u{1b}[31m",
    "🚦",
];

const JOINTS: &[&str] = &[" ", " ", " ", " ", ". ", ", ", ": ", "_", "-", "\n", "", " - ", "  ", "! "];

const TIMES: &[&str] = &[
    "30",
    "1.5",
    "0",
    "-5",
    "6m0s",
    "2 hours",
    "34s",
    "soon",
    "",
    "1790000600",
    "1790000600000",
    "99999999999999",
    "Mon, 21 Sep 2026 14:15:20 GMT",
    "2026-09-21T20:00:00Z",
    "rejected",
    "allowed",
];

impl Stock {
    pub fn of(rules: &Ruleset, rows: &[Signal]) -> Self {
        let mut stock = Self { rows: rows.to_vec(), ..Self::default() };
        let conds =
            rules.lets.iter().map(|one| &one.cond).chain(rules.blocks.iter().map(|block| &block.guard));
        let conds = conds.chain(rules.rules.iter().map(|rule| &rule.when));
        for cond in conds.chain(rules.resets.iter().map(|reset| &reset.when)) {
            stock.take_cond(cond);
        }
        for entry in rules.lists.iter().flat_map(|list| &list.entries) {
            stock.phrases.push(entry.node.clone());
        }
        for alias in &rules.aliases {
            stock.providers.extend(alias.members.iter().cloned().chain([alias.family.clone()]));
        }
        for reset in &rules.resets {
            match &reset.from {
                ResetPlace::Header(name) => stock.headers.push(name.node.replace('*', "input-tokens")),
                ResetPlace::Field(name) => stock.fields.push(name.node.clone()),
                ResetPlace::Text(regex) => {
                    stock.expressions.extend(regex.parse().map(|parsed| parsed.hir.clone()));
                }
            }
        }
        stock
    }

    fn take_cond(&mut self, cond: &Cond) {
        each_test(cond, &mut |test| self.take(test));
    }

    fn take(&mut self, test: &Test) {
        let texts = match (&test.field, &test.op) {
            (Field::Provider, _) => &mut self.providers,
            (Field::Model, _) => &mut self.models,
            (_, Op::Is(_) | Op::In(_)) => &mut self.values,
            _ => &mut self.phrases,
        };
        match &test.op {
            Op::Is(one) | Op::Contains(one) | Op::StartsWith(one) => {
                texts.push(one.node.replace('*', "x"));
            }
            Op::In(all) | Op::Has(_, Phrases::Inline(all)) => {
                texts.extend(all.iter().map(|one| one.node.clone()));
            }
            Op::Number(ranges) => {
                self.numbers.extend(ranges.iter().flat_map(|(first, last)| [*first, *last]));
            }
            Op::Matches(regex) => self.expressions.extend(regex.parse().map(|parsed| parsed.hir.clone())),
            Op::Has(_, Phrases::List(..)) | Op::Present | Op::Absent => {}
        }
        if let Field::Header(name) = &test.field {
            self.headers.push(name.clone());
        }
    }

    /// One error.
    pub fn error(&self, dice: &mut Dice) -> Signal {
        let mut signal = if !self.rows.is_empty() && dice.chance(30) {
            dice.pick(&self.rows).clone()
        } else {
            Signal { message: dice.chance(97).then(|| self.prose(dice)), ..Signal::default() }
        };
        if dice.chance(25) {
            signal.message = signal.message.map(|text| distorted(text, dice));
        }
        if dice.chance(40) {
            signal.message = signal.message.map(|text| self.wrapped(&text, dice));
        }
        if dice.chance(70) {
            signal.provider = self
                .one_of(&self.providers, dice)
                .map(|id| if dice.chance(10) { id.to_uppercase() } else { id });
        }
        if dice.chance(20) {
            signal.model = self.one_of(&self.models, dice);
        }
        if dice.chance(55) {
            signal.status = Some(self.status(dice));
        }
        for field in [&mut signal.code, &mut signal.error_type, &mut signal.param] {
            if dice.chance(12) {
                *field = Some(self.value(dice));
            }
        }
        while dice.chance(8) {
            signal.details.push(self.prose(dice));
        }
        while dice.chance(15) {
            let name = self.one_of(&self.headers, dice).unwrap_or_default();
            let value = if dice.chance(20) { self.value(dice) } else { dice.word(TIMES).to_owned() };
            signal.headers.push((name, value));
        }
        if dice.chance(3) {
            signal.aborted = Some(*dice.pick(&[Aborted::User, Aborted::Host, Aborted::Deadline]));
        }
        signal.received_at = dice.chance(95).then(|| Timestamp::from_millis(1_790_000_000_000));
        signal
    }

    fn one_of(&self, of: &[String], dice: &mut Dice) -> Option<String> {
        let row = || self.rows.iter().filter_map(|row| row.provider.clone());
        match dice.below(10) {
            0 => Some("nobody".to_owned()),
            1 => row().nth(dice.below(self.rows.len().max(1))),
            _ if of.is_empty() => None,
            _ => Some(dice.pick(of).clone()),
        }
    }

    fn status(&self, dice: &mut Dice) -> u16 {
        if self.numbers.is_empty() || dice.chance(50) {
            return *dice.pick(&[
                200, 400, 401, 402, 403, 404, 408, 413, 422, 429, 499, 500, 502, 503, 504, 529, 999,
            ]);
        }
        let number = *dice.pick(&self.numbers) + u32::from(dice.chance(20));
        u16::try_from(number).unwrap_or(u16::MAX)
    }

    fn value(&self, dice: &mut Dice) -> String {
        let plain = if self.values.is_empty() || dice.chance(20) {
            self.piece(dice)
        } else {
            dice.pick(&self.values).clone()
        };
        match dice.below(8) {
            0 => plain.to_uppercase(),
            1 => format!("{plain}{}", dice.word(&[".", "!", "..", " .", "s"])),
            2 => plain.replace('_', dice.word(&["-", " ", ""])),
            _ => plain,
        }
    }

    /// A few pieces in a row; now and then very many.
    fn prose(&self, dice: &mut Dice) -> String {
        let mut text = String::new();
        let before = filler(dice);
        text.push_str(&before);
        for _ in 0..=dice.below(4) {
            text.push_str(&self.piece(dice));
            text.push_str(dice.word(JOINTS));
        }
        text.push_str(&filler(dice));
        text
    }

    fn piece(&self, dice: &mut Dice) -> String {
        match dice.below(10) {
            0..4 if !self.phrases.is_empty() => dice.pick(&self.phrases).clone(),
            4..7 if !self.expressions.is_empty() => {
                let mut text = String::new();
                sample(dice.pick(&self.expressions), dice, &mut text);
                text
            }
            7 if !self.values.is_empty() => dice.pick(&self.values).clone(),
            8 if !self.rows.is_empty() => {
                let row = dice.pick(&self.rows).message.as_deref().unwrap_or_default();
                let (from, to) = (dice.place(row), dice.place(row));
                row[from.min(to)..from.max(to)].to_owned()
            }
            _ => dice.word(FILLERS).to_owned(),
        }
    }

    /// As a provider, a library or a proxy wraps a message.
    fn wrapped(&self, text: &str, dice: &mut Dice) -> String {
        let json = |text: &str| serde_json::Value::from(text).to_string();
        let (message, code) = (json(text), json(&self.value(dice)));
        let (kind, status) = (json(&self.value(dice)), self.status(dice));
        let (other, echo) = (json(&self.prose(dice)), json(&self.prose(dice)));
        let field =
            self.fields.get(dice.below(self.fields.len().max(1))).map_or("retry_after", String::as_str);
        let time = json(dice.word(TIMES));
        match dice.below(13) {
            0 => format!(r#"{{"error":{{"message":{message},"type":{kind},"code":{code},"param":null}}}}"#),
            1 => {
                format!("{status} {{\"type\":\"error\",\"error\":{{\"type\":{kind},\"message\":{message}}}}}")
            }
            2 => format!(
                r#"{{"error":{{"code":{status},"message":{message},"status":{kind},"details":[{{"reason":{code},"{field}":{time}}}]}}}}"#
            ),
            3 => format!(
                "Error code: {status} - {{'error': {{'message': {}, 'code': {}}}}}",
                python(text),
                python(&self.value(dice))
            ),
            4 => format!("data: {{\"error\":{{\"message\":{message}}}}}\n\ndata: [DONE]\n"),
            5 => format!(
                "<html><head><title>{status} {text}</title></head><body><h1>{text}</h1><script>{code}</script></body></html>"
            ),
            6 => format!(r#"{{"error":{}}}"#, json(&format!(r#"{{"message":{message},"code":{code}}}"#))),
            7 => format!("{}: {{\"message\":{message},\"input\":{echo}}}", self.prose(dice)),
            8 => format!(
                r#"{{"errors":[{{"message":{message}}},{{"message":{other}}}],"detail":{other},"{field}":{time}}}"#
            ),
            9 => format!("HTTP {status}: {text}"),
            10 => format!("{status}: {text}"),
            11 => format!("{status} {text}"),
            _ => format!(
                r#"{{"error":{{"message":{message},"metadata":{{"raw":{other},"messages":[{{"content":{echo}}}]}}}}}}"#
            ),
        }
    }
}

/// Mostly nothing; seldom more than fits.
fn filler(dice: &mut Dice) -> String {
    let words = match dice.below(2_000) {
        0 => 9_000 + dice.below(9_000),
        1..20 => dice.below(300),
        _ => 0,
    };
    (0..words).flat_map(|_| [dice.word(FILLERS), " "]).collect()
}

fn python(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', "\\n"))
}

/// As texts come out of other hands.
fn distorted(mut text: String, dice: &mut Dice) -> String {
    for _ in 0..=dice.below(2) {
        let at = dice.place(&text);
        match dice.below(14) {
            0 => text = text.to_uppercase(),
            1 => text = text.replace(' ', dice.word(&["_", "-", "  ", "\u{a0}", "\t", "\u{2011}"])),
            2 => text = text.replace('\'', "’").replace('"', "“"),
            3 => text = text.replace('_', dice.word(&["-", " "])),
            4 => text = text.replace('-', dice.word(&["–", "_", "—"])),
            5 => text.truncate(at),
            6 => text = text[at..].to_owned(),
            7 => text.insert(
                at,
                *dice.pick(&['\u{200b}', '\u{feff}', '\0', '\r', 'x', '7', '_', ' ', 'é', '额', '.', '!']),
            ),
            8 => {
                text =
                    text.chars().map(|c| if dice.chance(20) { c.to_ascii_uppercase() } else { c }).collect();
            }
            9 => text = format!("{text}{text}"),
            10 => text = text.chars().filter(|_| !dice.chance(3)).collect(),
            11 => text = text.replace('s', "ſ"),
            12 => text = text.replace('k', "\u{212a}"),
            _ => text = format!(" {text}. "),
        }
    }
    text
}

/// A text that an expression matches, but for what it says of its edges.
fn sample(hir: &Hir, dice: &mut Dice, out: &mut String) {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => out.push_str(std::str::from_utf8(&literal.0).unwrap()),
        HirKind::Class(Class::Unicode(class)) => {
            let range = dice.pick(class.ranges());
            let span = u32::from(range.end()) - u32::from(range.start());
            let within = u32::try_from(dice.below(span.min(90) as usize + 1)).unwrap();
            out.push(char::from_u32(u32::from(range.start()) + within).unwrap_or('x'));
        }
        HirKind::Class(Class::Bytes(_)) => out.push('x'),
        HirKind::Repetition(repetition) => {
            let most = repetition.max.unwrap_or(u32::MAX).min(repetition.min + 4) - repetition.min;
            for _ in 0..repetition.min as usize + dice.below(most as usize + 1) {
                sample(&repetition.sub, dice, out);
            }
        }
        HirKind::Capture(capture) => sample(&capture.sub, dice, out),
        HirKind::Concat(parts) => parts.iter().for_each(|part| sample(part, dice, out)),
        HirKind::Alternation(parts) => sample(dice.pick(parts), dice, out),
    }
}
