//! What is wrong with a host's configuration, and where it and the rules get in each other's way.

use std::{io, path::Path};

use serde_json::{Value, json};

use crate::{
    cli::{escape::Shown, failure::Failure, input, rulebook, world::World},
    config::{Config, Outside, Problem},
    lang::{diagnostic::Severity, tree::Ruleset},
    table::{Origin, Settings, Table},
};

/// One finding about a configuration.
pub(super) struct Remark {
    pub(super) severity: Severity,
    message: String,
    help: Option<String>,
    file: String,
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

/// The configuration and the findings about it alone; with errors there is no configuration.
pub(super) fn read(path: &Path) -> Result<(Option<Config>, Vec<Remark>), Failure> {
    let text = input::text(path)?;
    let name = path.to_string_lossy();
    match Config::parse(&text) {
        Ok(config) => {
            let hints = config.hints.iter().map(|hint| Remark::new(Severity::Warning, hint, &name)).collect();
            Ok((Some(config), hints))
        }
        Err(error) if error.problems().is_empty() => {
            let error = io::Error::other(error.to_string());
            Err(Failure::Read { path: path.to_owned(), error })
        }
        Err(error) => {
            let problems = error.problems().iter();
            Ok((None, problems.map(|problem| Remark::new(Severity::Error, problem, &name)).collect()))
        }
    }
}

/// Compiles the rules with the configuration's values; what does not fit is a finding.
pub(super) fn compile(
    rules: Ruleset,
    config: &Config,
    path: &Path,
    world: &World,
    remarks: &mut Vec<Remark>,
) -> Result<Table, Failure> {
    let env = |name: &str| world.env(name);
    let table = Table::compile(rules.clone(), &Outside { config, env: &env });
    match table {
        Ok(table) => {
            overridden(&table, path, remarks);
            Ok(table)
        }
        Err(error) => {
            let problem = Problem { message: error.to_string(), ..Problem::default() };
            remarks.push(Remark::new(Severity::Error, &problem, &path.to_string_lossy()));
            rulebook::compile(rules, world)
        }
    }
}

/// An operator's `set` that the configuration overrides does nothing (L2).
fn overridden(table: &Table, path: &Path, remarks: &mut Vec<Remark>) {
    let settings: &Settings = table.settings();
    for (setting, force) in table.ruleset().settings.iter().zip(settings.iter()) {
        if let (Some(set), Origin::Config(key)) = (setting.set_by, &force.origin) {
            let sources = &table.ruleset().sources;
            let (line, column) = sources.line_column(set);
            remarks.push(Remark {
                severity: Severity::Warning,
                message: format!("`set {}` has no effect: `{key}` in the config overrides it", setting.name),
                help: Some(format!("take the `set` out, or `{key}` out of `{}`", path.display())),
                file: sources.get(set.source).map(|source| source.name.to_string()).unwrap_or_default(),
                line,
                column,
            });
        }
    }
}
