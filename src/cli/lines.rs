//! Lines of any input in bounded memory.

use std::io::{self, Read};

/// The longest line that is held whole: 8 MiB. Of a longer one only this much is looked at.
pub(super) const LONGEST: usize = 8 * 1024 * 1024;

/// The first size of the buffer; it grows for longer lines only.
const CHUNK: usize = 256 * 1024;

/// A line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// Its number, from 1.
    pub(super) number: u64,
    /// Its bytes without the line break; only the head of a line longer than [`LONGEST`].
    pub(super) bytes: &'a [u8],
    /// Whether that is all of it.
    pub(super) whole: bool,
}

/// Why there is no next line.
#[derive(Debug)]
pub(super) enum Stop {
    /// The input cannot be read.
    Input(io::Error),
    /// What was to be done before a read failed.
    Hook(io::Error),
}

/// Reads lines through one buffer that never grows beyond [`LONGEST`] and a byte.
pub(super) struct Lines<R> {
    input: R,
    buffer: Vec<u8>,
    /// What has been read and not yet given out.
    start: usize,
    end: usize,
    longest: usize,
    /// The rest of an overlong line comes next.
    skipping: bool,
    done: bool,
    number: u64,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(input: R) -> Self {
        Self::with_sizes(input, CHUNK, LONGEST)
    }

    fn with_sizes(input: R, chunk: usize, longest: usize) -> Self {
        Self {
            input,
            buffer: vec![0; chunk],
            start: 0,
            end: 0,
            longest,
            skipping: false,
            done: false,
            number: 0,
        }
    }

    /// The next line; `before_read` is called before each read, which may block: the moment to
    /// hand on what has been made of the lines so far.
    pub(super) fn next(
        &mut self,
        mut before_read: impl FnMut() -> io::Result<()>,
    ) -> Result<Option<Line<'_>>, Stop> {
        while self.skipping {
            if let Some(at) = memchr::memchr(b'\n', self.pending()) {
                self.start += at + 1;
                self.skipping = false;
            } else {
                self.start = self.end;
                before_read().map_err(Stop::Hook)?;
                if !self.fill().map_err(Stop::Input)? {
                    return Ok(None);
                }
            }
        }
        let mut searched = 0;
        loop {
            let pending = self.pending();
            if let Some(at) = memchr::memchr(b'\n', pending.get(searched..).unwrap_or_default()) {
                let from = self.start;
                self.start += searched + at + 1;
                return Ok(Some(self.give(from, from + searched + at, true)));
            }
            searched = pending.len();
            if searched > self.longest {
                self.skipping = true;
                let from = self.start;
                self.start = from + self.longest;
                return Ok(Some(self.give(from, from + self.longest, false)));
            }
            before_read().map_err(Stop::Hook)?;
            if !self.fill().map_err(Stop::Input)? {
                if searched == 0 {
                    return Ok(None);
                }
                let (from, to) = (self.start, self.end);
                self.start = to;
                return Ok(Some(self.give(from, to, true)));
            }
        }
    }

    fn pending(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or_default()
    }

    /// Counts a line and gives it out, without a byte order mark and a carriage return.
    fn give(&mut self, from: usize, to: usize, whole: bool) -> Line<'_> {
        self.number += 1;
        let line = self.buffer.get(from..to).unwrap_or_default();
        let line = if self.number == 1 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
        Line { number: self.number, bytes: line.strip_suffix(b"\r").unwrap_or(line), whole }
    }

    /// Reads on behind what is pending; false at the end.
    fn fill(&mut self) -> io::Result<bool> {
        if self.done {
            return Ok(false);
        }
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.buffer.len() {
            // One byte more than the longest line shows that a line is longer.
            let size = (self.buffer.len() * 2).min(self.longest + 1);
            self.buffer.resize(size, 0);
        }
        loop {
            match self.input.read(self.buffer.get_mut(self.end..).unwrap_or_default()) {
                Ok(0) => {
                    self.done = true;
                    return Ok(false);
                }
                Ok(n) => {
                    self.end += n;
                    return Ok(true);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives out at most three bytes a read.
    struct Drip<'a>(&'a [u8]);

    impl Read for Drip<'_> {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            let n = self.0.len().min(3).min(buf.len());
            buf[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    fn all(input: &[u8], longest: usize) -> Vec<String> {
        let mut lines = Lines::with_sizes(Drip(input), 4, longest);
        let mut out = Vec::new();
        while let Some(line) = lines.next(|| Ok(())).unwrap() {
            assert_eq!(line.number, out.len() as u64 + 1);
            let text = String::from_utf8_lossy(line.bytes).into_owned();
            out.push(if line.whole { text } else { text + "…" });
            assert!(lines.buffer.len() <= longest.max(4) + 1);
        }
        out
    }

    #[test]
    fn lines_are_cut_at_breaks() {
        assert_eq!(all(b"one\r\n\ntwo three four\nfive", 100), ["one", "", "two three four", "five"]);
        assert_eq!(all(b"", 100), [""; 0]);
        assert_eq!(all(b"\n", 100), [""]);
        assert_eq!(all(b"\xef\xbb\xbfone\n\xef\xbb\xbftwo", 100), ["one", "\u{feff}two"]);
    }

    #[test]
    fn an_overlong_line_costs_its_head_only() {
        assert_eq!(all(b"abcdefghijklmnop\nxy\n0123456789", 8), ["abcdefgh…", "xy", "01234567…"]);
        assert_eq!(all(b"abcdefgh\nxy\n", 8), ["abcdefgh", "xy"], "just as long as allowed");
    }

    #[test]
    fn reading_is_announced() {
        let mut lines = Lines::with_sizes(&b"a\nb\n"[..], 16, 16);
        let mut reads = 0;
        while lines
            .next(|| {
                reads += 1;
                Ok(())
            })
            .unwrap()
            .is_some()
        {}
        assert_eq!(reads, 2, "one for both lines, one for the end");
    }
}
