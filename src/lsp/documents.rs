//! Open documents: the texts that stand in the editor, saved or not.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
};

use lsp_types::{Range, TextDocumentContentChangeEvent, Uri};

use super::{
    position::{offset, position},
    uri,
};

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
pub struct Documents {
    known: BTreeMap<PathBuf, Document>,
    /// Open too, but after a change that did not fit nobody knows their text.
    lost: BTreeSet<PathBuf>,
}

/// A change does not fit its document, whose text is unknown from now on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost(pub PathBuf);

impl Documents {
    /// Takes a document that was opened.
    pub fn open(&mut self, uri: Uri, version: i32, text: String) -> PathBuf {
        let key = key(&uri);
        self.lost.remove(&key);
        self.known.insert(key.clone(), Document { uri, version, text: text.into() });
        key
    }

    /// Applies changes, in order. A lost document is known again with its whole text. Gives back the
    /// document that is another one now, if any.
    ///
    /// # Errors
    /// When a range lies outside of the text or ends before it begins.
    pub fn change(
        &mut self,
        uri: &Uri,
        version: i32,
        changes: Vec<TextDocumentContentChangeEvent>,
    ) -> Result<Option<PathBuf>, Lost> {
        let key = key(uri);
        let mut text = self.known.get(&key).map(|document| document.text.to_string());
        if text.is_none() && !self.lost.contains(&key) {
            return Ok(None);
        }
        for change in changes {
            match (change.range, &mut text) {
                (None, _) => text = Some(change.text),
                (Some(range), Some(text)) => {
                    let Some(bytes) = bytes(text, range) else { return Err(self.lose(uri)) };
                    text.replace_range(bytes, &change.text);
                }
                (Some(_), None) => {}
            }
        }
        Ok(text.map(|text| self.open(uri.clone(), version, text)))
    }

    /// The editor has changed a document in a way that cannot be read.
    pub fn lose(&mut self, uri: &Uri) -> Lost {
        let key = key(uri);
        if self.known.remove(&key).is_some() {
            self.lost.insert(key.clone());
        }
        Lost(key)
    }

    /// Whether the file at a real path is open with a text that nobody knows.
    #[must_use]
    pub fn is_lost(&self, path: &Path) -> bool {
        self.lost.contains(path)
    }

    /// Forgets a document; from now on its file counts.
    pub fn close(&mut self, uri: &Uri) -> Option<PathBuf> {
        let key = key(uri);
        let lost = self.lost.remove(&key);
        (self.known.remove(&key).is_some() || lost).then_some(key)
    }

    /// The document at a real path.
    #[must_use]
    pub fn get(&self, path: &Path) -> Option<&Document> {
        self.known.get(path)
    }

    /// The document that the editor calls so.
    #[must_use]
    pub fn named(&self, uri: &Uri) -> Option<(PathBuf, &Document)> {
        let key = key(uri);
        self.known.get(&key).map(|document| (key, document))
    }

    /// All documents.
    pub fn iter(&self) -> impl Iterator<Item = (&PathBuf, &Document)> {
        self.known.iter()
    }
}

/// The bytes of a range. Some editors name the line after the last one as the end of the text.
fn bytes(text: &str, range: Range) -> Option<std::ops::Range<usize>> {
    let last = position(text, text.len()).line;
    let fits = range.start <= range.end && range.end.line <= last + 1;
    fits.then(|| offset(text, range.start)..offset(text, range.end))
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
