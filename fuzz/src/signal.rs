//! `crate::signal` for the included sources: the public part, and what only the crate sees.

#[path = "../../src/signal/mask.rs"]
mod mask;
#[path = "../../src/signal/named.rs"]
mod named;
#[allow(dead_code, reason = "only unescaping is used of it")]
#[path = "../../src/signal/string.rs"]
mod string;
#[allow(dead_code, reason = "as much as `string` uses of it")]
#[path = "../../src/signal/swar.rs"]
mod swar;

pub(crate) use mask::{is_hazard, mask};
pub use pointsman::signal::*;
pub(crate) use string::unescape_into;
