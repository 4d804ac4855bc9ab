//! The cap on waits inside a provider's SDK (E9).

use std::time::Duration;

use pointsman::{
    config::{Config, Outside},
    host::{SdkRetry, sdk_retry},
    signal::Headers,
    table::Table,
    time::Timestamp,
};

use crate::support::{lab::START, rules::rules};

fn table(env: Option<&str>) -> Table {
    let (rules, _) = rules().unwrap();
    let config = Config::default();
    let env =
        move |name: &str| env.filter(|_| name == "POINTSMAN_SDK_RETRY_MAX_WAIT_SECONDS").map(str::to_owned);
    Table::compile(rules, &Outside { config: &config, env: &env }).unwrap()
}

fn ask(table: &Table, status: u16, headers: &[(&str, &str)]) -> SdkRetry {
    sdk_retry(table, status, Headers::Borrowed(headers), START)
}

fn after(seconds: f64) -> SdkRetry {
    SdkRetry::RetryAfter(Some(Duration::from_secs_f64(seconds)))
}

#[test]
fn e9_which_statuses_may_be_retried() {
    let table = table(None);
    for status in [408, 409, 429, 500, 503, 529, 599] {
        assert_eq!(ask(&table, status, &[]), SdkRetry::RetryAfter(None), "{status}");
    }
    for status in [200, 400, 401, 402, 403, 404, 410, 499, 600] {
        assert_eq!(ask(&table, status, &[("retry-after", "1")]), SdkRetry::NotRetryable, "{status}");
    }
}

#[test]
fn e9_waits_of_more_than_a_minute_are_refused() {
    let table = table(None);
    assert_eq!(ask(&table, 429, &[("Retry-After", "60")]), after(60.0));
    assert_eq!(ask(&table, 429, &[("retry-after", "61")]), SdkRetry::Refuse(Duration::from_secs(61)));
    assert_eq!(ask(&table, 429, &[("retry-after", "1.5")]), after(1.5));
}

#[test]
fn e9_milliseconds_before_seconds_and_dates() {
    let table = table(None);
    assert_eq!(ask(&table, 503, &[("retry-after", "90"), ("retry-after-ms", "250")]), after(0.25));
    assert_eq!(ask(&table, 503, &[("retry-after-ms", "soon"), ("retry-after", "9")]), after(9.0));
    assert_eq!(START, Timestamp::from_millis(1_800_000_000_000), "Fri, 15 Jan 2027 08:00:00 GMT");
    assert_eq!(ask(&table, 503, &[("retry-after", "Fri, 15 Jan 2027 08:00:30 GMT")]), after(30.0));
    assert_eq!(ask(&table, 503, &[("retry-after", "Fri, 15 Jan 2027 07:00:00 GMT")]), after(0.0), "past");
    assert_eq!(
        ask(&table, 503, &[("retry-after", "Fri, 15 Jan 2027 09:00:00 GMT")]),
        SdkRetry::Refuse(Duration::from_hours(1))
    );
    assert_eq!(ask(&table, 503, &[("retry-after", "later")]), SdkRetry::RetryAfter(None));
}

#[test]
fn e9_the_environment_sets_the_cap_or_lets_sdks_wait() {
    let hour = [("retry-after", "3600")];
    assert_eq!(ask(&table(Some("7200")), 429, &hour), after(3_600.0));
    assert_eq!(
        ask(&table(Some("5")), 429, &[("retry-after", "6")]),
        SdkRetry::Refuse(Duration::from_secs(6))
    );
    for off in ["0", "false", "OFF", "none", "disabled"] {
        assert_eq!(ask(&table(Some(off)), 429, &hour), after(3_600.0), "{off}");
    }
}
