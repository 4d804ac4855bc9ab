//! The same error as it would come again: other ids, numbers and quoted names, in another wrapper.

use pointsman::signal::Signal;

/// Three variants.
pub fn variants(signal: &Signal) -> Vec<Signal> {
    let wrappers: [fn(&str) -> String; 3] = [
        |text| serde_json::json!({ "error": { "message": text } }).to_string(),
        |text| format!("gateway: upstream answered: {text}"),
        |text| format!("[worker-7] call failed (request id: req_8Kd93hfQ2) => {text}"),
    ];
    let vary = |turn: usize, text: &str| other_numbers(&other_names(text, turn), turn);
    let one = |(turn, wrap): (usize, &fn(&str) -> String)| {
        let mut signal = signal.clone();
        signal.message = signal.message.map(|text| wrap(&vary(turn, &text)));
        signal.details = signal.details.iter().map(|text| vary(turn, text)).collect();
        signal.model = signal.model.map(|_| format!("other-model-{turn}"));
        signal
    };
    wrappers.iter().enumerate().map(one).collect()
}

/// Other names in quotes. Where quotes are the payload's own, only those inside its texts.
fn other_names(text: &str, turn: usize) -> String {
    let names = ["umbrella", "Lantern Peak", "harbour_gate"];
    let quotes: &[&str] = if text.contains('{') { &["`"] } else { &["`", "'", "\""] };
    let mut out = text.to_owned();
    for quote in quotes {
        let parts: Vec<&str> = out.split(quote).collect();
        if parts.len() < 3 || parts.len().is_multiple_of(2) {
            continue;
        }
        let apostrophe = |before: &str| before.ends_with(|c: char| c.is_ascii_alphanumeric());
        if parts.iter().step_by(2).take(parts.len() / 2).any(|before| apostrophe(before)) {
            continue;
        }
        let mut next = String::new();
        for (n, part) in parts.iter().enumerate() {
            if n > 0 {
                next += quote;
            }
            next += if n % 2 == 1 { names[(turn + n) % names.len()] } else { part };
        }
        out = next;
    }
    out
}

/// Other digits everywhere, and other letters in words with digits; a status stays what it is.
fn other_numbers(text: &str, turn: usize) -> String {
    let key = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let mut out = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|c| !key(c)).unwrap_or(rest.len());
        let (word, tail) = rest.split_at(end);
        let status = word.parse::<u16>().is_ok_and(|number| (100..600).contains(&number));
        let id = word.len() > 8 && word.contains(|c: char| c.is_ascii_digit());
        out.extend(word.chars().map(|c| match c {
            _ if status => c,
            '0'..='9' => char::from(b'0' + (c as u8 - b'0' + 1 + u8::try_from(turn).unwrap() * 3) % 10),
            'a'..='z' if id => char::from(b'a' + (c as u8 - b'a' + 5) % 26),
            c => c,
        }));
        let next = tail.find(key).unwrap_or(tail.len());
        out += &tail[..next];
        rest = &tail[next..];
    }
    out
}
