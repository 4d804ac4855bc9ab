//! Edits: `drop`, `replace`, `extend`, `set` and `in … before|after`, applied to the inserted list.
//!
//! They apply after all insertion, deepest file first, so that a file sees what the files that it
//! uses have made. Two edits of one thing are an error unless one file uses the other; then the
//! outer one wins.

mod apply;
pub(super) mod target;

use std::collections::HashMap;

use self::target::Target;
use super::{
    ast::{Edit, Statement, StatementKind},
    diagnostic::codes::edits,
    diagnostic::{Diagnostic, Diagnostics},
    load::Program,
    source::Span,
    tree,
};

/// An edit statement, taken out of the list.
struct Pending {
    edit: Edit,
    span: Span,
    depth: usize,
    target: Target,
}

/// Takes the edits out of the list and applies them. Gives what was changed, in words.
pub fn apply(program: &mut Program, out: &mut Diagnostics) -> Vec<tree::Edit> {
    let mut pending = Vec::new();
    let mut rest = Vec::new();
    for statement in std::mem::take(&mut program.statements) {
        match statement.kind {
            StatementKind::Edit(edit) => {
                let depth = program.depth(statement.span.source);
                let target = Target::of(&edit);
                pending.push(Pending { edit, span: statement.span, depth, target });
            }
            kind => rest.push(Statement { kind, ..statement }),
        }
    }
    program.statements = rest;
    let mut pending = settle(program, pending, out);
    pending.sort_by_key(|p| (std::cmp::Reverse(p.depth), order(&p.edit)));
    let mut gone = HashMap::new();
    let mut done = Vec::new();
    for edit in pending {
        let mut work =
            apply::Work { list: &mut program.statements, incomplete: program.incomplete, gone: &mut gone };
        match work.edit(edit.edit, &edit.target, edit.span) {
            Ok(Some(what)) => done.push(tree::Edit { span: edit.span, what }),
            Ok(None) => {}
            Err(problem) => out.push(*problem),
        }
    }
    done
}

/// Among edits of one file: new declarations first, then additions, then removals, so that a file
/// may insert beside a rule that it drops.
fn order(edit: &Edit) -> u8 {
    match edit {
        Edit::Replace { block: None, .. } => 0,
        Edit::Replace { .. } => 1,
        Edit::Insert { .. } => 2,
        Edit::Extend { .. } => 3,
        Edit::Set { .. } => 4,
        Edit::Drop { .. } => 5,
    }
}

/// Leaves one edit of each thing, or reports that two stand against each other.
fn settle(program: &Program, pending: Vec<Pending>, out: &mut Diagnostics) -> Vec<Pending> {
    let mut by_target: HashMap<&Target, Vec<usize>> = HashMap::new();
    for (i, p) in pending.iter().enumerate() {
        by_target.entry(&p.target).or_default().push(i);
    }
    let adds = |p: &Pending| matches!(p.edit, Edit::Insert { .. } | Edit::Extend { .. });
    let mut keep = vec![true; pending.len()];
    let mut conflicts = Vec::new();
    for group in by_target.values() {
        for (n, &i) in group.iter().enumerate() {
            for &j in group.iter().skip(n + 1) {
                let (Some(a), Some(b)) = (pending.get(i), pending.get(j)) else { continue };
                if adds(a) && adds(b) {
                    continue;
                }
                let (sa, sb) = (a.span.source, b.span.source);
                let (inner, outer) = if program.uses(sa, sb) {
                    (j, a)
                } else if program.uses(sb, sa) {
                    (i, b)
                } else {
                    conflicts.push((a.span, b.span, b.target.shown()));
                    if let Some(k) = keep.get_mut(j) {
                        *k = false;
                    }
                    continue;
                };
                if !adds(outer)
                    && let Some(k) = keep.get_mut(inner)
                {
                    *k = false;
                }
            }
        }
    }
    conflicts.sort();
    for (first, second, what) in conflicts {
        out.push(
            Diagnostic::new(edits::CONFLICTING, second, format!("{what} is edited twice"))
                .here("edited again here")
                .related(first, "first edited here")
                .help("keep one of the two, or let one file use the other: then the outer one wins"),
        );
    }
    pending.into_iter().zip(keep).filter_map(|(p, keep)| keep.then_some(p)).collect()
}
