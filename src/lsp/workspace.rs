//! The rule sets behind the open documents: which root a file belongs to, and what is fresh.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    analysis::{Analysis, Kept, analyse},
    documents::Documents,
};
use crate::table::SettingSource;

/// How far above a file its `main.rules` is looked for.
const FARTHEST: usize = 16;

/// What the root of a rule set in a folder is called.
const ROOT: &str = "main.rules";

/// Documents and the rule sets that they belong to.
pub struct Workspace<'a> {
    /// The open documents.
    pub documents: Documents,
    settings: &'a dyn SettingSource,
    /// The folders that the editor has open; a file in one of them is looked after no further up.
    folders: Vec<PathBuf>,
    sets: BTreeMap<PathBuf, Set>,
}

struct Set {
    analysis: Arc<Analysis>,
    fresh: bool,
    kept: Kept,
}

impl<'a> Workspace<'a> {
    /// No documents yet.
    #[must_use]
    pub fn new(settings: &'a dyn SettingSource) -> Self {
        Self { documents: Documents::default(), settings, folders: Vec::new(), sets: BTreeMap::new() }
    }

    /// Sets the editor's folders.
    pub fn set_folders(&mut self, folders: Vec<PathBuf>) {
        self.folders = folders;
    }

    /// A text has changed: every rule set that holds it, or could, is looked at again.
    pub fn touch(&mut self, path: &Path) {
        for (root, set) in &mut self.sets {
            let broken = set.analysis.diagnostics.has_errors();
            if root == path || broken || set.analysis.source_at(path).is_some() {
                set.fresh = false;
            }
        }
    }

    /// Files may have changed on disk.
    pub fn touch_all(&mut self) {
        self.sets.values_mut().for_each(|set| set.fresh = false);
    }

    /// The rule set of a document: that of the nearest `main.rules` above it that uses it, else its own.
    pub fn set_of(&mut self, path: &Path) -> Arc<Analysis> {
        for root in self.candidates(path) {
            let analysis = self.set(&root);
            if analysis.source_at(path).is_some() {
                return analysis;
            }
        }
        self.set(path)
    }

    /// Like [`Self::set_of`], but as it was last looked at: at once, and perhaps a few edits old.
    pub fn last_set_of(&mut self, path: &Path) -> Arc<Analysis> {
        let roots = self.candidates(path).into_iter().chain([path.to_owned()]);
        let known =
            roots.filter_map(|root| self.sets.get(&root)).find(|set| set.analysis.source_at(path).is_some());
        match known {
            Some(set) => set.analysis.clone(),
            None => self.set_of(path),
        }
    }

    /// The rule sets of all open documents, each once.
    pub fn open_sets(&mut self) -> Vec<Arc<Analysis>> {
        let paths: Vec<PathBuf> = self.documents.iter().map(|(path, _)| path.clone()).collect();
        let mut out: Vec<Arc<Analysis>> = Vec::new();
        for path in paths {
            let set = self.set_of(&path);
            if !out.iter().any(|known| Arc::ptr_eq(known, &set)) {
                out.push(set);
            }
        }
        self.forget(&out);
        out
    }

    /// Rule sets that no document needs are let go.
    fn forget(&mut self, needed: &[Arc<Analysis>]) {
        let candidates: BTreeSet<PathBuf> =
            self.documents.iter().flat_map(|(path, _)| self.candidates(path)).collect();
        self.sets.retain(|root, set| {
            candidates.contains(root) || needed.iter().any(|known| Arc::ptr_eq(known, &set.analysis))
        });
    }

    fn set(&mut self, root: &Path) -> Arc<Analysis> {
        let mut kept = match self.sets.get_mut(root) {
            Some(set) if set.fresh => return set.analysis.clone(),
            // Taken out while it is worked on: a panic in between leaves nothing half done behind.
            Some(set) => std::mem::take(&mut set.kept),
            None => Kept::default(),
        };
        let analysis = Arc::new(analyse(root, &self.documents, self.settings, &mut kept));
        self.sets.insert(root.to_owned(), Set { analysis: analysis.clone(), fresh: true, kept });
        analysis
    }

    /// Every `main.rules` above a file, nearest first.
    fn candidates(&self, path: &Path) -> Vec<PathBuf> {
        let top =
            self.folders.iter().filter(|folder| path.starts_with(folder)).min_by_key(|f| f.as_os_str().len());
        let folders = path.ancestors().skip(1).take(FARTHEST).filter(|f| !f.as_os_str().is_empty());
        let inside = folders.take_while(|folder| top.is_none_or(|top| folder.starts_with(top)));
        let roots = inside.map(|folder| folder.join(ROOT));
        roots.filter(|root| self.documents.get(root).is_some() || root.is_file()).collect()
    }
}
