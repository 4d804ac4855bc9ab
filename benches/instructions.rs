//! What the machine executes, counted under valgrind: no neighbour and no clock disturbs it.
//!
//! `cargo bench --bench instructions` compares with `benches/instructions.txt` and fails when anything
//! takes over 5 % more; counts of another compiler or machine are only shown. After a change that is
//! worth its price: `cargo bench --bench instructions -- --accept`.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::panic,
    reason = "a bench prints, and may fail so"
)]

use std::{
    fmt::Write as _,
    fs,
    hint::black_box,
    process::{Command, ExitCode, Stdio},
    sync::Arc,
};

use pointsman::{
    classify::Scratch,
    config::Config,
    host::{Attempt, AttemptError, Engine},
    lang::load,
    run::Request,
    signal::Signal,
    state::{memory::MemoryStore, model::Profile, store::Store},
    table::{NoSettings, Table},
};

#[path = "support/errors.rs"]
mod errors;
#[path = "support/many.rs"]
mod many;

const BASELINE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/instructions.txt");
const POINTSMAN: &str = env!("CARGO_BIN_EXE_pointsman");

/// So much more than the baseline, in per cent, is a failure.
const MOST: f64 = 5.0;

/// A name, rounds, and what is done in so many of them.
type Scenario = (&'static str, u32, fn(u32));

/// What is counted inside a process, and how often it is done there.
const SCENARIOS: [Scenario; 8] = [
    ("verdict: typical error", 1_000, |rounds| classify(&[errors::typical()], rounds)),
    ("verdict: all of the corpus", 5, |rounds| classify(&errors::CORPUS, rounds)),
    ("verdict: all of the corpus, 10,000 rules", 100, |rounds| {
        judge(&table_of_many(), &errors::CORPUS, rounds);
    }),
    ("verdict: 8 KiB of HTML", 100, |rounds| classify(&[errors::page(8 << 10)], rounds)),
    ("verdict: 8 KiB of JSON", 100, |rounds| classify(&[errors::payload(8 << 10)], rounds)),
    ("load the shipped rules to judge", 2, load),
    ("load and compile them to a table", 2, compile),
    ("run: first attempt answers", 5_000, run),
];

/// Whole processes.
const PROCESSES: [&[&str]; 2] = [&["--version"], &["classify", "--message", "Rate limit reached"]];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, scenario, rounds] = args.as_slice()
        && flag == "--do"
    {
        let (_, _, what) = SCENARIOS.iter().find(|(name, ..)| name == scenario).unwrap();
        what(rounds.parse().unwrap());
        return ExitCode::SUCCESS;
    }
    if Command::new("valgrind").arg("--version").stdout(Stdio::null()).status().is_err() {
        println!("SKIPPED: valgrind is not here");
        return ExitCode::SUCCESS;
    }
    let machine = machine();
    let counts = counts();
    if args.iter().any(|arg| arg == "--accept") {
        let mut text = format!(
            "# Instructions; written by `cargo bench --bench instructions -- --accept`.\n# {machine}\n"
        );
        for (name, count) in &counts {
            writeln!(text, "{count:>12}  {name}").unwrap();
        }
        fs::write(BASELINE, text).unwrap();
    }
    compare(&machine, &counts)
}

/// Prints the counts beside the baseline.
fn compare(machine: &str, counts: &[(String, u64)]) -> ExitCode {
    let baseline = fs::read_to_string(BASELINE).unwrap_or_default();
    let same = baseline.lines().any(|line| line.strip_prefix("# ") == Some(machine));
    let known = |name: &str| {
        let rows = baseline.lines().filter_map(|line| line.trim().split_once("  "));
        rows.into_iter().find(|(_, known)| *known == name).and_then(|(count, _)| count.parse::<u64>().ok())
    };
    let mut worse = false;
    for (name, count) in counts {
        let change = known(name).map(|before| percent(*count, before));
        // What nobody has accepted yet would go unwatched.
        let failed = change.is_none_or(|change| change > MOST);
        worse |= failed;
        let change = change.map_or("new".to_owned(), |change| format!("{change:+.1} %"));
        println!("{count:>12}  {name:<45} {change:>8}{}", if failed { "  MORE" } else { "" });
    }
    if !worse {
        return ExitCode::SUCCESS;
    }
    if !same {
        println!("another compiler or machine than the baseline's, so this decides nothing: {machine}");
        return ExitCode::SUCCESS;
    }
    println!(
        "over {MOST} % more instructions than benches/instructions.txt says, or nothing there; if they are worth it:"
    );
    println!("cargo bench --bench instructions -- --accept");
    ExitCode::FAILURE
}

#[expect(clippy::cast_precision_loss, reason = "a percentage need not be exact")]
fn percent(now: u64, before: u64) -> f64 {
    (now as f64 / before as f64 - 1.0) * 100.0
}

/// Compiler and target, and whether the libraries find wide registers, on which they act otherwise.
fn machine() -> String {
    let said = Command::new("rustc").arg("-vV").output().unwrap().stdout;
    let said = String::from_utf8(said).unwrap();
    let line = |start: &str| said.lines().find_map(|line| line.strip_prefix(start)).unwrap_or("?");
    #[cfg(target_arch = "x86_64")]
    let wide = if std::is_x86_feature_detected!("avx2") { "avx2" } else { "no avx2" };
    #[cfg(not(target_arch = "x86_64"))]
    let wide = "plain";
    format!("rustc {}, {}, {wide}", line("release: "), line("host: "))
}

/// All counts. Of a scenario, the difference that more rounds make is counted, so that preparation and
/// start-up play no part.
fn counts() -> Vec<(String, u64)> {
    let own = std::env::current_exe().unwrap();
    let own = own.to_str().unwrap();
    let count = |name: &str, rounds: u32| count(own, &["--do", name, &rounds.to_string()]);
    let scenarios = SCENARIOS.iter().map(|(name, rounds, _)| {
        let more = count(name, 1 + rounds) - count(name, 1);
        ((*name).to_owned(), more / u64::from(*rounds))
    });
    let processes = PROCESSES
        .iter()
        .map(|args| (format!("process: pointsman {}", args.join(" ")), self::count(POINTSMAN, args)));
    scenarios.chain(processes).collect()
}

/// Instructions of one process.
fn count(program: &str, args: &[&str]) -> u64 {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", program]).args(args);
    let said = command.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&said.stderr).into_owned();
    let collected = said.lines().find_map(|line| line.split_once("Collected : "));
    let Some((_, count)) = collected else { panic!("no count: {said}") };
    count.trim().parse().unwrap()
}

fn table() -> Table {
    let (rules, _) = load::shipped_to_judge().unwrap();
    Table::compile(rules, &NoSettings).unwrap()
}

fn table_of_many() -> Table {
    Table::compile(many::rules(*many::TEN_THOUSAND), &NoSettings).unwrap()
}

fn classify(signals: &[Signal], rounds: u32) {
    judge(&table(), signals, rounds);
}

fn judge(table: &Table, signals: &[Signal], rounds: u32) {
    let mut scratch = Scratch::default();
    for _ in 0..rounds {
        for signal in signals {
            black_box(table.classify(&black_box(signal).as_ref(), &mut scratch));
        }
    }
}

fn load(rounds: u32) {
    for _ in 0..rounds {
        drop(black_box(load::shipped_to_judge()));
    }
}

fn compile(rounds: u32) {
    for _ in 0..rounds {
        drop(black_box(table()));
    }
}

fn run(rounds: u32) {
    let config =
        Config::parse("agents: { defaults: { model: { primary: alpha/large, fallbacks: [beta/large] } } }");
    let store = MemoryStore::new();
    for id in ["alpha:one", "alpha:two", "beta:one"] {
        store.put_profile(&Profile::api_key(id, "key")).unwrap();
    }
    let engine = Engine::shipped(&config.unwrap(), Arc::new(store)).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        for _ in 0..=rounds {
            let request = Request { session: Some("session".to_owned()), ..Request::default() };
            engine.run(request, answer).await.unwrap();
        }
    });
}

async fn answer(_: Attempt) -> Result<(), AttemptError> {
    Ok(())
}
