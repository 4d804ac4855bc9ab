//! A host's config in YAML.

use pointsman::{
    config::{Config, ModelRef},
    run::Routing,
    table::{NoSettings, SettingSource as _, Table},
};

use crate::shipped;

/// Any text is a config or refused with problems that have a place in it; the numbers of a good one
/// either fit the settings or are refused by name.
pub fn config(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let config = match Config::parse(text) {
        Ok(config) => config,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let _ = Routing::from(&config);
    for profile in &config.profiles {
        assert!(!profile.id.is_empty() && !profile.provider().is_empty(), "{profile:?}");
    }
    let models = |model: &Option<ModelRef>| model.clone();
    for model in models(&config.defaults.heartbeat_model).into_iter() {
        assert!(!model.provider.is_empty() && !model.model.is_empty());
    }
    let ours = shipped::policy().settings.iter().flat_map(|setting| &setting.from_config);
    if ours.clone().all(|external| config.config(&external.path).is_none()) && !text.contains("ByProvider") {
        return;
    }
    match Table::compile(shipped::policy().clone(), &config) {
        Ok(table) => assert_eq!(
            table.settings().iter().count(),
            Table::compile(shipped::policy().clone(), &NoSettings)
                .map_or(0, |table| table.settings().iter().count())
        ),
        Err(error) => assert!(error.to_string().contains('`'), "{error}"),
    }
}
