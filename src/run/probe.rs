//! A candidate whose profiles are all blocked: skipped, or probed (I).

use std::{collections::BTreeSet, time::Duration};

use super::{
    memory::{Memory, elapsed},
    seats::{Block, Scene, Seat, Seats},
    step::Probe,
    summary::SkipReason,
};
use crate::{
    lang::{
        policy::{Lane, PrimaryProbe},
        source::Spanned,
    },
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
#[derive(Debug)]
pub(super) enum Blocked<'a> {
    /// Call it all the same.
    Probe {
        /// With what.
        seat: Seat<'a>,
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
pub(super) fn decide<'a>(
    scene: Scene<'_>,
    memory: &Memory,
    used: &BTreeSet<String>,
    candidate: &Candidate,
    seats: &Seats<'a>,
    role: Role,
) -> Option<Blocked<'a>> {
    let blocked = || seats.all().filter_map(|seat| Some((seat, seat.block?)));
    let soonest_first =
        |(seat, block): &(Seat<'_>, Block<'_>)| (block.until, !seats.is_pinned(seat), seat.place);
    let (_, soonest) = blocked().min_by_key(soonest_first)?;
    let skip = |reason| Some(Blocked::Skip { reason, bucket: soonest.bucket.to_owned() });
    // I1: a refused credential is not worth a call, neither alone nor beside others.
    let worth_it = || blocked().filter(|(_, block)| !block.skips_provider);
    if worth_it().next().is_none() {
        return skip(SkipReason::Auth);
    }
    let probe = match role {
        Role::Primary { alone } => {
            let fits = primary(scene, memory, used, candidate, alone);
            worth_it().filter(|(_, block)| fits(block)).min_by_key(soonest_first).map(|(seat, block)| {
                let provider = scene.table.present_name(&candidate.provider).to_owned();
                let bucket = (block.lane == Lane::Disable).then(|| block.bucket.to_owned());
                let throttle = Some(Throttle { provider, bucket });
                Blocked::Probe { seat, probe: Probe::Primary, throttle }
            })
        }
        // I4: the profile that is free soonest.
        Role::Sibling => {
            let fits = sibling(scene, used, candidate);
            let first = worth_it().filter(|(_, block)| fits(block)).min_by_key(soonest_first);
            first.map(|(seat, _)| Blocked::Probe { seat, probe: Probe::Sibling, throttle: None })
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
fn primary<'a>(
    scene: Scene<'a>,
    memory: &'a Memory,
    used: &BTreeSet<String>,
    candidate: &'a Candidate,
    alone: bool,
) -> impl Fn(&Block<'_>) -> bool + use<'a> {
    let provider = scene.table.present_name(&candidate.provider);
    let duration = |slot| scene.table.settings().duration(slot, Some(provider));
    let slot = scene.table.policy().probe_primary.as_ref();
    let open =
        |slot: &Spanned<PrimaryProbe>| memory.may_probe(provider, None, duration(slot.every), scene.now);
    let cooldown =
        slot.filter(|slot| !used.contains(provider) && open(slot)).map(|slot| duration(slot.within));
    move |block| match block.lane {
        Lane::Disable => slot.is_some_and(|slot| {
            let named = |id| *scene.table.bucket(id).name == *block.bucket;
            let named = slot.disabled.iter().find(|(id, _)| named(*id));
            named.is_some_and(|(_, every)| {
                memory.may_probe(provider, Some(block.bucket), duration(*every), scene.now)
            })
        }),
        Lane::Cooldown => cooldown.is_some_and(|within| alone || block.until.since(scene.now) <= within),
    }
}

/// I4: a sibling is tried despite the window when the failure looks transient; I5: once per provider and
/// run.
fn sibling<'a>(
    scene: Scene<'a>,
    used: &BTreeSet<String>,
    candidate: &Candidate,
) -> impl Fn(&Block<'_>) -> bool + use<'a> {
    let used_up = || used.contains(scene.table.present_name(&candidate.provider));
    let slot = scene.table.policy().probe_sibling.as_ref();
    let slot = slot.filter(|slot| !(slot.once_per_provider && used_up()));
    move |block| {
        let bucket = || scene.table.bucket_named(block.bucket);
        slot.is_some_and(|slot| !slot.when_transient || bucket().is_some_and(|(_, it)| it.traits.transient))
    }
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
