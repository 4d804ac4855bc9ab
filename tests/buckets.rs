//! What the shipped rules take errors for (D): one test for each behaviour, on short lists of errors.
//! The corpora of `shipped_rules` are the long ones.

use std::sync::OnceLock;

use pointsman::{
    classify::Scratch,
    signal::{Aborted, Signal},
    table::{NoSettings, Table},
};

use crate::support::rules::rules;

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let (rules, _) = rules().unwrap_or_else(|error| panic!("{:?}", error.diagnostics));
        Table::compile(rules, &NoSettings).unwrap()
    })
}

fn bucket(signal: &Signal) -> String {
    let verdict = table().classify(&signal.as_ref(), &mut Scratch::default());
    table().bucket(verdict.bucket).name.to_string()
}

fn of(provider: Option<&str>, status: Option<u16>, message: &str) -> String {
    let (provider, message) = (provider.map(str::to_owned), Some(message.to_owned()));
    bucket(&Signal { provider, status, message, ..Signal::default() })
}

fn text(message: &str) -> String {
    of(None, None, message)
}

fn all(wanted: &str, messages: &[&str]) {
    for message in messages {
        assert_eq!(text(message), wanted, "{message}");
    }
}

#[test]
fn d1_a_rate_limit_is_wider_than_429() {
    all(
        "rate_limit",
        &[
            "Too many concurrent requests",
            "ThrottlingException: Rate exceeded",
            "Concurrency limit reached",
            "workers-ai quota limit exceeded",
            "The request was throttled",
            "Resource exhausted",
            "Weekly/Monthly limit reached",
        ],
    );
    assert_eq!(of(None, Some(429), "no"), "rate_limit");
}

#[test]
fn d2_overloaded_is_a_busy_provider() {
    all(
        "overloaded",
        &["overloaded_error", "ModelNotReadyException: model is not ready", "Model is at capacity"],
    );
    assert_eq!(of(None, Some(529), "no"), "overloaded");
}

#[test]
fn d3_billing_stays_billing_on_401_and_403() {
    for status in [None, Some(401), Some(402), Some(403)] {
        for message in ["Insufficient credits", "Your credit balance is too low to access the API"] {
            assert_eq!(of(None, status, message), "billing", "{status:?} {message}");
        }
    }
    assert_eq!(of(None, Some(401), "Invalid API key"), "auth");
}

#[test]
fn d4_402_is_not_always_billing() {
    for message in [
        "Weekly usage limit exhausted.",
        "Daily limit reached, resets tomorrow",
        "Organization spending limit exceeded.",
    ] {
        assert_eq!(of(None, Some(402), message), "rate_limit", "{message}");
    }
    assert_eq!(of(None, Some(402), "Payment required"), "billing");
}

#[test]
fn d5_a_providers_rules_are_its_own() {
    assert_eq!(of(Some("openrouter"), Some(403), "Key limit exceeded"), "billing");
    assert_eq!(of(None, Some(403), "Key limit exceeded"), "auth");
    assert_eq!(of(Some("openrouter"), None, "Provider returned error"), "timeout");
    assert_eq!(of(Some("openai"), None, "Provider returned error"), "unclassified");
}

#[test]
fn d6_auth_and_what_only_a_person_mends() {
    assert_eq!(of(None, Some(401), "Unauthorized"), "auth");
    assert_eq!(text("OAuth token has been revoked. Please run /login"), "auth");
    all(
        "auth_permanent",
        &["API key has been revoked", "This API key was deactivated", "The workspace has been deactivated"],
    );
}

#[test]
fn d7_timeouts_stop_reasons_and_transient_trouble() {
    all(
        "timeout",
        &[
            "Request timed out",
            "ECONNRESET",
            "Unhandled stop reason: error",
            "stop reason: error",
            "reason: error",
            "An unknown error occurred",
            r#"{"type":"error","error":{"type":"api_error","message":"Internal server error"}}"#,
            r#"{"type":"error","error":{"type":"api_error","message":"unknown error, 520"}}"#,
            r#"{"type":"error","error":{"type":"api_error","message":"upstream error"}}"#,
            r#"{"type":"error","error":{"type":"api_error","message":"backend error"}}"#,
            r#"{"type":"error","error":{"type":"server_error","message":"Provider failed"}}"#,
        ],
    );
    assert_eq!(of(Some("mistral"), None, "An unknown error occurred"), "timeout", "for every provider");
}

#[test]
fn d8_the_hosts_own_unknown_error_is_left_alone() {
    use crate::support::lab::{Lab, Reply, fails};
    assert_eq!(text("LLM request failed with an unknown error."), "unclassified");
    // It surfaces, though another candidate is left and its bucket falls back elsewhere.
    let signal =
        Signal { message: Some("LLM request failed with an unknown error.".to_owned()), ..Signal::default() };
    let mut lab = Lab::new("acme/a", &["other/b"]).keys(&["acme:x", "acme:y", "other:z"]);
    let turn = lab.turn(|_, _| Reply::Fail(signal.clone()));
    assert_eq!(turn.calls(), ["acme/a acme:x"]);
    assert_eq!(&*turn.surfaced().bucket, "unclassified");
    assert!(turn.of("window").is_empty());
    assert_eq!(lab.turn(|_, _| fails("t_odd")).attempts.len(), 2);
}

#[test]
fn d9_a_wrong_request_is_a_format_error() {
    for message in ["Unsupported parameter: 'x'", "Invalid value for 'messages'"] {
        assert_eq!(of(None, Some(400), message), "format", "{message}");
    }
    assert_eq!(
        of(Some("google"), Some(400), "messages.1.content.1.tool_use.id: String should match pattern"),
        "format",
        "the payload that a host may mend"
    );
}

#[test]
fn d10_too_long_a_prompt_is_compactions_business() {
    all(
        "context_overflow",
        &[
            "request_too_large",
            "INVALID_ARGUMENT: input exceeds the maximum number of tokens",
            "The input token count exceeds the maximum number of tokens allowed",
            "The input is too long for the model",
            "ollama error: context length exceeded",
        ],
    );
}

#[test]
fn d11_buckets_of_their_own() {
    assert_eq!(of(None, Some(404), "The model `gpt-x` does not exist"), "model_not_found");
    assert_eq!(of(None, Some(410), "session expired"), "session_expired");
    all("content_filter", &["The response was filtered by content management policy"]);
    for (by, wanted) in [(Aborted::User, "abort"), (Aborted::Host, "abort"), (Aborted::Deadline, "timeout")] {
        let signal = Signal { aborted: Some(by), message: Some("aborted".to_owned()), ..Signal::default() };
        assert_eq!(bucket(&signal), wanted, "{by:?}");
    }
    assert_eq!(text("Request was cancelled by the user"), "abort", "the text names the user");
    assert_ne!(text("The operation was aborted"), "abort", "and here it names nobody");
}

#[test]
fn d12_errors_without_detail_have_names() {
    assert_eq!(bucket(&Signal::default()), "empty_response");
    all("no_error_details", &["Unknown error (no error details in response)"]);
    all("unclassified", &["the moon is in the wrong house"]);
}

#[test]
fn d13_what_is_echoed_decides_nothing() {
    all(
        "unclassified",
        &["failed, request id req_429429", "no corporate limits apply here", "row 402 of the table is odd"],
    );
}

#[test]
fn d14_structured_fields_are_evidence_of_their_own() {
    let plain = Signal { message: Some("it did not work".to_owned()), ..Signal::default() };
    assert_eq!(bucket(&plain), "unclassified");
    assert_eq!(bucket(&Signal { code: Some("insufficient_quota".to_owned()), ..plain.clone() }), "billing");
    assert_eq!(
        bucket(&Signal { error_type: Some("overloaded_error".to_owned()), ..plain.clone() }),
        "overloaded"
    );
    let inner = r#"{"error":{"code":"rate_limit_exceeded","message":"x"}}"#;
    let outer = serde_json::json!({ "error": { "message": inner } }).to_string();
    assert_eq!(text(&outer), "rate_limit", "JSON in strings in JSON");
}
