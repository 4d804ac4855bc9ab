//! P03xx: values that do not fit.

use super::codes;

codes! {
    WRONG_QUESTION = "P0301" Error "a question that this field cannot answer";
    WRONG_VALUE = "P0302" Error "a value that this field never has";
    EMPTY_PHRASE = "P0303" Error "an empty phrase";
    SETTING_KIND = "P0305" Error "a setting of the wrong kind";
    UNIT = "P0306" Error "a unit that does not fit";
    EMPTY_LIST = "P0307" Error "a list without entries";
    LONG_TEXT = "P0308" Error "a phrase that is far too long";
}
