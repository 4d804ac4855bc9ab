//! One legacy credential (C1, C2).

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Entries, FileReport, entries::Raw, instant, text};
use crate::{
    lang::policy::CredentialKind,
    state::model::{Profile, ProfileId, Secret},
};

/// Further fields that are known to hold no secret. Any other is left in the file.
const PLAIN: &[&str] = &["projectId", "enterpriseUrl", "accountId", "displayName", "clientId"];

/// Reads a credential; `key` is a profile id, or a provider. What it does not understand goes into
/// the report, without any value.
pub(super) fn read(key: &str, value: Raw, at: &str, report: &mut FileReport) -> Option<Profile> {
    let Some(fields) = Entries::of(value) else {
        report.left(at, "not a map");
        return None;
    };
    fields.say_repeated(&format!("{at}."), report);
    let mut found = Found::default();
    for (name, value) in fields.each {
        let at = format!("{at}.{name}");
        let Some(value) = value.other() else {
            report.left(at, "unknown field");
            continue;
        };
        if !value.is_null() && !found.take(&name, value) {
            report.left(at, "unknown field, or not of the right type");
        }
    }
    found.profile(key, at, report)
}

#[derive(Default)]
struct Found {
    kind: Option<String>,
    provider: Option<String>,
    key: Option<String>,
    token: Option<String>,
    access: Option<String>,
    refresh: Option<String>,
    expires: Option<crate::time::Timestamp>,
    email: Option<String>,
    extra: BTreeMap<String, Value>,
}

impl Found {
    fn take(&mut self, name: &str, value: &Value) -> bool {
        let place = match name {
            "type" | "mode" => &mut self.kind,
            "provider" => &mut self.provider,
            "key" => &mut self.key,
            "token" => &mut self.token,
            "access" => &mut self.access,
            "refresh" => &mut self.refresh,
            "email" => &mut self.email,
            "expires" => {
                self.expires = instant(value);
                return self.expires.is_some();
            }
            _ if PLAIN.contains(&name) => {
                self.extra.insert(name.to_owned(), value.clone());
                return true;
            }
            _ => return false,
        };
        *place = text(value);
        place.is_some()
    }

    fn profile(self, key: &str, at: &str, report: &mut FileReport) -> Option<Profile> {
        let (kind, secret) = match self.kind.as_deref() {
            Some("oauth") => (CredentialKind::Oauth, self.access),
            Some("token") => (CredentialKind::Token, self.token),
            Some("api_key" | "apiKey" | "api-key") => (CredentialKind::ApiKey, self.key),
            // It is not repeated: a key may have got into the wrong field.
            Some(_) => {
                let why = "no kind of credential; write `api_key`, `oauth` or `token`";
                report.left(format!("{at}.type"), why);
                return None;
            }
            // `oauth.json` names no type.
            None if self.access.is_some() || self.refresh.is_some() => (CredentialKind::Oauth, self.access),
            None if self.token.is_some() => (CredentialKind::Token, self.token),
            None if self.key.is_some() => (CredentialKind::ApiKey, self.key),
            None => {
                report.left(at, "no type and no secret");
                return None;
            }
        };
        let provider = self.provider.as_deref().unwrap_or_else(|| key.split(':').next().unwrap_or(key));
        let id = if key.contains(':') {
            key.to_owned()
        } else {
            format!("{key}:{}", self.email.as_deref().unwrap_or("default"))
        };
        if provider.is_empty() || id.ends_with(':') {
            report.left(at, "no profile id: write `provider:NAME`");
            return None;
        }
        let profile = Profile {
            id: ProfileId(id.into()),
            provider: provider.to_owned(),
            kind,
            secret: secret.map(literal),
            refresh: self.refresh.map(literal),
            expires: self.expires,
            email: self.email,
            extra: self.extra,
            inserted: 0,
        };
        if let Some(flaw) = profile.flaw() {
            report.left(at, format!("its secret {flaw}"));
            return None;
        }
        Some(profile)
    }
}

/// A legacy file holds keys and no references: what looks like one must not make the host read a file or
/// a variable.
fn literal(key: String) -> Secret {
    Secret::Direct(key.into())
}
