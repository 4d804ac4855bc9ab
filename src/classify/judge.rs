//! Evidence × table: which rules hold.

use super::{
    find::{find, glob},
    truths::Truths,
};
use crate::{
    lang::tree::{BucketId, Field, RuleId},
    signal::{Aborted, Evidence},
    table::{
        Table,
        ask::{self, Ask, Want},
        atom::{Atom, AtomId},
        exprs::Exprs,
        literals,
        program::Entry,
    },
};

/// One classification under way.
pub(super) struct Judge<'a> {
    pub(super) table: &'a Table,
    pub(super) evidence: &'a Evidence,
    truths: &'a mut Truths,
}

impl<'a> Judge<'a> {
    /// Scans the texts and gathers the rules worth a look.
    pub(super) fn begin(table: &'a Table, evidence: &'a Evidence, truths: &'a mut Truths) -> Self {
        let matcher = table.matcher();
        truths.prepare(matcher.atoms.len(), matcher.rules.len());
        let texts = evidence.folded.as_bytes();
        let Truths { known, candidates, letters, hits } = truths;
        literals::letters(&evidence.folded, letters);
        for segment in &evidence.segments {
            let (place, kind) = (segment.folded.clone(), ask::bit(segment.kind));
            matcher.literals.scan(letters, texts, place, kind, hits, |atom| known.set(atom, true));
        }
        let index = &matcher.index;
        let mut hold = |atoms: &[AtomId]| atoms.iter().for_each(|atom| known.set(*atom, true));
        if let Some(status) = evidence.status {
            hold(index.at_status(status));
        }
        for status in &evidence.statuses {
            hold(index.at_any_status(*status));
        }
        hold(index.of_body(evidence.body));
        if let Some(aborted) = evidence.aborted {
            hold(index.of_aborted(aborted));
        }
        hold(index.of_provider(&evidence.provider));
        for atom in known.atoms() {
            for rule in index.waiting(*atom) {
                candidates.add(*rule);
            }
        }
        for rule in &index.always {
            candidates.add(*rule);
        }
        let mut judge = Self { table, evidence, truths };
        for atom in &index.active {
            if judge.holds(*atom) {
                for rule in index.waiting(*atom) {
                    judge.truths.candidates.add(*rule);
                }
            }
        }
        judge
    }

    /// The first rule that decides; observed ones that hold before it go to `observed`.
    pub(super) fn decide(&mut self, observed: &mut Vec<RuleId>) -> Option<(RuleId, BucketId)> {
        while let Some(index) = self.truths.candidates.pop() {
            let id = RuleId(index);
            if !self.rule_holds(id) {
                continue;
            }
            let rule = self.table.rule(id);
            if !rule.observe {
                return Some((id, rule.bucket));
            }
            observed.push(id);
        }
        None
    }

    /// All candidates in order, up to the deciding rule.
    pub(super) fn candidates_up_to(&mut self, last: Option<RuleId>) -> Vec<RuleId> {
        let candidates = std::iter::from_fn(|| self.truths.candidates.pop().map(RuleId));
        candidates.take_while(|rule| last.is_none_or(|last| *rule <= last)).collect()
    }

    /// Whether a rule's condition and all its blocks' guards hold.
    pub(super) fn rule_holds(&mut self, rule: RuleId) -> bool {
        self.table.matcher().rules.get(rule.index()).is_some_and(|entry| self.run(*entry))
    }

    /// Runs a program.
    pub(super) fn run(&mut self, entry: Entry) -> bool {
        let table = self.table;
        table.matcher().code.run(entry, |atom| self.holds(atom))
    }

    /// The truth of an atom, found out if need be.
    #[inline]
    pub(super) fn holds(&mut self, atom: AtomId) -> bool {
        match self.truths.known.get(atom) {
            Some(truth) => truth,
            None => self.find_out(atom),
        }
    }

    fn find_out(&mut self, atom: AtomId) -> bool {
        let table = self.table;
        let matcher = table.matcher();
        let truth = match matcher.atoms.get(atom.index()) {
            // The scan is over: what it did not find is not there.
            Some(Atom::Scanned) | None => return false,
            Some(Atom::Expr { gates, mask, expr }) => {
                gates.iter().all(|gate| self.holds(*gate)) && {
                    let mut texts = texts(self.evidence, *mask);
                    let expr = matcher.exprs.get(*expr);
                    expr.is_some_and(|expr| texts.any(|(folded, original)| expr.is_in(folded, original)))
                }
            }
            Some(Atom::Direct(ask)) => direct(ask, self.evidence, table),
            Some(Atom::Derived(entry)) => self.run(*entry),
        };
        self.truths.known.set(atom, truth);
        truth
    }
}

/// The texts of these kinds: folded, and as they came.
pub(super) fn texts(evidence: &Evidence, mask: u8) -> impl Iterator<Item = (&str, &str)> {
    evidence.segments.iter().filter(move |segment| ask::bit(segment.kind) & mask != 0).map(|segment| {
        let folded = evidence.folded.get(segment.folded.clone()).unwrap_or("");
        (folded, evidence.original.get(segment.original.clone()).unwrap_or(""))
    })
}

/// Answers a question that the scan does not.
pub(super) fn direct(ask: &Ask, evidence: &Evidence, table: &Table) -> bool {
    let exprs = &table.matcher().exprs;
    match &ask.field {
        Field::Provider => id(&ask.want, &evidence.provider, exprs, |value| {
            glob(value, &evidence.provider)
                || !value.contains('*') && table.family(value) == table.family(&evidence.provider)
        }),
        Field::Model => id(&ask.want, &evidence.model, exprs, |value| glob(value, &evidence.model)),
        Field::Status => number(&ask.want, evidence.status.map(u32::from)),
        Field::AnyStatus => match &ask.want {
            Want::Absent => evidence.statuses.is_empty(),
            want => evidence.statuses.iter().any(|status| number(want, Some(u32::from(*status)))),
        },
        Field::LeadingNumber => number(&ask.want, evidence.leading_number),
        Field::Body => word(&ask.want, Some(evidence.body.word())),
        Field::Aborted => word(&ask.want, evidence.aborted.map(Aborted::word)),
        Field::Header(name) => {
            let mut values = evidence.headers.iter().filter(|(key, _)| key == name).map(|(_, value)| value);
            match &ask.want {
                Want::Present => values.next().is_some(),
                Want::Absent => values.next().is_none(),
                want => values.any(|value| find(want, &ask::fold(value), value, exprs).is_some()),
            }
        }
        Field::Text
        | Field::Message
        | Field::Detail
        | Field::Wrapper
        | Field::Echo
        | Field::Code
        | Field::Type
        | Field::Param => {
            let mask = ask::mask(&ask.field);
            let mut texts = texts(evidence, mask);
            match &ask.want {
                Want::Present => texts.any(|(folded, _)| !folded.is_empty()),
                Want::Absent => !texts.any(|(folded, _)| !folded.is_empty()),
                want => texts.any(|(folded, original)| find(want, folded, original, exprs).is_some()),
            }
        }
    }
}

fn id(want: &Want, text: &str, exprs: &Exprs, is: impl Fn(&str) -> bool) -> bool {
    match want {
        Want::Is(values) => !text.is_empty() && values.iter().any(|value| is(value)),
        Want::Present => !text.is_empty(),
        Want::Absent => text.is_empty(),
        want => find(want, text, text, exprs).is_some(),
    }
}

fn number(want: &Want, number: Option<u32>) -> bool {
    match want {
        Want::Number(ranges) => {
            number.is_some_and(|number| ranges.iter().any(|(first, last)| (*first..=*last).contains(&number)))
        }
        Want::Present => number.is_some(),
        Want::Absent => number.is_none(),
        _ => false,
    }
}

fn word(want: &Want, word: Option<&str>) -> bool {
    match want {
        Want::Is(values) => word.is_some_and(|word| values.iter().any(|value| value == word)),
        Want::Present => word.is_some(),
        Want::Absent => word.is_none(),
        _ => false,
    }
}
