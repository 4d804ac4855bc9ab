//! P07xx: order, and what is probably not meant.

use super::codes;

codes! {
    OTHERWISE_NOT_LAST = "P0701" Error "`otherwise` is not last";
    CLOSED = "P0702" Warning "rules below a `use` that closed the list";
    COVERED_RULE = "P0703" Warning "a rule that an earlier one covers";
    EXAMPLE_LOST = "P0704" Warning "an example that another rule wins";
    COVERED_PHRASE = "P0705" Warning "a phrase that another of its list covers";
    UNUSED = "P0706" Warning "something declared and never used";
    NO_EXAMPLE = "P0707" Warning "a rule without an example";
    PLAIN_REGEX = "P0708" Warning "a regular expression that is a plain phrase";
    NUMBER_PHRASE = "P0709" Warning "a number as a phrase";
    COMMON_WORD = "P0710" Warning "a phrase of one common word";
    LONG_PHRASE = "P0711" Warning "a phrase of more than 60 characters";
    CONTAINS = "P0712" Warning "`contains` looks inside words";
    ALWAYS = "P0713" Warning "a regular expression that always runs";
    NOT_DEFAULT = "P0714" Warning "the shipped rules are not in force";
    UNUSED_ALLOW = "P0715" Warning "a suppression that applies to nothing";
    UNKNOWN_ALLOW = "P0716" Warning "a suppression of something that cannot be suppressed";
    TEST_FAILED = "P0717" Error "a test that came out otherwise";
}
