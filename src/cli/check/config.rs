//! What is wrong with a host's configuration, and where it and the rules get in each other's way.

use std::{collections::HashMap, io, path::Path};

use serde_json::{Value, json};

use crate::{
    cli::{
        escape::Shown, failure::Failure, input, orders, rulebook, schedules, statefile::StateArgs,
        world::World,
    },
    config::{Config, Outside, Problem, found_at},
    lang::{diagnostic::Severity, tree::Ruleset},
    run::Routing,
    table::{Origin, Settings, Table},
};

/// One finding about a configuration.
pub(super) struct Remark {
    pub(super) severity: Severity,
    message: String,
    help: Option<String>,
    pub(super) file: String,
    line: usize,
    column: usize,
}

impl Remark {
    fn new(severity: Severity, problem: &Problem, file: &str) -> Self {
        let Problem { message, help, line, column, .. } = problem.clone();
        Self { severity, message, help, file: file.to_owned(), line, column }
    }

    /// `host.yaml:3:5: error: message; help`, fit for a terminal.
    pub(super) fn line(&self) -> String {
        let Self { severity, message, help, file, line, column } = self;
        let place = if *line > 0 { format!("{file}:{line}:{column}") } else { file.clone() };
        let help = help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
        Shown(&format!("{place}: {severity}: {message}{help}")).to_string()
    }

    /// As `--format json` gives it: a finding without a code.
    pub(super) fn json(&self) -> Value {
        let (line, column) = (self.line.max(1), self.column.max(1));
        let place = json!({ "file": self.file, "line": line, "column": column, "endLine": line, "endColumn": column });
        json!({
            "severity": self.severity,
            "message": self.message,
            "help": self.help,
            "labels": [place],
        })
    }

    /// A result of a SARIF log, without a rule.
    pub(super) fn sarif(&self) -> Value {
        let text = match &self.help {
            Some(help) => format!("{}\n{help}", self.message),
            None => self.message.clone(),
        };
        json!({
            "level": self.severity,
            "message": { "text": text },
            "locations": [{ "physicalLocation": {
                "artifactLocation": { "uri": crate::cli::sarif::uri(&self.file) },
                "region": { "startLine": self.line.max(1), "startColumn": self.column.max(1) },
            } }],
        })
    }
}

/// A configuration that can be read.
pub(super) struct Host {
    config: Config,
    text: String,
    file: String,
}

/// The configuration and the findings about it alone; with errors there is no configuration.
pub(super) fn read(path: &Path) -> Result<(Option<Host>, Vec<Remark>), Failure> {
    let text = input::text(path)?;
    let file = path.to_string_lossy().into_owned();
    match Config::parse(&text) {
        Ok(config) => {
            let hints = config.hints.iter().map(|hint| Remark::new(Severity::Warning, hint, &file)).collect();
            Ok((Some(Host { config, text, file }), hints))
        }
        Err(error) if error.problems().is_empty() => {
            let error = io::Error::other(error.to_string());
            Err(Failure::Read { path: path.to_owned(), error })
        }
        Err(error) => {
            let problems = error.problems().iter();
            Ok((None, problems.map(|problem| Remark::new(Severity::Error, problem, &file)).collect()))
        }
    }
}

impl Host {
    /// Compiles the rules with the configuration's values; what does not fit is a finding.
    pub(super) fn compile(
        &self,
        rules: Ruleset,
        world: &World,
        remarks: &mut Vec<Remark>,
    ) -> Result<Table, Failure> {
        let env = |name: &str| world.env(name);
        let table = Table::compile(rules.clone(), &Outside { config: &self.config, env: &env });
        match table {
            Ok(table) => {
                overridden(&table, &self.file, remarks);
                Ok(table)
            }
            Err(error) => {
                let problem = Problem { message: error.to_string(), ..Problem::default() };
                remarks.push(Remark::new(Severity::Error, &problem, &self.file));
                rulebook::compile(rules, world)
            }
        }
    }

    /// Orders that name what is not stored, or not configured as long as there is no state (C5).
    pub(super) fn orders(
        &self,
        table: &Table,
        state: &StateArgs,
        world: &World,
        remarks: &mut Vec<Remark>,
    ) -> Result<(), Failure> {
        let routing = Routing::from(&self.config);
        let (there, how) = match state.stored(world)? {
            Some(stored) => (stored, "stored"),
            None if routing.profiles.is_empty() => return Ok(()),
            None => (routing.profiles.clone(), "in `auth.profiles`"),
        };
        let family = |a: &str, b: &str| table.same_provider(a, b);
        for lost in orders::lost(&routing, &there.iter().collect::<Vec<_>>(), how, &family) {
            let severity = if lost.all { Severity::Error } else { Severity::Warning };
            let path = ["auth", "order", lost.provider];
            remarks.push(self.remark(severity, &path, lost.message, lost.help));
        }
        Ok(())
    }

    /// Keys of one provider under two names (C2).
    pub(super) fn twice(&self, table: &Table, remarks: &mut Vec<Remark>) {
        let rules = table.ruleset();
        let numbers = rules.settings.iter().filter_map(|setting| setting.by_provider.as_ref());
        let numbers = numbers.map(|map| {
            let keys = self.config.numbers.all(&map.path).iter().map(|(key, _)| key.as_str());
            (map.path.as_str(), keys.collect::<Vec<_>>())
        });
        let order = ("auth.order", self.config.order.keys().map(String::as_str).collect());
        let profiles = ("auth.profiles", self.config.profiles.iter().map(|it| it.id.as_str()).collect());
        for (map, keys) in [order, profiles].into_iter().chain(numbers) {
            let mut first_of = HashMap::new();
            for key in keys {
                let (provider, name) = key.split_once(':').unwrap_or((key, ""));
                let first = *first_of.entry((table.present_name(provider), name)).or_insert(key);
                if first == key {
                    continue;
                }
                let path: Vec<&str> = map.split('.').chain([key]).collect();
                let message = format!("`{first}` and `{key}` in `{map}` are the same under two names");
                let help = "keep one of them".to_owned();
                remarks.push(self.remark(Severity::Warning, &path, message, help));
            }
        }
    }

    /// Values that a schedule does not allow (E3).
    pub(super) fn schedules(&self, table: &Table, remarks: &mut Vec<Remark>) {
        for misfit in schedules::misfits(table) {
            let path: Vec<&str> = misfit.path.split('.').collect();
            remarks.push(self.remark(Severity::Warning, &path, misfit.message, misfit.help));
        }
    }

    fn remark(&self, severity: Severity, path: &[&str], message: String, help: String) -> Remark {
        Remark::new(severity, &found_at(&self.text, path, message, Some(help)), &self.file)
    }
}

/// An operator's `set` that the configuration overrides does nothing (L2).
fn overridden(table: &Table, file: &str, remarks: &mut Vec<Remark>) {
    let settings: &Settings = table.settings();
    for (setting, force) in table.ruleset().settings.iter().zip(settings.iter()) {
        if let (Some(set), Origin::Config(key)) = (setting.set_by, &force.origin) {
            let sources = &table.ruleset().sources;
            let (line, column) = sources.line_column(set);
            remarks.push(Remark {
                severity: Severity::Warning,
                message: format!("`set {}` has no effect: `{key}` in the config overrides it", setting.name),
                help: Some(format!("take the `set` out, or `{key}` out of `{file}`")),
                file: sources.get(set.source).map(|source| source.name.to_string()).unwrap_or_default(),
                line,
                column,
            });
        }
    }
}
