//! Reading the root file and putting every used file in the place of its `use`.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use super::{
    files::{Files, ReadError, Shipped, join},
    trees::Trees,
};
use crate::lang::{
    ast::{File, Name, Statement, StatementKind, UseTarget},
    diagnostic::codes::loading,
    diagnostic::nearest::Hints,
    diagnostic::{Diagnostic, Diagnostics},
    parser,
    resolve::names,
    shipped,
    source::{Source, SourceId, Sources, Span, Spanned},
};

/// Most files of one rule set, and most bytes of all of them together.
const MAX_FILES: usize = 500;
const MAX_TOTAL: usize = 16 << 20;

/// Most statements of one rule set: edits, lints and names cost more the more there are.
const MAX_STATEMENTS: usize = 50_000;

/// All statements of a rule set in one list, edits among them.
#[derive(Debug, Default)]
pub struct Program {
    /// The files.
    pub sources: Sources,
    /// Every statement but `use`.
    pub statements: Vec<Statement>,
    /// Who used a file, and where: the whole `use`.
    pub used_by: HashMap<SourceId, Span>,
    /// A file could not be read: names that seem unknown may stand in it.
    pub incomplete: bool,
    /// Shipped files that an operator's rule set uses: what they declare is not the operator's to tidy.
    pub foreign: HashSet<SourceId>,
    /// The shipped list is part of it.
    pub with_default: bool,
    /// Only for judging: no examples, no tests, no lints.
    pub lean: bool,
}

impl Program {
    /// Whether `outer` uses `inner`, straight or through others.
    #[must_use]
    pub fn uses(&self, outer: SourceId, inner: SourceId) -> bool {
        let mut at = inner;
        while let Some(span) = self.used_by.get(&at) {
            at = span.source;
            if at == outer {
                return true;
            }
        }
        false
    }

    /// How many `use`s lead from the root to a file.
    #[must_use]
    pub fn depth(&self, source: SourceId) -> usize {
        std::iter::successors(self.used_by.get(&source), |span| self.used_by.get(&span.source)).count()
    }
}

/// A file's place: among the operator's files or the shipped ones.
type Place = (bool, String);

pub(super) struct Loader<'a> {
    files: &'a dyn Files,
    trees: Option<&'a mut Trees>,
    /// The root is the shipped list itself.
    shipped: bool,
    program: Program,
    loaded: HashMap<Place, Option<Span>>,
    open: Vec<Place>,
    places: HashMap<SourceId, Place>,
    total: usize,
    /// Statements so far, those inside blocks too.
    count: usize,
    hints: Hints,
    out: Diagnostics,
}

impl<'a> Loader<'a> {
    /// `shipped`: the root is the shipped list itself.
    pub(super) fn new(files: &'a dyn Files, shipped: bool) -> Self {
        let program = Program { with_default: shipped, ..Program::default() };
        Self {
            files,
            trees: None,
            shipped,
            program,
            loaded: HashMap::new(),
            open: Vec::new(),
            places: HashMap::new(),
            total: 0,
            count: 0,
            hints: Hints::default(),
            out: Diagnostics::default(),
        }
    }

    /// Only for judging.
    pub(super) fn lean(mut self) -> Self {
        self.program.lean = true;
        self
    }

    /// With the trees of the last time, which become those of this time.
    pub(super) fn with(mut self, trees: &'a mut Trees) -> Self {
        self.trees = Some(trees);
        self
    }

    /// Reads the root and all that it uses.
    pub(super) fn run(mut self, root: &str) -> (Program, Diagnostics) {
        self.file((self.shipped, root.to_owned()), None);
        if let Some(trees) = self.trees {
            trees.keep(self.program.sources.iter().count());
        }
        (self.program, self.out)
    }

    fn file(&mut self, place: Place, user: Option<Span>) {
        let Some(text) = self.read(&place, user) else {
            self.program.incomplete = true;
            return;
        };
        let taken = self.program.sources.iter().any(|(_, s)| *s.name == *place.1);
        let name = if taken { format!("shipped/{}", place.1) } else { place.1.clone() };
        let shipped = place.0.then(|| shipped::path(&place.1)).flatten();
        let source = self.program.sources.next_id();
        let (text, file) = self.parse(source, &text);
        self.program.sources.push(Source { name: name.into(), text, shipped });
        if let Some(span) = user {
            self.program.used_by.insert(source, span);
        }
        if place.0 && !self.shipped {
            self.program.foreign.insert(source);
        }
        self.places.insert(source, place.clone());
        self.loaded.insert(place.clone(), user);
        self.open.push(place);
        self.count += file.statements.iter().map(Statement::count).sum::<usize>();
        if self.count > MAX_STATEMENTS {
            self.program.incomplete = true;
            let span = file.statements.last().map_or(Span { source, ..Span::default() }, |last| last.span);
            self.out.push(
                Diagnostic::new(
                    loading::TOO_LARGE,
                    span,
                    format!("these rules have more than {MAX_STATEMENTS} statements"),
                )
                .help("put phrases that mean the same into one list, and ask for it in one rule"),
            );
            self.open.pop();
            return;
        }
        for statement in Arc::unwrap_or_clone(file).statements {
            match statement.kind {
                StatementKind::Use(target) => self.follow(&target),
                _ => self.program.statements.push(statement),
            }
        }
        self.open.pop();
    }

    fn parse(&mut self, source: SourceId, text: &str) -> (Arc<str>, Arc<File>) {
        if let Some(trees) = &mut self.trees {
            return trees.read(source, text, &mut self.out);
        }
        let file = parser::parse_some(source, text, !self.program.lean, &mut self.out);
        (text.into(), Arc::new(file))
    }

    fn follow(&mut self, target: &UseTarget) {
        let place = match target {
            UseTarget::Named(name) => self.named(name),
            UseTarget::Path(path) => self.path(path),
        };
        let Some(place) = place else {
            self.program.incomplete = true;
            return;
        };
        let at = match target {
            UseTarget::Named(name) => name.span,
            UseTarget::Path(path) => path.span,
        };
        let shown = if place.0 { format!("shipped `{}`", place.1) } else { format!("`{}`", place.1) };
        if self.open.contains(&place) {
            let way: Vec<String> =
                self.open.iter().skip_while(|p| **p != place).map(|p| p.1.clone()).collect();
            self.out.push(
                Diagnostic::new(loading::CYCLE, at, format!("{shown} uses itself"))
                    .here("this leads back to a file that is still being read")
                    .help(format!("the way round is {} → {}; take one `use` out", way.join(" → "), place.1)),
            );
            return;
        }
        if let Some(first) = self.loaded.get(&place) {
            let mut problem = Diagnostic::new(loading::USED_TWICE, at, format!("{shown} is used twice"))
                .here("used again here")
                .help("a file stands in the list once: keep the `use` whose place you want");
            if let Some(first) = first {
                problem = problem.related(*first, "first used here");
            }
            self.out.push(problem);
            return;
        }
        if self.loaded.len() >= MAX_FILES || self.open.len() >= 60 {
            self.program.incomplete = true;
            self.out.push(
                Diagnostic::new(loading::TOO_LARGE, at, "these rules are spread over too many files")
                    .help(format!("use at most {MAX_FILES} files, one inside another at most 60 deep")),
            );
            return;
        }
        // An operator may well move a text: those who change the shipped list itself are told of it.
        let told = self.shipped && !self.program.lean;
        if place.0 && place.1.starts_with(shipped::CASES) && !told {
            return;
        }
        self.program.with_default |= place.0 && place.1 == "main.rules";
        self.file(place, Some(at));
    }

    fn named(&mut self, name: &Name) -> Option<Place> {
        if let Some(path) = shipped::named(&name.node) {
            return Some((true, path.to_owned()));
        }
        let known: Vec<&str> = shipped::names().collect();
        let help = match self.hints.nearest(&name.node, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}; a file of your own stands in quotes", names::listed(&known)),
        };
        self.out.push(
            Diagnostic::new(
                loading::UNKNOWN_SET,
                name.span,
                format!("there are no shipped rules called `{}`", name.node),
            )
            .here("unknown")
            .help(help),
        );
        None
    }

    fn path(&mut self, path: &Spanned<String>) -> Option<Place> {
        let (shipped, user) = self.places.get(&path.span.source).cloned()?;
        if let Some(joined) = join(&user, &path.node) {
            return Some((shipped, joined));
        }
        self.out.push(
            Diagnostic::new(
                loading::OUTSIDE_ROOT,
                path.span,
                format!("`{}` lies outside of the root file's folder", path.node),
            )
            .here("leads out")
            .help("name a file below the folder of the root file, with `/` between folders"),
        );
        None
    }

    fn read(&mut self, place: &Place, user: Option<Span>) -> Option<String> {
        let files: &dyn Files = if place.0 { &Shipped } else { self.files };
        let span = user.unwrap_or(crate::lang::policy::BUILT_IN);
        let name = &place.1;
        let error = match files.read(name) {
            Ok(bytes) => {
                self.total += bytes.len();
                if self.total > MAX_TOTAL {
                    ReadError::TooLarge
                } else {
                    match String::from_utf8(bytes) {
                        Ok(text) => {
                            return Some(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text));
                        }
                        Err(e) => {
                            let at = e.utf8_error().valid_up_to();
                            let line = e.as_bytes().iter().take(at).filter(|b| **b == b'\n').count() + 1;
                            self.out.push(
                                Diagnostic::new(
                                    loading::NOT_TEXT,
                                    span,
                                    format!("`{name}` is not UTF-8 text"),
                                )
                                .help(format!(
                                    "the first wrong byte is on line {line}; save the file as UTF-8"
                                )),
                            );
                            return None;
                        }
                    }
                }
            }
            Err(error) => error,
        };
        let code = match error {
            ReadError::Missing => loading::MISSING,
            ReadError::Folder => loading::FOLDER,
            ReadError::TooLarge => loading::TOO_LARGE,
            ReadError::Outside => loading::OUTSIDE_ROOT,
            ReadError::Special | ReadError::Other(_) => loading::UNREADABLE,
        };
        let help = match &error {
            ReadError::Missing => {
                let all = if self.hints.take() { files.list() } else { Vec::new() };
                match self.hints.nearest(name, all.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "paths are taken from the folder of the file that uses them".to_owned(),
                }
            }
            ReadError::Folder => format!("name a file in it, such as `{name}/main.rules`"),
            ReadError::TooLarge => "split it, or move examples into files of their own".to_owned(),
            ReadError::Outside => "copy the file below the root file's folder".to_owned(),
            ReadError::Special => "write the rules into a file".to_owned(),
            ReadError::Other(_) => "check that it can be read".to_owned(),
        };
        self.out.push(Diagnostic::new(code, span, format!("`{name}` cannot be read: {error}")).help(help));
        None
    }
}
