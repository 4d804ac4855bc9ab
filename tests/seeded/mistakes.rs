//! Six kinds of mistakes, five of each.

use pointsman::lang::tree::Example;

use super::{
    Edited,
    workshop::{Phrase, Workshop, overlay},
};

type Make = fn(&mut Workshop, usize) -> Edited;

pub fn thirty(shop: &mut Workshop) -> Vec<Edited> {
    let kinds: [Make; 6] = [shadowing, covered_phrase, broad_phrase, dropped_reaction, misspelt, unused];
    kinds.iter().flat_map(|make| (0..5).map(|at| make(shop, at)).collect::<Vec<_>>()).collect()
}

/// A rule that takes another one's errors.
fn shadowing(shop: &mut Workshop, at: usize) -> Edited {
    let phrases = shop.phrases();
    let rules = shop.plain_rules();
    let (files, what, about) = match at % 5 {
        // The condition of a shipped rule, above it.
        0 => {
            let number = shop.pick(&rules);
            let rule = &shop.set.rules[number];
            let condition = shop.condition(rule).unwrap();
            let text = format!(
                "rule eager -> timeout when {condition}\n  example message \"of no matter\"\nuse default\n"
            );
            (overlay(&text), format!("the condition of `{}` above it", rule.name), rule.name.to_string())
        }
        // A narrower rule below a shipped one.
        1 => {
            let phrase = shop.pick(&phrases);
            let text = format!(
                "use default\nrule late -> timeout when text has \"{} as of late\"\n  example message \"{} as of late\"\n",
                phrase.text, phrase.text
            );
            (overlay(&text), format!("`{} as of late` below its rule", phrase.text), "late".into())
        }
        // One that asks for more, below one that asks for a part of it.
        2 => {
            let (one, two) = (shop.pick(&phrases).text, "the drawbridge is up");
            let text = format!(
                "use default\nrule late -> timeout when text has all of [\"{two}\", \"{one}\"]\n  example message \"{one}, {two}\"\n"
            );
            (overlay(&text), format!("`{one}` and more below its rule"), "late".into())
        }
        // A list of values, some of which an earlier rule takes.
        3 => {
            let mut codes: Vec<String> = ["tea", "tea_time", "teapot", "kettle"].map(Into::into).into();
            let left = 1 + shop.roll(3);
            let all = format!("list codes = [\"{}\"]", codes.join("\", \""));
            while codes.len() > left {
                let at = shop.roll(codes.len());
                codes.remove(at);
            }
            let some = codes.join("\", \"");
            let text = format!(
                "{all}\nrule eager -> billing when code in codes\n  example code \"teapot\"\nrule late -> timeout when code in [\"{some}\"]\n  example code \"{}\"\nuse default\n",
                codes[0]
            );
            (overlay(&text), format!("`{some}` below {all}"), "late".into())
        }
        // The text of a shipped example, above its rule.
        _ => {
            // The message of an example that holds a payload is what the payload says.
            let plain = |example: &&Example| {
                !example.counter
                    && example.case.message.as_ref().is_some_and(|text| !text.contains(['{', '<']))
            };
            let rules: Vec<usize> = rules
                .into_iter()
                .filter(|at| shop.set.rules[*at].examples.iter().any(|e| plain(&e)))
                .collect();
            let number = shop.pick(&rules);
            let rule = &shop.set.rules[number];
            let case = rule.examples.iter().find(plain).unwrap();
            let span = case.case.span;
            let case = shop.snippet(span);
            let message = &case[case.find("message").unwrap() + 8..];
            let text = format!("rule eager -> timeout when message is {message}\nuse default\n");
            (overlay(&text), format!("an example of `{}` taken above it", rule.name), rule.name.to_string())
        }
    };
    Edited { what, files, expected: &["P0703", "P0704"], about }
}

/// A phrase that another of its list covers.
fn covered_phrase(shop: &mut Workshop, at: usize) -> Edited {
    let phrases: Vec<Phrase> = shop.phrases();
    let phrase = shop.pick(&phrases);
    if at == 4 {
        return covered_in_all(shop, &phrase);
    }
    let longer = match shop.roll(4) {
        0 => format!("{} right now", phrase.text),
        1 => format!("sorry: {}", phrase.text),
        2 => format!("{}_of_yours", phrase.text.replace(' ', "_")),
        _ => format!("Your {} today", phrase.text.to_uppercase()),
    };
    let files = match &phrase.list {
        Some(list) if at.is_multiple_of(2) => {
            overlay(&format!("use default\nextend {list} with [\"{longer}\"]\n"))
        }
        _ => {
            let both = format!("{}, \"{longer}\"", shop.snippet(phrase.span));
            // `has "x"` takes one phrase.
            let alone = shop.set.rules[phrase.rule].span;
            let lone = phrase.list.is_none() && !shop.snippet(alone).contains("any of");
            shop.with(phrase.span, &if lone { format!("any of [{both}]") } else { both })
        }
    };
    Edited {
        what: format!("`{longer}` beside `{}`", phrase.text),
        files,
        expected: &["P0705"],
        about: longer,
    }
}

/// Where all phrases are asked for, it is the shorter one that is never needed.
fn covered_in_all(shop: &mut Workshop, phrase: &Phrase) -> Edited {
    let short = phrase.text.clone();
    let long = shop.pick(&[format!("{short} as of late"), format!("of course {short}")]);
    let mut both = [short.as_str(), long.as_str(), "gone fishing"];
    both.swap(0, shop.roll(3));
    let all = both.join("\", \"");
    let text = format!(
        "rule mine -> timeout when text has all of [\"{all}\"]\n  example message \"{long}, gone fishing\"\nuse default\n"
    );
    Edited { what: text.clone(), files: overlay(&text), expected: &["P0705"], about: short }
}

/// A phrase of one word that stands anywhere.
fn broad_phrase(shop: &mut Workshop, at: usize) -> Edited {
    let phrases = shop.phrases();
    let (phrase, word) = if at.is_multiple_of(2) {
        let words = shop.broad.clone();
        (shop.pick(&phrases), shop.pick(&words))
    } else {
        // What is left of a phrase when one is in a hurry.
        let broad = |word: &str| shop.broad.iter().any(|known| known == word);
        let cut: Vec<(Phrase, String)> = phrases
            .iter()
            .filter(|phrase| phrase.text.contains(' '))
            .flat_map(|phrase| {
                let words = phrase.text.split(' ').filter(|word| broad(word));
                words.map(|word| (phrase.clone(), word.to_owned())).collect::<Vec<_>>()
            })
            .collect();
        shop.pick(&cut)
    };
    let files = shop.with(phrase.span, &format!("\"{word}\""));
    let what = format!("`{}` shortened to `{word}`", phrase.text);
    Edited { what, files, expected: &["P0709", "P0710"], about: word }
}

/// A bucket that loses what follows from it.
fn dropped_reaction(shop: &mut Workshop, _: usize) -> Edited {
    let text = shop.texts()["policy/reactions.rules"].clone();
    let heads: Vec<usize> = text.match_indices("\non ").map(|(at, _)| at + 1).collect();
    let from = shop.pick(&heads);
    let rest = &text[from..];
    let end = from + rest.find("}\n").unwrap() + 2;
    let bucket = rest[3..].split_whitespace().next().unwrap().to_owned();
    let files = shop.copy(|texts, _| {
        texts.get_mut("policy/reactions.rules").unwrap().replace_range(from..end, "");
    });
    // The built-in buckets have a reaction of their own; dropping theirs is a choice.
    if ["unclassified", "empty_response"].contains(&bucket.as_str()) {
        return dropped_reaction(shop, 0);
    }
    Edited { what: format!("no `on {bucket}`"), files, expected: &["P0601"], about: bucket }
}

/// A name with a typing mistake in an overlay.
fn misspelt(shop: &mut Workshop, _: usize) -> Edited {
    let names = |all: Vec<String>| all.into_iter().filter(|name| name.len() > 4).collect::<Vec<_>>();
    let set = &shop.set;
    let blocks = names(set.blocks.iter().map(|b| b.name.to_string()).collect());
    let rules = names(set.rules.iter().map(|r| r.name.to_string()).collect());
    let lists = names(set.lists.iter().map(|l| l.name.to_string()).collect());
    let settings = names(set.settings.iter().map(|s| s.name.to_string()).collect());
    let backoffs = names(set.backoffs.iter().map(|b| b.name.to_string()).collect());
    let buckets = names(set.buckets.iter().skip(2).map(|b| b.name.to_string()).collect());
    let lets = names(set.lets.iter().map(|l| l.name.to_string()).collect());
    let (pool, template): (Vec<String>, &str) = match shop.roll(8) {
        0 => (rules, "drop rule @\n"),
        1 => (lists, "extend @ with [\"fortnightly thing\"]\n"),
        2 => (settings, "set @ = 7\n"),
        3 => (backoffs, "replace backoff @ = steps 1m\n"),
        4 => (
            buckets,
            "rule mine -> @ when text has \"paused for tea\"\n  example message \"paused for tea\"\n",
        ),
        5 => (lets, "rule mine -> timeout when @ and text has \"paused for tea\"\n"),
        6 => (lists, "rule mine -> timeout when text has any of @ and status is 418\n"),
        _ => (blocks, "in @ before # { rule mine -> timeout when text has \"paused for tea\" }\n"),
    };
    let name = shop.pick(&pool);
    let wrong = typo(shop, &name);
    let text = if template.starts_with("in @") {
        template
            .replace('#', &first_rule(shop, &name))
            .replace("in @", &format!("in {} @", kind(shop, &name)))
    } else {
        template.to_owned()
    };
    let text = text.replace('@', &wrong);
    Edited {
        what: format!("`{wrong}` for `{name}` in {text}"),
        files: overlay(&format!("use default\n{text}")),
        expected: &["P0201", "P0202", "P0203", "P0204", "P0205", "P0206", "P0501"],
        about: name,
    }
}

fn kind(shop: &Workshop, block: &str) -> &'static str {
    let block = shop.set.blocks.iter().find(|found| &*found.name == block).unwrap();
    if shop.snippet(block.span).starts_with("group") { "group" } else { "provider" }
}

/// The bare name of a block's first rule.
fn first_rule(shop: &Workshop, block: &str) -> String {
    let at = shop.set.blocks.iter().position(|found| &*found.name == block).unwrap();
    let inside = shop.set.rules.iter().find(|rule| rule.block.is_some_and(|block| block.index() == at));
    inside.map_or("anything", |rule| shop.snippet(rule.name_span)).to_owned()
}

/// A letter lost, doubled, or changed places with its neighbour; never in front.
fn typo(shop: &mut Workshop, name: &str) -> String {
    loop {
        let mut letters: Vec<char> = name.chars().collect();
        let at = 1 + shop.roll(letters.len() - 2);
        match shop.roll(3) {
            0 => drop(letters.remove(at)),
            1 => letters.insert(at, letters[at]),
            _ => letters.swap(at, at + 1),
        }
        let wrong: String = letters.into_iter().collect();
        // A dot begins another part of the name.
        let bad = wrong == name || wrong.contains("..") || wrong.ends_with('.') || wrong.contains("._");
        if !bad && wrong.matches('.').count() == name.matches('.').count() {
            return wrong;
        }
    }
}

/// Something declared that nothing names.
fn unused(shop: &mut Workshop, at: usize) -> Edited {
    let word = shop.pick(&["spare", "leftover", "old_words", "draft", "unfinished"]);
    let text = match at {
        0 => format!("let {word} = text has \"paused for tea\"\nuse default\n"),
        1 => format!("use default\nlist {word} = [\"paused for tea\", \"gone fishing\"]\n"),
        2 => format!("use default\nbackoff {word} = steps 1m, 2m\n"),
        3 => format!("setting {word} = 3m\nuse default\n"),
        // The last use of a shipped let in a copy.
        _ => {
            let lets: Vec<String> = shop.set.lets.iter().map(|l| l.name.to_string()).collect();
            let name = shop.pick(&lets);
            let files = shop.copy(|texts, _| {
                for text in texts.values_mut() {
                    let whole = regex::Regex::new(&format!(r"\blet {name}\b|\b{name}\b")).unwrap();
                    let new = whole.replace_all(text, |found: &regex::Captures<'_>| {
                        if found[0].starts_with("let ") {
                            found[0].to_owned()
                        } else {
                            "status is 418".to_owned()
                        }
                    });
                    *text = new.into_owned();
                }
            });
            return Edited {
                what: format!("no use of `{name}` left"),
                files,
                expected: &["P0706"],
                about: name,
            };
        }
    };
    Edited {
        what: format!("unused `{word}`: {text}"),
        files: overlay(&text),
        expected: &["P0706"],
        about: word.into(),
    }
}
