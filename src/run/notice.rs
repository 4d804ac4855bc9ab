//! Notices for the user: once per change of state (J4).

use serde::Serialize;

use crate::{lang::policy::Policy, state::model::Candidate};

/// An operational message for the user; no assistant content (J4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Notice {
    /// The whole text.
    pub text: String,
    /// What changed.
    pub kind: NoticeKind,
    /// How it is to be delivered.
    pub delivery: Delivery,
}

/// What changed (J4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NoticeKind {
    /// The session has moved onto a fallback.
    Fallback,
    /// It has returned.
    Cleared,
}

/// The delivery contract of a notice (J4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "one flag for each clause of the contract")]
pub struct Delivery {
    /// To the surface that the reply goes to.
    pub same_reply_surface: bool,
    /// Also on turns that have side effects only.
    pub on_side_effect_turns: bool,
    /// Whatever suppresses normal replies does not hold it back.
    pub bypass_reply_suppression: bool,
    /// It takes the first-reply slot of a thread.
    pub takes_first_reply_slot: bool,
    /// It is spoken.
    pub spoken: bool,
    /// It is mined for commitments.
    pub mined_for_commitments: bool,
    /// It is assistant content.
    pub assistant_content: bool,
}

impl Delivery {
    /// The contract of every notice (J4).
    pub const OPERATIONAL: Self = Self {
        same_reply_surface: true,
        on_side_effect_turns: true,
        bypass_reply_suppression: true,
        takes_first_reply_slot: false,
        spoken: false,
        mined_for_commitments: false,
        assistant_content: false,
    };
}

/// The notice that the session has moved onto a fallback; `None` when no rule words one.
pub(super) fn fallback(
    policy: &Policy,
    fallback: &Candidate,
    selected: &Candidate,
    reason: &str,
) -> Option<Notice> {
    let text = policy
        .notice_fallback
        .as_ref()?
        .replace("{fallback}", &full(fallback))
        .replace("{selected}", &full(selected))
        .replace("{reason}", reason);
    Some(Notice { text, kind: NoticeKind::Fallback, delivery: Delivery::OPERATIONAL })
}

/// The notice that it has returned; `None` when no rule words one.
pub(super) fn cleared(policy: &Policy, selected: &Candidate, fallback: &Candidate) -> Option<Notice> {
    let text = policy
        .notice_cleared
        .as_ref()?
        .replace("{selected}", &full(selected))
        .replace("{fallback}", &full(fallback));
    Some(Notice { text, kind: NoticeKind::Cleared, delivery: Delivery::OPERATIONAL })
}

/// `provider/model`, as people read it.
pub(super) fn full(candidate: &Candidate) -> String {
    format!("{}/{}", candidate.provider, candidate.model)
}
