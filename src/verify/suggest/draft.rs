//! A candidate as text: the rule and its example.

use std::fmt::{self, Write as _};

use super::{
    candidates::{Core, LONGEST, quoted},
    in_front, parsed,
};
use crate::{
    classify::Scratch,
    lang::{
        check,
        diagnostic::codes::lints,
        fmt as layout, load,
        tree::{BucketId, RuleId},
    },
    signal::{Evidence, SegmentKind, Signal, places},
    table::Table,
    verify::{self, shadow},
};

/// Characters of the example's message.
const MESSAGE: usize = 240;

/// Characters of the message that stand before the phrase.
const BEFORE: usize = 60;

/// Characters of a rule's name.
const NAME: usize = 40;

/// A rule for one error, with its example, as it stands in an overlay above `use default`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// The rule's name.
    pub name: String,
    /// The rule and its example.
    pub text: String,
    /// The phrases that it looks for.
    pub phrases: Vec<String>,
    /// Errors of the corpus that it was tried on.
    pub rows: u64,
    /// Those of them that are the same error again.
    pub same: u64,
    /// Some of those that no rule matches, and this one would; mostly none.
    pub caught: Vec<String>,
    /// Why it holds for any provider, if it does.
    pub unguarded: Option<Unguarded>,
}

/// Why a draft cannot ask for the error's provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unguarded {
    /// There is none.
    Unnamed,
    /// Its name was taken for a key and shortened, so no error has what is left of it.
    Shortened,
    /// Its name would stand for others.
    Glob,
    /// Its name is longer than a phrase may be.
    Long,
}

impl Unguarded {
    /// Whether, and why, a rule cannot ask for this provider.
    pub(super) fn of(provider: Option<&str>) -> Option<Self> {
        match provider.map(str::trim) {
            None | Some("") => Some(Self::Unnamed),
            Some(name) if name.contains('…') => Some(Self::Shortened),
            Some(name) if name.contains('*') => Some(Self::Glob),
            Some(name) if name.chars().count() > LONGEST => Some(Self::Long),
            Some(_) => None,
        }
    }
}

impl fmt::Display for Unguarded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unnamed => f.write_str("the error names no provider"),
            Self::Shortened => {
                f.write_str("the provider's name looks like a key, so it was shortened when it was stored")
            }
            Self::Glob => f.write_str("the provider's name holds `*`, which a rule takes for any text"),
            Self::Long => write!(f, "the provider's name has more than {LONGEST} characters"),
        }
    }
}

/// Writes a candidate out. `None` when `check` would have something to say about it.
pub(super) fn draft(
    table: &Table,
    signal: &Signal,
    bucket: BucketId,
    core: &Core,
    unguarded: Option<Unguarded>,
) -> Option<Draft> {
    let mut scratch = Scratch::default();
    table.classify(&signal.as_ref(), &mut scratch);
    let evidence = scratch.evidence();
    let name = name(table, evidence, core);
    let bucket_name = &table.bucket(bucket).name;
    let mut rule = format!("rule {name} -> {bucket_name} when {}\n  example", core.scoped);
    if unguarded.is_none() {
        // Writing to a string cannot fail.
        let _ = write!(rule, " provider {}", quoted(&evidence.provider));
    }
    for (kind, code) in &core.codes {
        let _ =
            write!(rule, " {} {}", if *kind == SegmentKind::Code { "code" } else { "type" }, quoted(code));
    }
    if let Some(message) = message(evidence, core) {
        let _ = write!(rule, " message {}", quoted(&message));
    }
    let doc = format!("## Drafted from the inbox. Say here why this is {bucket_name}.\n");
    let text = layout::format(&format!("language 1\n{doc}{rule}\n")).ok()?;
    let text = text.trim_start().strip_prefix("language 1")?.trim_start().to_owned();
    is_clean(table, bucket, &rule, bucket_name).then(|| Draft {
        name,
        text,
        phrases: core.phrases.clone(),
        rows: 0,
        same: 0,
        caught: Vec::new(),
        unguarded,
    })
}

/// Whether the rule loads, its example comes out, and it brings no warning, neither about itself nor
/// about the rules below it.
fn is_clean(table: &Table, bucket: BucketId, rule: &str, bucket_name: &str) -> bool {
    let alone = rule.replacen(&format!("-> {bucket_name} when"), "-> drafted when", 1);
    let stub = format!("language 1\nbucket drafted {{ }}\non drafted {{ surface }}\n{alone}\n");
    let Ok((_, found)) = load::from_text(&stub) else { return false };
    if found.iter().any(|it| it.code != lints::NOT_DEFAULT) {
        return false;
    }
    let Some(mut rules) = parsed(&alone) else { return false };
    for rule in &mut rules {
        rule.bucket = bucket;
    }
    let Some(with) = in_front(table, rules) else { return false };
    let Some(without) = in_front(table, Vec::new()) else { return false };
    let example = with.ruleset().rules.first().and_then(|rule| rule.examples.first());
    let decides = example.is_some_and(|example| {
        let verdict = with.classify(&verify::signal(&example.case), &mut Scratch::default());
        verdict.rule == Some(RuleId(0)) && verdict.bucket == bucket
    });
    let failures = |table| verify::run(table).failures.len();
    decides && !shadow::first_covers(with.ruleset()) && failures(&with) <= failures(&without)
}

/// The text that holds the phrases (without phrases: the first), its ids, numbers and quotations
/// replaced by `…`.
fn message(evidence: &Evidence, core: &Core) -> Option<String> {
    let texts = evidence
        .segments
        .iter()
        .filter(|segment| matches!(segment.kind, SegmentKind::Message | SegmentKind::Detail));
    let holds = |text: &str| core.phrases.iter().all(|phrase| check::has_words(text, phrase));
    let mut found = None;
    let mut whole = Vec::new();
    for segment in texts {
        let (folded, original) = (evidence.folded_text(segment), evidence.original_text(segment));
        let mut shown = placeholders(original, &evidence.model);
        if !shown.to_lowercase().contains(core.phrases.first().map_or("", String::as_str)) {
            // Folding has changed more than the case of letters.
            shown = placeholders(folded, &evidence.model);
        }
        if holds(folded) && found.is_none() {
            found = Some(shown.clone());
        }
        whole.push(shown);
    }
    // Phrases of several texts stand in one example's message.
    let text = found.unwrap_or_else(|| whole.join(" "));
    let starts = core.phrases.iter().filter_map(|phrase| text.to_lowercase().find(phrase.as_str()));
    let skipped = match starts.min() {
        Some(at) if text.chars().count() > MESSAGE => {
            text.get(..at).map_or(0, |before| before.chars().count()).saturating_sub(BEFORE)
        }
        _ => 0,
    };
    let text: String = text.chars().skip(skipped).take(MESSAGE).collect();
    let words: Vec<&str> = text.split_whitespace().collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// A text whose variable parts are `…`.
fn placeholders(text: &str, model: &str) -> String {
    let mut out = String::new();
    let mut at = 0;
    let gap = |out: &mut String, gap: &str| {
        if gap.contains(char::is_alphanumeric) {
            let before = if out.is_empty() { "" } else { " " };
            out.push_str(before);
            out.push_str("… ");
        } else {
            out.extend(gap.chars().map(|c| if c.is_control() { ' ' } else { c }));
        }
    };
    for place in places(text, model) {
        gap(&mut out, text.get(at..place.start).unwrap_or_default());
        out.push_str(text.get(place.clone()).unwrap_or_default());
        at = place.end;
    }
    gap(&mut out, text.get(at..).unwrap_or_default());
    out
}

/// A name of letters that no other rule has.
fn name(table: &Table, evidence: &Evidence, core: &Core) -> String {
    let guarded = core.scoped != core.anywhere;
    let provider = if guarded { table.family(&evidence.provider) } else { "".into() };
    let text = core.codes.first().map(|(_, code)| code).or(core.phrases.first()).map_or("", String::as_str);
    let letters = |text: &str| -> String {
        text.chars().map(|c| if c.is_ascii_lowercase() { c } else { '_' }).collect()
    };
    let mut name = String::from(if provider.is_empty() { "new" } else { "" });
    for word in letters(&format!("{provider} {text}")).split('_').filter(|word| !word.is_empty()) {
        if name.len() + word.len() >= NAME {
            break;
        }
        if !name.is_empty() {
            name.push('_');
        }
        name.push_str(word);
    }
    if !name.contains('_') {
        name.push_str("_error");
    }
    while table.ruleset().rules.iter().any(|rule| *rule.name == *name) {
        name.push_str("_too");
    }
    name
}
