//! The config file (L, B1, B2).

#![expect(clippy::unwrap_used, reason = "a test may fail so")]

use pointsman::config::{AgentModels, Config, ConfigError, ModelChoice, ModelRef, Outside};
use pointsman::table::SettingSource;

const WHOLE: &str = r#"
auth:
  profiles:
    "openai:work@example.com": { provider: openai, mode: oauth, email: work@example.com }
    "openai:backup": { provider: openai, mode: api_key }
    "groq:default":
  order:
    openai: ["openai:work@example.com", "openai:backup"]
  cooldowns:
    billingBackoffHours: 2.5
    billingBackoffHoursByProvider: { anthropic: 1, "acme.ai": 3 }
    billingMaxHours: 12
    authPermanentBackoffMinutes: 5
    authPermanentMaxMinutes: 30
    failureWindowHours: 6
    overloadedProfileRotations: 0
    overloadedBackoffMs: 250
    rateLimitedProfileRotations: 2
agents:
  defaults:
    model: { primary: openai/gpt-5.5, fallbacks: [anthropic/claude-opus-4-8, openrouter/meta/llama-4] }
    imageModel: { primary: openai/gpt-image, fallbacks: [] }
    heartbeat: { model: groq/tiny }
  list:
    - { id: helper, model: groq/llama-4 }
    - id: strict
      model: { primary: groq/llama-4, fallbacks: [] }
channels: { telegram: { botToken: "123:abc" } }
"#;

fn model(text: &str) -> ModelRef {
    ModelRef::parse(text).unwrap()
}

fn problems(text: &str) -> String {
    Config::parse(text).unwrap_err().to_string()
}

#[test]
fn l1_the_whole_file() {
    let config = Config::parse(WHOLE).unwrap();
    let ids: Vec<_> =
        config.profiles.iter().map(|p| (p.id.as_str(), p.provider(), p.kind.as_deref())).collect();
    assert_eq!(
        ids,
        [
            ("openai:work@example.com", "openai", Some("oauth")),
            ("openai:backup", "openai", Some("api_key")),
            ("groq:default", "groq", None)
        ]
    );
    assert_eq!(config.order["openai"], ["openai:work@example.com", "openai:backup"]);
    assert_eq!(
        config.defaults,
        AgentModels {
            model: Some(ModelChoice {
                primary: Some(model("openai/gpt-5.5")),
                fallbacks: Some(vec![model("anthropic/claude-opus-4-8"), model("openrouter/meta/llama-4")]),
            }),
            image_model: Some(ModelChoice {
                primary: Some(model("openai/gpt-image")),
                fallbacks: Some(vec![])
            }),
            heartbeat_model: Some(model("groq/tiny")),
        }
    );
    assert_eq!(model("openrouter/meta/llama-4").model, "meta/llama-4");
    assert_eq!(config.hints, []);
}

#[test]
fn l1_json_is_accepted() {
    let json = r#"{"agents": {"defaults": {"model": "openai/gpt-5.5"}}, "auth": {"cooldowns": {"billingMaxHours": 3}}}"#;
    let config = Config::parse(json).unwrap();
    assert_eq!(config.numbers.get("auth.cooldowns.billingMaxHours"), Some(3.0));
}

#[test]
fn l1_nothing_is_an_empty_config() {
    for text in ["", "\n", "# only a comment\n", "auth:\nagents:\n", "{}"] {
        assert_eq!(Config::parse(text).unwrap(), Config::default(), "{text:?}");
    }
}

#[test]
fn b2_missing_fallbacks_differ_from_none() {
    let config = Config::parse(WHOLE).unwrap();
    let fallbacks: Vec<_> =
        config.agents.iter().map(|agent| agent.models.model.clone().unwrap().fallbacks).collect();
    assert_eq!(fallbacks, [None, Some(vec![])]);
    let text = "agents: { defaults: { model: { primary: a/b } } }";
    assert_eq!(Config::parse(text).unwrap().defaults.model.unwrap().fallbacks, None);
}

#[test]
fn l2_settings_find_their_values() {
    let config = Config::parse(WHOLE).unwrap();
    assert_eq!(config.config("auth.cooldowns.billingBackoffHours"), Some(2.5));
    assert_eq!(config.config("auth.cooldowns.overloadedProfileRotations"), Some(0.0));
    assert_eq!(config.config("auth.cooldowns.nothing"), None);
    let by_provider = config.config_by_provider("auth.cooldowns.billingBackoffHoursByProvider");
    assert_eq!(by_provider, [("anthropic".to_owned(), 1.0), ("acme.ai".to_owned(), 3.0)]);
    let env = |name: &str| (name == "TTL").then(|| "5".to_owned());
    let outside = Outside { config: &config, env: &env };
    assert_eq!(outside.env("TTL"), Some("5".to_owned()));
    assert_eq!(outside.config("auth.cooldowns.billingMaxHours"), Some(12.0));
}

#[test]
fn l1_unknown_keys_of_own_sections_are_errors_with_a_suggestion() {
    let text = "auth:\n  cooldowns:\n    billingBackofHours: 5\n  profiles:\n    \"a:b\": { emial: x }\n";
    assert_eq!(
        problems(text),
        "line 3: unknown key `billingBackofHours` in `auth.cooldowns`; did you mean `billingBackoffHours`?\n\
         line 5: unknown key `emial` in `auth.profiles.a:b`; did you mean `email`?"
    );
    let text = "agents:\n  defaults:\n    model:\n      primary: a/b\n      fallback: [c/d]\n";
    assert_eq!(
        problems(text),
        "line 5: unknown key `fallback` in `agents.defaults.model`; did you mean `fallbacks`?"
    );
    let text = "agents:\n  list:\n    - id: x\n    - id: y\n      imageModel: { zzz: 1 }\n";
    assert_eq!(
        problems(text),
        "line 5: unknown key `zzz` in `agents.list[1].imageModel`; known are `primary`, `fallbacks`"
    );
}

#[test]
fn l1_other_keys_are_passed_over_with_a_hint_when_misspelt() {
    let config = Config::parse("agent: 1\nauth:\n  cooldown: {}\nchannels: {}\n").unwrap();
    let hints: Vec<_> = config.hints.iter().map(ToString::to_string).collect();
    assert_eq!(
        hints,
        [
            "line 1: `agent` at the top is passed over; did you mean `agents`?",
            "line 3: `cooldown` in `auth` is passed over; did you mean `cooldowns`?"
        ]
    );
}

#[test]
fn c3_secrets_do_not_belong_into_the_config() {
    let text = "auth:\n  profiles:\n    \"openai:a\": { provider: openai, key: sk-planted }\n";
    let shown = problems(text);
    assert_eq!(
        shown,
        "line 3: `key` does not belong into `auth.profiles.openai:a`; the config holds no secrets; store it with \
         `pointsman profiles add`"
    );
    assert!(!format!("{:?}", Config::parse(WHOLE).unwrap()).contains("123:abc"), "nothing else is kept");
}

#[test]
fn l1_wrong_types() {
    for (text, expected) in [
        ("auth: 3", "line 1: `auth` must be a map, not a number"),
        ("[1, 2]", "the config must be a map, not a list"),
        (
            "auth: { order: { openai: \"openai:a\" } }",
            "line 1: `auth.order.openai` must be a list, not a text",
        ),
        ("auth: { order: { openai: [7] } }", "line 1: `auth.order.openai[0]` must be a text, not a number"),
        ("auth: { order: { openai: [nobody] } }", "line 1: `nobody` is no profile id; write `provider:NAME`"),
        (
            "auth: { profiles: { \"a:b\": { kind: apikey } } }",
            "line 1: `apikey` is no kind of credential; did you mean `api_key`?",
        ),
        (
            "auth:\n  cooldowns:\n    billingMaxHours: soon",
            "line 3: `auth.cooldowns.billingMaxHours` must be a number of 0 or more, not a text",
        ),
        (
            "auth: { cooldowns: { billingMaxHours: -1 } }",
            "line 1: `auth.cooldowns.billingMaxHours` must be a number of 0 or more, not a negative number",
        ),
        (
            "auth: { cooldowns: { billingBackoffHoursByProvider: { x: y } } }",
            "line 1: `auth.cooldowns.billingBackoffHoursByProvider.x` must be a number of 0 or more, not a text",
        ),
        (
            "agents: { defaults: { model: gpt-5.5 } }",
            "line 1: `gpt-5.5` names no model; write `provider/model`",
        ),
        (
            "agents: { defaults: { model: [a/b] } }",
            "line 1: `agents.defaults.model` must be `provider/model`, or a map of `primary` and `fallbacks`, not \
             a list",
        ),
        ("agents: { list: [{ model: a/b }] }", "line 1: an agent has no `id`; give it one"),
        ("agents: { list: [{ id: x }, { id: x }] }", "line 1: agent `x` stands here twice"),
    ] {
        assert_eq!(problems(text), expected, "{text}");
    }
}

#[test]
fn l1_several_errors_come_together_in_order() {
    let text = "agents: { defaults: { model: x } }\nauth:\n  cooldowns: { a: 1 }\n  order: 5\n";
    let lines: Vec<_> =
        Config::parse(text).unwrap_err().problems().iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [1, 3, 4]);
}

#[test]
fn bad_yaml_says_where() {
    let error = Config::parse("auth:\n  order: [\n").unwrap_err();
    assert!(matches!(&error, ConfigError::Yaml(problem) if problem.line >= 2), "{error:?}");
    let error = problems("auth: {}\nauth: {}\n");
    assert!(error.contains("duplicate"), "{error}");
    let error = problems("a: 1\n---\nb: 2\n");
    assert!(error.contains("more than one document"), "{error}");
    assert!(Config::parse("\u{0}\u{1}").is_err());
}

#[test]
fn an_anchor_bomb_is_refused() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for n in 1..30 {
        let previous = format!("*a{}", n - 1);
        text.extend([format!("a{n}: &a{n} [{}]\n", vec![previous; 9].join(", "))]);
    }
    let error = problems(&text);
    assert!(error.contains("repetition limit"), "{error}");
}

#[test]
fn deep_and_huge_files_are_refused() {
    for brackets in ["[", "{a: ["] {
        let error = problems(&format!("a:\n  {}", brackets.repeat(100_000)));
        assert!(error.contains("line 2: its brackets are nested too deeply"), "{error}");
    }
    let deep = "a:\n".to_owned() + &(1..2_000).map(|n| " ".repeat(n) + "a:\n").collect::<String>();
    assert!(Config::parse(&deep).is_err());
    let huge = "# nothing\n".repeat(1_000_000);
    assert!(matches!(Config::parse(&huge), Err(ConfigError::TooLong { .. })));
}

/// Few enough repetitions for the reader of YAML, and gigabytes all the same.
#[test]
fn aliases_that_write_out_too_much_are_refused() {
    let list = vec!["{id: x}"; 2_000].join(", ");
    let text = format!("base: &base [{list}]\nall:\n{}", "  - *base\n".repeat(2_000));
    let error = problems(&text);
    assert!(error.contains("writes out more than 1000000 values"), "{error}");
}

#[test]
fn merge_keys_count() {
    let text =
        "base: &base { primary: a/b }\nagents: { defaults: { model: { <<: *base, fallbacks: [c/d] } } }\n";
    let choice = Config::parse(text).unwrap().defaults.model.unwrap();
    assert_eq!(choice.primary, Some(model("a/b")));
}
