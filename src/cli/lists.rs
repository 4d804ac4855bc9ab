//! The lists of a JSON line: further texts, and headers. Of millions only those are held that are looked at.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize,
    de::{self, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use super::jsonl::text;
use crate::signal::TEXT_LIMIT;

/// A header's name and value.
pub(super) type Header<'a> = (Cow<'a, str>, Cow<'a, str>);

/// A list of texts; a lone value is a list of one.
pub(super) fn details(raw: &RawValue) -> Vec<Cow<'_, str>> {
    match serde_json::from_str(raw.get()) {
        Ok(Details(list)) => list,
        Err(_) => text(raw).into_iter().collect(),
    }
}

/// The texts of a list, as far as they are looked at: millions of empty ones need no room.
struct Details<'a>(Vec<Cow<'a, str>>);

impl<'de: 'a, 'a> Deserialize<'de> for Details<'a> {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Details<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let (mut texts, mut bytes) = (Vec::new(), 0);
                while let Some(value) = list.next_element::<&'de RawValue>()? {
                    // The one that goes beyond is kept, so that it is said to be cut.
                    if bytes <= TEXT_LIMIT
                        && let Some(text) = text(value)
                    {
                        bytes += text.len().max(1);
                        texts.push(text);
                    }
                }
                Ok(Details(texts))
            }
        }
        deserializer.deserialize_seq(List)
    }
}

/// Headers as an object of values or lists of values, or as a list of pairs.
///
/// # Errors
/// One sentence, when it is neither.
pub(super) fn headers(raw: &RawValue) -> Result<Vec<Header<'_>>, String> {
    if raw.get() == "null" {
        return Ok(Vec::new());
    }
    serde_json::from_str(raw.get())
        .map(|Pairs { list, .. }| list)
        .map_err(|_| "`headers` is not an object of names and values".to_owned())
}

/// Names and values in order, a name given twice kept twice; of more than [`TEXT_LIMIT`] bytes the first.
#[derive(Default)]
struct Pairs<'a> {
    list: Vec<Header<'a>>,
    bytes: usize,
}

impl<'a> Pairs<'a> {
    fn push(&mut self, name: Cow<'a, str>, value: Cow<'a, str>) {
        self.bytes += name.len() + value.len() + 1;
        if !self.is_full() {
            self.list.push((name, value));
        }
    }

    fn is_full(&self) -> bool {
        self.bytes > TEXT_LIMIT
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Pairs<'a> {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Pairs<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object or a list of pairs")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Pairs::default();
                while let Some((name, value)) = map.next_entry::<Cow<'de, str>, &'de RawValue>()? {
                    for value in details(value) {
                        // A long name is not copied for each of a million values.
                        if pairs.is_full() {
                            break;
                        }
                        pairs.push(name.clone(), value);
                    }
                }
                Ok(pairs)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Pairs::default();
                while let Some((name, value)) = list.next_element::<(&'de RawValue, &'de RawValue)>()? {
                    if let (Some(name), Some(value)) = (text(name), text(value)) {
                        pairs.push(name, value);
                    }
                }
                Ok(pairs)
            }
        }
        deserializer.deserialize_any(Either)
    }
}
