//! Hover: the doc comment of a name, and what it stands for in the rules in force.

use std::fmt::Write as _;

use super::{
    analysis::Analysis,
    symbols::{Kind, Symbol},
};
use crate::{
    classify::explain,
    escape::shown_lines,
    lang::{
        diagnostic::codes,
        policy::{Growth, Reaction},
        source::{SourceId, Span},
        tree::{BackoffId, BlockId, Cond, Ruleset, SettingValue},
    },
    table::{Origin, Table},
    time::format_duration,
};

/// Most entries of a list, and longest text of a declaration in characters, that are shown.
const MOST: usize = 40;
const LONGEST: usize = 1_200;

/// What is to say of a name, as Markdown.
#[must_use]
pub fn hover(analysis: &Analysis, source: SourceId, symbol: &Symbol) -> Option<String> {
    let page = match symbol.kind {
        Kind::Code => codes::find(&symbol.name).map(codes::page),
        Kind::Set | Kind::File => file(analysis, source, symbol),
        _ => {
            let table = analysis.table.as_ref();
            let in_force = table.and_then(|table| Page::new(table).of(symbol.kind, &symbol.name));
            in_force.or_else(|| declared(analysis, symbol))
        }
    };
    page.map(|page| shown_lines(&page.replace("\r\n", "\n").replace('\t', "    ")))
}

/// What can be said without rules in force: the declaration.
fn declared(analysis: &Analysis, symbol: &Symbol) -> Option<String> {
    let (source, found) = *analysis.declarations(symbol.kind, &symbol.name).first()?;
    let span = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    let head = Span { source, start: span(found.head.start), end: span(found.head.end) };
    let mut out = fenced(analysis.sources.snippet(head));
    if let Some(doc) = &found.doc {
        let _ = write!(out, "\n{doc}\n");
    }
    Some(out)
}

fn file(analysis: &Analysis, source: SourceId, symbol: &Symbol) -> Option<String> {
    let used = analysis.used(source, symbol)?;
    let file = analysis.sources.get(used)?;
    let shipped = if file.shipped.is_some() { "shipped " } else { "" };
    let lines = file.text.lines().count();
    let mut out = format!("{shipped}`{}`, {lines} lines\n", file.shipped.unwrap_or(&file.name));
    // The comment at the top of a file says what it is for.
    let top = file.text.lines().skip_while(|line| line.starts_with("language") || line.trim().is_empty());
    for line in top.map_while(|line| line.strip_prefix('#')) {
        let _ = write!(out, "\n{}", line.trim_start_matches('#').trim());
    }
    Some(out)
}

/// A text as a block of rules.
fn fenced(text: &str) -> String {
    let cut = text.char_indices().nth(LONGEST).map_or(text, |(at, _)| text.get(..at).unwrap_or(text));
    let dots = if cut.len() < text.len() { " …" } else { "" };
    format!("```rules\n{}{dots}\n```\n", cut.trim_end())
}

struct Page<'a> {
    table: &'a Table,
    set: &'a Ruleset,
    out: String,
}

impl<'a> Page<'a> {
    fn new(table: &'a Table) -> Self {
        Self { table, set: table.ruleset(), out: String::new() }
    }

    fn of(mut self, kind: Kind, name: &str) -> Option<String> {
        match kind {
            Kind::Rule => self.rule(name),
            Kind::Block => self.block(name),
            Kind::Bucket => self.bucket(name),
            Kind::Alias => self.alias(name),
            Kind::List => self.list(name),
            Kind::Let => self.named_condition(name),
            Kind::Setting => self.setting(name),
            Kind::Backoff => self.backoff(name),
            Kind::Reset => self.reset(name),
            Kind::Code | Kind::Set | Kind::File => None,
        }?;
        Some(self.out)
    }

    /// The declaration, its doc comment, and a line on what is in force.
    fn begin(&mut self, span: Span, doc: Option<&String>) {
        let text = self.set.sources.snippet(span);
        self.out.push_str(&fenced(text));
        if let Some(doc) = doc {
            let _ = write!(self.out, "\n{doc}\n");
        }
    }

    fn say(&mut self, text: &str) {
        let _ = write!(self.out, "\n{text}\n");
    }

    /// `, in FILE:LINE`; nothing for what is built in.
    fn place(&self, span: Span) -> String {
        self.set
            .sources
            .get(span.source)
            .map_or_else(String::new, |_| format!(", {}", self.set.sources.locate(span)))
    }

    fn reaction(&mut self, reaction: &Reaction) {
        for slot in explain::slots(self.table, reaction) {
            let _ = writeln!(self.out, "- {}: `{}` ({})", slot.slot, slot.value, slot.at);
        }
    }

    fn rule(&mut self, name: &str) -> Option<()> {
        let at = self.set.rules.iter().position(|rule| &*rule.name == name)?;
        let rule = self.set.rules.get(at)?;
        self.begin(rule.span, rule.doc.as_ref());
        let observed = if rule.observe { "observed only, decides nothing; " } else { "" };
        let count = self.set.rules.len();
        self.say(&format!(
            "`{name}`: {observed}tried as number {} of {count}{}",
            at + 1,
            self.place(rule.span)
        ));
        self.guards(rule.block);
        let bucket = self.set.buckets.get(rule.bucket.index())?;
        self.say(&format!("Goes to `{}`, and then:\n", bucket.name));
        self.reaction(rule.reaction.as_ref().unwrap_or(&bucket.reaction));
        Some(())
    }

    fn guards(&mut self, innermost: Option<BlockId>) {
        let parent = |id: &BlockId| self.set.blocks.get(id.index()).and_then(|block| block.parent);
        let blocks =
            std::iter::successors(innermost, parent).filter_map(|id| self.set.blocks.get(id.index()));
        let guarded = blocks.filter(|block| block.guard != Cond::Always);
        let heads: Vec<String> = guarded.map(|block| self.line(block.span)).collect();
        for head in heads.iter().rev() {
            self.say(&format!("Only in `{head}`"));
        }
    }

    /// The text of a span on one line.
    fn line(&self, span: Span) -> String {
        self.set.sources.snippet(span).split_whitespace().collect::<Vec<_>>().join(" ").replace('`', "'")
    }

    fn block(&mut self, name: &str) -> Option<()> {
        let at = self.set.blocks.iter().position(|block| &*block.name == name)?;
        let block = self.set.blocks.get(at)?;
        self.begin(block.span, block.doc.as_ref());
        let id = u32::try_from(at).ok().map(BlockId);
        let rules = self.set.rules.iter().filter(|rule| rule.block == id).count();
        self.say(&format!("{rules} rules{}", self.place(block.span)));
        self.guards(block.parent);
        Some(())
    }

    fn bucket(&mut self, name: &str) -> Option<()> {
        let (id, bucket) = self.table.bucket_named(name)?;
        self.begin(bucket.span, bucket.doc.as_ref());
        let rules = self.set.rules.iter().filter(|rule| rule.bucket == id && !rule.observe).count();
        let built_in = if self.set.sources.get(bucket.span.source).is_none() { "built in, " } else { "" };
        self.say(&format!("Bucket `{name}`: {built_in}{rules} rules lead here{}", self.place(bucket.span)));
        self.say("In force:\n");
        self.reaction(&bucket.reaction);
        Some(())
    }

    fn alias(&mut self, name: &str) -> Option<()> {
        let family = self.table.family(name).into_owned();
        let alias = self.set.aliases.iter().find(|alias| alias.family.eq_ignore_ascii_case(&family))?;
        self.begin(alias.span, None);
        self.say(&format!("A provider of the family `{}`{}", alias.family, self.place(alias.span)));
        Some(())
    }

    fn list(&mut self, name: &str) -> Option<()> {
        let list = self.set.lists.iter().find(|list| &*list.name == name)?;
        if let Some(doc) = &list.doc {
            self.say(doc);
        }
        let count = list.entries.len();
        self.say(&format!("List `{name}` in force: {count} entries{}\n", self.place(list.span)));
        // What other files have added is what somebody looks for: it stands first.
        let (own, added): (Vec<_>, Vec<_>) =
            list.entries.iter().partition(|entry| entry.span.source == list.span.source);
        for entry in added.iter().take(MOST) {
            let _ = writeln!(self.out, "- `{:?}`{}", entry.node, self.place(entry.span));
        }
        for entry in own.iter().take(MOST.saturating_sub(added.len())) {
            let _ = writeln!(self.out, "- `{:?}`", entry.node);
        }
        if count > MOST {
            let _ = writeln!(self.out, "- and {} more", count - MOST);
        }
        Some(())
    }

    fn named_condition(&mut self, name: &str) -> Option<()> {
        let named = self.set.lets.iter().find(|named| &*named.name == name)?;
        self.begin(named.span, named.doc.as_ref());
        self.say(&format!("Condition `{name}`{}", self.place(named.span)));
        Some(())
    }

    fn setting(&mut self, name: &str) -> Option<()> {
        let at = self.set.settings.iter().position(|setting| &*setting.name == name)?;
        let setting = self.set.settings.get(at)?;
        let force = self.table.settings().iter().nth(at)?;
        self.begin(setting.span, setting.doc.as_ref());
        let from = match &force.origin {
            Origin::Rules(span) => format!("from its declaration{}", self.place(*span)),
            Origin::Set(span) => format!("from `set`{}", self.place(*span)),
            Origin::Config(path) => format!("from config `{path}`"),
            Origin::Env(variable) => format!("from the environment, `{variable}`"),
        };
        self.say(&format!("In force: `{}`, {from}", value(force.value)));
        for (words, external) in [
            ("config", &setting.from_config),
            ("config, by provider,", &setting.by_provider),
            ("environment variable", &setting.from_env),
        ] {
            if let Some(external) = external {
                self.say(&format!("A host's {words} `{}` overrides it.", external.path));
            }
        }
        Some(())
    }

    fn backoff(&mut self, name: &str) -> Option<()> {
        let id: BackoffId = self.table.backoff_named(name)?;
        let named = self.set.backoffs.get(id.index())?;
        self.begin(named.span, named.doc.as_ref());
        let step = |step| self.table.backoff_step(id, step, None);
        let steps: Vec<_> = match &named.backoff.growth {
            Growth::Steps(steps) => (1..).take(steps.len()).map(step).collect(),
            Growth::Doubling { .. } => {
                let mut steps = Vec::new();
                for next in (1..=24).map(step) {
                    if steps.last() == Some(&next) {
                        break;
                    }
                    steps.push(next);
                }
                steps
            }
        };
        let steps: Vec<String> = steps.into_iter().map(format_duration).collect();
        let jitter = match named.backoff.jitter_percent {
            0 => String::new(),
            percent => format!(", jitter {percent}%"),
        };
        let place = self.place(named.span);
        self.say(&format!("In force: {}, and so on{jitter}{place}", steps.join(" → ")));
        Some(())
    }

    fn reset(&mut self, name: &str) -> Option<()> {
        let reset = self.set.resets.iter().find(|reset| &*reset.name == name)?;
        self.begin(reset.span, reset.doc.as_ref());
        self.say(&format!("Reset declaration `{name}`{}", self.place(reset.span)));
        Some(())
    }
}

/// A value as rules write it.
fn value(value: SettingValue) -> String {
    match value {
        SettingValue::Duration(span) if span.is_zero() => "off".to_owned(),
        SettingValue::Duration(span) => format_duration(span),
        SettingValue::Count(count) => count.to_string(),
    }
}
