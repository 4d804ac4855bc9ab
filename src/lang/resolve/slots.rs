//! Durations and counts: written out, or the value of a setting of the right kind.

use std::time::Duration;

use super::{Resolver, names};
use crate::lang::{
    ast::{self, Slot},
    diagnostic::{
        Code, Diagnostic,
        codes::{names as name_codes, policy, types},
    },
    policy::{CountSlot, DurationSlot},
    source::{Span, Spanned},
    tree::{SettingId, SettingValue},
};

impl Resolver<'_> {
    /// A duration.
    pub(super) fn duration(&mut self, slot: &ast::DurationSlot) -> DurationSlot {
        match &slot.node {
            Slot::Fixed(duration) => DurationSlot::Fixed(*duration),
            Slot::Setting(name) => match self.setting(name, slot.span, true) {
                Some(id) => DurationSlot::Setting(id),
                None => DurationSlot::Fixed(Duration::from_secs(1)),
            },
        }
    }

    /// A duration that must be longer than zero.
    pub(super) fn positive(&mut self, slot: &ast::DurationSlot, what: &str) -> DurationSlot {
        self.not_nothing(slot, what, "a failed call would be repeated at once")
    }

    /// A duration that must be longer than zero, and what would follow otherwise.
    pub(super) fn not_nothing(
        &mut self,
        slot: &ast::DurationSlot,
        what: &str,
        otherwise: &str,
    ) -> DurationSlot {
        let resolved = self.duration(slot);
        if self.in_rules(resolved).is_zero() {
            self.out.push(
                Diagnostic::new(policy::ZERO, slot.span, format!("{what} is zero"))
                    .here(otherwise)
                    .help("write a duration, such as `30s`"),
            );
        }
        resolved
    }

    /// Two durations, the first not above the second.
    pub(super) fn bounds(
        &mut self,
        low: &ast::DurationSlot,
        high: &ast::DurationSlot,
        what: &str,
    ) -> (DurationSlot, DurationSlot) {
        let pair = (self.duration(low), self.duration(high));
        if self.in_rules(pair.0) > self.in_rules(pair.1) {
            self.out.push(
                Diagnostic::new(policy::REVERSED, low.span, format!("{what} are the wrong way round"))
                    .here("the larger")
                    .label(high.span, "the smaller")
                    .help("the smaller one comes first"),
            );
        }
        pair
    }

    /// A count.
    pub(super) fn count(&mut self, slot: &ast::CountSlot) -> CountSlot {
        match &slot.node {
            Slot::Fixed(count) => CountSlot::Fixed(*count),
            Slot::Setting(name) => match self.setting(name, slot.span, false) {
                Some(id) => CountSlot::Setting(id),
                None => CountSlot::Fixed(1),
            },
        }
    }

    /// Reports a count of zero.
    pub(super) fn not_zero(&mut self, count: u32, span: Span, what: &str, help: &str) {
        if count == 0 {
            self.out.push(
                Diagnostic::new(policy::ZERO_COUNT, span, format!("{what} is zero")).here("zero").help(help),
            );
        }
    }

    /// The value that the rules give.
    pub(super) fn in_rules(&self, slot: DurationSlot) -> Duration {
        match slot {
            DurationSlot::Fixed(duration) => duration,
            DurationSlot::Setting(id) => match self.set.settings.get(id.index()).map(|s| s.value) {
                Some(SettingValue::Duration(duration)) => duration,
                _ => Duration::from_secs(1),
            },
        }
    }

    fn setting(&mut self, name: &str, span: Span, duration: bool) -> Option<SettingId> {
        let name = Spanned { node: name.to_owned(), span };
        let Some(id) = self.settings.take(&name.node) else {
            if !self.unsure.may_be(&name.node) {
                self.out.push(names::unknown(
                    name_codes::UNKNOWN_SETTING,
                    "setting",
                    &name,
                    &self.settings,
                    self.program,
                ));
            }
            return None;
        };
        let setting = self.set.settings.get(id as usize)?;
        let is_duration = matches!(setting.value, SettingValue::Duration(_));
        if is_duration == duration {
            return Some(SettingId(id));
        }
        let (is, wanted) = if duration { ("a count", "a duration") } else { ("a duration", "a count") };
        self.out.push(
            Diagnostic::new(
                types::SETTING_KIND,
                span,
                format!("setting `{}` is {is}, and {wanted} is wanted here", name.node),
            )
            .here(format!("wants {wanted}"))
            .related(setting.span, "declared here")
            .help(format!("name a setting that holds {wanted}, or write {wanted} here")),
        );
        None
    }

    /// The number of a schedule.
    pub(super) fn backoff(&mut self, name: &ast::Name) -> Option<crate::lang::tree::BackoffId> {
        let id = self.backoffs.take(&name.node);
        self.known(id, name_codes::UNKNOWN_BACKOFF, "backoff", name);
        id.map(crate::lang::tree::BackoffId)
    }

    /// The number of a bucket.
    pub(super) fn bucket(&mut self, name: &ast::Name) -> Option<crate::lang::tree::BucketId> {
        let id = self.buckets.take(&name.node);
        self.known(id, name_codes::UNKNOWN_BUCKET, "bucket", name);
        id.map(crate::lang::tree::BucketId)
    }

    fn known(&mut self, id: Option<u32>, code: Code, kind: &str, name: &ast::Name) {
        if id.is_none() && !self.unsure.may_be(&name.node) {
            let table = if kind == "bucket" { &self.buckets } else { &self.backoffs };
            self.out.push(names::unknown(code, kind, name, table, self.program));
        }
    }
}
