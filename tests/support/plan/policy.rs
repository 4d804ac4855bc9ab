//! A policy, written as a rules file: any reaction for any bucket, and any value in any slot.

use std::{fmt::Write as _, sync::Arc};

use pointsman::table::{NoSettings, Table};

use super::{super::rules, choices::Choices};

/// Buckets `b0`…, each behind the code of the same number.
pub const BUCKETS: usize = 7;
/// The code of an error that no rule knows.
pub const UNKNOWN: usize = BUCKETS;

/// The code that decides bucket `n`.
pub fn code(n: usize) -> String {
    format!("code_{n}")
}

/// Compiles a policy as a host's would be.
pub fn compile(text: &str) -> Arc<Table> {
    match rules::from_text(text) {
        Ok((rules, _)) => Arc::new(Table::compile(rules, &NoSettings).unwrap()),
        Err(error) => panic!("{text}\n{:#?}", error.diagnostics),
    }
}

/// A rules file.
pub fn write(from: &mut Choices<'_>) -> String {
    let mut text = "language 1\nreset wait from header \"retry-after\" in seconds".to_owned();
    if from.one_in(3) {
        let _ = write!(text, " trusted up to {}", span(from));
    }
    text += "\nbackoff first = ";
    text += &backoff(from);
    text += "\nbackoff second = ";
    text += &backoff(from);
    text += "\nsetting limit = ";
    let _ = writeln!(text, "{}", from.below(3));
    for n in 0..BUCKETS {
        let _ = writeln!(text, "rule r{n} -> b{n} when code is \"{}\"", code(n));
        let _ = writeln!(text, "bucket b{n} {{ {} }}", traits(from).join("; "));
        let _ = writeln!(text, "on b{n} {{ {} }}", reaction(from).join("; "));
    }
    if from.one_in(2) {
        let _ = writeln!(text, "bucket unclassified {{ {} }}", traits(from).join("; "));
        let _ = writeln!(text, "on unclassified {{ {} }}", reaction(from).join("; "));
    }
    slots(from, &mut text);
    text
}

fn backoff(from: &mut Choices<'_>) -> String {
    let mut text = if from.one_in(2) {
        let (least, most) = bounds(from);
        format!("doubling from {least} up to {most}")
    } else {
        format!("steps {}", from.many(1, 4, span).join(", "))
    };
    if from.one_in(4) {
        let _ = write!(text, " jitter {}%", 1 + from.below(50));
    }
    text
}

fn traits(from: &mut Choices<'_>) -> Vec<String> {
    let mut all = vec!["http 502".to_owned()];
    for (word, odds) in [("transient", 2), ("auth_class", 4), ("keeps_probe_slot", 3)] {
        if from.one_in(odds) {
            all.push(word.to_owned());
        }
    }
    if from.one_in(5) {
        all.push(format!("skips_provider from step {}", 1 + from.below(3)));
    }
    all
}

fn reaction(from: &mut Choices<'_>) -> Vec<String> {
    let mut all = vec![];
    if !from.one_in(3) {
        let mut window = format!(
            "{} {} using {}",
            from.pick(&["cooldown", "disable"]),
            from.pick(&["model", "profile"]),
            from.pick(&["first", "second"])
        );
        if from.one_in(2) {
            let (least, most) = bounds(from);
            let _ = write!(window, " until reset at least {least} at most {most}");
        }
        if from.one_in(4) {
            let _ = write!(window, " after {} in a row within {}", 2 + from.below(2), span(from));
        }
        all.push(window);
    }
    if !from.one_in(3) {
        let limit = match from.below(4) {
            0 => String::new(),
            1 => " up to limit".to_owned(),
            n => format!(" up to {}", n - 2),
        };
        let pause = if from.one_in(4) { format!(" after {}", span(from)) } else { String::new() };
        all.push(format!("rotate{limit}{pause}"));
    }
    if from.one_in(4) {
        all.push("retry once if repaired".to_owned());
    }
    all.push(from.pick(&["fallback", "fallback", "surface", "fallback else surface"]).to_owned());
    all
}

/// Everything beside buckets: any of it may be absent.
fn slots(from: &mut Choices<'_>, text: &mut String) {
    let mut slot = |from: &mut Choices<'_>, make: fn(&mut Choices<'_>) -> String| {
        if !from.one_in(5) {
            text.push_str(&make(from));
            text.push('\n');
        }
    };
    slot(from, |from| format!("forget failures after {} of quiet", span(from)));
    slot(from, |from| {
        format!("on success {{ reset ladders of {} }}", from.pick(&["model", "profile", "model, profile"]))
    });
    slot(from, |from| {
        let all = [
            "kind oauth, token, api_key",
            "kind api_key",
            "last_used oldest first",
            "last_used newest first",
        ];
        let mut lines = vec![from.pick(&all)];
        if !from.one_in(3) {
            lines.push("blocked last, soonest first");
        }
        format!("order profiles {{ {} }}", lines.join("; "))
    });
    slot(from, |from| format!("pin profile auto {{ {} }}", pin(from)));
    slot(from, |from| format!("pin profile user {{ {} }}", pin(from)));
    for name in ["default", "agent", "cron", "user"] {
        if from.one_in(6) {
            continue;
        }
        let all = [
            "fallbacks configured; then primary",
            "fallbacks configured",
            "fallbacks own else configured; then primary",
            "fallbacks own else none",
            "strict",
        ];
        let _ = writeln!(text, "source {name} {{ {} }}", from.pick(&all));
    }
    let _ = match from.below(5) {
        0 => Ok(()),
        1 => writeln!(text, "source auto {{ fallbacks configured; then primary }}"),
        2 => writeln!(text, "source auto {{ fallbacks of origin }}"),
        _ => writeln!(text, "source auto {{ fallbacks of origin; probe origin every {} }}", span(from)),
    };
    let mut slot = |from: &mut Choices<'_>, make: fn(&mut Choices<'_>) -> String| {
        if !from.one_in(4) {
            text.push_str(&make(from));
            text.push('\n');
        }
    };
    slot(from, |from| {
        let mut line = format!("within {} of expiry; every {} per provider", span(from), span(from));
        for n in 0..from.below(3) {
            let _ = write!(line, "; b{n} every {} per provider", span(from));
        }
        format!("probe primary {{ {line} }}")
    });
    slot(from, |from| {
        let all =
            ["when transient; once per provider per run", "when transient", "once per provider per run"];
        format!("probe sibling {{ {} }}", from.pick(&all))
    });
    slot(from, |from| match from.below(3) {
        0 => format!("budget per run {{ attempts {} }}", 1 + from.below(12)),
        1 => format!("budget per run {{ elapsed {} }}", from.pick(&["5m", "30s", "1h", "8d"])),
        _ => format!("budget per run {{ attempts {}; elapsed 1h }}", 1 + from.below(12)),
    });
    slot(from, |from| {
        let (least, most) = bounds(from);
        format!("skip cache {{ for {} at least {least} at most {most} }}", span(from))
    });
    slot(from, |_| "notice fallback \"on {fallback}, not {selected}: {reason}\"".to_owned());
    slot(from, |_| "notice cleared \"back on {selected} from {fallback}\"".to_owned());
}

fn pin(from: &mut Choices<'_>) -> String {
    let mut lines = vec!["per session"];
    let released = ["reset", "reset, compaction", "reset, blocked", "reset, compaction, blocked", "blocked"];
    let line;
    if !from.one_in(4) {
        line = format!("release on {}", from.pick(&released));
        lines.push(&line);
    }
    if from.one_in(2) {
        lines.push("return when free");
    }
    lines.join("; ")
}

const SPANS: [&str; 11] = ["1m", "1s", "10s", "30s", "2m", "5m", "25m", "1h", "5h", "24h", "8d"];

fn span(from: &mut Choices<'_>) -> String {
    from.pick(&SPANS).to_owned()
}

/// Two spans, the shorter one first; the list is in order but for its first.
fn bounds(from: &mut Choices<'_>) -> (&'static str, &'static str) {
    let (a, b) = (1 + from.below(SPANS.len() - 1), 1 + from.below(SPANS.len() - 1));
    (SPANS[a.min(b)], SPANS[a.max(b)])
}
