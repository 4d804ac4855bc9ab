//! P08xx: what goes wrong before a file is parsed.

use super::codes;

codes! {
    UNREADABLE = "P0801" Error "a rule file that cannot be read";
    NOT_TEXT = "P0802" Error "a rule file that is not UTF-8";
    TOO_LARGE = "P0803" Error "a rule file that is too large";
    USED_TWICE = "P0804" Error "a file used twice";
    OUTSIDE_ROOT = "P0805" Error "a path that leads out of the rule folder";
    CYCLE = "P0806" Error "files that use each other in a circle";
    UNKNOWN_SET = "P0807" Error "a rule set that this build does not have";
    MISSING = "P0808" Error "a rule file that does not exist";
    FOLDER = "P0809" Error "a folder where a rule file is wanted";
}
