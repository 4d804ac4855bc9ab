//! HTML pages in errors: the title and what a reader would see.

use memchr::memchr;

use super::swar;

/// Elements that begin a page, or a piece of one that a log cut out.
const STARTS: [&[u8]; 11] = [
    b"!doctype",
    b"html",
    b"head",
    b"body",
    b"title",
    b"div",
    b"h1",
    b"h2",
    b"center",
    b"script",
    b"section",
];

/// Whether a page begins at the `<` at `at`.
pub(super) fn starts(bytes: &[u8], at: usize) -> bool {
    STARTS.iter().any(|name| is_tag(bytes, at + 1, name))
}

/// Whether the tag's name at `at` is `name`.
fn is_tag(bytes: &[u8], at: usize, name: &[u8]) -> bool {
    let end = at + name.len();
    bytes.get(at..end).is_some_and(|found| found.eq_ignore_ascii_case(name))
        && bytes.get(end).is_none_or(|b| !b.is_ascii_alphanumeric() && *b != b'_')
}

/// Title and visible text go to `title` and `text`, which are appended to; gives back where the
/// page ends: behind `</html>`, or at the end of `source`.
pub(super) fn read(source: &str, start: usize, title: &mut String, text: &mut String) -> usize {
    let bytes = source.as_bytes();
    let mut at = start;
    let mut in_title = false;
    while at < bytes.len() {
        let tag = find(b'<', bytes, at).unwrap_or(bytes.len());
        push_text(source.get(at..tag).unwrap_or_default(), if in_title { &mut *title } else { &mut *text });
        if tag >= bytes.len() {
            return tag;
        }
        let end = find(b'>', bytes, tag + 1).map_or(bytes.len(), |end| end + 1);
        let name = tag + 1;
        at = end;
        let letter = |at| bytes.get(at).map_or(0, u8::to_ascii_lowercase);
        match (letter(name), letter(name + 1)) {
            (b'/', b'h') if is_tag(bytes, name, b"/html") => return end,
            (b'/', b't') if is_tag(bytes, name, b"/title") => in_title = false,
            (b't', b'i') if is_tag(bytes, name, b"title") => in_title = true,
            (b'!', b'-') if bytes.get(name..).is_some_and(|rest| rest.starts_with(b"!--")) => {
                at = skip_past(bytes, tag, b"-->");
            }
            (first, _) => {
                let hidden = [&b"script"[..], b"style"];
                if let Some(hidden) =
                    hidden.iter().find(|hidden| first == b's' && is_tag(bytes, name, hidden))
                {
                    at = skip_element(bytes, end, hidden);
                }
                if !text.is_empty() && !text.ends_with(' ') {
                    text.push(' ');
                }
            }
        }
    }
    at
}

/// Where the next `byte` stands. Many are nearer than what a search by wide registers takes to begin.
#[inline]
fn find(byte: u8, bytes: &[u8], at: usize) -> Option<usize> {
    let near = swar::word(bytes, at).map_or(0, |word| swar::equal(word, byte));
    if near != 0 {
        return Some(at + swar::first(near));
    }
    memchr(byte, bytes.get(at..)?).map(|further| at + further)
}

/// Behind the next `end`, or the end of all.
fn skip_past(bytes: &[u8], from: usize, end: &[u8]) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    memchr::memmem::find(rest, end).map_or(bytes.len(), |at| from + at + end.len())
}

/// Behind the closing tag of an element whose content nobody sees.
fn skip_element(bytes: &[u8], from: usize, name: &[u8]) -> usize {
    let mut at = from;
    while let Some(next) = find(b'<', bytes, at) {
        at = next + 1;
        if bytes.get(at) == Some(&b'/') && is_tag(bytes, at + 1, name) {
            return find(b'>', bytes, at).map_or(bytes.len(), |end| end + 1);
        }
    }
    bytes.len()
}

/// Appends text between tags, the commonest entities read.
fn push_text(mut text: &str, out: &mut String) {
    const ENTITIES: [(&str, &str); 7] = [
        ("&amp;", "&"),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&apos;", "'"),
        ("&nbsp;", " "),
    ];
    if text.is_empty() {
        return;
    }
    while let Some(at) = memchr(b'&', text.as_bytes()) {
        let (head, tail) = text.split_at_checked(at).unwrap_or((text, ""));
        out.push_str(head);
        let entity = ENTITIES.iter().find(|(name, _)| tail.starts_with(name));
        let (name, plain) = entity.copied().unwrap_or(("&", "&"));
        out.push_str(plain);
        text = tail.get(name.len()..).unwrap_or_default();
    }
    out.push_str(text);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn page(source: &str) -> (String, String, usize) {
        let (mut title, mut text) = (String::new(), String::new());
        let end = read(source, 0, &mut title, &mut text);
        (title, text.split_whitespace().collect::<Vec<_>>().join(" "), end)
    }

    #[test]
    fn title_and_visible_text() {
        let source = "<!DOCTYPE html><html><head><title>502 Bad Gateway</title><style>b{}</style></head>\
                      <body><!-- <p>no</p> --><h1>502 Bad&nbsp;Gateway</h1><script>if (a<b) no()</script>\
                      <p>A &amp; B</p></body></html> tail";
        let (title, text, end) = page(source);
        assert_eq!(title, "502 Bad Gateway");
        assert_eq!(text, "502 Bad Gateway A & B");
        assert_eq!(&source[end..], " tail");
    }

    #[test]
    fn pages_cut_anywhere_end_where_the_text_ends() {
        let source = "<html><title>T</title><script>x</script><!-- c --><p class=\"a\">text</p>";
        for end in 0..=source.len() {
            assert_eq!(page(&source[..end]).2, end);
        }
    }

    #[test]
    fn comparisons_and_type_names_are_no_pages() {
        for text in ["a < b", "<anonymous>", "<class 'X'>", "<400> x", "<REQUEST_ID>", "<headless>", "<"] {
            let at = text.find('<').unwrap();
            assert!(!starts(text.as_bytes(), at), "{text}");
        }
        assert!(starts(b"<DIV class", 0));
    }

    proptest! {
        #[test]
        fn fast_is_slow(text in "[a<]{0,3}[a-z]{0,20}<?[a-z]{0,9}", at in 0usize..40) {
            let slow = memchr(b'<', text.as_bytes().get(at..).unwrap_or_default()).map(|next| at + next);
            prop_assert_eq!(find(b'<', text.as_bytes(), at), slow);
        }
    }
}
