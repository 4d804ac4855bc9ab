//! Lists, settings, schedules, named conditions, resets and families.

use std::time::Duration;

use super::{Resolver, declare::Found};
use crate::lang::{
    ast::{self, SettingValue as Written},
    diagnostic::{
        Diagnostic,
        codes::{names as name_codes, patterns, types},
    },
    policy::{Backoff, Growth},
    source::{Span, Spanned},
    tree::{self, Cond, ResetPlace, SettingValue, Unit},
};

/// How deep named conditions may build on one another.
const MAX_LETS: usize = 100;

fn doc(statement: &ast::Statement) -> Option<String> {
    statement.doc.as_ref().map(|d| d.node.clone())
}

impl Resolver<'_> {
    pub(super) fn lists(&mut self, found: &Found<'_>) {
        for (list, statement) in &found.lists {
            if list.entries.is_empty() {
                self.empty_list(list.name.span);
            }
            list.entries.iter().for_each(|entry| self.phrase(entry));
            self.set.lists.push(tree::List {
                name: list.name.node.as_str().into(),
                doc: doc(statement),
                entries: list.entries.clone(),
                span: statement.span,
            });
        }
        let mut members: std::collections::HashMap<&str, Span> = std::collections::HashMap::new();
        for (alias, statement) in &found.aliases {
            for member in std::iter::once(&alias.name).chain(&alias.members) {
                if let Some(first) = members.insert(&member.node, member.span) {
                    self.out.push(
                        Diagnostic::new(
                            name_codes::DUPLICATE,
                            member.span,
                            format!("provider `{}` is named by two families", member.node),
                        )
                        .here("named again here")
                        .related(first, "first named here")
                        .help("a provider belongs to one family"),
                    );
                }
            }
            self.set.aliases.push(tree::Alias {
                family: alias.name.node.clone(),
                members: alias.members.iter().map(|m| m.node.clone()).collect(),
                span: statement.span,
            });
        }
    }

    pub(super) fn settings(&mut self, found: &Found<'_>) {
        for (setting, statement) in &found.settings {
            let value = match setting.value.node {
                Written::Duration(duration) => SettingValue::Duration(duration),
                Written::Count(count) => SettingValue::Count(count),
                Written::Off => SettingValue::Duration(Duration::ZERO),
            };
            let is_count = matches!(value, SettingValue::Count(_));
            // The values of single providers are in the unit of the common one, unless they say otherwise.
            let common = setting.from_config.as_ref().and_then(|e| e.unit.clone());
            let mut external = |e: &Option<ast::External>, unit: Option<&Spanned<Unit>>| {
                let e = e.as_ref()?;
                let unit = e.unit.as_ref().or(unit);
                self.unit(e, unit, is_count, &setting.name.node);
                Some(tree::External {
                    path: e.path.node.clone(),
                    unit: unit.map(|u| u.node),
                    span: e.path.span,
                })
            };
            let from_config = external(&setting.from_config, None);
            let by_provider = external(&setting.by_provider, common.as_ref());
            let from_env = external(&setting.from_env, None);
            let value_span = setting.value.span;
            let inside = value_span.source == statement.span.source
                && statement.span.start <= value_span.start
                && value_span.end <= statement.span.end;
            self.set.settings.push(tree::Setting {
                name: setting.name.node.as_str().into(),
                doc: doc(statement),
                value,
                from_config,
                by_provider,
                from_env,
                span: statement.span,
                set_by: (!inside).then_some(value_span),
            });
        }
    }

    fn unit(&mut self, external: &ast::External, unit: Option<&Spanned<Unit>>, is_count: bool, name: &str) {
        let problem = match (unit, is_count) {
            (None, false) => Diagnostic::new(
                types::UNIT,
                external.path.span,
                format!("`{name}` is a duration, and its value here has no unit"),
            )
            .here("a number of what?")
            .help("add `in milliseconds`, `in seconds`, `in minutes`, `in hours` or `in duration`"),
            (Some(unit), true) => Diagnostic::new(
                types::UNIT,
                unit.span,
                format!("`{name}` is a count, and a count has no unit"),
            )
            .here("a unit")
            .help("take the unit out, or give the setting a duration"),
            (Some(unit), false) if matches!(unit.node, Unit::Epoch | Unit::Date) => Diagnostic::new(
                types::UNIT,
                unit.span,
                format!("`{name}` is a duration, not a point in time"),
            )
            .here("a point in time")
            .help("use `milliseconds`, `seconds`, `minutes`, `hours` or `duration`"),
            _ => return,
        };
        self.out.push(problem);
    }

    pub(super) fn backoffs(&mut self, found: &Found<'_>) {
        for (backoff, statement) in &found.backoffs {
            let growth = match &backoff.growth {
                ast::Growth::Steps(steps) => {
                    Growth::Steps(steps.iter().map(|s| self.positive(s, "a step of this schedule")).collect())
                }
                ast::Growth::Doubling { from, up_to } => {
                    let (from_slot, up_to) = self.bounds(from, up_to, "the start and the cap");
                    if self.in_rules(from_slot).is_zero() {
                        self.positive(from, "the start of this schedule");
                    }
                    Growth::Doubling { from: from_slot, up_to }
                }
            };
            if let Some(jitter) = &backoff.jitter
                && jitter.node > 100
            {
                self.out.push(
                    Diagnostic::new(
                        types::WRONG_VALUE,
                        jitter.span,
                        format!("a step cannot vary by {} %", jitter.node),
                    )
                    .here("too much")
                    .help("write 100 % at most"),
                );
            }
            self.set.backoffs.push(tree::NamedBackoff {
                name: backoff.name.node.as_str().into(),
                doc: doc(statement),
                backoff: Backoff { growth, jitter_percent: backoff.jitter.as_ref().map_or(0, |j| j.node) },
                span: statement.span,
            });
        }
    }

    pub(super) fn lets(&mut self, found: &Found<'_>) {
        for (named, statement) in &found.lets {
            let cond = self.cond(&named.cond);
            self.set.lets.push(tree::Let {
                name: named.name.node.as_str().into(),
                doc: doc(statement),
                cond,
                span: statement.span,
            });
        }
        self.let_cycles(found);
    }

    /// Reports each circle of conditions once, and cuts it, so that nothing later runs around in it.
    fn let_cycles(&mut self, found: &Found<'_>) {
        let mut state = vec![0u8; self.set.lets.len()];
        let mut depth = vec![0usize; self.set.lets.len()];
        for start in 0..self.set.lets.len() {
            let mut path: Vec<(usize, Vec<usize>)> = Vec::new();
            if state.get(start) == Some(&0) {
                path.push((start, self.uses_of(start)));
            }
            while let Some((at, rest)) = path.last_mut() {
                let at = *at;
                if let Some(s) = state.get_mut(at) {
                    *s = 1;
                }
                let Some(next) = rest.pop() else {
                    if let Some(s) = state.get_mut(at) {
                        *s = 2;
                    }
                    path.pop();
                    let below = self.uses_of(at).into_iter().filter_map(|used| depth.get(used)).max();
                    let own = below.map_or(1, |below| below + 1);
                    if let Some(d) = depth.get_mut(at) {
                        *d = own;
                    }
                    if own == MAX_LETS + 1 {
                        self.let_depth(at, found);
                    }
                    continue;
                };
                match state.get(next) {
                    Some(0) => path.push((next, self.uses_of(next))),
                    Some(1) => {
                        let way: Vec<usize> = path.iter().map(|p| p.0).skip_while(|p| *p != next).collect();
                        self.let_cycle(&way, found);
                    }
                    _ => {}
                }
            }
        }
    }

    fn let_depth(&mut self, at: usize, found: &Found<'_>) {
        let Some((named, _)) = found.lets.get(at) else { return };
        self.out.push(
            Diagnostic::new(
                name_codes::LET_DEPTH,
                named.name.span,
                format!(
                    "condition `{}` builds on more than {MAX_LETS} others, one inside another",
                    named.name.node
                ),
            )
            .here("too deep")
            .help("write some of them out, or take steps of the way together"),
        );
    }

    fn uses_of(&self, at: usize) -> Vec<usize> {
        let mut uses = Vec::new();
        if let Some(named) = self.set.lets.get(at) {
            tree::each_let(&named.cond, &mut |id| uses.push(id.index()));
        }
        uses.reverse();
        uses
    }

    fn let_cycle(&mut self, way: &[usize], found: &Found<'_>) {
        let steps: Vec<&ast::Name> =
            way.iter().filter_map(|i| found.lets.get(*i)).map(|(l, _)| &l.name).collect();
        let Some((first, rest)) = steps.split_first() else { return };
        let shown: Vec<String> = steps.iter().chain([first]).map(|n| format!("`{}`", n.node)).collect();
        let mut problem = Diagnostic::new(
            name_codes::LET_CYCLE,
            first.span,
            format!("condition `{}` refers to itself", first.node),
        )
        .here("has no value")
        .help(format!("the way round is {}; take one step out", shown.join(" → ")));
        for other in rest {
            problem = problem.related(other.span, "on the way round");
        }
        self.out.push(problem);
    }

    pub(super) fn resets(&mut self, found: &Found<'_>) {
        for (reset, statement) in &found.resets {
            let from = match &reset.from {
                ast::ResetPlace::Header(name) => {
                    self.phrase(name);
                    ResetPlace::Header(Spanned { node: name.node.to_lowercase(), span: name.span })
                }
                ast::ResetPlace::Field(name) => {
                    self.phrase(name);
                    ResetPlace::Field(name.clone())
                }
                ast::ResetPlace::Text(regex) => {
                    if let Some(parsed) = self.regex(regex)
                        && !parsed.has_group("t")
                    {
                        self.out.push(
                            Diagnostic::new(
                                patterns::NO_TIME_GROUP,
                                regex.span,
                                "this expression does not say where the time stands",
                            )
                            .here("no group `t`")
                            .help("put the time into a group named `t`: `(?<t>…)`"),
                        );
                    }
                    ResetPlace::Text(regex.clone())
                }
            };
            let when = reset.when.as_ref().map_or(Cond::Always, |c| self.cond(c));
            let trusted = reset.trusted.as_ref().map(|d| self.duration(d));
            self.set.resets.push(tree::Reset {
                name: reset.name.node.as_str().into(),
                doc: doc(statement),
                from,
                units: reset.units.iter().map(|u| u.node).collect(),
                when,
                trusted,
                span: statement.span,
            });
        }
    }
}
