//! What the keys of a payload mean. Normalisation, not policy: a key says what its value is.

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

/// What `key` says of its value. Case, `_`, `-`, `$` and `@` do not matter.
pub(super) fn key_of(key: &[u8]) -> Key {
    // Most keys end here: none that means something begins and ends so.
    let lower = |byte: Option<&u8>| byte.and_then(|byte| PLAIN.get(usize::from(*byte))).copied();
    if let (Some(first @ 1..), Some(last @ 1..)) = (lower(key.first()), lower(key.last()))
        && letter(first).endings >> (last % 32) & 1 == 0
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
    let [first, ..] = plain;
    let letter = letter(first);
    if letter.lengths >> length & 1 == 0 {
        return Key::Other;
    }
    let head = head(&plain);
    let plain = plain.get(..length).unwrap_or_default();
    let alike = HEADS.get(letter.from..letter.to).unwrap_or_default().iter().zip(letter.from..);
    // Most that differ do so in their beginnings.
    let mut alike = alike.filter(|(known, _)| **known == head).filter_map(|(_, at)| KEYS.get(at));
    alike.find(|(known, _)| *known == plain).map_or(Key::Other, |(_, key)| *key)
}

/// The first eight bytes as a number.
const fn head(key: &[u8]) -> u64 {
    let mut head = 0;
    let mut at = 0;
    while at < 8 && at < key.len() {
        #[expect(clippy::indexing_slicing, reason = "at is below the length")]
        {
            head |= (key[at] as u64) << (8 * at);
        }
        at += 1;
    }
    head
}

/// The beginning of each of [`KEYS`].
const HEADS: [u64; KEYS.len()] = {
    let mut heads = [0; KEYS.len()];
    let mut at = 0;
    while at < KEYS.len() {
        #[expect(clippy::indexing_slicing, reason = "at is below the length")]
        {
            heads[at] = head(KEYS[at].0);
        }
        at += 1;
    }
    heads
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

/// The keys that begin with a letter.
#[derive(Clone, Copy, Default)]
struct Letter {
    /// Where they stand in [`KEYS`].
    from: usize,
    to: usize,
    /// A bit for each length that one of them has.
    lengths: u32,
    /// A bit for the lowest five bits of each byte that one of them ends with.
    endings: u32,
}

#[inline]
fn letter(first: u8) -> Letter {
    BY_LETTER.get(usize::from(first % 32)).copied().unwrap_or_default()
}

/// By the lowest five bits of the first letter.
const BY_LETTER: [Letter; 32] = {
    let mut letters = [Letter { from: 0, to: 0, lengths: 0, endings: 0 }; 32];
    let mut at = 0;
    while at < KEYS.len() {
        #[expect(clippy::indexing_slicing, reason = "at is below the length, and no key is empty")]
        {
            let (key, _) = KEYS[at];
            let letter = &mut letters[(key[0] % 32) as usize];
            if letter.lengths == 0 {
                letter.from = at;
            }
            letter.to = at + 1;
            letter.lengths |= 1 << key.len();
            letter.endings |= 1 << (key[key.len() - 1] % 32);
        }
        at += 1;
    }
    letters
};

/// The keys below which the user's own words lie.
#[derive(Clone, Debug, Default)]
pub(super) struct EchoKeys {
    keys: Vec<Box<[u8]>>,
    /// Bit n: some key is n bytes long (63 stands for all longer ones). Most keys end here, or below.
    lengths: u64,
    /// Bit n: some key begins with a byte whose lowest five bits are n.
    beginnings: u32,
}

impl EchoKeys {
    /// Case does not matter.
    pub(super) fn new(keys: impl IntoIterator<Item = String>) -> Self {
        let keys: Vec<Box<[u8]>> =
            keys.into_iter().map(|key| key.to_ascii_lowercase().into_bytes().into_boxed_slice()).collect();
        let lengths = keys.iter().fold(0, |bits, key| bits | Self::length(key));
        let beginnings = keys.iter().fold(0, |bits, key| bits | Self::beginning(key));
        Self { keys, lengths, beginnings }
    }

    fn length(key: &[u8]) -> u64 {
        1 << key.len().min(63)
    }

    fn beginning(key: &[u8]) -> u32 {
        1 << (key.first().copied().unwrap_or_default() % 32)
    }

    /// Whether `key` is one of them.
    #[inline]
    pub(super) fn contains(&self, key: &[u8]) -> bool {
        self.lengths & Self::length(key) != 0
            && self.beginnings & Self::beginning(key) != 0
            && self.keys.iter().any(|known| known.eq_ignore_ascii_case(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_found_however_it_is_written() {
        assert!(KEYS.is_sorted_by_key(|(key, _)| key[0]), "those of a letter stand together");
        for (key, meaning) in KEYS {
            let key = std::str::from_utf8(key).unwrap();
            let (head, tail) = key.split_at(key.len() / 2);
            for written in
                [key.to_owned(), key.to_uppercase(), format!("@{head}_{tail}"), format!("{head}-{tail}__")]
            {
                assert_eq!(key_of(written.as_bytes()), meaning, "{written}");
            }
            assert_eq!(key_of(format!("{key}x").as_bytes()), Key::Other);
        }
        for other in ["", "_", "region", "a\0", "errorerrorerrorerrorerrorerror"] {
            assert_eq!(key_of(other.as_bytes()), Key::Other, "{other}");
        }
    }
}
