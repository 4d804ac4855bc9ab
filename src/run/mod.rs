//! The interpreter: rotation, fallback, pins, probes, overrides, notices, driven by the rules.
//!
//! Sans-IO: a [`Run`] says what to do next ([`Step`]) and is told what came of it ([`Report`]); it
//! has no clock, no lock, no thread and no I/O. It knows buckets by their traits and reactions only.

mod answer;
mod begin;
mod budget;
mod chain;
mod choose;
mod end;
mod event;
mod fail;
mod left_out;
mod machine;
mod memory;
mod notice;
mod overrides;
mod pin;
mod preview;
mod probe;
mod request;
mod rotate;
mod routing;
mod seats;
pub mod session;
mod source;
mod step;
mod summary;
mod switch;
mod window;

pub use chain::chain;
pub use event::{Cleared, Decision, DecisionType, Event, FinalOutcome};
pub use machine::Run;
pub use memory::Memory;
pub use notice::{Delivery, Notice, NoticeKind};
pub use request::{AgentRouting, Choice, Kind, ModelList, Request, Routing};
pub use source::{Place, Selected, select};
pub use step::{
    Attempt, Done, Expected, Failed, Interrupt, OutOfTurn, Persisted, Probe, Refreshed, Report, Step, Surface,
};
pub use summary::{ExhaustedReason, LeftOut, Record, Skip, SkipReason, Summary, redact_profile};
