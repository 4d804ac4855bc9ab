//! How much a YAML document writes out: an alias costs a few bytes, and stands for all that it names.

use std::{cell::Cell, fmt};

use serde::de::{self, DeserializeSeed, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor};

/// A document with more values than this is no config.
const MOST: usize = 1_000_000;

/// Brackets open inside one another; the reader itself follows 128, but takes time by the square of all.
const DEEPEST: usize = 1_000;

/// Where more brackets are open than any config has, those of its strings included.
pub(super) fn too_deep(text: &str) -> Option<usize> {
    let mut open = 0usize;
    text.bytes().position(|byte| {
        match byte {
            b'[' | b'{' => open += 1,
            b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        open > DEEPEST
    })
}

/// Reads the text without keeping anything of it.
///
/// # Errors
/// When its aliases write out too much; another error is that of whoever keeps what is read.
pub(super) fn check(text: &str) -> Result<(), serde_yaml::Error> {
    // Without one, a text writes out no more than it holds.
    if !text.contains('*') {
        return Ok(());
    }
    let values = Cell::new(0);
    let read = Count { values: &values }.deserialize(serde_yaml::Deserializer::from_str(text));
    if values.get() > MOST { read } else { Ok(()) }
}

#[derive(Clone, Copy)]
struct Count<'c> {
    values: &'c Cell<usize>,
}

impl<'de> DeserializeSeed<'de> for Count<'_> {
    type Value = ();

    fn deserialize<D: de::Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        self.values.set(self.values.get() + 1);
        if self.values.get() > MOST {
            return Err(de::Error::custom(format!("it writes out more than {MOST} values")));
        }
        input.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Count<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while map.next_entry_seed(self, self)?.is_some() {}
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(self)?.is_some() {}
        Ok(())
    }

    fn visit_enum<A: EnumAccess<'de>>(self, tagged: A) -> Result<(), A::Error> {
        let ((), value) = tagged.variant_seed(self)?;
        value.newtype_variant_seed(self)
    }
}
