//! A file as pictures of it need it: very long lines are cut down to what stands around the places,
//! so that a finding in a file of one long line is a picture and not the file.

use std::ops::Range;

use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};

/// Bytes of a line that are shown whole.
const LONG: usize = 400;
/// Bytes kept before and behind each end of a place in a longer one.
const AROUND: usize = 80;
/// What stands for what was left out.
const GAP: &str = "…";

/// A text with long lines cut, which knows where its places were.
#[derive(Debug)]
pub(super) struct Excerpt {
    name: String,
    text: String,
    /// New place, and the column (from 0) that it had.
    columns: Vec<(usize, usize)>,
}

/// A stretch that is kept, and where it begins now.
struct Kept {
    old: Range<usize>,
    new: usize,
}

impl Excerpt {
    /// Cuts `text`, and moves the places to where they are now.
    pub(super) fn new(name: &str, text: &str, places: &mut [&mut Range<usize>]) -> Self {
        if text.split('\n').all(|line| line.len() <= LONG) {
            return Self { name: name.to_owned(), text: text.to_owned(), columns: Vec::new() };
        }
        let mut out = String::new();
        let mut kept: Vec<Kept> = Vec::new();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let whole = at..at + line.len();
            let mut from = whole.start;
            for stretch in stretches(text, whole.clone(), places) {
                if stretch.start > from {
                    out.push_str(GAP);
                }
                kept.push(Kept { old: stretch.clone(), new: out.len() });
                out.push_str(text.get(stretch.clone()).unwrap_or(""));
                from = stretch.end;
            }
            if from < whole.end {
                out.push_str(GAP);
                if line.ends_with('\n') {
                    out.push('\n');
                }
            }
            at = whole.end;
        }
        let moved = |old: usize| {
            let before = kept.partition_point(|k| k.old.start <= old);
            let near = before.checked_sub(1).and_then(|n| kept.get(n));
            near.map_or(0, |k| k.new + old.min(k.old.end) - k.old.start)
        };
        let mut columns = Vec::with_capacity(places.len());
        for place in places {
            let line = text.get(..place.start).map_or(0, |before| before.rfind('\n').map_or(0, |n| n + 1));
            let column = text.get(line..place.start).map_or(0, |before| before.chars().count());
            **place = moved(place.start)..moved(place.end);
            columns.push((place.start, column));
        }
        Self { name: name.to_owned(), text: out, columns }
    }
}

/// The stretches of a line that are kept, in order and apart.
fn stretches(text: &str, line: Range<usize>, places: &[&mut Range<usize>]) -> Vec<Range<usize>> {
    if line.len() <= LONG {
        return vec![line];
    }
    let ends = places.iter().flat_map(|place| [place.start, place.end]);
    let mut near: Vec<usize> = ends.filter(|end| line.contains(end)).collect();
    near.sort_unstable();
    if near.is_empty() {
        near.push(line.start);
    }
    let mut out: Vec<Range<usize>> = Vec::new();
    for end in near {
        let start = text.floor_char_boundary(end.saturating_sub(AROUND).max(line.start));
        let stop = text.ceil_char_boundary((end + AROUND).min(line.end));
        match out.last_mut() {
            Some(last) if start <= last.end => last.end = stop.max(last.end),
            _ => out.push(start..stop),
        }
    }
    out
}

impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let found = self.text.read_span(span, before, after)?;
        let start = found.span().offset();
        let column = self.columns.iter().find(|(place, _)| *place == start).map(|(_, column)| *column);
        Ok(Box::new(MietteSpanContents::new_named(
            self.name.clone(),
            found.data(),
            *found.span(),
            found.line(),
            column.unwrap_or(found.column()),
            found.line_count(),
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_lines_stay() {
        let mut place = 2..4;
        let excerpt = Excerpt::new("a", "one\ntwo\n", &mut [&mut place]);
        assert_eq!((excerpt.text.as_str(), place), ("one\ntwo\n", 2..4));
    }

    #[test]
    fn a_long_line_is_cut_around_its_places() {
        let text = format!("first\n{}NEEDLE{}END\nlast", "é".repeat(5_000), "y".repeat(5_000));
        let at = text.find("NEEDLE").unwrap();
        let (mut place, mut other) = (at..at + 6, 0..5);
        let excerpt = Excerpt::new("a", &text, &mut [&mut place, &mut other]);
        assert_eq!(&excerpt.text[place.clone()], "NEEDLE");
        assert_eq!(&excerpt.text[other], "first");
        assert!(excerpt.text.len() < 400, "{}", excerpt.text.len());
        assert!(excerpt.text.starts_with("first\n…é") && excerpt.text.ends_with("y…\nlast"));
        let found = excerpt.read_span(&(place.start, 6).into(), 0, 0).unwrap();
        assert_eq!((found.line(), found.column()), (1, 5_000), "columns are those of the file");
    }

    #[test]
    fn a_long_place_keeps_its_ends() {
        let text = format!("\"{}\" # {}", "x".repeat(100_000), "z".repeat(1_000));
        let mut place = 0..100_002;
        let excerpt = Excerpt::new("a", &text, &mut [&mut place]);
        let cut = &excerpt.text[place];
        assert!(cut.starts_with("\"x") && cut.ends_with("x\"") && cut.len() < 300, "{cut}");
    }
}
