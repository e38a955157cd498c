//! Runs programs with real threads, and writes a test for each outcome. The test fails if an execution has this outcome.
//!
//! The arguments are the first seed, the one after the last, the number of runs of each program, and the limit of its
//! tests.

use std::collections::HashMap;
use std::fmt::Write;

fn main() {
    let arguments = std::env::args().skip(1).map(|argument| argument.parse().unwrap());
    let [from, to, runs, most]: [u64; 4] = arguments.collect::<Vec<_>>().try_into().unwrap();
    let mut text = String::from(
        "use real_outcomes::{generate, run};\n\n\
         fn check(seed: u64, outcome: &[u8]) {\n    assert_ne!(run(&generate(seed), 0), outcome);\n}\n",
    );
    for seed in from..to {
        let program = real_outcomes::generate(seed);
        let mut seen: HashMap<Vec<u8>, u64> = HashMap::new();
        for run in 0..runs {
            *seen
                .entry(real_outcomes::run(&program, 1 + run * 77))
                .or_default() += 1;
        }
        // The rarest outcomes first, because they are the hardest to find.
        let mut seen: Vec<_> = seen.into_iter().collect();
        seen.sort_by_key(|(outcome, times)| (*times, outcome.clone()));
        for (number, (outcome, times)) in seen.iter().take(most as usize).enumerate() {
            let name = format!("program_{seed}_outcome_{number}");
            writeln!(
                text,
                "// {times} of {runs} runs\n#[test]\nfn {name}() {{\n    check({seed}, &{outcome:?});\n}}"
            )
            .unwrap();
        }
    }
    std::fs::write("tests/found.rs", text).unwrap();
}
