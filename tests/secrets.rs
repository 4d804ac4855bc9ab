//! Planted keys must come out nowhere (J6): not in events, traces, notices, summaries, errors, Debug,
//! or on the command line; also when a provider repeats them.

use std::{
    fmt::{self, Debug, Write as _},
    path::Path,
    sync::{Arc, Mutex},
};

use pointsman::{
    host::{Attempt, AttemptError, Engine, RunError, Said},
    lang::policy::{CredentialKind, SelectionSource},
    run::{Choice, Refreshed, Request, Routing},
    state::{
        change::{Change, NewSecret},
        inbox::Records,
        memory::MemoryStore,
        model::{Candidate, Profile, Secret},
        secret::SecretSource,
        sqlite::SqliteStore,
        store::Store,
        view::ViewQuery,
    },
    time::Timestamp,
};
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::mpsc;
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

use crate::support::{
    lab::{START, id, list, table},
    root,
};

/// Words without digits, so that nothing but knowing them cuts them out.
const DIRECT: &str = "planted.direct.horse-battery";
const ENV: &str = "planted.env.staple-correct";
const FILE: &str = "planted.file.zebra-crossing";
const ACCESS: &str = "planted.access.old-lantern";
const REFRESH: &str = "planted.refresh.old-anchor";
const NEW_ACCESS: &str = "planted.access.new-compass";
const NEW_REFRESH: &str = "planted.refresh.new-rudder";

/// What all keys have in common.
const MARK: &str = "planted.";

/// Everything that was written anywhere.
#[derive(Clone, Default)]
struct Paper(Arc<Mutex<String>>);

impl Paper {
    fn write(&self, text: impl fmt::Display) {
        writeln!(self.0.lock().unwrap(), "{text}").unwrap();
    }

    fn debug(&self, value: &impl Debug) {
        self.write(format_args!("{value:?}\n{value:#?}"));
    }

    /// A failed run: its error, what was said of it, and what the store keeps.
    fn end(
        &self,
        error: &RunError,
        said: &mut mpsc::UnboundedReceiver<Said>,
        engine: &Engine,
        store: &MemoryStore,
    ) {
        self.write(error);
        self.debug(error);
        while let Ok(said) = said.try_recv() {
            self.debug(&said);
        }
        engine.flush().unwrap();
        self.debug(&store.inbox().unwrap());
    }

    /// The whole text, which must not hold a key.
    fn clean(&self) -> String {
        let text = self.0.lock().unwrap().clone();
        let leaks: Vec<&str> = text.lines().filter(|line| line.contains(MARK)).collect();
        assert!(leaks.is_empty(), "{} leaks: {leaks:#?}", leaks.len());
        text
    }
}

/// Writes every traced event down.
struct Tracer(Paper);

impl Subscriber for Tracer {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }
    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn event(&self, event: &Event<'_>) {
        struct Fields(String);
        impl Visit for Fields {
            fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
                write!(self.0, " {}={value:?}", field.name()).unwrap();
            }
        }
        let mut fields = Fields(format!("trace {}", event.metadata().target()));
        event.record(&mut fields);
        self.0.write(fields.0);
    }
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

struct Planted;

impl SecretSource for Planted {
    fn env(&self, name: &str) -> Option<SecretString> {
        (name == "PLANTED").then(|| SecretString::from(ENV))
    }
}

fn secret(text: &str) -> Secret {
    Secret::Direct(SecretString::from(text))
}

fn plant(store: &dyn Store, file: &Path) {
    std::fs::write(file, format!("{FILE}\n")).unwrap();
    let login = Profile {
        kind: CredentialKind::Oauth,
        secret: Some(secret(ACCESS)),
        refresh: Some(secret(REFRESH)),
        expires: Some(Timestamp::EPOCH),
        email: Some("person@example.com".into()),
        ..Profile::api_key("acme:person@example.com", "")
    };
    store.put_profile(&login).unwrap();
    store.put_profile(&Profile::api_key("acme:direct", DIRECT)).unwrap();
    store.put_profile(&Profile::api_key("acme:env", "env:PLANTED")).unwrap();
    store.put_profile(&Profile::api_key("other:file", &format!("file:{}", file.display()))).unwrap();
    store.put_profile(&Profile::api_key("third:gone", "file:/nowhere/key")).unwrap();
}

/// A provider that repeats the key in every place it has.
fn repeats(attempt: &Attempt, code: &str) -> AttemptError {
    let key = attempt.secret.as_ref().map(ExposeSecret::expose_secret).unwrap_or_default();
    let refresh = attempt.refresh.as_ref().map(ExposeSecret::expose_secret).unwrap_or_default();
    let new = if attempt.refresh_first { NEW_ACCESS } else { "that" };
    AttemptError::new()
        .status(401)
        .code(code)
        .error_type(format!("KeyError<{key}>"))
        .header("x-your-key", key)
        .body(format!(r#"{{"error":{{"message":"wrong key {key} or {refresh}, not {new}"}}}}"#))
        .detail(format!("Authorization: {key}"))
}

async fn turns(engine: &Engine, paper: &Paper) {
    for (session, code) in [("a", "t_auth"), ("b", "t_context"), ("c", "t_odd")] {
        let request = Request { session: Some(session.into()), ..Request::default() };
        let attempt = |attempt: Attempt| {
            paper.debug(&attempt);
            let error = repeats(&attempt, code);
            async move {
                if attempt.refresh_first {
                    let new = Refreshed {
                        secret: secret(NEW_ACCESS),
                        refresh: Some(secret(NEW_REFRESH)),
                        expires: Some(START),
                    };
                    paper.debug(&new);
                    attempt.refreshed(new);
                }
                paper.debug(&error);
                paper.write(&error);
                Err::<(), _>(error)
            }
        };
        let error = engine.run(request.clone(), attempt).await.unwrap_err();
        paper.debug(&error);
        paper.write(&error);
        paper.debug(&engine.run(request, |_| async { Ok::<_, AttemptError>(()) }).await);
    }
}

#[expect(clippy::needless_pass_by_value, reason = "callers cast to the trait here")]
fn play(store: Arc<dyn Store>) -> Paper {
    let paper = Paper::default();
    let folder = tempfile::tempdir().unwrap();
    plant(&*store, &folder.path().join("key"));
    let lists = list("acme/a", Some(&["other/b", "third/c"]));
    let routing = Routing { model: lists, ..Routing::default() };
    let (tell, mut said) = mpsc::unbounded_channel();
    let engine = Engine::new(table(""), Arc::new(routing), Arc::clone(&store))
        .with_secrets(Arc::new(Planted))
        .with_listener(Arc::new(tell));
    paper.debug(&engine);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tracing::subscriber::with_default(Tracer(paper.clone()), || runtime.block_on(turns(&engine, &paper)));
    while let Ok(said) = said.try_recv() {
        paper.debug(&said);
        if let Said::Event(_, event) = said {
            paper.write(serde_json::to_string(&event).unwrap());
        }
    }
    paper.debug(&store.view(&ViewQuery { session: Some("a") }, START).unwrap());
    paper.debug(&store.sessions().unwrap());
    for profile in ["acme:direct", "acme:env", "acme:person@example.com", "other:file"] {
        paper.debug(&store.profile(&id(profile)).unwrap());
    }
    let stored = store.profile(&id("acme:person@example.com")).unwrap().unwrap();
    let Some(Secret::Direct(now)) = stored.secret else { panic!("no secret") };
    assert_eq!(now.expose_secret(), NEW_ACCESS, "the refreshed token was kept all the same");
    paper.debug(&Change::NewSecret(NewSecret {
        profile: id("acme:x"),
        secret: secret(NEW_ACCESS),
        refresh: Some(secret(NEW_REFRESH)),
        expires: None,
    }));
    paper
}

#[test]
fn j6_no_key_comes_out_of_a_run_in_memory() {
    let store = Arc::new(MemoryStore::new());
    let paper = play(Arc::clone(&store) as _);
    paper.debug(&store);
    let text = paper.clean();
    assert!(text.contains("wrong key … or …, not …"), "the texts are there, with the keys cut: {text}");
    assert!(text.contains("trace pointsman"), "traces were caught");
    assert!(text.contains("fallbackStepFromModel=\"acme/a\""), "J2 in flat fields");
    assert!(!traces(&text).contains("person@"), "J1: a traced profile is redacted");
}

/// As a provider's server may have spelt a key.
fn escaped(key: &str) -> [String; 4] {
    [
        key.replace('/', r"\/"),
        key.replace('/', r"\u002F"),
        key.replace('/', "&#x2F;"),
        key.replace('/', "%2F").replace('.', "\u{200b}."),
    ]
}

#[tokio::test]
async fn j6_an_escaped_key_comes_out_nowhere() {
    const KEY: &str = "k7Qp/planted.Zx9/zebra/crossing.old/lantern";
    for spelt in escaped(KEY) {
        let store = Arc::new(MemoryStore::new());
        store.put_profile(&Profile::api_key("acme:x", KEY)).unwrap();
        let (tell, mut said) = mpsc::unbounded_channel();
        let routing = Routing { model: list("acme/a", None), ..Routing::default() };
        let engine = Engine::new(table(""), Arc::new(routing), Arc::clone(&store) as Arc<dyn Store>)
            .with_listener(Arc::new(tell));
        let paper = Paper::default();
        let body = format!(r#"{{"error":{{"message":"odd key {spelt} here"}}}}"#);
        let fails = |_| async { Err::<(), _>(AttemptError::new().status(418).body(body.clone())) };
        let error = engine.run(Request::default(), fails).await.unwrap_err();
        paper.end(&error, &mut said, &engine, &store);
        let text = paper.0.lock().unwrap().clone();
        assert!(text.contains("odd key … here"), "{text}");
        assert!(!text.contains("crossing"), "{spelt}: {text}");
    }
}

/// Fails with a text that names the keys that were in use until now, spelt like this.
async fn names_all(engine: &Engine, used: &Mutex<Vec<String>>, spell: fn(&str) -> String) -> RunError {
    let fails = |attempt: Attempt| {
        let key = attempt.secret.as_ref().unwrap().expose_secret().to_owned();
        let mut used = used.lock().unwrap();
        used.push(key);
        let all = spell(&used.join(" or "));
        let error = AttemptError::new().status(401).code(format!("t_auth {all}"));
        async move {
            Err::<(), _>(error.body(format!(r#"{{"error":{{"message":"wrong key {all}"}}}}"#)).detail(all))
        }
    };
    engine.run(Request::default(), fails).await.unwrap_err()
}

#[tokio::test]
async fn j6_a_key_of_another_profile_comes_out_nowhere() {
    for spell in [str::to_owned, str::to_uppercase, str::to_lowercase] {
        let store = Arc::new(MemoryStore::new());
        // Of two keys one begins the other.
        for (profile, key) in [
            ("acme:a", DIRECT),
            ("acme:b", "planted.direct.horse-battery-LONGER"),
            ("other:z", "env:PLANTED"),
        ] {
            store.put_profile(&Profile::api_key(profile, key)).unwrap();
        }
        let (tell, mut said) = mpsc::unbounded_channel();
        let routing = Routing { model: list("acme/a", Some(&["other/b"])), ..Routing::default() };
        let engine = Engine::new(table(""), Arc::new(routing), Arc::clone(&store) as Arc<dyn Store>)
            .with_secrets(Arc::new(Planted))
            .with_listener(Arc::new(tell));
        let paper = Paper::default();
        let guard = tracing::subscriber::set_default(Tracer(paper.clone()));
        let used = Mutex::default();
        let error = names_all(&engine, &used, spell).await;
        drop(guard);
        assert_eq!(used.lock().unwrap().len(), 3, "every key was used");
        paper.end(&error, &mut said, &engine, &store);
        let text = paper.0.lock().unwrap().to_lowercase();
        assert!(text.contains("wrong key … or … or …"), "{text}");
        for part in [MARK, "horse", "longer", "staple"] {
            assert!(!text.contains(part), "`{part}` leaks: {text}");
        }
    }
}

/// A key that an earlier turn has used, named in an error about another.
#[tokio::test]
async fn j6_a_key_of_an_earlier_turn_comes_out_nowhere() {
    let store = Arc::new(MemoryStore::new());
    store.put_profile(&Profile::api_key("acme:a", DIRECT)).unwrap();
    store.put_profile(&Profile::api_key("other:z", "planted.earlier.zebra")).unwrap();
    let routing = Routing { model: list("acme/a", Some(&["other/b"])), ..Routing::default() };
    let engine = Engine::new(table(""), Arc::new(routing), store as Arc<dyn Store>);
    let fails = |attempt: Attempt| async move {
        Err::<(), _>(
            AttemptError::message(format!("{} hates planted.earlier.zebra", attempt.provider))
                .code("t_context"),
        )
    };
    let to = |provider: &str, model: &str| Request {
        choice: Some(Choice {
            candidate: Candidate { provider: provider.into(), model: model.into() },
            source: SelectionSource::User,
            fallbacks: None,
        }),
        ..Request::default()
    };
    let first = engine.run(to("other", "b"), fails).await.unwrap_err().to_string();
    assert!(first.contains("other hates …"), "{first}");
    let second = engine.run(to("acme", "a"), fails).await.unwrap_err().to_string();
    assert!(second.contains("acme hates …"), "{second}");
}

fn traces(text: &str) -> String {
    text.lines().filter(|line| line.starts_with("trace ")).collect()
}

#[test]
fn j6_no_key_comes_out_of_a_run_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(SqliteStore::open(&folder.path().join("state.sqlite")).unwrap());
    let paper = play(Arc::clone(&store) as _);
    paper.debug(&store);
    paper.clean();
}

#[test]
#[cfg(feature = "cli")]
fn j6_explain_cuts_what_looks_like_a_key() {
    let message = "Incorrect API key provided: sk-proj-Zq3vT8mXw5Rk2Lp9Yb7N. Authorization: Bearer Qw8eR5tY2uI9oP3aS6dF";
    for command in [&["explain"][..], &["classify", "--format", "human"]] {
        let out = std::process::Command::new(env!("CARGO_BIN_EXE_pointsman"))
            .args(command)
            .args(["--provider", "openai", "--status", "401", "--message", message])
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
        assert!(out.status.success(), "{text}");
        for key in ["Zq3vT8mXw5Rk2Lp9Yb7N", "Qw8eR5tY2uI9oP3aS6dF"] {
            assert!(!text.contains(key), "{command:?} shows a key: {text}");
        }
    }
}

#[tokio::test]
async fn c8_a_call_without_its_secret_is_none() {
    let store = Arc::new(MemoryStore::new());
    store.put_profile(&Profile::api_key("acme:x", "env:NOPE")).unwrap();
    let config = pointsman::config::Config::parse("agents: { defaults: { model: acme/a } }").unwrap();
    let engine = Engine::shipped(&config, store).unwrap();
    let end = engine.run(Request::default(), |_| async { Ok::<(), AttemptError>(()) }).await;
    let said = end.unwrap_err().to_string();
    assert!(said.contains("(0 called, 1 skipped, 1 left out: missing secret)"), "{said}");
    assert!(said.contains("the environment variable `NOPE` is not set"), "{said}");
}

/// `tests/scenarios/c5_explicit_order.yaml` plants one, in what a provider says.
#[test]
fn j6_no_snapshot_holds_a_planted_key() {
    let mut seen = 0;
    let mut folders = vec![root().join("snapshots")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            for planted in [MARK, "planted-key", "planted-access", "planted-refresh", "sk-planted"] {
                assert!(!text.contains(planted), "{} holds `{planted}`", path.display());
            }
            seen += 1;
        }
    }
    assert!(seen > 0);
}
