//! Name tables: each kind of thing has its own, and a name stands once in it.

use std::collections::{HashMap, HashSet};

use crate::lang::{
    ast::{Name, ProviderBlock},
    diagnostic::{Code, Diagnostic, Diagnostics, codes::names, nearest::Hints},
    source::{Span, Spanned},
};

/// The names of one kind.
#[derive(Debug, Default)]
pub struct Table {
    known: HashMap<String, (u32, Span)>,
    order: Vec<String>,
    used: HashSet<u32>,
    hints: Hints,
}

impl Table {
    /// Declares a name; reports a second declaration and gives `false` for it.
    pub fn declare(&mut self, kind: &str, name: &str, id: u32, span: Span, out: &mut Diagnostics) -> bool {
        if let Some((_, first)) = self.known.get(name) {
            out.push(
                Diagnostic::new(names::DUPLICATE, span, format!("{kind} `{name}` is declared twice"))
                    .here("declared again here")
                    .related(*first, "first declared here")
                    .help(if span.source == first.source {
                        "keep one of the two, or give one another name".to_owned()
                    } else {
                        format!("give it another name; to change the first, write `replace {kind} …`")
                    }),
            );
            return false;
        }
        self.known.insert(name.to_owned(), (id, span));
        self.order.push(name.to_owned());
        true
    }

    /// Adds a name that has no declaration to point at.
    pub fn built_in(&mut self, name: &str, id: u32) {
        self.known.insert(name.to_owned(), (id, crate::lang::policy::BUILT_IN));
        self.order.push(name.to_owned());
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
pub fn unknown(code: Code, kind: &str, name: &Name, table: &Table) -> Diagnostic {
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
    let help = near.map_or_else(declare, |near| format!("did you mean `{near}`?"));
    Diagnostic::new(code, name.span, format!("there is no {kind} called `{}`", name.node))
        .here("unknown")
        .help(help)
}

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
