//! A host's error → bounded, normalised evidence. Knows nothing of policy.

mod bytes;
mod evidence;
mod fold;
mod html;
mod input;
mod keys;
mod lift;
mod mask;
mod named;
mod normalise;
mod payload;
mod scratch;
mod stable;
mod status;
mod string;
mod swar;
mod words;

pub use evidence::{Body, Buffers, Evidence, Scalar, Segment, SegmentKind};
pub(crate) use fold::fold_into;
pub use input::{Aborted, Headers, Signal, SignalRef, Texts};
pub(crate) use mask::{is_hazard, mask};
pub use normalise::{Normaliser, TEXT_LIMIT};
pub(crate) use stable::places;
pub use stable::{fingerprint, stretches};
#[cfg(feature = "cli")]
pub(crate) use string::unescape_into;
pub(crate) use words::{is_boilerplate, looks_like_id};
