//! The shipped rules many times over.

#![allow(dead_code, reason = "no bench uses all of it")]
#![expect(clippy::indexing_slicing, clippy::panic, reason = "a bench may fail so")]

use std::sync::LazyLock;

use pointsman::lang::{
    load,
    source::{Span, Spanned},
    tree::{Cond, Field, Op, Phrases, Quantifier, Ruleset, Test},
};

/// So many times the shipped rules are ten thousand.
pub static TEN_THOUSAND: LazyLock<usize> = LazyLock::new(|| 10_000usize.div_ceil(SHIPPED.rules.len()));

static SHIPPED: LazyLock<Ruleset> = LazyLock::new(|| match load::shipped() {
    Ok((rules, _)) => rules,
    Err(error) => panic!("the shipped rules do not load: {:?}", error.diagnostics),
});

/// The shipped rules, each with `times - 1` variants before it that have phrases of their own.
pub fn rules(times: usize) -> Ruleset {
    let mut set = SHIPPED.clone();
    set.rules = SHIPPED
        .rules
        .iter()
        .flat_map(|rule| {
            (1..times)
                .map(move |number| {
                    let mut variant = rule.clone();
                    variant.name = format!("{}_{number}", rule.name).into();
                    let mut changed = false;
                    variant.when = vary(&rule.when, number, &mut changed);
                    if !changed {
                        variant.when =
                            Cond::All(vec![variant.when, has(&format!("variant{number} {}", rule.name))]);
                    }
                    variant
                })
                .chain([rule.clone()])
        })
        .collect();
    set
}

fn has(phrase: &str) -> Cond {
    let phrase = Spanned { node: phrase.to_owned(), span: Span::default() };
    let op = Op::Has(Quantifier::Any, Phrases::Inline(vec![phrase]));
    Cond::Test(Test { field: Field::Text, op, span: Span::default() })
}

/// The condition with every phrase and expression changed.
fn vary(cond: &Cond, number: usize, changed: &mut bool) -> Cond {
    let all =
        |parts: &[Cond], changed: &mut bool| parts.iter().map(|part| vary(part, number, changed)).collect();
    match cond {
        Cond::Always => Cond::Always,
        Cond::All(parts) => Cond::All(all(parts, changed)),
        Cond::Any(parts) => Cond::Any(all(parts, changed)),
        Cond::Not(inner) => Cond::Not(Box::new(vary(inner, number, &mut false))),
        Cond::Let(id, _) => vary(&SHIPPED.lets[id.index()].cond, number, changed),
        Cond::Test(test) => {
            let mut test = test.clone();
            let suffixed = |text: &Spanned<String>| Spanned {
                node: format!("{} variant{number}", text.node),
                span: text.span,
            };
            let before = test.op.clone();
            test.op = match test.op {
                Op::Has(quantifier, phrases) => {
                    let entries = match &phrases {
                        Phrases::Inline(entries) => entries,
                        Phrases::List(id, _) => &SHIPPED.lists[id.index()].entries,
                    };
                    Op::Has(quantifier, Phrases::Inline(entries.iter().map(suffixed).collect()))
                }
                Op::Contains(part) => Op::Contains(suffixed(&part)),
                Op::StartsWith(prefix) => Op::StartsWith(suffixed(&prefix)),
                Op::Is(value)
                    if !matches!(
                        test.field,
                        Field::Provider | Field::Model | Field::Body | Field::Aborted
                    ) =>
                {
                    Op::Is(suffixed(&value))
                }
                Op::In(values)
                    if !matches!(
                        test.field,
                        Field::Provider | Field::Model | Field::Body | Field::Aborted
                    ) =>
                {
                    Op::In(values.iter().map(suffixed).collect())
                }
                Op::Matches(mut regex) => {
                    regex.pattern = format!("variant{number} (?:{})", regex.pattern);
                    Op::Matches(regex)
                }
                op => op,
            };
            *changed |= test.op != before;
            Cond::Test(test)
        }
    }
}
