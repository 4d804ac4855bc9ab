//! Edits: `drop`, `replace`, `extend`, `set` and `in … before|after`, applied to the inserted list.
//!
//! They apply after all insertion, deepest file first, so that a file sees what the files that it
//! uses have made. Two edits of one thing are an error unless one file uses the other; then the
//! outer one wins.

mod apply;
pub(super) mod target;

use std::collections::{BTreeMap, HashMap, HashSet};

use self::target::Target;
use super::{
    ast::{Edit, Expectation, Statement, StatementKind},
    diagnostic::codes::{edits, loading},
    diagnostic::{Diagnostic, Diagnostics, nearest::Hints},
    load::Program,
    source::{SourceId, Span},
    tree,
};

/// Most edits of one rule set: each looks through the whole list.
const MOST: usize = 5_000;

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
    if let Some(first) = pending.get(MOST) {
        out.push(
            Diagnostic::new(
                loading::TOO_LARGE,
                first.span,
                format!("these rules make more than {MOST} edits"),
            )
            .here("one too many")
            .help("write what is meant out in a list of your own, instead of editing another"),
        );
        return Vec::new();
    }
    let mut pending = settle(program, pending, out);
    pending.sort_by_key(|p| (std::cmp::Reverse(p.depth), order(&p.edit)));
    let mut gone = HashMap::new();
    let (mut done, mut rules_gone) = (Vec::new(), Vec::new());
    let hints = Hints::default();
    for edit in pending {
        let mut work = apply::Work {
            list: &mut program.statements,
            incomplete: program.incomplete,
            gone: &mut gone,
            rules_gone: &mut rules_gone,
            hints: &hints,
        };
        match work.edit(edit.edit, &edit.target, edit.span) {
            Ok(Some(what)) => done.push(tree::Edit { span: edit.span, what }),
            Ok(None) => {}
            Err(problem) => out.push(*problem),
        }
    }
    forget_tests(program, &rules_gone);
    done
}

/// Takes out, of the files that a dropping one uses, the lines of tests that name a rule which it dropped, and
/// tests that had no others: they hold of nothing any more.
fn forget_tests(program: &mut Program, gone: &[(String, SourceId)]) {
    if gone.is_empty() {
        return;
    }
    let mut statements = std::mem::take(&mut program.statements);
    statements.retain_mut(|statement| {
        let source = statement.span.source;
        let StatementKind::Test(test) = &mut statement.kind else { return true };
        let before = test.cases.len();
        test.cases.retain(|case| {
            let Expectation::Verdict { by: Some(by), .. } = case else { return true };
            let by = by.full();
            !gone.iter().any(|(rule, dropper)| *rule == by && program.uses(*dropper, source))
        });
        before == 0 || !test.cases.is_empty()
    });
    program.statements = statements;
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

/// The edits of one thing that stand in one file and are of one sort: whether they add, and their
/// places in the list. Two of a sort stand alike to any other edit.
struct Sort {
    source: SourceId,
    adds: bool,
    members: Vec<usize>,
}

/// Leaves one edit of each thing, or reports that two stand against each other: each of them once,
/// however many there are.
fn settle(program: &Program, pending: Vec<Pending>, out: &mut Diagnostics) -> Vec<Pending> {
    let mut by_target: HashMap<&Target, Vec<Sort>> = HashMap::new();
    for (i, p) in pending.iter().enumerate() {
        let (source, adds) = (p.span.source, matches!(p.edit, Edit::Insert { .. } | Edit::Extend { .. }));
        let sorts = by_target.entry(&p.target).or_default();
        match sorts.iter_mut().find(|sort| sort.source == source && sort.adds == adds) {
            Some(sort) => sort.members.push(i),
            None => sorts.push(Sort { source, adds, members: vec![i] }),
        }
    }
    let mut lost = HashSet::new();
    let mut against = BTreeMap::new();
    for sorts in by_target.values() {
        for (n, a) in sorts.iter().enumerate() {
            if !a.adds {
                conflict(a, a, &mut against);
            }
            for b in sorts.iter().skip(n + 1).filter(|b| !(a.adds && b.adds)) {
                let (inner, outer) = if program.uses(a.source, b.source) {
                    (b, a)
                } else if program.uses(b.source, a.source) {
                    (a, b)
                } else {
                    conflict(a, b, &mut against);
                    continue;
                };
                if !outer.adds {
                    lost.extend(inner.members.iter().copied());
                }
            }
        }
    }
    for (second, first) in &against {
        lost.insert(*second);
        let (Some(first), Some(second)) = (pending.get(*first), pending.get(*second)) else { continue };
        out.push(
            Diagnostic::new(
                edits::CONFLICTING,
                second.span,
                format!("{} is edited twice", second.target.shown()),
            )
            .here("edited again here")
            .related(first.span, "first edited here")
            .help("keep one of the two, or let one file use the other: then the outer one wins"),
        );
    }
    pending.into_iter().enumerate().filter_map(|(i, p)| (!lost.contains(&i)).then_some(p)).collect()
}

/// Each edit of either sort that stands against the first of them, unless something else does.
fn conflict(a: &Sort, b: &Sort, against: &mut BTreeMap<usize, usize>) {
    let Some(first) = a.members.first().min(b.members.first()) else { return };
    let others = if a.members.first() == Some(first) { b } else { a };
    for member in others.members.iter().filter(|member| *member != first) {
        against.entry(*member).or_insert(*first);
    }
}
