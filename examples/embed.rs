//! The smallest host: rules, config, one key a provider, one turn. `cargo run --example embed`.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;

use pointsman::{
    config::Config,
    host::{Attempt, AttemptError, Engine},
    run::Request,
    state::{memory::MemoryStore, model::Profile, store::Store},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let config = Config::parse(
        "agents: { defaults: { model: { primary: openai/gpt-5.5, fallbacks: [anthropic/claude-opus-4-8] } } }",
    )?;
    let store = MemoryStore::new(); // `SqliteStore::open(path)?` outlives the process
    store.put_profile(&Profile::api_key("openai:default", "sk-for-example"))?; // or `env:OPENAI_API_KEY`
    store.put_profile(&Profile::api_key("anthropic:default", "sk-ant-for-example"))?;
    let engine = Engine::shipped(&config, Arc::new(store))?;

    let request = Request { session: Some("chat-1".into()), ..Request::default() };
    let outcome = engine.run(request, call).await?;
    for notice in &outcome.notices {
        println!("{}", notice.text);
    }
    println!("{}", outcome.answer);
    Ok(())
}

/// Your client stands here: it calls `attempt.model` at `attempt.provider` with `attempt.secret`.
async fn call(attempt: Attempt) -> Result<String, AttemptError> {
    match attempt.provider.as_str() {
        "openai" => Err(AttemptError::new().status(503).body("The engine is currently overloaded")),
        _ => Ok(format!("Hello from {}.", attempt.model)),
    }
}
