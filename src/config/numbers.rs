//! Every number of a config, by dotted path. Nothing else of a host's file is kept: it may hold
//! secrets.

use std::collections::BTreeMap;

use serde_yaml::Value;

/// Numbers of the maps of a config (L2).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Numbers(BTreeMap<String, Vec<(String, f64)>>);

impl Numbers {
    pub(super) fn of(document: &Value) -> Self {
        let mut numbers = Self::default();
        numbers.collect("", document);
        numbers
    }

    fn collect(&mut self, path: &str, value: &Value) {
        let Value::Mapping(map) = value else { return };
        for (key, value) in map {
            let Some(key) = key.as_str() else { continue };
            if let Some(number) = value.as_f64() {
                self.0.entry(path.to_owned()).or_default().push((key.to_owned(), number));
            } else {
                let below = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
                self.collect(&below, value);
            }
        }
    }

    /// The number at a dotted path.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<f64> {
        let (map, key) = path.rsplit_once('.').unwrap_or(("", path));
        self.all(map).iter().find(|(name, _)| name == key).map(|(_, number)| *number)
    }

    /// The numbers of the map at a dotted path, in the order of the file.
    #[must_use]
    pub fn all(&self, path: &str) -> &[(String, f64)] {
        self.0.get(path).map_or(&[], Vec::as_slice)
    }
}
