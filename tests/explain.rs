//! Explanations: they agree with the verdict, show the text that decided, and name what was missing.

use pointsman::{
    classify::{Explanation, Scratch, explain},
    signal::Signal,
    time::Timestamp,
};

use crate::{
    classify::{message, table},
    oracle::{corpus, shipped},
    support::with_snapshots,
};

const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);

fn explained(rules: &str, signal: &Signal) -> Explanation {
    explain(&table(rules), &signal.as_ref(), NOW)
}

#[test]
fn it_agrees_with_the_verdict_on_the_corpus() {
    let table = shipped();
    let mut scratch = Scratch::default();
    for signal in ["field.jsonl", "reference-host.jsonl"].iter().flat_map(|name| corpus(name)) {
        let verdict = table.classify(&signal.as_ref(), &mut scratch);
        let shown = explain(&table, &signal.as_ref(), NOW);
        assert_eq!(shown.verdict, verdict, "{:?}", signal.message);
        let (last, before) = match shown.considered.split_last() {
            Some((last, before)) if verdict.rule.is_some() => (Some(last), before),
            _ => (None, shown.considered.as_slice()),
        };
        if let Some(last) = last {
            assert!(last.holds, "{} decides and holds: {:?}", last.rule, signal.message);
            assert_eq!(Some(&last.rule), shown.rule.as_ref().map(|rule| &rule.name));
        }
        for rule in before {
            assert!(
                !rule.holds || rule.observe,
                "{} holds, yet did not decide: {:?}",
                rule.rule,
                signal.message
            );
        }
    }
}

#[test]
fn the_text_that_decided_is_shown_as_it_came() {
    let shown =
        explained("rule it -> a when text has \"rate limit\"\n", &message("Sorry:  RATE_LIMIT   “reached”"));
    let hit = shown.considered[0].tests[0].hit.as_ref().unwrap();
    assert_eq!((hit.field.as_str(), hit.start, hit.text.as_str()), ("message", 8, "RATE_LIMIT"));
}

#[test]
fn nearest_rules_name_what_failed() {
    let shown = explained(
        "group paying when status is 402 {\n  rule window -> a when text has \"weekly\" and text has \"resets\"\n}\n\
         rule far -> b when text has \"far\" and code is \"x\"\n",
        &Signal { status: Some(402), ..message("weekly allowance is gone") },
    );
    assert_eq!(shown.bucket, "unclassified");
    let near = &shown.nearest[0];
    assert_eq!((near.rule.as_str(), near.held, near.failed.len()), ("paying.window", 2, 1));
    assert_eq!(near.failed[0].what, "text has \"resets\"");
    assert_eq!(shown.nearest.len(), 1, "a rule of which nothing holds is not near");
}

#[test]
fn of_a_blocks_guard_each_part_counts() {
    let shown = explained(
        "group paying when status is 402 and text has \"weekly\" and code is \"x\" {\n  \
         rule window -> a when text has \"allowance\"\n}\n",
        &Signal { status: Some(402), ..message("weekly allowance") },
    );
    let near = &shown.nearest[0];
    let failed: Vec<&str> = near.failed.iter().map(|test| test.what.as_str()).collect();
    assert_eq!((near.held, failed), (3, vec!["code is \"x\""]));
}

#[test]
fn j6_headers_that_no_rule_reads_keep_their_value_to_themselves() {
    let shown = explained(
        "rule it -> a when header \"x-kind\" is \"odd\"\n",
        &Signal {
            headers: vec![("X-Kind".into(), "odd".into()), ("Authorization".into(), "sk-planted".into())],
            ..message("no")
        },
    );
    assert_eq!(shown.bucket, "a");
    let (text, json) = (shown.to_string(), serde_json::to_string(&shown).unwrap());
    assert!(text.contains("authorization") && !text.contains("sk-planted") && !json.contains("sk-planted"));
}

/// What a header held is shown where a rule reads it, however deep it asks.
#[test]
fn headers_that_a_rule_reads_are_shown() {
    for condition in [
        "header \"x-kind\" is \"odd\"",
        "not header \"x-kind\" is \"even\"",
        "text has \"no\" and header \"x-kind\" is present",
        "(text has \"yes\" or header \"x-kind\" is \"odd\")",
    ] {
        let shown = explained(
            &format!("rule it -> a when {condition}\n"),
            &Signal { headers: vec![("X-Kind".into(), "odd".into())], ..message("no") },
        );
        assert_eq!(shown.bucket, "a");
        assert_eq!(shown.found.headers[0].value.as_deref(), Some("odd"), "{condition}");
    }
}

#[test]
fn of_a_long_text_the_middle_is_left_out() {
    let shown = explained(
        "rule it -> a when text matches /a+b+/ always\n",
        &message(&format!("{}{}", "a".repeat(250), "b".repeat(250))),
    );
    let (text, left) = (shown.to_string(), format!("`{} … {}`", "a".repeat(200), "b".repeat(100)));
    assert!(text.contains(&left), "{text}");
}

#[test]
fn the_guards_of_all_blocks_come_first() {
    let shown = explained(
        "group outer when status is 402 {\n  group inner when code is \"x\" {\n    rule it -> a otherwise\n  }\n}\n",
        &Signal { status: Some(402), code: Some("x".into()), ..message("code x") },
    );
    let tests: Vec<&str> = shown.considered[0].tests.iter().map(|test| test.what.as_str()).collect();
    assert_eq!(tests, ["block outer", "block inner", "otherwise"]);
}

#[test]
fn the_place_that_decided_is_the_field_asked_for() {
    let signal = Signal { code: Some("limit".into()), ..message("limit reached") };
    for (condition, field) in [
        ("code is \"limit\"", "code"),
        ("code has \"limit\"", "code"),
        ("message starts with \"limit\"", "message"),
        ("text contains \"reached\"", "message"),
    ] {
        let shown = explained(&format!("rule it -> a when {condition}\n"), &signal);
        let hit = shown.considered[0].tests[0].hit.as_ref().map(|hit| hit.field.as_str());
        assert_eq!(hit, Some(field), "{condition}");
    }
}

#[test]
fn what_is_there_and_should_not_be_keeps_a_rule_away() {
    let shown =
        explained("rule it -> a when text has \"far\" and not text has \"odd\"\n", &message("far and odd"));
    let near = &shown.nearest[0];
    assert_eq!((near.held, near.failed.len(), near.failed[0].what.as_str()), (1, 1, "not"));
}

#[test]
fn of_the_headers_the_one_asked_for_is_shown() {
    let headers = [("X-Other", "odd one"), ("X-Kind", "even"), ("X-Kind", "odd two")];
    let shown = explained(
        "rule it -> a when header \"x-kind\" contains \"odd\"\n",
        &Signal {
            headers: headers.map(|(name, value)| (name.into(), value.into())).to_vec(),
            ..message("no")
        },
    );
    let hit = shown.considered[0].tests[0].hit.as_ref().unwrap();
    assert_eq!((hit.field.as_str(), hit.text.as_str()), ("header x-kind", "odd two"));
}

/// What holds for lack of something brings no rule nearer.
#[test]
fn what_is_absent_makes_no_rule_near() {
    let shown = explained(
        "rule it -> a when not text has \"odd\" and text has \"far\" and text has \"away\"\n",
        &message("neither"),
    );
    assert!(shown.nearest.is_empty(), "{:?}", shown.nearest);
}

/// A phrase of which folding leaves nothing is nowhere, for the verdict and the explanation alike.
#[test]
fn nothing_is_found_nowhere() {
    for op in ["contains", "starts with", "has", "is"] {
        let shown = explained(
            &format!("rule it -> a when text {op} \"\u{200b}\" and text has \"any\"\n"),
            &message("any text"),
        );
        assert_eq!(shown.bucket, "unclassified", "{op}");
        assert_eq!(shown.nearest[0].held, 1, "{op}");
    }
}

#[test]
fn control_characters_never_come_out_raw() {
    let shown = explained("rule it -> a when text has \"red\"\n", &message("\u{1b}[31mred\u{7}\u{202e}"));
    let text = shown.to_string();
    assert!(text.chars().all(|c| c == '\n' || !c.is_control() && c != '\u{202e}'), "{text:?}");
}

#[test]
fn as_text() {
    let rules = "alias acme = acme-eu\nbackoff slow = steps 1m, 5m\nreset wait from header \"retry-after\" in seconds\n\
         list words = [\"too many\", \"slow down\"]\nlet busy = text has any of words\n\
         bucket limit { http 429; transient }\n\
         on limit { cooldown model using slow until reset at least 1s at most 1h; rotate up to 1; fallback }\n\
         provider acme {\n  ## Acme says it in plain words.\n  rule slow_down -> limit when busy and not code is \"fatal\"\n}\n\
         observe rule trial -> a when status is 429\n\
         rule last -> b when status in [500..599] or text matches /\\bgave up after \\d+ tries/\n";
    let mut cases = Vec::new();
    for signal in [
        Signal {
            provider: Some("acme-eu".into()),
            model: Some("big".into()),
            status: Some(429),
            headers: vec![("Retry-After".into(), "7200".into())],
            ..message(r#"upstream said: {"error":{"message":"Slow down, friend","code":"busy"}}"#)
        },
        Signal { status: Some(429), ..message("We gave up after 3 tries") },
        Signal { provider: Some("acme".into()), ..message("Who knows") },
        Signal::default(),
    ] {
        cases.push(explained(rules, &signal).to_string());
    }
    with_snapshots("explain", || insta::assert_snapshot!("as_text", cases.join("\n────\n\n")));
}
