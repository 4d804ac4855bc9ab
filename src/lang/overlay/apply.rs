//! Applying one edit to the list.

use std::collections::HashMap;

use super::target::{Kind, Target};
use crate::lang::{
    ast::{DropKind, Edit, Name, SettingValue, Statement, StatementKind},
    diagnostic::Diagnostic,
    diagnostic::codes::{edits, types},
    diagnostic::nearest::{Hints, nearest},
    source::{SourceId, Span, Spanned},
};

/// The list under edit.
pub(super) struct Work<'a> {
    /// Everything that was inserted.
    pub list: &'a mut Vec<Statement>,
    /// A file is missing: a target that seems unknown may stand in it.
    pub incomplete: bool,
    /// What earlier edits took out, and where.
    pub gone: &'a mut HashMap<Target, Span>,
    /// Rules that drops took out, and the file that did.
    pub rules_gone: &'a mut Vec<(String, SourceId)>,
    /// How often it is still told which name was meant.
    pub hints: &'a Hints,
}

/// The help where no name comes near.
const EVERY_NAME: &str = "`pointsman rules effective` prints every name that an edit can use";

type Outcome = Result<Option<String>, Box<Diagnostic>>;

impl Work<'_> {
    /// Applies one edit; gives what it did, in words, or nothing when its target may be in a file
    /// that could not be read.
    pub fn edit(&mut self, edit: Edit, target: &Target, span: Span) -> Outcome {
        match edit {
            Edit::Drop { kind, target: path } => {
                let block = match kind.node {
                    DropKind::Group => Some(false),
                    DropKind::Provider => Some(true),
                    _ => None,
                };
                if let Some(provider) = block {
                    self.right_kind(target, provider, kind.span)?;
                }
                let at = if target.kind == Kind::Rule { path.span() } else { path.name.span };
                let Some(dropped) = remove(self.list, target, None) else {
                    return self.unknown(target, at);
                };
                let mut rules = Vec::new();
                if target.kind == Kind::Rule {
                    rules.push(target.name.clone());
                } else {
                    collect(&[dropped], Kind::Rule, None, &mut rules);
                }
                self.rules_gone.extend(rules.into_iter().map(|name| (name, span.source)));
                self.gone.insert(target.clone(), span);
                Ok(Some(format!("{} dropped", target.shown())))
            }
            Edit::Replace { block, statement } => {
                let at = name_span(&statement);
                let at = block.as_ref().map_or(at, |b| Span { end: at.end, ..b.span });
                match find(self.list, target, None) {
                    Some(old) => {
                        *old = *statement;
                        Ok(Some(format!("{} replaced", target.shown())))
                    }
                    None => self.unknown(target, at),
                }
            }
            Edit::Extend { list, entries } => match find(self.list, target, None).map(|s| &mut s.kind) {
                Some(StatementKind::List(found)) => {
                    let count = entries.len();
                    found.entries.extend(entries);
                    Ok(Some(format!("{} extended by {count}", target.shown())))
                }
                _ => self.unknown(target, list.span),
            },
            Edit::Set { setting, value } => match find(self.list, target, None).map(|s| &mut s.kind) {
                Some(StatementKind::Setting(found)) => {
                    check_kind(&setting, &found.value, &value)?;
                    found.value = value;
                    Ok(Some(format!("{} set", target.shown())))
                }
                _ => self.unknown(target, setting.span),
            },
            Edit::Insert { provider, block, after, anchor, body } => {
                self.right_kind(target, provider, block.span)?;
                let Some(found) = find(self.list, target, None) else {
                    return self.unknown(target, block.span);
                };
                let list = match &mut found.kind {
                    StatementKind::Group(group) => &mut group.body,
                    StatementKind::Provider(provider) => &mut provider.body,
                    _ => return Ok(None),
                };
                let Some(position) = list.iter().position(|s| bare_name(s) == Some(anchor.node.as_str()))
                else {
                    let names: Vec<String> = list.iter().filter_map(bare_name).map(str::to_owned).collect();
                    let names = || names;
                    let full = Target { kind: Kind::Rule, name: format!("{}.{}", block.node, anchor.node) };
                    return self.missing(&full, &anchor.node, anchor.span, names);
                };
                let position = position + usize::from(after);
                let names: Vec<&str> = body.iter().filter_map(bare_name).collect();
                let word = if after { "after" } else { "before" };
                let what =
                    format!("{} inserted in {} {word} `{}`", quoted(&names), target.shown(), anchor.node);
                list.splice(position..position, body);
                Ok(Some(what))
            }
        }
    }

    /// Refuses `group` for a provider block, and the other way round.
    fn right_kind(&mut self, target: &Target, provider: bool, at: Span) -> Result<(), Box<Diagnostic>> {
        let Some(found) = find(self.list, target, None) else { return Ok(()) };
        let (is, head) = match &found.kind {
            StatementKind::Group(group) if provider => ("group", group.head),
            StatementKind::Provider(block) if !provider => ("provider", block.head),
            _ => return Ok(()),
        };
        Err(Box::new(
            Diagnostic::new(edits::UNKNOWN_TARGET, at, format!("`{}` is a {is} block", target.name))
                .here("of the other kind")
                .related(head, "declared here")
                .help(format!("write `{is}`")),
        ))
    }

    fn unknown(&self, target: &Target, at: Span) -> Outcome {
        let names = || {
            let mut names = Vec::new();
            collect(self.list, target.kind, None, &mut names);
            names
        };
        self.missing(target, &target.name, at, names)
    }

    fn missing(
        &self,
        target: &Target,
        written: &str,
        at: Span,
        names: impl FnOnce() -> Vec<String>,
    ) -> Outcome {
        if self.incomplete {
            return Ok(None);
        }
        let problem =
            Diagnostic::new(edits::UNKNOWN_TARGET, at, format!("there is no {} to edit", target.shown()));
        let problem = if let Some(gone) = self.gone.get(target) {
            problem.related(*gone, "dropped here").help("edit something that is still there")
        } else if self.hints.take() {
            let names = names();
            let near = nearest(written, names.iter().map(String::as_str).take(Hints::NAMES));
            // `drop rule anything_else` for `payment_required.anything_else`.
            let tail = names.iter().find(|n| n.rsplit('.').next() == Some(written));
            match near.or(tail.map(String::as_str)) {
                Some(near) => problem.help(format!("did you mean `{near}`?")),
                None if names.is_empty() => problem.help(
                    "edits change what the used files declare: `use default` brings the shipped rules in",
                ),
                None => problem.help(EVERY_NAME),
            }
        } else {
            problem.help(EVERY_NAME)
        };
        Err(Box::new(problem.here("unknown")))
    }
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
}

fn check_kind(
    name: &Name,
    old: &Spanned<SettingValue>,
    new: &Spanned<SettingValue>,
) -> Result<(), Box<Diagnostic>> {
    use SettingValue::{Count, Duration};
    let (was, is) = match (old.node, new.node) {
        (Duration(_) | SettingValue::Off, Count(_)) => ("a duration, such as `30s`", "a count"),
        (Count(_), Duration(_)) => ("a count, such as `3`", "a duration"),
        _ => return Ok(()),
    };
    Err(Box::new(
        Diagnostic::new(types::SETTING_KIND, new.span, format!("setting `{}` does not take {is}", name.node))
            .here(format!("this is {is}"))
            .related(old.span, "its value in the rules")
            .help(format!("it takes {was}")),
    ))
}

/// Where a replaced thing's name stands.
fn name_span(statement: &Statement) -> Span {
    match &statement.kind {
        StatementKind::Bucket(d) => d.name.span,
        StatementKind::Alias(d) => d.name.span,
        StatementKind::List(d) => d.name.span,
        StatementKind::Let(d) => d.name.span,
        StatementKind::Rule(d) => d.name.span,
        StatementKind::Group(d) => d.name.span,
        StatementKind::Provider(d) => d.head,
        StatementKind::Setting(d) => d.name.span,
        StatementKind::Backoff(d) => d.name.span,
        StatementKind::Reset(d) => d.name.span,
        StatementKind::On { bucket, .. } => bucket.span,
        StatementKind::Test(d) => d.title.span,
        _ => statement.span,
    }
}

/// The name of a rule or block inside its block.
fn bare_name(statement: &Statement) -> Option<&str> {
    match &statement.kind {
        StatementKind::Rule(rule) => Some(&rule.name.node),
        StatementKind::Group(group) => Some(&group.name.node),
        StatementKind::Provider(block) => match &block.name {
            Some(name) => Some(&name.node),
            None => block.ids.first().map(|id| id.node.as_str()),
        },
        _ => None,
    }
}

fn full(target: Target, block: Option<&str>) -> Target {
    match (target.kind, block) {
        (Kind::Rule, Some(block)) => Target { name: format!("{block}.{}", target.name), ..target },
        _ => target,
    }
}

fn is(statement: &Statement, target: &Target, block: Option<&str>) -> bool {
    let Some((kind, name)) = Target::named(statement) else { return false };
    kind == target.kind
        && match block.filter(|_| kind == Kind::Rule) {
            Some(block) => target.name.strip_prefix(block).and_then(|n| n.strip_prefix('.')) == Some(&*name),
            None => target.name == name,
        }
}

fn body(statement: &mut Statement) -> Option<(String, &mut Vec<Statement>)> {
    if !matches!(statement.kind, StatementKind::Group(_) | StatementKind::Provider(_)) {
        return None;
    }
    let name = Target::declared(statement)?.name;
    match &mut statement.kind {
        StatementKind::Group(group) => Some((name, &mut group.body)),
        StatementKind::Provider(provider) => Some((name, &mut provider.body)),
        _ => None,
    }
}

fn find<'a>(list: &'a mut [Statement], target: &Target, block: Option<&str>) -> Option<&'a mut Statement> {
    for statement in list {
        if is(statement, target, block) {
            return Some(statement);
        }
        if let Some((name, inner)) = body(statement)
            && let Some(found) = find(inner, target, Some(&name))
        {
            return Some(found);
        }
    }
    None
}

fn remove(list: &mut Vec<Statement>, target: &Target, block: Option<&str>) -> Option<Statement> {
    if let Some(at) = list.iter().position(|s| is(s, target, block)) {
        return Some(list.remove(at));
    }
    list.iter_mut().find_map(|s| body(s).and_then(|(name, inner)| remove(inner, target, Some(&name))))
}

fn collect(list: &[Statement], kind: Kind, block: Option<&str>, names: &mut Vec<String>) {
    for statement in list {
        let Some(declared) = Target::declared(statement) else { continue };
        match &statement.kind {
            StatementKind::Group(group) => collect(&group.body, kind, Some(&declared.name), names),
            StatementKind::Provider(provider) => collect(&provider.body, kind, Some(&declared.name), names),
            _ => {}
        }
        if declared.kind == kind {
            names.push(full(declared, block).name);
        }
    }
}
