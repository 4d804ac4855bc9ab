//! P06xx: reactions and policy.

use super::codes;

codes! {
    NO_REACTION = "P0601" Error "a bucket without an `on`";
    REVERSED = "P0603" Error "bounds the wrong way round";
    ZERO = "P0604" Error "a duration of zero that makes a hot loop";
    SOURCE_CYCLE = "P0605" Error "sources that refer to each other in a circle";
    ZERO_COUNT = "P0606" Error "a count of zero where one is needed";
}
