//! The keys that pointsman knows, section by section (L1).

/// At the top.
pub(super) const TOP: &[&str] = &["auth", "agents"];
/// `auth`.
pub(super) const AUTH: &[&str] = &["profiles", "order", "cooldowns"];
/// `agents`.
pub(super) const AGENTS: &[&str] = &["defaults", "list"];
/// `agents.defaults`.
pub(super) const DEFAULTS: &[&str] = &["model", "imageModel", "heartbeat"];
/// `agents.list[]`.
pub(super) const AGENT: &[&str] = &["id", "model", "imageModel", "heartbeat"];
/// `heartbeat`.
pub(super) const HEARTBEAT: &[&str] = &["model"];
/// `model` and `imageModel`: strict.
pub(super) const MODEL: &[&str] = &["primary", "fallbacks"];
/// `auth.profiles.*`: strict.
pub(super) const PROFILE: &[&str] =
    &["provider", "kind", "mode", "type", "email", "displayName", "projectId", "enterpriseUrl"];
/// What somebody might put a secret under (C3).
pub(super) const SECRETS: &[&str] = &[
    "key",
    "apikey",
    "api_key",
    "token",
    "access",
    "refresh",
    "secret",
    "password",
    "accesstoken",
    "refreshtoken",
];
/// `auth.cooldowns`: strict; a number each.
pub(super) const COOLDOWNS: &[&str] = &[
    "billingBackoffHours",
    "billingBackoffHoursByProvider",
    "billingMaxHours",
    "authPermanentBackoffMinutes",
    "authPermanentMaxMinutes",
    "failureWindowHours",
    "overloadedProfileRotations",
    "overloadedBackoffMs",
    "rateLimitedProfileRotations",
];
/// The one of [`COOLDOWNS`] that is a map from provider to number.
pub(super) const BY_PROVIDER: &str = "billingBackoffHoursByProvider";
/// Kinds of credentials as configs spell them.
pub(super) const KINDS: &[&str] = &["oauth", "token", "api_key"];
