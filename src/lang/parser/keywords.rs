//! The words that the language keeps for itself, by what they do.

/// Words that can only begin a statement or a line of a rule.
pub const OPENERS: &[&str] = &[
    "alias",
    "allow",
    "bucket",
    "counterexample",
    "drop",
    "example",
    "extend",
    "group",
    "language",
    "let",
    "list",
    "observe",
    "replace",
    "rule",
    "setting",
    "use",
];

/// Every word that begins a statement.
pub const FIRST: &[&str] = &[
    "alias",
    "allow",
    "backoff",
    "bucket",
    "budget",
    "counterexample",
    "drop",
    "example",
    "extend",
    "forget",
    "group",
    "in",
    "language",
    "let",
    "list",
    "notice",
    "observe",
    "on",
    "order",
    "pin",
    "probe",
    "provider",
    "replace",
    "reset",
    "rule",
    "sdk",
    "set",
    "setting",
    "skip",
    "source",
    "test",
    "use",
];

/// The fields that conditions can ask about.
pub const FIELDS: &[&str] = &[
    "aborted",
    "body",
    "code",
    "detail",
    "echo",
    "header",
    "leading_number",
    "message",
    "model",
    "param",
    "provider",
    "status",
    "text",
    "type",
    "wrapper",
];

/// Words of closed sets that the grammar holds in one rule: units, lanes, kinds, events.
pub const CHOICES: &[&str] = &[
    "agent",
    "api_key",
    "auto",
    "blocked",
    "compaction",
    "cooldown",
    "cron",
    "date",
    "deadline",
    "default",
    "disable",
    "duration",
    "epoch",
    "host",
    "hours",
    "legacy",
    "milliseconds",
    "minutes",
    "model",
    "oauth",
    "profile",
    "reset",
    "seconds",
    "token",
    "user",
];

/// Whether a name cannot be this word.
pub fn is_reserved(word: &str) -> bool {
    let more = [
        "after",
        "and",
        "as",
        "at",
        "before",
        "by",
        "every",
        "from",
        "no",
        "not",
        "or",
        "otherwise",
        "reaction",
        "when",
        "within",
        "with",
        "any",
        "all",
        "contains",
        "has",
        "is",
        "matches",
        "starts",
    ];
    FIRST.contains(&word) || FIELDS.contains(&word) || more.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::{
        super::grammar::{Rule, read},
        *,
    };

    #[test]
    fn the_grammar_reserves_the_same_words() {
        let more = ["and", "or", "no", "with", "every", "rules", "inside", "android", "text_of"];
        for word in FIRST.iter().chain(FIELDS).chain(OPENERS).copied().chain(more) {
            let text = format!("let {word} = a");
            assert_eq!(read(Rule::statement, &text, 0..text.len()).is_err(), is_reserved(word), "{word}");
        }
    }
}
