//! A JSON map in the order of the file: insertion counts (C6).

use std::{collections::BTreeSet, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::Value;

use super::FileReport;

/// Keys and values, in order. Of a repeated key the last counts, at the place of the first.
pub(super) struct Entries {
    /// Each key once.
    pub each: Vec<(String, Raw)>,
    /// Keys that stood there before.
    repeated: BTreeSet<String>,
}

/// A value whose own maps keep their order too.
pub(super) enum Raw {
    /// A map.
    Map(Entries),
    /// Anything else.
    Other(Value),
}

impl Entries {
    /// The entries of a map.
    pub fn of(value: Raw) -> Option<Self> {
        match value {
            Raw::Map(entries) => Some(entries),
            Raw::Other(_) => None,
        }
    }

    /// Says which keys of the map at `at` (with a dot behind it, or empty) are repeated.
    pub fn say_repeated(&self, at: &str, report: &mut FileReport) {
        for key in &self.repeated {
            report.left(format!("{at}{key}"), "stands here more than once; the last one counts");
        }
    }
}

impl Raw {
    /// A plain value; a map is none.
    pub fn other(&self) -> Option<&Value> {
        match self {
            Self::Map(_) => None,
            Self::Other(value) => Some(value),
        }
    }
}

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_map(Collect)
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_any(Either)
    }
}

struct Collect;

impl<'de> Visitor<'de> for Collect {
    type Value = Entries;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
        let (mut each, mut repeated) = (Vec::new(), BTreeSet::new());
        while let Some((key, value)) = map.next_entry()? {
            match each.iter_mut().find(|(there, _): &&mut (String, Raw)| *there == key) {
                Some((_, there)) => {
                    *there = value;
                    repeated.insert(key);
                }
                None => each.push((key, value)),
            }
        }
        Ok(Entries { each, repeated })
    }
}

struct Either;

impl<'de> Visitor<'de> for Either {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Raw, A::Error> {
        Collect.visit_map(map).map(Raw::Map)
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut list: A) -> Result<Raw, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element()? {
            values.push(value);
        }
        Ok(Raw::Other(Value::Array(values)))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Raw, E> {
        Ok(Raw::Other(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Raw, E> {
        Ok(Raw::Other(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Raw, E> {
        Ok(Raw::Other(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Raw, E> {
        Ok(Raw::Other(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Raw, E> {
        Ok(Raw::Other(value.into()))
    }

    fn visit_unit<E>(self) -> Result<Raw, E> {
        Ok(Raw::Other(Value::Null))
    }
}
