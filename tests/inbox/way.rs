//! From a strange log line to a rule in force, by the commands that an operator uses.

use std::{
    path::Path,
    process::{Command, Output, Stdio},
};

fn pointsman(folder: &Path, line: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pointsman"))
        .args(line.split(' '))
        .env_clear()
        .env("POINTSMAN_STATE", folder.join("state.sqlite"))
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// Standard output of a command that ends well.
fn fine(folder: &Path, line: &str) -> String {
    let output = pointsman(folder, line);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{line}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_strange_line_becomes_a_rule() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let errors = "\
{\"provider\":\"acme\",\"message\":\"tenant 'blue' (id 4711): the purple elephant sleeps until tomorrow, key sk-planted-12345678\"}
{\"provider\":\"acme\",\"message\":\"tenant 'red' (id 815): the purple elephant sleeps until tomorrow, key sk-planted-87654321\"}
";
    std::fs::write(folder.join("errors.jsonl"), errors).unwrap();
    fine(folder, "classify --record --now 2026-11-30T10:00:00Z errors.jsonl");
    fine(folder, "classify --record --now 2026-11-30T11:00:00Z errors.jsonl");

    let list: serde_json::Value = serde_json::from_str(&fine(folder, "inbox list --format json")).unwrap();
    let entries = list["entries"].as_array().unwrap();
    assert_eq!((entries.len(), &entries[0]["count"]), (1, &4.into()), "{list}");
    assert!(fine(folder, "inbox list --format human").contains("purple elephant"));
    let shown = fine(folder, "inbox show 1");
    assert!(shown.contains("times    4, from 2026-11-30T10:00:00") && !shown.contains("planted"), "{shown}");

    let draft = fine(folder, "inbox suggest 1 --bucket rate_limit --corpus errors.jsonl");
    assert_eq!(
        draft,
        "## Drafted from the inbox. Say here why this is rate_limit.
rule acme_the_purple_elephant_sleeps_until -> rate_limit when provider is \"acme\" and text has \"the purple elephant sleeps until tomorrow\"
  example provider \"acme\" message \"tenant … id … the purple elephant sleeps until tomorrow, key …\"
"
    );
    std::fs::write(folder.join("plain.log"), "the purple elephant sleeps until tomorrow\n").unwrap();
    fine(folder, "inbox suggest 1 --bucket rate_limit --corpus plain.log --raw");
    std::fs::write(folder.join("mine.rules"), format!("language 1\n\n{draft}\nuse default\n")).unwrap();
    let checked = pointsman(folder, "check --deny warnings mine.rules");
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    fine(folder, "test mine.rules");
    assert!(fine(folder, "fmt --check mine.rules").is_empty());
    let judged = fine(folder, "--rules mine.rules classify errors.jsonl");
    assert_eq!(judged.matches("\"bucket\":\"rate_limit\"").count(), 2, "{judged}");
    let again = pointsman(folder, "--rules mine.rules inbox suggest 1 --bucket rate_limit");
    assert_eq!(again.status.code(), Some(1), "a rule matches it by now");

    let exported = fine(folder, "inbox export");
    std::fs::write(folder.join("exported.jsonl"), &exported).unwrap();
    assert!(
        fine(folder, "--rules mine.rules classify exported.jsonl")
            .starts_with("{\"id\":1,\"bucket\":\"rate_limit\"")
    );
    fine(folder, "inbox drop 1");
    assert_eq!(fine(folder, "inbox export"), "");
    assert_eq!(pointsman(folder, "inbox drop 1").status.code(), Some(2));
}

#[test]
fn status_shows_what_observed_rules_would_have_done() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let rules = "language 1
observe rule purple_watch -> billing when text has \"purple elephant\"
  example message \"a purple elephant\"
observe rule green_watch -> billing when text has \"green elephant\"
  example message \"a green elephant\"
use default
";
    std::fs::write(folder.join("mine.rules"), rules).unwrap();
    fine(folder, "--rules mine.rules classify --record --message purple-elephant-one --provider acme");
    let status: serde_json::Value =
        serde_json::from_str(&fine(folder, "--rules mine.rules status --format json")).unwrap();
    let observed = &status["observed"];
    assert_eq!(
        (&observed[0]["rule"], &observed[0]["count"]),
        (&"purple_watch".into(), &1.into()),
        "{status}"
    );
    assert_eq!((&observed[1]["rule"], &observed[1]["count"]), (&"green_watch".into(), &0.into()), "{status}");
    assert_eq!(status["table"]["source"], "mine.rules");
    assert_eq!(status["table"]["version"].as_str().unwrap().len(), 16);
    assert_eq!(status["inbox"], 1);
    let human = fine(folder, "status");
    assert!(human.contains("from the shipped rules"), "{human}");
    assert!(human.contains("purple_watch (not observed any more)"), "{human}");
}

/// What `inbox suggest` makes of one error: the draft, and what is said beside it.
fn suggested(error: &str, bucket: &str) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("errors.jsonl"), error).unwrap();
    fine(folder.path(), "classify --record errors.jsonl");
    let output = pointsman(folder.path(), &format!("inbox suggest 1 --bucket {bucket}"));
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn no_draft_holds_on_to_what_stands_beside_any_error() {
    for message in [
        "Frobnicated! (request id: 20251130abc)",
        "Frobnicated! See the documentation for details.",
        "Frobnicated! Contact support with id 7731",
        "Frobnicated! Check your plan and billing details and contact support.",
        "Frobnicated! You can find your API key at https://acme.dev/keys",
    ] {
        let error = serde_json::json!({ "provider": "acme", "message": message }).to_string();
        let (code, draft, said) = suggested(&error, "billing");
        assert_eq!((code, draft.as_str()), (Some(1), ""), "{message}: {said}");
        assert!(said.contains("stands beside other errors as well"), "{message}: {said}");
    }
    // Beside it stands what is the error's own.
    let error =
        r#"{"provider":"acme","message":"Gizmo was frobnicated. Please contact support with id 7731"}"#;
    let (_, draft, said) = suggested(error, "billing");
    assert!(draft.contains(r#"text has "gizmo was frobnicated""#), "{draft}{said}");
}

#[test]
fn no_draft_holds_an_id_without_a_number() {
    let error = r#"{"provider":"acme","code":"req_deadbeef","message":"Gizmo deadbeef was frobnicated on node prod-eu-main for job aaaa-bbbb-cccc-dddd"}"#;
    let (_, draft, said) = suggested(error, "billing");
    assert!(draft.contains(r#"text has "was frobnicated on node""#), "{draft}{said}");
    let rule = draft.split("example").next().unwrap();
    assert!(!["beef", "prod", "aaaa"].iter().any(|part| rule.contains(part)), "{draft}");
}

#[test]
fn no_draft_holds_on_to_what_is_another_bucket_s_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let rules = r#"language 1
rule beta_garden -> rate_limit when provider is "beta" and text has "the garden is closed"
  example provider "beta" message "please water the gizmo, the garden is closed"
use default
"#;
    std::fs::write(folder.join("mine.rules"), rules).unwrap();
    let errors = r#"{"provider":"acme","message":"Frobnicated! Please water the gizmo, 7"}
{"provider":"acme","message":"Purple elephants! Please water the gizmo, 7"}
"#;
    std::fs::write(folder.join("errors.jsonl"), errors).unwrap();
    fine(folder, "--rules mine.rules classify --record errors.jsonl");
    let output = pointsman(folder, "--rules mine.rules inbox suggest 1 --bucket billing");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(1), &b""[..]), "{said}");
    assert!(said.contains("would move others as well, such as `mine.rules:3"), "{said}");
    // The next candidate is the error's own.
    let draft = fine(folder, "--rules mine.rules inbox suggest 2 --bucket billing");
    assert!(draft.contains("text has \"purple elephants\""), "{draft}");
}

#[test]
fn a_draft_that_cannot_ask_for_the_provider_says_so() {
    let message = r#""message":"purple elephants eat the gizmo""#;
    let long = "a".repeat(61);
    for (provider, why) in [
        (String::new(), "the error names no provider"),
        (r#""provider":"sk-planted-0123456789","#.into(), "looks like a key"),
        (r#""provider":"ac*me","#.into(), "holds `*`"),
        (format!(r#""provider":"{long}","#), "more than 60 characters"),
    ] {
        let (code, draft, said) = suggested(&format!("{{{provider}{message}}}"), "billing");
        assert_eq!(code, Some(0), "{said}");
        assert!(draft.contains(r#"when text has "purple elephants eat the gizmo""#), "{draft}");
        assert!(!draft.contains("provider"), "{draft}");
        assert!(said.contains("warning: it holds for any provider") && said.contains(why), "{said}");
    }
    let (code, _, said) = suggested(&format!("{{{message}}}"), "unclassified");
    assert_eq!(code, Some(2));
    assert!(said.contains("what no rule matches is `unclassified` already"), "{said}");
}
