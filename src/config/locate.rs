//! Where in the text a path lies. The YAML reader gives places only with its errors: so the text is
//! read again up to the path, and an error raised there.

use std::fmt;

use serde::de::{self, DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A key of a map.
    Key(String),
    /// An entry of a list.
    At(usize),
}

/// Line and column from 1 and byte offset of the last step of `path`: a key itself, or an entry.
pub(super) fn locate(text: &str, path: &[Step]) -> Option<(usize, usize, usize)> {
    let input = serde_yaml::Deserializer::from_str(text);
    let place = Seek { path }.deserialize(input).err()?.location()?;
    Some((place.line(), place.column(), place.index()))
}

struct Seek<'p> {
    path: &'p [Step],
}

const HERE: &str = "here";

impl<'de> DeserializeSeed<'de> for Seek<'_> {
    type Value = ();

    fn deserialize<D: de::Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        if self.path.is_empty() { input.deserialize_any(Stop) } else { input.deserialize_any(self) }
    }
}

impl<'de> Visitor<'de> for Seek<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HERE)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Some((Step::Key(wanted), rest)) = self.path.split_first() else {
            return Err(de::Error::custom(HERE));
        };
        while let Some(found) = map.next_key_seed(Key { wanted, stop: rest.is_empty() })? {
            if found {
                map.next_value_seed(Seek { path: rest })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Some((Step::At(wanted), rest)) = self.path.split_first() else {
            return Err(de::Error::custom(HERE));
        };
        for _ in 0..*wanted {
            list.next_element::<IgnoredAny>()?;
        }
        list.next_element_seed(Seek { path: rest })?;
        Ok(())
    }
}

/// Reads a key; stops at the wanted one when that is where the path ends.
struct Key<'p> {
    wanted: &'p str,
    stop: bool,
}

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = bool;

    fn deserialize<D: de::Deserializer<'de>>(self, input: D) -> Result<bool, D::Error> {
        input.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: de::Error>(self, key: &str) -> Result<bool, E> {
        if key == self.wanted && self.stop { Err(E::custom(HERE)) } else { Ok(key == self.wanted) }
    }
}

/// Raises an error at whatever stands there.
struct Stop;

impl Visitor<'_> for Stop {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HERE)
    }
}
