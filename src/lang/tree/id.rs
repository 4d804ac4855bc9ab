//! Positions in the tables of a rule set.

macro_rules! id {
    ($(#[$doc:meta] $name:ident),* $(,)?) => {$(
        #[$doc]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);
        impl $name {
            /// Position in its table.
            #[must_use]
            pub const fn index(self) -> usize { self.0 as usize }
        }
    )*};
}
id! {
    /// Index into [`super::Ruleset::buckets`].
    BucketId,
    /// Index into [`super::Ruleset::rules`]: the order of trial.
    RuleId,
    /// Index into [`super::Ruleset::blocks`].
    BlockId,
    /// Index into [`super::Ruleset::lets`].
    LetId,
    /// Index into [`super::Ruleset::lists`].
    ListId,
    /// Index into [`super::Ruleset::settings`].
    SettingId,
    /// Index into [`super::Ruleset::backoffs`].
    BackoffId,
    /// Index into [`super::Ruleset::resets`].
    ResetId,
}

impl BucketId {
    /// The built-in buckets and their names.
    pub const BUILT_IN: [(&'static str, Self); 2] =
        [("unclassified", Self::UNCLASSIFIED), ("empty_response", Self::EMPTY_RESPONSE)];
    /// The built-in bucket of an error that no rule matched (D12).
    pub const UNCLASSIFIED: Self = Self(0);
    /// The built-in bucket of an error with nothing to look at (D12).
    pub const EMPTY_RESPONSE: Self = Self(1);
}
