//! Places of the rules as places of the editor, shipped files included: those are written into a
//! folder of the user's, read-only, when somebody wants to go there.

use std::{
    fs, io,
    ops::Range,
    path::{Path, PathBuf},
};

use lsp_types::{Location, Uri};

use super::{analysis::Analysis, documents::Documents, position, uri};
use crate::lang::{shipped, source::SourceId};

/// Finds the URIs of files.
#[derive(Clone, Debug)]
pub struct Links {
    /// Where the shipped files are written.
    cache: PathBuf,
}

impl Links {
    /// With a folder of the user's for what can be had again (`~/.cache`).
    #[must_use]
    pub fn new(cache: &Path) -> Self {
        Self { cache: cache.join("pointsman").join(concat!("rules-", env!("CARGO_PKG_VERSION"))) }
    }

    /// The URI of a file of a rule set; a shipped one is written out first.
    #[must_use]
    pub fn uri(&self, analysis: &Analysis, documents: &Documents, source: SourceId) -> Option<Uri> {
        if let Some(path) = analysis.path(source) {
            return documents.get(path).map(|document| document.uri.clone()).or_else(|| uri::of(path));
        }
        let path = analysis.sources.get(source)?.shipped?;
        let (_, text) = shipped::FILES.iter().find(|(known, _)| *known == path)?;
        let target = self.cache.join(path);
        write(&target, text).ok()?;
        uri::of(&target)
    }

    /// A byte range of a file of a rule set.
    #[must_use]
    pub fn location(
        &self,
        analysis: &Analysis,
        documents: &Documents,
        source: SourceId,
        range: Range<usize>,
    ) -> Option<Location> {
        let text = &analysis.sources.get(source)?.text;
        let uri = self.uri(analysis, documents, source)?;
        Some(Location { uri, range: position::range(text, range) })
    }
}

/// Writes a file that is not there yet, or that another build has written.
fn write(path: &Path, text: &str) -> io::Result<()> {
    if fs::read(path).is_ok_and(|there| there == text.as_bytes()) {
        return Ok(());
    }
    let folder = path.parent().ok_or(io::ErrorKind::NotFound)?;
    fs::create_dir_all(folder)?;
    let beside = path.with_extension(format!("{}.part", std::process::id()));
    fs::write(&beside, text)?;
    let mut rights = fs::metadata(&beside)?.permissions();
    rights.set_readonly(true);
    fs::set_permissions(&beside, rights)?;
    fs::rename(&beside, path)
}
