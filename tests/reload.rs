//! Rules that change while they are in use.

#![expect(clippy::unwrap_used, reason = "a test may fail so")]

use std::{fs, path::Path, time::Duration};

use pointsman::{
    classify::Scratch,
    config::Config,
    host::{ReloadError, Reloaded, Rules},
    signal::SignalRef,
};

/// An overlay in two files, both of which carry the same number: a table that joins two of them is torn.
fn write(folder: &Path, n: u64, good: bool) {
    let word = format!("{}{}", char::from(b'a' + u8::try_from(n % 26).unwrap()), "x".repeat(3));
    let bucket = if n.is_multiple_of(2) { "billing" } else { "rate_limit" };
    let fault = if good { "" } else { "rule broken -> biling when text has \"never loads\"\n" };
    let main = format!(
        "language 1\nuse \"more.rules\"\n# {n}\nrule first_{word} -> {bucket} when text has \"first purple elephant\"
  example message \"first purple elephant\"\n{fault}use default\n"
    );
    let more = format!(
        "language 1\n# {n}\nrule second_{word} -> {bucket} when text has \"second purple elephant\"
  example message \"second purple elephant\"\n"
    );
    // As an editor does it: the new file takes the old one's place.
    for (name, text) in [("more.rules", more), ("main.rules", main)] {
        fs::write(folder.join("new"), text).unwrap();
        fs::rename(folder.join("new"), folder.join(name)).unwrap();
    }
}

fn rules(folder: &Path) -> Rules {
    Rules::from_path(folder, Config::default()).unwrap()
}

#[test]
fn l2_a_hosts_own_values_are_no_reason_to_refuse_rules() {
    let config = Config::parse("auth: { cooldowns: { billingBackoffHours: 2 } }").unwrap();
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), 1, true);
    for rules in [Rules::shipped(config.clone()).unwrap(), Rules::from_path(folder.path(), config).unwrap()] {
        let table = rules.current();
        let billing = table.backoff_named("billing").unwrap();
        assert_eq!(table.backoff_step(billing, 1, None), Duration::from_hours(2));
    }
}

#[test]
fn a_changed_file_is_taken_at_the_second_look_that_sees_it() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), 1, true);
    let rules = rules(folder.path());
    let before = rules.current();
    assert!(rules.look().is_none());
    write(folder.path(), 2, true);
    assert!(rules.look().is_none(), "it may still be written");
    write(folder.path(), 3, true);
    assert!(rules.look().is_none(), "it has changed again");
    assert!(matches!(rules.look(), Some(Ok(Reloaded::Taken { .. }))));
    assert!(rules.look().is_none());
    assert_ne!(rules.current().hash(), before.hash());
    assert_eq!(rules.in_force().reloads, 1);
    assert_eq!(bucket(&before, "first purple elephant"), "rate_limit", "who holds a table keeps it");
    write(folder.path(), 3, true);
    assert_eq!(rules.reload().unwrap(), Reloaded::Same);
    assert_eq!(rules.in_force().reloads, 1);
}

#[test]
fn a_bad_file_changes_nothing_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), 1, true);
    let rules = rules(folder.path());
    let before = rules.in_force();
    write(folder.path(), 2, false);
    assert!(rules.look().is_none());
    let error = rules.look().unwrap().unwrap_err();
    assert!(matches!(error, ReloadError::Load(..)));
    assert_eq!(error.to_string(), "main.rules:6: there is no bucket called `biling`");
    assert!(rules.look().is_none(), "said once, not at every look");
    let now = rules.in_force();
    assert_eq!((&now.version, now.reloads), (&before.version, 0));
    assert!(now.failure.unwrap().1.contains("biling"));

    // An example that comes out otherwise keeps the rules out as well.
    fs::write(
        folder.path().join("more.rules"),
        "language 1\nrule second -> billing when text has \"second purple elephant\"\n  example message \"no elephant\"\n",
    )
    .unwrap();
    write_main_without_fault(folder.path());
    let error = rules.reload().unwrap_err();
    assert!(matches!(error, ReloadError::Tests(..)), "{error}");
    assert!(error.to_string().starts_with("more.rules:3: no rule matches"), "{error}");

    // A file that is used and missing is waited for.
    fs::remove_file(folder.path().join("more.rules")).unwrap();
    assert!(rules.reload().is_err());
    write(folder.path(), 5, true);
    assert!(rules.look().is_none());
    assert!(matches!(rules.look(), Some(Ok(Reloaded::Taken { .. }))));
    assert_eq!(rules.in_force().failure, None);
}

/// An editor that empties a file before it writes it, and takes its time.
#[test]
fn an_emptied_file_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), 1, true);
    let rules = rules(folder.path());
    let before = rules.in_force().version;
    for text in ["", "language 1\n"] {
        fs::write(folder.path().join("main.rules"), text).unwrap();
        let error = rules.reload().unwrap_err();
        assert!(matches!(error, ReloadError::Empty), "{error}");
        assert_eq!(rules.in_force().version, before);
    }
    write(folder.path(), 2, true);
    assert!(matches!(rules.reload(), Ok(Reloaded::Taken { .. })));
}

fn write_main_without_fault(folder: &Path) {
    fs::write(folder.join("main.rules"), "language 1\nuse \"more.rules\"\nuse default\n").unwrap();
}

fn bucket(table: &pointsman::table::Table, message: &str) -> String {
    let signal = SignalRef { message: Some(message), ..SignalRef::default() };
    let verdict = table.classify(&signal, &mut Scratch::default());
    table.bucket(verdict.bucket).name.to_string()
}

#[cfg(feature = "tokio")]
mod engine;
mod load;
