//! Reactions.

use super::{
    super::{
        grammar::{Node, Rule},
        report::Built,
    },
    Body, Builder,
};
use crate::lang::{
    ast::{DurationSlot, InARow, Reaction, ResetBounds, Rotate, Window},
    policy::{End, Lane, Scope},
    source::Spanned,
};

impl Builder<'_, '_> {
    /// The slots between the braces of `on` and `reaction`.
    pub(super) fn reaction(&mut self, body: &Body) -> Built<Reaction> {
        let token = |at: usize| self.tokens.get(at).copied();
        let open = token(body.open).map_or(0, |t| t.start);
        let close = body.close.or(self.tokens.len().checked_sub(1)).and_then(token).map_or(open, |t| t.end);
        let span = self.report.span(open..close);
        let mut reaction = Reaction { window: None, rotate: None, retry: None, end: None, say: None, span };
        self.slots(body, Rule::reaction_slot, |this, slot, seen| {
            let span = this.span(slot);
            let what = match slot.rule {
                Rule::window | Rule::k_no_window => "the window",
                Rule::rotate | Rule::k_no_rotate => "`rotate`",
                Rule::k_retry_repaired | Rule::k_no_retry => "`retry`",
                Rule::ending => "the end",
                _ => "`say`",
            };
            seen.once(what, span, &mut this.report)?;
            match slot.rule {
                Rule::window => reaction.window = Some(Spanned { node: Some(this.window(slot)?), span }),
                Rule::k_no_window => reaction.window = Some(Spanned { node: None, span }),
                Rule::rotate => reaction.rotate = Some(Spanned { node: Some(this.rotate(slot)?), span }),
                Rule::k_no_rotate => reaction.rotate = Some(Spanned { node: None, span }),
                Rule::k_retry_repaired => reaction.retry = Some(Spanned { node: true, span }),
                Rule::k_no_retry => reaction.retry = Some(Spanned { node: false, span }),
                Rule::ending => {
                    let end = if slot.has(Rule::k_fallback_else_surface) {
                        End::FallbackElseSurface
                    } else if slot.has(Rule::k_fallback) {
                        End::Fallback
                    } else {
                        End::Surface
                    };
                    reaction.end = Some(Spanned { node: end, span });
                }
                _ => reaction.say = Some(this.string(slot)?),
            }
            Ok(())
        })?;
        Ok(reaction)
    }

    fn window(&mut self, node: &Node) -> Built<Window> {
        let lane = node.need(Rule::lane)?;
        let lane = if self.text(lane) == "disable" { Lane::Disable } else { Lane::Cooldown };
        let scope = node.need(Rule::scope)?;
        let scope = if self.text(scope) == "model" { Scope::Model } else { Scope::Profile };
        let until_reset = match node.part(Rule::until) {
            Some(until) => {
                let (at_least, at_most) = self.bounds(until)?;
                Some(ResetBounds { at_least, at_most })
            }
            None => None,
        };
        let after = match node.part(Rule::in_a_row) {
            Some(row) => {
                let count = self.number(row, "the failure that opens the window", 1, u32::MAX)?;
                Some(InARow { count, within: self.duration(row)? })
            }
            None => None,
        };
        Ok(Window { lane, scope, backoff: self.name(node)?, until_reset, after })
    }

    /// The `bounds` part: `at least D at most D`.
    pub(super) fn bounds(&mut self, node: &Node) -> Built<(DurationSlot, DurationSlot)> {
        let bounds = node.need(Rule::bounds)?;
        let mut both = self.each(bounds, Rule::duration_slot, Self::duration_slot)?.into_iter();
        match (both.next(), both.next()) {
            (Some(least), Some(most)) => Ok((least, most)),
            _ => Err(self.unreadable(bounds.range.clone())),
        }
    }

    fn rotate(&mut self, node: &Node) -> Built<Rotate> {
        let up_to = node.part(Rule::rotate_limit).map(|limit| self.count(limit)).transpose()?;
        let after = node.part(Rule::rotate_pause).map(|pause| self.duration(pause)).transpose()?;
        Ok(Rotate { up_to, after })
    }
}
