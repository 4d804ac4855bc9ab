//! Classification of the corpus, side by side: the table, a loop over the rules, one `RegexSet`;
//! each with the shipped rules and with twenty times as many. Then what other projects publish
//! (`cargo bench --bench classify -- others` for these alone).
//!
//! `cargo bench --bench classify`. `item` rates are errors a second; `typical` is one error.

#![expect(clippy::unwrap_used, reason = "a test may fail so")]
#![expect(clippy::print_stdout, reason = "a bench prints")]

use std::hint::black_box;

use divan::{Bencher, counter::ItemsCount};
use pointsman::{
    classify::Scratch,
    lang::load,
    signal::Evidence,
    table::{NoSettings, Table},
};

#[path = "support/errors.rs"]
mod errors;
#[path = "support/many.rs"]
mod many;
#[path = "support/others.rs"]
mod others;
#[path = "support/plain.rs"]
mod plain;

use errors::CORPUS;
use many::{TEN_THOUSAND, rules};

fn main() {
    divan::main();
    // Under `cargo bench` with nothing to choose from it, or by name.
    let chosen: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    if chosen.is_empty() && std::env::args().any(|arg| arg == "--bench") || chosen == ["others"] {
        others::print();
    }
}

const TIMES: [usize; 2] = [1, 20];

fn evidence(table: &Table) -> Vec<Evidence> {
    CORPUS
        .iter()
        .map(|signal| {
            let mut evidence = Evidence::default();
            table.normalise(&signal.as_ref(), &mut evidence);
            evidence
        })
        .collect()
}

mod whole {
    //! From the host's error to the verdict.
    use super::{
        Bencher, CORPUS, ItemsCount, NoSettings, Scratch, TEN_THOUSAND, TIMES, Table, black_box,
        errors::{body, page, payload, typical},
        rules,
    };

    #[divan::bench(args = TIMES)]
    fn corpus(bencher: Bencher, times: usize) {
        let table = Table::compile(rules(times), &NoSettings).unwrap();
        let mut scratch = Scratch::default();
        bencher.counter(ItemsCount::new(CORPUS.len())).bench_local(|| {
            for signal in CORPUS.iter() {
                black_box(table.classify(black_box(&signal.as_ref()), &mut scratch));
            }
        });
    }

    /// Many at a time: a single one is short beside asking for the time.
    #[divan::bench(args = TIMES, sample_size = 200)]
    fn one_typical(bencher: Bencher, times: usize) {
        let table = Table::compile(rules(times), &NoSettings).unwrap();
        let mut scratch = Scratch::default();
        let signal = typical();
        bencher.bench_local(|| table.classify(black_box(&signal.as_ref()), &mut scratch));
    }

    #[divan::bench]
    fn corpus_ten_thousand_rules(bencher: Bencher) {
        let table = Table::compile(rules(*TEN_THOUSAND), &NoSettings).unwrap();
        table.warm();
        let mut scratch = Scratch::default();
        bencher.counter(ItemsCount::new(CORPUS.len())).bench_local(|| {
            for signal in CORPUS.iter() {
                black_box(table.classify(black_box(&signal.as_ref()), &mut scratch));
            }
        });
    }

    /// Long bodies: a page of a proxy, a payload of many fields, and what nobody means.
    #[divan::bench(args = ["html 8 KiB", "json 8 KiB", "braces 64 KiB"])]
    fn long(bencher: Bencher, which: &str) {
        let signal = match which {
            "html 8 KiB" => page(8 << 10),
            "json 8 KiB" => payload(8 << 10),
            _ => body("{".repeat(64 << 10)),
        };
        let table = Table::compile(rules(1), &NoSettings).unwrap();
        let mut scratch = Scratch::default();
        bencher.bench_local(|| table.classify(black_box(&signal.as_ref()), &mut scratch));
    }

    #[divan::bench]
    fn normalise_corpus(bencher: Bencher) {
        let table = Table::compile(rules(1), &NoSettings).unwrap();
        let mut evidence = super::Evidence::default();
        bencher.counter(ItemsCount::new(CORPUS.len())).bench_local(|| {
            for signal in CORPUS.iter() {
                table.normalise(black_box(&signal.as_ref()), &mut evidence);
            }
        });
    }
}

mod verdict {
    //! From normalised evidence to the verdict, three ways.
    use super::{
        Bencher, CORPUS, ItemsCount, NoSettings, Scratch, TIMES, Table, black_box, evidence, plain, rules,
    };

    #[divan::bench(args = TIMES)]
    fn table(bencher: Bencher, times: usize) {
        let table = Table::compile(rules(times), &NoSettings).unwrap();
        let errors = evidence(&table);
        let mut scratch = Scratch::default();
        bencher.counter(ItemsCount::new(CORPUS.len())).bench_local(|| {
            for error in &errors {
                black_box(table.classify_evidence(black_box(error), None, &mut scratch));
            }
        });
    }

    #[divan::bench(args = TIMES, sample_count = 10)]
    fn rule_by_rule(bencher: Bencher, times: usize) {
        let table = Table::compile(rules(times), &NoSettings).unwrap();
        let errors = evidence(&table);
        let plain = plain::Loop::new(table.ruleset());
        bencher.counter(ItemsCount::new(CORPUS.len())).bench_local(|| {
            for error in &errors {
                black_box(plain.judge(black_box(error)));
            }
        });
    }

    /// With the shipped rules only: with twenty times as many one pass takes minutes.
    #[divan::bench(sample_count = 3, sample_size = 1)]
    fn regex_set(bencher: Bencher) {
        let table = Table::compile(rules(1), &NoSettings).unwrap();
        let errors = evidence(&table);
        let set = plain::set(table.ruleset());
        bencher.counter(ItemsCount::new(CORPUS.len())).bench_local(|| {
            for error in &errors {
                for text in error.texts() {
                    black_box(set.matches(black_box(text)));
                }
            }
        });
    }
}

mod compile {
    //! From files to a table.
    use super::{Bencher, NoSettings, TIMES, Table, load, rules};

    #[divan::bench]
    fn load(bencher: Bencher) {
        bencher.bench(|| load::shipped().unwrap());
    }

    /// Without examples, tests and lints, as `classify` and hosts do.
    #[divan::bench]
    fn load_to_judge(bencher: Bencher) {
        bencher.bench(|| load::shipped_to_judge().unwrap());
    }

    #[divan::bench(args = TIMES)]
    fn table(bencher: Bencher, times: usize) {
        bencher
            .with_inputs(|| rules(times))
            .bench_values(|rules| Table::compile(rules, &NoSettings).unwrap());
    }

    #[divan::bench]
    fn warm(bencher: Bencher) {
        bencher
            .with_inputs(|| Table::compile(rules(1), &NoSettings).unwrap())
            .bench_refs(|table| table.warm());
    }
}
