//! Normalisation over real errors: `cargo bench --bench signal`.

use divan::{Bencher, black_box, counter::ItemsCount};
use pointsman::signal::{Evidence, Normaliser, Signal};

fn main() {
    divan::main();
}

/// The errors of the corpus.
fn corpus() -> Vec<Signal> {
    let rows = include_str!("../tests/corpus/field.jsonl")
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    rows.map(|row: serde_json::Value| {
        let text = |key: &str| row.get(key).and_then(|value| value.as_str()).map(String::from);
        Signal {
            provider: text("provider"),
            status: row.get("status").and_then(serde_json::Value::as_u64).and_then(|s| u16::try_from(s).ok()),
            code: text("code"),
            error_type: text("errorType"),
            message: text("message"),
            ..Signal::default()
        }
    })
    .collect()
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
    run(bencher, &corpus());
}

/// Rows without a payload.
#[divan::bench]
fn plain(bencher: Bencher<'_, '_>) {
    let mut rows = corpus();
    rows.retain(|signal| signal.message.as_ref().is_some_and(|text| !text.contains(['{', '[', '<'])));
    run(bencher, &rows);
}

/// Rows with one.
#[divan::bench]
fn payload(bencher: Bencher<'_, '_>) {
    let mut rows = corpus();
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
