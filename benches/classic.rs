//! Instructions of an execution of the searches of two papers, next to those of other searches. Valgrind must be
//! installed: its callgrind counts them.
//!
//! `cargo bench --bench classic` prints a table of `docs/IROOTS.md` and one of `tests/published_searches/page.md`, and
//! `cargo bench --bench classic -- ring` the lines of programs whose names contain this. It runs this binary under
//! callgrind several times for each program. The differences exclude the fixed costs of an exploration.
//!
//! To look into one of them, run the binary with `run`, a program, a search with other settings behind it, and the number of
//! executions of the exploration, as in
//! `valgrind --tool=callgrind target/release/deps/classic-* run "long_tasks_fixed steps=1000" maple 4`.
#![allow(clippy::print_stdout, reason = "a table is what this bench is for")]

mod callgrind;

use callgrind::instructions;
use intermezzo::Report;
use intermezzo_corpus::find;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Programs of the corpus without a bug, one with a value of its parameter: short executions and long ones.
const PROGRAMS: [&str; 5] = [
    "bounded_ring_fixed",
    "treiber_stack_fixed",
    "reader_writer_lock_fixed",
    "work_stealing_queue_fixed",
    "long_tasks_fixed steps=1000",
];

/// The seed of each exploration.
const SEED: &str = "1";

/// The number of executions by which two runs of a search differ whose executions are alike.
const MORE: u64 = 40;

/// The largest number of executions of a search by iRoots, which ends before.
const EXECUTIONS_MAX: u64 = 2_000;

/// The programs on which ranked searches are measured.
const RANKED_PROGRAMS: [&str; 2] = ["bounded_ring_fixed", "reader_writer_lock_fixed"];

/// Ranked searches, and the search that they are compared with.
const RANKED: [&str; 5] = [
    "dfs preemptions=3",
    "ranked preemptions=3",
    "ranked(variables=2) preemptions=3",
    "ranked(variables=1) preemptions=3",
    "ranked(variables=1,per_place=1) preemptions=3",
];

/// Explores a program.
fn explore(program: &str, search: &str, executions: u64) -> Report {
    explore_until(program, search, executions, || ())
}

/// Explores a program, and runs `reached` before the execution after this many, if the search has more.
fn explore_until(
    program: &str,
    search: &str,
    executions: u64,
    reached: impl Fn() + Send + Sync + 'static,
) -> Report {
    let mut words = program.split(' ');
    let program = words.next().and_then(find).expect("a program of the corpus");
    let arguments = program
        .arguments(&words.collect::<Vec<_>>())
        .expect("its parameters");
    let mut settings = program.settings();
    let most = (executions + 1).to_string();
    let mut search = search.split(' ');
    let common = [
        ("strategy", search.next().expect("a search")),
        ("preemptions", "none"),
        ("reduction", "none"),
        ("minimise", "0"),
        ("seed", SEED),
        ("executions", &most),
    ];
    let others = search.map(|setting| setting.split_once('=').expect("name=value"));
    for (name, value) in common.into_iter().chain(others) {
        settings.set(name, value).expect("a setting");
    }
    let test = program.test(&arguments);
    let begun = AtomicU64::new(0);
    let report = program.explorer(settings, &arguments).explore(move || {
        if begun.fetch_add(1, Relaxed) == executions {
            reached();
        }
        test();
    });
    assert!(report.findings().is_empty(), "{report}");
    report
}

/// Runs this many executions of a search, and leaves without a report: it takes the longer the more was found.
fn run(program: &str, search: &str, executions: u64) {
    let (program, search) = (program.to_owned(), search.to_owned());
    let (reached, is_reached) = mpsc::channel();
    let over = reached.clone();
    thread::spawn(move || {
        explore_until(&program, &search, executions, move || {
            // The process ends before this does.
            _ = reached.send(());
            thread::sleep(Duration::MAX);
        });
        _ = over.send(());
    });
    _ = is_reached.recv();
}

/// Returns the number of instructions of an exploration with this number of executions.
fn of_exploration(program: &str, search: &str, executions: u64) -> f64 {
    instructions(&["run", program, search, &executions.to_string()])
}

/// Returns the number of instructions of an execution: the average of those that an exploration of `end` executions has
/// after the first `first` ones. `None` if there are none.
fn of_each(program: &str, search: &str, first: u64, end: u64) -> Option<f64> {
    let count = end.checked_sub(first).filter(|count| *count > 0)?;
    let [few, many] = [first, end].map(|executions| of_exploration(program, search, executions));
    Some((many - few) / count as f64)
}

/// Prints the costs of an execution of the search by iRoots: of its profile runs, and of its attempts.
fn iroots(programs: &[&str]) {
    println!(
        "| program | `random` | profile runs | each | times `random` | attempts | each | times `random` |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for program in programs {
        let random = of_each(program, "random", 1, 1 + MORE).expect("it has more executions");
        let report = explore(program, "maple", EXECUTIONS_MAX);
        let attempts = report.iroots().and_then(|iroots| iroots.attempts());
        let all = report.executions();
        let profiles = all - attempts.expect("it makes attempts");
        // The first profile run reaches most places, whose names are then found.
        // After the last attempt the search is over, and there is a report.
        let parts = [(1, profiles), (profiles, all.max(1) - 1)].map(|(first, end)| {
            let each = of_each(program, "maple", first, end);
            let figures = each.map_or("- | -".to_owned(), |each| {
                format!("{each:.0} | {:.1}", each / random)
            });
            format!("{} | {figures}", end.saturating_sub(first))
        });
        println!("| `{program}` | {random:.0} | {} |", parts.join(" | "));
    }
}

/// Prints the costs of an execution of ranked searches within few variables.
fn ranked(programs: &[&str]) {
    println!(
        "| program | {} |",
        RANKED.map(|search| format!("`{search}`")).join(" | ")
    );
    println!("|---|{}", "---|".repeat(RANKED.len()));
    for program in programs {
        let columns = RANKED.map(|search| {
            let most = explore(program, search, 1 + MORE).executions();
            let each = of_each(program, search, 1, most);
            each.map_or("-".to_owned(), |each| format!("{each:.0}"))
        });
        println!("| `{program}` | {} |", columns.join(" | "));
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [command, program, search, executions] = &arguments[..]
        && command == "run"
    {
        run(program, search, executions.parse().expect("a number"));
        return;
    }
    // `cargo test` runs it, too.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return;
    }
    let filter = arguments.iter().find(|argument| *argument != "--bench");
    let is_meant = |program: &&str| filter.is_none_or(|filter| program.contains(filter.as_str()));
    iroots(&PROGRAMS.into_iter().filter(is_meant).collect::<Vec<_>>());
    println!();
    ranked(&RANKED_PROGRAMS.into_iter().filter(is_meant).collect::<Vec<_>>());
}
