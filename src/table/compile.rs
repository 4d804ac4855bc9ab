//! Rules → atoms, programs and the index of rules.

use std::rc::Rc;

use foldhash::{HashMap, HashSet};

use super::{
    TableError,
    ask::{Ask, ExprId, Want, mask},
    atom::{Atom, AtomId},
    exprs::Exprs,
    hash::Names,
    index::{Clause, Index, IndexBuilder},
    literals::{Check, Literals, LiteralsBuilder},
    program::{Code, Entry, Step},
};
use crate::lang::tree::{BlockId, Cond, Field, LetId, Op, ResetPlace, Ruleset, Test};

/// Everything that classification reads.
#[derive(Debug)]
pub(crate) struct Matcher {
    pub(crate) literals: Literals,
    pub(crate) exprs: Exprs,
    pub(crate) atoms: Vec<Atom>,
    pub(crate) code: Code,
    /// The program of every rule, its blocks' guards included.
    pub(crate) rules: Vec<Entry>,
    pub(crate) index: Index,
    pub(crate) resets: Vec<ResetProgram>,
}

/// A reset declaration, ready to run.
#[derive(Debug)]
pub(crate) struct ResetProgram {
    pub(crate) when: Entry,
    /// The expression of a place in the texts, and the atoms that open it.
    pub(crate) expr: Option<(ExprId, Vec<AtomId>)>,
}

/// Compiles a checked rule set. `family` gives the family of a provider (folded).
pub(super) fn compile(rules: &Ruleset, families: &Names<String>) -> Result<Matcher, TableError> {
    let mut builder = Builder {
        rules,
        atoms: Vec::new(),
        asks: HashMap::default(),
        tests: HashMap::default(),
        gates: HashMap::default(),
        code: Code::default(),
        literals: LiteralsBuilder::default(),
        exprs: Exprs::default(),
        lets: vec![None; rules.lets.len()],
        blocks: Vec::with_capacity(rules.blocks.len()),
        failed: None,
    };
    for block in &rules.blocks {
        let parent = block.parent.and_then(|parent| builder.block(parent));
        let entry = builder.guarded(parent, &block.guard);
        let atom = builder.atom(Atom::Derived(entry));
        builder.blocks.push(atom);
    }
    let mut programs = Vec::with_capacity(rules.rules.len());
    for rule in &rules.rules {
        let guard = rule.block.and_then(|block| builder.block(block));
        programs.push(builder.guarded(guard, &rule.when));
    }
    let mut resets: Vec<_> =
        rules.resets.iter().map(|reset| builder.reset(&reset.from, &reset.when)).collect();
    if let Some(error) = builder.failed {
        return Err(error);
    }
    let frequencies = builder.literals.frequencies(builder.atoms.len());
    builder.keep_rare_gates(&mut resets, &frequencies);
    let clauses = Clauses {
        rules,
        atoms: &builder.atoms,
        tests: &builder.tests,
        frequencies: &frequencies,
        lets: vec![None; rules.lets.len()],
    };
    let index = IndexBuilder { atoms: &builder.atoms, families }.build(&clauses.of_rules());
    Ok(Matcher {
        literals: builder.literals.build(),
        exprs: builder.exprs,
        atoms: builder.atoms,
        code: builder.code,
        rules: programs,
        index,
        resets,
    })
}

/// Atoms of tests, which are told apart by where they stand, and what each costs to wait for if the scan
/// does not set it.
type Tests = HashMap<*const Test, Rc<[(AtomId, u32)]>>;

struct Builder<'a> {
    rules: &'a Ruleset,
    atoms: Vec<Atom>,
    asks: HashMap<Ask, AtomId>,
    /// The atoms that must all be true for a test to hold, by where it stands.
    tests: Tests,
    /// Atoms of sets of required literals in some kinds of text.
    gates: HashMap<(Vec<String>, u8), AtomId>,
    code: Code,
    literals: LiteralsBuilder,
    exprs: Exprs,
    lets: Vec<Option<AtomId>>,
    blocks: Vec<AtomId>,
    failed: Option<TableError>,
}

impl<'a> Builder<'a> {
    fn atom(&mut self, atom: Atom) -> AtomId {
        self.atoms.push(atom);
        AtomId(u32::try_from(self.atoms.len() - 1).unwrap_or(u32::MAX))
    }

    fn block(&self, id: BlockId) -> Option<AtomId> {
        self.blocks.get(id.index()).copied()
    }

    fn guarded(&mut self, guard: Option<AtomId>, cond: &'a Cond) -> Entry {
        let entry = self.emit(cond, Entry::YES, Entry::NO);
        match guard {
            Some(atom) => self.code.push(Step { atom, yes: entry, no: Entry::NO }),
            None => entry,
        }
    }

    /// Writes the code of `cond`, which goes on at `yes` or `no`.
    fn emit(&mut self, cond: &'a Cond, yes: Entry, no: Entry) -> Entry {
        match cond {
            Cond::Always => yes,
            Cond::Not(inner) => self.emit(inner, no, yes),
            Cond::All(parts) => {
                self.cheap_first(parts).into_iter().rev().fold(yes, |yes, part| self.emit(part, yes, no))
            }
            Cond::Any(parts) => {
                self.cheap_first(parts).into_iter().rev().fold(no, |no, part| self.emit(part, yes, no))
            }
            Cond::Let(id, _) => match self.named(*id) {
                Some(atom) => self.code.push(Step { atom, yes, no }),
                None => no,
            },
            Cond::Test(test) => {
                let atoms = self.atoms_of(test);
                atoms.iter().rev().fold(yes, |yes, (atom, _)| self.code.push(Step { atom: *atom, yes, no }))
            }
        }
    }

    /// Parts that may run a regular expression come last; truth does not depend on order.
    fn cheap_first<'c>(&self, parts: &'c [Cond]) -> Vec<&'c Cond> {
        let mut sorted: Vec<&Cond> = parts.iter().collect();
        sorted.sort_by_key(|part| runs_expr(part, self.rules, 0));
        sorted
    }

    fn named(&mut self, id: LetId) -> Option<AtomId> {
        if let Some(atom) = self.lets.get(id.index()).copied().flatten() {
            return Some(atom);
        }
        let rules = self.rules;
        let cond = &rules.lets.get(id.index())?.cond;
        // A name that speaks of itself, which the checker refuses, never holds.
        let atom = self.atom(Atom::Derived(Entry::NO));
        *self.lets.get_mut(id.index())? = Some(atom);
        let entry = self.emit(cond, Entry::YES, Entry::NO);
        *self.atoms.get_mut(atom.index())? = Atom::Derived(entry);
        Some(atom)
    }

    /// The atoms that must all be true for a test to hold, and what each costs to wait for.
    fn atoms_of(&mut self, test: &'a Test) -> Rc<[(AtomId, u32)]> {
        // A test is met twice, for its code and for its clause; where it stands tells it apart.
        let place = std::ptr::from_ref(test);
        if let Some(atoms) = self.tests.get(&place) {
            return Rc::clone(atoms);
        }
        let asks = self.asks_of(test);
        let atoms: Rc<[_]> = asks
            .into_iter()
            .map(|ask| (Clause::cost(&ask), ask))
            .map(|(cost, ask)| (self.atom_of(ask), cost))
            .collect();
        self.tests.insert(place, Rc::clone(&atoms));
        atoms
    }

    fn asks_of(&mut self, test: &Test) -> Vec<Ask> {
        let (exprs, failed) = (&mut self.exprs, &mut self.failed);
        Ask::of(test, self.rules, &mut |regex| {
            exprs.add(regex).unwrap_or_else(|error| {
                failed.get_or_insert(error);
                ExprId(u32::MAX)
            })
        })
    }

    fn atom_of(&mut self, ask: Ask) -> AtomId {
        if let Some(atom) = self.asks.get(&ask) {
            return *atom;
        }
        let mask = mask(&ask.field);
        let atom = match &ask.want {
            Want::Number(_) | Want::Present | Want::Absent => self.atom(Atom::Direct(ask.clone())),
            _ if mask == 0 => self.atom(Atom::Direct(ask.clone())),
            Want::Matches(expr) => {
                let gates = self.gates(*expr, mask);
                self.atom(Atom::Expr { gates, mask, expr: *expr })
            }
            Want::Is(values) => self.scanned(values, mask, Check::Whole),
            Want::Has(phrases) => self.scanned(phrases, mask, Check::Word),
            Want::Contains(part) => self.scanned(std::slice::from_ref(part), mask, Check::Raw),
            Want::Starts(prefix) => self.scanned(std::slice::from_ref(prefix), mask, Check::Prefix),
        };
        self.asks.insert(ask, atom);
        atom
    }

    fn scanned(&mut self, texts: &[String], mask: u8, check: Check) -> AtomId {
        let atom = self.atom(Atom::Scanned);
        for text in texts {
            self.literals.add(text, atom, mask, check);
        }
        atom
    }

    /// Atoms of the sets of an expression's required literals: any literal of a set makes its atom true.
    fn gates(&mut self, expr: ExprId, mask: u8) -> Vec<AtomId> {
        let sets = self.exprs.get(expr).map(|expr| expr.literals().to_vec()).unwrap_or_default();
        sets.into_iter().map(|set| self.gate(set, mask)).collect()
    }

    fn gate(&mut self, set: Vec<String>, mask: u8) -> AtomId {
        let key = (set, mask);
        if let Some(gate) = self.gates.get(&key) {
            return *gate;
        }
        let gate = self.scanned(&key.0, mask, Check::None);
        self.gates.insert(key, gate);
        gate
    }

    /// Of the gates of an expression, lets only those be that are rarest: a common one keeps few errors
    /// from it, and is itself found in many.
    fn keep_rare_gates(&mut self, resets: &mut [ResetProgram], frequencies: &[u32]) {
        let frequency = |gate: &AtomId| frequencies.get(gate.index()).copied().unwrap_or_default();
        let of_tests = self.atoms.iter_mut().filter_map(|atom| match atom {
            Atom::Expr { gates, .. } => Some(gates),
            _ => None,
        });
        let of_resets = resets.iter_mut().filter_map(|reset| reset.expr.as_mut().map(|(_, gates)| gates));
        let mut kept = HashSet::default();
        for gates in of_tests.chain(of_resets) {
            let least = gates.iter().map(frequency).min().unwrap_or_default();
            gates.retain(|gate| frequency(gate) <= least);
            kept.extend(gates.iter().copied());
        }
        self.literals.retain_gates(&kept);
    }

    fn reset(&mut self, from: &ResetPlace, when: &'a Cond) -> ResetProgram {
        let expr = match from {
            ResetPlace::Text(regex) => match self.exprs.add(regex) {
                Ok(expr) => Some((expr, self.gates(expr, mask(&Field::Text)))),
                Err(error) => {
                    self.failed.get_or_insert(error);
                    None
                }
            },
            ResetPlace::Header(_) | ResetPlace::Field(_) => None,
        };
        ResetProgram { when: self.emit(when, Entry::YES, Entry::NO), expr }
    }
}

/// Finds what every rule waits for.
struct Clauses<'a> {
    rules: &'a Ruleset,
    atoms: &'a [Atom],
    tests: &'a Tests,
    /// By atom that the scan sets: how many errors of a million are likely to hold it.
    frequencies: &'a [u32],
    lets: Vec<Option<Clause>>,
}

impl<'a> Clauses<'a> {
    fn of_rules(mut self) -> Vec<Clause> {
        let mut blocks: Vec<Clause> = Vec::with_capacity(self.rules.blocks.len());
        let rules = self.rules;
        let outer = |blocks: &[Clause], block: Option<BlockId>| {
            block.and_then(|block| blocks.get(block.index()).cloned()).unwrap_or(Clause::Always)
        };
        for block in &rules.blocks {
            let clause = self.of(&block.guard).or_narrower(outer(&blocks, block.parent));
            blocks.push(clause);
        }
        rules.rules.iter().map(|rule| self.of(&rule.when).or_narrower(outer(&blocks, rule.block))).collect()
    }

    /// Atoms one of which must be true for `cond` to hold.
    fn of(&mut self, cond: &'a Cond) -> Clause {
        match cond {
            Cond::Always | Cond::Not(_) => Clause::Always,
            Cond::All(parts) => {
                parts.iter().fold(Clause::Always, |best, part| best.or_narrower(self.of(part)))
            }
            Cond::Any(parts) => parts.iter().fold(Clause::never(), |all, part| all.and_also(self.of(part))),
            Cond::Let(id, _) => self.named(*id),
            Cond::Test(test) => {
                let atoms =
                    self.tests.get(&std::ptr::from_ref(test)).map(|atoms| &**atoms).unwrap_or_default();
                atoms.iter().fold(Clause::Always, |best, (atom, cost)| {
                    best.or_narrower(match self.atoms.get(atom.index()) {
                        Some(Atom::Expr { gates, .. }) => gates
                            .iter()
                            .fold(Clause::Always, |best, gate| best.or_narrower(self.scanned(*gate))),
                        Some(Atom::Scanned) => self.scanned(*atom),
                        Some(_) => Clause::one(*atom, *cost),
                        None => Clause::Always,
                    })
                })
            }
        }
    }

    fn scanned(&self, atom: AtomId) -> Clause {
        Clause::one(atom, self.frequencies.get(atom.index()).copied().unwrap_or_default())
    }

    fn named(&mut self, id: LetId) -> Clause {
        if let Some(clause) = self.lets.get(id.index()).cloned().flatten() {
            return clause;
        }
        let rules = self.rules;
        let Some(named) = rules.lets.get(id.index()) else { return Clause::Always };
        if let Some(slot) = self.lets.get_mut(id.index()) {
            *slot = Some(Clause::Always);
        }
        let clause = self.of(&named.cond);
        if let Some(slot) = self.lets.get_mut(id.index()) {
            *slot = Some(clause.clone());
        }
        clause
    }
}

/// Whether answering may run a regular expression. Deep nests of names count as if it did.
fn runs_expr(cond: &Cond, rules: &Ruleset, depth: u32) -> bool {
    match cond {
        Cond::Always => false,
        Cond::Not(inner) => runs_expr(inner, rules, depth),
        Cond::All(parts) | Cond::Any(parts) => parts.iter().any(|part| runs_expr(part, rules, depth)),
        Cond::Let(id, _) => {
            depth > 4
                || rules.lets.get(id.index()).is_none_or(|named| runs_expr(&named.cond, rules, depth + 1))
        }
        Cond::Test(test) => matches!(test.op, Op::Matches(_)),
    }
}
