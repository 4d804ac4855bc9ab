//! P04xx: regular expressions.

use super::codes;

codes! {
    BAD_REGEX = "P0401" Error "a regular expression that cannot be read";
    REGEX_TOO_LARGE = "P0402" Error "a regular expression that is too large";
    NO_LITERAL = "P0403" Error "a regular expression without a literal";
    NO_TIME_GROUP = "P0404" Error "a reset expression without its group";
}
