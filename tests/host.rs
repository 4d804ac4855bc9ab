//! The tokio runner: whole turns, deadlines, interrupts, dropped futures, a store that fails (A, C8,
//! D9, D11, F2, H4, H5, H6).

mod cancel;
mod crowd;
mod errors;
mod keys;
mod refresh;
mod support;
mod troubles;
mod turns;
