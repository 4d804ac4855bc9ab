//! What the command line sees of the world: terminals, clock, environment.

use std::io::{IsTerminal as _, Write as _};

use crate::time::Timestamp;

/// Looked at once, before any command runs.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "one for each thing that may be a terminal")]
pub(super) struct World {
    /// Results go to a person.
    pub(super) stdout_terminal: bool,
    /// Remarks go to a person.
    pub(super) stderr_terminal: bool,
    /// Input would be typed.
    pub(super) stdin_terminal: bool,
    /// `NO_COLOR` is set, or the terminal knows no colours.
    no_colour: bool,
    /// Columns of the terminal.
    pub(super) width: usize,
}

#[expect(clippy::unused_self, reason = "clock, environment and stderr are parts of the world")]
impl World {
    /// The process's own.
    pub(super) fn real() -> Self {
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self {
            stdout_terminal: std::io::stdout().is_terminal(),
            stderr_terminal: std::io::stderr().is_terminal(),
            stdin_terminal: std::io::stdin().is_terminal(),
            no_colour: set("NO_COLOR") || dumb,
            width: terminal_size::terminal_size().map_or(100, |(width, _)| usize::from(width.0).max(40)),
        }
    }

    /// Whether results may be coloured.
    pub(super) fn stdout_colour(&self) -> bool {
        self.stdout_terminal && !self.no_colour
    }

    /// Whether remarks may be coloured.
    pub(super) fn stderr_colour(&self) -> bool {
        self.stderr_terminal && !self.no_colour
    }

    /// The clock.
    #[expect(clippy::disallowed_methods, reason = "the command line is where the clock enters")]
    pub(super) fn now(&self) -> Timestamp {
        Timestamp::from_millis(jiff::Timestamp::now().as_millisecond())
    }

    /// An environment variable that is UTF-8.
    #[expect(clippy::disallowed_methods, reason = "the command line is where the environment enters")]
    pub(super) fn env(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    /// A remark on stderr, a line of its own. The text must be fit for a terminal already.
    pub(super) fn say(&self, text: &str) {
        // A closed stderr is no reason to stop.
        let _ = writeln!(std::io::stderr().lock(), "{text}");
    }
}
