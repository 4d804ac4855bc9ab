//! What lifting works on and what it makes.

use std::ops::Range;

use super::evidence::{Body, Scalar};

/// JSON containers inside one another that are opened.
pub(super) const DEPTH: usize = 8;
/// Strings inside strings that are opened.
pub(super) const STRINGS: u8 = 8;
/// Bounds on what one error can make, far above any real one.
pub(super) const MOST_FOUND: usize = 512;
pub(super) const MOST_JOBS: usize = 128;
pub(super) const MOST_SCALARS: usize = 256;
pub(super) const LONGEST_SCALAR: usize = 256;

/// What a found stretch is, before the innermost message is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Find {
    /// Text of a job outside its payloads.
    Prose,
    Message,
    Detail,
    Echo,
    Code,
    Type,
    Param,
}

/// A stretch of the source.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) find: Find,
    /// Levels of nesting above it: what is outside counts first.
    pub(super) depth: u8,
    pub(super) range: Range<usize>,
    /// The job it was found in.
    pub(super) job: usize,
}

/// Where a found stretch stands in the evidence: by kind, then by depth, then as it was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank(u32);

impl Rank {
    /// The rank of what was found `at`, less than [`MOST_FOUND`].
    pub(super) fn new(kind: u8, depth: u8, at: usize) -> Self {
        Self(
            u32::from(kind) << 24 | u32::from(depth) << 16 | u32::from(u16::try_from(at).unwrap_or(u16::MAX)),
        )
    }

    pub(super) fn kind(self) -> usize {
        (self.0 >> 24) as usize
    }

    pub(super) fn at(self) -> usize {
        (self.0 & 0xffff) as usize
    }
}

/// What the prose of a job is when its payloads hold no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    Message,
    Detail,
    /// Nothing.
    None,
}

/// A text in which payloads may lie.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) range: Range<usize>,
    pub(super) depth: u8,
    pub(super) strings: u8,
    pub(super) weight: Weight,
    /// Given by the host as a detail: nothing in it is the message.
    pub(super) detail: bool,
    pub(super) parent: Option<usize>,
    /// A payload in it held a text.
    pub(super) lifted: bool,
}

impl Job {
    /// A text as the host gave it.
    pub(super) fn given(range: Range<usize>, detail: bool) -> Self {
        let weight = if detail { Weight::Detail } else { Weight::Message };
        Self { range, depth: 0, strings: 0, weight, detail, parent: None, lifted: false }
    }
}

/// All that lifting makes; lives in the evidence, so that its buffers are used again.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    pub(super) found: Vec<Found>,
    pub(super) jobs: Vec<Job>,
    pub(super) statuses: Vec<(u8, u16)>,
    pub(super) scalars: Vec<Scalar>,
    pub(super) decoded: String,
    /// What was found, in the order of the evidence.
    pub(super) order: Vec<Rank>,
    pub(super) title: String,
    pub(super) visible: String,
    pub(super) leading: Option<u32>,
    pub(super) body: Body,
    pub(super) too_deep: bool,
    pub(super) cut: bool,
}

impl Scratch {
    pub(super) fn clear(&mut self) {
        self.found.clear();
        self.jobs.clear();
        self.statuses.clear();
        self.scalars.clear();
        self.decoded.clear();
        self.order.clear();
        self.leading = None;
        self.body = Body::Text;
        self.too_deep = false;
        self.cut = false;
    }

    /// Notes a stretch.
    pub(super) fn push(&mut self, found: Found) {
        if self.found.len() < MOST_FOUND {
            self.found.push(found);
        } else {
            self.cut = true;
        }
    }

    /// Notes a status.
    pub(super) fn status(&mut self, depth: u8, status: u16) {
        if self.statuses.len() < MOST_FOUND {
            self.statuses.push((depth, status));
        }
    }
}
