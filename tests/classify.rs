//! Classification by rules written out here, test by test of the language.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a test may fail so")]

use pointsman::{
    classify::Scratch,
    lang::load,
    signal::{Aborted, Signal},
    table::{NoSettings, Table},
};

/// The table of a rules text; buckets `a`, `b` and `c` are declared.
pub fn table(rules: &str) -> Table {
    let text = format!(
        "language 1\nbucket a {{ http 400 }}\nbucket b {{ http 400 }}\nbucket c {{ http 400 }}\n\
         on a {{ surface }}\non b {{ surface }}\non c {{ surface }}\n{rules}"
    );
    match load::from_text(&text) {
        Ok((set, _)) => Table::compile(set, &NoSettings).unwrap(),
        Err(error) => panic!("{:?}", error.diagnostics),
    }
}

/// The name of the bucket, and the rule if one decided.
pub fn judge(table: &Table, signal: &Signal) -> (String, Option<String>) {
    let verdict = table.classify(&signal.as_ref(), &mut Scratch::default());
    let name = verdict.rule.map(|rule| table.rule(rule).name.to_string());
    (table.bucket(verdict.bucket).name.to_string(), name)
}

/// A signal with a message alone.
pub fn message(text: &str) -> Signal {
    Signal { message: Some(text.to_owned()), ..Signal::default() }
}

fn bucket(table: &Table, signal: &Signal) -> String {
    judge(table, signal).0
}

/// Which of the signals the condition holds for.
fn holding(cond: &str, signals: &[Signal]) -> Vec<bool> {
    let table = table(&format!("rule it -> a when {cond}\n"));
    signals.iter().map(|signal| bucket(&table, signal) == "a").collect()
}

fn holds_for(cond: &str, texts: &[(&str, bool)]) {
    for (text, expected) in texts {
        assert_eq!(holding(cond, &[message(text)]), [*expected], "{cond} on {text:?}");
    }
}

#[test]
fn d1_phrases_are_words_and_blanks_are_one_letter() {
    holds_for(
        r#"text has "rate limit""#,
        &[
            ("Rate Limit reached", true),
            ("x_rate_limit_exceeded", true),
            ("Rate-Limit", true),
            ("rate  \n limit", true),
            ("corporate limits", false),
            ("rate limits", false),
            ("ratelimit", false),
            ("rate: limit", false),
        ],
    );
    holds_for(
        r#"text has "余额不足""#,
        &[("您的余额不足,请充值", true), ("余额充足", false), ("err余额不足x", true)],
    );
}

#[test]
fn d13_a_number_inside_an_id_is_no_phrase() {
    holds_for(r#"text has "429""#, &[("req_429ab", false), ("id 14290", false), ("got (429).", true)]);
}

#[test]
fn is_ignores_case_and_a_final_stop() {
    holds_for(
        r#"text is "Service busy.""#,
        &[
            ("service  BUSY", true),
            ("Service busy!", true),
            ("Service busy", true),
            ("the service busy", false),
        ],
    );
    holds_for(r#"text is "rate_limit""#, &[("rate_limit", true), ("rate-limit", false)]);
}

#[test]
fn contains_and_starts_with_are_raw() {
    holds_for(r#"text contains "ate_lim""#, &[("RATE_LIMIT", true), ("rate limit", false)]);
    holds_for(r#"text contains "quota: ""#, &[("quota: 5", true), ("quota:5", false)]);
    holds_for(r#"text starts with "Error in""#, &[("error input", true), ("an error input", false)]);
    holds_for(r#"text starts with "Error ""#, &[("error  input", true), ("errors", false)]);
}

#[test]
fn all_phrases_of_has_all_of_must_be_there() {
    holds_for(
        r#"text has all of ["quota", "daily limit"]"#,
        &[("daily limit of your quota", true), ("daily quota", false)],
    );
    let two_texts =
        Signal { message: Some("quota".into()), details: vec!["daily limit".into()], ..Signal::default() };
    assert_eq!(
        holding(r#"text has all of ["quota", "daily limit"]"#, &[two_texts]),
        [true],
        "each in some text"
    );
}

#[test]
fn no_phrase_runs_across_two_texts() {
    let two = Signal { message: Some("rate".into()), details: vec!["limit".into()], ..Signal::default() };
    assert_eq!(holding(r#"text has "rate limit""#, &[two]), [false]);
}

#[test]
fn regular_expressions_have_ascii_classes_and_fold_unless_asked() {
    holds_for(
        r"text matches /limit (exceeded|reached): \d+/",
        &[("LIMIT Reached: 5", true), ("limit reached: ٣", false), ("limit reached", false)],
    );
    holds_for(r"text matches /\bQuota Exceeded/c", &[("Quota Exceeded", true), ("quota exceeded", false)]);
    // Folding makes blanks of control characters.
    holds_for(
        r"text matches /\x1b\[31mout of quota/c",
        &[("\u{1b}[31mout of quota", true), ("out of quota", false)],
    );
    holds_for(r"text matches /余额\x01不足/c", &[("余额\u{1}不足", true), ("余额不足", false)]);
    holds_for(
        r"text matches /no credits? - ?pay/",
        &[("no credits - pay", true), ("no credit -pay", true), ("no credits pay", false)],
    );
}

#[test]
fn d14_fields_are_evidence_of_their_own() {
    let signal = Signal {
        status: Some(429),
        code: Some("insufficient_quota".into()),
        error_type: Some("billing".into()),
        param: Some("max_tokens".into()),
        provider: Some("OpenAI".into()),
        model: Some("Kimi-K2".into()),
        headers: vec![("X-Should-Retry".into(), "True".into())],
        aborted: Some(Aborted::Deadline),
        message: Some(r#"{"error":{"message":"No way","input":"my rate limit"}}"#.into()),
        ..Signal::default()
    };
    for (cond, expected) in [
        (r#"code is "insufficient_quota""#, true),
        (r#"code has "quota""#, true),
        (r#"text has "insufficient quota""#, false),
        (r#"type in ["auth", "billing"]"#, true),
        ("param is present", true),
        (r#"param is "tokens""#, false),
        ("status is 429", true),
        ("status in [500..599, 402]", false),
        ("any status is 429", true),
        ("provider is openai", true),
        (r#"model is "kimi*""#, true),
        (r#"model is "kimi""#, false),
        (r#"header "x-should-retry" is "true""#, true),
        (r#"header "retry-after" is absent"#, true),
        ("aborted is deadline", true),
        ("aborted is user", false),
        ("aborted is present", true),
        ("body is json", true),
        (r#"text has "no way""#, true),
        (r#"text has "rate limit""#, false),
        (r#"not text has "no way""#, false),
        (r#"status is 429 and (text has "x" or code is present)"#, true),
    ] {
        assert_eq!(holding(cond, std::slice::from_ref(&signal)), [expected], "{cond}");
    }
    assert_eq!(holding("aborted is absent", &[signal, message("x")]), [false, true]);
}

#[test]
fn d13_echo_decides_only_by_name() {
    let rules = "list echo_keys = [\"input\"]\n";
    let signal = message(r#"{"error":{"message":"No","input":"my rate limit"}}"#);
    let by_text = table(&format!("{rules}rule it -> a when text has \"rate limit\"\n"));
    let by_name = table(&format!("{rules}rule it -> a when echo has \"rate limit\"\n"));
    assert_eq!(
        (bucket(&by_text, &signal).as_str(), bucket(&by_name, &signal).as_str()),
        ("unclassified", "a")
    );
}

#[test]
fn the_first_rule_wins_and_not_the_first_text() {
    let table = table(
        "rule detail_first -> a when text has \"second\"\nrule message_next -> b when text has \"first\"\n",
    );
    let signal =
        Signal { message: Some("first".into()), details: vec!["second".into()], ..Signal::default() };
    assert_eq!(judge(&table, &signal), ("a".to_owned(), Some("detail_first".to_owned())));
}

#[test]
fn blocks_guard_and_otherwise_closes_them() {
    let table = table(
        "group payment when status is 402 {\n  rule window -> a when text has \"resets\"\n  \
         rule rest -> b otherwise\n}\nprovider groq { rule odd -> c when text has \"odd\" }\n\
         rule late -> c when status is 402\n",
    );
    let at = |status, text: &str| Signal { status, ..message(text) };
    assert_eq!(judge(&table, &at(Some(402), "it resets")).1.as_deref(), Some("payment.window"));
    assert_eq!(judge(&table, &at(Some(402), "odd")).1.as_deref(), Some("payment.rest"));
    assert_eq!(judge(&table, &at(Some(403), "it resets")).1, None);
    let groq = Signal { provider: Some("groq".into()), ..message("odd") };
    assert_eq!(judge(&table, &groq).1.as_deref(), Some("groq.odd"));
    assert_eq!(judge(&table, &message("odd")).1, None);
}

#[test]
fn d5_a_family_shares_its_rules() {
    let table =
        table("alias openai = openai-codex\nprovider openai { rule odd -> a when text has \"odd\" }\n");
    let of = |provider: &str| Signal { provider: Some(provider.into()), ..message("odd") };
    assert_eq!(bucket(&table, &of("OpenAI-Codex")), "a");
    assert_eq!(bucket(&table, &of("openrouter")), "unclassified");
    assert_eq!(&*table.family("OpenAI-Codex"), "openai");
    assert_eq!(&*table.family("Groq"), "groq");
}

#[test]
fn observed_rules_are_told_and_decide_nothing() {
    let table = table(
        "observe rule trial -> a when text has \"odd\"\nrule real -> b when text has \"odd\"\n\
         observe rule later -> a when text has \"odd\"\n",
    );
    let verdict = table.classify(&message("odd").as_ref(), &mut Scratch::default());
    let names: Vec<&str> = verdict.observed.iter().map(|rule| &*table.rule(*rule).name).collect();
    assert_eq!((names, &*table.bucket(verdict.bucket).name), (vec!["trial"], "b"));
}

#[test]
fn d12_nothing_to_look_at_is_an_empty_response() {
    let table = table("rule it -> a when text has \"odd\"\n");
    let provider = Signal { provider: Some("groq".into()), ..Signal::default() };
    assert_eq!(bucket(&table, &provider), "empty_response");
    assert_eq!(bucket(&table, &message("  \n ")), "empty_response");
    assert_eq!(bucket(&table, &message("even")), "unclassified");
    assert_eq!(bucket(&table, &Signal { status: Some(500), ..Signal::default() }), "unclassified");
}

#[test]
fn no_rules_at_all_classify_nothing() {
    let table = table("");
    assert_eq!(judge(&table, &message("rate limit")), ("unclassified".to_owned(), None));
}

#[test]
fn the_evidence_of_the_last_error_stays_at_hand() {
    let (table, mut scratch) = (table("rule it -> a when status is 402\n"), Scratch::default());
    for status in [402, 500] {
        table.classify(&Signal { status: Some(status), ..message("no") }.as_ref(), &mut scratch);
        assert_eq!((scratch.evidence().status, scratch.evidence().segments.len()), (Some(status), 1));
    }
}
