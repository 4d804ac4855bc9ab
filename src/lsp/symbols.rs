//! Names in one file: where each is declared, and where it is used.
//!
//! Made from the syntax tree alone, so that a file with errors has them too.

mod walk;

use std::ops::Range;

use crate::lang::ast::File;

/// What a name names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A rule, by its full name.
    Rule,
    /// A group or provider block.
    Block,
    /// A bucket.
    Bucket,
    /// A provider family.
    Alias,
    /// A list.
    List,
    /// A named condition.
    Let,
    /// A setting.
    Setting,
    /// A schedule.
    Backoff,
    /// A reset declaration.
    Reset,
    /// A diagnostic's code.
    Code,
    /// A shipped rule set (`use default`).
    Set,
    /// A file (`use "…"`).
    File,
}

/// What a place does with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Declares it.
    Declares,
    /// Declares it anew: `replace`, or the `on` of a bucket.
    Replaces,
    /// Uses it.
    Uses,
}

/// One name in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// What it names.
    pub kind: Kind,
    /// The full name.
    pub name: String,
    /// What is done with it.
    pub role: Role,
    /// The bytes of the name.
    pub range: Range<usize>,
    /// The doc comment above the declaration.
    pub doc: Option<String>,
    /// The declaration's head.
    pub head: Range<usize>,
}

/// All names of a file, in order of place.
#[must_use]
pub fn of(file: &File) -> Vec<Symbol> {
    let mut symbols = walk::file(file);
    symbols.sort_by_key(|symbol| (symbol.range.start, symbol.range.end));
    symbols
}

/// The name at a byte offset; its end counts as in it.
#[must_use]
pub fn at(symbols: &[Symbol], offset: usize) -> Option<&Symbol> {
    let inside = symbols.iter().filter(|symbol| symbol.range.start <= offset && offset <= symbol.range.end);
    inside.min_by_key(|symbol| symbol.range.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::{diagnostic::Diagnostics, parser, source::SourceId};

    fn of(text: &str) -> Vec<Symbol> {
        super::of(&parser::parse(SourceId::default(), text, &mut Diagnostics::default()))
    }

    #[test]
    fn declarations_and_uses_are_found() {
        let text = "language 1\n## Why.\nlist words = [\"日\"]\nlet l = text has any of words\n\
                    group g when l {\n  rule r -> b when status is 402\n}\n\
                    in group g before r { rule s -> b when l }\nreplace backoff x = steps d\n\
                    test \"t\" { message \"m\" -> b by g.r }\n";
        let found: Vec<String> = of(text)
            .iter()
            .map(|s| {
                assert!(s.name.ends_with(&text[s.range.clone()]), "{s:?}");
                format!("{:?} {:?} {}", s.role, s.kind, s.name)
            })
            .collect();
        assert_eq!(
            found,
            [
                "Declares List words",
                "Declares Let l",
                "Uses List words",
                "Declares Block g",
                "Uses Let l",
                "Declares Rule g.r",
                "Uses Bucket b",
                "Uses Block g",
                "Uses Rule g.r",
                "Declares Rule g.s",
                "Uses Bucket b",
                "Uses Let l",
                "Replaces Backoff x",
                "Uses Setting d",
                "Uses Bucket b",
                "Uses Block g",
                "Uses Rule g.r",
            ]
        );
        assert_eq!(of(text)[0].doc.as_deref(), Some("Why."));
    }
}
