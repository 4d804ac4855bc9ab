//! A candidate whose profiles are all blocked: skipped, or probed (I).

use std::{collections::BTreeSet, time::Duration};

use super::{
    memory::{Memory, elapsed},
    seats::{Block, Scene, Seat},
    step::Probe,
    summary::SkipReason,
};
use crate::{
    lang::policy::Lane,
    state::model::{Candidate, Override},
    time::Timestamp,
};

/// What the candidate is in its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The first of the run; `alone`: there is no other.
    Primary {
        /// The run has no other candidate (I3).
        alone: bool,
    },
    /// A later one, of the same provider as an earlier one (I4).
    Sibling,
    /// Any other later one.
    Other,
}

/// What to do with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Blocked {
    /// Call it all the same.
    Probe {
        /// Position in the seats.
        seat: usize,
        /// Which probe.
        probe: Probe,
        /// The throttle that it uses up (I2, I3).
        throttle: Option<Throttle>,
    },
    /// Pass it over.
    Skip {
        /// Why.
        reason: SkipReason,
        /// The bucket of the window that ends first.
        bucket: String,
    },
}

/// What a primary's probe uses up: a provider's throttle, of one bucket or of all cooldowns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Throttle {
    pub provider: String,
    pub bucket: Option<String>,
}

/// Decides about a candidate whose seats are all blocked. `used`: providers whose transient probe of
/// this run is used up (I5). Pure; the caller notes the throttle when the probe is really made.
pub(super) fn decide(
    scene: &Scene<'_>,
    memory: &Memory,
    used: &BTreeSet<String>,
    candidate: &Candidate,
    seats: &[Seat],
    role: Role,
) -> Option<Blocked> {
    let blocks = seats.iter().enumerate().filter_map(|(at, seat)| Some((at, seat.block.as_ref()?)));
    let mut blocks: Vec<(usize, &Block)> = blocks.collect();
    blocks.sort_by_key(|(_, block)| block.until);
    let (_, soonest) = *blocks.first()?;
    let skip = |reason| Some(Blocked::Skip { reason, bucket: soonest.bucket.clone() });
    // I1: a refused credential is not worth a call, neither alone nor beside others.
    blocks.retain(|(_, block)| !block.skips_provider);
    if blocks.is_empty() {
        return skip(SkipReason::Auth);
    }
    let found = |seat, probe, throttle| Blocked::Probe { seat, probe, throttle };
    let probe = match role {
        Role::Primary { alone } => blocks.iter().find_map(|(seat, block)| {
            let throttle = primary(scene, memory, used, candidate, block, alone)?;
            Some(found(*seat, Probe::Primary, Some(throttle)))
        }),
        Role::Sibling => {
            sibling(scene, used, candidate, &blocks).map(|seat| found(seat, Probe::Sibling, None))
        }
        Role::Other => None,
    };
    match probe {
        Some(probe) => Some(probe),
        None if soonest.lane == Lane::Disable => skip(SkipReason::Disabled),
        None => skip(SkipReason::Cooldown),
    }
}

/// I2: a disable of a bucket that the rules name, throttled by itself. I3: a cooldown near its end,
/// or at any time when the run has no other candidate.
fn primary(
    scene: &Scene<'_>,
    memory: &Memory,
    used: &BTreeSet<String>,
    candidate: &Candidate,
    block: &Block,
    alone: bool,
) -> Option<Throttle> {
    let slot = scene.table.policy().probe_primary.as_ref()?;
    let provider = scene.table.present_name(&candidate.provider);
    let duration = |slot| scene.table.settings().duration(slot, Some(provider));
    let bucket = match block.lane {
        Lane::Disable => {
            let named = |id| *scene.table.bucket(id).name == *block.bucket;
            let (_, every) = slot.disabled.iter().find(|(id, _)| named(*id))?;
            if !memory.may_probe(provider, Some(&block.bucket), duration(*every), scene.now) {
                return None;
            }
            Some(block.bucket.clone())
        }
        Lane::Cooldown => {
            let near = block.until.since(scene.now) <= duration(slot.within);
            let open = memory.may_probe(provider, None, duration(slot.every), scene.now);
            if !(near || alone) || !open || used.contains(provider) {
                return None;
            }
            None
        }
    };
    Some(Throttle { provider: provider.to_owned(), bucket })
}

/// I4: a sibling is tried despite the window when the failure looks transient, with the profile that
/// is free soonest among those (`blocks` come soonest first); I5: once per provider and run.
fn sibling(
    scene: &Scene<'_>,
    used: &BTreeSet<String>,
    candidate: &Candidate,
    blocks: &[(usize, &Block)],
) -> Option<usize> {
    let slot = scene.table.policy().probe_sibling.as_ref()?;
    if slot.once_per_provider && used.contains(scene.table.present_name(&candidate.provider)) {
        return None;
    }
    let transient = |block: &Block| {
        let bucket = scene.table.bucket_named(&block.bucket);
        !slot.when_transient || bucket.is_some_and(|(_, bucket)| bucket.traits.transient)
    };
    blocks.iter().find(|(_, block)| transient(block)).map(|(at, _)| *at)
}

/// Whether a probe of the origin is due (B3): `every` after the later of the override's writing and
/// the last due probe.
pub(super) fn origin_due(
    memory: &Memory,
    session: &str,
    stored: &Override,
    origin: &Candidate,
    every: Duration,
    now: Timestamp,
) -> bool {
    let probed = [stored.probed_at, memory.origin_probed_at(session, origin)];
    let last = probed.into_iter().flatten().fold(stored.written_at, Timestamp::max);
    elapsed(last, every, now)
}
