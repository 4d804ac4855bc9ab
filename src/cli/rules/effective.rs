//! `rules effective`: the merged rules in order of trial, and beside each rule, list, slot and value
//! the place that won.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr as _;

use crate::{
    cli::{
        args::Global,
        escape::Shown,
        failure::{Failure, Outcome},
        rulebook,
        table::Style,
        world::World,
    },
    lang::{
        policy::{BUILT_IN, Policy, Reaction},
        source::{Span, Spanned},
        tree::{BlockId, Bucket, List, Rule, SettingValue},
    },
    table::{Origin, Table},
    time::format_duration,
};

/// Print the merged rules
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

pub(super) fn run(_: &Args, global: &Global, world: &World, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let table = rulebook::load(global, world)?;
    let mut page = Page { table: &table, out, colour: world.stdout_colour() };
    page.edits()?;
    page.settings()?;
    page.schedules()?;
    page.buckets()?;
    page.lists()?;
    page.resets()?;
    page.policy(table.policy())?;
    page.rules()?;
    Ok(Outcome::Fine)
}

/// Where the places stand, if the text before them is not longer.
const COLUMN: usize = 72;

struct Page<'a> {
    table: &'a Table,
    out: &'a mut dyn Write,
    colour: bool,
}

impl Page<'_> {
    fn edits(&mut self) -> io::Result<()> {
        let edits = &self.table.ruleset().edits;
        if !edits.is_empty() {
            self.title("edits")?;
            for edit in edits {
                self.line(0, &edit.what, edit.span)?;
            }
        }
        Ok(())
    }

    fn settings(&mut self) -> io::Result<()> {
        self.title("settings")?;
        let rules = self.table.ruleset();
        for (setting, force) in rules.settings.iter().zip(self.table.settings().iter()) {
            let text = format!("setting {} = {}", setting.name, value(force.value));
            match &force.origin {
                Origin::Rules(span) | Origin::Set(span) => self.line(0, &text, *span)?,
                Origin::Config(path) => self.placed(0, &text, &format!("config {path}"))?,
                Origin::Env(name) => self.placed(0, &text, &format!("environment {name}"))?,
            }
            for (provider, own) in &force.by_provider {
                self.placed(1, &format!("for {provider}: {}", value(*own)), "config")?;
            }
        }
        Ok(())
    }

    fn schedules(&mut self) -> io::Result<()> {
        self.title("schedules")?;
        for backoff in &self.table.ruleset().backoffs {
            self.snippet(0, backoff.span)?;
        }
        Ok(())
    }

    fn buckets(&mut self) -> io::Result<()> {
        self.title("buckets and reactions")?;
        for bucket in &self.table.ruleset().buckets {
            let Bucket { name, http, traits, reaction, span, .. } = bucket;
            let mut text = format!("bucket {name}");
            if let Some(http) = http {
                text += &format!(" http {http}");
            }
            for (holds, word) in [
                (traits.transient, "transient"),
                (traits.auth_class, "auth_class"),
                (traits.keeps_probe_slot, "keeps_probe_slot"),
                (traits.skips_provider_from.is_some(), "skips_provider"),
            ] {
                if holds {
                    text = text + " " + word;
                }
            }
            self.line(0, &text, *span)?;
            self.reaction(1, reaction, None)?;
        }
        Ok(())
    }

    /// The slots of a reaction; below a rule, those that are not its bucket's.
    fn reaction(&mut self, depth: usize, reaction: &Reaction, bucket: Option<&Reaction>) -> io::Result<()> {
        let own = |span: Span, of: fn(&Reaction) -> Span| bucket.is_none_or(|bucket| of(bucket) != span);
        let mut slots = vec![];
        if own(reaction.window.span, |r| r.window.span) {
            slots.push((
                reaction.window.span,
                if reaction.window.is_some() { "a window" } else { "no window" },
            ));
        }
        if own(reaction.rotate.span, |r| r.rotate.span) {
            slots
                .push((reaction.rotate.span, if reaction.rotate.is_some() { "rotate" } else { "no rotate" }));
        }
        if own(reaction.retry_if_repaired.span, |r| r.retry_if_repaired.span) && *reaction.retry_if_repaired {
            slots.push((reaction.retry_if_repaired.span, "retry once if repaired"));
        }
        if own(reaction.end.span, |r| r.end.span) {
            slots.push((reaction.end.span, crate::cli::answer::then(reaction)));
        }
        for (span, words) in slots {
            if span == BUILT_IN {
                self.placed(depth, words, "built in")?;
            } else {
                self.snippet(depth, span)?;
            }
        }
        match &reaction.say {
            Some(say) => self.snippet(depth, say.span),
            None => Ok(()),
        }
    }

    /// A list in one line, and below it the entries that stand elsewhere.
    fn lists(&mut self) -> io::Result<()> {
        self.title("lists")?;
        for List { name, entries, span, .. } in &self.table.ruleset().lists {
            let at = self.table.locate(*span);
            let home = |entry: &&Spanned<String>| {
                span.source == entry.span.source
                    && entry.span.start >= span.start
                    && entry.span.end <= span.end
            };
            let quoted: Vec<_> =
                entries.iter().filter(home).map(|entry| format!("\"{}\"", entry.node)).collect();
            self.placed(0, &format!("list {name} = [{}]", quoted.join(", ")), &at)?;
            for entry in entries.iter().filter(|entry| !home(entry)) {
                self.line(1, &format!("\"{}\"", entry.node), entry.span)?;
            }
        }
        for named in &self.table.ruleset().lets {
            self.snippet(0, named.span)?;
        }
        Ok(())
    }

    fn resets(&mut self) -> io::Result<()> {
        self.title("reset times")?;
        for reset in &self.table.ruleset().resets {
            self.snippet(0, reset.span)?;
        }
        Ok(())
    }

    fn policy(&mut self, policy: &Policy) -> io::Result<()> {
        self.title("policy")?;
        let Policy { forget_after, on_success, order, pin_auto, pin_user, sources, .. } = policy;
        let mut spans = vec![
            forget_after.as_ref().map(|slot| slot.span),
            on_success.as_ref().map(|slot| slot.span),
            order.as_ref().map(|slot| slot.span),
            pin_auto.as_ref().map(|slot| slot.span),
            pin_user.as_ref().map(|slot| slot.span),
        ];
        spans.extend(sources.iter().map(|slot| slot.as_ref().map(|slot| slot.span)));
        let Policy { probe_primary, probe_sibling, budget, skip_cache, sdk_retry, .. } = policy;
        spans.extend([
            probe_primary.as_ref().map(|slot| slot.span),
            probe_sibling.as_ref().map(|slot| slot.span),
            budget.as_ref().map(|slot| slot.span),
            skip_cache.as_ref().map(|slot| slot.span),
            sdk_retry.as_ref().map(|slot| slot.span),
            policy.notice_fallback.as_ref().map(|slot| slot.span),
            policy.notice_cleared.as_ref().map(|slot| slot.span),
        ]);
        for span in spans.into_iter().flatten() {
            self.snippet(0, span)?;
        }
        Ok(())
    }

    /// Rules in order of trial, each block's head where its rules begin (or go on).
    fn rules(&mut self) -> io::Result<()> {
        self.title("rules, in order of trial")?;
        let mut open: Vec<BlockId> = Vec::new();
        for rule in &self.table.ruleset().rules {
            let around = self.around(rule);
            let common = open.iter().zip(&around).take_while(|(a, b)| a == b).count();
            for (depth, id) in around.iter().enumerate().skip(common) {
                if let Some(block) = self.table.ruleset().blocks.get(id.index()) {
                    self.snippet(depth, block.span)?;
                }
            }
            let depth = around.len();
            open = around;
            self.snippet(depth, rule.span)?;
            if let Some(own) = &rule.reaction {
                self.reaction(depth + 1, own, Some(&self.table.bucket(rule.bucket).reaction))?;
            }
        }
        Ok(())
    }

    /// The blocks around a rule, outer first.
    fn around(&self, rule: &Rule) -> Vec<BlockId> {
        let mut around = Vec::new();
        let mut next = rule.block;
        while let Some(id) = next {
            around.push(id);
            next = self.table.ruleset().blocks.get(id.index()).and_then(|block| block.parent);
        }
        around.reverse();
        around
    }

    fn title(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{}", Style::Bold.paint(&format!("# {text}"), self.colour))
    }

    /// What stands at a span, on one line.
    fn snippet(&mut self, depth: usize, span: Span) -> io::Result<()> {
        let text = self.table.ruleset().sources.snippet(span);
        let words: Vec<_> = text.split_whitespace().collect();
        self.line(depth, words.join(" ").trim_end_matches(" {"), span)
    }

    fn line(&mut self, depth: usize, text: &str, span: Span) -> io::Result<()> {
        if span == BUILT_IN {
            return self.placed(depth, text, "built in");
        }
        self.placed(depth, text, &self.table.locate(span))
    }

    fn placed(&mut self, depth: usize, text: &str, place: &str) -> io::Result<()> {
        let text = format!("{}{}", "  ".repeat(depth), Shown(text));
        let gap = COLUMN.saturating_sub(text.width()).max(2);
        let place = Style::Dim.paint(&format!("# {}", Shown(place)), self.colour);
        writeln!(self.out, "{text}{}{place}", " ".repeat(gap))
    }
}

fn value(value: SettingValue) -> String {
    match value {
        SettingValue::Duration(span) if span.is_zero() => "off".into(),
        SettingValue::Duration(span) => format_duration(span),
        SettingValue::Count(count) => count.to_string(),
    }
}
