//! The walk over the syntax tree.

use super::{Kind, Role, Symbol};
use crate::lang::{
    ast::{
        Case, Cond, Condition, CountSlot, DropKind, DurationSlot, Edit, Expectation, File, Growth, Name, Op,
        Path, Phrases, PolicyForm, Reaction, ResetBounds, Rule, Slot, SourceBody, Statement, StatementKind,
        UseTarget, Values,
    },
    block_name,
    source::Span,
    tree::Field,
};

/// Every name in a file.
pub fn file(file: &File) -> Vec<Symbol> {
    let mut walk = Walk { out: Vec::new() };
    walk.statements(&file.statements, None);
    walk.out
}

struct Walk {
    out: Vec<Symbol>,
}

impl Walk {
    fn push(&mut self, kind: Kind, role: Role, name: String, span: Span, doc: Option<String>, head: Span) {
        let bytes = |span: Span| span.start as usize..span.end as usize;
        self.out.push(Symbol { kind, name, role, range: bytes(span), doc, head: bytes(head) });
    }

    fn uses(&mut self, kind: Kind, name: &Name) {
        self.push(kind, Role::Uses, name.node.clone(), name.span, None, name.span);
    }

    /// `block.rule` uses both names.
    fn rule_path(&mut self, path: &Path) {
        if let Some(block) = &path.block {
            self.uses(Kind::Block, block);
        }
        self.push(Kind::Rule, Role::Uses, path.full(), path.name.span, None, path.name.span);
    }

    fn statements(&mut self, statements: &[Statement], block: Option<&str>) {
        for statement in statements {
            self.statement(statement, block, Role::Declares);
        }
    }

    fn statement(&mut self, statement: &Statement, block: Option<&str>, role: Role) {
        for allow in &statement.allows {
            self.uses(Kind::Code, &allow.code);
        }
        let doc = || statement.doc.as_ref().map(|doc| doc.node.clone());
        let named = |walk: &mut Self, kind, name: &Name| {
            walk.push(kind, role, name.node.clone(), name.span, doc(), statement.span);
        };
        match &statement.kind {
            StatementKind::Bucket(d) => named(self, Kind::Bucket, &d.name),
            StatementKind::Alias(d) => named(self, Kind::Alias, &d.name),
            StatementKind::List(d) => named(self, Kind::List, &d.name),
            StatementKind::Let(d) => {
                named(self, Kind::Let, &d.name);
                self.cond(&d.cond);
            }
            StatementKind::Setting(d) => named(self, Kind::Setting, &d.name),
            StatementKind::Backoff(d) => {
                named(self, Kind::Backoff, &d.name);
                match &d.growth {
                    Growth::Steps(steps) => steps.iter().for_each(|step| self.duration(step)),
                    Growth::Doubling { from, up_to } => {
                        self.duration(from);
                        self.duration(up_to);
                    }
                }
            }
            StatementKind::Reset(d) => {
                named(self, Kind::Reset, &d.name);
                d.when.iter().for_each(|cond| self.cond(cond));
                d.trusted.iter().for_each(|slot| self.duration(slot));
            }
            StatementKind::Rule(declared) => {
                let name = match block {
                    Some(block) => format!("{block}.{}", declared.name.node),
                    None => declared.name.node.clone(),
                };
                self.push(Kind::Rule, role, name, declared.name.span, doc(), declared.head);
                self.rule(declared);
            }
            StatementKind::Group(d) => {
                self.push(Kind::Block, role, d.name.node.clone(), d.name.span, doc(), d.head);
                d.when.iter().for_each(|cond| self.cond(cond));
                self.statements(&d.body, Some(&d.name.node));
            }
            StatementKind::Provider(d) => {
                d.ids.iter().for_each(|id| self.uses(Kind::Alias, id));
                let name = block_name(d);
                if let Some(name) = &name {
                    self.push(Kind::Block, role, name.node.clone(), name.span, doc(), d.head);
                }
                self.statements(&d.body, name.as_ref().map(|name| name.node.as_str()));
            }
            StatementKind::On { bucket, reaction } => {
                self.push(
                    Kind::Bucket,
                    Role::Replaces,
                    bucket.node.clone(),
                    bucket.span,
                    doc(),
                    statement.span,
                );
                self.reaction(reaction);
            }
            StatementKind::Test(d) => d.cases.iter().for_each(|case| self.expectation(case)),
            StatementKind::Use(UseTarget::Named(name)) => self.uses(Kind::Set, name),
            StatementKind::Use(UseTarget::Path(path)) => self.uses(Kind::File, path),
            StatementKind::Edit(edit) => self.edit(edit),
            StatementKind::Policy(form) => self.form(form),
            StatementKind::Broken(_) => {}
        }
    }

    fn rule(&mut self, rule: &Rule) {
        self.uses(Kind::Bucket, &rule.bucket);
        if let Condition::When(cond) = &rule.condition {
            self.cond(cond);
        }
        if let Some(own) = &rule.reaction {
            self.reaction(&own.reaction);
        }
        rule.examples.iter().for_each(|example| self.case(&example.case));
    }

    fn cond(&mut self, cond: &Cond) {
        match cond {
            Cond::All(parts, _) | Cond::Any(parts, _) => parts.iter().for_each(|part| self.cond(part)),
            Cond::Not(inner, _) => self.cond(inner),
            Cond::Named(name) => self.uses(Kind::Let, name),
            Cond::Test(test) => match &test.op.node {
                Op::In(Values::List(name)) | Op::Has(_, Phrases::List(name)) => self.uses(Kind::List, name),
                Op::Is(crate::lang::ast::Value::Text(id)) if test.field.node == Field::Provider => {
                    self.uses(Kind::Alias, id);
                }
                _ => {}
            },
        }
    }

    fn case(&mut self, case: &Case) {
        case.provider.iter().for_each(|provider| self.uses(Kind::Alias, provider));
    }

    fn expectation(&mut self, line: &Expectation) {
        match line {
            Expectation::Verdict { case, bucket, by, .. } => {
                self.case(case);
                self.uses(Kind::Bucket, bucket);
                if let Some(path) = by {
                    self.rule_path(path);
                }
            }
            Expectation::Backoff { backoff, .. } => self.uses(Kind::Backoff, backoff),
        }
    }

    fn reaction(&mut self, reaction: &Reaction) {
        if let Some(window) = reaction.window.as_ref().and_then(|window| window.node.as_ref()) {
            self.uses(Kind::Backoff, &window.backoff);
            if let Some(ResetBounds { at_least, at_most }) = &window.until_reset {
                self.duration(at_least);
                self.duration(at_most);
            }
            window.after.iter().for_each(|after| self.duration(&after.within));
        }
        if let Some(rotate) = reaction.rotate.as_ref().and_then(|rotate| rotate.node.as_ref()) {
            rotate.up_to.iter().for_each(|slot| self.count(slot));
            rotate.after.iter().for_each(|slot| self.duration(slot));
        }
    }

    fn edit(&mut self, edit: &Edit) {
        match edit {
            Edit::Drop { kind, target } => match kind.node {
                DropKind::Rule => self.rule_path(target),
                DropKind::Group | DropKind::Provider => self.uses(Kind::Block, &target.name),
                DropKind::Reset => self.uses(Kind::Reset, &target.name),
                DropKind::Alias => self.uses(Kind::Alias, &target.name),
                DropKind::Test => {}
            },
            Edit::Replace { block, statement } => {
                if let Some(block) = block {
                    self.uses(Kind::Block, block);
                }
                let block = block.as_ref().map(|block| block.node.as_str());
                self.statement(statement, block, Role::Replaces);
            }
            Edit::Extend { list, .. } => self.uses(Kind::List, list),
            Edit::Set { setting, .. } => self.uses(Kind::Setting, setting),
            Edit::Insert { block, anchor, body, .. } => {
                self.uses(Kind::Block, block);
                let name = format!("{}.{}", block.node, anchor.node);
                self.push(Kind::Rule, Role::Uses, name, anchor.span, None, anchor.span);
                self.statements(body, Some(&block.node));
            }
        }
    }

    fn form(&mut self, form: &PolicyForm) {
        match form {
            PolicyForm::ForgetFailures(slot) => self.duration(slot),
            PolicyForm::Source(source) => {
                if let SourceBody::Slots(slots) = &source.body {
                    slots.probe_origin.iter().for_each(|slot| self.duration(slot));
                }
            }
            PolicyForm::ProbePrimary(probe) => {
                self.duration(&probe.within);
                self.duration(&probe.every);
                for (bucket, every) in &probe.disabled {
                    self.uses(Kind::Bucket, bucket);
                    self.duration(every);
                }
            }
            PolicyForm::Budget(budget) => {
                budget.attempts.iter().for_each(|slot| self.count(slot));
                budget.elapsed.iter().for_each(|slot| self.duration(slot));
            }
            PolicyForm::SkipCache(cache) => {
                for slot in [&cache.for_, &cache.at_least, &cache.at_most] {
                    self.duration(slot);
                }
            }
            PolicyForm::SdkRetry(sdk) => self.duration(&sdk.at_most),
            PolicyForm::OnSuccess(_)
            | PolicyForm::OrderProfiles(_)
            | PolicyForm::PinProfile { .. }
            | PolicyForm::ProbeSibling(_)
            | PolicyForm::NoticeFallback(_)
            | PolicyForm::NoticeCleared(_) => {}
        }
    }

    fn duration(&mut self, slot: &DurationSlot) {
        if let Slot::Setting(name) = &slot.node {
            self.push(Kind::Setting, Role::Uses, name.clone(), slot.span, None, slot.span);
        }
    }

    fn count(&mut self, slot: &CountSlot) {
        if let Slot::Setting(name) = &slot.node {
            self.push(Kind::Setting, Role::Uses, name.clone(), slot.span, None, slot.span);
        }
    }
}
