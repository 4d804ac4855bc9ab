//! The policy slots that rules fill and the interpreter reads. Closed forms: the interpreter knows
//! these shapes and the bucket traits, and nothing else of policy.
//!
//! Durations and counts may name a setting; `table::Settings` gives them their value in force.

use std::time::Duration;

use super::{
    source::{Span, Spanned},
    tree::{BackoffId, BucketId, SettingId},
};

/// A duration: written out, or the value of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DurationSlot {
    /// Written out.
    Fixed(Duration),
    /// The setting's value in force.
    Setting(SettingId),
}

/// A count: written out, or the value of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountSlot {
    /// Written out.
    Fixed(u32),
    /// The setting's value in force.
    Setting(SettingId),
}

/// What follows from an error: four slots and a sentence (E0). Each slot knows where it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Reaction {
    /// The cooldown or disable that opens, if any.
    pub window: Spanned<Option<WindowSlot>>,
    /// Whether and how far to rotate to other profiles.
    pub rotate: Spanned<Option<RotateSlot>>,
    /// `retry once if repaired`.
    pub retry_if_repaired: Spanned<bool>,
    /// What happens when the provider is exhausted.
    pub end: Spanned<End>,
    /// `say "…"`: a sentence for the user.
    pub say: Option<Spanned<String>>,
}

/// The window slot of a reaction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowSlot {
    /// Short cooldown or long disable.
    pub lane: Lane,
    /// Whether it blocks one model (if known) or the whole profile.
    pub scope: Scope,
    /// The schedule.
    pub backoff: BackoffId,
    /// `until reset at least D at most D`; absent: hints are not asked for.
    pub until_reset: Option<ResetBounds>,
    /// `after N in a row within D`; absent: from the first failure.
    pub after: Option<InARow>,
}

/// What a failure does to a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Lane {
    /// A short pause.
    Cooldown,
    /// A long one.
    Disable,
}

/// How much of a profile a window blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The failing model, when its id is known; else the profile.
    Model,
    /// The profile, for every model.
    Profile,
}

/// Bounds of a provider-given reset time (E6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResetBounds {
    /// Shorter hints become this.
    pub at_least: DurationSlot,
    /// Longer hints become this, unless their declaration is trusted further.
    pub at_most: DurationSlot,
}

/// `after N in a row within D`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InARow {
    /// The failure that opens the window (2: the second).
    pub count: u32,
    /// How close together they must be.
    pub within: DurationSlot,
}

/// The rotate slot (F).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RotateSlot {
    /// How many rotations a run allows per candidate and bucket; absent: all profiles.
    pub up_to: Option<CountSlot>,
    /// A pause before each; absent: none.
    pub after: Option<DurationSlot>,
}

/// The end slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Go to the next candidate.
    Fallback,
    /// Return the error as it is.
    Surface,
    /// Go on while candidates remain, else return the error as it is.
    FallbackElseSurface,
}

/// How a backoff grows.
#[derive(Clone, Debug, PartialEq)]
pub struct Backoff {
    /// The steps.
    pub growth: Growth,
    /// Share of the step by which it may vary, in percent; 0: none.
    pub jitter_percent: u8,
}

/// The steps of a backoff.
#[derive(Clone, Debug, PartialEq)]
pub enum Growth {
    /// A list; the last repeats. Never empty.
    Steps(Vec<DurationSlot>),
    /// Doubling from a start up to a cap.
    Doubling {
        /// First step.
        from: DurationSlot,
        /// Longest step.
        up_to: DurationSlot,
    },
}

/// Everything beside reactions and backoffs. A slot that no rule fills is `None`, and the
/// interpreter then does the least: no probe, no pin, no budget, no fallback.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Policy {
    /// `forget failures after D of quiet` (E4).
    pub forget_after: Option<Spanned<DurationSlot>>,
    /// `on success { reset ladders of model, profile }` (E10).
    pub on_success: Option<Spanned<SuccessReset>>,
    /// `order profiles { … }` (C6, C7).
    pub order: Option<Spanned<ProfileOrder>>,
    /// `pin profile auto { … }` (C9).
    pub pin_auto: Option<Spanned<PinPolicy>>,
    /// `pin profile user { … }` (C10).
    pub pin_user: Option<Spanned<PinPolicy>>,
    /// `source … { … }` (B), at `SelectionSource as usize`.
    pub sources: [Option<Spanned<SourcePolicy>>; 6],
    /// `probe primary { … }` (I2, I3).
    pub probe_primary: Option<Spanned<PrimaryProbe>>,
    /// `probe sibling { … }` (I4, I5).
    pub probe_sibling: Option<Spanned<SiblingProbe>>,
    /// `budget per run { … }` (H6).
    pub budget: Option<Spanned<Budget>>,
    /// `skip cache { … }` (H3).
    pub skip_cache: Option<Spanned<SkipCache>>,
    /// `sdk retry { … }` (E9).
    pub sdk_retry: Option<Spanned<SdkRetry>>,
    /// `notice fallback "…"` (J4); holes `{fallback}`, `{selected}`, `{reason}`.
    pub notice_fallback: Option<Spanned<String>>,
    /// `notice cleared "…"` (J4); holes `{selected}`, `{fallback}`.
    pub notice_cleared: Option<Spanned<String>>,
}

/// `on success { reset ladders of … }`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuccessReset {
    /// The answering model's ladder.
    pub model: bool,
    /// Every profile-scoped ladder.
    pub profile: bool,
}

/// The kind of a credential (C1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CredentialKind {
    /// A refreshable login.
    Oauth,
    /// A static bearer token.
    Token,
    /// An API key.
    ApiKey,
}

/// `order profiles { kind oauth, token, api_key; last_used oldest first; blocked last, soonest first }`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileOrder {
    /// Kinds, first to last; empty: kind does not matter.
    pub kinds: Vec<CredentialKind>,
    /// By last use.
    pub last_used: Option<LastUsed>,
    /// Blocked profiles go to the end, soonest expiry first.
    pub blocked_last: bool,
}

/// Order by last use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastUsed {
    /// Never used or longest unused first: round-robin.
    OldestFirst,
    /// Latest used first.
    NewestFirst,
}

/// `pin profile auto|user { per session; release on …; return when free }`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "one flag for each word of the form")]
pub struct PinPolicy {
    /// `release on reset` (reset and new).
    pub release_on_reset: bool,
    /// `release on compaction`.
    pub release_on_compaction: bool,
    /// `release on blocked`: blocked for this model.
    pub release_on_blocked: bool,
    /// `return when free`: go back to the displaced profile.
    pub return_when_free: bool,
}

/// Where a session's model selection came from (B).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SelectionSource {
    /// B1.
    Default,
    /// B2.
    Agent,
    /// B6.
    Cron,
    /// B3.
    Auto,
    /// B4.
    User,
    /// B5.
    Legacy,
}

/// `source NAME { … }`; `as OTHER` is resolved before it gets here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SourcePolicy {
    /// Which fallbacks follow the selected model.
    pub fallbacks: Fallbacks,
    /// `then primary`: the configured primary at the end of the chain (G4).
    pub then_primary: bool,
    /// `probe origin every D` (B3).
    pub probe_origin: Option<DurationSlot>,
}

/// The fallbacks of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallbacks {
    /// `strict`: none.
    Strict,
    /// `fallbacks configured`.
    Configured,
    /// `fallbacks own else none`.
    OwnElseNone,
    /// `fallbacks own else configured`.
    OwnElseConfigured,
    /// `fallbacks of origin`.
    OfOrigin,
}

/// `probe primary { within D of expiry; every D per provider; BUCKET every D per provider }`.
#[derive(Clone, Debug, PartialEq)]
pub struct PrimaryProbe {
    /// How near the window's end a probe may come.
    pub within: DurationSlot,
    /// Least time between two probes of a provider.
    pub every: DurationSlot,
    /// Disables of these buckets are probed too, each with its own throttle.
    pub disabled: Vec<(BucketId, DurationSlot)>,
}

/// `probe sibling { when transient; once per provider per run }`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiblingProbe {
    /// Only windows of transient buckets.
    pub when_transient: bool,
    /// At most one a provider and run.
    pub once_per_provider: bool,
}

/// `budget per run { attempts N; elapsed D }`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// Most attempts of a run; absent: no limit.
    pub attempts: Option<CountSlot>,
    /// Longest run; absent: no limit.
    pub elapsed: Option<DurationSlot>,
}

/// `skip cache { for D at least D at most D }`. A zero `for` turns it off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SkipCache {
    /// How long a marker lives.
    pub for_: DurationSlot,
    /// Least.
    pub at_least: DurationSlot,
    /// Most.
    pub at_most: DurationSlot,
}

/// `sdk retry { status in [408, 409, 429, 500..599]; wait at most D }` (E9).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SdkRetry {
    /// Statuses that an SDK may retry by itself, as inclusive ranges.
    pub statuses: Vec<(u16, u16)>,
    /// Longest wait inside an SDK.
    pub at_most: DurationSlot,
}

/// What the interpreter knows of a bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traits {
    /// `transient` (I4).
    pub transient: bool,
    /// `auth_class` (H3).
    pub auth_class: bool,
    /// `skips_provider [from step N]` (I1): the step from which a set blocked by it is skipped.
    pub skips_provider_from: Option<u32>,
    /// `keeps_probe_slot` (I5).
    pub keeps_probe_slot: bool,
}

/// Where a slot that nobody wrote comes from: the engine's least behaviour.
pub const BUILT_IN: Span = Span { source: super::source::SourceId(u32::MAX), start: 0, end: 0 };
