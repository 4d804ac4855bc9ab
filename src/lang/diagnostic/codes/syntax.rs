//! P01xx: what the parser finds.

use super::codes;

codes! {
    UNEXPECTED = "P0101" Error "something else is expected here";
    OPEN_STRING = "P0102" Error "a string without its closing quote";
    OPEN_REGEX = "P0103" Error "a regular expression without its closing slash";
    BAD_ESCAPE = "P0104" Error "an escape that strings do not know";
    UNBALANCED = "P0105" Error "a bracket without its partner";
    TOO_DEEP = "P0106" Error "brackets nested too deeply";
    STRAY_DOC = "P0107" Error "a doc comment that belongs to nothing";
    STRAY_ALLOW = "P0108" Error "an `allow` that belongs to nothing";
    MISPLACED = "P0109" Error "a statement in the wrong place";
    BAD_NAME = "P0110" Error "a name that cannot be one";
    BAD_NUMBER = "P0111" Error "a number or duration out of range";
    TWICE = "P0112" Error "a part given twice";
    MISSING_PART = "P0113" Error "a part is missing";
    NO_LANGUAGE = "P0114" Warning "the language version is left out";
    NEWER_LANGUAGE = "P0115" Error "a language version that this build does not know";
    BAD_TIME = "P0116" Error "not a point in time";
    BAD_CHARACTER = "P0117" Error "a character that cannot stand in a rule file";
    UNKNOWN_STATEMENT = "P0118" Error "no statement begins like this";
    UNKNOWN_FIELD = "P0119" Error "a field that errors do not have";
}
