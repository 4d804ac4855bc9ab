//! Edits that an operator may make without a second thought.

use pointsman::{
    classify::Scratch,
    lang::{fmt, load, tree::engine_list},
    table::{NoSettings, Table},
    verify,
};

use super::{
    Edited,
    workshop::{Texts, Workshop, overlay},
};

const CASES: [(&str, &str); 6] = [
    ("paused for tea", "The kettle is on, paused for tea until four"),
    ("gone fishing", "Our gateway has gone fishing"),
    ("the moon is full", "Sorry, the moon is full tonight"),
    ("out of biscuits", "We are out of biscuits, come back later"),
    ("lantern went dark", "lantern went dark at node 7"),
    ("the drawbridge is up", "The drawbridge is up"),
];

pub fn edits(shop: &mut Workshop) -> Vec<Edited> {
    let mut out: Vec<Edited> = (0..16).map(|at| in_overlay(shop, at)).collect();
    out.extend((0..8).map(|at| of_several(shop, at)));
    out.extend((0..5).map(|_| swapped(shop)));
    out.extend((0..3).map(|_| renamed(shop)));
    out.extend((0..2).map(|_| commented(shop)));
    out.push(formatted(shop));
    out.push(longer_example(shop));
    out.push(extended(shop));
    out.push(dropped(shop));
    out
}

fn silent(what: impl Into<String>, files: load::files::Memory) -> Edited {
    Edited { what: what.into(), files, expected: &[], about: String::new() }
}

fn in_overlay(shop: &mut Workshop, at: usize) -> Edited {
    let (phrase, message) = shop.pick(&CASES);
    let bucket = {
        let buckets: Vec<String> = shop.set.buckets.iter().skip(2).map(|b| b.name.to_string()).collect();
        shop.pick(&buckets)
    };
    let list = {
        let used = [
            "usage_window_words",
            "throttle_words",
            "busy_words",
            "no_entry_words",
            "empty_account",
            "unpaid_bill",
        ];
        shop.pick(&used)
    };
    let settings: Vec<String> = shop.set.settings.iter().map(|s| s.name.to_string()).collect();
    let setting = shop.pick(&settings);
    let value = match setting.as_str() {
        count if count.ends_with("rotations") => "2",
        // A cap is above every start.
        cap if cap.ends_with("_cap") => "30h",
        _ => "20m",
    };
    let example = format!("  example message \"{message}\"\n");
    let rule = format!("rule mine -> {bucket} when text has \"{phrase}\"\n{example}");
    let text = match at {
        0 => format!("{rule}use default\n"),
        1 => format!("use default\n{rule}"),
        2 => format!("use default\nextend {list} with [\"{phrase}\"]\n"),
        3 => format!("use default\nset {setting} = {value}\n"),
        4 => "use default\nreplace backoff short = steps 20s, 2m, 10m\n".to_owned(),
        5 => format!("observe {rule}use default\n"),
        6 => format!(
            "let tea = text has \"{phrase}\"\nrule mine -> {bucket} when tea and status in [400..499]\n  example status 418 message \"{message}\"\nuse default\n"
        ),
        7 => format!(
            "list mine_words = [\"{phrase}\", \"brewing something odd\"]\nrule mine -> {bucket} when text has any of mine_words\n{example}use default\n"
        ),
        8 => format!(
            "bucket teatime {{ http 503; transient }}\nbackoff tea = steps 4m, 8m\non teatime {{ cooldown model using tea; rotate; fallback }}\nrule mine -> teatime when text has \"{phrase}\"\n{example}use default\n"
        ),
        9 => format!(
            "provider acme {{\n  rule mine -> {bucket} when text has \"{phrase}\"\n  {example}}}\nuse default\n"
        ),
        10 => format!(
            "group teapot when status is 418 {{\n  rule mine -> {bucket} when text has \"{phrase}\"\n  {example}  rule rest -> timeout otherwise\n    example message \"short and stout\"\n}}\nuse default\n"
        ),
        11 => {
            format!("use default\n{rule}test \"mine\" {{\n  message \"{message}\" -> {bucket} by mine\n}}\n")
        }
        12 => format!(
            "rule mine -> {bucket} when text matches /\\bkettle \\d+ of \\d+\\b/\n  example message \"kettle 3 of 9 is dry\"\nuse default\n"
        ),
        13 => format!(
            "rule mine -> {bucket} when text has \"{phrase}\"\n  reaction {{ no window; surface }}\n{example}use default\n"
        ),
        14 => format!(
            "rule first -> {bucket} when text has \"{phrase}\" and status is 418\n  example status 418 message \"{message}\"\nrule second -> timeout when text has \"{phrase}\"\n{example}use default\n"
        ),
        _ => format!("use default\nreplace on timeout {{ fallback }}\nset billing_cap = 12h\n{rule}"),
    };
    silent(text.clone(), overlay(&text))
}

/// Conditions on several phrases or values at once.
fn of_several(shop: &mut Workshop, at: usize) -> Edited {
    let (phrase, message) = shop.pick(&CASES);
    // A word of the phrase beside it would be covered.
    let mut common = shop.broad.clone();
    common.retain(|word| !phrase.split(' ').any(|other| other == word));
    let (one, two) = (shop.pick(&common), shop.pick(&common));
    let shipped = shop.phrases();
    let known = shop.pick(&shipped).text;
    let all = |phrases: &[&str]| format!("text has all of [\"{}\"]", phrases.join("\", \""));
    let rule = |name: &str, when: &str, case: &str| {
        format!("rule {name} -> timeout when {when}\n  example {case}\n")
    };
    let text = match at {
        // Beside another phrase a common word tells something.
        0 => rule("mine", &all(&[&one, phrase]), &format!("message \"{message}: {one}\"")),
        // A shipped phrase, narrowed.
        1 => rule("mine", &all(&[phrase, &known]), &format!("message \"{message}. {known}\"")),
        // Narrow above wide.
        2 => {
            rule("narrow", &all(&[phrase, "teapot"]), &format!("message \"{message}, teapot\""))
                + &rule("wide", &all(&[phrase]), &format!("message \"{message}\""))
        }
        // Two that overlap, and neither holds the other.
        3 => {
            rule("left", &all(&[phrase, "teapot"]), &format!("message \"{message}, teapot\""))
                + &rule("right", &all(&[phrase, "kettle lid"]), &format!("message \"{message}, kettle lid\""))
        }
        // Any of a list here, all of it there: no entry is never needed.
        4 => {
            format!("list mine_words = [\"{phrase}\", \"{phrase} again\"]\n")
                + &rule(
                    "strict",
                    "text has all of mine_words and status is 418",
                    &format!("status 418 message \"{phrase} again\""),
                )
                + &rule("lenient", "text has any of mine_words", &format!("message \"{message}\""))
        }
        // Values are compared whole: none covers another, and a common word is a value like another.
        5 => {
            let value = |text: &str| text.replace(' ', "_");
            format!("list mine_codes = [\"{0}\", \"{0}_{1}\", \"tea_{two}\"]\n", value(phrase), one)
                + &rule("mine", "code in mine_codes", &format!("code \"tea_{two}\""))
        }
        6 => {
            rule("mine", &format!("code in [\"tea_{one}\", \"tea\"]"), "code \"tea\"")
                + &rule(
                    "rest",
                    &format!("code in [\"tea\", \"teapot_{two}\"]"),
                    &format!("code \"teapot_{two}\""),
                )
        }
        // The same list whole of a code, and as phrases of a text.
        _ => {
            format!("list mine_words = [\"{phrase}\", \"{phrase} again\"]\n")
                + &rule(
                    "mine",
                    &format!("type in mine_words or {}", all(&[phrase, "teapot"])),
                    &format!("message \"{message}, teapot\""),
                )
        }
    };
    let text = text + "use default\n";
    silent(text.clone(), overlay(&text))
}

/// Paragraphs of a file; a rule with its comment and its examples is one.
fn paragraphs(text: &str) -> Vec<&str> {
    text.split("\n\n").collect()
}

fn is_rule(paragraph: &str) -> bool {
    let head = paragraph.lines().find(|line| !line.starts_with('#') && !line.is_empty());
    head.is_some_and(|line| line.starts_with("rule ")) && !paragraph.contains("otherwise")
}

/// Two rules that have nothing to do with each other, in the other order.
fn swapped(shop: &mut Workshop) -> Edited {
    loop {
        let names: Vec<String> =
            shop.texts().keys().filter(|n| n.starts_with("classify/")).cloned().collect();
        let name = shop.pick(&names);
        let text = shop.texts()[&name].clone();
        let mut parts = paragraphs(&text);
        let pairs: Vec<usize> =
            (1..parts.len()).filter(|at| is_rule(parts[at - 1]) && is_rule(parts[*at])).collect();
        if pairs.is_empty() {
            continue;
        }
        let at = shop.pick(&pairs);
        parts.swap(at - 1, at);
        let (upper, lower) = (parts[at - 1].to_owned(), parts[at].to_owned());
        let text = parts.join("\n\n");
        let files = shop.copy(|texts, _| drop(texts.insert(name.clone(), text)));
        let set = load::load(&files, "main.rules").unwrap().0;
        // Only what changes nothing is harmless.
        if same_verdicts(shop, set) {
            let head =
                |part: &str| part.lines().find(|line| line.starts_with("rule ")).unwrap_or("").to_owned();
            return silent(format!("{name}: `{}` before `{}`", head(&upper), head(&lower)), files);
        }
    }
}

fn same_verdicts(shop: &Workshop, set: pointsman::lang::tree::Ruleset) -> bool {
    let old = Table::compile(shop.set.clone(), &NoSettings).unwrap();
    let new = Table::compile(set, &NoSettings).unwrap();
    let mut scratch = Scratch::default();
    let cases = old.ruleset().rules.iter().flat_map(|rule| &rule.examples);
    cases.into_iter().all(|example| {
        let signal = verify::signal(&example.case);
        let (a, b) = (old.classify(&signal, &mut scratch), new.classify(&signal, &mut scratch));
        a.rule.map(|rule| old.rule(rule).name.clone()) == b.rule.map(|rule| new.rule(rule).name.clone())
    })
}

/// Another name for a let, a list or a rule, everywhere.
fn renamed(shop: &mut Workshop) -> Edited {
    let mut names: Vec<String> = shop.set.lets.iter().map(|l| l.name.to_string()).collect();
    // The engine looks for its own lists by their names.
    let lists = shop.set.lists.iter().map(|l| l.name.to_string());
    names.extend(lists.filter(|name| !engine_list::ALL.contains(&name.as_str())));
    names.retain(|name| name.contains('_'));
    let name = shop.pick(&names);
    let whole = regex::Regex::new(&format!(r"\b{name}\b")).unwrap();
    let files = shop.copy(|texts, _| {
        for text in texts.values_mut() {
            *text = whole.replace_all(text, format!("{name}_renamed")).into_owned();
        }
    });
    silent(format!("`{name}` renamed"), files)
}

fn commented(shop: &mut Workshop) -> Edited {
    let names: Vec<String> = shop.texts().keys().cloned().collect();
    let name = shop.pick(&names);
    let files = shop.copy(|texts: &mut Texts, _| {
        let text = texts.get_mut(&name).unwrap();
        let mut lines: Vec<&str> = text.split("\n\n").collect();
        lines.insert(1, "# A remark of nobody in particular: rule x -> y when z.");
        *text = lines.join("\n\n");
    });
    silent(format!("a comment in {name}"), files)
}

fn formatted(shop: &mut Workshop) -> Edited {
    let names: Vec<String> = shop.texts().keys().cloned().collect();
    let name = shop.pick(&names);
    let text = fmt::format(&shop.texts()[&name].replace("  example", "\texample")).unwrap();
    silent(format!("{name} formatted"), shop.copy(|texts, _| drop(texts.insert(name.clone(), text))))
}

/// An example more, of the same kind.
fn longer_example(shop: &mut Workshop) -> Edited {
    let rules = shop.plain_rules();
    let with_text: Vec<usize> =
        rules.into_iter().filter(|at| shop.set.rules[*at].examples.iter().any(|e| !e.counter)).collect();
    let number = shop.pick(&with_text);
    let rule = &shop.set.rules[number];
    let example = rule.examples.iter().find(|e| !e.counter).unwrap().case.span;
    let line = shop.snippet(example).to_owned();
    silent(
        format!("an example of `{}` twice", rule.name),
        shop.with(example, &format!("{line}\n  example {}", line.trim_start_matches("example ").trim())),
    )
}

fn extended(shop: &mut Workshop) -> Edited {
    let (phrase, _) = shop.pick(&CASES);
    let phrases: Vec<_> = shop.phrases().into_iter().filter(|phrase| phrase.list.is_some()).collect();
    let beside = shop.pick(&phrases);
    let both = format!("{}, \"{phrase}\"", shop.snippet(beside.span));
    silent(format!("`{phrase}` beside `{}`", beside.text), shop.with(beside.span, &both))
}

/// A rule that no test asks for and no other rule counts on, dropped.
fn dropped(shop: &mut Workshop) -> Edited {
    let names: Vec<String> = shop.set.rules.iter().map(|rule| rule.name.to_string()).collect();
    let all: String = shop.texts().values().map(String::as_str).collect();
    // What stands above another rule's counterexample decides it in that rule's place.
    let table = Table::compile(shop.set.clone(), &NoSettings).unwrap();
    let mut scratch = Scratch::default();
    let counted_on: Vec<String> = shop
        .set
        .rules
        .iter()
        .flat_map(|rule| rule.examples.iter().filter(|example| example.counter))
        .filter_map(|example| table.classify(&verify::signal(&example.case), &mut scratch).rule)
        .map(|rule| table.rule(rule).name.to_string())
        .collect();
    let is_free = |name: &String| !all.contains(&format!("by {name}")) && !counted_on.contains(name);
    let free: Vec<String> = names.into_iter().filter(is_free).collect();
    let name = shop.pick(&free);
    silent(format!("drop rule {name}"), overlay(&format!("use default\ndrop rule {name}\n")))
}
