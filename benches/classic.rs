//! Instructions of an execution of the searches of two papers, next to those of other searches: counted by callgrind,
//! which must be installed.
//!
//! `cargo bench --bench classic` prints a table of `docs/IROOTS.md` and one of `docs/SOURCES.md`. `cargo bench --bench classic -- ring` measures the
//! programs whose names contain this. It runs this binary under callgrind several times for each program. The
//! differences exclude the fixed costs of an exploration.
//!
//! To look into one of them, run the binary with `run`, a program, a search with other settings behind it, and the number of
//! executions of each exploration, as in
//! `valgrind --tool=callgrind target/release/deps/classic-* run "long_tasks_fixed steps=1000" maple 4,4`. The explorations
//! have the seeds 1, 2 and so on.
#![allow(clippy::print_stdout, reason = "a table is what this bench is for")]

mod callgrind;

use callgrind::instructions;
use intermezzo::Report;
use intermezzo_corpus::find;

/// Programs of the corpus without a bug, some with values of their parameters: locks, atomics, condition variables and
/// channels; many variables and few; short executions and long ones.
const PROGRAMS: [&str; 10] = [
    "bounded_ring_fixed",
    "michael_scott_queue_fixed",
    "treiber_stack_fixed",
    "reader_writer_lock_fixed",
    "waiting_reader_writer_lock_fixed",
    "work_stealing_queue_fixed",
    "dining_philosophers_fixed",
    "fib_bench",
    "long_tasks_fixed steps=1000",
    "long_tasks_fixed steps=10000",
];

/// The number of explorations of a program, each with a seed of its own.
const SEEDS: u64 = 5;

/// The number of executions by which two runs of a search differ whose executions are alike.
const MORE: u64 = 40;

/// Ranked searches, and the search that they are compared with.
const RANKED: [&str; 5] = [
    "dfs preemptions=3",
    "ranked preemptions=3",
    "ranked(variables=2) preemptions=3",
    "ranked(variables=1) preemptions=3",
    "ranked(variables=1,per_place=1) preemptions=3",
];

/// Explores a program.
fn explore(program: &str, search: &str, seed: u64, executions: u64) -> Report {
    let mut words = program.split(' ');
    let program = words.next().and_then(find).expect("a program of the corpus");
    let arguments = program
        .arguments(&words.collect::<Vec<_>>())
        .expect("its parameters");
    let mut settings = program.settings();
    let (seed, executions) = (seed.to_string(), executions.to_string());
    let mut search = search.split(' ');
    let common = [
        ("strategy", search.next().expect("a search")),
        ("preemptions", "none"),
        ("reduction", "none"),
        ("minimise", "0"),
        ("seed", &seed),
        ("executions", &executions),
    ];
    let others = search.map(|setting| setting.split_once('=').expect("name=value"));
    for (name, value) in common.into_iter().chain(others) {
        settings.set(name, value).expect("a setting");
    }
    let report = program
        .explorer(settings, &arguments)
        .explore(program.test(&arguments));
    assert!(report.findings().is_empty(), "{report}");
    report
}

/// Returns the number of instructions of explorations with these numbers of executions.
fn of_explorations(program: &str, strategy: &str, executions: &[u64]) -> f64 {
    let executions: Vec<String> = executions.iter().map(u64::to_string).collect();
    instructions(&["run", program, strategy, &executions.join(",")])
}

/// Returns the number of instructions of an execution of a search.
fn of_each(program: &str, search: &str) -> f64 {
    let few = of_explorations(program, search, &[1; SEEDS as usize]);
    let many = of_explorations(program, search, &[1 + MORE; SEEDS as usize]);
    (many - few) / (SEEDS * MORE) as f64
}

/// Prints the costs of an execution of the search by iRoots: of its profile runs, and of its attempts.
fn iroots(programs: &[&str]) {
    println!(
        "| program | `random` | profile runs | each | times `random` | attempts | each | times `random` |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for program in programs {
        let random = of_each(program, "random");
        let counts = (1..=SEEDS).map(|seed| {
            let report = explore(program, "maple", seed, 2_000);
            let attempts = report.iroots().and_then(|iroots| iroots.attempts());
            (report.executions(), attempts.expect("it makes attempts"))
        });
        let (all, attempts): (Vec<u64>, Vec<u64>) = counts.unzip();
        let profiles: Vec<u64> = all.iter().zip(&attempts).map(|(all, own)| all - own).collect();
        // The first one of an exploration reaches most places, whose names are then found.
        let later: Vec<u64> = profiles.iter().map(|count| count - 1).collect();
        let first = of_explorations(program, "maple", &[1; SEEDS as usize]);
        let in_profiles = of_explorations(program, "maple", &profiles);
        let in_all = of_explorations(program, "maple", &all);
        let part = |instructions: f64, executions: &[u64]| {
            let count: u64 = executions.iter().sum();
            let each = instructions / count as f64;
            match count {
                0 => "0 | - | -".to_owned(),
                _ => format!("{count} | {each:.0} | {:.1}", each / random),
            }
        };
        println!(
            "| `{program}` | {random:.0} | {} | {} |",
            part(in_profiles - first, &later),
            part(in_all - in_profiles, &attempts)
        );
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
            let most = explore(program, search, 1, 1 + MORE).executions();
            let [few, many] = [1, most].map(|executions| of_explorations(program, search, &[executions]));
            format!("{:.0}", (many - few) / (most - 1) as f64)
        });
        println!("| `{program}` | {} |", columns.join(" | "));
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [command, program, strategy, executions] = &arguments[..]
        && command == "run"
    {
        for (seed, executions) in (1..).zip(executions.split(',')) {
            explore(program, strategy, seed, executions.parse().expect("a number"));
        }
        return;
    }
    // `cargo test` runs it, too.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return;
    }
    let filter = arguments.iter().find(|argument| *argument != "--bench");
    let is_meant = |program: &&str| filter.is_none_or(|filter| program.contains(filter.as_str()));
    let programs: Vec<&str> = PROGRAMS.into_iter().filter(is_meant).collect();
    iroots(&programs);
    println!();
    ranked(&programs);
}
