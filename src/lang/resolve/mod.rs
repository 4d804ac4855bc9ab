//! Names to numbers: the inserted and edited list becomes a [`Ruleset`].
//!
//! First every declaration gets its number ([`Resolver::declare`]), so that names may be used before
//! their declaration; then the bodies are resolved and checked, kind by kind.

mod case;
mod cond;
mod declare;
pub mod names;
mod policy;
mod reaction;
mod rules;
mod slots;
mod unused;
mod values;

use self::{
    declare::Found,
    names::{Table, Unsure},
};
use super::{
    check,
    diagnostic::Diagnostics,
    load::Program,
    tree::{self, Ruleset},
};

/// All tables, and what has been resolved so far.
pub(super) struct Resolver<'a> {
    program: &'a Program,
    out: &'a mut Diagnostics,
    unsure: Unsure,
    buckets: Table,
    lists: Table,
    lets: Table,
    settings: Table,
    backoffs: Table,
    rules: Table,
    set: Ruleset,
}

/// Resolves the list. The result is of use only when no error was reported.
pub fn resolve(program: &Program, edits: Vec<tree::Edit>, out: &mut Diagnostics) -> Ruleset {
    let mut resolver = Resolver {
        program,
        out,
        unsure: Unsure { all: program.incomplete, ..Unsure::default() },
        buckets: Table::default(),
        lists: Table::default(),
        lets: Table::default(),
        settings: Table::default(),
        backoffs: Table::default(),
        rules: Table::default(),
        set: Ruleset { sources: program.sources.clone(), edits, ..Ruleset::default() },
    };
    let found = resolver.declare();
    resolver.bodies(&found);
    if !program.lean && !resolver.out.has_errors() {
        let unused = resolver.unused(&found);
        resolver.out.extend(unused);
        check::lints(&resolver.set, program, resolver.out);
    }
    resolver.set
}

impl Resolver<'_> {
    fn bodies(&mut self, found: &Found<'_>) {
        self.lists(found);
        self.settings(found);
        self.backoffs(found);
        self.reactions(found);
        self.lets(found);
        self.blocks(found);
        self.resets(found);
        self.rules(found);
        self.policy(found);
        self.tests(found);
    }
}
