//! Declarations.

use super::{
    super::{
        grammar::{Node, Rule},
        layout::Piece,
        report::{Built, Reported},
    },
    Builder,
    slot::Seen,
};
use crate::lang::{
    ast::{
        Alias, Backoff, Bucket, External, Growth, Let, List, Reset, ResetPlace, Setting, SettingValue,
        StatementKind, UseTarget,
    },
    diagnostic::codes::syntax,
    source::Spanned,
    tree::Unit,
};

impl Builder<'_, '_> {
    /// A statement from its head and braces.
    pub(super) fn kind(&mut self, node: &Node, piece: &Piece) -> Built<StatementKind> {
        let braced = matches!(
            node.rule,
            Rule::bucket | Rule::rule | Rule::group | Rule::provider | Rule::test | Rule::on | Rule::replace
        );
        if !braced && !super::form::is_braced(node.rule) && node.rule != Rule::insert {
            self.bodiless(piece)?;
        }
        Ok(match node.rule {
            Rule::bucket => StatementKind::Bucket(self.bucket(node, piece)?),
            Rule::alias => StatementKind::Alias(self.alias(node)?),
            Rule::list => StatementKind::List(List { name: self.name(node)?, entries: self.strings(node)? }),
            Rule::let_ => StatementKind::Let(Let { name: self.name(node)?, cond: self.condition(node)? }),
            Rule::rule => StatementKind::Rule(Box::new(self.own_rule(node, piece)?)),
            Rule::group => StatementKind::Group(self.group(node, piece)?),
            Rule::provider => StatementKind::Provider(self.provider(node, piece)?),
            Rule::setting => StatementKind::Setting(self.setting(node)?),
            Rule::backoff => StatementKind::Backoff(self.backoff(node)?),
            Rule::reset => StatementKind::Reset(Box::new(self.reset(node)?)),
            Rule::on => {
                let bucket = self.name(node)?;
                let body = self.body(piece)?;
                StatementKind::On { bucket, reaction: Box::new(self.reaction(body)?) }
            }
            Rule::test => StatementKind::Test(self.test(node, piece)?),
            Rule::use_ => StatementKind::Use(match node.part(Rule::name) {
                Some(name) => UseTarget::Named(self.plain(name)),
                None => UseTarget::Path(self.string(node)?),
            }),
            Rule::drop_ | Rule::replace | Rule::extend | Rule::set | Rule::insert => {
                StatementKind::Edit(self.edit(node, piece)?)
            }
            _ => StatementKind::Policy(self.form(node, piece)?),
        })
    }

    fn bucket(&mut self, node: &Node, piece: &Piece) -> Built<Bucket> {
        let name = self.name(node)?;
        let mut bucket = Bucket {
            name,
            http: None,
            transient: None,
            auth_class: None,
            skips_provider_from: None,
            keeps_probe_slot: None,
        };
        let body = self.body(piece)?;
        self.slots(body, Rule::bucket_slot, |this, slot, seen| {
            let span = this.span(slot);
            match slot.rule {
                Rule::http => {
                    seen.once("`http`", span, &mut this.report)?;
                    bucket.http = Some(this.status(slot)?);
                }
                Rule::skips_provider => {
                    seen.once("`skips_provider`", span, &mut this.report)?;
                    bucket.skips_provider_from = Some(match slot.part(Rule::number) {
                        Some(number) => this.number_at(number, "a step", 1, u32::MAX)?,
                        None => Spanned { node: 1, span },
                    });
                }
                Rule::k_transient => {
                    seen.once("`transient`", span, &mut this.report)?;
                    bucket.transient = Some(span);
                }
                Rule::k_auth_class => {
                    seen.once("`auth_class`", span, &mut this.report)?;
                    bucket.auth_class = Some(span);
                }
                _ => {
                    seen.once("`keeps_probe_slot`", span, &mut this.report)?;
                    bucket.keeps_probe_slot = Some(span);
                }
            }
            Ok(())
        })?;
        Ok(bucket)
    }

    /// Builds every slot of a form; all errors are reported before one fails.
    pub(super) fn slots(
        &mut self,
        body: &super::Body,
        entry: Rule,
        mut build: impl FnMut(&mut Self, &Node, &mut Seen) -> Built<()>,
    ) -> Built<()> {
        let mut seen = Seen::default();
        let mut result = Ok(());
        for piece in &body.pieces {
            let doc = self.doc(piece);
            self.undocumented(doc);
            let outcome = self
                .head(piece, entry)
                .and_then(|node| build(self, &node, &mut seen))
                .and_then(|()| self.bodiless(piece));
            result = result.and(outcome);
        }
        result
    }

    fn alias(&mut self, node: &Node) -> Built<Alias> {
        let mut ids = self.each(node, Rule::id, Self::text_of)?.into_iter();
        let Some(name) = ids.next() else { return Err(self.unreadable(node.range.clone())) };
        Ok(Alias { name, members: ids.collect() })
    }

    fn setting(&mut self, node: &Node) -> Built<Setting> {
        let mut seen = Seen::default();
        let name = self.name(node)?;
        let value = self.setting_value(node)?;
        let mut setting = Setting { name, value, from_config: None, by_provider: None, from_env: None };
        for part in &node.parts {
            let (what, slot) = match part.rule {
                Rule::from_config => ("`from config`", &mut setting.from_config),
                Rule::by_provider => ("`by provider from config`", &mut setting.by_provider),
                Rule::from_env => ("`from env`", &mut setting.from_env),
                _ => continue,
            };
            seen.once(what, self.report.span(part.range.clone()), &mut self.report)?;
            *slot = Some(self.external(part)?);
        }
        Ok(setting)
    }

    /// The `setting_value` part.
    pub(super) fn setting_value(&mut self, node: &Node) -> Built<Spanned<SettingValue>> {
        let value = node.need(Rule::setting_value)?;
        let node = match (value.part(Rule::duration), value.part(Rule::number)) {
            (Some(duration), _) => SettingValue::Duration(self.duration_at(duration)?.node),
            (_, Some(number)) => SettingValue::Count(self.number_at(number, "a count", 0, u32::MAX)?.node),
            _ => SettingValue::Off,
        };
        Ok(Spanned { node, span: self.span(value) })
    }

    fn external(&mut self, node: &Node) -> Built<External> {
        let external = node.need(Rule::external)?;
        let path = self.string(external)?;
        let unit = external.part(Rule::unit).map(|unit| self.unit(unit)).transpose()?;
        if let Some(unit) =
            unit.as_ref().filter(|u| matches!(u.node, Unit::Epoch | Unit::Date | Unit::Duration))
        {
            let range = unit.span.start as usize..unit.span.end as usize;
            let message =
                format!("a setting cannot be given in `{}`", self.text.get(range.clone()).unwrap_or(""));
            let help = "the units of settings are `milliseconds`, `seconds`, `minutes` and `hours`";
            return Err(self.report.at(syntax::UNEXPECTED, range, message, help));
        }
        Ok(External { path, unit })
    }

    fn unit(&mut self, node: &Node) -> Result<Spanned<Unit>, Reported> {
        let unit = match self.text(node) {
            "milliseconds" => Unit::Milliseconds,
            "seconds" => Unit::Seconds,
            "minutes" => Unit::Minutes,
            "hours" => Unit::Hours,
            "epoch" => Unit::Epoch,
            "date" => Unit::Date,
            "duration" => Unit::Duration,
            _ => return Err(self.unreadable(node.range.clone())),
        };
        Ok(Spanned { node: unit, span: self.span(node) })
    }

    fn backoff(&mut self, node: &Node) -> Built<Backoff> {
        let name = self.name(node)?;
        let growth = if let Some(steps) = node.part(Rule::steps) {
            Growth::Steps(self.each(steps, Rule::duration_slot, Self::duration_slot)?)
        } else {
            let doubling = node.need(Rule::doubling)?;
            let mut both = self.each(doubling, Rule::duration_slot, Self::duration_slot)?.into_iter();
            match (both.next(), both.next()) {
                (Some(from), Some(up_to)) => Growth::Doubling { from, up_to },
                _ => return Err(self.unreadable(doubling.range.clone())),
            }
        };
        let jitter = node.part(Rule::jitter).map(|jitter| self.percent(jitter)).transpose()?;
        Ok(Backoff { name, growth, jitter })
    }

    fn percent(&mut self, node: &Node) -> Built<Spanned<u8>> {
        let percent = node.need(Rule::percent)?;
        let text = self.text(percent).to_owned();
        let value = text.trim_end_matches('%').parse::<u8>().ok().filter(|n| *n <= 100);
        let Some(node) = value else {
            let message = format!("`{text}` is not a percentage from 0 to 100");
            return Err(self.report.at(
                syntax::BAD_NUMBER,
                percent.range.clone(),
                message,
                "write such as `10%`",
            ));
        };
        Ok(Spanned { node, span: self.span(percent) })
    }

    fn reset(&mut self, node: &Node) -> Built<Reset> {
        let mut seen = Seen::default();
        for part in &node.parts {
            let what = match part.rule {
                Rule::when => "`when`",
                Rule::trusted => "`trusted up to`",
                _ => continue,
            };
            seen.once(what, self.span(part), &mut self.report)?;
        }
        let place = node.need(Rule::reset_place)?;
        let from = if place.has(Rule::k_text) {
            ResetPlace::Text(self.regex(place)?)
        } else if place.has(Rule::k_header) {
            ResetPlace::Header(self.string(place)?)
        } else {
            ResetPlace::Field(self.string(place)?)
        };
        Ok(Reset {
            name: self.name(node)?,
            from,
            when: self.when(node)?,
            units: self.each(node, Rule::unit, Self::unit)?,
            trusted: node.part(Rule::trusted).map(|trusted| self.duration(trusted)).transpose()?,
        })
    }
}
