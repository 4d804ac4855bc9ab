//! Generated rule files: what an operator can write, with a base file, an overlay above and below it, and
//! edits; and the order of trial that must come of it.

use super::dice::Dice;

/// Two files, and the full names of their rules in the order of trial.
pub struct Written {
    pub root: String,
    pub base: String,
    pub order: Vec<String>,
}

/// A rule, or a block with its rules.
enum Item {
    Rule { name: String, text: String },
    Block { name: String, head: String, rules: Vec<(String, String)> },
}

const WORDS: &[&str] = &[
    "rate limit",
    "limit reached",
    "quota",
    "no credits",
    "余额不足",
    "too many",
    "x_y",
    "limits",
    "try again",
    "key",
    "over-loaded",
    "error 7",
    "rate",
    "limit",
    "it's",
    "a",
    "额",
    "insufficient_quota",
];
const EXPRESSIONS: &[&str] = &[
    r"\brate[ _-]limits?\b",
    r"quota.{0,9}exceeded",
    r"try again in (?:\d+|a few) (?:s|min)",
    r"余额.{0,2}不足",
    r"^too many",
    r"(?:credit|token)s? (?:left|gone)",
    r"key[a-z]* \w+ \W",
    r"limit reached\|\d{3,5}$",
];
const PROVIDERS: &[&str] = &["openai", "openai-codex", "groq", "kimi-x", "azure"];
const FIELDS: &[&str] = &[
    "text",
    "text",
    "text",
    "message",
    "detail",
    "wrapper",
    "echo",
    "code",
    "type",
    "param",
    "header \"x-a\"",
];

const HEAD: &str = "language 1\nbucket b0 { http 429 }\nbucket b1 { http 402 }\nbucket b2 { http 500 }\n\
    alias openai = openai-codex, azure\nbackoff short = steps 1m\nsetting far = 2h\n\
    on b0 { cooldown profile using short until reset at least 5s at most 30m; fallback }\n\
    on b1 { disable profile using short until reset at least 1s at most far; rotate; fallback }\non b2 { surface }\n\
    reset wait from header \"retry-after\" in seconds, date\n\
    reset many from header \"x-reset-*\" in duration, epoch when status is 429 trusted up to 8d\n\
    reset inside from field \"retry_after\" in seconds, duration\n\
    reset said from text /try again in (?<t>\\d+(?:\\.\\d+)? ?(?:s|m|h|hours?))/ in duration\n\
    list l0 = [\"quota exceeded\", \"no credits\", \"limit\"]\nlist l1 = [\"rate_limit\", \"余额\"]\n\
    let n0 = text has any of l0\n";

impl Written {
    pub fn new(dice: &mut Dice) -> Self {
        let mut base = HEAD.to_owned();
        base.push_str(&format!("let n1 = {}\n", condition(dice, 2, 1)));
        base.push_str(&format!("let n2 = n1 or {}\n", condition(dice, 1, 1)));
        let mut items = items(dice, "base");
        let (above, below) = (items_of(dice, "above", 2), items_of(dice, "below", 2));
        let mut root = "language 1\n".to_owned();
        print(&above, &mut root);
        root.push_str("use \"base.rules\"\n");
        print(&below, &mut root);
        print(&items, &mut base);
        edit(&mut items, dice, &mut root);
        let order = above.iter().chain(&items).chain(&below).flat_map(names).collect();
        Self { root, base, order }
    }
}

/// The rules of the root alone, above and below whatever stands between.
pub fn around(dice: &mut Dice) -> (String, String) {
    let mut texts = [String::new(), String::new()];
    for (text, stem) in texts.iter_mut().zip(["above", "below"]) {
        let rules = (0..=dice.below(3))
            .map(|at| rule(dice, &format!("{stem}{at}"), &["rate_limit", "billing", "timeout"], 0));
        print(&rules.map(|(name, text)| Item::Rule { name, text }).collect::<Vec<_>>(), text);
    }
    texts.into()
}

fn items(dice: &mut Dice, stem: &str) -> Vec<Item> {
    let most = 3 + dice.below(10);
    items_of(dice, stem, most)
}

fn items_of(dice: &mut Dice, stem: &str, most: usize) -> Vec<Item> {
    const BUCKETS: &[&str] = &["b0", "b0", "b1", "b2", "unclassified"];
    (0..=dice.below(most))
        .map(|at| {
            let name = format!("{stem}{at}");
            if dice.chance(65) {
                let (name, text) = rule(dice, &name, BUCKETS, 3);
                return Item::Rule { name, text };
            }
            let head = if dice.chance(40) {
                let ids = match dice.below(3) {
                    0 => dice.word(PROVIDERS).to_owned(),
                    1 => "[groq, azure]".to_owned(),
                    _ => "\"kimi*\"".to_owned(),
                };
                format!("provider {ids} as {name}")
            } else {
                format!("group {name} when {}", condition(dice, 1, 3))
            };
            let mut rules: Vec<_> =
                (0..=dice.below(3)).map(|at| rule(dice, &format!("r{at}"), BUCKETS, 3)).collect();
            if dice.chance(30) {
                rules.push(("rest".to_owned(), "rule rest -> b2 otherwise\n".to_owned()));
            }
            Item::Block { name, head, rules }
        })
        .collect()
}

/// A rule's name and text; `lets` names may be used in it.
fn rule(dice: &mut Dice, name: &str, buckets: &[&str], lets: usize) -> (String, String) {
    let observe = if dice.chance(12) { "observe " } else { "" };
    let bucket = dice.word(buckets);
    let reaction = match dice.below(12) {
        0 => " reaction { no window }",
        1 => " reaction only { surface }",
        2 => " reaction { surface }",
        _ => "",
    };
    let text = format!("{observe}rule {name} -> {bucket} when {}{reaction}\n", condition(dice, 2, lets));
    (name.to_owned(), text)
}

fn condition(dice: &mut Dice, depth: usize, lets: usize) -> String {
    if depth == 0 || dice.chance(40) {
        return match dice.below(20) {
            0..2 if lets > 0 => format!("n{}", dice.below(lets)),
            0..4 => number(dice),
            4..6 => identity(dice),
            _ => text(dice),
        };
    }
    let (one, other) = (condition(dice, depth - 1, lets), condition(dice, depth - 1, lets));
    match dice.below(5) {
        0 => format!("not ({one})"),
        1 | 2 => format!("({one} or {other})"),
        _ => format!("({one} and {other})"),
    }
}

fn number(dice: &mut Dice) -> String {
    let field = dice.word(&["status", "status", "any status", "leading_number"]);
    let first = dice.pick(&[400, 402, 429, 500]);
    match dice.below(5) {
        0 => format!("{field} is {}", dice.word(&["present", "absent"])),
        1 => format!("{field} in [{first}, 403..{}]", 403 + dice.below(100)),
        _ => format!("{field} is {first}"),
    }
}

fn identity(dice: &mut Dice) -> String {
    match dice.below(6) {
        0 => format!("model is {}", dice.word(&["\"kimi*\"", "o1", "absent", "\"*-mini\""])),
        1 => format!("body is {}", dice.word(&["html", "json", "\"text\""])),
        2 => format!("aborted is {}", dice.word(&["user", "deadline", "present"])),
        3 => format!("provider in [{}, {}]", dice.word(PROVIDERS), dice.word(PROVIDERS)),
        _ => {
            format!("provider is {}", dice.word(&["openai", "azure", "\"o*\"", "groq", "present", "absent"]))
        }
    }
}

fn text(dice: &mut Dice) -> String {
    let field = dice.word(FIELDS);
    let (word, other) = (words(dice), words(dice));
    match dice.below(14) {
        0 => format!("{field} is \"{word}\""),
        1 => format!("{field} in [\"{word}\", \"{other}\"]"),
        2 => format!("{field} has any of [\"{word}\", \"{other}\"]"),
        3 => format!("{field} has all of [\"{word}\", \"{other}\"]"),
        4 => format!("{field} has {} of {}", dice.word(&["any", "all"]), dice.word(&["l0", "l1"])),
        5 => format!("{field} contains \"{word}\""),
        6 => format!("{field} starts with \"{word}\""),
        7 => format!("{field} is {}", dice.word(&["present", "absent"])),
        8 => format!("{field} matches /{}/ always", dice.word(&[r"a|er", r"\d{3}$", r"^\W"])),
        9..12 => format!("{field} matches /{}/{}", dice.word(EXPRESSIONS), dice.word(&["", "", "c"])),
        _ => format!("{field} has \"{word}\""),
    }
}

fn words(dice: &mut Dice) -> String {
    let one = dice.word(WORDS).to_owned();
    match dice.below(4) {
        0 => format!("{one} {}", dice.word(WORDS)),
        1 => format!("{one}{}{}", dice.word(&["_", "-", ""]), dice.word(WORDS)).to_uppercase(),
        _ => one,
    }
}

/// Drops a rule, puts one in beside another, and extends a list; each at times.
fn edit(items: &mut Vec<Item>, dice: &mut Dice, root: &mut String) {
    if dice.chance(40) {
        root.push_str("extend l0 with [\"too many\", \"a\"]\n");
    }
    if dice.chance(20) {
        root.push_str("set far = 3m\n");
    }
    if dice.chance(50) {
        let at = dice.below(items.len());
        match &mut items[at] {
            Item::Rule { name, .. } => {
                root.push_str(&format!("drop rule {name}\n"));
                items.remove(at);
            }
            Item::Block { name, rules, .. } if rules.len() > 1 => {
                let (rule, _) = rules.remove(0);
                root.push_str(&format!("drop rule {name}.{rule}\n"));
            }
            Item::Block { .. } => {}
        }
    }
    for item in items {
        let Item::Block { name, head, rules } = item else { continue };
        if dice.chance(50) {
            let at = dice.below(rules.len());
            let beside = rules[at].0.clone();
            let after = beside != "rest" && dice.chance(50);
            let new = rule(dice, "between", &["b1", "b2"], 3);
            let kind = if head.starts_with("group") { "group" } else { "provider" };
            let place = if after { "after" } else { "before" };
            root.push_str(&format!("in {kind} {name} {place} {beside} {{\n{}}}\n", new.1));
            rules.insert(at + usize::from(after), new);
        }
    }
}

fn print(items: &[Item], out: &mut String) {
    for item in items {
        match item {
            Item::Rule { text, .. } => out.push_str(text),
            Item::Block { head, rules, .. } => {
                let rules: String = rules.iter().map(|(_, text)| text.as_str()).collect();
                out.push_str(&format!("{head} {{\n{rules}}}\n"));
            }
        }
    }
}

fn names(item: &Item) -> Vec<String> {
    match item {
        Item::Rule { name, .. } => vec![name.clone()],
        Item::Block { name, rules, .. } => rules.iter().map(|(rule, _)| format!("{name}.{rule}")).collect(),
    }
}
