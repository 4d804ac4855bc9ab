//! What is judged otherwise than before: one by one, counted, and grouped.

use std::{collections::BTreeMap, fmt};

use super::Judgement;

/// An error that is judged otherwise than before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its id.
    pub id: String,
    /// The judgement of the snapshot; `None` for an error that it does not know.
    pub old: Option<Judgement>,
    /// The judgement now; `None` for an error that the corpus no longer has.
    pub new: Option<Judgement>,
}

/// How many errors changed, by how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// They are judged otherwise than before.
    pub moved: usize,
    /// The snapshot does not know them.
    pub new: usize,
    /// The corpus no longer has them.
    pub gone: usize,
}

impl Counts {
    /// Counts changes.
    #[must_use]
    pub fn of<'a>(changes: impl IntoIterator<Item = &'a Change>) -> Self {
        let mut out = Self::default();
        for change in changes {
            match (&change.old, &change.new) {
                (None, _) => out.new += 1,
                (_, None) => out.gone += 1,
                _ => out.moved += 1,
            }
        }
        out
    }
}

impl fmt::Display for Counts {
    /// `1 judged otherwise than before, 2 new`; without a change, `all judged as before`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { moved, new, gone } = *self;
        let parts = [(moved, "judged otherwise than before"), (new, "new"), (gone, "gone")];
        let parts = parts.iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> = parts.map(|(count, what)| format!("{count} {what}")).collect();
        if parts.is_empty() { f.write_str("all judged as before") } else { f.write_str(&parts.join(", ")) }
    }
}

/// Where errors moved from and where to.
pub type Way = (Option<Judgement>, Option<Judgement>);

/// Changes by where they moved from and to, the largest group first; places in `changes`.
#[must_use]
pub fn grouped(changes: &[Change]) -> Vec<(Way, Vec<usize>)> {
    let mut groups: BTreeMap<Way, Vec<usize>> = BTreeMap::new();
    for (at, change) in changes.iter().enumerate() {
        let kind = |is: &Option<Judgement>| is.as_ref().map(Judgement::kind);
        groups.entry((kind(&change.old), kind(&change.new))).or_default().push(at);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, places)| std::cmp::Reverse(places.len()));
    groups
}
