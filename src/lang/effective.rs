//! `rules effective`: the merged list, and beside every rule, list, slot and value the file and line
//! that won.

use std::fmt::Write;

use super::{
    policy::{BUILT_IN, Reaction},
    source::Span,
    tree::{BlockId, Ruleset, SettingValue},
};

/// Column in which places stand.
const COLUMN: usize = 84;

/// The rules in force, one thing a line.
#[must_use]
pub fn print(set: &Ruleset) -> String {
    let mut page = Page { set, out: String::new() };
    page.buckets();
    page.values();
    page.policy();
    page.rules();
    page.edits();
    page.out
}

struct Page<'a> {
    set: &'a Ruleset,
    out: String,
}

impl Page<'_> {
    fn title(&mut self, title: &str) {
        let gap = if self.out.is_empty() { "" } else { "\n" };
        let _ = writeln!(self.out, "{gap}# {title}");
    }

    fn line(&mut self, indent: usize, text: &str, span: Span) {
        let place = if span == BUILT_IN { "built in".to_owned() } else { self.set.sources.locate(span) };
        let text = format!("{:indent$}{text}", "");
        let width = COLUMN.saturating_sub(2);
        if text.chars().count() > width {
            let _ = writeln!(self.out, "{text}\n{:COLUMN$}{place}", "");
        } else {
            let pad = COLUMN - text.chars().count();
            let _ = writeln!(self.out, "{text}{:pad$}{place}", "");
        }
    }

    /// The source text of a span, on one line and without comments.
    fn text(&self, span: Span) -> String {
        let lines = self.set.sources.snippet(span).lines().map(str::trim).filter(|l| !l.starts_with('#'));
        let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
        words.join(" ")
    }

    fn slot(&mut self, indent: usize, span: Span, built_in: &str) {
        let text = if span == BUILT_IN { built_in.to_owned() } else { self.text(span) };
        self.line(indent, &text, span);
    }

    fn reaction(&mut self, indent: usize, reaction: &Reaction) {
        self.slot(indent, reaction.window.span, "no window");
        self.slot(indent, reaction.rotate.span, "no rotate");
        self.slot(indent, reaction.retry_if_repaired.span, "no retry");
        self.slot(indent, reaction.end.span, "surface");
        if let Some(say) = &reaction.say {
            self.line(indent, &format!("say {:?}", say.node), say.span);
        }
    }

    fn buckets(&mut self) {
        self.title("buckets and what follows from them");
        let set = self.set;
        for bucket in &set.buckets {
            let text = if bucket.span == BUILT_IN {
                format!("bucket {}", bucket.name)
            } else {
                self.text(bucket.span)
            };
            self.line(0, &text, bucket.span);
            self.reaction(2, &bucket.reaction);
        }
    }

    fn values(&mut self) {
        let set = self.set;
        self.title("values");
        for setting in &set.settings {
            let value = match setting.value {
                SettingValue::Duration(d) if d.is_zero() => "off".to_owned(),
                SettingValue::Duration(d) => duration(d),
                SettingValue::Count(n) => n.to_string(),
            };
            self.line(
                0,
                &format!("setting {} = {value}", setting.name),
                setting.set_by.unwrap_or(setting.span),
            );
            let outside = [&setting.from_config, &setting.by_provider, &setting.from_env];
            for external in outside.into_iter().flatten() {
                self.line(2, &format!("or from {:?}", external.path), external.span);
            }
        }
        for backoff in &set.backoffs {
            self.line(0, &self.text(backoff.span), backoff.span);
        }
        for list in &set.lists {
            self.line(0, &format!("list {}: {} entries", list.name, list.entries.len()), list.span);
            for entry in &list.entries {
                self.line(2, &format!("{:?}", entry.node), entry.span);
            }
        }
        for named in &set.lets {
            self.line(0, &self.text(named.span), named.span);
        }
        for alias in &set.aliases {
            self.line(0, &self.text(alias.span), alias.span);
        }
        for reset in &set.resets {
            self.line(0, &self.text(reset.span), reset.span);
        }
    }

    fn policy(&mut self) {
        let policy = &self.set.policy;
        let spans = [
            policy.forget_after.as_ref().map(|s| ("forget failures after", s.span)),
            policy.on_success.as_ref().map(|s| ("on success", s.span)),
            policy.order.as_ref().map(|s| ("order profiles", s.span)),
            policy.pin_auto.as_ref().map(|s| ("pin profile auto", s.span)),
            policy.pin_user.as_ref().map(|s| ("pin profile user", s.span)),
            policy.probe_primary.as_ref().map(|s| ("probe primary", s.span)),
            policy.probe_sibling.as_ref().map(|s| ("probe sibling", s.span)),
            policy.budget.as_ref().map(|s| ("budget per run", s.span)),
            policy.skip_cache.as_ref().map(|s| ("skip cache", s.span)),
            policy.sdk_retry.as_ref().map(|s| ("sdk retry", s.span)),
            policy.notice_fallback.as_ref().map(|s| ("notice fallback", s.span)),
            policy.notice_cleared.as_ref().map(|s| ("notice cleared", s.span)),
        ];
        let sources = policy.sources.iter().flatten().map(|s| ("source", s.span));
        let all: Vec<(&str, Span)> = spans.into_iter().flatten().chain(sources).collect();
        if all.is_empty() {
            return;
        }
        self.title("policy");
        for (words, span) in all {
            let text = self.text(span);
            let text = if text.starts_with(words.split(' ').next().unwrap_or("")) {
                text
            } else {
                format!("{words} {text}")
            };
            self.line(0, &text, span);
        }
    }

    fn rules(&mut self) {
        let set = self.set;
        self.title("rules, in the order in which they are tried");
        let mut shown: Vec<BlockId> = Vec::new();
        for rule in &set.rules {
            let way = way(set, rule.block);
            for (depth, id) in way.iter().enumerate() {
                if shown.get(depth) == Some(id) {
                    continue;
                }
                shown.truncate(depth);
                shown.push(*id);
                if let Some(block) = set.blocks.get(id.index()) {
                    self.line(depth * 2, &format!("{} {{", self.text(block.span)), block.span);
                }
            }
            shown.truncate(way.len());
            self.line(way.len() * 2, &self.text(rule.span), rule.span);
            if let Some(reaction) = &rule.reaction {
                self.reaction(way.len() * 2 + 2, reaction);
            }
        }
    }

    fn edits(&mut self) {
        let set = self.set;
        if set.edits.is_empty() {
            return;
        }
        self.title("edits that were applied");
        for edit in &set.edits {
            self.line(0, &edit.what, edit.span);
        }
    }
}

/// The blocks around a rule, outermost first.
fn way(set: &Ruleset, block: Option<BlockId>) -> Vec<BlockId> {
    let parent = |id: &BlockId| set.blocks.get(id.index()).and_then(|b| b.parent);
    let mut way: Vec<BlockId> = std::iter::successors(block, parent).collect();
    way.reverse();
    way
}

/// A duration as rules write it: the largest unit that leaves nothing over.
#[must_use]
pub fn duration(duration: std::time::Duration) -> String {
    let millis = duration.as_millis();
    let units = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000)];
    for (unit, size) in units {
        if millis >= size && millis.is_multiple_of(size) && !(unit == "d" && millis == size) {
            return format!("{}{unit}", millis / size);
        }
    }
    format!("{millis}ms")
}
