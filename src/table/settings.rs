//! Values of settings in force, and where each came from (L2).
//!
//! The environment wins over the config, the config over the rules.

use std::time::Duration;

use super::TableError;
use crate::lang::{
    policy::{CountSlot, DurationSlot},
    source::Span,
    tree::{External, Ruleset, Setting, SettingId, SettingValue, Unit},
};

/// Where settings are looked up outside the rules: a config file and the environment.
pub trait SettingSource {
    /// The number at a dotted config path (`auth.cooldowns.billingBackoffHours`).
    fn config(&self, path: &str) -> Option<f64>;
    /// The numbers of a map from provider to number at a dotted config path.
    fn config_by_provider(&self, path: &str) -> Vec<(String, f64)>;
    /// An environment variable.
    fn env(&self, name: &str) -> Option<String>;
}

/// No config and no environment: the rules alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSettings;

impl SettingSource for NoSettings {
    fn config(&self, _: &str) -> Option<f64> {
        None
    }
    fn config_by_provider(&self, _: &str) -> Vec<(String, f64)> {
        Vec::new()
    }
    fn env(&self, _: &str) -> Option<String> {
        None
    }
}

/// Where a value in force came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The declaration in the rules.
    Rules(Span),
    /// A `set` in the rules.
    Set(Span),
    /// This config path.
    Config(String),
    /// This environment variable.
    Env(String),
}

/// The value of one setting in force.
#[derive(Clone, Debug, PartialEq)]
pub struct InForce {
    /// The value for every provider that has none of its own.
    pub value: SettingValue,
    /// Where it came from.
    pub origin: Origin,
    /// Values of single providers (folded ids), from the config path of [`Setting::by_provider`].
    pub by_provider: Vec<(String, SettingValue)>,
}

/// The values of all settings in force.
#[derive(Clone, Debug, Default)]
pub struct Settings(Vec<InForce>);

impl Settings {
    pub(super) fn read(rules: &Ruleset, source: &dyn SettingSource) -> Result<Self, TableError> {
        rules.settings.iter().map(|setting| in_force(setting, source)).collect::<Result<_, _>>().map(Self)
    }

    /// The value of a setting and its origin; `None` for an id of another rule set.
    #[must_use]
    pub fn get(&self, id: SettingId) -> Option<&InForce> {
        self.0.get(id.index())
    }

    /// All values, in the order of [`Ruleset::settings`].
    pub fn iter(&self) -> impl Iterator<Item = &InForce> {
        self.0.iter()
    }

    /// A duration in force, for one provider where that makes a difference (E3). A count, which
    /// the checker does not let through, is read as zero.
    #[must_use]
    pub fn duration(&self, slot: DurationSlot, provider: Option<&str>) -> Duration {
        match slot {
            DurationSlot::Fixed(duration) => duration,
            DurationSlot::Setting(id) => match self.value(id, provider) {
                Some(SettingValue::Duration(duration)) => duration,
                _ => Duration::ZERO,
            },
        }
    }

    /// A count in force. A duration, which the checker does not let through, is read as zero.
    #[must_use]
    pub fn count(&self, slot: CountSlot) -> u32 {
        match slot {
            CountSlot::Fixed(count) => count,
            CountSlot::Setting(id) => match self.value(id, None) {
                Some(SettingValue::Count(count)) => count,
                _ => 0,
            },
        }
    }

    fn value(&self, id: SettingId, provider: Option<&str>) -> Option<SettingValue> {
        let found = self.get(id)?;
        let own = provider
            .and_then(|provider| found.by_provider.iter().find(|(id, _)| id.eq_ignore_ascii_case(provider)));
        Some(own.map_or(found.value, |(_, value)| *value))
    }
}

fn in_force(setting: &Setting, source: &dyn SettingSource) -> Result<InForce, TableError> {
    let mut found = InForce {
        value: setting.value,
        origin: setting.set_by.map_or(Origin::Rules(setting.span), Origin::Set),
        by_provider: Vec::new(),
    };
    if let Some(external) = &setting.from_config
        && let Some(number) = source.config(&external.path)
    {
        found.value = from_config(setting, external, &external.path, number)?;
        found.origin = Origin::Config(external.path.clone());
    }
    if let Some(external) = &setting.by_provider {
        for (provider, number) in source.config_by_provider(&external.path) {
            let value = from_config(setting, external, &format!("{}.{provider}", external.path), number)?;
            found.by_provider.push((provider.to_lowercase(), value));
        }
    }
    if let Some(external) = &setting.from_env
        && let Some(text) = source.env(&external.path).filter(|text| !text.trim().is_empty())
    {
        found.value = from_env(setting, external, &text)?;
        found.origin = Origin::Env(external.path.clone());
    }
    Ok(found)
}

fn from_config(
    setting: &Setting,
    external: &External,
    path: &str,
    number: f64,
) -> Result<SettingValue, TableError> {
    convert(setting.value, external.unit, number).ok_or_else(|| TableError::Config {
        setting: setting.name.to_string(),
        path: path.to_owned(),
        value: if number.abs() < 1e15 { number.to_string() } else { format!("{number:e}") },
        expected: expected(setting.value, external.unit, Some(number)),
    })
}

/// `0`, `false`, `off`, `none` and `disabled` all turn a setting off (E9).
fn from_env(setting: &Setting, external: &External, text: &str) -> Result<SettingValue, TableError> {
    let trimmed = text.trim();
    let off = ["false", "off", "none", "disabled"].iter().any(|word| trimmed.eq_ignore_ascii_case(word));
    let number = if off { Some(0.0) } else { trimmed.parse().ok() };
    number.and_then(|number| convert(setting.value, external.unit, number)).ok_or_else(|| TableError::Env {
        setting: setting.name.to_string(),
        name: external.path.clone(),
        value: trimmed.to_owned(),
        expected: expected(setting.value, external.unit, number),
    })
}

/// A number in a unit as a value of the setting's own kind; `None` when it does not fit.
fn convert(kind: SettingValue, unit: Option<Unit>, number: f64) -> Option<SettingValue> {
    match kind {
        SettingValue::Count(_) => {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to fit")]
            let count = (number >= 0.0 && number <= f64::from(u32::MAX) && number.fract() == 0.0)
                .then_some(number as u32)?;
            Some(SettingValue::Count(count))
        }
        SettingValue::Duration(_) => {
            let seconds = match unit {
                Some(Unit::Milliseconds) => number / 1_000.0,
                Some(Unit::Minutes) => number * 60.0,
                Some(Unit::Hours) => number * 3_600.0,
                _ => number,
            };
            Duration::try_from_secs_f64(seconds).ok().map(SettingValue::Duration)
        }
    }
}

/// What a setting takes, where it does not take `number`.
fn expected(kind: SettingValue, unit: Option<Unit>, number: Option<f64>) -> String {
    let large = number.is_some_and(|number| number.is_finite() && number >= 1.0 && number.fract() == 0.0);
    match (kind, unit) {
        (SettingValue::Count(_), _) if large => format!("{} at most", u32::MAX),
        (SettingValue::Count(_), _) => "a whole number of 0 or more".to_owned(),
        (SettingValue::Duration(_), unit) => {
            let unit = match unit {
                Some(Unit::Milliseconds) => "milliseconds",
                Some(Unit::Minutes) => "minutes",
                Some(Unit::Hours) => "hours",
                _ => "seconds",
            };
            if large { format!("fewer {unit}") } else { format!("a number of {unit}, 0 or more") }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Config paths and variables, by name.
    #[derive(Default)]
    struct Given {
        config: BTreeMap<&'static str, f64>,
        by_provider: Vec<(String, f64)>,
        env: BTreeMap<&'static str, &'static str>,
    }

    impl SettingSource for Given {
        fn config(&self, path: &str) -> Option<f64> {
            self.config.get(path).copied()
        }
        fn config_by_provider(&self, _: &str) -> Vec<(String, f64)> {
            self.by_provider.clone()
        }
        fn env(&self, name: &str) -> Option<String> {
            self.env.get(name).map(ToString::to_string)
        }
    }

    fn setting(value: SettingValue, unit: Option<Unit>) -> Setting {
        let external = |path: &str| Some(External { path: path.to_owned(), unit, span: Span::default() });
        Setting {
            name: "start".into(),
            doc: None,
            value,
            from_config: external("a.b"),
            by_provider: external("a.by"),
            from_env: external("START"),
            span: Span { start: 1, ..Span::default() },
            set_by: None,
        }
    }

    fn hours() -> Setting {
        setting(SettingValue::Duration(Duration::from_hours(5)), Some(Unit::Hours))
    }

    #[test]
    fn l2_environment_over_config_over_rules() {
        let mut given = Given::default();
        let value = |given: &Given, setting: &Setting| in_force(setting, given).unwrap();
        assert_eq!(value(&given, &hours()).origin, Origin::Rules(hours().span));
        let set = Setting { set_by: Some(Span { start: 7, ..Span::default() }), ..hours() };
        assert_eq!(value(&given, &set).origin, Origin::Set(Span { start: 7, ..Span::default() }));
        given.config.insert("a.b", 1.5);
        let config = value(&given, &set);
        assert_eq!(config.value, SettingValue::Duration(Duration::from_mins(90)));
        assert_eq!(config.origin, Origin::Config("a.b".to_owned()));
        given.env.insert("START", " Off ");
        let env = value(&given, &set);
        assert_eq!(env.value, SettingValue::Duration(Duration::ZERO));
        assert_eq!(env.origin, Origin::Env("START".to_owned()));
        given.env.insert("START", "");
        assert_eq!(value(&given, &set).origin, Origin::Config("a.b".to_owned()), "empty is unset");
    }

    #[test]
    fn e3_a_provider_may_have_its_own_start() {
        let given = Given { by_provider: vec![("OpenAI".to_owned(), 2.0)], ..Given::default() };
        let settings = Settings(vec![in_force(&hours(), &given).unwrap()]);
        let slot = DurationSlot::Setting(SettingId(0));
        assert_eq!(settings.duration(slot, Some("openai")), Duration::from_hours(2));
        assert_eq!(settings.duration(slot, Some("groq")), Duration::from_hours(5));
        assert_eq!(settings.duration(slot, None), Duration::from_hours(5));
    }

    #[test]
    fn values_that_do_not_fit_are_errors_that_say_where() {
        let count = setting(SettingValue::Count(1), None);
        let config = |number| Given { config: [("a.b", number)].into(), ..Given::default() };
        for number in [-1.0, 1.5, 1e12, f64::NAN] {
            assert!(in_force(&count, &config(number)).is_err(), "{number}");
        }
        assert_eq!(in_force(&count, &config(3.0)).unwrap().value, SettingValue::Count(3));
        assert_eq!(
            in_force(&hours(), &config(-2.0)).unwrap_err().to_string(),
            "config `a.b` is `-2`, but setting `start` takes a number of hours, 0 or more"
        );
        assert_eq!(
            in_force(&hours(), &config(1e300)).unwrap_err().to_string(),
            "config `a.b` is `1e300`, but setting `start` takes fewer hours"
        );
        assert_eq!(
            in_force(&count, &config(1e12)).unwrap_err().to_string(),
            "config `a.b` is `1000000000000`, but setting `start` takes 4294967295 at most"
        );
        let env = Given { env: [("START", "soon")].into(), ..Given::default() };
        assert_eq!(
            in_force(&hours(), &env).unwrap_err().to_string(),
            "environment variable `START` is `soon`, but setting `start` takes a number of hours, 0 or more, or `off`"
        );
    }
}
