//! A host's error as evidence: `source()` chains, facts of HTTP, what is not shown.

use std::io;

use pointsman::host::{AttemptError, Facts};

#[derive(Debug, thiserror::Error)]
#[error("the request to the model failed")]
struct Outer(#[source] Middle);

#[derive(Debug, thiserror::Error)]
#[error("error sending request")]
struct Middle(#[source] io::Error);

#[test]
fn d14_the_whole_chain_is_evidence() {
    let refused = io::Error::new(io::ErrorKind::ConnectionRefused, "connection refused by 10.0.0.1");
    let error = AttemptError::from_error(&Outer(Middle(refused)));
    let signal = error.signal();
    assert_eq!(signal.message.as_deref(), Some("the request to the model failed"));
    assert_eq!(signal.details, ["error sending request", "connection refused by 10.0.0.1"]);
    assert_eq!(signal.code.as_deref(), Some("ECONNREFUSED"));
}

#[derive(Debug, thiserror::Error)]
#[error("HTTP {status}")]
struct Http {
    status: u16,
    body: String,
}

#[derive(Debug, thiserror::Error)]
#[error("the client gave up")]
struct Client(#[source] Http);

fn facts(link: &(dyn std::error::Error + 'static)) -> Option<Facts> {
    let http: &Http = link.downcast_ref()?;
    Some(Facts {
        status: Some(http.status),
        headers: vec![("Retry-After".into(), "7".into())],
        body: Some(http.body.clone()),
        ..Facts::default()
    })
}

#[test]
fn d14_status_headers_and_body_come_through_the_hosts_reader() {
    let http = Http { status: 429, body: r#"{"error":"slow down"}"#.into() };
    let error = AttemptError::from_error_with(&Client(http), &facts);
    let signal = error.signal();
    assert_eq!(signal.status, Some(429));
    assert_eq!(signal.headers, [("Retry-After".to_owned(), "7".to_owned())]);
    assert_eq!(signal.message.as_deref(), Some(r#"{"error":"slow down"}"#));
    assert_eq!(signal.details, ["the client gave up", "HTTP 429"]);
}

#[derive(Debug, thiserror::Error)]
#[error("the tool failed")]
struct Wrapped(#[source] AttemptError);

#[test]
fn an_attempt_error_inside_another_error_keeps_what_it_knows() {
    let inner = AttemptError::new().status(402).body("no credits").partial();
    let error = AttemptError::from_error(&Wrapped(inner));
    assert_eq!(error.signal().status, Some(402));
    assert_eq!(error.signal().message.as_deref(), Some("no credits"));
    assert_eq!(error.signal().details, ["the tool failed"]);
    assert_eq!(error.to_string(), "the call broke off with status 402");
}

#[test]
fn j6_debug_and_display_show_no_text() {
    let error = AttemptError::new().status(401).body("wrong key sk-planted-0123456789").header("x", "y");
    assert_eq!(format!("{error:?}"), "AttemptError { status: Some(401), partial: false, .. }");
    assert!(!error.to_string().contains("sk-planted"));
}

#[test]
fn a_chain_that_never_ends_is_read_so_far() {
    #[derive(Debug)]
    struct Endless;
    impl std::fmt::Display for Endless {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("again")
        }
    }
    impl std::error::Error for Endless {
        fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
            Some(&Endless)
        }
    }
    assert_eq!(AttemptError::from_error(&Endless).signal().message.as_deref(), Some("again"));
}
