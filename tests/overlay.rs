//! Overlays (language.md §4): an operator changes shipped rules without editing them. One test an edit.

use pointsman::{
    lang::{
        diagnostic::render,
        effective,
        load::{self, files::Memory},
        policy::{DurationSlot, End, Growth},
        tree::{Ruleset, SettingValue},
    },
    signal::SignalRef,
    table::{NoSettings, Table},
};
use std::time::Duration;

const BASE: &str = r#"language 1
bucket rate_limit { http 429; transient }
bucket billing { http 402 }
on rate_limit { cooldown model using short; rotate; fallback }
on billing { disable profile using short; rotate; fallback }
setting start = 1m from config "auth.start" in minutes
backoff short = steps start, 5m
list window_words = ["daily limit", "weekly limit"]
let window = text has any of window_words
group payment_required when status is 402 {
  rule window -> rate_limit when window
  rule anything_else -> billing otherwise
}
provider openrouter {
  rule key_limit -> billing when text has "key limit exceeded"
}
reset wait from header "retry-after" in seconds
alias openai = openai-codex
test "window" { status 402 message "daily limit" -> rate_limit by payment_required.window }
"#;

/// The rule set of an overlay over [`BASE`].
fn overlay(text: &str) -> Ruleset {
    let files = Memory::new().with("main.rules", format!("language 1\n{text}")).with("base.rules", BASE);
    match load::load(&files, "main.rules") {
        Ok((set, _)) => set,
        Err(error) => panic!("{}", render::lines(&error.diagnostics, &error.sources)),
    }
}

/// What is wrong with several files; the first is the root.
fn refused(files: &[(&str, &str)]) -> String {
    let memory = files.iter().fold(Memory::new().with("base.rules", BASE), |memory, (name, text)| {
        memory.with(name, format!("language 1\n{text}"))
    });
    let error = load::load(&memory, files[0].0).unwrap_err();
    render::lines(&error.diagnostics, &error.sources)
}

fn names(set: &Ruleset) -> Vec<&str> {
    set.rules.iter().map(|r| &*r.name).collect()
}

/// The rule that decides a message.
fn decides(set: &Ruleset, status: u16, message: &str) -> Option<String> {
    let table = Table::compile(set.clone(), &NoSettings).unwrap();
    let signal = SignalRef { status: Some(status), message: Some(message), ..SignalRef::default() };
    let verdict = table.classify(&signal, &mut pointsman::classify::Scratch::default());
    verdict.rule.map(|rule| table.rule(rule).name.to_string())
}

#[test]
fn rules_above_a_use_win_and_those_below_come_after() {
    let set = overlay(
        "rule mine -> billing when text has \"daily limit\"\nuse \"base.rules\"\nrule late -> billing when text has \"daily limit\" or text has \"late\"",
    );
    assert_eq!(
        names(&set),
        ["mine", "payment_required.window", "payment_required.anything_else", "openrouter.key_limit", "late"]
    );
    assert_eq!(decides(&set, 402, "daily limit").as_deref(), Some("mine"));
    assert_eq!(decides(&set, 500, "late").as_deref(), Some("late"));
}

#[test]
fn drop_takes_a_rule_out() {
    let set = overlay("use \"base.rules\"\ndrop rule payment_required.anything_else");
    assert_eq!(names(&set), ["payment_required.window", "openrouter.key_limit"]);
    assert_eq!(decides(&set, 402, "out of money"), None);
    assert_eq!(set.edits.len(), 1);
    assert_eq!(set.edits[0].what, "rule `payment_required.anything_else` dropped");
}

#[test]
fn drop_takes_blocks_resets_aliases_and_tests_out() {
    let set = overlay(
        "use \"base.rules\"\ndrop provider openrouter\ndrop reset wait\ndrop alias openai\ndrop test \"window\"\ndrop group payment_required",
    );
    assert!(set.rules.is_empty() && set.blocks.is_empty());
    assert!(set.resets.is_empty() && set.aliases.is_empty() && set.tests.is_empty());
}

#[test]
fn replace_puts_another_in_the_same_place() {
    let set = overlay(
        "replace backoff short = steps 30s, 1m\nuse \"base.rules\"\nreplace rule payment_required.window -> billing when text has \"weekly limit\"\nreplace on billing { surface }\nreplace list window_words = [\"monthly limit\"]",
    );
    let Growth::Steps(steps) = &set.backoffs[0].backoff.growth else { panic!() };
    assert_eq!(steps[0], DurationSlot::Fixed(Duration::from_secs(30)));
    assert_eq!(names(&set)[0], "payment_required.window");
    assert_eq!(decides(&set, 402, "weekly limit").as_deref(), Some("payment_required.window"));
    let billing = set.buckets.iter().find(|b| &*b.name == "billing").unwrap();
    assert_eq!(billing.reaction.end.node, End::Surface);
    assert!(billing.reaction.window.node.is_none());
    assert_eq!(set.lists[0].entries.len(), 1);
}

#[test]
fn extend_adds_to_a_list() {
    let set = overlay("use \"base.rules\"\nextend window_words with [\"fortnightly limit\"]");
    assert_eq!(decides(&set, 402, "Fortnightly limit").as_deref(), Some("payment_required.window"));
    let added = &set.lists[0].entries[2];
    assert_eq!(set.sources.locate(added.span), "main.rules:3");
}

#[test]
fn set_changes_a_value_and_says_who_did() {
    let set = overlay("use \"base.rules\"\nset start = 2m");
    assert_eq!(set.settings[0].value, SettingValue::Duration(Duration::from_mins(2)));
    assert_eq!(set.sources.locate(set.settings[0].set_by.unwrap()), "main.rules:3");
    assert!(set.settings[0].from_config.is_some(), "the config may still override it");
}

#[test]
fn in_puts_rules_beside_another() {
    let set = overlay(
        "use \"base.rules\"\nin group payment_required before anything_else { rule pause -> rate_limit when text has \"paused until\" }\nin provider openrouter after key_limit { rule more -> billing when text has \"no more keys\" }",
    );
    assert_eq!(names(&set)[1], "payment_required.pause");
    assert_eq!(names(&set)[4], "openrouter.more");
    assert_eq!(decides(&set, 402, "paused until Monday").as_deref(), Some("payment_required.pause"));
}

#[test]
fn a_file_may_insert_beside_a_rule_that_it_drops() {
    let set = overlay(
        "drop rule payment_required.anything_else\nin group payment_required before anything_else { rule pause -> rate_limit when text has \"paused until\" }\nuse \"base.rules\"",
    );
    assert_eq!(names(&set), ["payment_required.window", "payment_required.pause", "openrouter.key_limit"]);
}

#[test]
fn the_outer_of_two_edits_wins() {
    let files = Memory::new()
        .with("main.rules", "language 1\nuse \"middle.rules\"\nset start = 3m")
        .with("middle.rules", "language 1\nset start = 2m\nuse \"base.rules\"")
        .with("base.rules", BASE);
    let (set, _) = load::load(&files, "main.rules").unwrap();
    assert_eq!(set.settings[0].value, SettingValue::Duration(Duration::from_mins(3)));
    assert_eq!(set.edits.len(), 1);
}

#[test]
fn edits_of_files_side_by_side_conflict() {
    let found = refused(&[
        ("main.rules", "use \"a.rules\"\nuse \"b.rules\"\nuse \"base.rules\""),
        ("a.rules", "set start = 2m"),
        ("b.rules", "set start = 3m"),
    ]);
    assert!(found.starts_with("b.rules:2:1: error[P0502]: setting `start` is edited twice"), "{found}");
    assert_eq!(found.lines().count(), 1, "{found}");
}

#[test]
fn many_edits_of_one_thing_are_each_reported_once() {
    let edits: String = (1..=3_000).map(|n| format!("set start = {n}m\n")).collect();
    let found = refused(&[("main.rules", &format!("use \"base.rules\"\n{edits}"))]);
    assert_eq!(found.lines().count(), 2_999);
    assert!(found.lines().all(|line| line.contains("P0502")), "{found}");
}

#[test]
fn a_drop_and_a_replacement_conflict() {
    let found = refused(&[(
        "main.rules",
        "use \"base.rules\"\ndrop rule openrouter.key_limit\nreplace rule openrouter.key_limit -> billing when text has \"x ray\"",
    )]);
    assert!(found.contains("error[P0502]: rule `openrouter.key_limit` is edited twice"), "{found}");
}

#[test]
fn a_target_dropped_inside_says_so() {
    let found = refused(&[
        (
            "main.rules",
            "use \"middle.rules\"\nin group payment_required before anything_else { rule p -> billing when text has \"paused until\" }",
        ),
        ("middle.rules", "use \"base.rules\"\ndrop rule payment_required.anything_else"),
    ]);
    assert!(found.contains("P0501") && found.contains("edit something that is still there"), "{found}");
}

#[test]
fn a_reaction_of_a_rule_goes_over_that_of_its_bucket_slot_by_slot() {
    let set = overlay(
        "use \"base.rules\"\nrule a -> billing when status is 410 reaction { no rotate; say \"pay, please\" }\nrule b -> billing when status is 411 reaction only { fallback }",
    );
    let find = |name: &str| set.rules.iter().find(|r| &*r.name == name).unwrap().reaction.clone().unwrap();
    let a = find("a");
    assert!(a.window.node.is_some() && a.rotate.node.is_none());
    assert_eq!(set.sources.locate(a.window.span), "base.rules:5");
    assert_eq!(set.sources.locate(a.rotate.span), "main.rules:3");
    assert_eq!(a.say.unwrap().node, "pay, please");
    let b = find("b");
    assert!(b.window.node.is_none() && b.rotate.node.is_none());
    assert_eq!(b.end.node, End::Fallback);
}

#[test]
fn examples_take_what_their_blocks_say() {
    let set = overlay(
        "use \"base.rules\"\ngroup g when status in [410, 500..599] and model is \"kimi*\" {\n  provider [acme, zeta] as both {\n    rule r -> billing when text has \"x ray\"\n      example message \"x ray\"\n      example provider zeta status 502 message \"x ray\"\n  }\n}",
    );
    let rule = set.rules.iter().find(|r| &*r.name == "both.r").unwrap();
    let case = &rule.examples[0].case;
    assert_eq!(
        (case.status, case.provider.as_deref(), case.model.as_deref()),
        (Some(410), Some("acme"), Some("kimi"))
    );
    let case = &rule.examples[1].case;
    assert_eq!((case.status, case.provider.as_deref()), (Some(502), Some("zeta")));
}

#[test]
fn the_merged_list_names_what_won() {
    let set = overlay(
        "rule mine -> billing when text has \"slow down, friend\"\nuse \"base.rules\"\nset start = 2m\nextend window_words with [\"fortnightly limit\"]\nreplace on billing { surface }",
    );
    crate::support::with_snapshots("overlay", || {
        insta::assert_snapshot!("effective", effective::print(&set));
    });
}

#[test]
fn the_shipped_list_can_be_changed() {
    let (set, warnings) = load::from_text(
        "language 1\nrule slow_down_banner -> rate_limit when provider is acme and text has \"slow down, friend\"\n  example provider acme message \"Slow down, friend\"\nuse default\nreplace backoff short = steps 30s, 1m, 5m\nset billing_start = 1h\n",
    )
    .map_err(|e| render::lines(&e.diagnostics, &e.sources))
    .unwrap();
    assert!(warnings.is_empty(), "{}", render::lines(&warnings, &set.sources));
    assert_eq!(&*set.rules[0].name, "slow_down_banner");
}

/// The overlay that the language reference shows.
const REFERENCE: &str = r#"language 1
rule slow_down_banner -> rate_limit when provider is acme and text has "slow down, friend"
use default                                   # the shipped rules, at this place in the list
in group payment_required before anything_else { rule prepaid_pause -> rate_limit when text has "paused until" }
drop rule payment_required.anything_else
replace backoff short = steps 30s, 1m, 5m
extend usage_window_words with ["fortnightly"]
set billing_start = 1h
"#;

#[test]
fn the_overlay_of_the_reference_holds_on_the_shipped_rules() {
    let (set, _) = load::from_text(REFERENCE).map_err(|e| render::lines(&e.diagnostics, &e.sources)).unwrap();
    assert_eq!(set.edits.len(), 5);
    assert_eq!(&*set.rules[0].name, "slow_down_banner");
    assert!(set.rules.iter().any(|r| &*r.name == "payment_required.prepaid_pause"));
    assert!(set.rules.iter().all(|r| &*r.name != "payment_required.anything_else"));
    assert_eq!(decides(&set, 402, "paused until Monday").as_deref(), Some("payment_required.prepaid_pause"));
}

#[test]
fn values_of_single_providers_take_the_common_unit() {
    let set = overlay(
        "use \"base.rules\"\nreplace setting start = 1m from config \"auth.start\" in minutes by provider from config \"auth.startByProvider\"",
    );
    let unit = |e: &Option<pointsman::lang::tree::External>| e.as_ref().and_then(|e| e.unit);
    assert_eq!(unit(&set.settings[0].by_provider), unit(&set.settings[0].from_config));
    assert!(unit(&set.settings[0].by_provider).is_some());
}

#[test]
fn nothing_is_asked_of_an_operator_that_only_a_shipped_file_could_mend() {
    let (_, warnings) = load::from_text(
        "language 1\nuse default\nreplace on billing { surface }\nreplace on auth_permanent { surface }\n",
    )
    .map_err(|e| render::lines(&e.diagnostics, &e.sources))
    .unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
}

/// What is wrong with a text, with where it points and how to mend it.
fn told(text: &str) -> Vec<(String, String, String)> {
    let error = load::from_text(&format!("language 1\n{text}")).unwrap_err();
    let each = error.diagnostics.iter().map(|found| {
        let file = |span: pointsman::lang::source::Span| {
            let source = error.sources.iter().find(|(id, _)| *id == span.source).unwrap().1;
            source.shipped.unwrap_or("mine").to_owned()
        };
        let related = found.related.first().map(|(span, text)| format!("{text} {}", file(*span)));
        let places = format!("{} {}; {}", found.labels[0].1, file(found.span()), related.unwrap_or_default());
        (found.message.clone(), places, found.help.clone().unwrap_or_default())
    });
    each.collect()
}

#[test]
fn a_name_of_the_shipped_rules_is_reported_at_the_operators_own() {
    for (text, what, place, help) in [
        (
            "provider openrouter { rule a -> billing when text has \"odd words here\" }\nuse default",
            "block `openrouter`",
            "providers/routers.rules",
            "give yours a name of its own: `provider openrouter as mine { … }`; to change the shipped one, write \
             `in provider openrouter before RULE { … }`, or `drop provider openrouter`",
        ),
        (
            "rule host_unknown -> billing when text has \"odd words here\"\nuse default",
            "rule `host_unknown`",
            "",
            "give yours another name; to change the shipped one, write `replace rule host_unknown …` instead",
        ),
        (
            "use default\nlist usage_window_words = [\"fortnightly\"]",
            "list `usage_window_words`",
            "classify/words.rules",
            "give yours another name; to change the shipped one, write `replace list usage_window_words …` instead",
        ),
        (
            "use default\non billing { surface }",
            "on `billing`",
            "policy/reactions.rules",
            "to change the shipped one, write `replace on billing …` instead",
        ),
    ] {
        let found = told(text);
        let (message, places, helped) = &found[0];
        assert_eq!(message, &format!("{what} is declared twice"));
        assert!(places.starts_with("declared here mine; the shipped rules declare it too "), "{places}");
        assert!(places.ends_with(place), "{places}");
        assert_eq!(helped, help);
        assert_eq!(found.len(), 1, "{found:?}");
    }
    load::from_text(
        "language 1\nprovider openrouter as mine { rule a -> billing when text has \"odd words here\" }\nuse default",
    )
    .map_err(|e| render::lines(&e.diagnostics, &e.sources))
    .unwrap();
}

#[test]
fn what_is_dropped_takes_the_shipped_tests_of_it_along() {
    for dropped in ["provider openrouter", "rule host_unknown", "rule bare_unknown"] {
        let text = format!("language 1\nuse default\ndrop {dropped}\n");
        let (set, warnings) =
            load::from_text(&text).map_err(|e| render::lines(&e.diagnostics, &e.sources)).unwrap();
        assert!(warnings.is_empty(), "{dropped}: {warnings:?}");
        assert!(set.tests.iter().any(|test| test.title.starts_with("D5")), "what holds of others stays");
    }
    let own =
        told("use default\ndrop rule host_unknown\ntest \"own\" { status 400 -> format by host_unknown }");
    assert_eq!(own[0].0, "there is no rule called `host_unknown`", "one's own test is one's own to mend");
}

#[test]
fn a_name_of_the_shipped_rules_asks_for_them() {
    let help = "the shipped rules have `overloaded`: add `use default`";
    let rule = "rule slow -> overloaded when text has \"slow down, friend\"";
    assert_eq!(told(rule)[0].2, help);
    assert_eq!(
        told("rule slow -> overlooded when text has \"slow down, friend\"")[0].2,
        "declare it, or name one of `unclassified` and `empty_response`"
    );
    assert_eq!(
        told("let a = text has any of usage_window_words\nrule b -> unclassified when a")[0].2,
        "the shipped rules have `usage_window_words`: add `use default`"
    );
}
