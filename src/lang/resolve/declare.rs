//! Every declaration gets its number; second ones are reported.

use std::collections::HashMap;

use super::{
    Resolver,
    names::{FORM, Table, Twice, block_name},
};
use crate::lang::{
    ast::{self, Statement, StatementKind},
    diagnostic::{
        Diagnostic, Diagnostics,
        codes::{lints, names},
    },
    load::Program,
    overlay::target::{Kind, Target},
    policy::{BUILT_IN, End, Reaction, Traits},
    source::{Span, Spanned},
    tree::{self, BlockId, BucketId},
};

/// A declaration and the statement around it.
pub(super) type Decl<'a, T> = (&'a T, &'a Statement);

/// The declarations by kind, in the order of their numbers.
#[derive(Default)]
pub(super) struct Found<'a> {
    pub buckets: Vec<Decl<'a, ast::Bucket>>,
    pub aliases: Vec<Decl<'a, ast::Alias>>,
    pub lists: Vec<Decl<'a, ast::List>>,
    pub lets: Vec<Decl<'a, ast::Let>>,
    pub settings: Vec<Decl<'a, ast::Setting>>,
    pub backoffs: Vec<Decl<'a, ast::Backoff>>,
    pub resets: Vec<Decl<'a, ast::Reset>>,
    pub ons: Vec<(&'a ast::Name, &'a ast::Reaction)>,
    pub blocks: Vec<Block<'a>>,
    pub rules: Vec<(Option<BlockId>, &'a ast::Rule, &'a Statement)>,
    pub forms: Vec<Decl<'a, ast::PolicyForm>>,
    pub tests: Vec<Decl<'a, ast::TestBlock>>,
}

pub(super) struct Block<'a> {
    pub name: String,
    pub parent: Option<BlockId>,
    pub guard: Guard<'a>,
    pub statement: &'a Statement,
}

pub(super) enum Guard<'a> {
    When(Option<&'a ast::Cond>),
    Providers(&'a [Spanned<String>]),
}

/// Names that are only checked for being unique.
#[derive(Default)]
struct Seen(HashMap<Kind, Table>);

impl Seen {
    fn first(&mut self, kind: Kind, name: &ast::Name, program: &Program, out: &mut Diagnostics) -> bool {
        let word = if kind == Kind::Form { FORM } else { kind.word() };
        self.0.entry(kind).or_default().declare(word, name, program, out)
    }

    fn block(&mut self, name: &ast::Name, guard: &Guard<'_>, program: &Program, out: &mut Diagnostics) {
        let Some(first) = self.0.entry(Kind::Block).or_default().insert(name) else {
            return;
        };
        let (kind, renamed) = match guard {
            Guard::When(_) => ("group", "give yours another name".to_owned()),
            Guard::Providers(ids) => {
                let ids: Vec<&str> = ids.iter().map(|id| id.node.as_str()).collect();
                let ids = ids.join(", ");
                ("provider", format!("give yours a name of its own: `provider {ids} as mine {{ … }}`"))
            }
        };
        let block = format!("{kind} {}", name.node);
        let change = format!("write `in {block} before RULE {{ … }}`, or `drop {block}`");
        let what = format!("block `{}`", name.node);
        let twice = Twice { what, change, renamed: Some(&renamed), first, second: name.span };
        out.push(twice.report(program));
    }
}

pub(super) fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

impl<'p> Resolver<'p> {
    pub(super) fn declare(&mut self) -> Found<'p> {
        for (name, _) in BucketId::BUILT_IN {
            self.buckets.insert(&Spanned { node: name.to_owned(), span: BUILT_IN });
            self.set.buckets.push(tree::Bucket {
                name: name.into(),
                doc: None,
                http: None,
                traits: Traits::default(),
                reaction: least(),
                span: BUILT_IN,
            });
        }
        let mut found = Found::default();
        let mut seen = Seen::default();
        let program = self.program;
        for statement in &program.statements {
            self.statement(statement, None, &mut found, &mut seen);
        }
        self.otherwise_last(&program.statements, None);
        found
    }

    fn statement(
        &mut self,
        statement: &'p Statement,
        block: Option<(BlockId, &str)>,
        found: &mut Found<'p>,
        seen: &mut Seen,
    ) {
        for allow in &statement.allows {
            self.set.allows.push(tree::Allow {
                code: allow.code.node.clone(),
                reason: allow.reason.node.clone(),
                span: Span { start: allow.span.start.min(statement.span.start), ..statement.span },
                at: allow.span,
                used: false,
            });
        }
        match &statement.kind {
            StatementKind::Rule(rule) => {
                let full = match block {
                    Some((_, block)) => format!("{block}.{}", rule.name.node),
                    None => rule.name.node.clone(),
                };
                let full = Spanned { node: full, span: rule.name.span };
                if self.rules.declare("rule", &full, self.program, self.out) {
                    found.rules.push((block.map(|b| b.0), rule, statement));
                }
            }
            StatementKind::Group(group) => {
                let guard = Guard::When(group.when.as_ref());
                self.block(&group.name, guard, &group.body, statement, block, found, seen);
            }
            StatementKind::Provider(provider) => {
                let name = block_name(provider).unwrap_or_else(|| {
                    self.out.push(
                        Diagnostic::new(
                            names::BLOCK_NAME,
                            provider.head,
                            "this provider block needs a name of its own",
                        )
                        .here("several ids, or a glob, make no name")
                        .help("write `as NAME` behind the ids"),
                    );
                    Spanned { node: format!("block {}", statement.span.start), span: provider.head }
                });
                let guard = Guard::Providers(&provider.ids);
                self.block(&name, guard, &provider.body, statement, block, found, seen);
            }
            StatementKind::Broken(broken) => match &broken.name {
                Some(name) => {
                    self.unsure.names.insert(name.node.clone());
                    if matches!(broken.keyword.as_deref(), Some("group" | "provider" | "in")) {
                        self.unsure.all = true;
                    }
                }
                None => self.unsure.all = true,
            },
            _ => self.named(statement, found, seen),
        }
    }

    /// What stands outside of blocks.
    #[expect(clippy::collapsible_match, reason = "a guard that declares and reports would hide that it does")]
    fn named(&mut self, statement: &'p Statement, found: &mut Found<'p>, seen: &mut Seen) {
        let (program, out) = (self.program, &mut *self.out);
        match &statement.kind {
            StatementKind::Bucket(d) => {
                let built_in = self.buckets.get(&d.name.node).filter(|id| *id < 2);
                if built_in.is_some() {
                    if seen.first(Kind::Bucket, &d.name, program, out) {
                        found.buckets.push((d, statement));
                    }
                } else if self.buckets.declare("bucket", &d.name, program, out) {
                    found.buckets.push((d, statement));
                    self.set.buckets.push(tree::Bucket {
                        name: d.name.node.as_str().into(),
                        doc: None,
                        http: None,
                        traits: Traits::default(),
                        reaction: least(),
                        span: statement.span,
                    });
                }
            }
            StatementKind::Alias(d) => {
                if seen.first(Kind::Alias, &d.name, program, out) {
                    found.aliases.push((d, statement));
                }
            }
            StatementKind::List(d) => {
                if self.lists.declare("list", &d.name, program, out) {
                    found.lists.push((d, statement));
                }
            }
            StatementKind::Let(d) => {
                if self.lets.declare("let", &d.name, program, out) {
                    found.lets.push((d, statement));
                }
            }
            StatementKind::Setting(d) => {
                if self.settings.declare("setting", &d.name, program, out) {
                    found.settings.push((d, statement));
                }
            }
            StatementKind::Backoff(d) => {
                if self.backoffs.declare("backoff", &d.name, program, out) {
                    found.backoffs.push((d, statement));
                }
            }
            StatementKind::Reset(d) => {
                if seen.first(Kind::Reset, &d.name, program, out) {
                    found.resets.push((d, statement));
                }
            }
            StatementKind::On { bucket, reaction } => {
                if seen.first(Kind::On, bucket, program, out) {
                    found.ons.push((bucket, reaction));
                }
            }
            StatementKind::Test(d) => {
                if seen.first(Kind::Test, &d.title, program, out) {
                    found.tests.push((d, statement));
                }
            }
            StatementKind::Policy(form) => {
                if let Some(Target { kind, name, .. }) = Target::declared(statement) {
                    let name = Spanned { node: name, span: form_span(form, statement) };
                    if seen.first(kind, &name, program, out) {
                        found.forms.push((form, statement));
                    }
                }
            }
            _ => {}
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one place calls it for groups, one for providers")]
    fn block(
        &mut self,
        name: &ast::Name,
        guard: Guard<'p>,
        body: &'p [Statement],
        statement: &'p Statement,
        parent: Option<(BlockId, &str)>,
        found: &mut Found<'p>,
        seen: &mut Seen,
    ) {
        seen.block(name, &guard, self.program, self.out);
        let id = BlockId(number(found.blocks.len()));
        found.blocks.push(Block { name: name.node.clone(), parent: parent.map(|p| p.0), guard, statement });
        for inner in body {
            self.statement(inner, Some((id, &name.node)), found, seen);
        }
        self.otherwise_last(body, Some(&name.node));
    }

    /// Reports an `otherwise` with a later rule in the same block (or, outside of blocks, file).
    fn otherwise_last(&mut self, body: &[Statement], block: Option<&str>) {
        for (i, statement) in body.iter().enumerate() {
            let StatementKind::Rule(rule) = &statement.kind else { continue };
            let ast::Condition::Otherwise(span) = rule.condition else { continue };
            if rule.observe.is_some() {
                continue;
            }
            let is_rule = |s: &&Statement| {
                matches!(
                    s.kind,
                    StatementKind::Rule(_) | StatementKind::Group(_) | StatementKind::Provider(_)
                ) && (block.is_some() || s.span.source == span.source)
            };
            if let Some(later) = body.iter().skip(i + 1).find(is_rule) {
                let place = block.map_or("the file".to_owned(), |b| format!("block `{b}`"));
                self.out.push(
                    Diagnostic::new(
                        lints::OTHERWISE_NOT_LAST,
                        span,
                        format!("`otherwise` is not last in {place}"),
                    )
                    .here("closes the block")
                    .related(head(later), "never tried")
                    .help("move the rule to the end of its block, or give it a condition with `when`"),
                );
            }
        }
    }
}

/// The head of a rule or block.
fn head(statement: &Statement) -> Span {
    match &statement.kind {
        StatementKind::Rule(rule) => rule.head,
        StatementKind::Group(group) => group.head,
        StatementKind::Provider(provider) => provider.head,
        _ => statement.span,
    }
}

/// The place of a policy form's telling word, else of the whole form.
fn form_span(form: &ast::PolicyForm, statement: &Statement) -> Span {
    match form {
        ast::PolicyForm::Source(source) => source.source.span,
        ast::PolicyForm::PinProfile { kind, .. } => kind.span,
        _ => statement.span,
    }
}

/// The reaction that a bucket has when nobody says anything: surface.
pub(super) fn least() -> Reaction {
    Reaction {
        window: Spanned { node: None, span: BUILT_IN },
        rotate: Spanned { node: None, span: BUILT_IN },
        retry_if_repaired: Spanned { node: false, span: BUILT_IN },
        end: Spanned { node: End::Surface, span: BUILT_IN },
        say: None,
    }
}
