//! What a run looks up one by one is what it would find if all were put in order first.

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
    time::Duration,
};

use proptest::{prelude::*, sample::subsequence};

use super::*;
use crate::{
    lang::{
        load,
        policy::{CredentialKind, PinPolicy},
    },
    run::{
        memory::Memory,
        pin,
        probe::{self, Blocked, Role},
    },
    state::{
        model::{Pin, Session},
        select::{profile_set, sequence},
        view::ProfileInfo,
    },
    table::NoSettings,
};

const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);
const IDS: [&str; 7] =
    ["openai:a", "openai:b", "openai:c", "openai-codex:a", "openai-codex:d", "acme:a", "acme:e"];

/// The shipped policy, and with one statement of it replaced.
static TABLES: LazyLock<Vec<Table>> = LazyLock::new(|| {
    let replaced = [
        "",
        "replace order profiles { kind token; last_used newest first }",
        "replace order profiles { kind api_key }",
        "replace pin profile auto { per session; return when free }",
    ];
    let table = |statement: &&str| {
        let (rules, _) = load::from_text(&format!("language 1\nuse default\n{statement}\n")).unwrap();
        Table::compile(rules, &NoSettings).unwrap()
    };
    replaced.iter().map(table).collect()
});

fn id(text: &str) -> ProfileId {
    ProfileId(text.into())
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(NOW.as_millis() + seconds * 1_000)
}

prop_compose! {
    fn window()(
        lane in prop_oneof![Just(Lane::Cooldown), Just(Lane::Disable)],
        model in prop_oneof![Just(None), Just(Some("m")), Just(Some("other"))],
        bucket in prop::sample::select(vec!["rate_limit", "auth", "auth_permanent", "billing", "gone since"]),
        until in -1..4_i64,
        step in 1..3_u32,
    ) -> Window {
        Window {
            lane,
            model: model.map(str::to_owned),
            schedule: format!("s{until}"),
            bucket: bucket.to_owned(),
            since: NOW,
            until: at(until * 100),
            step,
            hint: None,
            longest: Duration::from_hours(1),
        }
    }
}

prop_compose! {
    fn usage()(used in prop::option::of(0..3_i64), windows in prop::collection::vec(window(), 0..3)) -> Usage {
        Usage { last_used: used.map(|used| at(-used)), windows, ..Usage::default() }
    }
}

prop_compose! {
    fn profile()(
        id in any_id(),
        kind in prop_oneof![Just(CredentialKind::Oauth), Just(CredentialKind::Token), Just(CredentialKind::ApiKey)],
        has_secret in prop::bool::weighted(0.9),
        has_refresh in any::<bool>(),
        expires in prop::option::weighted(0.3, -1..2_i64),
        of_another in prop::bool::weighted(0.1),
        usage in usage(),
    ) -> ProfileView {
        let provider = if of_another { "openai" } else { id.provider() }.to_owned();
        let (expires, extra) = (expires.map(at), BTreeMap::new());
        let info =
            ProfileInfo { id, provider, kind, has_secret, has_refresh, expires, email: None, extra, inserted: 0 };
        ProfileView { info: Arc::new(info), usage: Arc::new(usage) }
    }
}

fn ids(most: usize) -> impl Strategy<Value = Vec<ProfileId>> {
    subsequence(IDS.to_vec(), 0..=most).prop_shuffle().prop_map(|ids| ids.into_iter().map(id).collect())
}

fn any_id() -> impl Strategy<Value = ProfileId> {
    prop::sample::select(IDS.to_vec()).prop_map(id)
}

prop_compose! {
    fn pinned()(
        profile in any_id(),
        by_user in prop::bool::weighted(0.3),
        compaction_count in prop_oneof![4 => Just(0), 1 => Just(1_u32)],
        displaced in prop::option::of(any_id()),
    ) -> Pin {
        Pin { profile, by_user, compaction_count, displaced }
    }
}

prop_compose! {
    fn view()(
        stored in prop::collection::vec(profile(), 0..9),
        pin in prop::option::weighted(0.7, pinned()),
        provider in prop::sample::select(vec!["openai", "acme"]),
    ) -> View {
        let mut seen = BTreeSet::new();
        let stored = stored.into_iter().filter(|profile| seen.insert(profile.info.id.clone()));
        let profiles = stored.zip(1..).map(|(mut profile, inserted)| {
            Arc::make_mut(&mut profile.info).inserted = inserted;
            profile
        });
        let profiles = profiles.collect();
        let pins = pin.map(|pin| (provider.to_owned(), pin)).into_iter().collect();
        View { profiles, session: Arc::new(Session { pins, ..Session::default() }), ..View::default() }
    }
}

/// A seat with its number in the order, if nothing were blocked.
type Ranked<'a> = (Seat<'a>, usize);

/// All seats, put in order.
fn in_order<'a>(scene: Scene<'a>, candidate: &'a Candidate) -> Vec<Ranked<'a>> {
    let provider = candidate.provider.as_str();
    let family = |a: &str, b: &str| scene.table.same_provider(a, b);
    let order = scene.routing.order_of(provider, &family);
    let set = profile_set(provider, order, &scene.routing.profiles, &scene.view.profiles, &family);
    let blocked = |profile: &ProfileView| {
        let usage = scene.unstored.get(&profile.info.id).unwrap_or(&profile.usage);
        usage.blocked_until(Some(&candidate.model), scene.now)
    };
    let (seated, _) = sequence(&set, provider, scene.order(), &family, &blocked, scene.now);
    let seated = seated.into_iter().filter(|one| !scene.left_out.contains(&one.profile.info.id));
    let ranked = |one: crate::state::select::Seated<'a>| {
        let block = scene.block(scene.usage(one.profile), &candidate.model);
        assert_eq!(block.map(|block| block.until), one.blocked_until);
        let (profile, refresh_first) = (Some(&one.profile.info.id), one.refresh_first);
        (Seat { profile, block, refresh_first, place: Place::default() }, one.rank)
    };
    seated.map(ranked).collect()
}

/// The pin applied to all seats (C9, C10).
fn pinned_first<'a>(
    table: &Table,
    session: &Session,
    provider: &str,
    mut seats: Vec<Ranked<'a>>,
) -> Vec<Ranked<'a>> {
    let Some(pin) = session.pins.get(provider) else { return seats };
    let place = |seats: &[Ranked<'a>], id: &ProfileId| seats.iter().position(|(seat, _)| seat.is(id, table));
    let released = |slot: PinPolicy| {
        let blocked = |(seat, _): &Ranked<'a>| seat.is(&pin.profile, table) && seat.block.is_some();
        (slot.release_on_compaction && pin.compaction_count != session.compaction_count)
            || (slot.release_on_blocked && seats.iter().any(blocked))
    };
    if pin.by_user {
        if !released(table.policy().pin_user.as_ref().unwrap().node) {
            seats.retain(|(seat, _)| seat.is(&pin.profile, table));
        }
        return seats;
    }
    let slot = table.policy().pin_auto.as_ref().unwrap().node;
    let Some(now) = place(&seats, &pin.profile).filter(|_| !released(slot)) else { return seats };
    let back = pin.displaced.as_ref().filter(|_| slot.return_when_free).and_then(|id| place(&seats, id));
    let back = back.filter(|back| seats[*back].0.block.is_none() && seats[*back].1 < seats[now].1);
    let first = seats.remove(back.unwrap_or(now));
    seats.insert(0, first);
    seats
}

/// What is to be done when all of them are blocked (I).
fn probed<'a>(
    scene: Scene<'_>,
    seats: &[Ranked<'a>],
    role: Role,
) -> Option<(Option<&'a ProfileId>, &'a str)> {
    let mut blocked: Vec<(Seat<'a>, Block<'a>)> =
        seats.iter().filter_map(|(seat, _)| Some((*seat, seat.block?))).collect();
    blocked.sort_by_key(|(_, block)| block.until);
    let (_, soonest) = *blocked.first()?;
    blocked.retain(|(_, block)| !block.skips_provider);
    let bucket = |name: &str| scene.table.bucket_named(name);
    let fits = |block: &Block<'_>| match role {
        Role::Primary { alone } if block.lane == Lane::Cooldown => {
            alone || block.until.since(scene.now) <= Duration::from_mins(2)
        }
        Role::Primary { .. } => block.bucket == "billing",
        Role::Sibling => bucket(block.bucket).is_some_and(|(_, bucket)| bucket.traits.transient),
        Role::Other => false,
    };
    let probe = blocked.iter().find(|(_, block)| fits(block));
    Some(probe.map_or((None, soonest.bucket), |(seat, block)| (seat.profile, block.bucket)))
}

/// A seat as a run sees it.
type Told<'a> = (Option<&'a ProfileId>, Option<Block<'a>>, bool);

fn told<'a>(seat: &Seat<'a>) -> Told<'a> {
    (seat.profile, seat.block, seat.refresh_first)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn c6_seats_looked_up_one_by_one_are_those_put_in_order(
        table in 0..TABLES.len(),
        view in view(),
        order in prop::option::weighted(0.3, ids(5)),
        profiles in prop_oneof![2 => Just(Vec::new()), 1 => ids(5)],
        unstored in prop::collection::btree_map(any_id(), usage(), 0..2),
        left_out in prop::collection::btree_set(any_id(), 0..2),
        provider in prop::sample::select(vec!["openai", "openai-codex", "acme"]),
        role in prop::sample::select(vec![Role::Primary { alone: true }, Role::Primary { alone: false }, Role::Sibling, Role::Other]),
    ) {
        let table = &TABLES[table];
        let order = order.map(|order| ("openai".to_owned(), order)).into_iter().collect();
        let routing = Routing { order, profiles, ..Routing::default() };
        let scene = Scene { table, routing: &routing, view: &view, unstored: &unstored, left_out: &left_out, now: NOW };
        let candidate = Candidate { provider: provider.into(), model: "m".into() };
        let (present, session) = (table.present_name(provider), &view.session);
        let all = in_order(scene, &candidate);
        let head = scene.seats(&candidate).head().and_then(|seat| seat.profile);
        prop_assert_eq!(head, all.iter().min_by_key(|(_, rank)| rank).and_then(|(seat, _)| seat.profile));

        let all = pinned_first(table, session, present, all);
        let seats = pin::seat(table, session, present, scene.seats(&candidate));
        let mut seen: Vec<Told<'_>> = Vec::new();
        while let Some(next) = seats.first(|seat| !seen.contains(&told(seat))) {
            seen.push(told(&next));
        }
        let expected: Vec<Told<'_>> = all.iter().map(|(seat, _)| told(seat)).collect();
        prop_assert_eq!(seen, expected);

        for one in IDS.map(id) {
            let exact = all.iter().find(|(seat, _)| seat.profile == Some(&one));
            prop_assert_eq!(seats.of(Some(&one)).as_ref().map(told), exact.map(|(seat, _)| told(seat)));
        }

        let (memory, used) = (Memory::new(), BTreeSet::new());
        let decided = probe::decide(scene, &memory, &used, &candidate, &seats, role);
        let decided = decided.map(|blocked| match blocked {
            Blocked::Probe { seat, .. } => (seat.profile, seat.block.unwrap().bucket.to_owned()),
            Blocked::Skip { bucket, .. } => (None, bucket),
        });
        prop_assert_eq!(decided, probed(scene, &all, role).map(|(seat, bucket)| (seat, bucket.to_owned())));
    }
}
