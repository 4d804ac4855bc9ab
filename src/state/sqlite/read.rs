//! Rows → state.

use std::{collections::HashMap, path::PathBuf, sync::Arc, time::Duration};

use rusqlite::{
    Connection, Error, OptionalExtension, Row,
    types::{FromSql, FromSqlResult, Type, ValueRef},
};
use serde::de::DeserializeOwned;

use crate::{
    lang::policy::{CredentialKind, Lane},
    state::{
        model::{
            Candidate, Ladder, Override, Pin, Profile, ProfileId, Secret, Session, Streak, Usage, Window,
        },
        name::Name,
        view::{ProfileInfo, ProfileView},
    },
    time::Timestamp,
};

type Result<T> = std::result::Result<T, Error>;

impl FromSql for Name {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_str().map(Self::from)
    }
}

/// Every profile with its usage, by insertion.
pub(super) fn profiles(db: &Connection) -> Result<Vec<ProfileView>> {
    let mut all = Vec::new();
    let mut places = HashMap::new();
    let mut rows = db.prepare_cached(
        "SELECT n, id, provider, kind, secret IS NOT NULL, refresh IS NOT NULL, expires, email, extra, \
         last_used, error_count, last_failure_at FROM profile ORDER BY n",
    )?;
    let mut rows = rows.query([])?;
    while let Some(row) = rows.next()? {
        let n: i64 = row.get(0)?;
        places.insert(n, all.len());
        let info = ProfileInfo {
            id: ProfileId(row.get(1)?),
            provider: row.get(2)?,
            kind: kind(row, 3)?,
            has_secret: row.get(4)?,
            has_refresh: row.get(5)?,
            expires: time_if(row, 6)?,
            email: row.get(7)?,
            extra: json(row, 8)?,
            inserted: n.unsigned_abs(),
        };
        let usage = Usage {
            last_used: time_if(row, 9)?,
            error_count: row.get(10)?,
            last_failure_at: time_if(row, 11)?,
            ..Usage::default()
        };
        all.push((info, usage));
    }
    let mut each = |sql: &str, take: &dyn Fn(&Row<'_>, &mut Usage) -> Result<()>| -> Result<()> {
        let mut rows = db.prepare_cached(sql)?;
        let mut rows = rows.query([])?;
        while let Some(row) = rows.next()? {
            let place = places.get(&row.get::<_, i64>(0)?);
            if let Some((_, usage)) = place.and_then(|place| all.get_mut(*place)) {
                take(row, usage)?;
            }
        }
        Ok(())
    };
    each("SELECT profile, bucket, count FROM failure_count", &|row, usage| {
        usage.failure_counts.insert(row.get(1)?, row.get(2)?);
        Ok(())
    })?;
    each("SELECT profile, model, schedule, step, climbed_at FROM ladder", &|row, usage| {
        let (model, schedule) = (model(row, 1)?, row.get(2)?);
        usage.ladders.push(Ladder { model, schedule, step: row.get(3)?, climbed_at: time(row, 4)? });
        Ok(())
    })?;
    each(
        "SELECT profile, model, schedule, lane, bucket, since, until, step, hint, longest FROM time_window",
        &|row, usage| {
            usage.windows.push(window(row)?);
            Ok(())
        },
    )?;
    each("SELECT profile, model, bucket, count, last FROM streak", &|row, usage| {
        let (model, bucket) = (model(row, 1)?, row.get(2)?);
        usage.streaks.push(Streak { model, bucket, count: row.get(3)?, last: time(row, 4)? });
        Ok(())
    })?;
    let view = |(info, usage)| ProfileView { info: Arc::new(info), usage: Arc::new(usage) };
    Ok(all.into_iter().map(view).collect())
}

fn window(row: &Row<'_>) -> Result<Window> {
    let lane: String = row.get(3)?;
    Ok(Window {
        lane: match lane.as_str() {
            "disabled" => Lane::Disable,
            _ => Lane::Cooldown,
        },
        model: model(row, 1)?,
        schedule: row.get(2)?,
        bucket: row.get(4)?,
        since: time(row, 5)?,
        until: time(row, 6)?,
        step: row.get(7)?,
        hint: time_if(row, 8)?,
        longest: Duration::from_millis(row.get::<_, i64>(9)?.max(0).unsigned_abs()),
    })
}

/// One profile with its secrets.
pub(super) fn profile(db: &Connection, id: &ProfileId) -> Result<Option<Profile>> {
    let mut one = db.prepare_cached(
        "SELECT n, id, provider, kind, secret_kind, secret, refresh_kind, refresh, expires, email, extra \
         FROM profile WHERE id = ?1",
    )?;
    one.query_row([id.0.as_str()], |row| {
        Ok(Profile {
            id: ProfileId(row.get(1)?),
            provider: row.get(2)?,
            kind: kind(row, 3)?,
            secret: secret(row, 4)?,
            refresh: secret(row, 6)?,
            expires: time_if(row, 8)?,
            email: row.get(9)?,
            extra: json(row, 10)?,
            inserted: row.get::<_, i64>(0)?.unsigned_abs(),
        })
    })
    .optional()
}

/// One session; an unknown one is empty.
pub(super) fn session(db: &Connection, id: &str) -> Result<Session> {
    let mut one = db.prepare_cached(&format!("SELECT {SESSION} FROM session WHERE id = ?1"))?;
    let Some((_, mut session)) = one.query_row([id], session_row).optional()? else {
        return Ok(Session::default());
    };
    let mut pins = db.prepare_cached(&format!("SELECT {PIN} FROM session_pin WHERE session = ?1"))?;
    for pin in pins.query_map([id], pin_row)? {
        let (_, family, pin) = pin?;
        session.pins.insert(family, pin);
    }
    Ok(session)
}

/// All sessions, by id.
pub(super) fn sessions(db: &Connection) -> Result<Vec<(String, Session)>> {
    let mut all = db.prepare_cached(&format!("SELECT {SESSION} FROM session ORDER BY id"))?;
    let mut all = all.query_map([], session_row)?.collect::<Result<Vec<_>>>()?;
    let mut pins = db.prepare_cached(&format!("SELECT {PIN} FROM session_pin"))?;
    for pin in pins.query_map([], pin_row)? {
        let (id, family, pin) = pin?;
        if let Ok(at) = all.binary_search_by(|(there, _)| there.cmp(&id))
            && let Some((_, session)) = all.get_mut(at)
        {
            session.pins.insert(family, pin);
        }
    }
    Ok(all)
}

const SESSION: &str = "id, provider_override, model_override, model_override_source, model_override_origin, \
                       written_at, probed_at, reason, notified, compaction_count, revision, other";

fn session_row(row: &Row<'_>) -> Result<(String, Session)> {
    let candidate = match (row.get(1)?, row.get(2)?) {
        (Some(provider), Some(model)) => Some(Candidate { provider, model }),
        _ => None,
    };
    let selected = match candidate {
        None => None,
        Some(candidate) => Some(Override {
            candidate,
            source: row.get::<_, Option<String>>(3)?.map(|name| word(3, &name)).transpose()?,
            origin: row.get::<_, Option<String>>(4)?.map(|text| parse(4, &text)).transpose()?,
            written_at: time(row, 5)?,
            probed_at: time_if(row, 6)?,
            reason: row.get(7)?,
            notified: row.get(8)?,
        }),
    };
    let revision = row.get::<_, i64>(10)?.cast_unsigned();
    let session = Session {
        selected,
        pins: std::collections::BTreeMap::new(),
        compaction_count: row.get(9)?,
        revision,
        other: json(row, 11)?,
    };
    Ok((row.get(0)?, session))
}

const PIN: &str = "session, family, auth_profile_override, auth_profile_override_source, \
                   auth_profile_override_compaction_count, displaced";

fn pin_row(row: &Row<'_>) -> Result<(String, String, Pin)> {
    let source: String = row.get(3)?;
    let pin = Pin {
        profile: ProfileId(row.get(2)?),
        by_user: source == "user",
        compaction_count: row.get(4)?,
        displaced: row.get::<_, Option<Name>>(5)?.map(ProfileId),
    };
    Ok((row.get(0)?, row.get(1)?, pin))
}

fn time(row: &Row<'_>, at: usize) -> Result<Timestamp> {
    row.get(at).map(Timestamp::from_millis)
}

fn time_if(row: &Row<'_>, at: usize) -> Result<Option<Timestamp>> {
    Ok(row.get::<_, Option<i64>>(at)?.map(Timestamp::from_millis))
}

fn model(row: &Row<'_>, at: usize) -> Result<Option<String>> {
    Ok(Some(row.get::<_, String>(at)?).filter(|model| !model.is_empty()))
}

fn kind(row: &Row<'_>, at: usize) -> Result<CredentialKind> {
    word(at, &row.get::<_, String>(at)?)
}

fn secret(row: &Row<'_>, at: usize) -> Result<Option<Secret>> {
    let (kind, value): (Option<String>, Option<String>) = (row.get(at)?, row.get(at + 1)?);
    Ok(value.map(|value| match kind.as_deref() {
        Some("env") => Secret::Env(value),
        Some("file") => Secret::File(PathBuf::from(value)),
        _ => Secret::Direct(value.into()),
    }))
}

fn json<T: DeserializeOwned>(row: &Row<'_>, at: usize) -> Result<T> {
    parse(at, &row.get::<_, String>(at)?)
}

fn parse<T: DeserializeOwned>(at: usize, text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| Error::FromSqlConversionFailure(at, Type::Text, error.into()))
}

fn word<T: DeserializeOwned>(at: usize, name: &str) -> Result<T> {
    serde_json::from_value(name.into())
        .map_err(|error| Error::FromSqlConversionFailure(at, Type::Text, error.into()))
}
