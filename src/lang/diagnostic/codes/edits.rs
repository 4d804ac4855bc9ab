//! P05xx: edits of an overlay.

use super::codes;

codes! {
    UNKNOWN_TARGET = "P0501" Error "an edit of something that is not there";
    CONFLICTING = "P0502" Error "two edits of one thing";
}
