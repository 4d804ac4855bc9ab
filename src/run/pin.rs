//! Profiles pinned to a session: the user's, strict (C10), and the engine's, a preference (C9).

use super::seats::{Seat, Seats};
use crate::{
    lang::policy::{PinPolicy, Policy},
    state::model::{Pin, ProfileId, Session},
    table::Table,
};

/// Applies the session's pin for a candidate's provider to its seats.
///
/// A user's pin leaves its own profile only, blocked or not; if that profile is not eligible, none
/// (C10). An automatic pin goes first unless it is released (C9).
pub(super) fn seat<'a>(table: &Table, session: &Session, provider: &str, seats: Seats<'a>) -> Seats<'a> {
    let policy = table.policy();
    let Some(pin) = session.pins.get(provider) else { return seats };
    let its = seats.named(&pin.profile);
    if pin.by_user {
        let slot = policy.pin_user.as_ref().map(|slot| slot.node).unwrap_or_default();
        return if released(slot, pin, session, &its) { seats } else { seats.only(its) };
    }
    let Some(slot) = &policy.pin_auto else { return seats };
    match its.first() {
        Some(now) if !released(slot.node, pin, session, &its) => {
            let first = returns_to(slot.node, pin, now, &seats).unwrap_or(*now);
            seats.beginning_with(first)
        }
        _ => seats,
    }
}

/// Whether an automatic pin is to be written, and which, when `profile` is about to be used or has
/// answered (C9). It remembers the profile that it displaced: the one pinned before, else `head`, the
/// first in the order when the run came to this candidate. That is asked for only then.
pub(super) fn pin(
    policy: &Policy,
    session: &Session,
    provider: &str,
    profile: &ProfileId,
    head: impl FnOnce() -> Option<ProfileId>,
) -> Option<Pin> {
    let slot = policy.pin_auto.as_ref()?.node;
    let there = session.pins.get(provider);
    if there.is_some_and(|pin| pin.by_user) {
        return None;
    }
    let compacted =
        |pin: &&Pin| !slot.release_on_compaction || pin.compaction_count == session.compaction_count;
    let displaced = match there.filter(compacted) {
        Some(pin) => Some(pin.displaced.clone().unwrap_or_else(|| pin.profile.clone())),
        None => head(),
    };
    let new = Pin {
        profile: profile.clone(),
        by_user: false,
        compaction_count: session.compaction_count,
        displaced: displaced.filter(|displaced| displaced != profile),
    };
    (there != Some(&new)).then_some(new)
}

/// Whether a pin no longer holds. A pin that is blocked for another model only is not released: the
/// block of `its` seats is about the candidate's model.
fn released(slot: PinPolicy, pin: &Pin, session: &Session, its: &[Seat<'_>]) -> bool {
    (slot.release_on_compaction && pin.compaction_count != session.compaction_count)
        || (slot.release_on_blocked && its.iter().any(|seat| seat.block.is_some()))
}

/// `return when free`: the displaced profile, when it is free and stands earlier in the order.
fn returns_to<'a>(slot: PinPolicy, pin: &Pin, now: &Seat<'_>, seats: &Seats<'a>) -> Option<Seat<'a>> {
    let displaced = pin.displaced.as_ref().filter(|_| slot.return_when_free)?;
    let back = *seats.named(displaced).first()?;
    (back.block.is_none() && back.place < now.place).then_some(back)
}
