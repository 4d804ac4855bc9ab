//! The commands that look at and change the state: `simulate --state`, `status`, `profiles`,
//! `session`, `import`, run as a user runs them.

use std::{path::Path, process::Command};

use serde_json::Value;

use crate::support;

#[cfg(unix)]
mod strangers;

/// A secret that must never come out again.
const PLANTED: &str = "sk-planted-4f9d2c71b8";

/// What a command did.
struct Done {
    stdout: String,
    stderr: String,
    code: i32,
}

impl Done {
    fn fine(self) -> Self {
        assert_eq!(self.code, 0, "{}\n{}", self.stdout, self.stderr);
        self
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }

    fn lines(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// Runs `pointsman` in `folder` with its state in `state.sqlite`.
fn run(folder: &Path, args: &[&str], stdin: &str) -> Done {
    let output = support::pointsman(folder, args, stdin);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let done = Done {
        stdout: text(output.stdout),
        stderr: text(output.stderr),
        code: output.status.code().unwrap(),
    };
    for said in [&done.stdout, &done.stderr] {
        assert!(!said.contains(PLANTED), "J6: the secret came out: {said}");
    }
    done
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

const CONFIG: &str = "\
auth: { cooldowns: { billingBackoffHours: 2 } }
agents: { defaults: { model: { primary: openai/gpt-5.5, fallbacks: [anthropic/claude-opus-4-8] } } }
";

fn scenario(fail: &str, turns: &str) -> String {
    format!(
        "config: {{ agents: {{ defaults: {{ model: {{ primary: openai/gpt-5.5, fallbacks: [anthropic/claude-opus-4-8] }} }} }} }}
profiles: [ {{ id: 'openai:a', kind: api_key }}, {{ id: 'anthropic:a', kind: api_key }} ]
providers: [ {{ provider: openai, fail: {fail} }} ]
turns: {turns}
"
    )
}

#[test]
fn c3_a_secret_comes_from_stdin_or_by_reference_and_never_from_an_argument() {
    let dir = folder();
    run(dir.path(), &["profiles", "add", "openai:main"], PLANTED).fine();
    run(
        dir.path(),
        &["profiles", "add", "openai", "--email", "me@example.com", "--kind", "oauth", "env:KEY"],
        "",
    )
    .fine();
    run(dir.path(), &["profiles", "add", "groq", "file:/run/key"], "").fine();
    let refused = run(dir.path(), &["profiles", "add", "openai:other", PLANTED], "");
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("never comes from one"), "{}", refused.stderr);
    let misplaced = run(dir.path(), &["profiles", "add", PLANTED, "env:KEY"], "");
    assert_eq!(misplaced.code, 2);
    assert!(misplaced.stderr.contains("where the profile's id should"), "{}", misplaced.stderr);
    assert!(!misplaced.stderr.contains(PLANTED), "{}", misplaced.stderr);
    let lines = run(dir.path(), &["profiles", "add", "openai:other"], &format!("{PLANTED}\n{PLANTED}\n"));
    assert!(lines.code != 0 && lines.stderr.contains("on one line"), "{}", lines.stderr);
    let empty = run(dir.path(), &["profiles", "add", "openai:other"], " \n");
    assert_eq!(empty.code, 2, "an empty secret is none");
    let listed = run(dir.path(), &["profiles", "list", "--format", "json"], "").fine().json();
    let ids: Vec<_> = listed["profiles"].as_array().unwrap().iter().map(|p| p["id"].clone()).collect();
    assert_eq!(ids, ["openai:main", "openai:me@example.com", "groq:default"]);
}

#[test]
fn c2_the_legacy_name_of_a_stored_profile_is_refused() {
    let dir = folder();
    run(dir.path(), &["profiles", "add", "openai:x", "env:KEY"], "").fine();
    let twice = run(dir.path(), &["profiles", "add", "openai-codex:x", "env:KEY"], "");
    assert_eq!(twice.code, 2);
    assert!(twice.stderr.contains("the same profile as `openai:x`"), "{}", twice.stderr);
}

#[test]
fn an_unknown_profile_gets_the_nearest_name() {
    let dir = folder();
    run(dir.path(), &["profiles", "add", "openai:work", "env:KEY"], "").fine();
    let far = run(dir.path(), &["profiles", "remove", "openai:wrok"], "");
    assert_eq!(far.code, 2);
    assert!(far.stderr.contains("did you mean `openai:work`?"), "{}", far.stderr);
    run(dir.path(), &["profiles", "remove", "openai:work"], "").fine();
    let listed = run(dir.path(), &["profiles", "list", "--format", "json"], "").fine().json();
    assert_eq!(listed["profiles"], Value::Array(vec![]));
}

#[test]
fn j5_status_shows_the_active_fallback_and_why_and_every_window() {
    let dir = folder();
    std::fs::write(dir.path().join("config.yaml"), CONFIG).unwrap();
    let hint = "{ status: 429, message: Rate limit reached, headers: { retry-after: '1555200' } }";
    std::fs::write(dir.path().join("s.yaml"), scenario(hint, "[ { at: 0s, session: s1 } ]")).unwrap();
    run(dir.path(), &["simulate", "s.yaml", "--state", "state.sqlite"], "").fine();
    let args = ["status", "--config", "config.yaml", "--session", "s1", "--format", "json"];
    let status = run(dir.path(), &args, "").fine().json();
    assert_eq!(status["selected"], "openai/gpt-5.5");
    assert_eq!(status["source"], "default");
    assert_eq!(status["active"], "anthropic/claude-opus-4-8");
    assert_eq!(status["reason"], "rate_limit");
    let window = &status["profiles"][0]["windows"][0];
    assert_eq!(window["lane"], "cooldown");
    assert_eq!(window["bucket"], "rate_limit");
    assert_eq!(window["model"], "gpt-5.5");
    assert_eq!(window["step"], 1);
    assert_eq!(window["clamped"], true, "E6: the provider said 18 days");
    assert_eq!(window["nextStep"]["step"], 2);
    assert_eq!(window["nextStep"]["ms"], 300_000);
    let billing =
        status["settings"].as_array().unwrap().iter().find(|s| s["name"] == "billing_start").unwrap();
    assert_eq!(billing["value"], "2h", "L2");
    assert_eq!(billing["origin"], "config auth.cooldowns.billingBackoffHours");
    let text = run(dir.path(), &["status", "--config", "config.yaml", "--session", "s1"], "").fine().stdout;
    assert!(text.contains("fallback anthropic/claude-opus-4-8 (rate_limit)"), "{text}");
    assert!(text.contains("the provider said"), "{text}");
}

#[test]
fn c8_status_says_why_a_profile_is_left_out() {
    let dir = folder();
    let add =
        ["profiles", "add", "openai:old", "env:KEY", "--kind", "token", "--expires", "2020-01-01T00:00:00Z"];
    run(dir.path(), &add, "").fine();
    let status = run(dir.path(), &["status", "--format", "json"], "").fine().json();
    assert_eq!(status["profiles"][0]["eligible"], false);
    assert!(status["profiles"][0]["reason"].as_str().unwrap().contains("expired at 2020-01-01"));
}

#[test]
fn c5_an_order_of_missing_profiles_is_an_error_in_status() {
    let dir = folder();
    std::fs::write(dir.path().join("config.yaml"), "auth: { order: { openai: ['openai:gone'] } }\n").unwrap();
    run(dir.path(), &["profiles", "add", "openai:there", "env:KEY"], "").fine();
    let status = run(dir.path(), &["status", "--config", "config.yaml"], "");
    assert_eq!(status.code, 1);
    assert!(status.stdout.contains("`auth.order.openai` names only profiles that are not stored"));
}

#[test]
fn a_second_simulation_goes_on_where_the_first_stopped() {
    let dir = folder();
    let fail = "{ status: 429, message: Rate limit reached }";
    std::fs::write(dir.path().join("one.yaml"), scenario(fail, "[ { at: 0s, session: s1 } ]")).unwrap();
    let turns = "[ { at: 0s, session: s2, model: openai/gpt-5.5 }, { at: 31s, session: s2 }, { at: 1m, session: s2 } ]";
    std::fs::write(dir.path().join("two.yaml"), scenario(fail, turns)).unwrap();
    run(dir.path(), &["simulate", "one.yaml", "--state", "sim.sqlite"], "").fine();
    let lines = run(dir.path(), &["simulate", "two.yaml", "--state", "sim.sqlite"], "").fine().lines();
    assert_eq!(lines[1]["event"], "attempt");
    assert_eq!(lines[1]["probe"], "primary", "I3: the first scenario's window is open: {lines:#?}");
    let windows: Vec<_> = lines.iter().filter(|line| line["event"] == "window").collect();
    assert_eq!(windows.len(), 1, "{lines:#?}");
    assert_eq!(windows[0]["atMs"], 60_000);
    assert_eq!(windows[0]["step"], 2, "E10: the ladder climbs on");
}

#[test]
fn session_commands_do_what_the_user_does() {
    let dir = folder();
    run(dir.path(), &["profiles", "add", "openai:a", "env:KEY"], "").fine();
    let set = ["session", "set", "s1", "--model", "openai/gpt-5.4", "--profile", "openai:a"];
    run(dir.path(), &set, "").fine();
    let shown = run(dir.path(), &["session", "show", "s1", "--format", "json"], "").fine().json();
    assert_eq!(shown["selected"]["candidate"]["model"], "gpt-5.4");
    assert_eq!(shown["selected"]["source"], "user");
    assert_eq!(shown["pins"]["openai"]["byUser"], true);
    run(dir.path(), &["session", "reset", "s1"], "").fine();
    let shown = run(dir.path(), &["session", "show", "s1", "--format", "json"], "").fine().json();
    assert_eq!(shown["selected"]["candidate"]["model"], "gpt-5.4", "K5: a user's model survives reset");
    assert_eq!(shown["pins"], serde_json::json!({}));
    run(dir.path(), &["session", "reset", "s1", "--new"], "").fine();
    let shown = run(dir.path(), &["session", "show", "s1", "--format", "json"], "").fine().json();
    assert_eq!(shown["selected"], Value::Null);
    assert_eq!(run(dir.path(), &["session", "set", "s1"], "").code, 2);
    assert_eq!(run(dir.path(), &["session", "set", "s1", "--model", "gpt"], "").code, 2);
    for action in ["show", "reset"] {
        let unknown = run(dir.path(), &["session", action, "s2"], "");
        assert_eq!(unknown.code, 2, "{action}");
        assert!(unknown.stderr.contains("nothing is stored for session `s2`"), "{}", unknown.stderr);
    }
}

#[test]
fn e7_a_manual_clear_ends_windows() {
    let dir = folder();
    let fail = "{ status: 402, message: Insufficient credits }";
    std::fs::write(dir.path().join("s.yaml"), scenario(fail, "[ { at: 0s, session: s1 } ]")).unwrap();
    run(dir.path(), &["simulate", "s.yaml", "--state", "state.sqlite"], "").fine();
    let windows = || {
        let status = run(dir.path(), &["status", "--format", "json"], "").fine().json();
        status["profiles"][0]["windows"].as_array().unwrap().len()
    };
    assert_eq!(windows(), 1);
    run(dir.path(), &["profiles", "clear", "openai:a"], "").fine();
    assert_eq!(windows(), 0);
}

#[test]
fn c4_import_reports_what_it_took_and_can_run_again() {
    let dir = folder();
    let credentials = dir.path().join("legacy/credentials");
    std::fs::create_dir_all(&credentials).unwrap();
    let file =
        format!(r#"{{ "openai": {{ "access": "{PLANTED}", "refresh": "r-{PLANTED}", "expires": 1 }} }}"#);
    std::fs::write(credentials.join("oauth.json"), &file).unwrap();
    let first = run(dir.path(), &["import", "legacy", "--format", "json"], "").fine().json();
    assert_eq!(first["files"][0]["profiles"], serde_json::json!(["openai:default"]), "{first:#}");
    let again = run(dir.path(), &["import", "legacy"], "").fine().stdout;
    assert!(again.contains("kept as stored: openai:default"), "{again}");
    assert_eq!(std::fs::read_to_string(credentials.join("oauth.json")).unwrap(), file);
    assert_eq!(run(dir.path(), &["import", "nowhere"], "").code, 2);
}

#[test]
fn c4_an_import_that_cannot_read_says_so_in_its_exit_code() {
    let dir = folder();
    std::fs::create_dir_all(dir.path().join("legacy/credentials")).unwrap();
    let none = run(dir.path(), &["import", "legacy"], "");
    assert_eq!((none.code, none.stdout.as_str()), (2, ""), "no legacy file at all");
    assert!(none.stderr.contains("`legacy` holds no legacy files of agent `main`"), "{}", none.stderr);
    std::fs::write(dir.path().join("legacy/credentials/oauth.json"), "{ garbage").unwrap();
    let bad = run(dir.path(), &["import", "legacy"], "");
    assert_eq!(bad.code, 1);
    assert!(bad.stdout.contains("no valid JSON (line 1, column 3)"), "{}", bad.stdout);
    let bad = run(dir.path(), &["import", "legacy", "--format", "json"], "");
    assert_eq!((bad.code, &bad.json()["files"][0]["unread"]), (1, &Value::Bool(true)));
}

#[test]
fn a_scenario_that_asks_nothing_is_said() {
    let dir = folder();
    for empty in ["", "{}"] {
        let played = run(dir.path(), &["simulate", "-", "--format", "jsonl"], empty).fine();
        assert!(played.stderr.contains("it has no `turns`, so nothing is played"), "{}", played.stderr);
    }
}

#[test]
fn a_state_file_that_is_none_is_said_and_left_alone() {
    let dir = folder();
    std::fs::write(
        dir.path().join("state.sqlite"),
        "this is no database, though it is long enough ".repeat(40),
    )
    .unwrap();
    let before = std::fs::read(dir.path().join("state.sqlite")).unwrap();
    for args in [&["status"][..], &["profiles", "list"], &["session", "reset", "s1"]] {
        let done = run(dir.path(), args, "");
        assert_eq!(done.code, 2, "{args:?}: {}", done.stderr);
        assert!(done.stderr.contains("state.sqlite"), "{}", done.stderr);
    }
    assert_eq!(std::fs::read(dir.path().join("state.sqlite")).unwrap(), before);
}

#[test]
fn without_a_state_file_looking_makes_none() {
    let dir = folder();
    run(dir.path(), &["status"], "").fine();
    run(dir.path(), &["profiles", "list"], "").fine();
    assert!(!dir.path().join("state.sqlite").exists());
}

/// So is one whose making was cut short, by a kill or a full disk, before its tables stood.
#[cfg(unix)]
#[test]
fn an_empty_state_file_is_a_fresh_state() {
    let fresh = folder();
    for half_made in [false, true] {
        let empty = folder();
        let file = empty.path().join("state.sqlite");
        std::fs::write(&file, "").unwrap();
        if half_made {
            let db = rusqlite::Connection::open(&file).unwrap();
            db.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())).unwrap();
        }
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        let before = std::fs::read(&file).unwrap();
        assert_eq!(before.is_empty(), !half_made);
        for look in [&["status"][..], &["inbox", "list"], &["profiles", "list"], &["session", "show", "x"]] {
            let (with, without) = (run(empty.path(), look, ""), run(fresh.path(), look, ""));
            let of =
                |done: &Done| (done.code, done.stdout.replace(" (not there yet)", ""), done.stderr.clone());
            assert_eq!(of(&with), of(&without), "{look:?}");
            assert_eq!(std::fs::read(&file).unwrap(), before, "looking changes nothing");
        }
        run(empty.path(), &["profiles", "add", "openai:x", "env:HOME"], "").fine();
        assert!(run(empty.path(), &["profiles", "list"], "").fine().stdout.contains("openai:x"));
    }
}

/// Whatever the umask: the folder that is made is its owner's, and so are the file and its journal. A file
/// that others could open is closed to them, and both are said.
#[cfg(unix)]
#[test]
fn j6_only_the_owner_can_open_the_state() {
    use std::{fs, os::unix::fs::PermissionsExt as _};
    let folder = tempfile::tempdir().unwrap();
    let run = |umask: &str, args: &str| {
        let binary = env!("CARGO_BIN_EXE_pointsman");
        let output = Command::new("sh")
            .args(["-c", &format!("umask {umask}; exec {binary} {args}")])
            .env_clear()
            .env("HOME", folder.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let below = folder.path().join(".local/state/pointsman");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert!(!run("000", "profiles add openai:x env:HOME").contains("others"));
    let state = below.join("main.sqlite");
    assert_eq!((mode(&below), mode(&state)), (0o700, 0o600));
    fs::set_permissions(&state, fs::Permissions::from_mode(0o644)).unwrap();
    for look in ["status", "profiles list"] {
        let said = run("022", look);
        assert_eq!(said.matches("others can open").count(), 1, "{look}: {said}");
        assert!(said.contains("(mode 644); `chmod 600` ends that"), "{look}: {said}");
    }
    assert_eq!(mode(&state), 0o644, "who only looks changes nothing");
    for beside in ["main.sqlite-wal", "main.sqlite-shm"] {
        let path = below.join(beside);
        if path.exists() {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        }
    }
    assert!(run("000", "profiles add openai:y env:HOME").contains("nobody else can now"));
    for entry in fs::read_dir(&below).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}
