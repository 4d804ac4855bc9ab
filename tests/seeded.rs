//! Mistakes made by a script from shipped rules that a seed chooses, each reported by the lint meant
//! for it; and harmless edits that stay silent. `SEED=7` tries another seed, `SEEDS=20` that many.

mod harmless;
mod mistakes;
mod words;
mod workshop;

use pointsman::lang::{
    diagnostic::{Diagnostic, render},
    source::Sources,
};

use workshop::{Workshop, findings, overlay};

/// A changed rule set, and what it is about.
pub struct Edited {
    /// What was done, for the failure.
    what: String,
    files: pointsman::lang::load::files::Memory,
    /// Codes of which one must be reported; none: silence.
    expected: &'static [&'static str],
    /// Text that a finding with such a code must hold: a name, a phrase.
    about: String,
}

#[expect(clippy::disallowed_methods, reason = "`SEED` and `SEEDS` choose what is tried")]
fn seeds() -> std::ops::Range<u64> {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let first = number("SEED").unwrap_or(1);
    first..first + number("SEEDS").unwrap_or(1)
}

fn shown(found: &[Diagnostic], sources: &Sources) -> String {
    let mut all = pointsman::lang::diagnostic::Diagnostics::default();
    all.extend(found.iter().cloned());
    render::lines(&all, sources)
}

/// What was expected and not found, or found and not expected.
fn complaint(edited: &Edited) -> Option<String> {
    let (found, sources) = findings(&edited.files);
    let found: Vec<Diagnostic> = found.iter().cloned().collect();
    let text = shown(&found, &sources);
    let fine = match edited.expected {
        [] => found.is_empty(),
        codes => found.iter().any(|finding| {
            let all = shown(std::slice::from_ref(finding), &sources);
            codes.contains(&finding.code.id)
                && (all.contains(&edited.about)
                    || finding.help.as_ref().is_some_and(|help| help.contains(&edited.about)))
        }),
    };
    (!fine).then(|| {
        format!("{}\n  expected {:?} about `{}`, found:\n{text}", edited.what, edited.expected, edited.about)
    })
}

fn complaints(edits: &[Edited]) -> Vec<String> {
    edits.iter().filter_map(complaint).collect()
}

#[test]
fn mistakes_are_reported_by_the_lint_meant_for_them() {
    let mut missed = Vec::new();
    for seed in seeds() {
        eprintln!("seed {seed}");
        let mut shop = Workshop::new(seed);
        let edits = mistakes::thirty(&mut shop);
        assert_eq!(edits.len(), 30);
        missed.extend(complaints(&edits).into_iter().map(|text| format!("seed {seed}: {text}")));
    }
    assert!(missed.is_empty(), "{} missed\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn harmless_edits_stay_silent() {
    let mut wrong = Vec::new();
    for seed in seeds() {
        let mut shop = Workshop::new(seed);
        let edits = harmless::edits(&mut shop);
        assert!(edits.len() >= 30, "{}", edits.len());
        wrong.extend(complaints(&edits).into_iter().map(|text| format!("seed {seed}: {text}")));
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_copy_of_the_shipped_rules_is_clean() {
    let shop = Workshop::new(1);
    let (found, sources) = findings(&shop.copy(|_, _| ()));
    assert!(found.is_empty(), "{}", render::lines(&found, &sources));
}

/// Of each word: whether `check` calls it too little for a rule of the bucket.
fn said_of(words: &[(String, String)]) -> Vec<bool> {
    let rules: String = words
        .iter()
        .enumerate()
        .map(|(at, (word, bucket))| format!("rule word_{at} -> {bucket} when text has \"{word}\"\n"))
        .collect();
    let text = format!("use default\n{rules}");
    let (found, sources) = findings(&overlay(&text));
    let mut said = vec![false; words.len()];
    for finding in found.iter().filter(|finding| ["P0709", "P0710"].contains(&finding.code.id)) {
        let span = finding.span();
        let source = sources.get(span.source).unwrap();
        // A rule a line, below two others.
        said[source.text[..span.start as usize].matches('\n').count() - 2] = true;
    }
    said
}

#[test]
fn every_word_that_decides_nothing_alone_is_reported() {
    let (words, set) = (words::broad(), Workshop::new(1).set);
    assert!(words.len() > 200, "{}", words.len());
    // Also where it suits best, no bucket makes it enough.
    let some = ["timeout", "rate_limit", "overloaded", "format", "auth"];
    assert!(some.iter().all(|name| set.buckets.iter().any(|bucket| *bucket.name == **name)));
    let any = words.iter().flat_map(|(word, _)| some.map(|bucket| (word.clone(), bucket.to_owned())));
    let words: Vec<_> = words.iter().cloned().chain(any).collect();
    let missed: Vec<_> =
        words.iter().zip(said_of(&words)).filter(|(_, said)| !said).map(|((word, _), _)| word).collect();
    assert!(missed.is_empty(), "{} of {} missed: {missed:?}", missed.len(), words.len());
}

/// A word may be common though the corpus has it in one kind of error only; more than a few such would be false
/// reports.
#[test]
fn words_of_one_bucket_are_hardly_ever_called_common() {
    let words = words::Words::of_the_corpus();
    let words: Vec<_> = words.telling().map(|(word, bucket)| (word.to_owned(), bucket.to_owned())).collect();
    assert!(words.len() > 40, "{}", words.len());
    let called: Vec<_> =
        words.iter().zip(said_of(&words)).filter(|(_, said)| *said).map(|((word, _), _)| word).collect();
    assert!(7 * called.len() <= words.len(), "{called:?} of {}", words.len());
}
