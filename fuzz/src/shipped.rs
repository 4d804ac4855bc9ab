//! The shipped rules, loaded once.

use std::sync::{Arc, OnceLock};

use pointsman::{
    lang::{load, tree::Ruleset},
    table::{NoSettings, Table},
};

/// The table of the shipped rules.
pub fn table() -> &'static Arc<Table> {
    static TABLE: OnceLock<Arc<Table>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let (rules, _) = load::shipped_to_judge().expect("the shipped rules load");
        Arc::new(Table::compile(rules, &NoSettings).expect("the shipped rules compile"))
    })
}

/// The shipped policy without the rules that tell errors apart: quick to compile again.
pub fn policy() -> &'static Ruleset {
    static POLICY: OnceLock<Ruleset> = OnceLock::new();
    POLICY.get_or_init(|| {
        let mut rules = table().ruleset().clone();
        rules.rules.clear();
        rules
    })
}
