//! `inbox suggest`: a rule for one entry, and what it was tried on.

use std::{io::Write, path::PathBuf};

use super::{entry, load};
use crate::{
    classify::Scratch,
    cli::{
        args::Global,
        corpus,
        escape::{Shown, shown_lines},
        failure::{Failure, Outcome},
        rulebook,
        statefile::StateArgs,
        world::World,
    },
    lang::{diagnostic::nearest::did_you_mean, tree::BucketId},
    verify::suggest::Drafting,
};

/// Draft a rule and its example for one error, tried on a corpus before it is shown
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// The entry's number
    #[arg(value_name = "N")]
    id: u64,
    /// The bucket that the error belongs into
    #[arg(long, value_name = "BUCKET")]
    bucket: String,
    /// Recorded errors (JSON lines) that the rule must not move, beside the examples and tests of the
    /// rules
    #[arg(long, value_name = "FILE")]
    corpus: Option<PathBuf>,
    /// Each line of the corpus is a plain error text
    #[arg(long, requires = "corpus")]
    raw: bool,
    #[command(flatten)]
    state: StateArgs,
}

pub(super) fn run(
    args: &Args,
    global: &Global,
    world: &World,
    out: &mut dyn Write,
) -> Result<Outcome, Failure> {
    let table = rulebook::load(global, world)?;
    let Some((bucket, _)) = table.bucket_named(&args.bucket) else {
        let names = || table.ruleset().buckets.iter().map(|bucket| &*bucket.name);
        let help = did_you_mean(&args.bucket, names())
            .unwrap_or_else(|| format!("there are {}", names().collect::<Vec<_>>().join(", ")));
        return Err(Failure::Usage(format!("there is no bucket `{}`; {help}", args.bucket)));
    };
    if bucket == BucketId::UNCLASSIFIED {
        let why = format!(
            "what no rule matches is `{}` already; name the bucket that the error belongs into",
            args.bucket
        );
        return Err(Failure::Usage(why));
    }
    let inbox = load(&args.state, world)?;
    let signal = entry(&inbox, args.id)?.sample.signal();
    let verdict = table.classify(&signal.as_ref(), &mut Scratch::default());
    if let Some(rule) = verdict.rule.map(|rule| table.rule(rule)) {
        let at = table.locate(rule.span);
        world.say(&format!("rule `{}` ({}) matches this error by now", Shown(&rule.name), Shown(&at)));
        return Ok(Outcome::NotFine);
    }
    let mut drafting = match Drafting::begin(&table, &signal, bucket) {
        Ok(drafting) => drafting,
        Err(error) => return Ok(none(&error.to_string(), world)),
    };
    drafting.own_cases();
    let mut unread = 0;
    if let Some(path) = &args.corpus {
        unread = corpus::read(path, args.raw, world, |recorded| {
            let label = recorded.id.map_or_else(|| format!("line {}", recorded.line.number), str::to_owned);
            drafting.row(&label, &recorded.signal);
            Ok(())
        })?;
    }
    match drafting.finish() {
        Ok(draft) => {
            write!(out, "{}", shown_lines(&draft.text))?;
            let same = match draft.same {
                0 => String::new(),
                n => format!(", {n} of them this error again"),
            };
            if let Some(why) = draft.unguarded {
                world.say(&format!("warning: it holds for any provider, since {why}"));
            }
            if !draft.caught.is_empty() {
                let caught = draft.caught.join("`, `");
                world.say(&format!(
                    "note: it catches others that no rule matches, such as `{}`",
                    Shown(&caught)
                ));
            }
            world.say(&format!(
                "tried on {} errors{same}: it takes none from another rule; put it above `use default` in your own rules, mend \
                 the comment, and run `pointsman check`",
                draft.rows
            ));
            Ok(Outcome::of(unread == 0))
        }
        Err(error) => Ok(none(&error.to_string(), world)),
    }
}

fn none(why: &str, world: &World) -> Outcome {
    world.say(&format!("no draft: {}", Shown(why)));
    Outcome::NotFine
}
