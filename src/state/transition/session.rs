//! What a change does to a session (A5, A6, B3, C9, C10, K5).

use crate::{
    lang::policy::SelectionSource,
    state::{
        change::{Change, Outcome, PinBefore, Release, Rollback},
        model::{Override, Pin, Session},
    },
};

/// A compare failed: the session holds another selection than the change expects (A6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conflict;

/// Applies a session change; every other change leaves the session alone. The revision is the
/// caller's to raise.
///
/// # Errors
/// [`Conflict`] when a compare fails; the session is then untouched.
pub fn session(session: &mut Session, change: &Change) -> Result<Outcome, Conflict> {
    match change {
        Change::Select { expect, new } => {
            if !expect.holds(session.selected.as_ref()) {
                return Err(Conflict);
            }
            session.selected.clone_from(new);
        }
        Change::Rollback(rollback) => roll_back(session, rollback)?,
        Change::Pin { family, pin } => {
            let users = session.pins.get(family).is_some_and(|there| there.by_user);
            if users && !pin.by_user {
                return Ok(Outcome::Kept);
            }
            session.pins.insert(family.clone(), pin.clone());
        }
        Change::PinOver { family, pin, over } => {
            if session.pins.get(family) != over.as_ref() {
                return Ok(Outcome::Kept);
            }
            session.pins.insert(family.clone(), pin.clone());
        }
        Change::Unpin { family, whose } => match family {
            None => release(session, *whose),
            Some(family) => {
                if session.pins.get(family).is_some_and(|pin| whose.covers(pin)) {
                    session.pins.remove(family);
                } else if session.pins.contains_key(family) {
                    return Ok(Outcome::Kept);
                }
            }
        },
        Change::OriginProbed { of, at } => match session.selected.as_mut().filter(|there| there.is(of)) {
            Some(there) => there.probed_at = there.probed_at.max(Some(*at)),
            None => return Ok(Outcome::Kept),
        },
        // Two runs may use the same override at once; only one of them tells of it (J4).
        Change::Notified { of } => {
            match session.selected.as_mut().filter(|there| there.is(of) && !there.notified) {
                Some(there) => there.notified = true,
                None => return Ok(Outcome::Kept),
            }
        }
        Change::Reset { release: whose } => {
            if session.selected.as_ref().is_some_and(is_automatic) {
                session.selected = None;
            }
            release(session, *whose);
        }
        Change::New { release: whose } => {
            session.selected = None;
            release(session, *whose);
        }
        Change::Compact { release: whose } => {
            session.compaction_count = session.compaction_count.saturating_add(1);
            release(session, *whose);
        }
        Change::Failure(_)
        | Change::Success(_)
        | Change::Used { .. }
        | Change::Clear { .. }
        | Change::Adopt { .. }
        | Change::NewSecret(_) => {}
    }
    Ok(Outcome::Done)
}

impl Release {
    /// Whether `pin` goes.
    #[must_use]
    pub fn covers(self, pin: &Pin) -> bool {
        if pin.by_user { self.user } else { self.auto }
    }
}

fn release(session: &mut Session, whose: Release) {
    session.pins.retain(|_, pin| !whose.covers(pin));
}

fn is_automatic(selected: &Override) -> bool {
    selected.source == Some(SelectionSource::Auto)
}

/// A6: only while the selection still is what the run wrote, and of the pins only those that are.
fn roll_back(session: &mut Session, rollback: &Rollback) -> Result<(), Conflict> {
    if !session.selected.as_ref().is_some_and(|there| there.is(&rollback.wrote)) {
        return Err(Conflict);
    }
    session.selected.clone_from(&rollback.restore);
    for (family, PinBefore { wrote, before }) in &rollback.pins {
        if session.pins.get(family) != Some(wrote) {
            continue;
        }
        match before {
            Some(pin) => session.pins.insert(family.clone(), pin.clone()),
            None => session.pins.remove(family),
        };
    }
    Ok(())
}
