//! With as many executions, the search by iRoots exposes at least as many iRoots as other searches, on the buggy
//! programs of the corpus together. `IROOTS_TABLE=file cargo test --test iroots` writes the table of docs/IROOTS.md.

use intermezzo::{Report, Settings};
use intermezzo_corpus::{Expected, Program, programs};

/// The maximum number of executions of a program. With few exceptions, the search by iRoots ends by itself long before.
const EXECUTIONS_MAX: u64 = 2_000;

/// The programs that are compared.
const PROGRAMS: [&str; 44] = [
    "CVE-2009-3547",
    "CVE-2013-1792",
    "CVE-2016-1972",
    "CVE-2016-7911",
    "CVE-2017-15265",
    "abba",
    "account_bad",
    "aget-bug2",
    "arithmetic_prog_bad",
    "balance",
    "barnes",
    "bluetooth_driver_bad",
    "bounded_ring",
    "bounded_spin",
    "deadlock",
    "deadlock01_bad",
    "din_phil2_sat",
    "din_phil3_sat",
    "din_phil4_sat",
    "din_phil5_sat",
    "din_phil6_sat",
    "din_phil7_sat",
    "dining_philosophers",
    "fib-bench-144",
    "fsbench_bad",
    "lazy01_bad",
    "lostupd",
    "michael_scott_queue",
    "phase01_bad",
    "queue_bad",
    "reader_writer_lock",
    "reorder_3_bad",
    "selfdeadlock",
    "seqlock_broken",
    "spin_test_and_test_and_set_broken",
    "spinning_work_stealing_queue",
    "stringbuffer-jdk1.4",
    "sync01_bad",
    "sync02_bad",
    "treiber_stack",
    "twostage_bad",
    "waiting_reader_writer_lock",
    "work_stealing_queue",
    "wronglock_3_bad",
];

/// The other searches: strategy and bound on preemptions.
const OTHERS: [(&str, &str); 4] = [
    ("pct(3)", "none"),
    ("dfs", "2"),
    ("random", "none"),
    ("pos", "none"),
];

/// The minimum number of failing programs whose bug the search finds.
const FOUND_LEAST: u32 = 38;

fn settings(program: &Program, strategy: &str, preemptions: &str, executions: u64) -> Settings {
    let mut settings: Settings = program.settings();
    for (name, value) in [
        ("strategy", strategy),
        ("preemptions", preemptions),
        ("reduction", "none"),
        ("iroots", "true"),
        ("keep_going", "true"),
        ("minimise", "0"),
        ("executions", &executions.to_string()),
    ] {
        settings
            .set(name, value)
            .unwrap_or_else(|error| panic!("{error}"));
    }
    settings
}

/// Explores the program with this many executions, whatever is found.
fn explore(program: &Program, strategy: &str, preemptions: &str, executions: u64) -> Report {
    let settings = settings(program, strategy, preemptions, executions);
    let arguments = program.arguments::<&str>(&[]).expect("defaults are in range");
    program
        .explorer(settings, &arguments)
        .monitors("none")
        .explore(program.test(&arguments))
}

/// Returns the text of `docs/IROOTS.md`, followed by the same text with its lines joined.
fn document() -> String {
    let text = include_str!("../../docs/IROOTS.md");
    text.to_owned() + &text.replace('\n', " ")
}

fn exposed(report: &Report) -> u64 {
    report.iroots().expect("they are measured").exposed().total()
}

/// Returns the programs that fail by themselves. A data race needs a monitor, and a livelock does not depend on the
/// order of tasks.
fn failing() -> impl Iterator<Item = &'static Program> {
    programs().iter().filter(|program| match program.expected {
        Expected::Pass => false,
        Expected::Fail(kind) => ["assertion", "panic", "deadlock"].contains(&kind),
    })
}

#[test]
fn it_exposes_as_many_iroots_as_other_searches() {
    let mut sums = [0; 1 + OTHERS.len()];
    let mut table = String::new();
    for program in failing().filter(|program| PROGRAMS.contains(&program.name)) {
        let own = explore(program, "maple", "none", EXECUTIONS_MAX);
        let executions = own.executions();
        let mut row = [exposed(&own); 1 + OTHERS.len()];
        for (cell, (strategy, preemptions)) in row[1..].iter_mut().zip(OTHERS) {
            *cell = exposed(&explore(program, strategy, preemptions, executions));
        }
        table += &format!(
            "| `{}` | {executions} | {} |\n",
            program.name,
            row.map(|cell| cell.to_string()).join(" | ")
        );
        sums.iter_mut().zip(row).for_each(|(sum, of)| *sum += of);
    }
    table += &format!("| all | | {} |\n", sums.map(|sum| sum.to_string()).join(" | "));
    if let Some(path) = std::env::var_os("IROOTS_TABLE") {
        std::fs::write(path, &table).unwrap();
    }
    assert!(
        document().contains(&table),
        "docs/IROOTS.md has another table than\n{table}"
    );
    let more = |others: u64| {
        format!(
            "{:.0} % more than",
            100.0 * (sums[0] as f64 / others as f64 - 1.0)
        )
    };
    let [.., pct, dfs, random, pos] = sums.map(more);
    for says in [
        format!(
            "Here `maple` exposes {pct} `pct(3)`, {dfs} depth-first search with two preemptions, {random} random walks"
        ),
        format!("and {pos} `pos`"),
    ] {
        assert!(document().contains(&says), "docs/IROOTS.md does not say: {says}");
    }
    // The last search is only printed: the lead over it is so small that it may be chance.
    assert!(
        sums[1..OTHERS.len()].iter().all(|&others| sums[0] >= others),
        "{table}"
    );
}

/// Findings of the search are as good as those of others: small, replayable, and the same each time.
#[test]
fn findings_replay() {
    let mut found = 0;
    for program in failing() {
        let arguments = program.arguments::<&str>(&[]).expect("defaults are in range");
        let explored = || {
            let settings = settings(program, "maple", "none", EXECUTIONS_MAX);
            program
                .explorer(settings, &arguments)
                .monitors("none")
                .keep_going(false)
                .minimise(100)
                .explore(program.test(&arguments))
        };
        let report = explored();
        let Some(finding) = report.findings().first() else {
            continue;
        };
        found += 1;
        assert_eq!(finding.replays, None, "{}: {report}", program.name);
        let again = explored();
        assert_eq!(again.findings(), report.findings());
        // A waiting loop may be recognised one execution later, depending on earlier contents of the stack.
        let exposed = |report: &Report| report.iroots().map(|iroots| iroots.names().to_vec());
        assert_eq!(exposed(&again), exposed(&report));
        let replayed = program
            .explorer(Settings::default(), &arguments)
            .replay(finding.schedule.clone())
            .explore(program.test(&arguments));
        assert_eq!(replayed.findings()[0].message, finding.message);
        assert_eq!(replayed.findings()[0].events, finding.events);
    }
    assert!(found >= FOUND_LEAST, "{found}");
}
