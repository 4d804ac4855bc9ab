//! A rule set as the editor sees it: loaded with unsaved texts, checked as `check` does, and with
//! every name in it.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    documents::{Documents, real},
    symbols::{self, Kind, Role, Symbol},
};
use crate::{
    lang::{
        ast::File,
        diagnostic::Diagnostics,
        load::{
            self, Trees,
            files::{Files, Folder, ReadError},
        },
        shipped,
        source::{Source, SourceId, Sources},
    },
    table::{NoSettings, SettingSource, Table},
    verify,
};

/// One rule set at one moment.
#[derive(Debug, Default)]
pub struct Analysis {
    /// The root file's folder.
    pub folder: PathBuf,
    /// The files.
    pub sources: Sources,
    /// The names in each file, in the order of `sources`.
    pub symbols: Vec<Arc<Vec<Symbol>>>,
    /// Errors, or else warnings.
    pub diagnostics: Diagnostics,
    /// The rules in force; of a set with errors, those of the last one without.
    pub table: Option<Arc<Table>>,
    /// The real paths of the files, `None` for shipped ones.
    paths: Vec<Option<PathBuf>>,
}

/// What one look at a rule set leaves for the next one.
#[derive(Debug, Default)]
pub struct Kept {
    trees: Trees,
    /// The names in each tree, in the order of the files.
    names: Vec<(Arc<File>, Arc<Vec<Symbol>>)>,
    /// The last rules without errors.
    table: Option<Arc<Table>>,
}

impl Kept {
    /// The names in each file of the last load.
    fn names(&mut self) -> Vec<Arc<Vec<Symbol>>> {
        let mut before = std::mem::take(&mut self.names).into_iter();
        let trees = self.trees.iter().map(|tree| {
            let known = before.next().filter(|(of, _)| Arc::ptr_eq(of, tree));
            known.unwrap_or_else(|| (tree.clone(), Arc::new(symbols::of(tree))))
        });
        self.names = trees.collect();
        self.names.iter().map(|(_, names)| names.clone()).collect()
    }
}

/// Loads and checks the rule set of a root file.
pub fn analyse(
    root: &Path,
    documents: &Documents,
    settings: &dyn SettingSource,
    kept: &mut Kept,
) -> Analysis {
    let folder = root.parent().map(Path::to_owned).unwrap_or_default();
    let files = Overlay { documents, root, folder: &folder };
    let name = root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut load = || load::again(&files, &name, &mut kept.trees);
    let (sources, diagnostics) = match load() {
        Ok((rules, warnings)) => {
            let sources = rules.sources.clone();
            // A value of the environment that does not fit is not the file's fault.
            let plain = |_| load().ok().and_then(|(rules, _)| Table::compile(rules, &NoSettings).ok());
            match Table::compile(rules, settings).map_or_else(plain, Some) {
                Some(mut table) => {
                    if let Some(last) = &kept.table {
                        table.take_over(last);
                    }
                    let found = verify::warnings(&table, warnings);
                    let table = kept.table.insert(Arc::new(table));
                    (table.ruleset().sources.clone(), found)
                }
                None => (sources, warnings),
            }
        }
        Err(failed) => (failed.sources, failed.diagnostics),
    };
    let symbols = kept.names();
    let path = |source: &Source| source.shipped.is_none().then(|| real(&folder.join(&*source.name)));
    let paths = sources.iter().map(|(_, source)| path(source)).collect();
    let table = kept.table.clone();
    Analysis { folder: folder.clone(), sources, symbols, diagnostics, table, paths }
}

impl Analysis {
    /// The file at a real path.
    #[must_use]
    pub fn source_at(&self, path: &Path) -> Option<SourceId> {
        let at = self.paths.iter().position(|own| own.as_deref() == Some(path))?;
        u32::try_from(at).ok().map(SourceId)
    }

    /// The real path of a file; `None` for a shipped one.
    #[must_use]
    pub fn path(&self, source: SourceId) -> Option<&Path> {
        self.paths.get(source.0 as usize)?.as_deref()
    }

    /// The files that are not shipped.
    pub fn own(&self) -> impl Iterator<Item = (SourceId, &Path)> {
        let all = (0u32..).map(SourceId).zip(&self.paths);
        all.filter_map(|(source, path)| Some((source, path.as_deref()?)))
    }

    /// All names, each with its file.
    pub fn names(&self) -> impl Iterator<Item = (SourceId, &Symbol)> {
        let files = (0u32..).map(SourceId).zip(&self.symbols);
        files.flat_map(|(source, symbols)| symbols.iter().map(move |symbol| (source, symbol)))
    }

    /// Where a name is declared; replacements first, as they win.
    #[must_use]
    pub fn declarations(&self, kind: Kind, name: &str) -> Vec<(SourceId, &Symbol)> {
        let with = |role| {
            let all = self.names().filter(move |(_, symbol)| symbol.kind == kind && symbol.role == role);
            all.filter(|(_, symbol)| symbol.name == name)
        };
        let declared: Vec<_> = with(Role::Declares).collect();
        with(Role::Replaces)
            .filter(|_| kind != Kind::Bucket || declared.is_empty())
            .chain(declared.clone())
            .collect()
    }

    /// A use of the name that stands at a place in a statement with errors, where the tree knows
    /// none: whatever is declared by that name.
    #[must_use]
    pub fn any_named(&self, text: &str, offset: usize) -> Option<Symbol> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
        let (before, after) = text.split_at_checked(offset)?;
        let start = before.trim_end_matches(is_name).len();
        let end = offset + after.len() - after.trim_start_matches(is_name).len();
        let name = text.get(start..end)?;
        let (_, found) =
            self.names().find(|(_, symbol)| symbol.role == Role::Declares && symbol.name == name)?;
        Some(Symbol { role: Role::Uses, range: start..end, head: start..end, ..found.clone() })
    }

    /// The file that a `use` in another one names.
    #[must_use]
    pub fn used(&self, user: SourceId, symbol: &Symbol) -> Option<SourceId> {
        let from = self.sources.get(user)?;
        let (shipped, path) = match symbol.kind {
            Kind::Set => (true, shipped::named(&symbol.name)?.to_owned()),
            _ => match from.shipped {
                Some(path) => (true, load::files::join(path, &symbol.name)?),
                None => (false, load::files::join(&from.name, &symbol.name)?),
            },
        };
        let same = |source: &Source| match source.shipped {
            Some(own) => shipped && own == path,
            None => !shipped && *source.name == *path,
        };
        self.sources.iter().find(|(_, source)| same(source)).map(|(id, _)| id)
    }
}

/// A folder with the editor's texts laid over it.
struct Overlay<'a> {
    documents: &'a Documents,
    root: &'a Path,
    folder: &'a Path,
}

impl Files for Overlay<'_> {
    fn read(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        let full = self.folder.join(path);
        let is_root = full == self.root;
        let full = if is_root { full } else { real(&full) };
        let inside = is_root || full.starts_with(self.folder);
        match self.documents.get(&full).filter(|_| inside) {
            Some(document) => Ok(document.text.as_bytes().to_vec()),
            None if self.folder.as_os_str().is_empty() => Err(ReadError::Missing),
            None => self.disk().read(path),
        }
    }

    fn list(&self) -> Vec<String> {
        if self.folder.as_os_str().is_empty() { Vec::new() } else { self.disk().list() }
    }
}

impl Overlay<'_> {
    fn disk(&self) -> Folder {
        Folder::new(self.folder)
    }
}
