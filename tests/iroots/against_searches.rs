//! With as many executions, the search by iRoots exposes as many iRoots as others, on the buggy programs of the corpus together.

use intermezzo::{Report, Settings};
use intermezzo_corpus::{Expected, Program, programs};

/// Most executions of a program: the search by iRoots ends by itself long before, but for some.
const EXECUTIONS_MAX: u64 = 2_000;

/// What it is compared with: strategy and bound of preemptions.
const OTHERS: [(&str, &str); 4] = [
    ("pct(3)", "none"),
    ("dfs", "2"),
    ("random", "none"),
    ("pos", "none"),
];

/// The program explored so often, whatever is found.
fn explore(program: &Program, strategy: &str, preemptions: &str, executions: u64) -> Report {
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
        settings.set(name, value).unwrap_or_else(|error| panic!("{error}"));
    }
    let arguments = program.arguments::<&str>(&[]).expect("defaults are in range");
    program
        .explorer(settings, &arguments)
        .explore(program.test(&arguments))
}

fn exposed(report: &Report) -> u64 {
    report.iroots().expect("they are measured").exposed().total()
}

#[test]
fn as_many_as_others_expose() {
    let fails = |program: &&Program| match program.expected {
        Expected::Pass => false,
        Expected::Fail(kind) => ["assertion", "panic", "deadlock"].contains(&kind),
    };
    let mut sums = [0; 1 + OTHERS.len()];
    let mut found = 0;
    for program in programs().iter().filter(fails) {
        let own = explore(program, "coverage", "none", EXECUTIONS_MAX);
        let executions = own.executions();
        let mut row = vec![exposed(&own)];
        for (strategy, preemptions) in OTHERS {
            row.push(exposed(&explore(program, strategy, preemptions, executions)));
        }
        found += u64::from(own.verdict().is_fail());
        println!("{:30} {executions:5} {:?} {row:?} {}", program.name, own.first_failure(), own.iroots().unwrap());
        for (sum, of) in sums.iter_mut().zip(row) {
            *sum += of;
        }
    }
    println!("{sums:?} {found}");
    assert!(sums[1..].iter().all(|&others| sums[0] >= others), "{sums:?}");
}
