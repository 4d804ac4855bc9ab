//! Figures beside their limits. A bench that missed one ends with exit code 1.

use std::process::ExitCode;

/// What has been measured so far.
#[derive(Default)]
pub struct Limits {
    missed: usize,
}

impl Limits {
    /// A figure that must not be above its limit.
    #[allow(dead_code, reason = "not every bench has a limit of each side")]
    pub fn at_most(&mut self, what: &str, figure: f64, limit: f64) {
        self.line(what, figure, "≤", limit, figure <= limit);
    }

    /// A figure that must not be below its limit.
    #[allow(dead_code, reason = "not every bench has a limit of each side")]
    pub fn at_least(&mut self, what: &str, figure: f64, limit: f64) {
        self.line(what, figure, "≥", limit, figure >= limit);
    }

    fn line(&mut self, what: &str, figure: f64, side: &str, limit: f64, holds: bool) {
        self.missed += usize::from(!holds);
        let mark = if holds { "holds" } else { "MISSED" };
        println!("{what:44} {figure:10.2}  {side} {limit:<5} {mark}");
    }

    /// The exit code of the bench.
    pub fn end(self) -> ExitCode {
        ExitCode::from(u8::from(self.missed > 0))
    }
}
