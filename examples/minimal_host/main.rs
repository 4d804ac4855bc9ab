//! A host with real HTTP calls, plain and streamed, to providers that the example starts itself:
//! rotation, fallback with its notice, recovery, and a stream that breaks off.
//! `cargo run --example minimal_host`.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

mod client;
mod provider;

use std::{
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use pointsman::{
    config::Config,
    host::{Attempt, AttemptError, Clock, Engine},
    run::Request,
    state::{model::Profile, sqlite::SqliteStore, store::Store},
    time::Timestamp,
};
use provider::{Mood, Provider};

const CONFIG: &str = "
agents:
  defaults:
    model: { primary: alpha/large, fallbacks: [beta/large] }
";

/// A clock that the example moves on, so that nobody waits for a cooldown to pass.
struct Jumps(AtomicI64);

impl Clock for Jumps {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::Relaxed))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (alpha, beta) = (Provider::start().await?, Provider::start().await?);
    let folder = tempfile::tempdir()?;
    let store = SqliteStore::open(&folder.path().join("state.sqlite"))?;
    store.put_profile(&Profile::api_key("alpha:work", "key-one"))?;
    store.put_profile(&Profile::api_key("alpha:home", "key-two"))?;
    store.put_profile(&Profile::api_key("beta:work", "key-three"))?;
    let clock = Arc::new(Jumps(AtomicI64::new(1_800_000_000_000)));
    let engine =
        Engine::shipped(&Config::parse(CONFIG)?, Arc::new(store))?.with_clock(Arc::clone(&clock) as _);

    let turn = async |title: &str, stream: bool| {
        println!("{title}");
        let call = |attempt: Attempt| {
            let place = if attempt.provider == "alpha" { alpha.address } else { beta.address };
            async move {
                println!("  calls {}/{} with {}", attempt.provider, attempt.model, profile(&attempt));
                if stream {
                    client::stream(place, &attempt).await
                } else {
                    client::plain(place, &attempt).await
                }
            }
        };
        let request = Request { session: Some("chat".into()), ..Request::default() };
        match engine.run(request, call).await {
            Ok(outcome) => {
                outcome.notices.iter().for_each(|notice| println!("  {}", notice.text));
                println!("  answer: {}", outcome.answer);
            }
            Err(error) => println!("  failed: {error}"),
        }
    };

    turn("all is well", false).await;
    alpha.mood("key-one", Mood::RateLimited);
    turn("one key is rate-limited: the other one serves", false).await;
    alpha.mood("key-two", Mood::Overloaded);
    turn("and the provider is overloaded: fallback, streamed", true).await;
    turn("the next turn stays there, and says nothing", false).await;
    alpha.mood("key-one", Mood::Well);
    alpha.mood("key-two", Mood::Well);
    clock.0.fetch_add(6 * 60 * 1_000, Ordering::Relaxed);
    turn("six minutes later: back home", true).await;
    alpha.mood("key-one", Mood::FailsInside);
    alpha.mood("key-two", Mood::FailsInside);
    turn("an error inside a stream with status 200: fallback before a word was shown", true).await;
    beta.mood("key-three", Mood::BreaksOff);
    turn("a stream that breaks off: nobody says it twice", true).await;
    Ok(())
}

fn profile(attempt: &Attempt) -> &str {
    attempt.profile.as_ref().map_or("no key", |profile| profile.0.as_str())
}

/// What a client needs to know of an answer that is none.
fn refused(status: u16, headers: Vec<(String, String)>, body: String) -> AttemptError {
    AttemptError::new().status(status).headers(headers).body(body)
}
