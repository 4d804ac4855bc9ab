//! `profiles add`: stores a credential. Its secret never comes from an argument (C3).

use std::io::Read as _;

use secrecy::{ExposeSecret as _, SecretString, zeroize::Zeroizing};

use crate::{
    cli::{
        args::Global,
        escape::Shown,
        failure::{Failure, Outcome, why},
        jsonl, rulebook,
        statefile::StateArgs,
        world::World,
    },
    config::is_profile_id,
    lang::policy::CredentialKind,
    signal::mask,
    state::{
        model::{Profile, ProfileId, Secret},
        store::{Put, Store as _},
        view::ViewQuery,
    },
    time::Timestamp,
};

/// A secret longer than this is none.
const LONGEST: u64 = 64 * 1024;

/// Store a credential; its secret comes from stdin, `env:NAME` or `file:PATH`, never from an argument
///
/// `env:NAME` and `file:PATH` are stored as they are, and read at the moment of use.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// The profile, `provider:NAME`; a provider alone is named after the e-mail address, else `default`
    #[arg(value_name = "ID")]
    id: String,
    /// `env:NAME`, `file:PATH`, or `-` for stdin
    #[arg(value_name = "SECRET", default_value = "-", hide_default_value = true)]
    from: String,
    /// The same as SECRET
    #[arg(long = "secret", value_name = "SECRET", conflicts_with = "from", hide = true)]
    secret: Option<String>,
    /// The kind of credential
    #[arg(long, value_enum, default_value = "api_key")]
    kind: Kind,
    /// The provider, when the id does not name it
    #[arg(long, value_name = "PROVIDER")]
    provider: Option<String>,
    /// A login's refresh token: `env:NAME` or `file:PATH`
    #[arg(long, value_name = "SECRET")]
    refresh: Option<String>,
    /// When the token or login expires, such as `2026-11-30T10:00:00Z`
    #[arg(long, value_name = "TIME", value_parser = jsonl::instant)]
    expires: Option<Timestamp>,
    /// A login's e-mail address
    #[arg(long, value_name = "ADDRESS")]
    email: Option<String>,
    #[command(flatten)]
    state: StateArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    #[value(name = "api_key", alias = "api-key")]
    ApiKey,
    Oauth,
    Token,
}

pub(super) fn run(args: &Args, global: &Global, world: &World) -> Result<Outcome, Failure> {
    let id = id(args)?;
    let refresh = args.refresh.as_deref().map(|from| reference(from, "--refresh")).transpose()?;
    let from = args.secret.as_deref().unwrap_or(&args.from);
    let secret = if from == "-" { stdin(world)? } else { reference(from, "the secret")? };
    let table = rulebook::load_to_judge(global, world)?;
    let store = args.state.open(world)?;
    let view = store.view(&ViewQuery::default(), world.now())?;
    let family = |a: &str, b: &str| table.same_provider(a, b);
    let same = |there: &&ProfileId| **there != id && there.same(&id, &family);
    if let Some(there) = view.profiles.iter().map(|profile| &profile.info.id).find(same) {
        return Err(Failure::Usage(format!(
            "`{}` is the same profile as `{}`, which is stored already; use that name",
            id.0, there.0
        )));
    }
    for stored in [Some(&secret), refresh.as_ref()].into_iter().flatten() {
        note(stored, world);
    }
    let profile = Profile {
        provider: args.provider.clone().unwrap_or_else(|| id.provider().to_owned()),
        id,
        kind: match args.kind {
            Kind::ApiKey => CredentialKind::ApiKey,
            Kind::Oauth => CredentialKind::Oauth,
            Kind::Token => CredentialKind::Token,
        },
        secret: Some(secret),
        refresh,
        expires: args.expires,
        email: args.email.clone(),
        extra: std::collections::BTreeMap::new(),
        inserted: 0,
    };
    let done = match store.put_profile(&profile)? {
        Put::Added => "stored",
        Put::Replaced => "replaced; its usage and place stay",
    };
    world.say(&format!("`{}` is {done}", Shown(&profile.id.0)));
    Ok(Outcome::Fine)
}

/// Says when a reference leads to nothing, as seen from here. The host may see another world.
fn note(secret: &Secret, world: &World) {
    match secret {
        Secret::Env(name) if world.env(name).is_none() => {
            world.say(&format!("note: the environment variable `{}` is not set here", Shown(name)));
        }
        Secret::File(path) => {
            let shown = path.to_string_lossy();
            let why = match std::fs::metadata(path) {
                Ok(meta) if meta.is_file() => return,
                Ok(_) => "it is no file, but a folder, a pipe, a device or a socket".to_owned(),
                Err(error) => why(&error),
            };
            world.say(&format!("note: the file `{}` cannot be read here: {why}", Shown(&shown)));
        }
        Secret::Env(_) | Secret::Direct(_) => {}
    }
}

/// C2: a login without a name gets its e-mail address, else `default`.
fn id(args: &Args) -> Result<ProfileId, Failure> {
    let mut id = args.id.clone();
    if !id.contains(':') {
        id = format!("{id}:{}", args.email.as_deref().unwrap_or("default"));
    }
    if !is_profile_id(&id) {
        return Err(Failure::Usage(format!("`{id}` is no profile id; write `provider:NAME`")));
    }
    let id = ProfileId(id.into());
    // The id would show it in every list.
    if mask(id.provider()) != id.provider() {
        return Err(Failure::Usage(
            "a secret seems to stand where the profile's id should; write `provider:NAME`, then `env:NAME` or \
             `file:PATH`"
                .into(),
        ));
    }
    Ok(id)
}

/// `env:NAME` or `file:PATH`. Anything else may be the secret itself, so it is not quoted.
fn reference(from: &str, what: &str) -> Result<Secret, Failure> {
    match Secret::parse(from) {
        Secret::Direct(_) => Err(Failure::Usage(format!(
            "{what} must be `env:NAME` or `file:PATH`: other users see a command's arguments, so a secret \
             never comes from one"
        ))),
        reference => Ok(reference),
    }
}

fn stdin(world: &World) -> Result<Secret, Failure> {
    if world.stdin_terminal {
        world.say("type or paste the secret (it will be seen), then Ctrl-D on a line of its own");
    }
    let mut text = Zeroizing::new(String::new());
    let read = std::io::stdin().lock().take(LONGEST + 1).read_to_string(&mut text);
    read.map_err(|error| Failure::Read { path: "stdin".into(), error })?;
    if text.len() as u64 > LONGEST {
        return Err(Failure::Usage("the secret is longer than 64 KiB; is it the right file?".into()));
    }
    let secret = SecretString::from(text.trim());
    if secret.expose_secret().is_empty() {
        return Err(Failure::Usage(
            "stdin holds no secret; give it there, or as `env:NAME` or `file:PATH`".into(),
        ));
    }
    // What looks like a reference is one, also from stdin.
    let secret = Secret::parse(secret.expose_secret());
    match secret.flaw() {
        Some(flaw) => Err(Failure::Usage(format!("the secret {flaw}"))),
        None => Ok(secret),
    }
}
