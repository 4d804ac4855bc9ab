//! The shipped rules as the tests see them: those of the build, or those of the folder that
//! `POINTSMAN_TEST_RULES` names, so that `.ci/behaviour` can show that a test hangs on a line.

use std::path::{Path, PathBuf};

use pointsman::lang::{
    load::{
        self, Loaded,
        files::{Files, Folder, Memory, ReadError},
    },
    shipped,
};

/// The folder with the rules under test.
pub fn folder() -> PathBuf {
    given().unwrap_or_else(|| super::root().join("rules"))
}

#[expect(clippy::disallowed_methods, reason = "tests are told by it which rules they are to hang on")]
fn given() -> Option<PathBuf> {
    std::env::var("POINTSMAN_TEST_RULES").ok().map(PathBuf::from)
}

/// The rules under test.
pub fn rules() -> Loaded {
    given().map_or_else(load::shipped, |folder| load::from_path(&folder))
}

/// A text that may `use default`, which is the rules under test.
pub fn from_text(text: &str) -> Loaded {
    let Some(folder) = given() else { return load::from_text(text) };
    let text = text.replace("use default", "use \"main.rules\"");
    load::load(&Above { text: Memory::new().with(ROOT, text), folder: Folder::new(folder) }, ROOT)
}

/// The text of each file below `policy/`, without its first line.
pub fn policy() -> Vec<(&'static str, String)> {
    let paths = shipped::FILES.iter().map(|(path, _)| *path).filter(|path| path.starts_with("policy/"));
    paths.map(|path| (path, body(&folder().join(path)))).collect()
}

fn body(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().filter(|line| !line.starts_with("language")).flat_map(|line| [line, "\n"]).collect()
}

const ROOT: &str = "above the rules.rules";

/// A text above a folder.
struct Above {
    text: Memory,
    folder: Folder,
}

impl Files for Above {
    fn read(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        if path == ROOT { self.text.read(path) } else { self.folder.read(path) }
    }
}
