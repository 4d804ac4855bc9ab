//! Normalisation over real errors: `cargo bench --bench signal`.

use divan::{Bencher, black_box, counter::ItemsCount};
use pointsman::signal::{Evidence, Normaliser, Signal};

#[path = "support/errors.rs"]
mod errors;

use errors::CORPUS;

fn main() {
    divan::main();
}

fn run(bencher: Bencher<'_, '_>, signals: &[Signal]) {
    let normaliser = Normaliser::new(["input", "prompt", "messages"].map(String::from));
    let mut evidence = Evidence::default();
    bencher.counter(ItemsCount::new(signals.len())).bench_local(|| {
        for signal in signals {
            normaliser.read(&black_box(signal).as_ref(), &mut evidence);
            black_box(&evidence);
        }
    });
}

/// All rows.
#[divan::bench]
fn field(bencher: Bencher<'_, '_>) {
    run(bencher, &CORPUS);
}

/// Rows without a payload.
#[divan::bench]
fn plain(bencher: Bencher<'_, '_>) {
    let mut rows = CORPUS.clone();
    rows.retain(|signal| signal.message.as_ref().is_some_and(|text| !text.contains(['{', '[', '<'])));
    run(bencher, &rows);
}

/// Rows with one.
#[divan::bench]
fn payload(bencher: Bencher<'_, '_>) {
    let mut rows = CORPUS.clone();
    rows.retain(|signal| {
        signal.message.as_ref().is_some_and(|text| text.contains("{\"") || text.contains("{'"))
    });
    run(bencher, &rows);
}

/// One plain error of 300 bytes.
#[divan::bench]
fn plain_300(bencher: Bencher<'_, '_>) {
    let message =
        "Rate limit reached for model in organization on tokens per minute (TPM): Limit 6000, Used 5034. "
            .repeat(4);
    run(
        bencher,
        &[Signal { message: Some(message[..300].to_owned()), status: Some(429), ..Signal::default() }],
    );
}
