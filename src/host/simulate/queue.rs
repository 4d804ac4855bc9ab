//! What ends when: calls and pauses, by virtual time, first come first served within an instant.

use std::{cmp::Reverse, collections::BinaryHeap};

use crate::time::Timestamp;

/// Appointments of runs in flight.
#[derive(Debug, Default)]
pub(super) struct Queue {
    heap: BinaryHeap<Reverse<(Timestamp, u64, Appointment)>>,
    made: u64,
}

/// A run that goes on at a time. It is void when the run has gone on before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Appointment {
    /// Where the run is kept.
    pub place: usize,
    /// Which call or pause of which run it is about.
    pub ticket: u64,
}

impl Queue {
    /// Makes an appointment; its ticket.
    pub fn make(&mut self, at: Timestamp, place: usize) -> u64 {
        self.made += 1;
        self.heap.push(Reverse((at, self.made, Appointment { place, ticket: self.made })));
        self.made
    }

    /// When the next one is.
    pub fn next_at(&self) -> Option<Timestamp> {
        self.heap.peek().map(|Reverse((at, ..))| *at)
    }

    /// Takes the next one.
    pub fn pop(&mut self) -> Option<(Timestamp, Appointment)> {
        self.heap.pop().map(|Reverse((at, _, appointment))| (at, appointment))
    }
}
