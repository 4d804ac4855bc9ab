//! What the keys of a payload mean. Normalisation, not policy: a key says what its value is.

use std::collections::BTreeSet;

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

/// What `key` says of its value. Case, `_`, `-`, `$` and `@` do not matter.
pub(super) fn key_of(key: &[u8]) -> Key {
    let mut plain = [0u8; 24];
    let mut length = 0;
    for byte in key {
        if !matches!(byte, b'_' | b'-' | b'$' | b'@') {
            let Some(slot) = plain.get_mut(length) else {
                return Key::Other;
            };
            *slot = byte.to_ascii_lowercase();
            length += 1;
        }
    }
    match plain.get(..length).unwrap_or_default() {
        b"message"
        | b"msg"
        | b"errormessage"
        | b"errormsg"
        | b"errmsg"
        | b"errdescription"
        | b"errordescription"
        | b"retmsg"
        | b"statusmessage"
        | b"statusmsg"
        | b"resultmsg"
        | b"faultstring"
        | b"raw"
        | b"errors"
        | b"errorinfo"
        | b"blockreasonmessage" => Key::Message,
        b"error" | b"err" | b"errortext" => Key::MessageOrCode,
        b"detail" | b"details" | b"description" | b"title" | b"errordetail" | b"errordetails"
        | b"localizedmessage" | b"hint" | b"note" | b"explanation" | b"statustext" | b"statusdescription"
        | b"upstreamerror" | b"suggestion" | b"summary" | b"issue" => Key::Detail,
        b"reason" | b"cause" | b"exception" | b"failurereason" | b"incompletereason" | b"blockreason" => {
            Key::DetailOrCode
        }
        b"data" | b"body" | b"responsebody" | b"bodytext" | b"stderr" => Key::Body,
        b"content" | b"text" | b"response" | b"output" | b"value" | b"result" | b"payload" => Key::Carrier,
        b"code" | b"errorcode" | b"errcode" | b"retcode" | b"errno" | b"subcode" | b"errorsubcode"
        | b"internalcode" => Key::Code,
        b"type" | b"errortype" | b"errtype" | b"exceptiontype" | b"amznerrortype" | b"class" => Key::Type,
        b"name" | b"errorname" => Key::Name,
        b"param" | b"parameter" => Key::Param,
        b"status" | b"statuscode" | b"httpstatus" | b"httpcode" | b"httpstatuscode" | b"responsestatus" => {
            Key::Status
        }
        _ => Key::Other,
    }
}

/// The keys below which the user's own words lie.
#[derive(Clone, Debug, Default)]
pub(super) struct EchoKeys {
    keys: BTreeSet<Box<[u8]>>,
    /// Bit n: some key is n bytes long (63 stands for all longer ones). Most keys end here.
    lengths: u64,
}

impl EchoKeys {
    /// Case does not matter.
    pub(super) fn new(keys: impl IntoIterator<Item = String>) -> Self {
        let keys: BTreeSet<Box<[u8]>> =
            keys.into_iter().map(|key| key.to_ascii_lowercase().into_bytes().into_boxed_slice()).collect();
        let lengths = keys.iter().fold(0, |bits, key| bits | Self::bit(key));
        Self { keys, lengths }
    }

    fn bit(key: &[u8]) -> u64 {
        1 << key.len().min(63)
    }

    /// Whether `key` is one of them.
    pub(super) fn contains(&self, key: &[u8]) -> bool {
        self.lengths & Self::bit(key) != 0 && self.keys.iter().any(|known| known.eq_ignore_ascii_case(key))
    }
}
