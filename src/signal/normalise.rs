//! From a signal to its evidence.

use super::{
    evidence::{Evidence, Segment, SegmentKind},
    fold::{fold_but_capitals, fold_into},
    input::SignalRef,
    keys::Keys,
    lift::Lift,
    scratch::{Find, Found, Job, Rank, Scratch, Weight},
    status::http_status,
};

/// Bytes of text that one error may bring; of a longer one the first three quarters of this and
/// the last quarter are read, one behind the other. Headers that go beyond as many are passed over.
pub const TEXT_LIMIT: usize = 64 * 1024;

/// Bytes of a code, type or parameter that a host gives.
const WORD_LIMIT: usize = 1024;

/// Makes [`Evidence`] of signals. Holds nothing of them, so one serves all threads.
#[derive(Clone, Debug, Default)]
pub struct Normaliser {
    keys: Keys,
}

impl Normaliser {
    /// A normaliser that takes strings below `echo_keys` for the user's own words (D13).
    #[must_use]
    pub fn new(echo_keys: impl IntoIterator<Item = String>) -> Self {
        Self { keys: Keys::new(echo_keys) }
    }

    /// Reads a signal (D14). What `evidence` held before is forgotten; its buffers are used again.
    pub fn read(&self, signal: &SignalRef<'_>, evidence: &mut Evidence) {
        evidence.clear();
        take_given(signal, evidence);
        let mut next = 0;
        while next < evidence.buffers.scratch.jobs.len() {
            let round = next..evidence.buffers.scratch.jobs.len();
            next = round.end;
            let source = std::mem::take(&mut evidence.original);
            for index in round {
                Lift { source: &source, scratch: &mut evidence.buffers.scratch, keys: &self.keys }.run(index);
            }
            evidence.original = source;
            evidence.original.push_str(&evidence.buffers.scratch.decoded);
            evidence.buffers.scratch.decoded.clear();
        }
        settle_statuses(signal.status, evidence);
        order(&mut evidence.buffers.scratch);
        fold_all(evidence);
    }
}

/// Copies what the host gave and makes the first jobs.
fn take_given(signal: &SignalRef<'_>, evidence: &mut Evidence) {
    let mut left = TEXT_LIMIT;
    if let Some(message) = signal.message {
        take_text(message, false, &mut left, evidence);
        evidence.buffers.message_len = evidence.original.len();
    }
    for detail in signal.details.iter() {
        take_text(detail, true, &mut left, evidence);
    }
    for (word, find) in
        [(signal.code, Find::Code), (signal.error_type, Find::Type), (signal.param, Find::Param)]
    {
        let Some(word) = word.map(str::trim).filter(|word| !word.is_empty()) else {
            continue;
        };
        let end = word.floor_char_boundary(WORD_LIMIT);
        evidence.buffers.scratch.cut |= end < word.len();
        let word = word.get(..end).unwrap_or_default();
        let start = evidence.original.len();
        evidence.original.push_str(word);
        if find == Find::Code
            && let Some(status) = word.parse().ok().filter(|_| word.len() == 3).and_then(http_status)
        {
            evidence.buffers.scratch.status(0, status);
        }
        evidence.buffers.scratch.push(Found { find, depth: 0, range: start..start + word.len(), job: 0 });
    }
    if let Some(provider) = signal.provider {
        fold_into(provider, &mut evidence.provider);
    }
    if let Some(model) = signal.model {
        fold_into(model, &mut evidence.model);
    }
    let mut left = TEXT_LIMIT;
    for (name, value) in signal.headers.iter() {
        let Some(rest) = left.checked_sub(name.len() + value.len()) else {
            evidence.buffers.scratch.cut = true;
            continue;
        };
        left = rest;
        let (mut key, mut text) = evidence.buffers.spare.pop().unwrap_or_default();
        key.clear();
        key.push_str(name);
        key.make_ascii_lowercase();
        text.clear();
        text.push_str(value);
        evidence.headers.push((key, text));
    }
    evidence.aborted = signal.aborted;
}

/// Stands where a text was cut, so that no phrase runs across.
const CUT: &str = " … ";

/// Copies a text, within what is left of the limit. What is left of a cut one is read as one text: what
/// stood open before the cut is open behind it, so that an echo goes on (D13).
fn take_text(text: &str, detail: bool, left: &mut usize, evidence: &mut Evidence) {
    let start = evidence.original.len();
    if text.len() <= *left {
        evidence.original.push_str(text);
        *left -= text.len();
    } else {
        let head = text.floor_char_boundary(*left / 4 * 3);
        let tail = text.ceil_char_boundary(text.len() - (*left / 4).saturating_sub(CUT.len()));
        if head > 0 {
            evidence.original.push_str(text.get(..head).unwrap_or_default());
            evidence.original.push_str(CUT);
            evidence.original.push_str(text.get(tail..).unwrap_or_default());
        }
        *left = 0;
        evidence.buffers.scratch.cut = true;
    }
    let end = evidence.original.len();
    if start < end {
        evidence.buffers.scratch.jobs.push(Job::given(start..end, detail));
    }
}

/// The one status, of 400 or more, and all of them: the host's first, then outside-in.
fn settle_statuses(host: Option<u16>, evidence: &mut Evidence) {
    let found = &mut evidence.buffers.scratch.statuses;
    found.sort_by_key(|(depth, _)| *depth);
    let first = found.iter().map(|(_, status)| *status).find(|status| *status >= 400);
    evidence.status = host.filter(|status| *status >= 400).or(first);
    for status in host.into_iter().chain(found.iter().map(|(_, status)| *status)) {
        if !evidence.statuses.contains(&status) {
            evidence.statuses.push(status);
        }
    }
}

/// Decides what each find is, and in which order they stand.
fn order(scratch: &mut Scratch) {
    let Scratch { found, jobs, order, .. } = scratch;
    let weight = |found: &Found| match (found.find, jobs.get(found.job)) {
        (Find::Message, _) => Some(Weight::Message),
        (Find::Detail, _) => Some(Weight::Detail),
        (Find::Prose, Some(job)) if !job.lifted => Some(job.weight),
        _ => None,
    };
    let own = |found: &Found| !jobs.get(found.job).is_some_and(|job| job.detail);
    let innermost = |wanted: Weight| {
        let mut best: Option<(usize, u8)> = None;
        for (at, found) in found.iter().enumerate() {
            if weight(found) == Some(wanted)
                && own(found)
                && best.is_none_or(|(_, depth)| found.depth > depth)
            {
                best = Some((at, found.depth));
            }
        }
        best.map(|(at, _)| at)
    };
    let message = innermost(Weight::Message).or_else(|| innermost(Weight::Detail));
    for (at, found) in found.iter().enumerate() {
        let kind = match found.find {
            _ if message == Some(at) => SegmentKind::Message,
            Find::Echo => SegmentKind::Echo,
            Find::Code => SegmentKind::Code,
            Find::Type => SegmentKind::Type,
            Find::Param => SegmentKind::Param,
            Find::Message | Find::Detail | Find::Prose => match weight(found) {
                Some(Weight::Message | Weight::Detail) => SegmentKind::Detail,
                Some(Weight::None) => continue,
                None if jobs.get(found.job).is_some_and(|job| job.weight == Weight::None) => continue,
                None => SegmentKind::Wrapper,
            },
        };
        order.push(Rank::new(kind as u8, found.depth, at));
    }
    order.sort_unstable();
}

/// Folds all texts, each closed by a NUL.
fn fold_all(evidence: &mut Evidence) {
    let Evidence { buffers, folded, original, segments, .. } = evidence;
    let scratch = &mut buffers.scratch;
    for rank in &scratch.order {
        let (Some(kind), Some(found)) = (KINDS.get(rank.kind()), scratch.found.get(rank.at())) else {
            continue;
        };
        // The closing NULs do not count.
        let left = TEXT_LIMIT.saturating_sub(folded.len() - segments.len());
        let text = original.get(found.range.clone()).unwrap_or_default();
        let end = text.floor_char_boundary(left);
        scratch.cut |= end < text.len();
        let text = text.get(..end).unwrap_or_default();
        let start = folded.len();
        fold_but_capitals(text, folded);
        // A payload often says the same at two levels; matching need not read it twice.
        let family =
            |kind: SegmentKind| if kind == SegmentKind::Detail { SegmentKind::Message } else { kind };
        let texts = folded.as_bytes();
        let new = texts.get(start..).unwrap_or_default();
        let known = |segment: &Segment| {
            segment.folded.len() == new.len()
                && family(segment.kind) == family(*kind)
                && texts.get(segment.folded.clone()).is_some_and(|text| text.eq_ignore_ascii_case(new))
        };
        if folded.len() == start || segments.iter().any(known) {
            folded.truncate(start);
            continue;
        }
        let original = found.range.start..found.range.start + end;
        segments.push(Segment { kind: *kind, folded: start..folded.len(), original });
        folded.push('\0');
    }
    folded.make_ascii_lowercase();
    evidence.leading_number = scratch.leading;
    evidence.body = scratch.body;
    evidence.cut = scratch.cut;
    evidence.too_deep = scratch.too_deep;
    std::mem::swap(&mut evidence.scalars, &mut scratch.scalars);
}

/// The kinds by number, in the order of the evidence.
const KINDS: [SegmentKind; 7] = [
    SegmentKind::Message,
    SegmentKind::Detail,
    SegmentKind::Wrapper,
    SegmentKind::Echo,
    SegmentKind::Code,
    SegmentKind::Type,
    SegmentKind::Param,
];
