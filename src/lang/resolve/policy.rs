//! The closed policy forms.

use super::{Resolver, declare::Found};
use crate::lang::{
    ast::{self, PolicyForm},
    diagnostic::{Diagnostic, codes::policy},
    policy::{Budget, CountSlot, PrimaryProbe, SdkRetry, SelectionSource, SkipCache, SourcePolicy},
    source::{Span, Spanned},
};

impl Resolver<'_> {
    pub(super) fn policy(&mut self, found: &Found<'_>) {
        let mut references: Vec<(&Spanned<SelectionSource>, &Spanned<SelectionSource>, Span)> = Vec::new();
        for (form, statement) in &found.forms {
            let span = statement.span;
            match form {
                PolicyForm::ForgetFailures(after) => {
                    let node = self.duration(after);
                    self.set.policy.forget_after = Some(Spanned { node, span });
                }
                PolicyForm::OnSuccess(node) => {
                    self.set.policy.on_success = Some(Spanned { node: *node, span });
                }
                PolicyForm::OrderProfiles(node) => {
                    self.set.policy.order = Some(Spanned { node: node.clone(), span });
                }
                PolicyForm::PinProfile { kind, policy: node } => {
                    let pin = Some(Spanned { node: *node, span });
                    match kind.node {
                        ast::PinKind::Auto => self.set.policy.pin_auto = pin,
                        ast::PinKind::User => self.set.policy.pin_user = pin,
                    }
                }
                PolicyForm::Source(source) => match &source.body {
                    ast::SourceBody::As(other) => references.push((&source.source, other, span)),
                    ast::SourceBody::Slots(slots) => {
                        let probe = slots.probe_origin.as_ref();
                        let node = SourcePolicy {
                            fallbacks: slots.fallbacks.node,
                            then_primary: slots.then_primary.is_some(),
                            probe_origin: probe
                                .map(|d| self.positive(d, "the time between two probes of the origin")),
                        };
                        self.put_source(source.source.node, Spanned { node, span });
                    }
                },
                PolicyForm::ProbePrimary(probe) => {
                    let node = PrimaryProbe {
                        within: self.duration(&probe.within),
                        every: self.positive(&probe.every, "the time between two probes"),
                        disabled: probe
                            .disabled
                            .iter()
                            .filter_map(|(bucket, every)| {
                                let every = self.positive(every, "the time between two probes");
                                Some((self.bucket(bucket)?, every))
                            })
                            .collect(),
                    };
                    self.set.policy.probe_primary = Some(Spanned { node, span });
                }
                PolicyForm::ProbeSibling(node) => {
                    self.set.policy.probe_sibling = Some(Spanned { node: *node, span });
                }
                PolicyForm::Budget(budget) => {
                    let node = Budget {
                        attempts: budget.attempts.as_ref().map(|c| self.attempts(c)),
                        elapsed: budget
                            .elapsed
                            .as_ref()
                            .map(|d| self.not_nothing(d, "the time of a run", "no call would ever be made")),
                    };
                    self.set.policy.budget = Some(Spanned { node, span });
                }
                PolicyForm::SkipCache(cache) => {
                    let for_ = self.duration(&cache.for_);
                    let (at_least, at_most) =
                        self.bounds(&cache.at_least, &cache.at_most, "the bounds of the skip cache");
                    self.set.policy.skip_cache =
                        Some(Spanned { node: SkipCache { for_, at_least, at_most }, span });
                }
                PolicyForm::SdkRetry(retry) => {
                    let mut statuses = Vec::new();
                    for range in &retry.statuses {
                        if let (Ok(low), Ok(high)) = (u16::try_from(range.low), u16::try_from(range.high)) {
                            statuses.push((low, high));
                        }
                    }
                    let at_most = self.duration(&retry.at_most);
                    self.set.policy.sdk_retry = Some(Spanned { node: SdkRetry { statuses, at_most }, span });
                }
                PolicyForm::NoticeFallback(text) => self.set.policy.notice_fallback = Some(text.clone()),
                PolicyForm::NoticeCleared(text) => self.set.policy.notice_cleared = Some(text.clone()),
            }
        }
        self.source_references(&references);
    }

    fn attempts(&mut self, count: &ast::CountSlot) -> CountSlot {
        let slot = self.count(count);
        if let CountSlot::Fixed(n) = slot {
            self.not_zero(n, count.span, "the number of attempts", "a run makes one attempt at least");
        }
        slot
    }

    fn put_source(&mut self, source: SelectionSource, policy: Spanned<SourcePolicy>) {
        if let Some(slot) = self.set.policy.sources.get_mut(source as usize) {
            *slot = Some(policy);
        }
    }

    /// `as OTHER`: what the other says, at this statement's place.
    fn source_references(
        &mut self,
        references: &[(&Spanned<SelectionSource>, &Spanned<SelectionSource>, Span)],
    ) {
        for (source, other, span) in references {
            let mut at = other.node;
            let mut left = references.len();
            while let Some((_, next, _)) = references.iter().find(|(s, _, _)| s.node == at) {
                if left == 0 {
                    break;
                }
                at = next.node;
                left -= 1;
            }
            let is_reference = references.iter().any(|(s, _, _)| s.node == at);
            let policy = self.set.policy.sources.get(at as usize).and_then(|s| s.as_ref().map(|s| s.node));
            match policy {
                Some(node) if !is_reference => self.put_source(source.node, Spanned { node, span: *span }),
                _ if is_reference => self.out.push(
                    Diagnostic::new(
                        policy::SOURCE_CYCLE,
                        other.span,
                        "these sources refer to each other in a circle",
                    )
                    .here("leads back")
                    .help("let one of them say which fallbacks it has, such as `strict`"),
                ),
                _ if self.unsure.all => {}
                _ => {
                    let name = format!("{at:?}").to_lowercase();
                    self.out.push(
                        Diagnostic::new(
                            policy::SOURCE_CYCLE,
                            other.span,
                            format!("source `{name}` says nothing that could be taken"),
                        )
                        .here("not declared")
                        .help(format!("declare it: `source {name} {{ … }}`")),
                    );
                }
            }
        }
    }
}
