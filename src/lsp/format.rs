//! Formatting: the canonical form as the smallest edit of whole lines.

use lsp_types::TextEdit;

use super::position;
use crate::lang::fmt;

/// The edits that bring a text into its canonical form; `None` when it has syntax errors.
#[must_use]
pub fn edits(text: &str) -> Option<Vec<TextEdit>> {
    let canonical = fmt::format(text).ok()?;
    if canonical == text {
        return Some(Vec::new());
    }
    let start = common_lines(text.split_inclusive('\n'), canonical.split_inclusive('\n'));
    let (old, new) = (text.get(start..)?, canonical.get(start..)?);
    let end = common_lines(old.split_inclusive('\n').rev(), new.split_inclusive('\n').rev());
    let range = position::range(text, start..text.len() - end);
    Some(vec![TextEdit { range, new_text: new.get(..new.len() - end)?.to_owned() }])
}

/// Bytes of the lines that both begin with.
fn common_lines<'a>(old: impl Iterator<Item = &'a str>, new: impl Iterator<Item = &'a str>) -> usize {
    old.zip(new).take_while(|(old, new)| old == new).map(|(old, _)| old.len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changes_is_replaced() {
        let text = "language 1\nlist a = [ \"额度\" ]\nlist b = [\"😀\"]\n";
        let edits_ = edits(text).unwrap();
        let [edit] = edits_.as_slice() else { panic!("{edits_:?}") };
        assert_eq!((edit.range.start.line, edit.range.end.line), (1, 2));
        assert_eq!(edit.new_text, "list a = [\"额度\"]\n");
        assert_eq!(edits("language 1\n"), Some(Vec::new()));
        assert_eq!(edits("language 1\nlist = \n"), None);
    }
}
