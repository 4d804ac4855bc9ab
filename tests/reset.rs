//! Provider-given reset times (E6): where they are found, in what unit, within what bounds.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a test may fail so")]

use pointsman::{
    classify::{ResetHint, Scratch},
    lang::load,
    signal::Signal,
    table::{NoSettings, SettingSource, Table},
    time::Timestamp,
};

/// 2026-09-21T14:13:20Z.
const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);

fn table(resets: &str) -> Table {
    table_with(resets, &NoSettings)
}

fn table_with(resets: &str, settings: &dyn SettingSource) -> Table {
    let text = format!(
        "language 1\nbackoff short = steps 1m\nbucket limit {{ http 429 }}\nbucket plain {{ http 429 }}\n\
         on limit {{ cooldown profile using short until reset at least 10s at most 1h; fallback }}\n\
         on plain {{ cooldown profile using short; fallback }}\n{resets}\n\
         rule plain -> plain when text has \"plain\"\nrule rest -> limit when status is 429\n"
    );
    match load::from_text(&text) {
        Ok((set, _)) => Table::compile(set, settings).unwrap(),
        Err(error) => panic!("{:?}", error.diagnostics),
    }
}

fn signal(message: &str, headers: &[(&str, &str)]) -> Signal {
    Signal {
        status: Some(429),
        message: Some(message.to_owned()),
        headers: headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        received_at: Some(NOW),
        ..Signal::default()
    }
}

fn hint(resets: &str, signal: &Signal) -> Option<ResetHint> {
    table(resets).classify(&signal.as_ref(), &mut Scratch::default()).reset
}

/// Seconds from now that count, and that were given.
fn seconds(resets: &str, message: &str, headers: &[(&str, &str)]) -> Option<(u64, u64)> {
    let away = |at: Timestamp| at.since(NOW).as_secs();
    hint(resets, &signal(message, headers)).map(|hint| (away(hint.at), away(hint.given)))
}

#[test]
fn e6_headers_in_their_units() {
    let rules = "reset r from header \"retry-after\" in seconds, date";
    assert_eq!(seconds(rules, "x", &[("Retry-After", "90")]), Some((90, 90)));
    assert_eq!(seconds(rules, "x", &[("retry-after", "Mon, 21 Sep 2026 14:15:20 GMT")]), Some((120, 120)));
    assert_eq!(seconds(rules, "x", &[("retry-after", "soon")]), None);
    assert_eq!(seconds(rules, "x", &[]), None);
    assert_eq!(
        seconds("reset r from header \"x-reset\" in duration", "x", &[("x-reset", "6m0s")]),
        Some((360, 360))
    );
}

#[test]
fn e6_of_several_headers_the_latest_counts() {
    let rules = "reset r from header \"lab-*-reset\" in seconds";
    let headers = [("lab-requests-reset", "20"), ("lab-tokens-reset", "50"), ("lab-input-reset", "30")];
    assert_eq!(seconds(rules, "x", &headers), Some((50, 50)));
}

#[test]
fn e6_fields_at_any_level() {
    let rules = "reset r from field \"resets_in_seconds\" in seconds";
    let body = r#"{"error":{"message":"limit","details":{"resets_in_seconds":600}}}"#;
    assert_eq!(seconds(rules, body, &[]), Some((600, 600)));
}

#[test]
fn e6_texts_by_the_group_t() {
    let rules = r"reset r from text /try again in (?<t>[0-9hms.]+)/ in duration";
    assert_eq!(seconds(rules, "Please Try again in 12m3s.", &[]), Some((723, 723)));
    assert_eq!(seconds(rules, "Please try later", &[]), None);
    let dated = r"reset r from text /access on (?<t>\d{4}-\d{2}-\d{2} at \d{2}:\d{2} utc)/ in date";
    assert_eq!(seconds(dated, "You regain access on 2026-09-21 at 14:30 UTC", &[]), Some((1_000, 1_000)));
}

#[test]
fn e6_the_first_declaration_that_yields_wins() {
    let rules = "reset a from header \"x-a\" in seconds\nreset b from header \"x-b\" in seconds";
    assert_eq!(seconds(rules, "x", &[("x-b", "40"), ("x-a", "30")]), Some((30, 30)));
    assert_eq!(seconds(rules, "x", &[("x-b", "40"), ("x-a", "?")]), Some((40, 40)));
}

#[test]
fn e6_hints_are_clamped_and_keep_what_was_given() {
    let rules = "reset r from header \"retry-after\" in seconds";
    assert_eq!(seconds(rules, "x", &[("retry-after", "1")]), Some((10, 1)));
    assert_eq!(seconds(rules, "x", &[("retry-after", "1555200")]), Some((3_600, 1_555_200)), "18 days");
    let endless = "9".repeat(26);
    let found = hint(rules, &signal("x", &[("retry-after", &endless)])).unwrap();
    assert_eq!(found.at.since(NOW).as_secs(), 3_600, "a number of any length is a long wait, not none");
    assert!(found.clamped());
    let found = hint(rules, &signal("x", &[("retry-after", "60")])).unwrap();
    assert!(!found.clamped());
}

#[test]
fn e6_c11_a_trusted_declaration_reaches_further() {
    let rules = "reset r from field \"resets_in_seconds\" in seconds trusted up to 8d";
    let body = |seconds: u64| format!(r#"{{"error":{{"message":"limit","resets_in_seconds":{seconds}}}}}"#);
    assert_eq!(seconds(rules, &body(500_000), &[]), Some((500_000, 500_000)));
    assert_eq!(seconds(rules, &body(900_000), &[]), Some((691_200, 900_000)));
}

#[test]
fn e6_only_a_reaction_that_asks_gets_a_hint() {
    let rules = "reset r from header \"retry-after\" in seconds";
    assert_eq!(seconds(rules, "plain", &[("retry-after", "60")]), None);
}

#[test]
fn e6_a_condition_of_the_declaration_holds_it_back() {
    let rules = "reset r from header \"retry-after\" in seconds when provider is acme";
    let mut error = signal("x", &[("retry-after", "60")]);
    assert_eq!(hint(rules, &error), None);
    error.provider = Some("acme".into());
    assert!(hint(rules, &error).is_some());
}

#[test]
fn e6_without_a_clock_there_is_no_hint() {
    let rules = "reset r from header \"retry-after\" in seconds";
    let error = Signal { received_at: None, ..signal("x", &[("retry-after", "60")]) };
    assert_eq!(hint(rules, &error), None);
}

#[test]
fn e6_a_time_long_past_is_the_least_wait() {
    let rules = "reset r from header \"x-reset\" in epoch";
    assert_eq!(seconds(rules, "x", &[("x-reset", "1700000000")]), Some((10, 0)));
}

/// The group alone is the time, wherever it stands in what the expression matches.
#[test]
fn e6_only_the_group_is_read() {
    let rules = r"reset r from text /(again|back) in (?<t>\d+) of (\d+) seconds/ in seconds";
    assert_eq!(seconds(rules, "try again in 30 of 90 seconds", &[]), Some((30, 30)));
    let last = format!("reset r from text /{}in (?<t>\\d+) seconds/ in seconds", "(try )".repeat(14));
    assert_eq!(
        seconds(&last, &format!("{}in 30 seconds", "try ".repeat(14)), &[]),
        Some((30, 30)),
        "the 15th"
    );
}

/// Acme's own value of every setting is an hour.
struct Acme;

impl SettingSource for Acme {
    fn config(&self, _: &str) -> Option<f64> {
        None
    }
    fn config_by_provider(&self, _: &str) -> Vec<(String, f64)> {
        vec![("acme".to_owned(), 1.0)]
    }
    fn env(&self, _: &str) -> Option<String> {
        None
    }
}

#[test]
fn a_providers_own_setting_bounds_its_hints() {
    let rules = "setting far = 2h from config \"a\" in hours by provider from config \"b\" in hours\n\
                 reset r from header \"retry-after\" in seconds trusted up to far";
    let table = table_with(rules, &Acme);
    for (provider, seconds) in [(Some("acme"), 3_600), (Some("other"), 7_200), (None, 7_200)] {
        let error =
            Signal { provider: provider.map(str::to_owned), ..signal("x", &[("retry-after", "99999")]) };
        let hint = table.classify(&error.as_ref(), &mut Scratch::default()).reset.unwrap();
        assert_eq!(hint.at.since(NOW).as_secs(), seconds, "{provider:?}");
    }
}
