//! Whatever is fed to `classify`: an answer or a clear error, in bounded memory, and every other
//! line answered.

use std::{io::Write as _, process::Stdio};

use super::{pointsman, run};

const GOOD: &str = r#"{"id":"good","status":429,"message":"Rate limit reached"}"#;

/// Exit code, stdout's lines, stderr.
fn classify(args: &[&str], input: &[u8]) -> (i32, Vec<serde_json::Value>, String) {
    let mut all = vec!["classify"];
    all.extend(args);
    let output = run(pointsman(&all), input);
    let text = String::from_utf8(output.stdout).expect("output is UTF-8");
    let lines = text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
    (output.status.code().expect("no signal"), lines, String::from_utf8(output.stderr).unwrap())
}

/// `bad` between two good lines: the good ones are answered, and what stands in its place is given.
fn between(bad: &[u8]) -> (i32, serde_json::Value) {
    let input = [GOOD.as_bytes(), b"\n", bad, b"\n", GOOD.as_bytes()].concat();
    let (code, lines, said) = classify(&[], &input);
    assert_eq!(said, "");
    assert_eq!(lines.len(), 3);
    for good in [&lines[0], &lines[2]] {
        assert_eq!((&good["id"], &good["bucket"]), (&"good".into(), &"rate_limit".into()));
    }
    (code, lines[1].clone())
}

fn is_error(bad: &[u8], part: &str) {
    let (code, line) = between(bad);
    assert_eq!((code, &line["line"]), (1, &2.into()), "{line}");
    assert!(line["error"].as_str().unwrap().contains(part), "{line}");
}

fn is_answered(bad: &[u8]) -> serde_json::Value {
    let (code, line) = between(bad);
    assert_eq!(code, 0, "{line}");
    assert!(line["bucket"].is_string(), "{line}");
    line
}

#[test]
fn lines_that_are_no_json_object() {
    is_error(b"plain text", "not a JSON object");
    is_error(b"[1,2]", "not a JSON object");
    is_error(b"\"text\"", "not a JSON object");
    is_error(b"{\"message\":\"x\"", "ends too early");
    is_error(b"{message:1}", "broken");
    is_error(b"{\"message\":\"a\0b\"}", "broken");
    is_error(b"\0\0\0", "not a JSON object");
    is_error(b"\xff\xfe{", "not a JSON object");
}

#[test]
fn text_that_is_not_utf8_is_read_as_far_as_it_goes() {
    let line = is_answered(b"{\"id\":\"\xff\",\"status\":429,\"message\":\"Rate limit reached \xe4\xf6\"}");
    assert_eq!(line["bucket"], "rate_limit");
    assert_eq!(line["id"], "\u{fffd}");
}

#[test]
fn an_id_comes_back_as_it_was_and_no_terminal_obeys_it() {
    let input = "{\"id\":\"a\u{9b}31m\u{202e}\u{7f}é\",\"status\":429}\n";
    let output = run(pointsman(&["classify"]), input.as_bytes());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("a\\u009b31m\\u202e\\u007fé"), "{text}");
    let line: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(line["id"], "a\u{9b}31m\u{202e}\u{7f}é");
}

#[test]
fn a_finding_in_a_long_line_does_not_print_the_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.rules");
    let rules = "rule a -> biling when text has \"foo bar\"; ".repeat(20_000);
    std::fs::write(&path, format!("language 1\nuse default\n{rules}\n")).unwrap();
    let output = run(pointsman(&["check", path.to_str().unwrap()]), b"");
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stderr.len() < 200_000, "{} bytes", output.stderr.len());
    assert!(String::from_utf8_lossy(&output.stderr).contains("did you mean `billing`?"));
}

#[test]
fn deep_json_is_answered() {
    for open in ["[", "{\"error\":"] {
        let close = if open == "[" { "]" } else { "}" };
        let deep = open.repeat(10_000) + "1" + &close.repeat(10_000);
        is_answered(format!("{{\"message\":{deep}}}").as_bytes());
        is_answered(format!("{{\"other\":{deep},\"message\":\"x\"}}").as_bytes());
        let inside = serde_json::to_string(&deep).unwrap();
        is_answered(format!("{{\"message\":{inside}}}").as_bytes());
    }
}

#[test]
fn raw_lines_may_hold_anything() {
    let (code, lines, _) =
        classify(&["--raw"], b"429 Too Many Requests\n\0\xff\x1b[2J\n{\"a\":\n\n429 Too Many Requests");
    assert_eq!((code, lines.len()), (0, 4), "the blank line is skipped");
    assert_eq!(lines[0]["bucket"], "rate_limit");
    assert_eq!(lines[3]["bucket"], "rate_limit");
}

#[test]
fn nothing_is_answered_with_nothing() {
    assert_eq!(classify(&[], b""), (0, vec![], String::new()));
    assert_eq!(classify(&[], b"\n \r\n\n"), (0, vec![], String::new()));
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    for args in [&[path][..], &["--body", path], &["--rules", path]] {
        let (code, lines, said) = classify(args, GOOD.as_bytes());
        assert_eq!((code, lines.len()), (2, 0), "{args:?}: {said}");
        assert!(said.starts_with("error: cannot read `"), "{said}");
        assert!(said.contains("folder") || said.contains("no such file"), "{said}");
    }
    let (code, _, said) = classify(&["/no/such/file"], b"");
    assert_eq!(code, 2);
    assert_eq!(said, "error: cannot read `/no/such/file`: there is no such file\n");
}

#[cfg(target_os = "linux")]
#[test]
fn a_line_of_50_mb_is_not_held() {
    let filler = "rate limit ".repeat(100_000);
    for (args, head, tail) in [
        (&[][..], "{\"message\":\"", "\"}"),
        (&["--raw"], "", ""),
        (&["--format", "human"], "{\"message\":\"", "\"}"),
    ] {
        let mut all = vec!["classify"];
        all.extend(args);
        let mut child = pointsman(&all).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        for _ in 0..2 {
            stdin.write_all(head.as_bytes()).unwrap();
            for _ in 0..46 {
                stdin.write_all(filler.as_bytes()).unwrap();
            }
            stdin.write_all(tail.as_bytes()).unwrap();
            stdin.write_all(b"\n").unwrap();
        }
        for _ in 0..10_000 {
            stdin.write_all(GOOD.as_bytes()).unwrap();
            stdin.write_all(b"\n").unwrap();
        }
        // All but a pipe's worth has been read.
        let peak = super::peak(&child).unwrap();
        drop(stdin);
        let code = child.wait().unwrap().code();
        assert_eq!(code, Some(i32::from(!args.contains(&"--raw"))));
        assert!(peak < 64 * 1024, "{args:?}: {peak} kB at most in memory");
    }
}

/// Neither for several workers, nor for a single one: values that nobody looks at, and a long name beside each of
/// many values of a header.
#[cfg(target_os = "linux")]
#[test]
fn lines_of_a_million_values_are_not_held() {
    let many = "1,".repeat(2_000_000) + "1";
    let bad = [
        format!("{{\"message\":\"x\",\"details\":[{many}]}}\n"),
        format!("{{\"message\":\"x\",\"headers\":{{\"{}\":[{many}]}}}}\n", "\\n".repeat(500_000)),
    ];
    let good = format!("{GOOD}\n").repeat(10_000);
    for args in [&["classify"][..], &["classify", "--format", "human"]] {
        let mut child = pointsman(args).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        for part in [&good, &bad[0], &bad[1], &bad[0], &good, &good] {
            stdin.write_all(part.as_bytes()).unwrap();
        }
        let peak = super::peak(&child).unwrap();
        drop(stdin);
        assert_eq!(child.wait().unwrap().code(), Some(0));
        assert!(peak < 64 * 1024, "{args:?}: {peak} kB at most in memory");
    }
}

#[test]
fn a_closed_pipe_in_the_middle_is_success() {
    let mut child = pointsman(&["classify"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    drop(child.stdout.take());
    let input = format!("{GOOD}\n").repeat(20_000);
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), vec![]));
}

/// Long inputs are judged by several workers, which nobody may notice.
#[test]
fn a_long_input_is_answered_in_order() {
    let line = |n: u64| match n % 1_000 {
        7 => "no json".to_owned(),
        8 => String::new(),
        9 => format!(r#"{{"id":{n},"message":"\ud83d {n}","padding":"{}"}}"#, "x".repeat(90_000)),
        _ => format!(r#"{{"id":{n},"status":{},"message":"Rate limit reached for {n}"}}"#, 400 + n % 30),
    };
    let count = 20_000;
    let input: Vec<String> = (1..=count).map(line).collect();
    let (code, answers, said) = classify(&[], input.join("\n").as_bytes());
    assert_eq!((code, said.as_str()), (1, ""));
    let mut answers = answers.into_iter();
    for n in (1..=count).filter(|n| n % 1_000 != 8) {
        let answer = answers.next().unwrap();
        if n % 1_000 == 7 {
            assert_eq!((&answer["line"], &answer["bucket"]), (&n.into(), &serde_json::Value::Null));
        } else {
            assert_eq!((&answer["id"], answer["bucket"].is_string()), (&n.into(), true), "{answer}");
        }
    }
    assert_eq!(answers.next(), None);
}

#[test]
fn a_long_live_log_is_answered_as_it_comes() {
    use std::io::{BufRead as _, BufReader};
    let mut child = pointsman(&["classify"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    for count in [1, 40_000, 1, 3, 1] {
        std::thread::scope(|scope| {
            scope.spawn(|| stdin.write_all(format!("{GOOD}\n").repeat(count).as_bytes()).unwrap());
            for _ in 0..count {
                assert!(answers.next().unwrap().unwrap().contains("rate_limit"));
            }
        });
    }
    // Nobody listens any more, and nothing more is read: it ends with the next answer.
    drop(answers);
    stdin.write_all(format!("{GOOD}\n").as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    drop(stdin);
}

#[test]
fn an_answer_does_not_wait_for_the_end() {
    use std::io::{BufRead as _, BufReader};
    let mut child = pointsman(&["classify"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    for _ in 0..3 {
        stdin.write_all(format!("{GOOD}\n").as_bytes()).unwrap();
        assert!(answers.next().unwrap().unwrap().contains("rate_limit"));
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn escapes_never_reach_the_output_raw() {
    let hostile = "\u{1b}]0;title\u{7}\u{1b}[31m \u{202e}evil \u{9b}2J rate limit";
    let json = serde_json::to_string(hostile).unwrap();
    let input = format!(
        "{{\"id\":{json},\"provider\":{json},\"model\":{json},\"code\":{json},\"message\":{json}}}\nbroken \u{1b}[5m\n"
    );
    for args in [
        &["classify", "--format", "human"][..],
        &["explain"],
        &["explain", "--message", hostile, "--provider", hostile],
        &["explain", "--id", hostile],
        &["explain", "--id", "\u{1b}[1m"],
        &["explain", "--code", hostile],
        &["rules", "show", hostile],
        &["classify", hostile],
        &["check", hostile],
        &["classify", "--now", hostile],
    ] {
        let output = run(pointsman(args), input.as_bytes());
        let all = [output.stdout, output.stderr].concat();
        let text = String::from_utf8(all).unwrap();
        let raw =
            text.chars().find(|c| (c.is_control() && *c != '\n') || ('\u{202a}'..='\u{202e}').contains(c));
        assert_eq!(raw, None, "{args:?}: {text}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_written_is_no_success() {
    for args in [vec!["--help"], vec!["--version"], vec!["rules", "show"], vec!["check", "--help"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = pointsman(&args);
        command.stdout(full);
        let output = run(command, b"");
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.starts_with("error: cannot write the result: "), "{args:?}: {said}");
    }
}

#[test]
fn lines_that_end_in_a_carriage_return_alone_are_said_to() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.rules");
    std::fs::write(&path, "language 1\r\r# Mine.\rrule a -> timeout when text has \"abc def\"\r").unwrap();
    for command in ["check", "fmt"] {
        let output = run(pointsman(&[command, path.to_str().unwrap()]), b"");
        assert_eq!(output.status.code(), Some(1), "{command}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("P0117") && said.contains("a carriage return stands alone"), "{said}");
        assert_eq!(said.matches('\u{d7}').count(), 1, "one finding says it: {said}");
    }
    let crlf = std::fs::read_to_string(&path).unwrap().replace('\r', "\r\n");
    std::fs::write(&path, crlf.replace("language 1\r\n", "language 1\r\nuse default\r\n")).unwrap();
    assert_eq!(run(pointsman(&["check", path.to_str().unwrap()]), b"").status.code(), Some(0));
}

/// What is wrong with it is told in the format asked for, all the same.
#[test]
fn rules_that_cannot_be_read_are_no_finding() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.rules");
    for (bytes, code) in [(b"language 1\n# \xff\n".to_vec(), "P0802"), (vec![b'#'; (4 << 20) + 1], "P0803")] {
        std::fs::write(&path, bytes).unwrap();
        for command in [&["check"][..], &["check", "--format", "json"], &["test"]] {
            let output = run(pointsman(&[command, &[path.to_str().unwrap()]].concat()), b"");
            assert_eq!(output.status.code(), Some(2), "{command:?}");
            let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
            assert!(said.contains(code), "{command:?}: {said}");
        }
    }
}
