//! Rule files made to cost time, memory or screens: each is answered with a clear finding, and what it
//! costs is counted, not timed.

use std::path::Path;

use pointsman::lang::{
    diagnostic::{Diagnostics, nearest::Hints, render},
    load::{self, files::Memory},
    source::Sources,
};

fn findings(text: &str) -> (Diagnostics, Sources) {
    match load::from_text(&format!("language 1\n{text}")) {
        Ok((set, found)) => (found, set.sources.clone()),
        Err(error) => (error.diagnostics, error.sources),
    }
}

/// Codes that occur, each once.
fn codes(found: &Diagnostics) -> Vec<&str> {
    let mut codes: Vec<&str> = found.iter().map(|found| found.code.id).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

fn repeated(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect()
}

fn hints(found: &Diagnostics) -> usize {
    let helps = found.iter().filter_map(|found| found.help.as_deref());
    helps.filter(|help| help.starts_with("did you mean")).count()
}

#[test]
fn names_that_nobody_knows_are_looked_for_a_hundred_times_at_most() {
    let kinds: [(&str, &dyn Fn(usize) -> String); 4] = [
        ("P0203", &|n| format!("rule r{n} -> billin when text has \"a{n} b\"\n")),
        ("P0201", &|n| format!("let l{n} = m{n}\n")),
        ("P0501", &|n| format!("drop rule overloaded_cod{n}\n")),
        ("P0808", &|n| format!("use \"nosuch{n}.rules\"\n")),
    ];
    for (code, line) in kinds {
        let (found, _) = findings(&format!("use default\n{}", repeated(3_000, line)));
        assert!(codes(&found).contains(&code), "{code}: {:?}", codes(&found));
        let all = found.iter().filter(|found| found.code.id == code).count();
        assert_eq!(all, 3_000, "{code}");
        assert!(hints(&found) <= Hints::LOOKS as usize, "{code}: {}", hints(&found));
        assert!(found.iter().all(|found| found.help.is_some()), "{code}");
    }
}

#[test]
fn more_statements_or_edits_than_anybody_writes_are_refused_at_once() {
    let (found, _) = findings(&repeated(50_001, |n| format!("let l{n} = text has \"x\"\n")));
    assert_eq!(codes(&found), ["P0803"]);
    // Those inside blocks count, too.
    let blocks =
        repeated(25_001, |n| format!("group g{n} {{ rule r -> unclassified when text has \"x\" }}\n"));
    assert_eq!(codes(&findings(&blocks).0), ["P0803"]);
    let (found, _) = findings(&format!("use default\n{}", repeated(5_001, |n| format!("drop rule r{n}\n"))));
    assert!(codes(&found).contains(&"P0803") && !codes(&found).contains(&"P0501"), "{:?}", codes(&found));
}

#[test]
fn long_texts_are_refused_and_never_repeated_whole() {
    let long = "x".repeat(1_000_000);
    for (code, text) in [
        ("P0308", format!("rule a -> unclassified when text has \"{long}\"")),
        ("P0308", format!("rule a -> unclassified when code in [\"a\", \"{long}\"]")),
        ("P0402", format!("rule a -> unclassified when text matches /{long}/")),
        ("P0110", format!("rule {long} -> unclassified when text has \"a b\"")),
        ("P0110", format!("rule a -> {long} when text has \"a b\"")),
        ("P0110", format!("setting {} = 9{}s", "a", "9".repeat(1_000_000))),
        ("P0805", format!("use \"../{long}\"")),
    ] {
        let (found, sources) = findings(&text);
        assert!(codes(&found).contains(&code), "{code}: {:?}", codes(&found));
        for finding in &found {
            let texts = [&finding.message].into_iter().chain(&finding.help);
            let texts = texts.chain(finding.labels.iter().chain(&finding.related).map(|(_, text)| text));
            assert!(texts.into_iter().all(|text| text.len() < 2_100), "{code}");
        }
        let picture = render::graphical(&found, &sources, render::Style { color: false, width: 100 });
        assert!(picture.len() < 20_000, "{code}: {} bytes", picture.len());
    }
}

#[test]
fn a_place_of_many_lines_shows_its_first() {
    let (found, sources) = findings(&"## lost\n".repeat(100_000));
    let picture = render::graphical(&found, &sources, render::Style { color: false, width: 100 });
    assert!(codes(&found).contains(&"P0107") && picture.len() < 10_000, "{} bytes", picture.len());
}

#[test]
fn depth_is_bounded_everywhere() {
    let deep = |open: &str, close: &str| {
        format!(
            "rule a -> unclassified when {}text has \"a b\"{}",
            open.repeat(100_000),
            close.repeat(100_000)
        )
    };
    for text in [
        deep("(", ")"),
        deep("not ", ""),
        deep("not (", ")"),
        "group g { ".repeat(100_000),
        "[".repeat(100_000),
        format!("rule a -> unclassified when text matches /{}x{}/", "(".repeat(900), ")".repeat(900)),
        repeated(1_000, |n| format!("let l{} = l{n} and l{n}\n", n + 1)) + "let l0 = text has \"a\"",
    ] {
        let (found, _) = findings(&text);
        assert!(found.has_errors() && found.len() < 2_000, "{:?}", codes(&found));
    }
}

/// Doubling at each step costs nothing, because a named condition stays one.
#[test]
fn conditions_that_double_forty_times_stay_small() {
    let lets = repeated(40, |n| format!("let l{} = l{n} and not l{n}\n", n + 1));
    let (found, _) = findings(&format!("let l0 = text has \"a b\"\n{lets}rule a -> unclassified when l40\n"));
    assert!(!found.has_errors());
}

#[test]
fn large_expressions_are_refused_by_their_size() {
    for pattern in
        [r"call (\w{500}){90}", r"(a{60}b{60}){300}", r"call ((x{10}){10}){10}{90}", r"call \pL{9000}"]
    {
        let (found, _) = findings(&format!("rule a -> unclassified when text matches /{pattern}/"));
        assert!(codes(&found).contains(&"P0402"), "{pattern}: {:?}", codes(&found));
    }
}

#[test]
fn odd_bytes_are_named() {
    let (found, _) = findings("rule a\0b -> unclassified when text has \"a\0b\"\n\u{1}");
    assert!(found.has_errors());
    let files = Memory::new()
        .with("main.rules", b"language 1\nuse \"\\u{0}a.rules\"\nuse \"C:\\\\a.rules\"\n".to_vec());
    let error = load::load(&files, "main.rules").unwrap_err();
    assert_eq!(codes(&error.diagnostics), ["P0805"]);
}

#[test]
fn a_long_way_of_uses_ends() {
    let mut files = Memory::new();
    for n in 0..1_000 {
        files = files.with(&format!("f{n}.rules"), format!("language 1\nuse \"f{}.rules\"\n", n + 1));
    }
    let error = load::load(&files, "f0.rules").unwrap_err();
    assert_eq!(codes(&error.diagnostics), ["P0803"]);
    let many = repeated(1_000, |n| format!("use \"f{n}.rules\"\n"));
    let mut files = Memory::new().with("main.rules", format!("language 1\n{many}"));
    for n in 0..1_000 {
        files = files.with(&format!("f{n}.rules"), "language 1\n");
    }
    let error = load::load(&files, "main.rules").unwrap_err();
    assert_eq!(codes(&error.diagnostics), ["P0803"]);
}

/// No `use` reads what lies outside of the root file's folder: not by `..`, an absolute path, a link to
/// a file, a link to a folder, or a link inside that leads out and in again.
#[cfg(unix)]
#[test]
fn no_use_leads_out_of_the_folder() {
    use std::{fs, os::unix::fs::symlink};
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("rules");
    fs::create_dir_all(root.join("sub")).unwrap();
    fs::create_dir(folder.path().join("rules-beside")).unwrap();
    let secret = "language 1\nlist stolen = [\"planted\"]\n";
    fs::write(folder.path().join("secret.rules"), secret).unwrap();
    fs::write(folder.path().join("rules-beside/secret.rules"), secret).unwrap();
    fs::write(root.join("inside.rules"), "language 1\n").unwrap();
    symlink(folder.path().join("secret.rules"), root.join("link.rules")).unwrap();
    symlink("../secret.rules", root.join("relative.rules")).unwrap();
    symlink(folder.path(), root.join("up")).unwrap();
    symlink("link.rules", root.join("twice.rules")).unwrap();
    symlink("loop.rules", root.join("loop.rules")).unwrap();
    symlink("inside.rules", root.join("fine.rules")).unwrap();
    let absolute = folder.path().join("secret.rules");
    for path in [
        "../secret.rules",
        "sub/../../secret.rules",
        "./../secret.rules",
        "link.rules",
        "relative.rules",
        "up/secret.rules",
        "twice.rules",
        "../rules-beside/secret.rules",
        "up/rules-beside/secret.rules",
        "loop.rules",
        absolute.to_str().unwrap(),
        "sub/..//../secret.rules",
        "~/secret.rules",
    ] {
        fs::write(root.join("main.rules"), format!("language 1\nuse \"{path}\"\n")).unwrap();
        let error = load::from_path(&root).unwrap_err();
        let text = render::lines(&error.diagnostics, &error.sources);
        assert!(error.sources.iter().all(|(_, source)| !source.text.contains("planted")), "{path}: {text}");
        assert!(codes(&error.diagnostics).iter().all(|code| code.starts_with("P08")), "{path}: {text}");
    }
    fs::write(root.join("main.rules"), "language 1\nuse \"fine.rules\"\n").unwrap();
    assert!(load::from_path(&root).is_ok(), "a link that stays inside is a file like others");
}

#[cfg(unix)]
#[test]
fn devices_pipes_and_sockets_are_not_read() {
    use std::{fs, os::unix::net::UnixListener, process::Command};
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.rules");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let _socket = UnixListener::bind(folder.path().join("socket.rules")).unwrap();
    for name in ["pipe.rules", "socket.rules"] {
        fs::write(folder.path().join("main.rules"), format!("language 1\nuse \"{name}\"\n")).unwrap();
        let error = load::from_path(folder.path()).unwrap_err();
        let text = render::lines(&error.diagnostics, &error.sources);
        assert!(text.contains("it is no file, but a pipe, a device or a socket"), "{text}");
    }
    for path in [pipe.as_path(), Path::new("/dev/zero"), Path::new("/dev/null")] {
        assert!(load::from_path(path).is_err(), "{}", path.display());
    }
}

/// `drop`s and unknown names in folders of thousands of files: the folder is listed a bounded number of
/// times, and no list is longer than what may be told of it.
#[test]
fn a_folder_of_thousands_of_files_is_fine() {
    let folder = tempfile::tempdir().unwrap();
    for n in 0..3_000 {
        std::fs::write(folder.path().join(format!("f{n}.rules")), "").unwrap();
    }
    std::fs::write(folder.path().join("main.rules"), "language 1\nuse \"f77.rule\"\n").unwrap();
    let error = load::from_path(folder.path()).unwrap_err();
    assert_eq!(codes(&error.diagnostics), ["P0808"]);
}
