//! What is kept, in memory and in the file.

use std::{path::Path, time::Duration};

use pointsman::{
    host::Recorder,
    signal::Signal,
    state::{
        inbox::{BYTES, ENTRIES, InForce, Inbox},
        memory::MemoryStore,
        sqlite::SqliteStore,
        store::Store,
    },
    table::{NoSettings, Table},
    time::Timestamp,
};

use crate::support::{lab::START, rules};

fn table() -> Table {
    let text = "language 1
observe rule purple_watch -> billing when text has \"purple elephant\"
use default
";
    Table::compile(rules::from_text(text).unwrap().0, &NoSettings).unwrap()
}

fn error(provider: &str, message: &str) -> Signal {
    Signal { provider: Some(provider.into()), message: Some(message.into()), ..Signal::default() }
}

/// Both stores, each with what `fill` did.
fn both(fill: impl Fn(&dyn Store)) -> [Inbox; 2] {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.sqlite");
    let memory = MemoryStore::new();
    fill(&memory);
    fill(&SqliteStore::open(&path).unwrap());
    let read_again = SqliteStore::open_read_only(&path).unwrap();
    [memory.records().unwrap().inbox().unwrap(), read_again.records().unwrap().inbox().unwrap()]
}

#[test]
fn an_error_that_comes_again_is_one_entry() {
    let table = table();
    let inboxes = both(|store| {
        let mut recorder = Recorder::new();
        for n in 0..5u8 {
            let message = format!("purple elephant number {n}{n} ate `name-{n}` (request id: req_{n}abc{n})");
            let now = START.after(Duration::from_secs(n.into()));
            recorder.see(&table, &error("acme", &message).as_ref(), now);
            if n == 2 {
                recorder.flush(store).unwrap();
            }
        }
        recorder.see(
            &table,
            &error("other", "purple elephant number 3 ate `x` (request id: 9)").as_ref(),
            START,
        );
        recorder.see(&table, &Signal { status: Some(429), ..Signal::default() }.as_ref(), START);
        recorder.see(&table, &Signal::default().as_ref(), START);
        recorder.flush(store).unwrap();
    });
    for inbox in &inboxes {
        let seen: Vec<_> = inbox.entries.iter().map(|entry| (entry.id, entry.count)).collect();
        assert_eq!(seen, [(1, 5), (2, 1)]);
        let entry = &inbox.entries[0];
        assert_eq!((entry.first_at, entry.last_at), (START, START.after(Duration::from_secs(4))));
        assert_eq!(entry.bucket, "unclassified");
        assert_eq!(
            entry.sample.message.as_deref(),
            Some("purple elephant number 00 ate `name-0` (request id: req_0abc0)")
        );
        let tallies: Vec<_> =
            inbox.tallies.iter().map(|tally| (tally.rule.as_str(), tally.observed, tally.count)).collect();
        assert!(tallies.contains(&("purple_watch", true, 6)), "{tallies:?}");
        assert_eq!(
            tallies.iter().filter(|(_, observed, _)| !observed).map(|(.., count)| count).sum::<u64>(),
            1
        );
    }
    assert_eq!(inboxes[0], inboxes[1]);
}

#[test]
fn j6_no_key_is_kept() {
    let table = table();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.sqlite");
    let store = SqliteStore::open(&path).unwrap();
    let mut recorder = Recorder::new();
    let mut signal = error(
        "acme",
        "purple elephant ate sk-planted-0123456789 with Bearer hunter-two, password=\"planted horse\"",
    );
    let names = [
        "Set-Cookie",
        "x-auth",
        "authentication",
        "x-access-key",
        "api-password",
        "x-key-limit",
        "x-sessionid",
    ];
    signal.headers = names.map(|name| (name.into(), "planted".into())).to_vec();
    signal.headers.push(("x-note".into(), "sk-planted-987654".into()));
    signal.headers.push(("x-ratelimit-reset-tokens".into(), "6s".into()));
    signal.details = vec![r#"{"authorization":"Bearer planted"}"#.into()];
    recorder.see(&table, &signal.as_ref(), START);
    recorder.flush(&store).unwrap();
    let kept = store.records().unwrap().inbox().unwrap();
    assert_eq!(kept.entries.len(), 1);
    let headers: Vec<_> = kept.entries[0].sample.headers.keys().map(String::as_str).collect();
    assert_eq!(headers, ["x-note", "x-ratelimit-reset-tokens"]);
    drop(store);
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        for secret in ["planted", "hunter-two"] {
            assert!(!bytes.windows(secret.len()).any(|window| window == secret.as_bytes()), "{secret}");
        }
    }
}

#[test]
fn the_inbox_is_bounded_in_entries_and_bytes() {
    let letters = |mut n: usize| {
        let mut word = String::new();
        for _ in 0..4 {
            word.push(char::from(b'a' + u8::try_from(n % 26).unwrap()));
            n /= 26;
        }
        word
    };
    let table = table();
    let few = both(|store| {
        for part in 0..3 {
            let mut recorder = Recorder::new();
            for n in part * 500..(part + 1) * 500 {
                let signal = error("acme", &format!("purple elephant called {}", letters(n)));
                recorder.see(&table, &signal.as_ref(), START.after(Duration::from_secs(n as u64)));
            }
            recorder.flush(store).unwrap();
        }
    });
    // One burst, of one moment: what is noted waits in memory before it is stored.
    let burst = both(|store| {
        let mut recorder = Recorder::new();
        let mut see = |n: usize| {
            recorder.see(
                &table,
                &error("acme", &format!("purple elephant called {}", letters(n))).as_ref(),
                START,
            );
        };
        (0..1_200).for_each(&mut see);
        (0..50).for_each(|_| see(9_999));
        see(3);
        (2_000..2_997).for_each(&mut see);
        recorder.flush(store).unwrap();
        // What is stored already is older than what comes in the same moment.
        recorder.see(&table, &error("acme", "purple elephant called first").as_ref(), START);
        recorder.flush(store).unwrap();
    });
    for inbox in &burst {
        let texts: Vec<_> = inbox
            .entries
            .iter()
            .map(|it| it.sample.message.as_deref().unwrap().split(' ').next_back())
            .collect();
        let wanted: Vec<_> =
            [9_999, 3].into_iter().chain(2_000..2_997).map(letters).chain(["first".to_owned()]).collect();
        assert_eq!(texts, wanted.iter().map(|word| Some(word.as_str())).collect::<Vec<_>>());
        assert_eq!((inbox.entries[0].count, inbox.dropped), (50, 1_199));
    }
    let large = both(|store| {
        let mut recorder = Recorder::new();
        for n in 0..600 {
            let text = format!("purple elephant called {} {}", letters(n), "said so, and ".repeat(300));
            recorder.see(&table, &error("acme", &text).as_ref(), START.after(Duration::from_secs(n as u64)));
        }
        recorder.flush(store).unwrap();
    });
    for inbox in &few {
        assert_eq!((inbox.entries.len(), inbox.dropped), (ENTRIES, 500));
        let oldest = inbox.entries.iter().map(|entry| entry.first_at).min();
        assert_eq!(oldest, Some(START.after(Duration::from_secs(500))));
    }
    for inbox in &large {
        let bytes: usize =
            inbox.entries.iter().map(|entry| serde_json::to_string(&entry.sample).unwrap().len()).sum();
        assert!(bytes <= BYTES, "{bytes}");
        assert_eq!(inbox.entries.len() as u64 + inbox.dropped, 600);
        assert!(inbox.dropped > 200);
    }
}

#[test]
fn entries_are_dropped_by_number_and_numbers_do_not_come_again() {
    let table = table();
    let [memory, file] = both(|store| {
        let mut recorder = Recorder::new();
        for word in ["one", "two", "three"] {
            recorder.see(&table, &error("acme", &format!("purple elephant {word}")).as_ref(), START);
            recorder.flush(store).unwrap();
        }
        let records = store.records().unwrap();
        assert_eq!(records.drop_entries(&[2, 3, 77]).unwrap(), 2);
        recorder.see(&table, &error("acme", "purple elephant four").as_ref(), START);
        recorder.flush(store).unwrap();
    });
    assert_eq!(memory.entries.iter().map(|entry| entry.id).collect::<Vec<_>>(), [1, 4]);
    assert_eq!(memory, file);
}

#[test]
fn what_is_in_force_is_kept_and_an_old_file_has_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.sqlite");
    old_file(&path);
    let old = SqliteStore::open_read_only(&path).unwrap();
    assert_eq!(old.records().unwrap().inbox().unwrap(), Inbox::default());
    assert_eq!(old.records().unwrap().in_force().unwrap(), None);
    drop(old);
    let mut told = InForce {
        version: "abc".into(),
        source: "/etc/rules".into(),
        loaded_at: START,
        reloads: 3,
        failure: Some((Timestamp::EPOCH, "no".into())),
    };
    let (memory, file) = (MemoryStore::new(), SqliteStore::open(&path).unwrap());
    for store in [&memory as &dyn Store, &file] {
        let records = store.records().unwrap();
        for _ in 0..2 {
            records.put_in_force(&told).unwrap();
            assert_eq!(records.in_force().unwrap().as_ref(), Some(&told));
            told.failure = None;
        }
    }
}

/// A file of the first schema version.
fn old_file(path: &Path) {
    let db = rusqlite::Connection::open(path).unwrap();
    db.execute_batch(include_str!("../../src/state/sqlite/schema/0001.sql")).unwrap();
    db.pragma_update(None, "application_id", 0x706e_746d).unwrap();
    db.pragma_update(None, "user_version", 1).unwrap();
}
