//! The rules in force: here, and as a host last said; and what observed rules would have done.

use std::{
    io::{self, Write},
    path::Path,
};

use serde::Serialize;

use crate::{
    cli::{
        escape::Shown,
        failure::Failure,
        statefile::StateArgs,
        table::{Cell, Style, Table as Printed},
        world::World,
    },
    host::{source, version},
    lang::diagnostic::counted,
    state::inbox::{InForce, Records as _, Tally},
    table::Table,
    time::{Timestamp, format_duration},
};

/// Which rules are in force, and what became of errors.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::cli) struct RulesStatus {
    /// The rules of this command.
    table: Here,
    /// What a host last said of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    host_table: Option<Host>,
    /// Tallies of observed rules.
    observed: Vec<Observed>,
    /// How many kinds of error the inbox holds.
    inbox: usize,
}

#[derive(Debug, Serialize)]
struct Here {
    version: String,
    source: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Host {
    version: String,
    source: String,
    loaded_at: String,
    age_ms: u64,
    reloads: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_failure: Option<LastFailure>,
}

#[derive(Debug, Serialize)]
struct LastFailure {
    at: String,
    why: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Observed {
    rule: String,
    count: u64,
    last_at: String,
    /// The rules of this command observe it still.
    in_force: bool,
}

pub(super) fn of(
    table: &Table,
    path: Option<&Path>,
    state: &StateArgs,
    now: Timestamp,
    world: &World,
) -> Result<RulesStatus, Failure> {
    let (inbox, host) = match state.reader(world)? {
        Some(store) => (store.inbox()?, store.in_force()?),
        None => Default::default(),
    };
    // Rules that observe and have seen nothing yet are shown as well.
    let mut observed: Vec<Observed> =
        inbox.tallies.iter().filter(|tally| tally.observed).map(|tally| seen(tally, table)).collect();
    for rule in table.ruleset().rules.iter().filter(|rule| rule.observe) {
        if !observed.iter().any(|there| there.rule == *rule.name) {
            let last_at = "never".to_owned();
            observed.push(Observed { rule: rule.name.to_string(), count: 0, last_at, in_force: true });
        }
    }
    Ok(RulesStatus {
        table: Here { version: version(table), source: source(path) },
        host_table: host.map(|host| told(host, now)),
        observed,
        inbox: inbox.entries.len(),
    })
}

fn seen(tally: &Tally, table: &Table) -> Observed {
    Observed {
        rule: tally.rule.clone(),
        count: tally.count,
        last_at: tally.last_at.to_string(),
        in_force: table.ruleset().rules.iter().any(|rule| rule.observe && *rule.name == *tally.rule),
    }
}

fn told(host: InForce, now: Timestamp) -> Host {
    Host {
        version: host.version,
        source: host.source,
        loaded_at: host.loaded_at.to_string(),
        age_ms: u64::try_from(now.since(host.loaded_at).as_millis()).unwrap_or(u64::MAX),
        reloads: host.reloads,
        last_failure: host.failure.map(|(at, why)| LastFailure { at: at.to_string(), why }),
    }
}

pub(super) fn print(status: &RulesStatus, world: &World, out: &mut dyn Write) -> io::Result<()> {
    let colour = world.stdout_colour();
    let Here { version, source } = &status.table;
    writeln!(out, "rules    {} from {}", Style::Bold.paint(version, colour), Shown(source))?;
    if let Some(host) = &status.host_table {
        let age = format_duration(std::time::Duration::from_millis(host.age_ms));
        let other = if host.version == *version { "the same" } else { "others" };
        writeln!(
            out,
            "host     {} from {} ({other}), for {age}, reloaded {}",
            Style::Bold.paint(&Shown(&host.version).to_string(), colour),
            Shown(&host.source),
            counted(host.reloads, "time")
        )?;
        if let Some(failure) = &host.last_failure {
            let why = format!("refused at {}: {}", failure.at, failure.why);
            writeln!(out, "         {}", Style::Bad.paint(&Shown(&why).to_string(), colour))?;
        }
    }
    if status.inbox > 0 {
        writeln!(
            out,
            "inbox    {} that no rule matched; `pointsman inbox list`",
            counted(status.inbox, "error")
        )?;
    }
    if status.observed.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    let mut table = Printed::new(&["observed rule", "matched", "last"], world.width, colour);
    for rule in &status.observed {
        let gone = if rule.in_force { "" } else { " (not observed any more)" };
        table.row(
            vec![
                Cell::plain(format!("{}{gone}", Shown(&rule.rule))),
                Cell::plain(rule.count.to_string()),
                Cell::styled(rule.last_at.clone(), Style::Dim),
            ],
            out,
        )?;
    }
    table.flush(out)
}
