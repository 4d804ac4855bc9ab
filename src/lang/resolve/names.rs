//! Name tables: each kind of thing has its own, and a name stands once in it.

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use crate::lang::{
    ast::{Name, ProviderBlock},
    diagnostic::{Code, Diagnostic, Diagnostics, codes::names, nearest::Hints},
    load::Program,
    shipped,
    source::{Span, Spanned},
};

/// The names of one kind, numbered in order of declaration.
#[derive(Debug, Default)]
pub struct Table {
    known: HashMap<String, (u32, Span)>,
    order: Vec<String>,
    used: HashSet<u32>,
    hints: Hints,
}

impl Table {
    /// Declares a name; reports a second declaration and gives `false` for it.
    pub fn declare(&mut self, kind: &str, name: &Name, program: &Program, out: &mut Diagnostics) -> bool {
        let first = self.insert(name);
        if let Some(first) = first {
            let (name, span) = (&name.node, name.span);
            let change = match kind {
                FORM => format!("write `replace {name} …` instead"),
                "test" => format!("write `replace test \"{name}\" …` instead"),
                _ => format!("write `replace {kind} {name} …` instead"),
            };
            let renamed = (!UNNAMED.contains(&kind)).then_some("give yours another name");
            let twice = Twice { what: format!("{kind} `{name}`"), change, renamed, first, second: span };
            out.push(twice.report(program));
        }
        first.is_none()
    }

    /// Declares a name under the next id, or gives the place of its first declaration.
    pub fn insert(&mut self, name: &Name) -> Option<Span> {
        if let Some((_, first)) = self.known.get(&name.node) {
            return Some(*first);
        }
        let id = u32::try_from(self.order.len()).unwrap_or(u32::MAX);
        self.known.insert(name.node.clone(), (id, name.span));
        self.order.push(name.node.clone());
        None
    }

    /// Whether there is such a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<u32> {
        self.known.get(name).map(|(id, _)| *id)
    }

    /// Looks a name up and marks it as used.
    pub fn take(&mut self, name: &str) -> Option<u32> {
        let id = self.get(name)?;
        self.used.insert(id);
        Some(id)
    }

    /// Whether anything used it.
    #[must_use]
    pub fn is_used(&self, id: u32) -> bool {
        self.used.contains(&id)
    }

    /// All names, in order of declaration.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.order.iter().map(String::as_str)
    }
}

/// What [`Table::declare`] calls a policy form, whose words are its name.
pub const FORM: &str = "the form";

/// What is called by something else than a name of its own.
const UNNAMED: &[&str] = &[FORM, "on", "source", "alias"];

/// A name that is declared twice.
pub struct Twice<'a> {
    /// The thing, for a message.
    pub what: String,
    /// How to change the one that is there.
    pub change: String,
    /// How to have both, where that can be.
    pub renamed: Option<&'a str>,
    /// The place that comes first in the list.
    pub first: Span,
    /// The other.
    pub second: Span,
}

impl Twice<'_> {
    /// The report. Between a file and the shipped rules it stands at the operator's own place, whichever comes
    /// first in the list.
    pub fn report(&self, program: &Program) -> Diagnostic {
        let shipped = |span: Span| program.foreign.contains(&span.source);
        let report = |at| Diagnostic::new(names::DUPLICATE, at, format!("{} is declared twice", self.what));
        let help = |which: &str| {
            let change = format!("to change {which}, {}", self.change);
            self.renamed.map_or_else(|| change.clone(), |renamed| format!("{renamed}; {change}"))
        };
        let (first, second) = (self.first, self.second);
        if shipped(first) != shipped(second) {
            let (own, other) = if shipped(first) { (second, first) } else { (first, second) };
            return report(own)
                .here("declared here")
                .related(other, "the shipped rules declare it too")
                .help(help("the shipped one"));
        }
        report(second).here("declared again here").related(first, "first declared here").help(
            if first.source == second.source {
                "keep one of the two, or give one another name".to_owned()
            } else {
                help("the first")
            },
        )
    }
}

/// What is known of names that stand in broken statements or missing files: nothing that might be
/// one of them is reported as unknown.
#[derive(Debug, Default)]
pub struct Unsure {
    /// Every name may exist.
    pub all: bool,
    /// These do.
    pub names: HashSet<String>,
}

impl Unsure {
    /// Whether the name may exist.
    #[must_use]
    pub fn may_be(&self, name: &str) -> bool {
        self.all || self.names.contains(name)
    }
}

/// The report of an unknown name.
#[must_use]
pub fn unknown(code: Code, kind: &str, name: &Name, table: &Table, program: &Program) -> Diagnostic {
    let shipped = || {
        (program.used_by.is_empty() && !program.with_default && SHIPPED.contains(&(kind, name.node.as_str())))
            .then(|| format!("the shipped rules have `{}`: add `use default`", name.node))
    };
    let near = table.hints.nearest(&name.node, table.names());
    let declare = || {
        let known: Vec<&str> = table.names().take(8).collect();
        if known.is_empty() {
            format!("declare it: there is no {kind} yet")
        } else if table.order.len() <= known.len() {
            format!("declare it, or name one of {}", listed(&known))
        } else {
            "declare it, or name one that exists".to_owned()
        }
    };
    let meant = || near.map(|near| format!("did you mean `{near}`?"));
    let help = shipped().or_else(meant).unwrap_or_else(declare);
    Diagnostic::new(code, name.span, format!("there is no {kind} called `{}`", name.node))
        .here("unknown")
        .help(help)
}

/// Kind and name of all that shipped files declare outside of blocks: a file may hold a hundred thousand names
/// that nobody knows, and the shipped texts are gone through once.
static SHIPPED: LazyLock<HashSet<(&str, &str)>> = LazyLock::new(|| {
    let declared = |line: &'static str| {
        let (kind, rest) = line.split_once(' ')?;
        Some((kind, rest.split([' ', ':']).next()?))
    };
    shipped::FILES.iter().flat_map(|(_, text)| text.lines().filter_map(declared)).collect()
});

/// `` `a`, `b` and `c` ``.
#[must_use]
pub fn listed(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|n| format!("`{n}`")).collect();
    match quoted.split_last() {
        None => String::new(),
        Some((only, [])) => only.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}

/// The name of a provider block: `as NAME`, else its only id, unless that is a glob. Signs that no
/// name has become `_`.
#[must_use]
pub fn block_name(block: &ProviderBlock) -> Option<Name> {
    if let Some(name) = &block.name {
        return Some(name.clone());
    }
    let [id] = block.ids.as_slice() else { return None };
    if id.node.contains(['*', '?']) {
        return None;
    }
    let sign = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    Some(Spanned { node: id.node.chars().map(sign).collect(), span: id.span })
}
