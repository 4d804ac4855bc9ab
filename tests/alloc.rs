//! After warm-up, classification with the same scratch allocates nothing: messages up to 2 KiB without
//! JSON escapes.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may fail so")]

use allocation_counter::measure;
use pointsman::{
    classify::Scratch,
    lang::load,
    signal::Signal,
    table::{NoSettings, Table},
    time::Timestamp,
};

const LONGEST: usize = 2 * 1024;

fn corpus() -> Vec<Signal> {
    let lines = include_str!("corpus/field.jsonl").lines();
    let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
    let rows = lines.map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let signals = rows.map(|row| Signal {
        provider: text(&row["provider"]),
        status: row["status"].as_u64().and_then(|status| u16::try_from(status).ok()),
        code: text(&row["code"]),
        error_type: text(&row["errorType"]),
        message: text(&row["message"]),
        received_at: Some(Timestamp::from_millis(1_796_032_800_000)),
        ..Signal::default()
    });
    let fits = |signal: &Signal| {
        signal.message.as_ref().is_none_or(|text| text.len() <= LONGEST && !text.contains('\\'))
    };
    signals.filter(fits).collect()
}

#[test]
fn nothing_is_allocated_after_warm_up() {
    let (rules, _) = load::shipped().unwrap();
    let table = Table::compile(rules, &NoSettings).unwrap();
    table.warm();
    let mut scratch = Scratch::default();
    let mut signals = corpus();
    assert!(signals.len() > 250, "{}", signals.len());
    let mut prose = "quota ".repeat(LONGEST / 6);
    prose.truncate(LONGEST);
    signals.push(Signal { message: Some(prose), ..Signal::default() });
    let mut pass = |judged: &mut dyn FnMut(&Signal, u64)| {
        for signal in &signals {
            let counted = measure(|| {
                std::hint::black_box(table.classify(&signal.as_ref(), &mut scratch));
            });
            judged(signal, counted.count_total);
        }
    };
    let mut cold = 0;
    pass(&mut |_, count| cold += count);
    assert!(cold > 0, "the counter counts");
    let mut warm = Vec::new();
    pass(&mut |signal, count| {
        if count > 0 {
            warm.push((count, signal.message.clone()));
        }
    });
    assert!(warm.is_empty(), "{warm:#?}");
}
