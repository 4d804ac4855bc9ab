//! The connection with its cache: fresh rows, transactions, what waits in memory.

use std::{sync::Arc, thread, time::Duration};

use rusqlite::{Connection, Error, TransactionBehavior};

use super::{
    beside::{Beside, LastUsed, note_use, note_uses},
    error::{Changed, is_busy, is_failed_sync},
    log,
    open::{Place, newest, version},
    read, write,
};
use crate::{
    state::{
        change::{Applied, Batch},
        model::Session,
        snapshot::{Plan, Snapshot},
        transition,
        view::{ProfileView, View, ViewQuery},
    },
    time::Timestamp,
};

/// Pause between two tries to begin a transaction while another process writes.
const PAUSE: Duration = Duration::from_millis(1);

/// A wait for other processes after one in vain.
const BRIEFLY: Duration = Duration::from_millis(20);

/// `last_used` waits in memory no longer than this.
const LAST_USED_WAITS: Duration = Duration::from_secs(1);

/// Sessions kept in memory before the cache starts anew.
const CACHED_SESSIONS: usize = 16_384;

#[derive(Debug)]
pub(super) struct Inner {
    pub db: Connection,
    place: Place,
    pub patience: Duration,
    /// Somebody waited in vain: as long as nothing could be written since, nobody waits as long again.
    impatient: bool,
    /// A sync failed, or may have before the file was opened: the log may have a hole.
    doubtful: bool,
    /// Transactions are not synced at present.
    lazy: bool,
    pub snapshot: Snapshot,
    /// `PRAGMA data_version` that the snapshot belongs to; none: nothing read yet.
    pub seen: Option<i64>,
    used: LastUsed,
    beside: Arc<Beside>,
    /// Sessions that the transaction under way changes.
    changing: Vec<String>,
    /// When `last_used` was last written, or began to wait.
    used_since: Option<Timestamp>,
}

impl Inner {
    /// Over a connection; nothing is read yet.
    pub fn new(db: Connection, place: Place, patience: Duration, beside: Arc<Beside>) -> Self {
        let (snapshot, used) = (Snapshot::default(), LastUsed::new());
        let doubtful = !log::is_empty(&db);
        Self {
            db,
            place,
            patience,
            impatient: false,
            doubtful,
            lazy: false,
            snapshot,
            seen: None,
            used,
            beside,
            changing: Vec::new(),
            used_since: None,
        }
    }

    /// The session, if the cache holds it and is fresh, and the clock guard has nothing to do.
    pub fn cached(&self, session: Option<&str>, now: Timestamp) -> Result<Option<Arc<Session>>, Error> {
        let session =
            session.map_or_else(|| Some(Arc::default()), |id| self.snapshot.sessions.get(id).cloned());
        let ready = session.filter(|_| !self.snapshot.clock_jumped(now));
        Ok(if ready.is_some() && self.seen == Some(data_version(&self.db)?) { ready } else { None })
    }

    /// What waits of `last_used`, if anything, has waited long enough.
    pub fn is_due(&self, now: Timestamp) -> bool {
        self.used_since.is_some_and(|since| now.since(since) >= LAST_USED_WAITS || now < since)
    }

    /// Reads anew what another connection has changed.
    pub fn refresh(&mut self) -> Result<(), Error> {
        if self.seen == Some(data_version(&self.db)?) {
            return Ok(());
        }
        let reading = self.db.transaction_with_behavior(TransactionBehavior::Deferred)?;
        let profiles = read::profiles(&reading)?;
        let seen = data_version(&reading)?;
        reading.commit()?;
        self.take(profiles, seen);
        Ok(())
    }

    fn take(&mut self, mut profiles: Vec<ProfileView>, seen: i64) {
        for profile in &mut profiles {
            if let Some(at) = self.used.get(&profile.info.id) {
                transition::used(Arc::make_mut(&mut profile.usage), *at);
            }
        }
        self.snapshot.set_profiles(profiles.into_iter().collect());
        self.snapshot.sessions = Arc::default();
        self.seen = Some(seen);
    }

    pub fn session(&mut self, id: Option<&str>) -> Result<Arc<Session>, Error> {
        let Some(id) = id else { return Ok(Arc::default()) };
        if let Some(session) = self.snapshot.sessions.get(id) {
            return Ok(Arc::clone(session));
        }
        let session = Arc::new(read::session(&self.db, id)?);
        if self.snapshot.sessions.len() >= CACHED_SESSIONS {
            self.snapshot.sessions = Arc::default();
        }
        Arc::make_mut(&mut self.snapshot.sessions).insert(id.to_owned(), Arc::clone(&session));
        Ok(session)
    }

    pub fn apply(&mut self, batch: &Batch, now: Timestamp) -> Result<Applied, Error> {
        if may_wait(batch) {
            self.refresh()?;
            let session = self.session(batch.session.as_deref())?;
            if let Some(applied) = self.apply_in_memory(batch, &session, now) {
                return Ok(applied);
            }
        }
        self.beside_others(|inner| inner.apply_within(batch, now))
    }

    /// See [`crate::state::store::Store::apply_all`]; all or none.
    pub fn apply_all(&mut self, batches: &[Batch], now: Timestamp) -> Result<Vec<Applied>, Error> {
        self.beside_others(|inner| batches.iter().map(|batch| inner.apply_within(batch, now)).collect())
    }

    /// Inside a transaction. Should that fail, the snapshot is read anew.
    fn apply_within(&mut self, batch: &Batch, now: Timestamp) -> Result<Applied, Error> {
        let id = batch.session.as_deref();
        let session = self.session(id)?;
        let plan = self.snapshot.plan(batch, &session, now);
        self.write(id, &plan)?;
        self.used_since = Some(now);
        if let (Some(id), true) = (id, plan.session_changed) {
            self.changing.push(id.to_owned());
        }
        Ok(self.snapshot.commit(id, plan))
    }

    /// Runs `work` in a transaction; while the disk is waited for, others see the state before it.
    fn beside_others<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        let done = self.in_transaction(|inner| {
            inner.changing.clear();
            let mut before = inner.snapshot.clone();
            // Not held, so that `work` changes them where they stand.
            before.sessions = Arc::default();
            let done = work(inner)?;
            before.sessions = Arc::clone(&inner.snapshot.sessions);
            inner.beside.open(before, std::mem::take(&mut inner.changing));
            Ok(done)
        });
        for (profile, at) in self.beside.close() {
            self.snapshot.used(&profile, at);
            self.used_since.get_or_insert(at);
            note_use(&profile, at, &mut self.used);
        }
        done
    }

    /// See [`crate::state::store::Store::apply_late`].
    pub fn apply_late(&mut self, facts: &[(Batch, Timestamp)]) -> Result<(), Error> {
        self.in_transaction(|inner| {
            for (batch, at) in facts {
                let plan = inner.snapshot.plan_late(batch, *at);
                inner.write(None, &plan)?;
                inner.snapshot.commit(None, plan);
            }
            Ok(())
        })
    }

    /// From now on waits only briefly for other processes, until something could be written.
    pub fn lose_patience(&mut self) {
        self.impatient = true;
        drop(self.db.busy_timeout(self.wait()));
    }

    /// Waits as usual again.
    pub fn regain_patience(&mut self) {
        if std::mem::take(&mut self.impatient) {
            drop(self.db.busy_timeout(self.wait()));
        }
    }

    fn wait(&self) -> Duration {
        if self.impatient { self.patience.min(BRIEFLY) } else { self.patience }
    }

    /// Stores what the clock guard cuts (E11), or shows it at least, when nothing can be stored.
    pub fn view_after_jump(&mut self, query: &ViewQuery<'_>, now: Timestamp) -> Result<View, Error> {
        let batch = Batch { session: query.session.map(str::to_owned), changes: Vec::new() };
        if let Ok(applied) = self.apply(&batch, now) {
            return Ok(applied.view);
        }
        self.refresh()?;
        let session = self.session(query.session)?;
        let plan = self.snapshot.plan(&batch, &session, now);
        Ok(View { profiles: plan.profiles, cuts: plan.cuts, ..self.snapshot.view(session) })
    }

    /// Runs `work` on fresh rows inside an immediate transaction, with what `last_used` waits. It is on
    /// the disk when this returns.
    pub fn in_transaction<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.be_durable()?;
        self.transaction(work)
    }

    fn be_durable(&mut self) -> Result<(), Error> {
        if self.lazy {
            self.db.execute_batch("PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 1000")?;
            self.lazy = false;
        }
        Ok(())
    }

    fn transaction<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        if !self.place.holds() {
            return Err(Changed::Gone.into());
        }
        self.begin()?;
        self.place.see_log(|| log::path(&self.db));
        let done = self.fresh_and(work).and_then(|done| {
            self.db.prepare_cached("COMMIT")?.execute([])?;
            Ok(done)
        });
        match done {
            Ok(done) => {
                self.used.clear();
                self.regain_patience();
                Ok(done)
            }
            Err(error) => {
                if !self.db.is_autocommit() {
                    // The first error says more than one of the way back.
                    drop(self.db.execute_batch("ROLLBACK"));
                }
                self.seen = None;
                self.doubtful |= is_failed_sync(&error);
                Err(error)
            }
        }
    }

    /// Waits for other writers by short pauses: SQLite's own grow to a tenth of a second, and let one
    /// process starve the others.
    fn begin(&self) -> Result<(), Error> {
        let mut statement = self.db.prepare_cached("BEGIN IMMEDIATE")?;
        let mut left = self.wait();
        self.db.busy_timeout(Duration::ZERO)?;
        let done = loop {
            match statement.execute([]) {
                Err(error) if is_busy(&error) && !left.is_zero() => {
                    thread::sleep(PAUSE);
                    left = left.saturating_sub(PAUSE);
                }
                done => break done,
            }
        };
        self.db.busy_timeout(self.wait())?;
        done.map(|_| ())
    }

    fn fresh_and<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        if self.doubtful {
            log::write_again(&self.db)?;
            self.doubtful = false;
        }
        let seen = data_version(&self.db)?;
        if self.seen != Some(seen) {
            let found = version(&self.db)?;
            if found > newest() {
                return Err(Changed::Newer(found).into());
            }
            let profiles = read::profiles(&self.db)?;
            self.take(profiles, seen);
        }
        for (id, at) in &self.used {
            write::last_used(&self.db, id, *at)?;
        }
        work(self)
    }

    fn write(&self, session: Option<&str>, plan: &Plan) -> Result<(), Error> {
        for place in &plan.changed {
            let (old, new) = (self.snapshot.profiles.get(*place), plan.profiles.get(*place));
            if let (Some(old), Some(new)) = (old, new) {
                write::usage(&self.db, new.info.inserted, &old.usage, &new.usage)?;
            }
        }
        for place in &plan.used {
            if let Some(profile) = plan.profiles.get(*place)
                && let Some(at) = profile.usage.last_used
            {
                write::last_used(&self.db, &profile.info.id, at)?;
            }
        }
        for new in &plan.secrets {
            write::new_secret(&self.db, new)?;
        }
        if let (Some(id), true) = (session, plan.session_changed) {
            write::session(&self.db, id, &plan.session)?;
        }
        Ok(())
    }

    /// Applies a batch that changes no more than `last_used`; `None`: it asks for more.
    pub fn apply_in_memory(
        &mut self,
        batch: &Batch,
        session: &Arc<Session>,
        now: Timestamp,
    ) -> Option<Applied> {
        let applied = self.snapshot.apply_uses(batch, session, now)?;
        note_uses(batch, &mut self.used);
        self.used_since.get_or_insert(now);
        if self.is_due(now) {
            self.used_since = Some(now);
            // It may be lost, so nobody waits for it: not for other processes, not for the disk.
            drop(self.write_last_used(Duration::ZERO, Durability::Lazy));
        }
        Some(applied)
    }

    pub fn write_last_used(&mut self, patience: Duration, durability: Durability) -> Result<(), Error> {
        if self.used.is_empty() {
            return Ok(());
        }
        let usual = std::mem::replace(&mut self.patience, patience);
        let done = match durability {
            Durability::Full => self.in_transaction(|_| Ok(())),
            Durability::Lazy => self.lazily(|_| Ok(())),
        };
        self.patience = usual;
        done
    }

    /// Like [`Self::in_transaction`], for what nobody waits for: it may be lost with the power. The log
    /// is left as it is, for to move it into the file takes a sync, whose failure nobody would hear of.
    pub fn lazily<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        self.lazy = true;
        self.db.execute_batch("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0")?;
        let done = self.transaction(work);
        // Where this fails, the next change tries again before it begins.
        drop(self.be_durable());
        done
    }
}

/// Whether a change is on the disk when its transaction returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Durability {
    /// It is.
    Full,
    /// Only with the next one that is.
    Lazy,
}

fn data_version(db: &Connection) -> Result<i64, Error> {
    db.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))
}

/// Whether a batch need not be durable before it is acknowledged, if it changes no more than `last_used`.
pub(super) fn may_wait(batch: &Batch) -> bool {
    batch.changes.iter().all(|change| change.used().is_some())
}
