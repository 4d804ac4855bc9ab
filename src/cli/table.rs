//! A table for people: columns as wide as their content, rows printed as they come.

use std::io::{self, Write};

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// A cell: its text, already fit for a terminal, and how it stands out.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    pub(super) text: String,
    pub(super) style: Style,
}

impl Cell {
    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), style: Style::Plain }
    }

    pub(super) fn styled(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style }
    }
}

/// How a cell stands out on a terminal with colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Style {
    #[default]
    Plain,
    Bold,
    Dim,
    Warn,
    Bad,
    Good,
}

impl Style {
    /// Writes `text` in this style.
    pub(super) fn paint(self, text: &str, colour: bool) -> String {
        let code = match self {
            _ if !colour => return text.to_owned(),
            Self::Plain => return text.to_owned(),
            Self::Bold => 1,
            Self::Dim => 2,
            Self::Bad => 31,
            Self::Good => 32,
            Self::Warn => 33,
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

/// Rows collected before their columns are measured; a long list is printed in such portions.
const PORTION: usize = 200;

/// Prints rows of as many cells as the head has. The last column takes what width is left.
pub(super) struct Table {
    rows: Vec<Vec<Cell>>,
    widths: Vec<usize>,
    width: usize,
    colour: bool,
}

impl Table {
    /// A table of at most `width` columns of the terminal.
    pub(super) fn new(head: &[&str], width: usize, colour: bool) -> Self {
        let head = head.iter().map(|title| Cell::styled(*title, Style::Bold)).collect();
        Self { rows: vec![head], widths: Vec::new(), width, colour }
    }

    /// Adds a row, and prints what has been collected when it is enough.
    pub(super) fn row(&mut self, cells: Vec<Cell>, out: &mut dyn Write) -> io::Result<()> {
        self.rows.push(cells);
        if self.rows.len() > PORTION { self.flush(out) } else { Ok(()) }
    }

    /// Prints what has been collected; the head waits for a first row.
    pub(super) fn flush(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.widths.is_empty() && self.rows.len() < 2 {
            return Ok(());
        }
        for row in &self.rows {
            self.widths.resize(self.widths.len().max(row.len()), 0);
            for (width, cell) in self.widths.iter_mut().zip(row) {
                *width = (*width).max(cell.text.width());
            }
        }
        for row in self.rows.drain(..) {
            let mut line = String::new();
            let mut column = 0;
            let last = row.len().saturating_sub(1);
            for (i, (cell, width)) in row.iter().zip(&self.widths).enumerate() {
                let text = if i == last {
                    clip(&cell.text, self.width.saturating_sub(column).max(16))
                } else {
                    cell.text.clone()
                };
                line += &cell.style.paint(&text, self.colour);
                if i < last {
                    line += &" ".repeat(width.saturating_sub(text.width()) + 2);
                    column += width.max(&text.width()) + 2;
                }
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// The head of a text that fits into `width` columns, `…` at the end when it was cut.
pub(super) fn clip(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut taken = 0;
    let mut out: String = text
        .chars()
        .take_while(|c| {
            taken += c.width().unwrap_or(0);
            taken < width
        })
        .collect();
    out.push('…');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_also_in_wide_scripts() {
        let mut table = Table::new(&["id", "text"], 20, false);
        let mut out = Vec::new();
        table.row(vec![Cell::plain("余额"), Cell::plain("abc")], &mut out).unwrap();
        table.row(vec![Cell::plain("a"), Cell::plain("a text that is too long")], &mut out).unwrap();
        table.flush(&mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "id    text\n余额  abc\na     a text that is …\n");
    }

    #[test]
    fn clipping_counts_columns() {
        assert_eq!(clip("余额不足", 5), "余额…");
        assert_eq!(clip("abc", 3), "abc");
    }
}
