//! Legacy JSON files → state (C4). Idempotent; nothing stored is overwritten, and the files stay as
//! they are.

mod credential;
mod entries;
mod usage;

use std::{
    collections::{BTreeSet, HashMap},
    io::{self, Read},
    path::{Path, PathBuf},
};

use serde::Serialize;
use serde_json::Value;

use self::entries::Entries;
use super::{
    change::{Batch, Change},
    model::{Profile, ProfileId},
    select::SameFamily,
    store::{Put, Store, StoreError},
    view::{View, ViewQuery},
};
use crate::{lang::load::files, time::Timestamp};

/// A legacy file longer than this is none.
const LONGEST: u64 = 16 * 1024 * 1024;

/// What an import did, file by file (C4). Holds no secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The files that were there.
    pub files: Vec<FileReport>,
}

/// What was found in one file (C4).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileReport {
    /// The file.
    pub path: PathBuf,
    /// Nothing of it could be read: it is no JSON map, too long, or not to be opened.
    pub unread: bool,
    /// Profiles that were stored, in the order of the file.
    pub profiles: Vec<String>,
    /// Profiles whose usage was taken over.
    pub usage: Vec<String>,
    /// Profiles that were stored without a secret, and have it now.
    pub filled: Vec<String>,
    /// Profiles, or their usage, that the state has already: the stored ones stay.
    pub kept: Vec<String>,
    /// What was not understood, and is left where it is.
    pub not_understood: Vec<NotUnderstood>,
}

/// Something that an import left alone (C4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NotUnderstood {
    /// Where in the file, as a dotted path; empty: the file itself.
    pub at: String,
    /// Why.
    pub why: String,
}

impl FileReport {
    fn left(&mut self, at: impl Into<String>, why: impl Into<String>) {
        self.not_understood.push(NotUnderstood { at: at.into(), why: why.into() });
    }
}

/// Imports every legacy file of an agent below `root` (C4).
///
/// # Errors
/// [`StoreError`] when the state cannot be read or written. A bad file is no error: it is reported,
/// and the others are imported.
pub fn import(
    root: &Path,
    agent: &str,
    store: &dyn Store,
    family: SameFamily<'_>,
    now: Timestamp,
) -> Result<Report, StoreError> {
    let mut import = Import { store, family, now, report: Report::default() };
    // An agent id is a name, not a way out of the root.
    let own = root.join("agents").join(agent.replace(['/', '\\'], "_").replace("..", "_")).join("agent");
    import.file(&own.join("auth-profiles.json"), Import::profiles_and_usage)?;
    import.file(&root.join("agent").join("auth-profiles.json"), Import::profiles_and_usage)?;
    import.file(&own.join("auth.json"), Import::by_provider)?;
    import.file(&oauth_file(root), Import::by_provider)?;
    // Last: usage belongs to profiles that are there.
    import.file(&own.join("auth-state.json"), Import::profiles_and_usage)?;
    Ok(import.report)
}

/// Imports `credentials/oauth.json` alone, as is done at first use (C4). `None`: there is no such file.
///
/// # Errors
/// [`StoreError`] when the state cannot be read or written.
pub fn import_oauth(
    root: &Path,
    store: &dyn Store,
    family: SameFamily<'_>,
    now: Timestamp,
) -> Result<Option<FileReport>, StoreError> {
    let mut import = Import { store, family, now, report: Report::default() };
    import.file(&oauth_file(root), Import::by_provider)?;
    Ok(import.report.files.pop())
}

fn oauth_file(root: &Path) -> PathBuf {
    root.join("credentials").join("oauth.json")
}

struct Import<'a> {
    store: &'a dyn Store,
    family: SameFamily<'a>,
    now: Timestamp,
    report: Report,
}

type Reader<'a> = fn(&Import<'a>, Entries, &mut FileReport) -> Result<(), StoreError>;

impl<'a> Import<'a> {
    fn file(&mut self, path: &Path, read: Reader<'a>) -> Result<(), StoreError> {
        let mut report = FileReport { path: path.to_owned(), ..FileReport::default() };
        match load(path) {
            Ok(None) => return Ok(()),
            Ok(Some(entries)) => read(self, entries, &mut report)?,
            Err(why) => {
                report.unread = true;
                report.left("", why);
            }
        }
        self.report.files.push(report);
        Ok(())
    }

    /// `{profiles: {id: …}, usageStats: {id: …}}`.
    fn profiles_and_usage(&self, file: Entries, report: &mut FileReport) -> Result<(), StoreError> {
        file.say_repeated("", report);
        let mut usage = None;
        for (key, value) in file.each {
            match key.as_str() {
                "version" => {}
                "profiles" => match Entries::of(value) {
                    Some(profiles) => self.take_all(profiles, "profiles.", report)?,
                    None => report.left("profiles", "not a map"),
                },
                "usageStats" => usage = Some(value),
                "order" => report.left("order", "an order belongs into the config, as `auth.order`"),
                other => report.left(other, "unknown key"),
            }
        }
        match usage.map(Entries::of) {
            None => Ok(()),
            Some(Some(usage)) => self.take_usage(usage, report),
            Some(None) => {
                report.left("usageStats", "not a map");
                Ok(())
            }
        }
    }

    /// `{provider: credential}`.
    fn by_provider(&self, file: Entries, report: &mut FileReport) -> Result<(), StoreError> {
        self.take_all(file, "", report)
    }

    fn take_all(&self, all: Entries, at: &str, report: &mut FileReport) -> Result<(), StoreError> {
        let mut read: Vec<Profile> = Vec::new();
        // By the name behind the colon: two names of one profile have that in common.
        let mut places: HashMap<String, Vec<usize>> = HashMap::new();
        let mut twice = BTreeSet::new();
        all.say_repeated(at, report);
        for (key, value) in all.each {
            let at = format!("{at}{key}");
            let Some(profile) = credential::read(&key, value, &at, report) else { continue };
            let named = places.entry(profile.id.name().to_owned()).or_default();
            let same =
                |place: &usize| read.get(*place).is_some_and(|it| it.id.same(&profile.id, self.family));
            if let Some(first) = named.iter().copied().find(same) {
                let why = format!("the same profile as `{}`; remove one of them", read_id(&read, first));
                report.left(at, why);
                twice.insert(first);
            } else {
                named.push(read.len());
                read.push(profile);
            }
        }
        let view = self.view()?;
        let mut new: Vec<Profile> = Vec::new();
        for (place, profile) in read.into_iter().enumerate() {
            if twice.contains(&place) {
                report.left(profile.id.0, "stands here under two names; remove one of them");
            } else if let Some(there) = find(&view, &profile.id, self.family) {
                let filled = self.fill(&there, &profile)?;
                let done = if filled { &mut report.filled } else { &mut report.kept };
                done.push(profile.id.0.into());
            } else {
                if profile.secret.is_none() && profile.refresh.is_none() {
                    report.left(
                        profile.id.0.as_str(),
                        "is stored without a secret; mend the file and import it again, or store one with `pointsman \
                         profiles add`",
                    );
                }
                new.push(profile);
            }
        }
        if new.is_empty() {
            return Ok(());
        }
        // All at once: with a part of them stored, first use would be over.
        let stored = self.store.put_profiles(&new)?;
        for (profile, put) in new.into_iter().zip(stored) {
            match put {
                Put::Added => report.profiles.push(profile.id.0.into()),
                Put::Replaced => report.kept.push(profile.id.0.into()),
            }
        }
        Ok(())
    }

    /// Gives a stored profile the secret that it lacks. One that it has is never replaced, nor joined by
    /// a part of another.
    fn fill(&self, there: &ProfileId, found: &Profile) -> Result<bool, StoreError> {
        if found.secret.is_none() {
            return Ok(false);
        }
        let lacks = |stored: &Profile| {
            stored.secret.is_none()
                && stored.refresh.is_none()
                && (stored.kind, &stored.provider) == (found.kind, &found.provider)
        };
        let Some(stored) = self.store.profile(there)?.filter(lacks) else { return Ok(false) };
        let (secret, refresh) = (found.secret.clone(), found.refresh.clone());
        self.store.put_profile(&Profile { secret, refresh, expires: found.expires, ..stored })?;
        Ok(true)
    }

    fn take_usage(&self, all: Entries, report: &mut FileReport) -> Result<(), StoreError> {
        let view = self.view()?;
        let mut changes = Vec::new();
        all.say_repeated("usageStats.", report);
        for (id, value) in all.each {
            let at = format!("usageStats.{id}");
            let Some(there) = find(&view, &ProfileId(id.as_str().into()), self.family) else {
                report.left(at, "no such profile is stored");
                continue;
            };
            let Some(usage) = usage::read(value, &at, self.now, report) else { continue };
            // Nothing was understood: to store that would be a change at every import.
            if usage == super::model::Usage::default() {
                continue;
            }
            let profile = view.profile(&there);
            if profile.is_some_and(|profile| *profile.usage != super::model::Usage::default()) {
                report.kept.push(format!("{id} (usage)"));
            } else {
                changes.push(Change::Adopt { profile: there, usage });
                report.usage.push(id);
            }
        }
        if !changes.is_empty() {
            self.store.apply(&Batch { session: None, changes }, self.now)?;
        }
        Ok(())
    }

    fn view(&self) -> Result<View, StoreError> {
        self.store.view(&ViewQuery::default(), self.now)
    }
}

fn read_id(read: &[Profile], at: usize) -> &str {
    read.get(at).map_or("", |profile| profile.id.0.as_str())
}

fn find(view: &View, id: &ProfileId, family: SameFamily<'_>) -> Option<ProfileId> {
    view.profiles.same(id, family).map(|there| there.info.id.clone())
}

/// The entries of a JSON file in their order; `None` when there is no file.
fn load(path: &Path) -> Result<Option<Entries>, String> {
    let file = match files::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("cannot be read ({error})")),
    };
    let mut text = super::secret::Zeroizing::new(Vec::new());
    file.take(LONGEST + 1).read_to_end(&mut text).map_err(|error| format!("cannot be read ({error})"))?;
    if text.len() as u64 > LONGEST {
        return Err("longer than 16 MiB".to_owned());
    }
    // Only the place is told: the error's own words may quote a secret.
    let place = |error: &serde_json::Error| {
        format!("no valid JSON (line {}, column {})", error.line(), error.column())
    };
    let value: Entries = match serde_json::from_slice(&text) {
        Ok(entries) => entries,
        Err(error) if error.is_data() => return Err("not a map".to_owned()),
        Err(error) => return Err(place(&error)),
    };
    Ok(Some(value))
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// In milliseconds since the epoch. What lies behind it counts something else, such as microseconds, and
/// would block a profile for ever.
const END_OF_YEAR_9999: i64 = 253_402_300_799_999;

fn instant(value: &Value) -> Option<Timestamp> {
    #[expect(clippy::cast_possible_truncation, reason = "a float saturates; milliseconds fit anyway")]
    let millis = value.as_i64().or_else(|| value.as_f64().map(|millis| millis as i64))?;
    (millis <= END_OF_YEAR_9999).then(|| Timestamp::from_millis(millis))
}
