//! State → rows. Of usage only what differs is written.

use std::{borrow::Cow, time::Duration};

use rusqlite::{Connection, Error, ToSql, params, types::ToSqlOutput};
use secrecy::ExposeSecret;
use serde::Serialize;

use crate::{
    lang::policy::Lane,
    state::{
        change::NewSecret,
        model::{Profile, ProfileId, Secret, Session, Usage},
        name::Name,
    },
    time::Timestamp,
};

type Result<T> = std::result::Result<T, Error>;

impl ToSql for Name {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(self.as_str().into())
    }
}

/// Writes what differs between two usages of the profile with row number `n`.
pub(super) fn usage(db: &Connection, n: u64, old: &Usage, new: &Usage) -> Result<()> {
    let n = n.cast_signed();
    db.prepare_cached(
        "UPDATE profile SET last_used = ?2, error_count = ?3, last_failure_at = ?4 WHERE n = ?1",
    )?
    .execute(params![
        n,
        new.last_used.map(Timestamp::as_millis),
        new.error_count,
        new.last_failure_at.map(Timestamp::as_millis)
    ])?;
    counts(db, n, old, new)?;
    ladders(db, n, old, new)?;
    windows(db, n, old, new)?;
    streaks(db, n, old, new)
}

fn counts(db: &Connection, n: i64, old: &Usage, new: &Usage) -> Result<()> {
    for bucket in old.failure_counts.keys().filter(|bucket| !new.failure_counts.contains_key(*bucket)) {
        db.prepare_cached("DELETE FROM failure_count WHERE profile = ?1 AND bucket = ?2")?
            .execute(params![n, bucket])?;
    }
    for (bucket, count) in
        new.failure_counts.iter().filter(|(b, count)| old.failure_counts.get(*b) != Some(count))
    {
        db.prepare_cached("INSERT OR REPLACE INTO failure_count VALUES (?1, ?2, ?3)")?
            .execute(params![n, bucket, count])?;
    }
    Ok(())
}

fn ladders(db: &Connection, n: i64, old: &Usage, new: &Usage) -> Result<()> {
    let same = |usage: &Usage, model: &Option<String>, schedule: &str| {
        usage.ladders.iter().any(|l| l.model == *model && l.schedule == schedule)
    };
    for gone in old.ladders.iter().filter(|l| !same(new, &l.model, &l.schedule)) {
        db.prepare_cached("DELETE FROM ladder WHERE profile = ?1 AND model = ?2 AND schedule = ?3")?
            .execute(params![n, model(gone.model.as_ref()), gone.schedule])?;
    }
    for ladder in new.ladders.iter().filter(|ladder| !old.ladders.contains(ladder)) {
        db.prepare_cached("INSERT OR REPLACE INTO ladder VALUES (?1, ?2, ?3, ?4, ?5)")?.execute(params![
            n,
            model(ladder.model.as_ref()),
            ladder.schedule,
            ladder.step,
            ladder.climbed_at.as_millis()
        ])?;
    }
    Ok(())
}

fn windows(db: &Connection, n: i64, old: &Usage, new: &Usage) -> Result<()> {
    let same = |usage: &Usage, model: &Option<String>, schedule: &str| {
        usage.windows.iter().any(|w| w.model == *model && w.schedule == schedule)
    };
    for gone in old.windows.iter().filter(|w| !same(new, &w.model, &w.schedule)) {
        db.prepare_cached("DELETE FROM time_window WHERE profile = ?1 AND model = ?2 AND schedule = ?3")?
            .execute(params![n, model(gone.model.as_ref()), gone.schedule])?;
    }
    for window in new.windows.iter().filter(|window| !old.windows.contains(window)) {
        db.prepare_cached(
            "INSERT OR REPLACE INTO time_window VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )?
        .execute(params![
            n,
            model(window.model.as_ref()),
            window.schedule,
            match window.lane {
                Lane::Cooldown => "cooldown",
                Lane::Disable => "disabled",
            },
            window.bucket,
            window.since.as_millis(),
            window.until.as_millis(),
            window.step,
            window.hint.map(Timestamp::as_millis),
            millis(window.longest)
        ])?;
    }
    Ok(())
}

fn streaks(db: &Connection, n: i64, old: &Usage, new: &Usage) -> Result<()> {
    let same = |usage: &Usage, model: &Option<String>, bucket: &str| {
        usage.streaks.iter().any(|row| row.model == *model && row.bucket == bucket)
    };
    for gone in old.streaks.iter().filter(|row| !same(new, &row.model, &row.bucket)) {
        db.prepare_cached("DELETE FROM streak WHERE profile = ?1 AND model = ?2 AND bucket = ?3")?
            .execute(params![n, model(gone.model.as_ref()), gone.bucket])?;
    }
    for row in new.streaks.iter().filter(|row| !old.streaks.contains(row)) {
        db.prepare_cached("INSERT OR REPLACE INTO streak VALUES (?1, ?2, ?3, ?4, ?5)")?.execute(params![
            n,
            model(row.model.as_ref()),
            row.bucket,
            row.count,
            row.last.as_millis()
        ])?;
    }
    Ok(())
}

/// Moves `last_used` forward, never back.
pub(super) fn last_used(db: &Connection, id: &ProfileId, at: Timestamp) -> Result<()> {
    db.prepare_cached("UPDATE profile SET last_used = max(ifnull(last_used, ?2), ?2) WHERE id = ?1")?
        .execute(params![id.0.as_str(), at.as_millis()])?;
    Ok(())
}

/// Stores a profile; usage and place of one that is there are kept.
pub(super) fn profile(db: &Connection, profile: &Profile) -> Result<()> {
    let (secret_kind, secret) = secret(profile.secret.as_ref());
    let (refresh_kind, refresh) = self::secret(profile.refresh.as_ref());
    db.prepare_cached(
        "INSERT INTO profile (id, provider, kind, secret_kind, secret, refresh_kind, refresh, expires, email, \
         extra) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT (id) DO UPDATE SET \
         provider = excluded.provider, kind = excluded.kind, secret_kind = excluded.secret_kind, \
         secret = excluded.secret, refresh_kind = excluded.refresh_kind, refresh = excluded.refresh, \
         expires = excluded.expires, email = excluded.email, extra = excluded.extra",
    )?
    .execute(params![
        profile.id.0,
        profile.provider,
        word(&profile.kind)?,
        secret_kind,
        secret,
        refresh_kind,
        refresh,
        profile.expires.map(Timestamp::as_millis),
        profile.email,
        json(&profile.extra)?
    ])?;
    Ok(())
}

/// Stores a refreshed credential (C8).
pub(super) fn new_secret(db: &Connection, new: &NewSecret) -> Result<()> {
    let (kind, value) = secret(Some(&new.secret));
    db.prepare_cached("UPDATE profile SET secret_kind = ?2, secret = ?3, expires = ?4 WHERE id = ?1")?
        .execute(params![new.profile.0.as_str(), kind, value, new.expires.map(Timestamp::as_millis)])?;
    if new.refresh.is_some() {
        let (kind, value) = secret(new.refresh.as_ref());
        db.prepare_cached("UPDATE profile SET refresh_kind = ?2, refresh = ?3 WHERE id = ?1")?
            .execute(params![new.profile.0, kind, value])?;
    }
    Ok(())
}

/// Stores a session whole.
pub(super) fn session(db: &Connection, id: &str, session: &Session) -> Result<()> {
    let selected = session.selected.as_ref();
    db.prepare_cached(
        "INSERT INTO session VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) \
         ON CONFLICT (id) DO UPDATE SET provider_override = ?2, model_override = ?3, \
         model_override_source = ?4, model_override_origin = ?5, written_at = ?6, probed_at = ?7, reason = ?8, \
         notified = ?9, compaction_count = ?10, revision = ?11, other = ?12",
    )?
    .execute(params![
        id,
        selected.map(|s| &s.candidate.provider),
        selected.map(|s| &s.candidate.model),
        selected.and_then(|s| s.source).map(|source| word(&source)).transpose()?,
        selected.and_then(|s| s.origin.as_ref()).map(json).transpose()?,
        selected.map(|s| s.written_at.as_millis()),
        selected.and_then(|s| s.probed_at).map(Timestamp::as_millis),
        selected.and_then(|s| s.reason.as_ref()),
        selected.is_some_and(|s| s.notified),
        session.compaction_count,
        session.revision.cast_signed(),
        json(&session.other)?
    ])?;
    db.prepare_cached("DELETE FROM session_pin WHERE session = ?1")?.execute([id])?;
    for (family, pin) in &session.pins {
        db.prepare_cached("INSERT INTO session_pin VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?.execute(params![
            id,
            family,
            pin.profile.0,
            if pin.by_user { "user" } else { "auto" },
            pin.compaction_count,
            pin.displaced.as_ref().map(|displaced| &displaced.0)
        ])?;
    }
    Ok(())
}

/// Borrowed where it can be: no copy of a secret is left in memory.
fn secret(secret: Option<&Secret>) -> (Option<&'static str>, Option<Cow<'_, str>>) {
    match secret {
        None => (None, None),
        Some(Secret::Direct(secret)) => (Some("direct"), Some(secret.expose_secret().into())),
        Some(Secret::Env(name)) => (Some("env"), Some(name.into())),
        Some(Secret::File(path)) => (Some("file"), Some(path.to_string_lossy())),
    }
}

fn model(model: Option<&String>) -> &str {
    model.map_or("", String::as_str)
}

fn millis(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}

fn json<T: Serialize>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|error| Error::ToSqlConversionFailure(error.into()))
}

fn word<T: Serialize>(value: &T) -> Result<String> {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => Ok(word),
        Ok(other) => json(&other),
        Err(error) => Err(Error::ToSqlConversionFailure(error.into())),
    }
}
