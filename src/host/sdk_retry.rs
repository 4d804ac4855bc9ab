//! Whether a provider's SDK may wait and retry by itself (E9).

use std::time::Duration;

use crate::{
    signal::Headers,
    table::Table,
    time::{Timestamp, Unit, parse_in},
};

/// What an SDK should do about an answer (E9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SdkRetry {
    /// It may wait as long as the provider asks, and call again. `None`: the provider names no
    /// time, so the SDK's own backoff counts.
    RetryAfter(Option<Duration>),
    /// The provider asks for a longer wait than the rules allow: report the failure now, so that
    /// failover can run.
    Refuse(Duration),
    /// The rules name no retry for this status.
    NotRetryable,
}

/// E9: what an SDK should do about an answer with this status and these headers, by the rules'
/// `sdk retry`. `retry-after-ms` counts before `retry-after`, which is seconds or an HTTP date seen
/// from `now`; a header that is neither counts as absent. A zero limit
/// (`POINTSMAN_SDK_RETRY_MAX_WAIT_SECONDS` being `0`, `false`, `off`, `none` or `disabled`) lets
/// SDKs wait for any time.
#[must_use]
pub fn sdk_retry(table: &Table, status: u16, headers: Headers<'_>, now: Timestamp) -> SdkRetry {
    let Some(slot) = &table.policy().sdk_retry else { return SdkRetry::NotRetryable };
    if !slot.node.statuses.iter().any(|(first, last)| (*first..=*last).contains(&status)) {
        return SdkRetry::NotRetryable;
    }
    let at_most = table.settings().duration(slot.node.at_most, None);
    match asked(headers, now) {
        Some(wait) if !at_most.is_zero() && wait > at_most => SdkRetry::Refuse(wait),
        wait => SdkRetry::RetryAfter(wait),
    }
}

/// The wait that the headers ask for.
fn asked(headers: Headers<'_>, now: Timestamp) -> Option<Duration> {
    let read = |wanted: &str, units: &[Unit]| {
        let (_, value) = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted))?;
        units.iter().find_map(|unit| parse_in(value, *unit, now)).map(|until| until.since(now))
    };
    read("retry-after-ms", &[Unit::Milliseconds])
        .or_else(|| read("retry-after", &[Unit::Seconds, Unit::Date]))
}
