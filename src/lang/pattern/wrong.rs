//! What is wrong with an expression that the library refuses, in words for people, and how to mend it.

use regex_syntax::{ast, hir};

/// How to mend what the parser refused.
pub(super) fn help(kind: &ast::ErrorKind) -> &'static str {
    use ast::ErrorKind as Kind;
    match kind {
        Kind::UnsupportedLookAround => {
            "ask for the rest in a test of its own, such as `text matches /…/ and not text has \"…\"`"
        }
        Kind::UnsupportedBackreference => "write the text out a second time",
        Kind::ClassRangeInvalid | Kind::RepetitionCountInvalid => "write the smaller one first",
        Kind::NestLimitExceeded(_) => "split it into several tests",
        Kind::GroupNameDuplicate { .. } => "give each group a name of its own",
        Kind::ClassUnclosed => "close it with `]`, or write `\\[` for the sign itself",
        Kind::RepetitionCountUnclosed | Kind::RepetitionCountDecimalEmpty => {
            "write `{2}`, `{2,}` or `{2,5}`, or `\\{` for the sign itself"
        }
        Kind::EscapeUnexpectedEof => "write `\\\\` for a backslash",
        _ => BACKSLASH,
    }
}

/// What is wrong, in a few words. What is rare keeps the words of the library that found it.
pub(super) fn cause(kind: &ast::ErrorKind) -> String {
    use ast::ErrorKind as Kind;
    let words = match kind {
        Kind::UnsupportedLookAround => "it looks ahead or behind, which no expression here can",
        Kind::UnsupportedBackreference => "it refers back to a group, which no expression here can",
        Kind::ClassRangeInvalid => "the range of a class runs downward",
        Kind::ClassUnclosed => "a class is opened with `[` and not closed",
        Kind::RepetitionCountInvalid => "the numbers of a repetition run downward",
        Kind::RepetitionCountUnclosed => "a repetition is opened with `{` and not closed",
        Kind::RepetitionMissing => "there is nothing to repeat before this sign",
        Kind::GroupUnclosed => "a group is opened with `(` and not closed",
        Kind::GroupUnopened => "`)` closes no group",
        Kind::GroupNameDuplicate { .. } => "two groups have the same name",
        Kind::GroupNameUnexpectedEof => "the name of a group is not closed with `>`",
        Kind::EscapeUnrecognized => "no escape is written like this",
        Kind::EscapeUnexpectedEof => "it ends with a backslash",
        Kind::NestLimitExceeded(_) => "its groups are nested too deeply",
        other => return format!("the regex library says: {other}"),
    };
    words.to_owned()
}

/// What is wrong with a class or property that is well formed, and how to mend it.
pub(super) fn translated(kind: &hir::ErrorKind) -> (String, &'static str) {
    use hir::ErrorKind as Kind;
    match kind {
        Kind::UnicodePropertyNotFound | Kind::UnicodePropertyValueNotFound => (
            "there is no Unicode property of this name".to_owned(),
            "such as `\\p{L}` for letters, `\\p{Han}` for Chinese",
        ),
        other => (format!("the regex library says: {other}"), BACKSLASH),
    }
}

/// The commonest remedy.
const BACKSLASH: &str = "a sign that stands for itself takes a backslash, such as `\\(`";
