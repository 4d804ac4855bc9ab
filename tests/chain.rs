//! The candidate chain (G) and what each source may fall back to (B).

#![expect(clippy::unwrap_used, reason = "a test may fail so")]

use pointsman::{
    lang::policy::SelectionSource,
    run::*,
    state::{
        change::{Change, Expect},
        model::{Origin, Override, Session},
    },
};

use crate::support::lab::*;

const P: &str = "acme/p";
const F: [&str; 3] = ["acme/f1", "other/f2", "third/f3"];

fn routing() -> Routing {
    Routing { model: list(P, Some(&F)), ..Routing::default() }
}

fn build(routing: &Routing, request: &Request, session: &Session) -> Vec<String> {
    let selected = select(request, routing, session).unwrap();
    let chain = chain(table("").policy(), routing, request, &selected);
    chain.iter().map(|candidate| format!("{}/{}", candidate.provider, candidate.model)).collect()
}

fn plain(routing: &Routing, request: &Request) -> Vec<String> {
    build(routing, request, &Session::default())
}

fn agent(routing: Routing, list: ModelList) -> Routing {
    let own = AgentRouting { model: list, ..AgentRouting::default() };
    Routing { agents: [("helper".to_owned(), own)].into(), ..routing }
}

fn of_agent() -> Request {
    Request { agent: Some("helper".into()), ..request("s") }
}

fn auto(at: &str, origin: &str, source: SelectionSource, job: Option<&[&str]>) -> Session {
    let selected = Override {
        candidate: model(at),
        source: Some(SelectionSource::Auto),
        origin: Some(Origin { candidate: model(origin), source, fallbacks: job.map(models) }),
        written_at: START,
        probed_at: None,
        reason: None,
        notified: true,
    };
    Session { selected: Some(selected), ..Session::default() }
}

#[test]
fn b1_g7_default_is_primary_then_fallbacks() {
    assert_eq!(plain(&routing(), &request("s")), [P, F[0], F[1], F[2]]);
}

#[test]
fn g1_g4_a_requested_model_is_first_then_fallbacks_then_the_primary() {
    let asked = choice("s", "fourth/x", SelectionSource::Default, None);
    assert_eq!(plain(&routing(), &asked), ["fourth/x", F[0], F[1], F[2], P]);
}

#[test]
fn g2_fallbacks_are_deduplicated_and_not_filtered() {
    let doubled =
        Routing { model: list(P, Some(&[F[0], P, F[0], F[1], "odd/never-heard-of"])), ..Routing::default() };
    assert_eq!(plain(&doubled, &request("s")), [P, F[0], F[1], "odd/never-heard-of"]);
}

#[test]
fn g3_a_run_on_a_fallback_of_the_same_family_keeps_the_full_chain() {
    let lists = Routing { model: list("openai/p", Some(&["openai/f1", "other/f2"])), ..Routing::default() };
    let asked = choice("s", "openai/f1", SelectionSource::Default, None);
    assert_eq!(plain(&lists, &asked), ["openai/f1", "other/f2", "openai/p"]);
    let asked = choice("s", "openai-codex/f1", SelectionSource::Default, None);
    assert_eq!(plain(&lists, &asked), ["openai-codex/f1", "openai/f1", "other/f2", "openai/p"]);
}

#[test]
fn g5_an_own_list_is_exact_and_an_empty_one_turns_fallback_off() {
    let own = choice("s", "x/x", SelectionSource::Cron, Some(&["y/y"]));
    assert_eq!(plain(&routing(), &own), ["x/x", "y/y"]);
    let none = choice("s", "x/x", SelectionSource::Cron, Some(&[]));
    assert_eq!(plain(&routing(), &none), ["x/x"]);
}

#[test]
fn g6_images_have_a_chain_of_their_own() {
    let lists = Routing { image: list("paint/p", Some(&["draw/d"])), ..routing() };
    let image = Request { kind: Kind::Image, ..request("s") };
    assert_eq!(plain(&lists, &image), ["paint/p", "draw/d"]);
    let stored = auto(F[0], P, SelectionSource::Default, None);
    assert_eq!(
        build(&lists, &image, &stored),
        ["paint/p", "draw/d"],
        "the session's model is not an image model"
    );
    assert!(select(&image, &routing(), &Session::default()).is_none());
}

#[test]
fn g7_cron_uses_the_configured_fallbacks_and_the_primary() {
    assert_eq!(
        plain(&routing(), &choice("s", "x/x", SelectionSource::Cron, None)),
        ["x/x", F[0], F[1], F[2], P]
    );
    let with_agent = agent(routing(), list("y/y", Some(&["z/z"])));
    let job = choice("s", "x/x", SelectionSource::Cron, None);
    let job = Request { agent: Some("helper".into()), ..job };
    assert_eq!(plain(&with_agent, &job), ["x/x", F[0], F[1], F[2], P], "the agent's list is not the job's");
}

#[test]
fn g7_auto_goes_on_with_the_chain_of_its_origin() {
    let at_f2 = auto(F[1], P, SelectionSource::Default, None);
    assert_eq!(build(&routing(), &request("s"), &at_f2), [F[1], F[0], F[2], P]);
    let own = agent(routing(), list("x/x", Some(&["y/y", "z/z"])));
    let at_y = auto("y/y", "x/x", SelectionSource::Agent, None);
    assert_eq!(build(&own, &of_agent(), &at_y), ["y/y", "z/z", "x/x"], "the primary is the agent's");
    let job = auto("y/y", "x/x", SelectionSource::Cron, Some(&["y/y", "z/z"]));
    assert_eq!(build(&routing(), &request("s"), &job), ["y/y", "z/z", "x/x"], "the list is the job's");
    let listless = auto(F[0], "x/x", SelectionSource::Cron, None);
    assert_eq!(build(&routing(), &request("s"), &listless), [F[0], F[1], F[2], P]);
}

#[test]
fn b2_an_agent_is_strict_unless_it_has_fallbacks() {
    let strict = agent(routing(), list("x/x", None));
    assert_eq!(plain(&strict, &of_agent()), ["x/x"]);
    let explicit = agent(routing(), list("x/x", Some(&[])));
    assert_eq!(plain(&explicit, &of_agent()), ["x/x"]);
    let opted_in = agent(routing(), list("x/x", Some(&["y/y"])));
    assert_eq!(plain(&opted_in, &of_agent()), ["x/x", "y/y"]);
    assert_eq!(plain(&opted_in, &request("s")), [P, F[0], F[1], F[2]], "other agents are untouched");
}

#[test]
fn b4_a_users_choice_is_strict_stored_or_one_off() {
    let mut lab = Lab::with(table(""), routing());
    lab.user_picks("s", "x/x");
    assert_eq!(build(&routing(), &request("s"), &lab.session("s")), ["x/x"]);
    assert_eq!(plain(&routing(), &choice("s", "y/y", SelectionSource::User, None)), ["y/y"]);
    lab.minutes(1);
}

#[test]
fn b5_a_stored_model_without_a_source_is_the_users() {
    let lab = Lab::with(table(""), routing());
    lab.change("s", pick("x/x", None, START));
    let session = lab.session("s");
    assert_eq!(select(&request("s"), &routing(), &session).unwrap().source, SelectionSource::Legacy);
    assert_eq!(build(&routing(), &request("s"), &session), ["x/x"]);
}

#[test]
fn b6_a_jobs_model_beats_what_the_session_holds() {
    let lab = Lab::with(table(""), routing());
    lab.user_picks("s", "u/u");
    let job = choice("s", "x/x", SelectionSource::Cron, Some(&["y/y"]));
    assert_eq!(build(&routing(), &job, &lab.session("s")), ["x/x", "y/y"]);
}

#[test]
fn k2_a_stored_selection_beats_the_hosts_own_idea() {
    let lab = Lab::with(table(""), routing());
    lab.user_picks("s", "u/u");
    let stale = choice("s", "x/x", SelectionSource::Default, None);
    assert_eq!(build(&routing(), &stale, &lab.session("s")), ["u/u"]);
}

#[test]
fn a_source_that_no_rule_names_is_strict() {
    let bare = table_without(&["source default"]);
    let selected = select(&request("s"), &routing(), &Session::default()).unwrap();
    let chain = chain(bare.policy(), &routing(), &request("s"), &selected);
    assert_eq!(chain, models(&[P]));
}

#[test]
fn b3_clearing_needs_a_match() {
    let lab = Lab::with(table(""), routing());
    lab.user_picks("s", "u/u");
    let wrong = Change::Select { expect: Expect::Nothing, new: None };
    let batch = pointsman::state::change::Batch { session: Some("s".into()), changes: vec![wrong] };
    assert!(lab.store.apply(&batch, START).unwrap().conflict);
}
