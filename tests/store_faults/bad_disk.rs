//! A disk that fails, runs full and writes half, under a child process (`tests/data/bad_disk.c`, preloaded
//! into it): the host gets an answer to each change, nothing acknowledged is lost, the file opens
//! afterwards. And power cuts at every call that the disk has seen.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, OnceLock},
    time::Duration,
};

use pointsman::state::{
    change::{Batch, Change},
    resilient::Resilient,
    sqlite::SqliteStore,
    store::Store as _,
};
use tempfile::TempDir;

use super::{
    long, role, said, say,
    session::{Step, at, dump, states, steps},
    sound,
};

/// The library to preload, built once; none where it cannot be.
#[expect(clippy::print_stdout, reason = "a skipped test says so")]
pub fn bad_disk() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<(TempDir, PathBuf)>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        if !cfg!(all(target_os = "linux", target_pointer_width = "64", target_env = "gnu")) {
            println!("skipped: the bad disk is made for Linux on 64 bits with glibc");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join("bad_disk.so");
        let source = crate::support::root().join("tests/data/bad_disk.c");
        let mut cc = Command::new("cc");
        cc.args(["-shared", "-fPIC", "-O1", "-o"]).args([&library, &source]).arg("-ldl");
        match cc.output() {
            Ok(done) if done.status.success() => Some((folder, library)),
            Ok(done) => panic!("{}", String::from_utf8_lossy(&done.stderr)),
            Err(error) => {
                println!("skipped: no C compiler `cc` ({error})");
                None
            }
        }
    });
    built.as_ref().map(|(_, library)| library.as_path())
}

/// A child over the bad disk below `folder`.
pub fn over(library: &Path, what: &str, folder: &Path, name: &str) -> Command {
    let mut child = role(what, folder, name);
    child.env("LD_PRELOAD", library).env("BAD_DISK", folder);
    child
}

pub fn plan(folder: &Path, text: &str) {
    fs::write(folder.join("plan"), text).unwrap();
}

// What the child does.

/// Takes all steps, once with each of the plans that it is told, over a store with a memory.
pub fn under_plans(folder: &Path, plans: &str) {
    let (mut refused, mut troubled, all) = (0, 0, plans.split(',').count());
    for (n, text) in plans.split(',').enumerate() {
        let path = folder.join(format!("{n}.sqlite"));
        plan(folder, text);
        let open = || SqliteStore::open_patiently(&path, Duration::from_millis(20));
        let store = open().or_else(|_| {
            refused += 1;
            plan(folder, "- 0 -");
            open()
        });
        let store = Resilient::new(Arc::new(store.unwrap_or_else(|error| panic!("{text}: {error}"))));
        let (steps, mut accepted, mut durable, mut refusals) = (steps(), Vec::new(), 0, Vec::new());
        for (place, step) in steps.iter().enumerate() {
            if step.take(&store, at(place)).is_ok() {
                accepted.push((place, step.clone()));
            } else {
                refusals.push((place, step.clone()));
                accepted.extend(facts_of(step).map(|facts| (place, facts)));
            }
            if store.trouble().is_none() {
                durable = accepted.len();
            }
        }
        refused += refusals.len();
        troubled += usize::from(durable < accepted.len());
        let model =
            |steps: &[(usize, Step)]| states(steps.iter().map(|(place, step)| (*place, step))).pop().unwrap();

        // Killed now: what another process would find.
        plan(folder, "- 0 -");
        let copy = folder.join("copy.sqlite");
        for end in ["", "-wal"] {
            drop(fs::copy(format!("{}{end}", path.display()), format!("{}{end}", copy.display())));
        }
        let found = dump(&SqliteStore::open(&copy).unwrap());
        sound(&copy);
        for end in ["", "-wal", "-shm"] {
            drop(fs::remove_file(format!("{}{end}", copy.display())));
        }
        // All that was acknowledged, and of what waits or was refused, what was written but not synced.
        let acknowledged = &accepted[..durable];
        let with_waiting = (durable..=accepted.len()).map(|n| accepted[..n].to_vec());
        let with_refused =
            refusals.iter().map(|refused| [acknowledged, std::slice::from_ref(refused)].concat());
        let fits = with_waiting.chain(with_refused).any(|steps| model(&steps) == found);
        assert!(fits, "{text}: killed: {found}\nnot:\n{}", model(acknowledged));

        // The disk is well again.
        store.flush().unwrap_or_else(|error| panic!("{text}: {error}"));
        let whole = model(&accepted);
        assert_eq!(dump(&store), whole, "{text}: in memory");
        drop(store);
        assert_eq!(dump(&SqliteStore::open(&path).unwrap()), whole, "{text}: in the file");
        sound(&path);
        fs::remove_file(&path).unwrap();
    }
    say(format!("{all} plans, {troubled} that ended in trouble, {refused} changes refused"));
}

/// What of a refused step is kept for later.
fn facts_of(step: &Step) -> Option<Step> {
    let Step::Apply(batch) = step else { return None };
    let fact = |c: &&Change| matches!(c, Change::Failure(_) | Change::Success(_) | Change::Used { .. });
    let changes: Vec<_> = batch.changes.iter().filter(fact).cloned().collect();
    (!changes.is_empty()).then(|| Step::Apply(Batch { session: batch.session.clone(), changes }))
}

/// The step before which the process ends, as if killed, and another goes on.
const KILLED: usize = 20;

/// After which steps the file is opened anew.
fn opened_anew(place: usize) -> bool {
    place % 11 == 10 || place + 1 == KILLED
}

/// Takes steps over a plain store, opened anew now and then, and marks what came of each. With a plan it
/// is killed on the way; without, it goes on.
pub fn marked(folder: &Path, text: &str) {
    plan(folder, if text.is_empty() { "- 0 -" } else { text });
    let open = || SqliteStore::open(&folder.join("agent.sqlite"));
    let Ok(mut store) = open().or_else(|_| open()) else { return };
    for (place, step) in steps().iter().enumerate().skip(if text.is_empty() { KILLED } else { 0 }) {
        if place == KILLED && !text.is_empty() {
            std::process::exit(0);
        }
        let taken = step.take(&store, at(place));
        fs::write(folder.join("mark"), format!("{place} {}", taken.is_ok())).unwrap();
        if opened_anew(place) && place + 1 != KILLED {
            drop(store);
            let Ok(again) = open().or_else(|_| open()) else { return };
            store = again;
        }
    }
}

// Failing calls.

/// Records one session; the calls that the disk saw.
fn recorded(library: &Path, folder: &Path, text: &str) -> Vec<Call> {
    let log = tempfile::NamedTempFile::new().unwrap();
    for text in [text, ""] {
        let mut child = over(library, "marked", folder, text);
        said(child.env("BAD_DISK_LOG", log.path()).spawn().unwrap());
    }
    Call::all(&fs::read(log.path()).unwrap())
}

#[test]
fn a_disk_that_fails_at_any_call_loses_nothing_acknowledged() {
    let Some(library) = bad_disk() else { return };
    let folder = tempfile::tempdir().unwrap();
    let calls = recorded(library, folder.path(), "- 0 -");
    let count = |what: fn(&Did) -> bool| calls.iter().filter(|call| what(&call.did)).count();
    let of = |kind: &str| match kind {
        "sync" => count(|did| matches!(did, Did::Sync { .. })),
        _ => count(|did| matches!(did, Did::Write(..))),
    };
    let mut plans = Vec::new();
    for (kind, how) in [("sync", "eio"), ("write", "eio"), ("write", "enospc"), ("write", "short")] {
        for for_ever in ["", "+"] {
            let (first, step) = if long() { (1, 1) } else { (1 + plans.len() % 5, 23) };
            plans.extend((first..of(kind) + 10).step_by(step).map(|n| format!("{kind} {n} {how}{for_ever}")));
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let lines = said(over(library, "under plans", folder.path(), &plans.join(",")).spawn().unwrap());
    println!("{}", lines.concat());
    assert!(lines.concat().starts_with(&format!("{} plans", plans.len())), "{lines:?}");
    assert!(!lines.concat().contains(" 0 "), "some plans hit: {lines:?}");
}

// Power cuts.

/// A call that the disk has seen.
struct Call {
    file: String,
    did: Did,
}

enum Did {
    Write(usize, Vec<u8>),
    Cut(usize),
    Sync { failed: bool },
    Unlink,
}

impl Call {
    fn all(mut log: &[u8]) -> Vec<Self> {
        let mut calls = Vec::new();
        while let Some(end) = log.iter().position(|byte| *byte == b'\n') {
            let line = std::str::from_utf8(&log[..end]).unwrap();
            log = &log[end + 1..];
            let [word, file, a, b] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
            let (a, b): (usize, usize) = (a.parse().unwrap(), b.parse().unwrap());
            let did = match word {
                "write" => {
                    let (data, rest) = log.split_at(b);
                    log = rest;
                    Did::Write(a, data.to_vec())
                }
                "cut" => Did::Cut(a),
                "sync" => Did::Sync { failed: a > 0 },
                _ => Did::Unlink,
            };
            calls.push(Self { file: file.to_owned(), did });
        }
        calls
    }
}

/// A file as the disk has it, and what only the system's memory has.
#[derive(Clone, Default)]
struct OnDisk {
    durable: Vec<u8>,
    pending: Vec<(usize, Option<Vec<u8>>)>,
    /// With all that was ever written.
    whole: Vec<u8>,
}

/// What the power leaves of writes that were not synced.
#[derive(Clone, Copy, Debug)]
enum Left {
    All,
    Nothing,
    /// Some sectors.
    Some(u64),
    /// All but for the half of the last one, with garbage behind.
    TornLast,
    OnlyLog,
    OnlyFile,
}

fn put(file: &mut Vec<u8>, at: usize, data: Option<&[u8]>) {
    match data {
        None => file.resize(at, 0),
        Some(data) => {
            file.resize(file.len().max(at + data.len()), 0);
            file[at..at + data.len()].copy_from_slice(data);
        }
    }
}

impl OnDisk {
    fn see(&mut self, did: &Did) {
        let change = match did {
            Did::Write(at, data) => (*at, Some(data.clone())),
            Did::Cut(length) => (*length, None),
            // What a failed sync was to write is taken for written by the system, and lost.
            Did::Sync { failed: true } => return self.pending.clear(),
            Did::Sync { failed: false } => {
                for (at, data) in self.pending.drain(..) {
                    put(&mut self.durable, at, data.as_deref());
                }
                return;
            }
            Did::Unlink => return *self = Self::default(),
        };
        put(&mut self.whole, change.0, change.1.as_deref());
        self.pending.push(change);
    }

    fn after(&self, left: Left, is_log: bool) -> Vec<u8> {
        let mut file = self.durable.clone();
        let last = self.pending.len();
        let mut dice = if let Left::Some(seed) = left { seed } else { 0 };
        for (n, (at, data)) in self.pending.iter().enumerate() {
            let data = data.as_deref();
            match left {
                Left::All => return self.whole.clone(),
                Left::OnlyLog if is_log => return self.whole.clone(),
                Left::OnlyFile if !is_log => return self.whole.clone(),
                Left::Nothing | Left::OnlyLog | Left::OnlyFile => {}
                Left::TornLast => match data {
                    Some(data) if n + 1 == last => {
                        // Where the same is written once more, nothing can be torn.
                        let same = |n: usize| file.get(at + n) == data.get(n);
                        let torn = |n: usize| if n < data.len() / 2 || same(n) { data[n] } else { 0xa5 };
                        let data: Vec<_> = (0..data.len()).map(torn).collect();
                        put(&mut file, *at, Some(&data));
                    }
                    data => put(&mut file, *at, data),
                },
                Left::Some(_) => {
                    for (place, sector) in
                        data.map_or(vec![None], |d| d.chunks(512).map(Some).collect()).iter().enumerate()
                    {
                        dice = dice
                            .wrapping_mul(6_364_136_223_846_793_005)
                            .wrapping_add(1_442_695_040_888_963_407);
                        if dice >> 63 == 0 {
                            put(&mut file, at + place * 512, *sector);
                        }
                    }
                }
            }
        }
        file
    }
}

/// Cuts the power after calls of a session, and looks what is left; how often.
fn cut_power(calls: &[Call], steps: &[Step], every: usize, kinds: &[Left]) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.sqlite");
    let mut disk: BTreeMap<&str, OnDisk> = BTreeMap::new();
    let model = |places: &[usize]| states(places.iter().map(|n| (*n, &steps[*n]))).pop().unwrap();
    // What was accepted, and what of the refused steps may yet be there.
    let (mut bases, mut refused, mut cuts) = (vec![Vec::new()], Vec::new(), 0);
    let mut may_be = vec![model(&[]), model(&[0])];
    for (n, call) in calls.iter().enumerate() {
        if call.file == "mark" {
            let Did::Write(_, data) = &call.did else { continue };
            let text = std::str::from_utf8(data).unwrap();
            let (place, ok) = text.split_once(' ').unwrap();
            let place: usize = place.parse().unwrap();
            if ok == "true" {
                let before = model(&bases[0]);
                for base in &mut bases {
                    base.push(place);
                }
                // What was refused is written over by the next change; a use is none.
                if model(&bases[0]) != before {
                    refused.clear();
                }
            } else {
                refused.push(place);
            }
            let with = |base: &Vec<usize>, more: &usize| [&base[..], &[*more]].concat();
            let more = |bases: &[Vec<usize>], all: &[usize]| -> Vec<_> {
                bases.iter().flat_map(|base| all.iter().map(move |one| with(base, one))).collect()
            };
            if opened_anew(place) {
                // For who opens the file, what was written counts, synced or not.
                bases.extend(more(&bases, &refused));
                refused.clear();
            }
            let next = Some(place + 1).filter(|next| *next < steps.len());
            let open: Vec<_> = refused.iter().copied().chain(next).collect();
            may_be = bases.iter().chain(&more(&bases, &open)).map(|steps| model(steps)).collect();
        } else {
            disk.entry(&call.file).or_default().see(&call.did);
        }
        if n % every != 0 || !disk.contains_key("agent.sqlite") {
            continue;
        }
        for left in kinds {
            for end in ["", "-wal", "-journal", "-shm"] {
                let name = format!("agent.sqlite{end}");
                let file = folder.path().join(&name);
                drop(fs::remove_file(&file));
                let there = disk.get(name.as_str()).map(|there| there.after(*left, end == "-wal"));
                if let Some(content) = there.filter(|content| end.is_empty() || !content.is_empty()) {
                    fs::write(file, content).unwrap();
                }
            }
            let store = SqliteStore::open(&path).unwrap_or_else(|error| panic!("{n}, {left:?}: {error}"));
            let found = dump(&store);
            let acknowledged = &may_be[0];
            assert!(may_be.contains(&found), "after call {n}, {left:?}:\n{found}\nnot:\n{acknowledged}");
            drop(store);
            sound(&path);
            cuts += 1;
        }
    }
    cuts
}

#[test]
fn a_power_cut_after_any_call_leaves_what_was_acknowledged() {
    let Some(library) = bad_disk() else { return };
    let folder = tempfile::tempdir().unwrap();
    let calls = recorded(library, folder.path(), "- 0 -");
    let (steps, every) = (steps(), if long() { 1 } else { 17 });
    let kinds = [
        Left::All,
        Left::Nothing,
        Left::TornLast,
        Left::OnlyLog,
        Left::OnlyFile,
        Left::Some(1),
        Left::Some(2),
    ];
    let cuts = cut_power(&calls, &steps, every, &kinds);
    println!("{cuts} power cuts in a session of {} calls to the disk", calls.len());
    assert!(cuts > 100);
}

/// A failed sync may lose what it was to write for good, though later ones succeed.
#[test]
fn a_power_cut_after_a_failed_sync_leaves_what_was_acknowledged() {
    let Some(library) = bad_disk() else { return };
    let steps = steps();
    let mut cuts = 0;
    let (first, step, every) = if long() { (1, 1, 5) } else { (11, 24, 6) };
    for n in (first..200).step_by(step) {
        let folder = tempfile::tempdir().unwrap();
        let calls = recorded(library, folder.path(), &format!("sync {n} eio"));
        if !calls.iter().any(|call| matches!(call.did, Did::Sync { failed: true })) {
            break;
        }
        let kinds: &[_] = if long() { &[Left::Nothing, Left::Some(n)] } else { &[Left::Nothing] };
        cuts += cut_power(&calls, &steps, every, kinds);
    }
    println!("{cuts} power cuts after failed syncs");
    assert!(cuts > 20);
}
