//! A host's error → bounded, normalised evidence. Knows nothing of policy.

mod evidence;
mod input;

pub use evidence::{Body, Evidence, Scalar, Segment, SegmentKind};
pub use input::{Aborted, Signal, SignalRef};
