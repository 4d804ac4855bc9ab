//! What other hands do meanwhile: users, operators, other processes.

use std::collections::BTreeMap;

use pointsman::{
    lang::policy::{CredentialKind, Lane, Scope},
    run::session,
    state::{
        change::{Batch, Change, Failure, Success, WindowIntent},
        model::{Profile, ProfileId, Secret},
        schedule::{Schedule, Steps},
        store::Store,
    },
};

use super::{Choices, MODELS, World};
use crate::support::lab::{id, model};

impl World {
    /// Something happens that no run has asked for.
    pub fn meddle(&mut self, from: &mut Choices<'_>) {
        let session = from.pick(&["s", "t"]);
        let choice = from.below(15);
        self.steps.push(format!("{} meddling {choice}", self.now.as_millis()));
        match choice {
            0 => self.change(session, session::choose_model(Some(model(from.pick(&MODELS))), self.now)),
            1 => self.change(session, session::choose_model(None, self.now)),
            2 => self.change(session, session::compact(self.table.policy())),
            3 => {
                self.change(session, session::reset(self.table.policy()));
                self.memory.forget_session(session);
            }
            4 => {
                self.change(session, session::new(self.table.policy()));
                self.memory.forget_session(session);
            }
            5 => {
                let pin = session::pin_profile(&self.table, &self.session(session), profile(from));
                self.change(session, pin);
            }
            6 => {
                let provider = from.one_in(2).then(|| from.pick(&["p0", "p1", "p2", "p3"]));
                self.change(session, session::unpin_profile(&self.table, provider));
            }
            7 => {
                let model = from.one_in(2).then(|| from.pick(&["a", "b", "c"]).to_owned());
                let profile = (!from.one_in(3)).then(|| profile(from));
                self.fact(Change::Clear { profile, model });
            }
            8 | 9 => self.fail(from),
            10 => {
                let began = self.now.before(std::time::Duration::from_secs(from.wide() % 100));
                self.fact(Change::Success(Success {
                    profile: profile(from),
                    model: Some(from.pick(&["a", "b", "c"]).into()),
                    attempt_started_at: began,
                    reset_model: true,
                    reset_profile: true,
                }));
            }
            11 => {
                self.store.remove_profile(&profile(from)).unwrap();
            }
            12 => {
                let id = profile(from);
                self.store_profile(&id.0, from);
            }
            13 => {
                let order = from.many(0, 4, profile);
                let provider = from.pick(&["p0", "p1", "p2", "p3"]);
                let of = |id: &ProfileId| id.provider() == provider;
                self.routing.order.insert(provider.to_owned(), order.into_iter().filter(of).collect());
            }
            _ => self.broken = 1 + from.below(3),
        }
    }

    fn fact(&self, change: Change) {
        self.store.apply(&Batch { session: None, changes: vec![change] }, self.now).unwrap();
    }

    /// Another session's call fails with the same profile, and mostly opens a window.
    fn fail(&self, from: &mut Choices<'_>) {
        let step = std::time::Duration::from_secs(1 + from.wide());
        let window = WindowIntent {
            lane: [Lane::Cooldown, Lane::Disable][from.below(2)],
            scope: [Scope::Model, Scope::Profile][from.below(2)],
            schedule: Schedule::new(
                (*from.pick(&["first", "elsewhere"])).to_owned(),
                Steps::List(vec![step]),
            ),
            seed: 0,
            hint: None,
            after: None,
        };
        self.fact(Change::Failure(Failure {
            profile: profile(from),
            model: Some(from.pick(&["a", "b", "c"]).into()),
            bucket: from.pick(&["b0", "b1", "unclassified", "elsewhere"]).to_owned(),
            attempt_started_at: self.now,
            window: (!from.one_in(4)).then_some(window),
            forget_after: None,
        }));
    }

    /// A credential of any kind; it may have expired.
    pub fn store_profile(&self, name: &str, from: &mut Choices<'_>) {
        use CredentialKind::{ApiKey, Oauth, Token};
        let secret = || Secret::Direct("planted-key".to_owned().into());
        let profile = Profile {
            id: id(name),
            provider: id(name).provider().to_owned(),
            kind: [ApiKey, ApiKey, Token, Oauth][from.below(4)],
            secret: (!from.one_in(12)).then(secret),
            refresh: from.one_in(2).then(secret),
            expires: from.one_in(4).then(|| self.now.after(std::time::Duration::from_secs(from.wide()))),
            email: None,
            extra: BTreeMap::new(),
            inserted: 0,
        };
        self.store.put_profile(&profile).unwrap();
    }
}

fn profile(from: &mut Choices<'_>) -> ProfileId {
    id(&format!("p{}:{}", from.below(4), from.below(4)))
}
