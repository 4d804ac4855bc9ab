//! What words tell: whether one looks like an id, says nothing of an error, or is what a number counts.
//! The words themselves are the rules' business.

use std::{collections::HashSet, sync::LazyLock};

type Words = LazyLock<HashSet<&'static str>>;

macro_rules! words {
    ($file:literal) => {
        LazyLock::new(|| include_str!(concat!("../../rules/", $file)).split_whitespace().collect())
    };
}

/// Words that tell nothing anywhere.
static EMPTY: Words = words!("lint/empty_words.txt");
/// Words that polite sentences around an error are made of.
static BOILERPLATE: Words = words!("lint/boilerplate_words.txt");
/// Words of hexadecimal digits alone.
static HEX: Words = words!("lint/hex_words.txt");
/// Words without a vowel.
static CONSONANTS: Words = words!("lint/consonant_words.txt");
/// Words that a name follows.
static BEFORE_NAMES: Words = words!("lint/name_words.txt");
/// Units and words of counting without a plural's ending: few, and looked up in any case.
static UNITS: LazyLock<Vec<&str>> = words!("signal/units.txt");
/// How long the longest of them is: most words need not be compared.
static LONGEST_UNIT: LazyLock<usize> =
    LazyLock::new(|| UNITS.iter().map(|unit| unit.len()).max().unwrap_or_default());
/// Plurals that stand behind a status as well: `HTTP 429 errors`.
static OF_STATUSES: Words = words!("signal/counted_by_status.txt");
/// Words that end like a plural and say something of a status: `status 429 means …`.
static STATUS_VERBS: Words = words!("signal/status_verbs.txt");

/// Letters of a hexadecimal word from which on it is an id, unless it is known.
const HEX_LETTERS: usize = 6;

/// The same for a part of several parts that are all hexadecimal.
const HEX_PART: usize = 3;

/// Letters of a word without a vowel from which on it is an id, unless it is known.
const CONSONANT_LETTERS: usize = 5;

/// Whether a folded word, or a part of it, looks like an id though it holds no number.
pub(crate) fn looks_like_id(word: &str) -> bool {
    let parts = || word.split(|c: char| !c.is_alphabetic()).filter(|part| !part.is_empty());
    let hex = |part: &str| part.bytes().all(|b| b.is_ascii_hexdigit());
    let joined = parts().count() > 1 && parts().all(|part| hex(part) && part.len() >= HEX_PART);
    joined
        || parts().any(|part| {
            let letters = part.is_ascii();
            let silent = || !part.contains(['a', 'e', 'i', 'o', 'u', 'y']);
            (hex(part) && part.len() >= HEX_LETTERS && !HEX.contains(part))
                || (letters && part.len() >= CONSONANT_LETTERS && silent() && !CONSONANTS.contains(part))
        })
}

/// Whether the next word, joined by `-` or `_`, is a name.
pub(super) fn is_before_name(word: &str) -> bool {
    BEFORE_NAMES.contains(word)
}

/// Whether a folded phrase is made of nothing but words that stand beside any error.
pub(crate) fn is_boilerplate(phrase: &str) -> bool {
    let mut words = phrase.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    // Words of one and two letters tell nothing either.
    words
        .all(|word| word.is_ascii() && (word.len() < 3 || EMPTY.contains(word) || BOILERPLATE.contains(word)))
}

/// Whether a number before this word, in the case of the text, counts or measures.
pub(super) fn is_counted(word: &str) -> bool {
    (word.len() <= *LONGEST_UNIT && UNITS.iter().any(|unit| unit.eq_ignore_ascii_case(word)))
        || is_plural(word) && !STATUS_VERBS.contains(word)
}

/// Whether a status may stand before this word as before something that is counted.
pub(super) fn is_of_statuses(word: &str) -> bool {
    OF_STATUSES.contains(word)
}

/// A lower-case word with the ending of a plural.
fn is_plural(word: &str) -> bool {
    word.len() > 2
        && word.bytes().all(|b| b.is_ascii_lowercase())
        && word.ends_with('s')
        && !["ss", "us", "is"].iter().any(|ending| word.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_without_a_number_are_told_from_words() {
        for id in ["deadbeef", "req_deadbeef", "aaaa-bbbb-cccc-dddd", "beef-cafe", "xkcdqrst", "job-fadebad"]
        {
            assert!(looks_like_id(id), "{id}");
        }
        for word in
            ["facade", "decade-old", "https", "rate-limit", "bad", "feed", "grpc", "余额不足", "don't"]
        {
            assert!(!looks_like_id(word), "{word}");
        }
    }

    #[test]
    fn what_stands_beside_any_error_is_boilerplate() {
        for phrase in [
            "request id",
            "see the documentation for details",
            "contact support with id",
            "check your plan and billing details and contact support",
            "you can find your api key at",
        ] {
            assert!(is_boilerplate(phrase), "{phrase}");
        }
        for phrase in ["plan has been paused by", "invalid api key", "billing was stopped", "余额不足"] {
            assert!(!is_boilerplate(phrase), "{phrase}");
        }
    }
}
