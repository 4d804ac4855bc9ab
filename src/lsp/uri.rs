//! `file:` URIs and paths.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
};

use lsp_types::Uri;

/// The path of a `file:` URI; `None` for other schemes and for what is no path.
#[must_use]
pub fn path(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.as_str().strip_prefix("file://")?;
    let path = rest.get(rest.find('/')?..)?;
    let path = path.split(['?', '#']).next().unwrap_or(path);
    let mut bytes = Vec::with_capacity(path.len());
    let mut left = path.bytes();
    while let Some(byte) = left.next() {
        let byte = if byte == b'%' {
            let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
            let (high, low) = (digit(left.next())?, digit(left.next())?);
            u8::try_from(high * 16 + low).ok()?
        } else {
            byte
        };
        bytes.push(byte);
    }
    let path = String::from_utf8(bytes).ok().filter(|path| !path.contains('\0'))?;
    // `/c:/rules` is a path with a drive.
    let drive =
        path.get(1..3).is_some_and(|d| d.ends_with(':') && d.starts_with(|c: char| c.is_ascii_alphabetic()));
    let path = if cfg!(windows) && drive { path.get(1..)?.to_owned() } else { path };
    Some(PathBuf::from(path))
}

/// The `file:` URI of an absolute path.
#[must_use]
pub fn of(path: &Path) -> Option<Uri> {
    let text = path.to_str()?;
    let mut uri = String::from("file://");
    if !text.starts_with('/') {
        uri.push('/');
    }
    for byte in text.bytes() {
        let byte = if cfg!(windows) && byte == b'\\' { b'/' } else { byte };
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_go_there_and_back() {
        for text in ["/a/b.rules", "/with blank/规则#1?.rules", "/50%/x"] {
            let uri = of(Path::new(text)).unwrap();
            assert!(uri.as_str().is_ascii(), "{uri:?}");
            assert_eq!(path(&uri).unwrap(), Path::new(text));
        }
    }

    #[test]
    fn other_uris_have_no_path() {
        for text in ["untitled:Untitled-1", "http://host/x", "file://host", "file:///%ff", "file:///%0"] {
            if let Ok(uri) = text.parse() {
                assert_eq!(path(&uri), None, "{text}");
            }
        }
    }
}
