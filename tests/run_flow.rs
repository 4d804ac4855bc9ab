//! The flow of one run (A), partial output, aborts and switches (D11, H4, H5), and the contract of
//! turns.

use std::{sync::Arc, time::Duration};

use pointsman::{lang::policy::SelectionSource, run::*, signal::Aborted, state::view::View};
use serde_json::json;

use crate::support::lab::*;

#[test]
fn a1_a7_the_primary_answers() {
    let mut lab = Lab::new("acme/a", &["other/b"]).keys(&["acme:x", "other:y"]);
    let turn = lab.ok();
    assert_eq!(turn.calls(), ["acme/a acme:x"]);
    assert_eq!(turn.names(), ["attempt", "answered"]);
    assert_eq!(turn.answered().position, 1);
    assert_eq!(turn.answered().summary.calls, 1);
    assert_eq!(
        turn.events[0],
        json!({"event": "attempt", "provider": "acme", "model": "a", "profile": "acme:x", "atMs": 0})
    );
}

#[test]
fn a3_a4_profiles_first_then_the_next_candidate() {
    let mut lab = Lab::new("acme/a", &["other/b"]).keys(&["acme:x", "acme:y", "other:z"]);
    let turn =
        lab.turn(|call, _| if call.candidate.provider == "acme" { fails("t_auth") } else { Reply::Ok });
    assert_eq!(turn.calls(), ["acme/a acme:x", "acme/a acme:y", "other/b other:z"]);
}
