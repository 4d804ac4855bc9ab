//! What normalisation found in an error.

use serde::Serialize;

use crate::{
    lang::tree::{Cond, Field, ResetPlace, Ruleset},
    signal::{Aborted, Evidence, SegmentKind, SignalRef, mask},
    table::Table,
};

/// What normalisation found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Findings {
    /// The provider, folded.
    pub provider: Option<String>,
    /// Its family, when that is another name.
    pub family: Option<String>,
    /// The model, folded.
    pub model: Option<String>,
    /// The status.
    pub status: Option<u16>,
    /// Where the status came from: `host` or `text`.
    pub status_from: Option<&'static str>,
    /// Every status found.
    pub statuses: Vec<u16>,
    /// A leading number that is no status.
    pub leading_number: Option<u32>,
    /// Every text with its kind, in order.
    pub texts: Vec<Text>,
    /// `text`, `json` or `html`.
    pub body: &'static str,
    /// How the attempt was cut off.
    pub aborted: Option<&'static str>,
    /// The headers. Values are shown only of those that rules look at; others may hold secrets.
    pub headers: Vec<Header>,
    /// Texts were cut to their limit.
    pub cut: bool,
    /// JSON deeper than the limit was left closed.
    pub too_deep: bool,
}

/// A text of the evidence, as it came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Text {
    /// `message`, `detail`, `wrapper`, `echo`, `code`, `type` or `param`.
    pub kind: &'static str,
    /// The text, with what looks like a key cut out (J6).
    pub text: String,
}

/// A response header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Header {
    /// Its name, in lower case.
    pub name: String,
    /// Its value, if any rule looks at it.
    pub value: Option<String>,
}

/// A segment's kind as rules write it.
pub(super) fn kind_word(kind: SegmentKind) -> &'static str {
    match kind {
        SegmentKind::Message => "message",
        SegmentKind::Detail => "detail",
        SegmentKind::Wrapper => "wrapper",
        SegmentKind::Echo => "echo",
        SegmentKind::Code => "code",
        SegmentKind::Type => "type",
        SegmentKind::Param => "param",
    }
}

pub(super) fn findings(table: &Table, signal: &SignalRef<'_>, evidence: &Evidence) -> Findings {
    let named = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    let family = table.family(&evidence.provider);
    Findings {
        provider: named(&evidence.provider),
        family: (family != evidence.provider.as_str()).then(|| family.into_owned()),
        model: named(&evidence.model),
        status: evidence.status,
        status_from: evidence
            .status
            .map(|status| if signal.status == Some(status) { "host" } else { "text" }),
        statuses: evidence.statuses.clone(),
        leading_number: evidence.leading_number,
        texts: evidence
            .segments
            .iter()
            .map(|segment| Text {
                kind: kind_word(segment.kind),
                text: mask(evidence.original.get(segment.original.clone()).unwrap_or_default()),
            })
            .collect(),
        body: evidence.body.word(),
        aborted: evidence.aborted.map(Aborted::word),
        headers: evidence
            .headers
            .iter()
            .map(|(name, value)| Header {
                name: name.clone(),
                value: looked_at(table.ruleset(), name).then(|| value.clone()),
            })
            .collect(),
        cut: evidence.cut,
        too_deep: evidence.too_deep,
    }
}

/// Whether any rule or reset declaration reads this header.
fn looked_at(rules: &Ruleset, name: &str) -> bool {
    let conds = rules.rules.iter().map(|rule| &rule.when);
    let conds = conds.chain(rules.blocks.iter().map(|block| &block.guard));
    let mut conds = conds.chain(rules.lets.iter().map(|named| &named.cond));
    let place = |from: &ResetPlace| matches!(from, ResetPlace::Header(wanted) if super::super::find::glob(wanted, name));
    rules.resets.iter().any(|reset| place(&reset.from)) || conds.any(|cond| reads(cond, name))
}

fn reads(cond: &Cond, name: &str) -> bool {
    match cond {
        Cond::Always | Cond::Let(..) => false,
        Cond::All(parts) | Cond::Any(parts) => parts.iter().any(|part| reads(part, name)),
        Cond::Not(inner) => reads(inner, name),
        Cond::Test(test) => matches!(&test.field, Field::Header(wanted) if wanted == name),
    }
}
