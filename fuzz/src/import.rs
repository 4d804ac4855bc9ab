//! Legacy JSON files → state.

use std::{fs, path::PathBuf};

use crate::shipped;
use pointsman::{
    state::{
        import::{FileReport, import as take},
        memory::MemoryStore,
        store::Store as _,
        view::{View, ViewQuery},
    },
    time::Timestamp,
};

const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

/// The files, by the first byte of the input; the rest is the text. Two are given by dividing it at a
/// record separator (0x1e).
const FILES: [&str; 4] = [
    "agents/main/agent/auth-profiles.json",
    "agents/main/agent/auth.json",
    "credentials/oauth.json",
    "agents/main/agent/auth-state.json",
];

/// Any file is imported or left alone with a reason; a second import changes nothing, and no text of
/// the report holds a secret.
pub fn import(data: &[u8]) {
    let Some((choice, text)) = data.split_first() else { return };
    let root = root();
    let mut parts = text.splitn(2, |byte| *byte == 0x1e);
    let first = FILES[usize::from(*choice) % FILES.len()];
    fs::write(root.join(first), parts.next().unwrap_or_default()).expect("written");
    let second = FILES[3];
    match parts.next() {
        Some(text) if first != second => fs::write(root.join(second), text).expect("written"),
        _ if first != second => drop(fs::remove_file(root.join(second))),
        _ => {}
    }
    for file in FILES.iter().filter(|file| **file != first && **file != second) {
        let _ = fs::remove_file(root.join(file));
    }

    let store = MemoryStore::new();
    let report = take(&root, "main", &store, &|a, b| shipped::table().same_provider(a, b), NOW)
        .expect("memory takes all");
    let after = look(&store);
    for profile in after.profiles.iter() {
        assert!(!profile.info.id.0.is_empty() && !profile.info.provider.is_empty(), "{:?}", profile.info);
        for window in &profile.usage.windows {
            assert!(window.since <= NOW, "{window:?} begins after now");
        }
    }
    let stored = |file: &FileReport| file.profiles.len();
    assert_eq!(report.files.iter().map(stored).sum::<usize>(), after.profiles.len());
    let shown = format!("{report:?}{after:?}");
    for secret in secrets(text) {
        assert!(!shown.contains(&secret), "{secret} is shown: {shown}");
    }
    let again = take(&root, "main", &store, &|a, b| shipped::table().same_provider(a, b), NOW)
        .expect("memory takes all");
    assert!(again.files.iter().all(|file| file.profiles.is_empty()), "{again:?}");
    assert_eq!(format!("{after:?}"), format!("{:?}", look(&store)), "a second import changes nothing");
}

/// Strings of the seeds' secrets that stand in a secret's place, and nowhere else.
fn secrets(text: &[u8]) -> Vec<String> {
    let Ok(text) = std::str::from_utf8(text) else { return Vec::new() };
    let mut out = Vec::new();
    for place in ["key", "token", "access", "refresh"] {
        for (at, start) in text.match_indices(&format!("\"{place}\":\"sk-planted")) {
            let value = text[at + start.len() - "sk-planted".len()..].split('"').next().unwrap_or_default();
            out.push(value.to_owned());
        }
    }
    // An escaped text may be the same in other words.
    out.retain(|secret| !text.contains('\\') && text.matches(secret.as_str()).count() == 1);
    out
}

fn look(store: &MemoryStore) -> View {
    store.view(&ViewQuery::default(), NOW).expect("memory is always there")
}

/// A folder of this process, in memory where there is such a place.
fn root() -> PathBuf {
    let shm = PathBuf::from("/dev/shm");
    let base = if shm.is_dir() { shm } else { std::env::temp_dir() };
    let root = base.join(format!("pointsman-fuzz-import-{}", std::process::id()));
    for folder in ["agents/main/agent", "credentials"] {
        fs::create_dir_all(root.join(folder)).expect("a folder");
    }
    root
}
