//! Escape sequences planted in every input come out of no command raw: no ESC, BEL, CSI, OSC or other
//! control character, and nothing that turns a line around; for people and as JSON.

use std::{fs, path::Path};

use serde_json::json;

use crate::support;

/// A title, a colour, a bell, both one-byte forms, an override of direction, an isolate, a tag.
const HOSTILE: &str =
    "\u{1b}]0;EVIL\u{7}\u{1b}[31mEVIL\u{8}\u{9b}2J\u{9d}x\u{9c}\u{202e}EVIL\u{2066}\u{200f}\u{e0041}\u{7f}";

/// What stands around it in names of files, where a slash and NUL may not stand.
fn file(name: &str) -> String {
    format!("{HOSTILE}{name}")
}

/// Characters that a terminal would obey, or that would hide or turn round what stands beside them.
fn raw(text: &str) -> Option<char> {
    text.chars().find(|c| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')
    })
}

fn run(folder: &Path, args: &[&str], input: &str) -> String {
    let output = support::pointsman(folder, args, input);
    let code = output.status.code();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8(text).unwrap_or_else(|error| panic!("{args:?}: {error}"));
    assert!(matches!(code, Some(0..=2)), "{args:?}: {code:?}: {text}");
    text
}

/// Rules that say it wherever a text may stand.
fn rules() -> String {
    format!(
        "language 1\n\n# {HOSTILE}\n## {HOSTILE}\nbucket odd {{ text \"{HOSTILE}\" }}\non odd {{ fallback }}\n\n\
         list words = [\"evil {HOSTILE}\", \"{HOSTILE}\"]\n\n\
         ## {HOSTILE}\nrule evil -> billing when text has \"{HOSTILE} evil\" or text has any of words\n  \
           example provider \"{HOSTILE}\" message \"{HOSTILE} evil\"\n\n\
         rule late -> odd when header \"x-{HOSTILE}\" is \"{HOSTILE}\" or text matches /evil {HOSTILE}/\n\n\
         provider \"{HOSTILE}\" as evil_one {{\n  rule inner -> nowhere_{HOSTILE} when text has \"a b\"\n}}\n\n\
         notice fallback \"{HOSTILE} {{fallback}}\"\n\n\
         test \"{HOSTILE}\" {{\n  message \"{HOSTILE}\" -> billing by nobody\n}}\n\nuse \"{HOSTILE}.rules\"\n\
         {HOSTILE}\nuse default\n"
    )
}

/// The same where the rules load: escapes may be written out.
fn sound_rules() -> String {
    let written: String = HOSTILE.chars().map(|c| format!("\\u{{{:x}}}", u32::from(c))).collect();
    format!(
        "language 1\n\n## {HOSTILE}\nlist words = [\"evil {written}\", \"{HOSTILE} worse\"]\n\n\
         ## {HOSTILE}\nrule evil -> billing when text has any of words or text has \"EVIL\"\n  \
           example provider \"{written}\" message \"{written} evil\"\n  counterexample message \"{HOSTILE}\"\n\n\
         use default\n\nreplace notice fallback \"{written} {{fallback}} {{reason}}\"\n"
    )
}

fn plant(folder: &Path) {
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("broken.rules", &rules());
    write(&file("broken.rules"), &rules());
    write("sound.rules", &sound_rules());
    write(&file("sound.rules"), &sound_rules());
    write("old.rules", "language 1\nuse default\n");
    let error = json!({
        "id": HOSTILE, "provider": HOSTILE, "model": HOSTILE, "status": 402, "code": HOSTILE, "errorType": HOSTILE,
        "param": HOSTILE, "message": format!("{HOSTILE} something nobody knows"), "details": [HOSTILE],
        "headers": { HOSTILE: HOSTILE, "retry-after": HOSTILE }, HOSTILE: HOSTILE,
    });
    let wrong = json!({ "message": 5, HOSTILE: HOSTILE, "status": HOSTILE, "receivedAt": HOSTILE });
    write("errors.jsonl", &format!("{error}\n{wrong}\nno json {HOSTILE}\n{{\"a\":\"{HOSTILE}\n"));
    write("one.jsonl", &format!("{error}\n"));
    write("errors.log", &format!("402 {HOSTILE} something\n{HOSTILE}\n"));
    let quoted = json!(HOSTILE);
    write(
        "host.yaml",
        &format!(
            "agents: {{ defaults: {{ model: {{ primary: {quoted}, fallbacks: [{quoted}] }}, {quoted}: 1 }} }}\n\
             auth: {{ profiles: {{ {quoted}: {{ kind: {quoted} }} }}, order: {{ {quoted}: [{quoted}] }}, {quoted}: 3 }}\n"
        ),
    );
    let model = json!(format!("openai/{HOSTILE}"));
    let sound = format!(
        "agents: {{ defaults: {{ model: {{ primary: {model}, fallbacks: [{model}, anthropic/a] }} }} }}\n\
         auth: {{ order: {{ openai: [{}] }} }}\n",
        json!(format!("openai:{HOSTILE}"))
    );
    write("sound.yaml", &sound);
    write("odd.yaml", &format!("a: [\"{HOSTILE}\n"));
    let indented: String = sound.lines().map(|line| format!("  {line}\n")).collect();
    write(
        "scenario.yaml",
        &format!(
            "config:\n{indented}profiles:\n  - {{ id: {0}, kind: api_key }}\n  - {{ id: \"anthropic:b\", kind: api_key }}\n\
             providers:\n  - {{ provider: openai, fail: {{ status: 429, message: {quoted}, code: {quoted}, errorType: {quoted}, headers: {{ {quoted}: {quoted} }} }} }}\n\
               - {{ provider: anthropic, fail: {{ status: 400, message: {quoted} }} }}\n\
             turns:\n  - {{ at: 0s, session: {quoted} }}\n  - {{ at: 9s, session: {quoted} }}\n",
            json!(format!("openai:{HOSTILE}")),
        ),
    );
    write("bad_scenario.yaml", &format!("{quoted}: 1\nturns:\n  - {{ at: {quoted}, {quoted}: {quoted} }}\n"));
    let id = format!("openai:{HOSTILE}");
    let profiles = json!({ "version": 1, "profiles": {
        id.clone(): { "type": "api_key", "provider": "openai", "key": "sk-planted-k", "email": HOSTILE, HOSTILE: HOSTILE },
        HOSTILE: { "type": HOSTILE },
    }, "usageStats": { id: { "cooldownUntil": 9_800_000_060_000_i64, "cooldownReason": HOSTILE, "cooldownModel": HOSTILE,
        "disabledUntil": 9_800_000_060_000_i64, "disabledReason": HOSTILE, "failureCounts": { HOSTILE: 2 } } }, HOSTILE: 1 });
    write("legacy/agents/main/agent/auth-profiles.json", &profiles.to_string());
    write("legacy/agents/main/agent/auth-state.json", &format!("{{\"{HOSTILE}"));
    write(
        "snaps/one.snap",
        &format!("---\nsource: {quoted}\n---\n{HOSTILE} billing {HOSTILE} none fallback\n"),
    );
    write("bad/one.snap", &format!("---\n---\n{HOSTILE}\n"));
}

#[test]
fn no_command_lets_an_escape_through() {
    let folder = tempfile::tempdir().unwrap();
    plant(folder.path());
    let (broken, sound) = (file("broken.rules"), file("sound.rules"));
    let openai = format!("openai:{HOSTILE}");
    let model = format!("openai/{HOSTILE}");
    let mut commands: Vec<Vec<&str>> = vec![
        vec!["import", "legacy"],
        vec!["import", "legacy", "--format", "json"],
        vec!["import", HOSTILE],
        vec!["import", "legacy", "--agent", HOSTILE],
        vec!["import", "legacy", "--agent", HOSTILE, "--state", "other.sqlite"],
        vec!["classify", "one.jsonl", "--record"],
        vec!["classify", "errors.log", "--raw", "--record"],
        vec!["inbox", "show", "1"],
        vec!["inbox", "show", "1", "--format", "json"],
        vec!["inbox", "export"],
        vec!["inbox", "list"],
        vec!["inbox", "list", "--format", "json"],
        vec!["inbox", "suggest", "1", "--corpus", "one.jsonl"],
        vec!["inbox", "suggest", "1", "--bucket", "billing"],
        vec!["inbox", "suggest", "1", "--bucket", HOSTILE],
        vec!["inbox", "drop", HOSTILE],
        vec!["simulate", "bad_scenario.yaml"],
        vec!["simulate", "odd.yaml"],
        vec!["simulate", HOSTILE],
        vec!["profiles", "list"],
        vec!["profiles", "list", "--format", "json"],
        vec!["profiles", "add", &openai, "env:HOSTILE"],
        vec!["profiles", "add", HOSTILE, HOSTILE],
        vec!["profiles", "add", "openai:x", "--email", HOSTILE, "--provider", HOSTILE, "env:HOSTILE"],
        vec!["profiles", "add", "openai:y", "--expires", HOSTILE],
        vec!["profiles", "clear", HOSTILE],
        vec!["profiles", "clear", &openai],
        vec!["profiles", "remove", HOSTILE],
        vec!["session", "set", HOSTILE, "--model", &model],
        vec!["session", "set", HOSTILE, "--model", HOSTILE],
        vec!["session", "set", HOSTILE, "--profile", &openai],
        vec!["session", "show", HOSTILE],
        vec!["session", "show", HOSTILE, "--format", "json"],
        vec!["status", "--session", HOSTILE],
        vec!["status", "--agent", HOSTILE],
        vec!["status", "--config", "host.yaml"],
        vec!["status", "--config", "sound.yaml", "--session", HOSTILE],
        vec!["status", "--config", "sound.yaml", "--session", HOSTILE, "--format", "json"],
        vec!["session", "reset", HOSTILE],
        vec!["profiles", "remove", &openai],
        vec!["completions", HOSTILE],
        vec!["rules", "show", HOSTILE],
        vec!["rules", "init", HOSTILE],
        vec![HOSTILE],
        vec!["--rules", HOSTILE, "rules", "effective"],
        vec!["explain", "--code", HOSTILE],
        vec!["fmt", "--check", &sound],
        vec!["fmt", "--check", "."],
        vec!["fmt", "--check", &broken],
        vec!["fmt", HOSTILE],
        vec!["snapshot", "check", "one.jsonl", "--snapshots", "snaps"],
        vec!["snapshot", "check", "one.jsonl", "--snapshots", "snaps", "--format", "json"],
        vec!["snapshot", "check", "one.jsonl", "--snapshots", "bad"],
        vec!["snapshot", "check", "one.jsonl", "--snapshots", HOSTILE],
        vec!["snapshot", "accept", "errors.jsonl", "--snapshots", HOSTILE],
        vec!["diff", "shipped", HOSTILE, "--corpus", "errors.jsonl"],
        vec!["diff", "old.rules", &broken, "--corpus", "errors.jsonl"],
        vec!["diff", "old.rules", &sound, "--corpus", HOSTILE],
        vec!["diff", "old.rules", &sound, "--corpus", "errors.jsonl"],
        vec!["diff", "old.rules", &sound, "--corpus", "errors.jsonl", "--format", "json"],
        vec!["check", &sound, "--config", "host.yaml"],
        vec!["check", &sound, "--config", "odd.yaml"],
    ];
    for rules in [&broken, &sound] {
        for format in ["human", "json", "sarif"] {
            commands.push(vec!["check", rules, "--config", "sound.yaml", "--format", format]);
        }
        for format in ["human", "json"] {
            commands.push(vec!["test", rules, "--format", format]);
            commands.push(vec!["test", rules, "--coverage", "--format", format]);
            commands.push(vec!["classify", "errors.jsonl", "--rules", rules, "--format", format]);
            commands.push(vec!["explain", "errors.jsonl", "--rules", rules, "--format", format]);
            commands.push(vec!["explain", "errors.log", "--raw", "--rules", rules, "--format", format]);
        }
        for format in ["human", "jsonl"] {
            commands.push(vec!["simulate", "scenario.yaml", "--rules", rules, "--format", format]);
        }
        commands.push(vec!["rules", "effective", "--rules", rules]);
    }
    let mut leaks = Vec::new();
    let mut told = 0;
    for command in &commands {
        let text = run(folder.path(), command, "planted");
        told += usize::from(text.contains("EVIL"));
        if let Some(c) = raw(&text) {
            let at = text.find(c).unwrap();
            let start = text.floor_char_boundary(at.saturating_sub(60));
            let part: String = text[start..].chars().take(100).collect();
            leaks.push(format!("{} lets {c:?} through: {part:?}", command.join(" ").escape_debug()));
        }
    }
    assert!(leaks.is_empty(), "{} of {}: {leaks:#?}", leaks.len(), commands.len());
    assert!(told > commands.len() / 2, "only {told} of {} repeat what was planted", commands.len());
}
