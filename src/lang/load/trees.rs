//! Syntax trees that outlive one load: an editor loads a rule set again for every letter typed, and
//! reading the files that did not change would be most of the work.

use std::sync::Arc;

use crate::lang::{ast::File, diagnostic::Diagnostics, parser, source::SourceId};

/// The trees of the last load of one rule set, in the order of its files, each with the text that it was
/// read from. A tree stands for that text in that place, and for nothing else.
#[derive(Debug, Default)]
pub struct Trees(Vec<Tree>);

#[derive(Clone, Debug)]
struct Tree {
    text: Arc<str>,
    file: Arc<File>,
    found: Diagnostics,
}

impl Trees {
    /// The tree of each file of the last load.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<File>> {
        self.0.iter().map(|tree| &tree.file)
    }

    /// The tree of a text, read unless it is known; and the text, shared with the last load where it is.
    /// Files are asked for in order.
    pub(super) fn read(
        &mut self,
        source: SourceId,
        text: &str,
        out: &mut Diagnostics,
    ) -> (Arc<str>, Arc<File>) {
        let at = source.0 as usize;
        let known = self.0.get(at).filter(|tree| *tree.text == *text).cloned();
        let tree = known.unwrap_or_else(|| {
            let mut found = Diagnostics::default();
            let file = Arc::new(parser::parse(source, text, &mut found));
            Tree { text: text.into(), file, found }
        });
        match self.0.get_mut(at) {
            Some(there) => *there = tree.clone(),
            None => self.0.push(tree.clone()),
        }
        out.extend(tree.found);
        (tree.text, tree.file)
    }

    /// Forgets what stands behind the files of a load.
    pub(super) fn keep(&mut self, files: usize) {
        self.0.truncate(files);
    }
}
