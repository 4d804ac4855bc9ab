//! Buckets, and what follows from them, slot by slot.

use super::{
    Resolver,
    declare::{Found, least},
};
use crate::lang::{
    ast,
    diagnostic::{Diagnostic, codes::policy},
    policy::{InARow, Reaction, ResetBounds, RotateSlot, Traits, WindowSlot},
    source::Spanned,
    tree::BackoffId,
};

impl Resolver<'_> {
    pub(super) fn reactions(&mut self, found: &Found<'_>) {
        let mut has_reaction = std::collections::HashSet::new();
        for (name, reaction) in &found.ons {
            // Naming a bucket here is no use of it: a bucket that no rule leads to is left over.
            let id = match self.buckets.get(&name.node) {
                Some(id) => Some(id),
                None => self.bucket(name).map(|b| b.0),
            };
            let resolved = self.merged(least(), reaction);
            if let Some(id) = id {
                has_reaction.insert(id);
                if let Some(bucket) = self.set.buckets.get_mut(id as usize) {
                    bucket.reaction = resolved;
                }
            }
        }
        for (declared, statement) in &found.buckets {
            let Some(id) = self.buckets.get(&declared.name.node) else { continue };
            if id >= 2 && !has_reaction.contains(&id) && !self.unsure.may_be(&declared.name.node) {
                let name = &declared.name.node;
                self.out.push(
                    Diagnostic::new(
                        policy::NO_REACTION,
                        declared.name.span,
                        format!("bucket `{name}` has no `on`"),
                    )
                    .here("nothing says what follows from it")
                    .help(format!("add `on {name} {{ … }}`, such as `on {name} {{ rotate; fallback }}`")),
                );
            }
            if let Some(bucket) = self.set.buckets.get_mut(id as usize) {
                bucket.doc = statement.doc.as_ref().map(|d| d.node.clone());
                bucket.http = declared.http.as_ref().map(|h| h.node);
                bucket.span = statement.span;
                bucket.traits = Traits {
                    transient: declared.transient.is_some(),
                    auth_class: declared.auth_class.is_some(),
                    skips_provider_from: declared.skips_provider_from.as_ref().map(|s| s.node),
                    keeps_probe_slot: declared.keeps_probe_slot.is_some(),
                };
            }
            if let Some(http) = &declared.http
                && !(100..=599).contains(&http.node)
            {
                self.out.push(
                    Diagnostic::new(
                        crate::lang::diagnostic::codes::types::WRONG_VALUE,
                        http.span,
                        format!("`{}` is no HTTP status", http.node),
                    )
                    .here("cannot be answered with")
                    .help("a status lies between 100 and 599"),
                );
            }
            if let Some(step) = &declared.skips_provider_from {
                self.not_zero(step.node, step.span, "the step", "steps count from 1");
            }
        }
    }

    /// A rule's own reaction over its bucket's; `only` takes nothing from there.
    pub(super) fn own_reaction(&mut self, own: &ast::OwnReaction, bucket: Option<&Reaction>) -> Reaction {
        let base = match bucket {
            Some(bucket) if own.only.is_none() => bucket.clone(),
            _ => least(),
        };
        self.merged(base, &own.reaction)
    }

    fn merged(&mut self, base: Reaction, over: &ast::Reaction) -> Reaction {
        let mut reaction = base;
        if let Some(window) = &over.window {
            let node = window.node.as_ref().map(|w| self.window(w));
            reaction.window = Spanned { node, span: window.span };
        }
        if let Some(rotate) = &over.rotate {
            let node = rotate.node.as_ref().map(|r| RotateSlot {
                up_to: r.up_to.as_ref().map(|c| self.count(c)),
                after: r.after.as_ref().map(|d| self.duration(d)),
            });
            reaction.rotate = Spanned { node, span: rotate.span };
        }
        if let Some(retry) = &over.retry {
            reaction.retry_if_repaired = retry.clone();
        }
        if let Some(end) = &over.end {
            reaction.end = end.clone();
        }
        if let Some(say) = &over.say {
            reaction.say = Some(say.clone());
        }
        reaction
    }

    fn window(&mut self, window: &ast::Window) -> WindowSlot {
        WindowSlot {
            lane: window.lane,
            scope: window.scope,
            backoff: self.backoff(&window.backoff).unwrap_or(BackoffId(0)),
            until_reset: window.until_reset.as_ref().map(|bounds| {
                let (at_least, at_most) =
                    self.bounds(&bounds.at_least, &bounds.at_most, "the bounds of the reset time");
                ResetBounds { at_least, at_most }
            }),
            after: window.after.as_ref().map(|after| {
                self.not_zero(
                    after.count.node,
                    after.count.span,
                    "the failure that opens the window",
                    "count from 1; 1 is the first failure",
                );
                InARow { count: after.count.node, within: self.duration(&after.within) }
            }),
        }
    }
}
