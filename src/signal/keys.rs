//! What the keys of a payload mean. Normalisation, not policy: a key says what its value is.

use std::ops::Range;

use super::swar::{self, HIGH, ONES};

/// What a key's value is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Key {
    /// A message.
    Message,
    /// `error`, `reason` and the like: prose, or one word that is a code as well.
    MessageOrCode,
    /// A text beside a message.
    Detail,
    /// A detail, or one word that is a code as well.
    DetailOrCode,
    /// A body that somebody passed on: a detail, whatever it holds.
    Body,
    /// Somebody's text; only payloads inside count.
    Carrier,
    /// A code.
    Code,
    /// A type.
    Type,
    /// A class of exception, or anything else that has a name.
    Name,
    /// A parameter.
    Param,
    /// A status as number or word.
    Status,
    /// What the user wrote.
    Echo,
    /// Anything else.
    #[default]
    Other,
}

/// All keys that mean something, to be searched by length and first bytes.
#[derive(Clone, Debug)]
pub(super) struct Keys {
    known: Vec<Known>,
    /// Places in `known`, each in the first free slot from [`slot_of`] on. Most slots are free, so
    /// that a search ends soon.
    slots: Vec<u32>,
    /// The bits of a number that name a slot.
    mask: usize,
}

#[derive(Clone, Debug)]
struct Known {
    head: u64,
    meaning: Key,
    /// Its length, if the same head makes the same key.
    sure: usize,
    text: Box<[u8]>,
}

/// A slot that holds no key.
const FREE: u32 = u32::MAX;

impl Default for Keys {
    fn default() -> Self {
        Self::new([])
    }
}

impl Keys {
    /// Below the keys `echo` lie the user's own words (D13); their case does not matter.
    pub(super) fn new(echo: impl IntoIterator<Item = String>) -> Self {
        let echo = echo.into_iter().map(|key| (key.into_bytes(), Key::Echo));
        let all = echo.chain(KEYS.map(|(key, meaning)| (key.to_vec(), meaning)));
        let known: Vec<Known> = all.map(|(text, meaning)| Known::new(text.into(), meaning)).collect();
        let mut slots = vec![FREE; (4 * known.len()).next_power_of_two()];
        let mask = slots.len() - 1;
        for (known, place) in known.iter().zip(0..FREE) {
            let mut slot = slot_of(known.head, known.text.len()) & mask;
            while slots.get(slot).is_some_and(|place| *place != FREE) {
                slot = (slot + 1) & mask;
            }
            if let Some(free) = slots.get_mut(slot) {
                *free = place;
            }
        }
        Self { known, slots, mask }
    }

    /// What the key at a place in `text` says of its value; `word` is what [`swar::padded`] gives at its
    /// start. Of what is not the user's own, case, `_`, `-`, `$` and `@` do not matter.
    #[inline]
    pub(super) fn meaning(&self, text: &[u8], at: Range<usize>, word: u64) -> Key {
        // Most keys end here: they are a short word, and the first slot tells all.
        let length = at.end - at.start;
        let head = head(word, length);
        match self.at(slot_of(head, length) & self.mask) {
            None if length <= 8 && is_word(head, length) => Key::Other,
            Some(known) if known.head == head && known.sure == length => known.meaning,
            _ => self.search(head, text.get(at).unwrap_or_default()),
        }
    }

    /// The key in a slot.
    #[inline]
    fn at(&self, slot: usize) -> Option<&Known> {
        self.known.get(*self.slots.get(slot)? as usize)
    }

    /// [`Self::meaning`] of any key.
    #[inline(never)]
    fn search(&self, head: u64, key: &[u8]) -> Key {
        match self.find(head, key, true) {
            Some(meaning) => meaning,
            None => self.plain(key),
        }
    }

    /// [`Self::meaning`] of a key that may hold what does not matter.
    fn plain(&self, key: &[u8]) -> Key {
        // None that means something begins and ends so.
        let lower = |byte: Option<&u8>| byte.and_then(|byte| PLAIN.get(usize::from(*byte))).copied();
        if let (Some(first @ 1..), Some(last @ 1..)) = (lower(key.first()), lower(key.last()))
            && ENDINGS.get(usize::from(first % 32)).is_none_or(|endings| endings >> (last % 32) & 1 == 0)
        {
            return Key::Other;
        }
        let mut plain = [0u8; 24];
        let mut length = 0;
        for byte in key {
            let lower = PLAIN.get(usize::from(*byte)).copied().unwrap_or_default();
            if lower != 0 || *byte == 0 {
                let Some(slot) = plain.get_mut(length) else {
                    return Key::Other;
                };
                *slot = lower;
                length += 1;
            }
        }
        let head = head(swar::padded(&plain, 0), length);
        self.find(head, plain.get(..length).unwrap_or_default(), false).unwrap_or_default()
    }

    /// The meaning of the known key that `key`, beginning with `head`, is but for the case of its
    /// letters.
    #[inline]
    fn find(&self, head: u64, key: &[u8], echo: bool) -> Option<Key> {
        let mut slot = slot_of(head, key.len()) & self.mask;
        while let Some(known) = self.at(slot) {
            if known.head == head
                && known.text.eq_ignore_ascii_case(key)
                && (echo || known.meaning != Key::Echo)
            {
                return Some(known.meaning);
            }
            slot = (slot + 1) & self.mask;
        }
        None
    }
}

impl Known {
    fn new(text: Box<[u8]>, meaning: Key) -> Self {
        let head = head(swar::padded(&text, 0), text.len());
        let sure = if text.len() <= 8 && is_word(head, text.len()) { text.len() } else { usize::MAX };
        Self { head, meaning, sure, text }
    }
}

/// Where the search for a key begins: any number, but not the same for most.
#[inline]
fn slot_of(head: u64, length: usize) -> usize {
    const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
    ((head ^ length as u64).wrapping_mul(SPREAD) >> 32) as usize
}

/// The beginning of a key: its first eight bytes, capitals made small (which makes something of other
/// bytes too). They are the first of `word`.
#[inline]
fn head(word: u64, length: usize) -> u64 {
    (word | (0x20 * ONES)) & filled(length)
}

/// Whether a head is nothing but letters.
#[inline]
fn is_word(head: u64, length: usize) -> bool {
    let letters = head | (!filled(length) & (u64::from(b'a') * ONES));
    let low = letters & !HIGH;
    let from_a = low + (0x80 - u64::from(b'a')) * ONES;
    let above_z = low + (0x7f - u64::from(b'z')) * ONES;
    from_a & !above_z & !letters & HIGH == HIGH
}

/// All bits of the bytes of a head that a key of this length fills.
#[inline]
fn filled(length: usize) -> u64 {
    const FILLED: [u64; 8] = {
        let mut filled = [0; 8];
        let mut length = 1;
        while length < 8 {
            #[expect(clippy::indexing_slicing, reason = "length is below eight")]
            {
                filled[length] = u64::MAX >> (64 - 8 * length);
            }
            length += 1;
        }
        filled
    };
    FILLED.get(length).copied().unwrap_or(u64::MAX)
}

/// A byte of a key in lower case; zero for those that do not matter.
const PLAIN: [u8; 256] = {
    let mut plain = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        #[expect(clippy::cast_possible_truncation, clippy::indexing_slicing, reason = "byte is below 256")]
        if !matches!(byte as u8, b'_' | b'-' | b'$' | b'@') {
            plain[byte] = (byte as u8).to_ascii_lowercase();
        }
        byte += 1;
    }
    plain
};

/// By the lowest five bits of a first letter: a bit for those of each last letter of [`KEYS`] that
/// begin so.
const ENDINGS: [u32; 32] = {
    let mut endings = [0; 32];
    let mut at = 0;
    while at < KEYS.len() {
        #[expect(clippy::indexing_slicing, reason = "at is below the length, and no key is empty")]
        {
            let (key, _) = KEYS[at];
            endings[(key[0] % 32) as usize] |= 1 << (key[key.len() - 1] % 32);
        }
        at += 1;
    }
    endings
};

/// The keys that mean something, in order of the alphabet.
const KEYS: [(&[u8], Key); 77] = [
    (b"amznerrortype", Key::Type),
    (b"blockreason", Key::DetailOrCode),
    (b"blockreasonmessage", Key::Message),
    (b"body", Key::Body),
    (b"bodytext", Key::Body),
    (b"cause", Key::DetailOrCode),
    (b"class", Key::Type),
    (b"code", Key::Code),
    (b"content", Key::Carrier),
    (b"data", Key::Body),
    (b"description", Key::Detail),
    (b"detail", Key::Detail),
    (b"details", Key::Detail),
    (b"err", Key::MessageOrCode),
    (b"errcode", Key::Code),
    (b"errdescription", Key::Message),
    (b"errmsg", Key::Message),
    (b"errno", Key::Code),
    (b"error", Key::MessageOrCode),
    (b"errorcode", Key::Code),
    (b"errordescription", Key::Message),
    (b"errordetail", Key::Detail),
    (b"errordetails", Key::Detail),
    (b"errorinfo", Key::Message),
    (b"errormessage", Key::Message),
    (b"errormsg", Key::Message),
    (b"errorname", Key::Name),
    (b"errors", Key::Message),
    (b"errorsubcode", Key::Code),
    (b"errortext", Key::MessageOrCode),
    (b"errortype", Key::Type),
    (b"errtype", Key::Type),
    (b"exception", Key::DetailOrCode),
    (b"exceptiontype", Key::Type),
    (b"explanation", Key::Detail),
    (b"failurereason", Key::DetailOrCode),
    (b"faultstring", Key::Message),
    (b"hint", Key::Detail),
    (b"httpcode", Key::Status),
    (b"httpstatus", Key::Status),
    (b"httpstatuscode", Key::Status),
    (b"incompletereason", Key::DetailOrCode),
    (b"internalcode", Key::Code),
    (b"issue", Key::Detail),
    (b"localizedmessage", Key::Detail),
    (b"message", Key::Message),
    (b"msg", Key::Message),
    (b"name", Key::Name),
    (b"note", Key::Detail),
    (b"output", Key::Carrier),
    (b"param", Key::Param),
    (b"parameter", Key::Param),
    (b"payload", Key::Carrier),
    (b"raw", Key::Message),
    (b"reason", Key::DetailOrCode),
    (b"response", Key::Carrier),
    (b"responsebody", Key::Body),
    (b"responsestatus", Key::Status),
    (b"result", Key::Carrier),
    (b"resultmsg", Key::Message),
    (b"retcode", Key::Code),
    (b"retmsg", Key::Message),
    (b"status", Key::Status),
    (b"statuscode", Key::Status),
    (b"statusdescription", Key::Detail),
    (b"statusmessage", Key::Message),
    (b"statusmsg", Key::Message),
    (b"statustext", Key::Detail),
    (b"stderr", Key::Body),
    (b"subcode", Key::Code),
    (b"suggestion", Key::Detail),
    (b"summary", Key::Detail),
    (b"text", Key::Carrier),
    (b"title", Key::Detail),
    (b"type", Key::Type),
    (b"upstreamerror", Key::Detail),
    (b"value", Key::Carrier),
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn meaning(keys: &Keys, key: &str) -> Key {
        keys.meaning(key.as_bytes(), 0..key.len(), swar::padded(key.as_bytes(), 0))
    }

    #[test]
    fn every_key_is_found_however_it_is_written() {
        let keys = Keys::default();
        for (key, means) in KEYS {
            let key = std::str::from_utf8(key).unwrap();
            let (head, tail) = key.split_at(key.len() / 2);
            for written in
                [key.to_owned(), key.to_uppercase(), format!("@{head}_{tail}"), format!("{head}-{tail}__")]
            {
                assert_eq!(meaning(&keys, &written), means, "{written}");
            }
            assert_eq!(meaning(&keys, &format!("{key}x")), Key::Other);
        }
        for other in ["", "_", "region", "a\0", "errorerrorerrorerrorerrorerror"] {
            assert_eq!(meaning(&keys, other), Key::Other, "{other}");
        }
    }

    proptest! {
        #[test]
        fn fast_is_slow(key in "(error|code|Status|MESSAGE|s|_|-|[a-z]|\\PC|\0){0,4}", echo in "[a-z_]{1,10}") {
            let keys = Keys::new(["in_put".to_owned(), "Message".to_owned(), echo.clone()]);
            let slow = |written: &str| {
                let own = ["in_put", "Message", &*echo].iter().any(|own| own.eq_ignore_ascii_case(written));
                let plain = written.to_ascii_lowercase().replace(['_', '-', '$', '@'], "");
                let known = KEYS.iter().find(|(known, _)| *known == plain.as_bytes());
                if own { Key::Echo } else { known.map_or(Key::Other, |(_, meaning)| *meaning) }
            };
            for written in [&*key, &*echo, &*echo.to_uppercase(), &*format!("_{echo}"), "in_PUT", "input", "message", "mess-age"] {
                prop_assert_eq!(meaning(&keys, written), slow(written), "{}", written);
            }
        }
    }
}
