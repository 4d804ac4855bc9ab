//! Regular expressions, each built when its required literal is first hit.

use std::sync::{Arc, OnceLock};

use foldhash::HashMap;
use regex_automata::meta;

use super::{TableError, ask::ExprId};
use crate::lang::{pattern::Pattern, tree::Regex};

/// Most bytes that one built expression may take.
const SIZE_LIMIT: usize = 4 << 20;

/// One expression, alone: expressions built together slow each other down.
#[derive(Debug)]
pub(crate) struct Expr {
    pattern: Arc<Pattern>,
    /// Searched in the original text instead of the folded one.
    pub(crate) case_sensitive: bool,
    built: OnceLock<Option<meta::Regex>>,
}

impl Expr {
    /// Every match contains one literal of each set, in the normal form of the scan.
    pub(crate) fn literals(&self) -> &[Vec<String>] {
        &self.pattern.literals
    }

    /// Whether it is found in a text, given folded and as it came. Its place costs extra: `get`.
    pub(crate) fn is_in(&self, folded: &str, original: &str) -> bool {
        let text = if self.case_sensitive { original } else { folded };
        self.get().is_some_and(|built| built.is_match(text))
    }

    /// The built expression; `None` when it is too large, and then it matches nothing.
    pub(crate) fn get(&self) -> Option<&meta::Regex> {
        self.built
            .get_or_init(|| {
                let config =
                    meta::Config::new().nfa_size_limit(Some(SIZE_LIMIT)).hybrid_cache_capacity(1 << 20);
                meta::Builder::new().configure(config).build_from_hir(&self.pattern.hir).ok()
            })
            .as_ref()
    }
}

/// All expressions of a table.
#[derive(Debug, Default)]
pub(crate) struct Exprs {
    all: Vec<Arc<Expr>>,
    ids: HashMap<(String, bool), ExprId>,
}

impl Exprs {
    /// Parses an expression, unless it is known already.
    pub(super) fn add(&mut self, regex: &Regex) -> Result<ExprId, TableError> {
        let key = (regex.pattern.clone(), regex.case_sensitive);
        if let Some(id) = self.ids.get(&key) {
            return Ok(*id);
        }
        let parsed = regex
            .parse()
            .map_err(|error| TableError::Regex { pattern: regex.pattern.clone(), message: error.message })?;
        let id = ExprId(u32::try_from(self.all.len()).unwrap_or(u32::MAX));
        let case_sensitive = regex.case_sensitive;
        self.all.push(Arc::new(Expr { pattern: parsed, case_sensitive, built: OnceLock::new() }));
        self.ids.insert(key, id);
        Ok(id)
    }

    /// The id of an expression of the rules.
    pub(crate) fn id(&self, regex: &Regex) -> Option<ExprId> {
        self.ids.get(&(regex.pattern.clone(), regex.case_sensitive)).copied()
    }

    pub(crate) fn get(&self, id: ExprId) -> Option<&Expr> {
        self.all.get(id.0 as usize).map(Arc::as_ref)
    }

    /// Takes over the expressions of another table that are the same, built or not, with the memory that
    /// they search in.
    pub(super) fn take_over(&mut self, other: &Self) {
        for (key, id) in &self.ids {
            let known = other.ids.get(key).and_then(|id| other.all.get(id.0 as usize));
            if let (Some(known), Some(own)) = (known, self.all.get_mut(id.0 as usize)) {
                own.clone_from(known);
            }
        }
    }

    /// Builds every expression (before a reload swaps tables).
    pub(super) fn warm(&self) {
        for expr in &self.all {
            expr.get();
        }
    }
}
