//! `simulate`: plays a scenario of provider failures on a virtual clock.

mod human;
mod words;

use std::{io::Write, path::PathBuf, sync::Arc};

use super::{
    args::Global,
    escape::{Shown, write_json},
    failure::{Failure, Outcome},
    format::StreamFormat,
    input, rulebook, statefile,
    world::World,
};
use crate::{
    host::simulate::{Line, PlayError, Scenario, Turn, Watch},
    lang::diagnostic::counted,
    state::{memory::MemoryStore, store::Store},
};

/// Play a scenario of provider failures on a virtual clock through the real interpreter
///
/// SCENARIO is YAML: a host's config, profiles without secrets, what calls get, and what the host
/// does when. Nothing sleeps, nothing is called. The same scenario, rules and seed give the same
/// timeline.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The scenario; `-` is stdin
    #[arg(value_name = "SCENARIO")]
    scenario: PathBuf,
    /// A timeline to read or JSON lines; left out, a timeline on a terminal and JSON lines elsewhere
    #[arg(long, value_enum)]
    format: Option<StreamFormat>,
    /// Play against this state file: from the latest moment that it tells of, in a new file from now.
    /// Left out, in memory: `POINTSMAN_STATE` is not looked at, so that nothing is played on live state
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Seed of schedules with jitter
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

pub(super) fn run(
    args: &Args,
    global: &Global,
    world: &World,
    out: &mut dyn Write,
) -> Result<Outcome, Failure> {
    let text = input::text(&args.scenario)?;
    let name = Shown(&args.scenario.to_string_lossy()).to_string();
    let scenario = Scenario::parse(&text).map_err(|error| {
        let problems = error.problems();
        for problem in problems {
            let place = if problem.line > 0 {
                format!("{name}:{}:{}", problem.line, problem.column)
            } else {
                name.clone()
            };
            let help = problem.help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
            world.say(&format!("{place}: {}", Shown(&format!("{}{help}", problem.message))));
        }
        match problems.len() {
            0 => Failure::Usage(error.to_string()),
            many => Failure::Usage(format!("`{name}` cannot be played: {}", counted(many, "problem"))),
        }
    })?;
    for hint in scenario.hints.iter().chain(&scenario.config.hints) {
        world.say(&format!("{name}: {}", Shown(&hint.to_string())));
    }
    if scenario.turns.is_empty() {
        world.say(&format!("{name}: it has no `turns`, so nothing is played"));
    }
    let env = |variable: &str| scenario.env.get(variable).cloned().or_else(|| world.env(variable));
    let table = Arc::new(rulebook::load_with(global, &scenario.config, &env, world)?);
    let (store, start): (Box<dyn Store>, _) = match &args.state {
        Some(path) => {
            let store = statefile::open(path, world)?;
            let start = scenario.starts(Some(&store), world.now()).map_err(Failure::State)?;
            (Box::new(store), start)
        }
        None => (Box::new(MemoryStore::new()), scenario.starts(None, world.now()).map_err(Failure::State)?),
    };
    let human = StreamFormat::for_people(args.format, world);
    let mut watch: Box<dyn Printing> = if human {
        Box::new(human::Timeline::new(&scenario, world, out))
    } else {
        Box::new(Lines { out, failed: None })
    };
    let played = scenario.play(table, &*store, start, args.seed, watch.watch());
    watch.end()?;
    match played {
        Ok(()) => Ok(Outcome::Fine),
        Err(PlayError::Store(error)) => Err(Failure::State(error)),
        Err(other) => Err(Failure::Usage(other.to_string())),
    }
}

/// Somebody who prints what happens; what went wrong with that is told at the end.
trait Printing {
    fn watch(&mut self) -> &mut dyn Watch;
    fn end(&mut self) -> std::io::Result<()>;
}

/// JSON lines.
struct Lines<'o> {
    out: &'o mut dyn Write,
    failed: Option<std::io::Error>,
}

impl Watch for Lines<'_> {
    fn turn(&mut self, _: &Turn) {}

    fn line(&mut self, line: Line) {
        if self.failed.is_none() {
            self.failed = write_json(&mut *self.out, &line).err();
        }
    }
}

impl Printing for Lines<'_> {
    fn watch(&mut self) -> &mut dyn Watch {
        self
    }

    fn end(&mut self) -> std::io::Result<()> {
        self.failed.take().map_or(Ok(()), Err)
    }
}
