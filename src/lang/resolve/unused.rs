//! Declarations that nothing names.

use super::{Resolver, declare::Found, names::Table};
use crate::lang::{
    ast,
    diagnostic::{Diagnostic, codes::lints},
    tree::engine_list,
};

impl Resolver<'_> {
    pub(super) fn unused(&self, found: &Found<'_>) -> Vec<Diagnostic> {
        let mut out = Vec::new();
        let mut look = |kind: &str, table: &Table, name: &ast::Name| {
            let used = table.get(&name.node).is_none_or(|id| table.is_used(id));
            // Some lists the engine reads; and shipped files are not the operator's to tidy.
            let foreign = self.program.foreign.contains(&name.span.source);
            if used || foreign || (kind == "list" && engine_list::ALL.contains(&name.node.as_str())) {
                return;
            }
            out.push(
                Diagnostic::new(lints::UNUSED, name.span, format!("{kind} `{}` is never used", name.node))
                    .here("unused")
                    .help("take it out, or use it where it was meant to be"),
            );
        };
        found.lists.iter().for_each(|(d, _)| look("list", &self.lists, &d.name));
        found.lets.iter().for_each(|(d, _)| look("let", &self.lets, &d.name));
        found.settings.iter().for_each(|(d, _)| look("setting", &self.settings, &d.name));
        found.backoffs.iter().for_each(|(d, _)| look("backoff", &self.backoffs, &d.name));
        let declared =
            found.buckets.iter().filter(|(d, _)| self.buckets.get(&d.name.node).is_some_and(|id| id >= 2));
        declared.for_each(|(d, _)| look("bucket", &self.buckets, &d.name));
        out
    }
}
