//! An engine whose rules change: runs under way, the watch, and what `status` can show.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use pointsman::{
    config::Config,
    host::{AttemptError, Engine, Listener, ReloadError, Reloaded, Rules},
    run::{Request, Routing},
    state::{
        memory::MemoryStore,
        model::{Profile, ProfileId},
        store::Store as _,
    },
};
use tokio::time::{sleep, timeout};

use super::write;
use crate::support::lab;

#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl Listener for Heard {
    fn reloaded(&self, done: &Result<Reloaded, ReloadError>) {
        let said = match done {
            Ok(Reloaded::Taken { .. }) => "taken".to_owned(),
            Ok(Reloaded::Same) => "same".to_owned(),
            Err(error) => error.to_string(),
        };
        self.0.lock().unwrap().push(said);
    }
}

#[tokio::test]
async fn runs_under_way_keep_their_table_and_new_ones_take_the_new() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), 0, true);
    let rules = Rules::from_path(folder.path(), Config::default()).unwrap();
    let store = Arc::new(MemoryStore::new());
    for id in ["acme:x", "acme:y"] {
        store.put_profile(&Profile::api_key(id, "planted-key")).unwrap();
    }
    let routing = Routing { model: lab::list("acme/a", None), ..Routing::default() };
    let engine = Engine::with_rules(rules.clone(), Arc::new(routing), store.clone());
    let fail = || AttemptError::message("first purple elephant");
    let turn = |engine: &Engine, reload: bool| {
        let (engine, rules, path) = (engine.clone(), rules.clone(), folder.path().to_owned());
        async move {
            let failed = engine.run(Request::default(), move |_| {
                if reload {
                    write(&path, 1, true);
                    rules.reload().unwrap();
                }
                async move { Err::<(), _>(fail()) }
            });
            drop(failed.await.unwrap_err());
        }
    };
    turn(&engine, true).await;
    engine.flush().unwrap();
    let records = store.records().unwrap();
    let names =
        || -> Vec<String> { records.inbox().unwrap().tallies.into_iter().map(|it| it.rule).collect() };
    assert_eq!(names(), ["first_axxx"], "both calls of the run are judged by the table it began with");
    assert_ne!(engine.table().hash(), 0);
    store.remove_profile(&ProfileId("acme:x".into())).unwrap();
    store.put_profile(&Profile::api_key("acme:z", "planted-key")).unwrap();
    turn(&engine, false).await;
    engine.flush().unwrap();
    assert_eq!(names(), ["first_axxx", "first_bxxx"]);
}

#[tokio::test]
async fn the_watch_takes_refuses_tells_and_stores() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), 0, true);
    let rules = Rules::from_path(folder.path(), Config::default()).unwrap();
    let (store, heard) = (Arc::new(MemoryStore::new()), Arc::new(Heard::default()));
    let engine =
        Engine::with_rules(rules.clone(), Arc::default(), store.clone()).with_listener(heard.clone());
    let watch = tokio::spawn(async move { engine.watch().await });
    let until = async |wanted: &str| {
        let there = async {
            while !heard.0.lock().unwrap().iter().any(|said| said.contains(wanted)) {
                sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(Duration::from_mins(1), there).await.unwrap_or_else(|_| panic!("`{wanted}` is never told"));
    };
    write(folder.path(), 1, true);
    until("taken").await;
    write(folder.path(), 2, false);
    until("biling").await;
    sleep(Duration::from_millis(100)).await;
    watch.abort();
    drop(watch.await);
    let told = store.records().unwrap().in_force().unwrap().unwrap();
    assert_eq!(told, rules.in_force());
    assert_eq!(told.reloads, 1);
    assert!(told.failure.unwrap().1.contains("biling"));
}
