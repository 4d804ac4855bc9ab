//! The closed policy forms.

use super::{
    super::{
        grammar::{Node, Rule},
        layout::Piece,
        report::{Built, Reported},
    },
    Body, Builder,
};
use crate::lang::{
    ast::{
        Budget, PinKind, PolicyForm, PrimaryProbe, SdkRetry, SkipCache, SourceBody, SourcePolicy, SourceSlots,
    },
    diagnostic::codes::syntax,
    policy::{
        CredentialKind, Fallbacks, LastUsed, PinPolicy, ProfileOrder, SelectionSource, SiblingProbe,
        SuccessReset,
    },
    source::Spanned,
};

/// Whether a form has braces.
pub fn is_braced(head: Rule) -> bool {
    matches!(
        head,
        Rule::on_success
            | Rule::order
            | Rule::pin
            | Rule::source
            | Rule::probe_primary
            | Rule::probe_sibling
            | Rule::budget
            | Rule::skip_cache
            | Rule::sdk_retry
    )
}

impl Builder<'_, '_> {
    pub(super) fn form(&mut self, node: &Node, piece: &Piece) -> Built<PolicyForm> {
        match node.rule {
            Rule::forget => return Ok(PolicyForm::ForgetFailures(self.duration(node)?)),
            Rule::notice => {
                let text = self.string(node)?;
                let cleared = node.has(Rule::k_notice_cleared);
                return Ok(if cleared {
                    PolicyForm::NoticeCleared(text)
                } else {
                    PolicyForm::NoticeFallback(text)
                });
            }
            _ => {}
        }
        let body = self.body(piece)?;
        Ok(match node.rule {
            Rule::on_success => PolicyForm::OnSuccess(self.on_success(node, body)?),
            Rule::order => PolicyForm::OrderProfiles(self.order(body)?),
            Rule::pin => {
                let kind = node.need(Rule::pin_kind)?;
                let which = if self.text(kind) == "auto" { PinKind::Auto } else { PinKind::User };
                let kind = Spanned { node: which, span: self.span(kind) };
                PolicyForm::PinProfile { kind, policy: self.pin(node, body)? }
            }
            Rule::source => {
                let source = self.source_kind(node)?;
                PolicyForm::Source(SourcePolicy { source, body: self.source_body(node, body)? })
            }
            Rule::probe_primary => PolicyForm::ProbePrimary(self.probe_primary(node, body)?),
            Rule::probe_sibling => PolicyForm::ProbeSibling(self.probe_sibling(body)?),
            Rule::budget => PolicyForm::Budget(self.budget(body)?),
            Rule::skip_cache => PolicyForm::SkipCache(self.skip_cache(node, body)?),
            Rule::sdk_retry => PolicyForm::SdkRetry(self.sdk_retry(node, body)?),
            _ => return Err(self.unreadable(node.range.clone())),
        })
    }

    /// A part that a form cannot do without.
    fn required<T>(&mut self, part: Option<T>, form: &Node, what: &str) -> Built<T> {
        part.ok_or_else(|| {
            let head = self.text(form).to_owned();
            let message = format!("`{head}` lacks `{what}`");
            let help = format!("add `{what}` between its braces");
            self.report.at(syntax::MISSING_PART, form.range.clone(), message, &help)
        })
    }

    fn on_success(&mut self, form: &Node, body: &Body) -> Built<SuccessReset> {
        let mut reset = SuccessReset { model: false, profile: false };
        let mut given = None;
        let mut seen = super::slot::Seen::default();
        for piece in &body.pieces {
            let slot = self.slot(piece, Rule::success_slot)?;
            self.bodiless(piece)?;
            seen.once("`reset ladders of`", self.span(&slot), &mut self.report)?;
            given = Some(());
            for ladder in slot.all(Rule::ladder) {
                match self.text(ladder) {
                    "model" => reset.model = true,
                    _ => reset.profile = true,
                }
            }
        }
        self.required(given, form, "reset ladders of …")?;
        Ok(reset)
    }

    fn order(&mut self, body: &Body) -> Built<ProfileOrder> {
        let mut order = ProfileOrder { kinds: Vec::new(), last_used: None, blocked_last: false };
        self.slots(body, Rule::order_slot, |this, slot, seen| {
            let span = this.span(slot);
            match slot.rule {
                Rule::order_kinds => {
                    seen.once("`kind`", span, &mut this.report)?;
                    for kind in slot.all(Rule::credential) {
                        let value = match this.text(kind) {
                            "oauth" => CredentialKind::Oauth,
                            "token" => CredentialKind::Token,
                            _ => CredentialKind::ApiKey,
                        };
                        if order.kinds.contains(&value) {
                            let message = format!("`{}` is given twice", this.text(kind));
                            let range = kind.range.clone();
                            return Err(this.report.at(syntax::TWICE, range, message, "keep the first"));
                        }
                        order.kinds.push(value);
                    }
                }
                Rule::order_used => {
                    seen.once("`last_used`", span, &mut this.report)?;
                    let oldest = slot.has(Rule::k_oldest_first);
                    order.last_used =
                        Some(if oldest { LastUsed::OldestFirst } else { LastUsed::NewestFirst });
                }
                _ => {
                    seen.once("`blocked last`", span, &mut this.report)?;
                    order.blocked_last = true;
                }
            }
            Ok(())
        })?;
        Ok(order)
    }

    fn pin(&mut self, form: &Node, body: &Body) -> Built<PinPolicy> {
        let mut pin = PinPolicy::default();
        let mut per_session = None;
        self.slots(body, Rule::pin_slot, |this, slot, seen| {
            let span = this.span(slot);
            match slot.rule {
                Rule::k_per_session => {
                    seen.once("`per session`", span, &mut this.report)?;
                    per_session = Some(());
                }
                Rule::k_return_when_free => {
                    seen.once("`return when free`", span, &mut this.report)?;
                    pin.return_when_free = true;
                }
                _ => {
                    seen.once("`release on`", span, &mut this.report)?;
                    for event in slot.all(Rule::release_event) {
                        match this.text(event) {
                            "reset" => pin.release_on_reset = true,
                            "compaction" => pin.release_on_compaction = true,
                            _ => pin.release_on_blocked = true,
                        }
                    }
                }
            }
            Ok(())
        })?;
        self.required(per_session, form, "per session")?;
        Ok(pin)
    }

    fn source_kind(&mut self, node: &Node) -> Result<Spanned<SelectionSource>, Reported> {
        let kind = node.need(Rule::source_kind)?;
        let value = match self.text(kind) {
            "default" => SelectionSource::Default,
            "agent" => SelectionSource::Agent,
            "cron" => SelectionSource::Cron,
            "auto" => SelectionSource::Auto,
            "user" => SelectionSource::User,
            _ => SelectionSource::Legacy,
        };
        Ok(Spanned { node: value, span: self.span(kind) })
    }

    fn source_body(&mut self, form: &Node, body: &Body) -> Built<SourceBody> {
        let (mut same_as, mut fallbacks, mut then_primary, mut probe_origin) = (None, None, None, None);
        self.slots(body, Rule::source_slot, |this, slot, seen| {
            let span = this.span(slot);
            match slot.rule {
                Rule::source_as => {
                    seen.once("the fallbacks", span, &mut this.report)?;
                    same_as = Some(this.source_kind(slot)?);
                }
                Rule::k_then_primary => {
                    seen.once("`then primary`", span, &mut this.report)?;
                    then_primary = Some(span);
                }
                Rule::probe_origin => {
                    seen.once("`probe origin`", span, &mut this.report)?;
                    probe_origin = Some(this.duration(slot)?);
                }
                _ => {
                    seen.once("the fallbacks", span, &mut this.report)?;
                    fallbacks = Some(Spanned { node: choice(slot), span });
                }
            }
            Ok(())
        })?;
        if let Some(same_as) = same_as {
            if then_primary.is_some() || probe_origin.is_some() {
                let help = "leave `as` away, or the other slots";
                let message = "a source that is `as` another has no slots of its own";
                return Err(self.report.at(syntax::UNEXPECTED, form.range.clone(), message, help));
            }
            return Ok(SourceBody::As(same_as));
        }
        let fallbacks = self.required(fallbacks, form, "fallbacks …")?;
        Ok(SourceBody::Slots(SourceSlots { fallbacks, then_primary, probe_origin }))
    }

    fn probe_primary(&mut self, form: &Node, body: &Body) -> Built<PrimaryProbe> {
        let (mut within, mut every, mut disabled) = (None, None, Vec::new());
        self.slots(body, Rule::primary_slot, |this, slot, seen| {
            let span = this.span(slot);
            let duration = this.duration(slot)?;
            match slot.rule {
                Rule::within_expiry => {
                    seen.once("`within`", span, &mut this.report)?;
                    within = Some(duration);
                }
                Rule::probe_every => {
                    seen.once("`every`", span, &mut this.report)?;
                    every = Some(duration);
                }
                _ => disabled.push((this.name(slot)?, duration)),
            }
            Ok(())
        })?;
        let within = self.required(within, form, "within … of expiry")?;
        let every = self.required(every, form, "every … per provider")?;
        Ok(PrimaryProbe { within, every, disabled })
    }

    fn probe_sibling(&mut self, body: &Body) -> Built<SiblingProbe> {
        let mut probe = SiblingProbe { when_transient: false, once_per_provider: false };
        self.slots(body, Rule::sibling_slot, |this, slot, seen| {
            let span = this.span(slot);
            if slot.rule == Rule::k_when_transient {
                seen.once("`when transient`", span, &mut this.report)?;
                probe.when_transient = true;
            } else {
                seen.once("`once per provider per run`", span, &mut this.report)?;
                probe.once_per_provider = true;
            }
            Ok(())
        })?;
        Ok(probe)
    }

    fn budget(&mut self, body: &Body) -> Built<Budget> {
        let mut budget = Budget { attempts: None, elapsed: None };
        self.slots(body, Rule::budget_slot, |this, slot, seen| {
            let span = this.span(slot);
            if slot.rule == Rule::attempts {
                seen.once("`attempts`", span, &mut this.report)?;
                budget.attempts = Some(this.count(slot)?);
            } else {
                seen.once("`elapsed`", span, &mut this.report)?;
                budget.elapsed = Some(this.duration(slot)?);
            }
            Ok(())
        })?;
        Ok(budget)
    }

    fn skip_cache(&mut self, form: &Node, body: &Body) -> Built<SkipCache> {
        let mut cache = None;
        let mut seen = super::slot::Seen::default();
        for piece in &body.pieces {
            let slot = self.slot(piece, Rule::cache_slot)?;
            self.bodiless(piece)?;
            seen.once("`for`", self.span(&slot), &mut self.report)?;
            let lifetime = self.duration(&slot)?;
            let (at_least, at_most) = self.bounds(&slot)?;
            cache = Some(SkipCache { for_: lifetime, at_least, at_most });
        }
        self.required(cache, form, "for … at least … at most …")
    }

    fn sdk_retry(&mut self, form: &Node, body: &Body) -> Built<SdkRetry> {
        let (mut statuses, mut at_most) = (None, None);
        self.slots(body, Rule::sdk_slot, |this, slot, seen| {
            let span = this.span(slot);
            if slot.rule == Rule::sdk_statuses {
                seen.once("`status in`", span, &mut this.report)?;
                statuses = Some(this.each(slot, Rule::range, Self::range)?);
            } else {
                seen.once("`wait at most`", span, &mut this.report)?;
                at_most = Some(this.duration(slot)?);
            }
            Ok(())
        })?;
        let statuses = self.required(statuses, form, "status in […]")?;
        let at_most = self.required(at_most, form, "wait at most …")?;
        Ok(SdkRetry { statuses, at_most })
    }
}

/// The fallbacks that a slot names.
fn choice(slot: &Node) -> Fallbacks {
    if slot.has(Rule::k_configured) {
        Fallbacks::Configured
    } else if slot.has(Rule::k_own_else_none) {
        Fallbacks::OwnElseNone
    } else if slot.has(Rule::k_own_else_configured) {
        Fallbacks::OwnElseConfigured
    } else if slot.has(Rule::k_of_origin) {
        Fallbacks::OfOrigin
    } else {
        Fallbacks::Strict
    }
}
