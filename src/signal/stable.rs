//! What stays the same when an error comes again: its texts without ids, numbers and quoted names.

use std::ops::Range;

use super::{
    evidence::{Evidence, SegmentKind},
    words::{is_before_name, looks_like_id},
};

/// Longest fingerprint, in characters.
const LONGEST: usize = 600;

/// A quotation is no longer than this, in bytes.
const QUOTED: usize = 200;

/// Longest plain word that is one, in characters.
const WORD: usize = 24;

/// The same for errors that differ only in ids, numbers, quoted names and the model: provider, status,
/// codes and types, and the stable stretches of the texts.
#[must_use]
pub fn fingerprint(evidence: &Evidence) -> String {
    let mut parts = vec![evidence.provider.clone()];
    parts.extend(evidence.status.map(|status| status.to_string()));
    for kind in [SegmentKind::Code, SegmentKind::Type] {
        let mut names: Vec<&str> = evidence.of(kind).collect();
        names.sort_unstable();
        names.dedup();
        parts.extend(names.into_iter().map(|name| stretches(name, "").join(" ")));
    }
    let mut texts: Vec<&str> = evidence.texts().collect();
    texts.dedup();
    let before = parts.len();
    for text in &texts {
        parts.extend(stretches(text, &evidence.model).into_iter().map(str::to_owned));
    }
    if parts.len() == before {
        // Nothing of it is stable: the text itself is all there is.
        parts.extend(texts.into_iter().map(str::to_owned));
    }
    parts.retain(|part| !part.is_empty());
    parts.join(" | ").chars().take(LONGEST).collect()
}

/// The stretches of a folded text that hold no number, id, quotation, address or path, nor the name of
/// `model` (empty: unknown), cut at the ends of sentences. Each begins and ends with a letter.
#[must_use]
pub fn stretches<'t>(text: &'t str, model: &str) -> Vec<&'t str> {
    places(text, model).into_iter().filter_map(|place| text.get(place)).collect()
}

/// Where [`stretches`] lie in the text.
pub(crate) fn places(text: &str, model: &str) -> Vec<Range<usize>> {
    let mut found = Found::default();
    let (mut at, mut before) = (0, "");
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if let Some(length) = quotation(text, at) {
            found.close();
            at += length;
            continue;
        }
        let length = word(rest);
        if let Some(word) = rest.get(..length).filter(|word| !word.is_empty()) {
            // What follows the word `model` or the like and is joined by `-` is the name of one.
            let named = is_before_name(before) && word.contains(['-', '_']);
            if is_stable(word, model) && !named {
                found.add(at..at + length);
            } else {
                found.close();
            }
            at += length;
            // `session of`, `node id` and the like say no less.
            if word.len() > 2 {
                before = word;
            }
            continue;
        }
        let Some(c) = rest.chars().next() else { break };
        let goes_on = c == ' ' || (c == ',' && rest.get(1..).is_some_and(|rest| rest.starts_with(' ')));
        if !goes_on {
            found.close();
        }
        at += c.len_utf8();
    }
    found.close();
    found.out
}

#[derive(Default)]
struct Found {
    open: Option<Range<usize>>,
    out: Vec<Range<usize>>,
}

impl Found {
    fn add(&mut self, word: Range<usize>) {
        match &mut self.open {
            Some(open) => open.end = word.end,
            None => self.open = Some(word),
        }
    }

    fn close(&mut self) {
        self.out.extend(self.open.take());
    }
}

/// The length of a quotation that begins at `at`.
fn quotation(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let open = rest.chars().next()?;
    let close = match open {
        '"' | '\'' | '`' => open,
        '「' => '」',
        '《' => '》',
        '【' => '】',
        _ => return None,
    };
    let alone = |c: Option<char>| c.is_none_or(|c| !c.is_ascii_alphanumeric());
    if !alone(text.get(..at)?.chars().next_back()) {
        return None;
    }
    let inner = rest.get(open.len_utf8()..)?;
    let end = inner.match_indices(close).map(|(end, _)| end).find(|end| {
        *end > 0 && alone(inner.get(end + close.len_utf8()..).and_then(|after| after.chars().next()))
    })?;
    (end <= QUOTED).then_some(open.len_utf8() + end + close.len_utf8())
}

/// The length of the word at the start of `rest`: up to a blank or to punctuation that ends it. Letters
/// of scripts without blanks make a word of their own.
fn word(rest: &str) -> usize {
    let plain = |c: char| c.is_ascii_alphanumeric();
    let wide = |c: char| !c.is_ascii() && c.is_alphabetic();
    let Some(first) = rest.chars().next() else { return 0 };
    if wide(first) {
        return rest.find(|c| !wide(c)).unwrap_or(rest.len());
    }
    let end = rest.find(|c: char| c == ' ' || !c.is_ascii() && c != '…' || "\"`()[]{}<>,;!?|".contains(c));
    let word = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
    // Points, colons and quotes belong to a word only between its letters.
    let last = word.rfind(|c: char| plain(c) || c == '…' || c == '*');
    let first = word.find(|c: char| plain(c) || "…*@#$/\\~+".contains(c));
    match (first, last) {
        (Some(0), Some(last)) => {
            last + word.get(last..).and_then(|l| l.chars().next()).map_or(1, char::len_utf8)
        }
        (Some(0), None) => word.len(),
        _ => 0,
    }
}

/// Whether a word says the same every time.
fn is_stable(word: &str, model: &str) -> bool {
    let named = !model.is_empty() && (word == model || model.rsplit('/').next() == Some(word));
    let odd = word.contains(|c: char| c.is_numeric() || "@\\=…*#$~+&%".contains(c));
    let path = word.contains("://") || (word.contains('/') && word.len() > 8) || word.starts_with('/');
    let host = word.contains('.') && !word.ends_with('.');
    let joined = word.contains(['-', '_']);
    let long = word.is_ascii() && !joined && word.len() > WORD;
    !(named || odd || path || host || long || word.contains(':') || looks_like_id(word))
}

#[cfg(test)]
mod tests {
    use super::stretches;

    #[test]
    fn ids_numbers_and_quotations_are_taken_out() {
        let text = "error code: 429 - workspace 'blue-fox' has used all 15,000 of its tokens (request id: req_01abc). see https://acme.dev/x";
        let found = stretches(text, "");
        assert_eq!(found, ["error code", "workspace", "has used all", "of its tokens", "request id", "see"]);
        assert_eq!(
            stretches("you don't have access to model acme/big now", "acme/big"),
            ["you don't have access to model", "now"]
        );
        assert_eq!(stretches("failed to invoke model big-one now", ""), ["failed to invoke model", "now"]);
        assert_eq!(
            stretches(
                "session of prod-eu-main lost deadbeef, node pool-west-blue is gone for req_deadbeef now",
                ""
            ),
            ["session of", "lost", "node", "is gone for", "now"]
        );
        assert_eq!(stretches("your quota, it seems, is gone.", ""), ["your quota, it seems, is gone"]);
        assert_eq!(stretches("账户余额不足，请充值。单号12ab", ""), ["账户余额不足", "请充值", "单号"]);
        assert_eq!(stretches("12 \"x\" ... '", ""), [""; 0]);
    }

    proptest::proptest! {
        #[test]
        fn of_any_text_nothing_but_words_is_left(text in "[a-z0-9 '\"`.,:;()/_{}…「」余额-]{0,80}|\\PC{0,40}") {
            let mut rest = text.as_str();
            for stretch in stretches(&text, "m") {
                let at = rest.find(stretch).expect("stretches stand in the text, in order");
                rest = &rest[at + stretch.len()..];
                assert!(!stretch.is_empty() && !stretch.contains(char::is_numeric), "{stretch}");
            }
        }
    }
}
