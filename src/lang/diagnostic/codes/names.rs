//! P02xx: names that mean nothing, or two things.

use super::codes;

codes! {
    UNKNOWN_LET = "P0201" Error "a condition that no `let` declares";
    UNKNOWN_LIST = "P0202" Error "a list that nobody declares";
    UNKNOWN_BUCKET = "P0203" Error "a bucket that nobody declares";
    UNKNOWN_SETTING = "P0204" Error "a setting that nobody declares";
    UNKNOWN_BACKOFF = "P0205" Error "a schedule that nobody declares";
    UNKNOWN_RULE = "P0206" Error "a test expects a rule that does not exist";
    DUPLICATE = "P0207" Error "a name declared twice";
    LET_CYCLE = "P0208" Error "conditions that refer to each other in a circle";
    BLOCK_NAME = "P0209" Error "a provider block without a name";
    LET_DEPTH = "P0210" Error "conditions that build on each other too deeply";
}
