//! Orders of a config that name profiles which are not there (C5).

use std::collections::HashMap;

use crate::{
    lang::diagnostic::nearest::did_you_mean,
    run::Routing,
    state::{model::ProfileId, select::SameFamily},
};

/// What an order names in vain.
pub(super) struct Lost<'a> {
    /// Whose order it is.
    pub(super) provider: &'a str,
    /// It names nothing else, so that the stored ones are used.
    pub(super) all: bool,
    /// One lower-case sentence.
    pub(super) message: String,
    /// How to mend it.
    pub(super) help: String,
}

/// Looks for every profile of every order among those that are `there`; `how` they are there:
/// `stored`, for example.
pub(super) fn lost<'a>(
    routing: &'a Routing,
    there: &[&ProfileId],
    how: &str,
    family: SameFamily<'_>,
) -> Vec<Lost<'a>> {
    let mut by_name: HashMap<&str, Vec<&ProfileId>> = HashMap::new();
    for id in there {
        by_name.entry(id.name()).or_default().push(id);
    }
    let is_there = |id: &ProfileId| {
        by_name.get(id.name()).is_some_and(|named| named.iter().any(|known| known.same(id, family)))
    };
    let mut found = Vec::new();
    for (provider, order) in &routing.order {
        let missing: Vec<&ProfileId> = order.iter().filter(|id| !is_there(id)).collect();
        let Some(first) = missing.first() else { continue };
        let all = missing.len() == order.len();
        let message = if all {
            format!(
                "`auth.order.{provider}` names only profiles that are not {how}; the stored ones are used instead"
            )
        } else {
            let ids: Vec<String> = missing.iter().map(|id| format!("`{}`", id.0)).collect();
            let (verb, ids) = (if ids.len() == 1 { "is" } else { "are" }, ids.join(", "));
            format!("`auth.order.{provider}` names {ids}, which {verb} not {how}")
        };
        let near = did_you_mean(&first.0, there.iter().map(|id| id.0.as_str()));
        let help = near.unwrap_or_else(|| "store what it names, or mend the order".to_owned());
        found.push(Lost { provider, all, message, help });
    }
    found
}
