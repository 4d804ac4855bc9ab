//! How results are printed.

use super::world::World;

/// How one result, or a view of the state, is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum ViewFormat {
    /// For people
    Human,
    /// One JSON object
    #[value(alias = "jsonl")]
    Json,
}

/// How results that come one after another are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum StreamFormat {
    /// For people
    Human,
    /// One JSON object a line
    #[value(alias = "json")]
    Jsonl,
}

impl StreamFormat {
    /// Whether a person reads it: as asked for, else whether the output is a terminal.
    pub(super) fn for_people(asked: Option<Self>, world: &World) -> bool {
        asked.map_or(world.stdout_terminal, |format| format == Self::Human)
    }
}
