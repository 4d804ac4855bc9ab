//! Words that decide nothing alone, found without the lint's own list: in the corpus, and in any English text.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::support::root;

/// The hundred most frequent words of English.
const ENGLISH: &str = "the be to of and a in that have i it for not on with he as you do at this but his by \
    from they we say her she or an will my one all would there their what so up out if about who get which go \
    me when make can like time no just him know take people into year your good some could them see other than \
    then now look only come its over think also back after use two how our work first well way even new want \
    because any these give day most us";

/// By word: how many errors of the corpus hold it, by the bucket that they belong into.
pub struct Words(BTreeMap<String, BTreeMap<String, usize>>);

impl Words {
    pub fn of_the_corpus() -> Self {
        let mut found: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
        for file in ["extra.jsonl", "field.jsonl", "reference-host.jsonl"] {
            let text = std::fs::read_to_string(root().join("tests/corpus").join(file)).unwrap();
            for line in text.lines() {
                let error: Value = serde_json::from_str(line).unwrap();
                let (message, truth) =
                    (error["message"].as_str().unwrap_or(""), error["truth"].as_str().unwrap());
                // What no rule should match.
                let bucket = if ["none", "unknown"].contains(&truth) { "unclassified" } else { truth };
                let message = message.to_ascii_lowercase();
                let words: BTreeSet<&str> = message.split(|c: char| !c.is_ascii_alphanumeric()).collect();
                for word in words.into_iter().filter(|word| is_word(word)) {
                    *found.entry(word.into()).or_default().entry(bucket.into()).or_default() += 1;
                }
            }
        }
        Self(found)
    }

    /// Words of which a rule alone would be wrong at least as often as right, whatever its bucket: eight errors
    /// or more of four buckets, no half of them of one; and the bucket of most of them.
    fn broad(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().filter_map(|(word, buckets)| {
            let all = buckets.values().sum::<usize>();
            let (bucket, most) = buckets.iter().max_by_key(|(_, count)| **count)?;
            (buckets.len() >= 4 && all >= 8 && 2 * most <= all).then_some((word.as_str(), bucket.as_str()))
        })
    }

    /// Words of four errors or more, all of one bucket, and that bucket.
    pub fn telling(&self) -> impl Iterator<Item = (&str, &str)> {
        let everyday: BTreeSet<&str> = ENGLISH.split_whitespace().collect();
        self.0.iter().filter_map(move |(word, buckets)| {
            let (bucket, count) = buckets.iter().next()?;
            let one = buckets.len() == 1 && *count >= 4 && !everyday.contains(word.as_str());
            one.then_some((word.as_str(), bucket.as_str()))
        })
    }
}

/// The words of [`Words::broad`] and those of any English text, each with the bucket that it would suit best.
pub fn broad() -> Vec<(String, String)> {
    let words = Words::of_the_corpus();
    let everyday = ENGLISH.split_whitespace().map(|word| (word, "timeout"));
    let all: BTreeMap<&str, &str> = everyday.chain(words.broad()).collect();
    all.into_iter().map(|(word, bucket)| (word.to_owned(), bucket.to_owned())).collect()
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphabetic())
}
