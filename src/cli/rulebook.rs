//! The rules in force.

use std::path::{Path, PathBuf};

use super::{args::Global, escape::Shown, failure::Failure, report, world::World};
use crate::{
    config::{Config, Outside},
    lang::{
        load::{self, Loaded, files::open},
        source::Sources,
        tree::Ruleset,
    },
    table::{SettingSource, Table},
};

/// Loads and compiles the rules of `--rules`, else the shipped ones. Errors are printed; warnings
/// are for `check`.
///
/// # Errors
/// When they cannot be read, or do not load.
pub(super) fn load(global: &Global, world: &World) -> Result<Table, Failure> {
    compile(rules(global, world)?, world)
}

/// Like [`load`], for a command that looks at no example: the shipped rules come without.
///
/// # Errors
/// See [`load`].
pub(super) fn load_to_judge(global: &Global, world: &World) -> Result<Table, Failure> {
    if global.rules.is_none()
        && let Ok((rules, _)) = load::shipped_to_judge()
    {
        return compile(rules, world);
    }
    load(global, world)
}

/// Like [`load`], with the settings of a config beside those of the environment.
///
/// # Errors
/// See [`load`]; also when a value of the config does not fit its setting.
pub(super) fn load_with(
    global: &Global,
    config: &Config,
    env: &dyn Fn(&str) -> Option<String>,
    world: &World,
) -> Result<Table, Failure> {
    let rules = rules(global, world)?;
    Table::compile(rules, &Outside { config, env }).map_err(|error| Failure::Usage(error.to_string()))
}

fn rules(global: &Global, world: &World) -> Result<Ruleset, Failure> {
    let path = global.rules.as_deref();
    match read(path)? {
        Ok((rules, _)) => Ok(rules),
        Err(failed) => {
            let (errors, _) = failed.diagnostics.count();
            report::report(&failed.diagnostics, &failed.sources, world);
            Err(Failure::Rules { name: name(path), errors })
        }
    }
}

/// Loads the rules at a path; none: the shipped ones. Where they are wrong, files are called as
/// [`name_files`] does.
///
/// # Errors
/// When there is no such file. What is wrong inside files is part of the result.
pub(super) fn read(path: Option<&Path>) -> Result<Loaded, Failure> {
    let Some(path) = path else { return Ok(load::shipped()) };
    let root = root_file(path);
    open(&root).map_err(|error| Failure::Read { path: root, error })?;
    Ok(load::from_path(path).map_err(|mut failed| {
        name_files(&mut failed.sources, Some(path));
        failed
    }))
}

/// Calls files as the user would, from the current folder, and no longer from that of the root file.
pub(super) fn name_files(sources: &mut Sources, path: Option<&Path>) {
    let Some(path) = path else { return };
    let folder = if path.is_dir() { path } else { path.parent().unwrap_or(Path::new("")) };
    sources.rename(|name| {
        let whole = folder.join(name);
        whole.strip_prefix(".").unwrap_or(&whole).to_string_lossy().into_owned()
    });
}

/// Compiles with the settings of the environment.
pub(super) fn compile(rules: Ruleset, world: &World) -> Result<Table, Failure> {
    Table::compile(rules, &Environment(world)).map_err(|error| Failure::Usage(error.to_string()))
}

/// How the rules are called in remarks.
pub(super) fn name(path: Option<&Path>) -> String {
    path.map_or_else(|| "the shipped rules".into(), |path| format!("`{}`", Shown(&path.to_string_lossy())))
}

/// The file itself, or the `main.rules` of a folder.
fn root_file(path: &Path) -> PathBuf {
    if path.is_dir() { path.join("main.rules") } else { path.to_owned() }
}

/// Settings from the environment alone.
pub(super) struct Environment<'a>(pub(super) &'a World);

impl SettingSource for Environment<'_> {
    fn config(&self, _: &str) -> Option<f64> {
        None
    }
    fn config_by_provider(&self, _: &str) -> Vec<(String, f64)> {
        Vec::new()
    }
    fn env(&self, name: &str) -> Option<String> {
        self.0.env(name)
    }
}
