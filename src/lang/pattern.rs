//! Regular expressions of the rules: parsed, narrowed to folded text, and their required literals.
//!
//! `check` uses this for its errors, `table` for its scan and for building the expression at
//! its first literal hit (from [`Pattern::hir`], so that both speak of the same expression).

use std::{
    ops::Range,
    sync::{Arc, OnceLock},
};

use regex_syntax::{
    ast::{self, Ast},
    hir::{self, Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind, translate::TranslatorBuilder},
};

use super::literal;

mod wrong;

/// Longest pattern, in bytes.
pub const MAX_PATTERN: usize = 2_000;
/// Largest expression, in states (repetitions written out).
const MAX_STATES: usize = 20_000;
/// Shortest required literal, in bytes.
pub const MIN_LITERAL: usize = 3;

/// A parsed regular expression.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// The expression to build. Without `/c` it stands for folded text: every letter in it is lower
    /// case. `\b`, `\w` and `\d` are ASCII.
    pub hir: Hir,
    /// Every match contains one literal of each set, as the scanned buffer shows them: folded, and `_`
    /// and `-` as blanks. Each has at least [`MIN_LITERAL`] bytes. The rarest set comes first.
    pub literals: Vec<Vec<String>>,
    /// The phrase, when the expression is nothing but one (perhaps between `\b`).
    pub plain: Option<String>,
}

impl Pattern {
    /// Whether the expression has a group of this name.
    #[must_use]
    pub fn has_group(&self, name: &str) -> bool {
        fn find(hir: &Hir, name: &str) -> bool {
            match hir.kind() {
                HirKind::Capture(c) => c.name.as_deref() == Some(name) || find(&c.sub, name),
                HirKind::Repetition(r) => find(&r.sub, name),
                HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(|p| find(p, name)),
                _ => false,
            }
        }
        find(&self.hir, name)
    }
}

/// Why a regular expression cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PatternError {
    /// One lower-case sentence.
    pub message: String,
    /// Where in the pattern.
    pub at: Range<usize>,
    /// It is well formed, but too large.
    pub too_large: bool,
    /// How to mend it.
    pub help: &'static str,
}

/// How to mend an expression that is too large.
const SHORTEN: &str = "shorten it, or lower the numbers in its repetitions";

/// What an expression parses to, kept beside it: the checker, the lints and the table all ask, and
/// parsing costs more than all the rest that they do with it. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Parsed(Arc<OnceLock<Kept>>);

/// The text and case that were parsed, and the outcome.
type Kept = (String, bool, Result<Arc<Pattern>, PatternError>);

impl Parsed {
    /// [`parse`], done once.
    ///
    /// # Errors
    /// A malformed or oversized expression.
    pub fn of(&self, pattern: &str, case_sensitive: bool) -> Result<Arc<Pattern>, PatternError> {
        let parse = || parse(pattern, case_sensitive).map(Arc::new);
        let (text, case, kept) = self.0.get_or_init(|| (pattern.to_owned(), case_sensitive, parse()));
        // A clone may have been given another text since.
        if text == pattern && *case == case_sensitive { kept.clone() } else { parse() }
    }
}

/// It says nothing that the expression does not.
impl PartialEq for Parsed {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Parsed {}

/// Parses what stands between the slashes.
///
/// # Errors
/// A malformed or oversized expression.
pub fn parse(pattern: &str, case_sensitive: bool) -> Result<Pattern, PatternError> {
    let whole = 0..pattern.len();
    let too_large =
        |message: String| PatternError { message, at: whole.clone(), too_large: true, help: SHORTEN };
    if pattern.len() > MAX_PATTERN {
        return Err(too_large(format!("longer than {MAX_PATTERN} bytes")));
    }
    let mut ast =
        ast::parse::ParserBuilder::new().nest_limit(60).build().parse(pattern).map_err(|e| PatternError {
            message: wrong::cause(e.kind()),
            at: e.span().start.offset..e.span().end.offset,
            too_large: false,
            help: wrong::help(e.kind()),
        })?;
    // Where case plays no part, nothing need be folded.
    let fold = to_ascii(&mut ast) && !case_sensitive;
    let hir = TranslatorBuilder::new().case_insensitive(fold).build().translate(pattern, &ast);
    let hir = hir.map_err(|e| {
        let (message, help) = wrong::translated(e.kind());
        let at = e.span().start.offset..e.span().end.offset;
        PatternError { message, at, too_large: false, help }
    })?;
    if states(&hir) > MAX_STATES {
        return Err(too_large("it repeats too much".to_owned()));
    }
    let hir = if fold { folded(hir) } else { hir };
    Ok(Pattern { literals: literal::required(&hir), plain: plain(&hir), hir })
}

/// Makes `\w`, `\d` and `\b` mean ASCII; whether something in it means more, or something else, when
/// case does not count. As deep as the parser lets expressions nest.
fn to_ascii(ast: &mut Ast) -> bool {
    match ast {
        Ast::ClassPerl(class) => {
            let cased = class.kind == ast::ClassPerlKind::Word;
            if let Some(ascii) = ascii_class(class) {
                let span = class.span;
                let kind = ast::ClassSet::Item(ast::ClassSetItem::Ascii(ascii));
                *ast = Ast::class_bracketed(ast::ClassBracketed { span, negated: false, kind });
            }
            cased
        }
        Ast::ClassBracketed(class) => set_to_ascii(&mut class.kind),
        Ast::ClassUnicode(_) | Ast::Flags(_) => true,
        Ast::Literal(literal) => {
            let c = literal.c;
            if c.is_ascii() { c.is_ascii_uppercase() } else { !is_uncased(c) }
        }
        Ast::Assertion(assertion) => {
            if matches!(
                assertion.kind,
                ast::AssertionKind::WordBoundary | ast::AssertionKind::NotWordBoundary
            ) {
                *ast = without_unicode((**assertion).clone());
            }
            false
        }
        Ast::Group(group) => {
            let flags = group.flags().is_some_and(|flags| !flags.items.is_empty());
            to_ascii(&mut group.ast) || flags
        }
        Ast::Repetition(repetition) => to_ascii(&mut repetition.ast),
        Ast::Concat(concat) => all_to_ascii(&mut concat.asts),
        Ast::Alternation(alternation) => all_to_ascii(&mut alternation.asts),
        Ast::Empty(_) | Ast::Dot(_) => false,
    }
}

fn all_to_ascii(asts: &mut [Ast]) -> bool {
    asts.iter_mut().fold(false, |cased, part| to_ascii(part) | cased)
}

fn set_to_ascii(set: &mut ast::ClassSet) -> bool {
    match set {
        ast::ClassSet::Item(item) => item_to_ascii(item),
        ast::ClassSet::BinaryOp(op) => set_to_ascii(&mut op.lhs) | set_to_ascii(&mut op.rhs),
    }
}

fn item_to_ascii(item: &mut ast::ClassSetItem) -> bool {
    match item {
        ast::ClassSetItem::Perl(class) => {
            let cased = class.kind == ast::ClassPerlKind::Word;
            if let Some(ascii) = ascii_class(class) {
                *item = ast::ClassSetItem::Ascii(ascii);
            }
            cased
        }
        ast::ClassSetItem::Literal(literal) => !is_uncased(literal.c),
        ast::ClassSetItem::Range(range) => range.end.c >= 'A',
        ast::ClassSetItem::Ascii(_) | ast::ClassSetItem::Unicode(_) => true,
        ast::ClassSetItem::Bracketed(class) => set_to_ascii(&mut class.kind),
        ast::ClassSetItem::Union(union) => {
            union.items.iter_mut().fold(false, |cased, item| item_to_ascii(item) | cased)
        }
        ast::ClassSetItem::Empty(_) => false,
    }
}

/// `[:word:]` for `\w`, `[:digit:]` for `\d`.
fn ascii_class(class: &ast::ClassPerl) -> Option<ast::ClassAscii> {
    let kind = match class.kind {
        ast::ClassPerlKind::Word => ast::ClassAsciiKind::Word,
        ast::ClassPerlKind::Digit => ast::ClassAsciiKind::Digit,
        ast::ClassPerlKind::Space => return None,
    };
    Some(ast::ClassAscii { span: class.span, kind, negated: class.negated })
}

/// `(?-u:…)`.
fn without_unicode(assertion: ast::Assertion) -> Ast {
    let span = assertion.span;
    let item = |kind| ast::FlagsItem { span, kind };
    let off = vec![item(ast::FlagsItemKind::Negation), item(ast::FlagsItemKind::Flag(ast::Flag::Unicode))];
    let kind = ast::GroupKind::NonCapturing(ast::Flags { span, items: off });
    Ast::group(ast::Group { span, kind, ast: Box::new(Ast::assertion(assertion)) })
}

/// Whether a character has no other case.
fn is_uncased(c: char) -> bool {
    let same = |case: &mut dyn Iterator<Item = char>| case.next() == Some(c) && case.next().is_none();
    same(&mut c.to_lowercase()) && same(&mut c.to_uppercase())
}

/// How many states the expression takes, roughly.
fn states(hir: &Hir) -> usize {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(l) => l.0.len(),
        HirKind::Class(Class::Unicode(c)) => c.ranges().len().max(1),
        HirKind::Class(Class::Bytes(c)) => c.ranges().len().max(1),
        HirKind::Repetition(r) => states(&r.sub).saturating_mul(r.max.unwrap_or(r.min).max(1) as usize),
        HirKind::Capture(c) => states(&c.sub).saturating_add(2),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().fold(1, |sum: usize, part| sum.saturating_add(states(part)))
        }
    }
}

/// Takes out of small classes the letters that folded text cannot hold: `[Kk]` becomes `k`.
fn folded(hir: Hir) -> Hir {
    match hir.into_kind() {
        HirKind::Empty => Hir::empty(),
        HirKind::Look(look) => Hir::look(look),
        HirKind::Literal(l) => Hir::literal(l.0),
        HirKind::Class(Class::Unicode(class)) => Hir::class(Class::Unicode(narrowed(class))),
        HirKind::Class(class) => Hir::class(class),
        HirKind::Repetition(r) => Hir::repetition(hir::Repetition { sub: Box::new(folded(*r.sub)), ..r }),
        HirKind::Capture(c) => Hir::capture(hir::Capture { sub: Box::new(folded(*c.sub)), ..c }),
        HirKind::Concat(parts) => Hir::concat(parts.into_iter().map(folded).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.into_iter().map(folded).collect()),
    }
}

fn narrowed(class: ClassUnicode) -> ClassUnicode {
    let size: u32 = class.ranges().iter().map(|r| u32::from(r.end()) - u32::from(r.start()) + 1).sum();
    if size > 4 {
        return class;
    }
    let chars: Vec<char> = class.ranges().iter().flat_map(|r| r.start()..=r.end()).collect();
    let kept = chars.iter().filter(|c| literal::is_folded(**c));
    let narrow = ClassUnicode::new(kept.map(|c| ClassUnicodeRange::new(*c, *c)));
    if narrow.ranges().is_empty() { class } else { narrow }
}

fn plain(hir: &Hir) -> Option<String> {
    let text = |hir: &Hir| match hir.kind() {
        HirKind::Literal(l) => String::from_utf8(l.0.to_vec()).ok(),
        _ => None,
    };
    match hir.kind() {
        HirKind::Concat(parts) => {
            let boundary = |hir: &&Hir| matches!(hir.kind(), HirKind::Look(hir::Look::WordAscii));
            let inner: Vec<&Hir> = parts.iter().filter(|p| !boundary(p)).collect();
            match inner.as_slice() {
                [only] => text(only),
                _ => None,
            }
        }
        _ => text(hir),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literals(pattern: &str) -> Option<Vec<String>> {
        parse(pattern, false).unwrap().literals.first().cloned()
    }

    #[expect(clippy::unnecessary_wraps, reason = "what `literals` is compared with")]
    fn some(all: &[&str]) -> Option<Vec<String>> {
        Some(all.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn literals_of_sequences_and_choices() {
        assert_eq!(
            literals(r"\bkey (budget )?limit (exceeded|reached)\b"),
            some(&[
                "key budget limit exceeded",
                "key budget limit reached",
                "key limit exceeded",
                "key limit reached"
            ])
        );
        assert_eq!(literals(r"rate[ _-]limit"), some(&["rate limit"]));
        assert_eq!(literals(r"(?:quota|billing) .* \d+"), some(&["billing", "quota"]));
        assert_eq!(literals(r"resets? in \d+"), some(&["reset in", "resets in"]));
        assert_eq!(literals(r"(foo|\d+)"), None);
        assert_eq!(literals(r"\d+ [a-z]+"), None);
        assert_eq!(literals(r"(?:abc)+x?"), some(&["abc"]));
        assert_eq!(literals(r"(?:abc)*"), None);
        assert_eq!(literals(r"余额不足.{0,5}充值"), some(&["余额不足"]));
    }

    #[test]
    fn each_part_that_must_be_there_gives_a_set() {
        let sets = |pattern: &str| parse(pattern, false).unwrap().literals;
        assert_eq!(sets(r"quota .* (?:exceeded|reached)"), [vec!["exceeded", "reached"], vec!["quota"]]);
        assert_eq!(sets(r"(?:quota .* used){2}"), [["quota"], ["used"]]);
        assert_eq!(sets(r"quota .* used .* quota .* plan"), [["quota"], ["used"], ["plan"]]);
        // One or the other: of each the rarest is enough.
        assert_eq!(sets(r"quota .* exceeded|plan .* x"), [["exceeded", "plan"]]);
        assert_eq!(sets(r"plan(?: .* quota)? .* \d"), [["plan"]]);
    }

    #[test]
    fn case_folds_unless_asked() {
        assert_eq!(literals("ServiceQuota"), some(&["servicequota"]));
        assert_eq!(parse("Service  Quota", true).unwrap().literals, [["service"]]);
        assert_eq!(parse("code - quota", true).unwrap().literals, [["quota"]]);
        let re = regex_automata::meta::Builder::new()
            .build_from_hir(&parse(r"API[- ]Key\W", false).unwrap().hir)
            .unwrap();
        assert!(re.is_match("api key!"));
        assert!(!re.is_match("API Key!"));
    }

    #[test]
    fn where_case_plays_no_part_folding_changes_nothing() {
        let patterns = [
            r"rate limit(ed)? (after|in) \d+ ?s",
            r"\bquota[ _-]exceeded\b",
            r"余额不足.{0,5}充值",
            r"[^.;]{0,40} tokens? > \d{3}",
            r"key \S+ is (?:not|un)known\x21",
        ];
        for pattern in patterns {
            let mut ast = ast::parse::Parser::new().parse(pattern).unwrap();
            assert!(!to_ascii(&mut ast), "{pattern}");
            let long =
                TranslatorBuilder::new().case_insensitive(true).build().translate(pattern, &ast).unwrap();
            assert_eq!(parse(pattern, false).unwrap().hir, folded(long), "{pattern}");
        }
        for pattern in [r"Rate", r"[a-z]", r"\w", r"é", r"(?-i)a", r"\p{L}", r"[[:alpha:]]", r"[k]", r"\x41"]
        {
            let mut ast = ast::parse::Parser::new().parse(pattern).unwrap();
            assert!(to_ascii(&mut ast), "{pattern}");
        }
    }

    #[test]
    fn ascii_is_what_the_longer_way_of_writing_says() {
        let pairs = [
            (r"\bx\w+\B", r"(?-u:\b)x[0-9A-Za-z_]+(?-u:\B)"),
            (r"\W\D\d", "[^0-9A-Za-z_][^0-9][0-9]"),
            (r"[\w.-]+[^\d,][\W\D&&[a-f\d]]", r"[[0-9A-Za-z_].-]+[^[0-9],][[^0-9A-Za-z_][^0-9]&&[a-f[0-9]]]"),
            (r"(?:\d\w|(a\b))*?\s", r"(?:[0-9][0-9A-Za-z_]|(a(?-u:\b)))*?\s"),
        ];
        for (short, long) in pairs {
            for fold in [false, true] {
                let mut ast = ast::parse::Parser::new().parse(short).unwrap();
                to_ascii(&mut ast);
                let short = TranslatorBuilder::new().case_insensitive(fold).build().translate(short, &ast);
                let long = regex_syntax::ParserBuilder::new().case_insensitive(fold).build().parse(long);
                assert_eq!(short.unwrap(), long.unwrap());
            }
        }
    }

    #[test]
    fn word_classes_are_ascii() {
        let re =
            |p| regex_automata::meta::Builder::new().build_from_hir(&parse(p, false).unwrap().hir).unwrap();
        assert!(re(r"\blimit\b").is_match("超limit了"));
        assert!(!re(r"x\dx").is_match("x٣x"));
        assert!(!re(r"x[\w-]x").is_match("xéx"));
        assert!(re(r"x\Wx").is_match("xéx"));
        assert!(re(r"a\Bb").is_match("ab"));
    }

    #[test]
    fn errors_point_into_the_pattern() {
        assert_eq!(parse("a(b", false).unwrap_err().at, 1..2);
        assert_eq!(parse("abc[z-a]", false).unwrap_err().at, 4..7);
        assert!(parse(r"((\w{900}){90}){90}", false).unwrap_err().too_large);
        assert!(parse(&"a".repeat(3_000), false).unwrap_err().too_large);
        assert!(parse(&"(".repeat(1_900), false).is_err());
    }

    #[test]
    fn plain_phrases_are_seen() {
        assert_eq!(parse(r"\bRate limit\b", false).unwrap().plain.as_deref(), Some("rate limit"));
        assert_eq!(parse(r"rate ?limit", false).unwrap().plain, None);
    }
}
