//! Normalisation: what an error's evidence is (D13, D14; the language's section on matching).
use pointsman::signal::{
    Body, Evidence, Headers, Normaliser, SegmentKind, Signal, SignalRef, TEXT_LIMIT, Texts,
};
use proptest::prelude::*;

fn normaliser() -> Normaliser {
    Normaliser::new(["input", "prompt", "messages"].map(String::from))
}

fn read(signal: &SignalRef<'_>) -> Evidence {
    let mut evidence = Evidence::default();
    normaliser().read(signal, &mut evidence);
    well_formed(&evidence);
    evidence
}

fn message(text: &str) -> Evidence {
    read(&SignalRef { message: Some(text), ..SignalRef::default() })
}

fn all(evidence: &Evidence, kind: SegmentKind) -> Vec<&str> {
    evidence.of(kind).collect()
}

/// The innermost message.
fn inner(evidence: &Evidence) -> &str {
    evidence.of(SegmentKind::Message).next().unwrap_or_default()
}

/// What holds for every evidence: texts closed by NULs that nothing else makes, in the order of
/// their kinds, within bounds.
fn well_formed(evidence: &Evidence) {
    let mut end = 0;
    for segment in &evidence.segments {
        assert_eq!(segment.folded.start, end, "no gaps");
        assert!(!evidence.folded_text(segment).is_empty());
        assert!(evidence.original.get(segment.original.clone()).is_some());
        assert_eq!(evidence.folded.as_bytes().get(segment.folded.end), Some(&0));
        end = segment.folded.end + 1;
    }
    assert_eq!(evidence.folded.len(), end);
    assert_eq!(evidence.folded.matches('\0').count(), evidence.segments.len(), "only ends of texts");
    assert!(!evidence.folded.contains("  "));
    assert!(evidence.segments.is_sorted_by_key(|segment| segment.kind as u8));
    assert!(evidence.folded.len() <= 2 * TEXT_LIMIT);
    assert!(evidence.scalars.len() <= 256);
    assert!(evidence.preview().chars().count() <= 201);
    assert!(!evidence.preview().contains(char::is_control));
    assert!(evidence.of(SegmentKind::Message).count() <= 1);
}

#[test]
fn d14_payloads_are_found_wherever_they_stand() {
    for text in [
        r#"{"error":{"type":"t","code":"c","param":"p","message":"Slow down"}}"#,
        r#"Error code: 429 - {"error":{"type":"t","code":"c","param":"p","message":"Slow down"}}"#,
        r"Error code: 429 - {'error': {'type': 't', 'code': 'c', 'param': 'p', 'message': 'Slow down', 'x': None, 'y': True}}",
        r#"{"message":"{\"error\":{\"type\":\"t\",\"code\":\"c\",\"param\":\"p\",\"message\":\"Slow down\"}}"}"#,
        r#"{"a":{"content":"{\"message\":\"{\\\"type\\\":\\\"t\\\",\\\"code\\\":\\\"c\\\",\\\"param\\\":\\\"p\\\",\\\"msg\\\":\\\"Slow down\\\"}\"}"}}"#,
        "event: error\ndata: {\"type\":\"t\",\"code\":\"c\",\"param\":\"p\",\"message\":\"Slow down\"}\n\ndata: [DONE]\n",
        r#"[{"error":{"type":"t","code":"c","param":"p","message":"Slow down"}}]"#,
        r#"{"error":{"type":"t","code":"c","param":"p","message":"Slow down","#,
        r#"{"error":{"type":"t","code":"c","param":"p","message":"Slow down"#,
        r#"{"type":"t","code":"c","param":"p"} and {"message":"Slow down"}"#,
        r#"{\"type\":\"t\",\"code\":\"c\",\"param\":\"p\",\"message\":\"Slow down\"} at x"#,
        r#"{"error":{"message":"{\n  "type": "t",\n "code": "c",\n "param": "p",\n  "message": "Slow down"\n}\n"}}"#,
        r#"{'body': b'{"type":"t","code":"c","param":"p","message":"Slow down"}'}"#,
        "\"error\": {\n🤖   \"type\": \"t\",\n🤖 \"code\": \"c\", \"param\": \"p\",\n🤖   \"message\": \"Slow down\"",
    ] {
        let evidence = message(text);
        assert_eq!(inner(&evidence), "slow down", "{text}");
        assert_eq!(all(&evidence, SegmentKind::Code), ["c"], "{text}");
        assert_eq!(all(&evidence, SegmentKind::Type), ["t"], "{text}");
        assert_eq!(all(&evidence, SegmentKind::Param), ["p"], "{text}");
        assert_eq!(evidence.body, Body::Json, "{text}");
    }
}

#[test]
fn d14_fields_are_lifted_at_every_level_and_words_under_status_are_types() {
    let evidence = message(
        r#"{"code":1,"status":"RESOURCE_EXHAUSTED","error":{"code":"insufficient_quota","type":"a","errors":[{"code":503,"reason":"rateLimitExceeded"}]}}"#,
    );
    assert_eq!(all(&evidence, SegmentKind::Code), ["1", "insufficient_quota", "503", "ratelimitexceeded"]);
    assert_eq!(all(&evidence, SegmentKind::Type), ["resource_exhausted", "a"]);
    assert_eq!((evidence.status, &*evidence.statuses), (Some(503), &[503][..]));
    let aws = message(r#"{"__type":"com.amazon#ThrottlingException","message":"Rate exceeded"}"#);
    assert_eq!(all(&aws, SegmentKind::Type), ["com.amazon#throttlingexception"]);
}

#[test]
fn keys_ids_and_raw_json_are_no_text() {
    let evidence = message(
        r#"Oops {"error":{"message":"no","request_id":"req_429_billing","n":402},"id":"credit"} end"#,
    );
    assert_eq!(inner(&evidence), "no");
    assert_eq!(all(&evidence, SegmentKind::Wrapper), ["oops", "end"]);
    for word in ["req", "error", "message", "credit", "{", "402"] {
        assert!(!evidence.folded.contains(word), "{word}");
    }
    assert_eq!(evidence.status, None);
}

#[test]
fn message_is_the_innermost_and_text_goes_outside_in() {
    let evidence = message(
        r#"API Error: 400 {"error":{"message":"Provider returned error","metadata":{"raw":"{\"error\":{\"message\":\"real cause\",\"details\":[{\"description\":\"more\"}]}}"}}}"#,
    );
    assert_eq!(inner(&evidence), "real cause");
    assert_eq!(evidence.texts().collect::<Vec<_>>(), ["real cause", "provider returned error", "more"]);
    assert_eq!(all(&evidence, SegmentKind::Wrapper), ["api error: 400"]);

    let nested = message(
        r#"{"error":{"message":"litellm.X: BedrockException - {\"message\":\"denied\"} retry later"}}"#,
    );
    assert_eq!(inner(&nested), "denied");
    assert_eq!(all(&nested, SegmentKind::Wrapper), ["litellm.x: bedrockexception -", "retry later"]);

    let carried = message(
        r#"{"error":{"message":"outer","metadata":{"content":"seen 402 {\"error\":{\"message\":\"real\"}} there"}}}"#,
    );
    assert_eq!((inner(&carried), all(&carried, SegmentKind::Wrapper)), ("real", vec![]));

    let plain = message("Too Many Requests");
    assert_eq!(plain.texts().collect::<Vec<_>>(), ["too many requests"]);
    assert_eq!(plain.body, Body::Text);

    let fast =
        message(r#"{"detail":[{"loc":["body","model"],"msg":"field required","input":"secret words"}]}"#);
    assert_eq!(fast.texts().collect::<Vec<_>>(), ["field required"]);
    assert_eq!(all(&fast, SegmentKind::Echo), ["secret words"]);

    let bare = message(r#"failed: {"required":["messages"]} is the schema"#);
    assert_eq!(
        bare.texts().collect::<Vec<_>>(),
        ["failed:", "is the schema"],
        "nothing lifted: prose is the message"
    );
}

#[test]
fn a_host_detail_is_never_the_message() {
    let evidence = read(&SignalRef {
        message: Some("outer"),
        details: Texts::Borrowed(&["plain", r#"{"error":{"message":"deep"}}"#]),
        ..SignalRef::default()
    });
    assert_eq!(evidence.texts().collect::<Vec<_>>(), ["outer", "plain", "deep"]);
    assert_eq!(inner(&evidence), "outer");
}

#[test]
fn braces_of_prose_are_no_payload() {
    for text in [
        "Request ID: {id}",
        "The {{model_name}} model",
        "fetch failed {\n cause: Error [X]\n code: 'X' }",
        "range [1, 204800]",
        "a < b {",
        "[ERROR] [400]: x",
        "<class 'X'>",
    ] {
        let evidence = message(text);
        assert_eq!(evidence.body, Body::Text, "{text}");
        assert_eq!(evidence.segments.len(), 1, "{text}");
    }
}

#[test]
fn html_gives_title_and_visible_text() {
    let evidence = message(
        "unexpected status 403 Forbidden: <html><head><title>Just a moment...</title><script>billing</script></head><body><p>Enable&nbsp;cookies</p></body></html>, url: https://x",
    );
    assert_eq!(evidence.body, Body::Html);
    assert_eq!(evidence.texts().collect::<Vec<_>>(), ["just a moment...", "enable cookies"]);
    assert_eq!(
        all(&evidence, SegmentKind::Wrapper),
        ["unexpected status 403 forbidden:", ", url: https://x"]
    );
    assert_eq!(evidence.status, Some(403));
    assert_eq!(message("<html><title>502 Bad Gateway</title></html>").status, Some(502));
}

#[test]
fn status_is_the_hosts_or_the_first_outside_in() {
    let host = |status, text| read(&SignalRef { status, message: Some(text), ..SignalRef::default() });
    assert_eq!(host(Some(500), "HTTP 429").status, Some(500));
    assert_eq!(host(Some(500), "HTTP 429").statuses, [500, 429]);
    assert_eq!(host(Some(200), "HTTP 429").status, Some(429), "a host's 200 is no failure");
    assert_eq!(host(Some(200), "x").status, None);
    assert_eq!(host(Some(200), "x").statuses, [200]);
    let nested = message(r#"{"error":{"code":503,"message":"HTTP 404"},"status":502}"#);
    assert_eq!((nested.status, &*nested.statuses), (Some(502), &[502, 503, 404][..]));
    assert_eq!(message("API Error: 502 {\"error\":{\"code\":429}}").status, Some(502));
    assert_eq!(message(r#"{"header":{"status":2},"error":{"code":"429"}}"#).status, Some(429));
    assert_eq!(read(&SignalRef { code: Some("402"), ..SignalRef::default() }).status, Some(402));
}

#[test]
fn a_status_below_400_hides_none() {
    for (text, status, statuses) in [
        (r#"{"code":200,"message":"HTTP 429: slow down"}"#, Some(429), &[200, 429][..]),
        (r#"{"code":200,"message":"API error (429)"}"#, None, &[200]),
        (r#"{"statusCode":201,"message":"failed to list models: 403"}"#, None, &[201]),
        ("200: fine", None, &[200]),
    ] {
        let evidence = message(text);
        assert_eq!((evidence.status, &*evidence.statuses), (status, statuses), "{text}");
    }
}

#[test]
fn d13_counts_are_no_statuses() {
    for text in [
        "Error: 402 items failed validation",
        "Import failed with error: 402 rows could not be parsed",
        "Error: 402,000 rows",
        "Error: 402-page PDF rejected",
        r#"{"error":{"message":"Validation error: 429 characters over the limit"}}"#,
        "<html><body>HTTP 402 requests were sent</body></html>",
    ] {
        assert!(message(text).statuses.is_empty(), "{text}");
    }
}

#[test]
fn d13_other_leading_numbers_decide_nothing() {
    let evidence = message("402 items found in the database");
    assert_eq!((evidence.status, evidence.leading_number), (None, Some(402)));
    let evidence = message("402 Payment Required");
    assert_eq!((evidence.status, evidence.leading_number), (Some(402), None));
    assert_eq!(message("request 429429 took 429 ms").status, None);
}

#[test]
fn d13_what_the_user_wrote_is_echo() {
    let evidence = message(
        r#"{"error":{"message":"bad"},"input":[{"role":"user","message":"insufficient credits HTTP 402","code":402}],"Prompt":"rate \"limit\""}"#,
    );
    assert_eq!(evidence.texts().collect::<Vec<_>>(), ["bad"]);
    assert_eq!(
        all(&evidence, SegmentKind::Echo),
        ["rate \"limit\"", "user", "insufficient credits http 402"]
    );
    assert_eq!((evidence.status, evidence.scalars.len()), (None, 1));
}

#[test]
fn scalars_serve_reset_declarations() {
    let evidence = message(
        r#"{"error":{"resets_in_seconds":392723,"x":null,"details":[{"@type":"t","retryDelay":"34.5s"}],"metadata":{"headers":{"X-RateLimit-Reset":"1741305600000"}}}}"#,
    );
    let scalars: Vec<_> = evidence.scalars.iter().map(|scalar| evidence.scalar_text(scalar)).collect();
    assert_eq!(
        scalars,
        [
            ("resets_in_seconds", "392723"),
            ("@type", "t"),
            ("retryDelay", "34.5s"),
            ("X-RateLimit-Reset", "1741305600000")
        ]
    );
}

#[test]
fn what_stands_in_two_fields_is_read_in_both_and_a_text_said_twice_once() {
    let evidence = message(
        r#"{"code":"Denied","message":"denied","error":{"message":"Denied","details":[{"description":"denied"}]}}"#,
    );
    assert_eq!(evidence.texts().collect::<Vec<_>>(), ["denied"]);
    assert_eq!(all(&evidence, SegmentKind::Code), ["denied"]);
}

#[test]
fn folding_closes_every_text() {
    let evidence = read(&SignalRef {
        message: Some("It’s  “OVER”\0\0limit"),
        code: Some("Ä-Code"),
        provider: Some("OpenRouter"),
        model: Some("GPT-5"),
        headers: Headers::Borrowed(&[("Retry-After", "30 S")]),
        ..SignalRef::default()
    });
    assert_eq!(evidence.folded, "it's \"over\" limit\0ä-code\0");
    assert_eq!((&*evidence.provider, &*evidence.model), ("openrouter", "gpt-5"));
    assert_eq!(evidence.headers, [("retry-after".into(), "30 S".into())]);
    assert_eq!(evidence.header("retry-after").next(), Some("30 S"));
}

#[test]
fn spans_lead_back_to_the_original() {
    let text = "Sorry: {\"message\":\"You’re  OUT of\\ncredits\"}";
    let evidence = message(text);
    let at = evidence.folded.find("out of credits").unwrap();
    let span = evidence.original_of(&(at..at + "out of credits".len())).unwrap();
    assert_eq!(&evidence.original[span], "OUT of\ncredits");
    let at = evidence.folded.find("sorry").unwrap();
    assert_eq!(evidence.original_of(&(at..at + 5)), Some(0..5));
    assert_eq!(evidence.original_of(&(0..evidence.folded.len())), None, "not across texts");
    assert_eq!(evidence.original_of(&(3..3)), None);
    assert_eq!(evidence.original_of(&(9_000..9_001)), None);
}

#[test]
fn d12_nothing_to_look_at() {
    for text in ["", " \n\0", "{}", " [] ", "...", r#"{"id":"x"}"#, r#"{"input":"hello"}"#] {
        assert!(message(text).is_empty(), "{text}");
    }
    assert!(read(&SignalRef { status: Some(200), provider: Some("x"), ..SignalRef::default() }).is_empty());
    for text in ["x", "402", r#"{"code":"x"}"#, "额度"] {
        assert!(!message(text).is_empty(), "{text}");
    }
}

#[test]
fn the_preview_is_harmless() {
    let evidence = message("a\u{1b}[31m \n\tb\u{202e}c\0");
    assert_eq!(evidence.preview(), "a\u{fffd}[31m b\u{fffd}c\u{fffd}");
    assert_eq!(message(&"x".repeat(500)).preview().chars().count(), 201);
}

#[test]
fn only_the_head_and_the_tail_of_a_huge_text_are_read() {
    let text = format!("start é{}é end", "x é".repeat(20_000_000));
    let evidence = message(&text);
    assert!(evidence.cut);
    assert!(evidence.original.len() <= TEXT_LIMIT);
    assert!(evidence.folded.starts_with("start é"));
    assert!(evidence.folded.contains(" … "));
    assert!(evidence.folded.ends_with("é end\0"));
    assert!(!message(&"x".repeat(TEXT_LIMIT)).cut);
    let split = message(&format!("x{}", "402:".repeat(TEXT_LIMIT)));
    assert_eq!((split.leading_number, split.status), (None, None), "a tail leads nothing");
}

#[test]
fn message_and_details_share_the_limit_and_a_cut_keeps_most_of_the_head() {
    let long = "x".repeat(TEXT_LIMIT);
    let of = |message: &str, detail: &str| {
        let details = Texts::Borrowed(&[detail]);
        read(&SignalRef { message: Some(message), details, ..SignalRef::default() })
    };
    let full = of(&long, "detail");
    assert_eq!((full.original.len(), full.cut), (TEXT_LIMIT, true), "nothing is left for the detail");
    let half = of(&long[..TEXT_LIMIT / 2], &long);
    assert_eq!(half.original.find(" … "), Some(TEXT_LIMIT / 2 + TEXT_LIMIT / 8 * 3));
    assert_eq!((half.original.len(), half.cut), (TEXT_LIMIT, true));
    assert!(!of(&long[10..], "0123456789").cut, "both fit");
    assert!(of(&"İ".repeat(TEXT_LIMIT / 2 - 10), "x").cut, "folded it is longer, and leaves nothing");
    let code = |length| read(&SignalRef { code: Some(&"c".repeat(length)), ..SignalRef::default() });
    assert_eq!([1_024, 1_025].map(|length| code(length).cut), [false, true]);
}

#[test]
fn headers_beyond_the_limit_are_passed_over() {
    let long = "x".repeat(TEXT_LIMIT - 20);
    let headers = [("first", "1"), ("long", &*long), ("beyond", "1234567890"), ("last", "2")];
    let signal = SignalRef { headers: Headers::Borrowed(&headers), ..SignalRef::default() };
    let mut evidence = Evidence::default();
    Normaliser::default().read(&signal, &mut evidence);
    let names: Vec<&str> = evidence.headers.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["first", "long", "last"]);
    assert!(evidence.cut);
}

#[test]
fn d13_an_echo_goes_on_behind_the_cut() {
    for length in [TEXT_LIMIT - 2_000, TEXT_LIMIT, 2 * TEXT_LIMIT, 20 * TEXT_LIMIT] {
        let words = "all is well with the weather ".repeat(length / 29);
        for (before, behind) in [
            (r#"{"error":{"message":"it is busy","input":""#, r#"no balance"}}"#),
            (
                r#"{"error":{"message":"it is busy"},"messages":[{"role":"user","content":""#,
                r#"no balance"}]}"#,
            ),
            (r#"{"prompt":""#, r#"no balance","error":{"message":"it is busy"}}"#),
            ("503 {'message': 'it is busy', 'prompt': '", "no balance'}"),
            (r#"{"error":"{\"message\":\"it is busy\",\"prompt\":\""#, r#"no balance\"}"}"#),
        ] {
            let evidence = message(&format!("{before}{words}{behind}"));
            assert_eq!(inner(&evidence), "it is busy", "{before}");
            let own = |kind| kind != SegmentKind::Echo;
            let mut told = evidence.segments.iter().filter(|segment| own(segment.kind));
            assert!(
                told.all(|segment| !evidence.folded_text(segment).contains("balance")),
                "{before} {length}"
            );
        }
        // Nothing stands before it.
        let evidence = message(&format!(r#"{{"prompt":"{words}no balance"}}"#));
        assert!(evidence.texts().all(|text| !text.contains("balance")), "{length}");
    }
}

#[test]
fn json_opens_eight_levels() {
    let nested =
        |levels: usize, inner: &str| format!("{}{inner}{}", "{\"a\":".repeat(levels), "}".repeat(levels));
    let open = message(&nested(7, r#"{"message":"deep"}"#));
    assert_eq!((inner(&open), open.too_deep), ("deep", false));
    let closed = message(&format!(r#"{{"b":{},"message":"near"}}"#, nested(7, r#"{"message":"deep"}"#)));
    assert_eq!((inner(&closed), closed.too_deep), ("near", true));
    let only = message(&nested(8, r#"{"message":"deep"}"#));
    assert!(only.too_deep && !only.is_empty(), "there is something, if nobody looks at it");
}

#[test]
fn strings_in_strings_end_somewhere() {
    let mut text = String::from("{\"message\":\"deep\"}");
    for level in 1..12 {
        text = format!("{{\"message\":{}}}", serde_json::Value::from(text));
        let evidence = message(&text);
        assert_eq!(evidence.too_deep, level > 8, "{level}");
        assert_eq!(inner(&evidence), if level > 8 { "" } else { "deep" }, "{level}");
    }
}

#[test]
fn hostile_texts_leave_no_more_than_their_length() {
    for unit in [
        "{",
        "[",
        "<",
        "{\"",
        "{\"a\":",
        "[{\"a\":",
        "{'a':'",
        "{}",
        "[] ",
        "{\\\"",
        "<html>",
        "<script>",
        "<!--",
        "\"",
        "{\"code\":1,",
        "{\"message\":\"{}\",",
        "{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":1}}}}}}}}}",
        "error 404 ",
        "{ ",
        "&",
        "{\"message\":\"\\u0041",
        "{'",
        "x'",
        "{'m':'x'x",
        "\0",
        "İ",
    ] {
        let text = unit.repeat(TEXT_LIMIT / unit.len() + 1);
        let mut evidence = Evidence::default();
        normaliser().read(&SignalRef { message: Some(&text), ..SignalRef::default() }, &mut evidence);
        well_formed(&evidence);
        // A text that is read and one that it holds unescaped; folding makes some characters longer.
        let most = evidence.original.len().max(evidence.folded.len());
        assert!(most <= 2 * TEXT_LIMIT, "{unit}: {most}");
    }
    let deep = "[".repeat(10_000) + &"{\"error\":".repeat(10_000);
    let _ = message(&deep);
}

#[test]
fn buffers_carry_nothing_over() {
    let mut evidence = Evidence::default();
    let full = Signal {
        provider: Some("p".into()),
        status: Some(500),
        message: Some(r#"9 x {"message":"a \n b","code":"c"}"#.into()),
        details: vec!["d".into()],
        headers: vec![("A".into(), "b".into())],
        ..Signal::default()
    };
    normaliser().read(&full.as_ref(), &mut evidence);
    normaliser().read(&SignalRef::default(), &mut evidence);
    let fresh = Evidence::default();
    assert!(evidence.is_empty() && evidence.headers.is_empty() && evidence.provider.is_empty());
    assert_eq!(
        (evidence.folded, evidence.original, evidence.segments),
        (fresh.folded, fresh.original, fresh.segments)
    );
    assert_eq!(
        (evidence.statuses, evidence.leading_number, evidence.body),
        (fresh.statuses, None, fresh.body)
    );
}

#[test]
fn buffers_are_used_again() {
    let normaliser = normaliser();
    let mut evidence = Evidence::default();
    let message =
        format!("Error code: 429 - {{'error': {{'message': '{}', 'code': 'c'}}}}", "Slow down. ".repeat(180));
    let signal = SignalRef {
        message: Some(&message),
        provider: Some("p"),
        headers: Headers::Borrowed(&[("Retry-After", "30")]),
        ..SignalRef::default()
    };
    let mut places = Vec::new();
    for _ in 0..3 {
        normaliser.read(&signal, &mut evidence);
        let texts = [&evidence.folded, &evidence.original, &evidence.provider, &evidence.headers[0].1];
        places.push((texts.map(|text| (text.as_ptr(), text.capacity())), evidence.segments.as_ptr()));
    }
    assert_eq!(places[1], places[2]);
}

#[test]
fn every_row_of_the_corpus_leaves_evidence() {
    for corpus in [include_str!("corpus/field.jsonl"), include_str!("corpus/reference-host.jsonl")] {
        for line in corpus.lines() {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            let text = |key: &str| row[key].as_str();
            let details: Vec<&str> =
                row["details"].as_array().into_iter().flatten().filter_map(|d| d.as_str()).collect();
            let evidence = read(&SignalRef {
                status: row["status"].as_u64().and_then(|s| u16::try_from(s).ok()),
                code: text("code"),
                error_type: text("errorType"),
                message: text("message"),
                details: Texts::Borrowed(&details),
                ..SignalRef::default()
            });
            let given = ["message", "code", "errorType"]
                .iter()
                .any(|key| text(key).is_some_and(|t| t.contains(char::is_alphanumeric)));
            assert_eq!(!evidence.is_empty(), given || evidence.status.is_some(), "{line}");
            assert!(!evidence.cut && !evidence.too_deep, "{line}");
        }
    }
}

proptest! {
    #[test]
    fn never_panics(text in "\\PC{0,60}|([{}\\[\\]\"':,\\\\<>/ab \0é]|\"message\":|'code': |\\\\u0|<title>|429|data: ){0,60}") {
        let evidence = message(&text);
        for segment in &evidence.segments {
            let span = evidence.original_of(&segment.folded).expect("a whole segment leads back");
            prop_assert!(segment.original.start <= span.start && span.end <= segment.original.end);
        }
    }

    #[test]
    fn bytes_that_are_no_text_do_no_harm(bytes: Vec<u8>) {
        message(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn a_message_survives_any_json_string(text in "[ -~é“\n]{0,40}", code in "[a-z_]{1,20}") {
        prop_assume!(!text.contains(['{', '[', '<']) && text.chars().any(char::is_alphanumeric));
        let json = serde_json::json!({"error": {"message": text, "code": code}}).to_string();
        let (lifted, plain) = (message(&json), message(&text));
        prop_assert_eq!(inner(&lifted), inner(&plain));
        prop_assert_eq!(all(&lifted, SegmentKind::Code), [code]);
    }
}
