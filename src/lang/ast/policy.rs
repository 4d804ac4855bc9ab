//! The closed policy forms.

use super::{CountSlot, DurationSlot, Name, NumberRange};
use crate::lang::{
    policy::{Fallbacks, PinPolicy, ProfileOrder, SelectionSource, SiblingProbe, SuccessReset},
    source::{Span, Spanned},
};

/// One closed form. The statement's span is that of the whole form.
#[derive(Clone, Debug, PartialEq)]
pub enum PolicyForm {
    /// `forget failures after D of quiet`.
    ForgetFailures(DurationSlot),
    /// `on success { reset ladders of model, profile }`.
    OnSuccess(SuccessReset),
    /// `order profiles { … }`.
    OrderProfiles(ProfileOrder),
    /// `pin profile auto|user { … }`.
    PinProfile {
        /// Which pin.
        kind: Spanned<PinKind>,
        /// When it ends.
        policy: PinPolicy,
    },
    /// `source NAME { … }`.
    Source(SourcePolicy),
    /// `probe primary { … }`.
    ProbePrimary(PrimaryProbe),
    /// `probe sibling { … }`.
    ProbeSibling(SiblingProbe),
    /// `budget per run { … }`.
    Budget(Budget),
    /// `skip cache { … }`.
    SkipCache(SkipCache),
    /// `sdk retry { … }`.
    SdkRetry(SdkRetry),
    /// `notice fallback "…"`.
    NoticeFallback(Spanned<String>),
    /// `notice cleared "…"`.
    NoticeCleared(Spanned<String>),
}

/// Whose pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PinKind {
    /// Set by rotation.
    Auto,
    /// Set by the user.
    User,
}

/// `source NAME { … }`.
#[derive(Clone, Debug, PartialEq)]
pub struct SourcePolicy {
    /// Which selection source.
    pub source: Spanned<SelectionSource>,
    /// Its chain.
    pub body: SourceBody,
}

/// What stands in the braces of `source`.
#[derive(Clone, Debug, PartialEq)]
pub enum SourceBody {
    /// `as OTHER`.
    As(Spanned<SelectionSource>),
    /// Slots.
    Slots(SourceSlots),
}

/// The slots of a source.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceSlots {
    /// `fallbacks …` or `strict`.
    pub fallbacks: Spanned<Fallbacks>,
    /// `then primary`.
    pub then_primary: Option<Span>,
    /// `probe origin every D`.
    pub probe_origin: Option<DurationSlot>,
}

/// `probe primary { within D of expiry; every D per provider; BUCKET every D per provider }`.
#[derive(Clone, Debug, PartialEq)]
pub struct PrimaryProbe {
    /// How near the window's end.
    pub within: DurationSlot,
    /// Least time between two.
    pub every: DurationSlot,
    /// Disables of these buckets, each with its own throttle.
    pub disabled: Vec<(Name, DurationSlot)>,
}

/// `budget per run { attempts N; elapsed D }`.
#[derive(Clone, Debug, PartialEq)]
pub struct Budget {
    /// Most attempts.
    pub attempts: Option<CountSlot>,
    /// Longest run.
    pub elapsed: Option<DurationSlot>,
}

/// `skip cache { for D at least D at most D }`.
#[derive(Clone, Debug, PartialEq)]
pub struct SkipCache {
    /// How long a marker lives.
    pub for_: DurationSlot,
    /// Least.
    pub at_least: DurationSlot,
    /// Most.
    pub at_most: DurationSlot,
}

/// `sdk retry { status in [408, 500..599]; wait at most D }`.
#[derive(Clone, Debug, PartialEq)]
pub struct SdkRetry {
    /// Statuses that an SDK may retry by itself.
    pub statuses: Vec<NumberRange>,
    /// Longest wait inside an SDK.
    pub at_most: DurationSlot,
}
