//! The run itself.

use std::sync::Arc;

use super::{
    memory::Memory,
    request::{Request, Routing},
    step::{Interrupt, OutOfTurn, Report, Step},
};
use crate::{state::view::View, table::Table, time::Timestamp};

/// One turn, driven step by step. Dropped at any time, it leaves the store as after its last
/// [`Step::Persist`].
#[derive(Debug)]
pub struct Run {
    _request: Request,
    _table: Arc<Table>,
    _routing: Arc<Routing>,
    _seed: u64,
}

impl Run {
    /// A run that has not begun. Call [`Run::next`]. The same seed, reports and views give the same
    /// steps; the seed only matters to schedules with jitter.
    #[must_use]
    pub fn new(request: Request, table: Arc<Table>, routing: Arc<Routing>, seed: u64) -> Self {
        Self { _request: request, _table: table, _routing: routing, _seed: seed }
    }

    /// The next step. `view` is a fresh snapshot with this run's session; after a
    /// [`Step::Persist`], the one that came back with it. `memory` is the engine's.
    ///
    /// Then: [`Run::report`] what came of it, but for [`Step::Notify`] and [`Step::Event`], after
    /// which `next` comes again, and the ends, after which nothing does.
    ///
    /// # Errors
    /// [`OutOfTurn::ReportFirst`] while a step waits for its report (but see [`Run::interrupt`]),
    /// [`OutOfTurn::Ended`] after an end.
    pub fn next(&mut self, now: Timestamp, view: &View, memory: &mut Memory) -> Result<Step, OutOfTurn> {
        let _ = (now, view, memory);
        Err(OutOfTurn::Ended)
    }

    /// What came of the last step. Then: [`Run::next`].
    ///
    /// # Errors
    /// [`OutOfTurn::NothingToReport`] when no step waits, [`OutOfTurn::OtherReport`] when it waits for
    /// another report, [`OutOfTurn::Ended`] after an end.
    pub fn report(&mut self, report: Report) -> Result<(), OutOfTurn> {
        drop(report);
        Err(OutOfTurn::Ended)
    }

    /// Something happened outside. When an attempt or a wait is under way, cut it off (or let it
    /// end and report it: an answer that has come still counts). Then: [`Run::next`], without a
    /// report for what was cut off. While a [`Step::Persist`] is under way, report it first.
    ///
    /// # Errors
    /// [`OutOfTurn::Ended`] after an end.
    pub fn interrupt(&mut self, interrupt: Interrupt) -> Result<(), OutOfTurn> {
        drop(interrupt);
        Err(OutOfTurn::Ended)
    }
}
