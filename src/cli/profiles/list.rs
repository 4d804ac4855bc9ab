//! `profiles list`: the stored credentials, without their secrets.

use std::io::Write;

use serde_json::json;

use crate::{
    cli::{
        escape::{Shown, write_json},
        failure::{Failure, Outcome},
        format::ViewFormat,
        statefile::ViewArgs,
        table::{Cell, Style, Table},
        world::World,
    },
    lang::policy::CredentialKind,
    state::select::eligible,
};

/// List the stored credentials, never their secrets
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    view: ViewArgs,
}

pub(super) fn run(args: &Args, world: &World, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let seen = args.view.state.look(None, world)?;
    let mut rows = Vec::new();
    let mut table = Table::new(&["profile", "kind", "state"], world.width, world.stdout_colour());
    for profile in seen.view.profiles.iter() {
        let info = &profile.info;
        let reason = eligible(info, &info.provider, &str::eq, seen.now).err();
        let until = profile.usage.windows.iter().filter(|window| window.is_open(seen.now));
        let until = until.map(|window| window.until).max();
        let (state, style) = match (&reason, until) {
            (Some(reason), _) => (reason.to_string(), Style::Bad),
            (None, Some(until)) => (format!("blocked until {until}"), Style::Warn),
            (None, None) => ("free".to_owned(), Style::Good),
        };
        if args.view.format == ViewFormat::Human {
            let id = Cell::plain(Shown(&info.id.0).to_string());
            table.row(vec![id, Cell::plain(kind(info.kind)), Cell::styled(state, style)], out)?;
        } else {
            rows.push(json!({
                "id": info.id.0,
                "provider": info.provider,
                "kind": kind(info.kind),
                "email": info.email,
                "expires": info.expires.map(|at| at.to_string()),
                "eligible": reason.is_none(),
                "reason": reason.map(|reason| reason.to_string()),
                "blockedUntil": until.map(|at| at.to_string()),
            }));
        }
    }
    if args.view.format == ViewFormat::Human {
        table.flush(out)?;
        if seen.view.profiles.is_empty() {
            world.say("no profiles are stored; `pointsman profiles add` stores one");
        }
    } else {
        write_json(out, &json!({ "profiles": rows }))?;
    }
    Ok(Outcome::Fine)
}

/// As configs and scenarios write it.
pub(in crate::cli) const fn kind(kind: CredentialKind) -> &'static str {
    match kind {
        CredentialKind::Oauth => "oauth",
        CredentialKind::Token => "token",
        CredentialKind::ApiKey => "api_key",
    }
}
