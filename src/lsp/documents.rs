//! Open documents: the texts that stand in the editor, saved or not.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use lsp_types::{TextDocumentContentChangeEvent, Uri};

use super::{position::offset, uri};

/// One open document.
#[derive(Clone, Debug)]
pub struct Document {
    /// How the editor calls it.
    pub uri: Uri,
    /// Its version, as the editor counts.
    pub version: i32,
    /// Its text.
    pub text: Arc<str>,
}

/// All open documents, by their real path.
#[derive(Clone, Debug, Default)]
pub struct Documents(BTreeMap<PathBuf, Document>);

impl Documents {
    /// Takes a document that was opened.
    pub fn open(&mut self, uri: Uri, version: i32, text: String) -> PathBuf {
        let key = key(&uri);
        self.0.insert(key.clone(), Document { uri, version, text: text.into() });
        key
    }

    /// Applies changes, in order.
    pub fn change(
        &mut self,
        uri: &Uri,
        version: i32,
        changes: Vec<TextDocumentContentChangeEvent>,
    ) -> Option<PathBuf> {
        let key = key(uri);
        let document = self.0.get_mut(&key)?;
        let mut text = document.text.to_string();
        for change in changes {
            match change.range {
                None => text = change.text,
                Some(range) => {
                    let start = offset(&text, range.start);
                    let end = offset(&text, range.end).max(start);
                    text.replace_range(start..end, &change.text);
                }
            }
        }
        document.text = text.into();
        document.version = version;
        Some(key)
    }

    /// Forgets a document; from now on its file counts.
    pub fn close(&mut self, uri: &Uri) -> Option<PathBuf> {
        let key = key(uri);
        self.0.remove(&key).map(|_| key)
    }

    /// The document at a real path.
    #[must_use]
    pub fn get(&self, path: &Path) -> Option<&Document> {
        self.0.get(path)
    }

    /// The document that the editor calls so.
    #[must_use]
    pub fn named(&self, uri: &Uri) -> Option<(PathBuf, &Document)> {
        let key = key(uri);
        self.0.get(&key).map(|document| (key, document))
    }

    /// All documents.
    pub fn iter(&self) -> impl Iterator<Item = (&PathBuf, &Document)> {
        self.0.iter()
    }
}

/// The real path behind a URI. What has no path is told apart by its URI.
fn key(uri: &Uri) -> PathBuf {
    match uri::path(uri) {
        Some(path) => real(&path),
        None => PathBuf::from(uri.as_str()),
    }
}

/// A path without links, as far as it exists.
#[must_use]
pub fn real(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) if !folder.as_os_str().is_empty() => {
            folder.canonicalize().map_or_else(|_| path.to_owned(), |folder| folder.join(name))
        }
        _ => path.to_owned(),
    }
}
