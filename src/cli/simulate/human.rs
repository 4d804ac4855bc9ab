//! A timeline for people.

use std::io::{self, Write};

use super::Printing;
use crate::{
    cli::world::World,
    host::simulate::{Line, Scenario, Turn, Watch},
};

pub(super) struct Timeline<'o> {
    out: &'o mut dyn Write,
}
impl<'o> Timeline<'o> {
    pub(super) fn new(_: &Scenario, _: &World, out: &'o mut dyn Write) -> Self {
        Self { out }
    }
}
impl Watch for Timeline<'_> {
    fn turn(&mut self, turn: &Turn) {
        let _ = writeln!(self.out, "{turn:?}");
    }
    fn line(&mut self, line: Line) {
        let _ = writeln!(self.out, "{line:?}");
    }
}
impl Printing for Timeline<'_> {
    fn watch(&mut self) -> &mut dyn Watch {
        self
    }
    fn end(&mut self) -> io::Result<()> {
        Ok(())
    }
}
