//! What a host does to its state, step by step, and what must be there after each step.

use std::collections::BTreeMap;

use pointsman::{
    lang::policy::SelectionSource,
    signal::SignalRef,
    state::{
        change::*,
        inbox::{Notes, Sample},
        memory::MemoryStore,
        model::*,
        store::{Store, StoreError},
        view::ViewQuery,
    },
    time::Timestamp,
};
use secrecy::ExposeSecret;

use crate::store::{MINUTE, START, answered, batch, chosen, limited, profile};

/// One thing that a host does.
#[derive(Clone)]
pub enum Step {
    Put(Profile),
    Remove(&'static str),
    Apply(Batch),
    Note(Notes),
    Flush,
}

/// When the step at this place happens.
pub fn at(place: usize) -> Timestamp {
    START.after(2 * MINUTE * u32::try_from(place).unwrap())
}

impl Step {
    /// Does it.
    pub fn take(&self, store: &dyn Store, now: Timestamp) -> Result<(), StoreError> {
        match self {
            Self::Put(profile) => store.put_profile(profile).map(drop),
            Self::Remove(id) => store.remove_profile(&ProfileId((*id).into())).map(drop),
            Self::Apply(batch) => store.apply(batch, now).map(drop),
            Self::Note(notes) => store.records().unwrap().note(notes),
            Self::Flush => store.flush(),
        }
    }
}

/// A session of a host, with every kind of change in it.
pub fn steps() -> Vec<Step> {
    let facts = |n: usize, changes: Vec<Change>| Step::Apply(batch(&format!("s{}", n % 3), changes));
    let mut steps: Vec<_> =
        ["openai:a", "openai:b", "groq:c"].map(|id| Step::Put(profile(id))).into_iter().collect();
    let fallback = |n: usize| chosen(&format!("f{n}"), Some(SelectionSource::Auto));
    let pin =
        Pin { profile: ProfileId("openai:b".into()), by_user: false, compaction_count: 0, displaced: None };
    for round in 0..3 {
        let now = |steps: &Vec<Step>| at(steps.len());
        let began = now(&steps);
        steps.push(facts(round, vec![limited("openai:a", "m1", began), limited("openai:b", "m2", began)]));
        let select = Change::Select { expect: Expect::Anything, new: Some(fallback(round)) };
        steps.push(facts(round, vec![select, Change::Pin { family: "openai".into(), pin: pin.clone() }]));
        steps.push(facts(round, vec![Change::Used { profile: ProfileId("groq:c".into()), at: now(&steps) }]));
        let pins = BTreeMap::from([("openai".into(), PinBefore { wrote: pin.clone(), before: None })]);
        let rollback = Rollback { wrote: fallback(round).key(), restore: None, pins };
        let began = now(&steps);
        steps.push(facts(round, vec![Change::Rollback(rollback), limited("groq:c", "m3", began)]));
        let mut notes = Notes::default();
        let signal = SignalRef { message: Some("a text that no rule knows"), ..SignalRef::default() };
        notes.unmatched(format!("fingerprint {round}"), "unclassified", Sample::of(&signal), began);
        notes.matched("a rule", false, began);
        steps.push(Step::Note(notes));
        let began = now(&steps);
        steps.push(facts(round, vec![answered("openai:a", "m1", began)]));
        let secret = Secret::Direct(format!("fresh-{round}").into());
        let new =
            NewSecret { profile: ProfileId("groq:c".into()), secret, refresh: None, expires: Some(began) };
        steps.push(facts(round, vec![Change::NewSecret(new)]));
        steps.push(facts(round, vec![Change::Compact { release: Release::AUTO }]));
    }
    steps.push(facts(1, vec![limited("openai:b", "m4", at(steps.len()))]));
    steps.push(Step::Remove("openai:b"));
    steps.push(Step::Put(profile("openai:b")));
    steps.push(Step::Flush);
    steps.push(facts(0, vec![limited("openai:b", "m1", at(steps.len()))]));
    steps.push(facts(0, vec![Change::Clear { profile: None, model: Some("m3".into()) }]));
    steps
}

/// Everything that must outlive the process: all but `last_used` and the inbox.
pub fn dump(store: &dyn Store) -> String {
    let view = store.view(&ViewQuery::default(), at(1_000)).unwrap();
    let mut text = String::new();
    for there in view.profiles.iter() {
        let mut usage = Usage { last_used: None, ..Usage::clone(&there.usage) };
        usage.ladders.sort_by(|a, b| (&a.model, &a.schedule).cmp(&(&b.model, &b.schedule)));
        usage.windows.sort_by(|a, b| (&a.model, &a.schedule).cmp(&(&b.model, &b.schedule)));
        let whole = store.profile(&there.info.id).unwrap().unwrap();
        let secret = match &whole.secret {
            Some(Secret::Direct(secret)) => secret.expose_secret().to_owned(),
            other => format!("{other:?}"),
        };
        text += &format!("{} {secret} {:?} {usage:?}\n", there.info.id.0, whole.expires);
    }
    for (id, session) in store.sessions().unwrap() {
        text += &format!("{id} {session:?}\n");
    }
    text
}

/// The state before all `steps`, and after each.
pub fn states<'a>(steps: impl IntoIterator<Item = (usize, &'a Step)>) -> Vec<String> {
    let store = MemoryStore::new();
    let mut states = vec![dump(&store)];
    for (place, step) in steps {
        step.take(&store, at(place)).unwrap();
        states.push(dump(&store));
    }
    states
}
