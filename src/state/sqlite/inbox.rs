//! The inbox, the tallies and the rules in force, in the file.

use rusqlite::{Connection, Error, OptionalExtension as _, Row, params, types::Type};

use super::{SqliteStore, open};
use crate::{
    state::{
        inbox::{Entry, InForce, Inbox, Notes, Records, TALLIES, Tally, too_much},
        store::StoreError,
    },
    time::Timestamp,
};

/// The schema version that brought these tables; an older file that is only read has none.
const SINCE: i64 = 2;

impl Records for SqliteStore {
    fn note(&self, notes: &Notes) -> Result<(), StoreError> {
        // It steers nothing, so nobody waits for the disk.
        self.run(|inner| inner.lazily(|inner| note(&inner.db, notes)))
    }

    fn inbox(&self) -> Result<Inbox, StoreError> {
        self.run(
            |inner| if open::version(&inner.db)? < SINCE { Ok(Inbox::default()) } else { inbox(&inner.db) },
        )
    }

    fn drop_entries(&self, ids: &[u64]) -> Result<usize, StoreError> {
        self.run(|inner| {
            inner.in_transaction(|inner| {
                let mut drop = inner.db.prepare_cached("DELETE FROM inbox WHERE id = ?1")?;
                ids.iter().map(|id| drop.execute([id.cast_signed()])).sum()
            })
        })
    }

    fn put_in_force(&self, rules: &InForce) -> Result<(), StoreError> {
        let (failed_at, failure) = rules.failure.as_ref().map(|(at, why)| (at.as_millis(), why)).unzip();
        self.run(|inner| {
            inner.in_transaction(|inner| {
                inner
                    .db
                    .prepare_cached(
                        "INSERT OR REPLACE INTO rules_in_force VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6)",
                    )?
                    .execute(params![
                        rules.version,
                        rules.source,
                        rules.loaded_at.as_millis(),
                        rules.reloads.cast_signed(),
                        failed_at,
                        failure
                    ])?;
                Ok(())
            })
        })
    }

    fn in_force(&self) -> Result<Option<InForce>, StoreError> {
        self.run(|inner| {
            if open::version(&inner.db)? < SINCE {
                return Ok(None);
            }
            let mut query = inner.db.prepare_cached(
                "SELECT version, source, loaded_at, reloads, failed_at, failure FROM rules_in_force",
            )?;
            query.query_row([], in_force).optional()
        })
    }
}

fn note(db: &Connection, notes: &Notes) -> Result<(), Error> {
    let mut again = db.prepare_cached(
        "UPDATE inbox SET count = count + ?2, last_at = max(last_at, ?3) WHERE fingerprint = ?1",
    )?;
    let mut add = db.prepare_cached(
        "INSERT INTO inbox (fingerprint, sample, bucket, count, first_at, last_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    for (fingerprint, new) in notes.in_order() {
        let (first, last) = (new.first_at.as_millis(), new.last_at.as_millis());
        if again.execute(params![fingerprint, new.count.cast_signed(), last])? > 0 {
            continue;
        }
        let sample = serde_json::to_string(&new.sample)
            .map_err(|error| Error::ToSqlConversionFailure(error.into()))?;
        add.execute(params![fingerprint, sample, new.bucket, new.count.cast_signed(), first, last])?;
    }
    let mut dropped = notes.dropped;
    if !notes.unmatched.is_empty() {
        let mut sizes =
            db.prepare_cached("SELECT id, length(CAST(sample AS BLOB)), last_at, fingerprint FROM inbox")?;
        let sizes = sizes.query_map([], |row| {
            let size = usize::try_from(row.get::<_, i64>(1)?).unwrap_or(0);
            let place = notes.place(row.get_ref(3)?.as_str()?);
            let seen = (Timestamp::from_millis(row.get(2)?), place);
            Ok((row.get::<_, i64>(0)?.cast_unsigned(), size, seen))
        })?;
        let mut drop = db.prepare_cached("DELETE FROM inbox WHERE id = ?1")?;
        for id in too_much(sizes.collect::<Result<_, _>>()?) {
            drop.execute([id.cast_signed()])?;
            dropped += 1;
        }
    }
    if dropped > 0 {
        let mut count = db.prepare_cached("UPDATE inbox_dropped SET count = count + ?1")?;
        count.execute([dropped.cast_signed()])?;
    }
    let mut tally = db.prepare_cached(
        "INSERT INTO tally VALUES (?1, ?2, ?3, ?4) ON CONFLICT (rule, observed) DO UPDATE
         SET count = count + excluded.count, last_at = max(last_at, excluded.last_at)",
    )?;
    for ((rule, observed), (count, last_at)) in &notes.tallies {
        tally.execute(params![rule, observed, count.cast_signed(), last_at.as_millis()])?;
    }
    let mut cut = db.prepare_cached(
        "DELETE FROM tally WHERE (rule, observed) IN
           (SELECT rule, observed FROM tally ORDER BY last_at DESC, rule LIMIT -1 OFFSET ?1)",
    )?;
    cut.execute([i64::try_from(TALLIES).unwrap_or(i64::MAX)])?;
    Ok(())
}

fn inbox(db: &Connection) -> Result<Inbox, Error> {
    let mut entries = db.prepare_cached(
        "SELECT id, fingerprint, sample, bucket, count, first_at, last_at FROM inbox ORDER BY id",
    )?;
    let mut tallies =
        db.prepare_cached("SELECT rule, observed, count, last_at FROM tally ORDER BY rule, observed")?;
    Ok(Inbox {
        entries: entries.query_map([], entry)?.collect::<Result<_, _>>()?,
        tallies: tallies
            .query_map([], |row| {
                Ok(Tally {
                    rule: row.get(0)?,
                    observed: row.get(1)?,
                    count: number(row, 2)?,
                    last_at: Timestamp::from_millis(row.get(3)?),
                })
            })?
            .collect::<Result<_, _>>()?,
        dropped: db.query_row("SELECT count FROM inbox_dropped", [], |row| number(row, 0))?,
    })
}

fn entry(row: &Row<'_>) -> Result<Entry, Error> {
    let sample: String = row.get(2)?;
    let sample = serde_json::from_str(&sample)
        .map_err(|error| Error::FromSqlConversionFailure(2, Type::Text, error.into()))?;
    Ok(Entry {
        id: number(row, 0)?,
        fingerprint: row.get(1)?,
        sample,
        bucket: row.get(3)?,
        count: number(row, 4)?,
        first_at: Timestamp::from_millis(row.get(5)?),
        last_at: Timestamp::from_millis(row.get(6)?),
    })
}

fn in_force(row: &Row<'_>) -> Result<InForce, Error> {
    let failure: (Option<i64>, Option<String>) = (row.get(4)?, row.get(5)?);
    Ok(InForce {
        version: row.get(0)?,
        source: row.get(1)?,
        loaded_at: Timestamp::from_millis(row.get(2)?),
        reloads: number(row, 3)?,
        failure: failure.0.map(Timestamp::from_millis).zip(failure.1),
    })
}

fn number(row: &Row<'_>, column: usize) -> Result<u64, Error> {
    Ok(row.get::<_, i64>(column)?.cast_unsigned())
}
