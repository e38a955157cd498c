//! Programs of the corpus: the answers of independent tools, and other known facts about them.
//!
//! Debug builds leave out rows with many traces, and print them (`--nocapture` shows that, as does a failure).

use crate::tables::{Comparison, TRACE_COUNTS, rows};
use crate::{is_stale, watched};
use intermezzo::{Reduction, Report, Settings};
use intermezzo_corpus::{Program, find};

/// The maximum number of traces of a row without stale loads that is explored.
const TRACES_MAX: u64 = if cfg!(debug_assertions) { 1500 } else { u64::MAX };

/// Each row with an answer is explored to its end, even if the tools cut its retry loops in their own way. The program of a
/// row without an answer is wrong: either under sequential consistency, or only with store buffers.
#[test]
fn programs_are_stale_as_published() {
    let mut comparison = Comparison::default();
    for row in rows(TRACE_COUNTS) {
        let program = row.cell("program");
        let vulnerable = match row.cell("store_buffer_vulnerable") {
            "yes" => true,
            "no" => false,
            _ if row.cell("verdict") == "correct" => true,
            _ => continue,
        };
        let traces = row.numbers("traces").first().copied().unwrap_or(0);
        if !vulnerable && traces > TRACES_MAX {
            comparison.note(program, format!("left out: {traces} traces"));
            continue;
        }
        let settings = Settings {
            reduction: Reduction::Dpor,
            ..Settings::default()
        };
        let report = row.explore(settings, watched);
        comparison.note(
            program,
            format!("{vulnerable}: {} executions", report.executions()),
        );
        if is_stale(&report) != vulnerable {
            comparison.object(program, format!("must be {vulnerable}:\n{report}"));
        }
        if !vulnerable && !report.verdict().is_pass() {
            comparison.object(program, format!("was not explored to its end:\n{report}"));
        }
    }
    comparison.conclude();
}

fn named(name: &str) -> &'static Program {
    find(name).unwrap_or_else(|| panic!("{name} is in the corpus"))
}

/// Explores the program with these settings.
fn explored(name: &str, settings: impl FnOnce(&Program) -> Settings) -> Report {
    let program = named(name);
    let arguments = program.arguments::<&str>(&[]).expect("defaults are in range");
    watched(program.explorer(settings(program), &arguments)).explore(program.test(&arguments))
}

/// Algorithms that are right under sequential consistency and known to be wrong with store buffers, with their
/// corrected versions.
const PAIRS: [(&str, &str); 5] = [
    ("dekker-rlx", "dekker_f"),
    ("peterson", "peterson-sc"),
    ("n6", "n6+scf"),
    ("idle_signal", "idle_signal_sc"),
    ("dq_unfenced", "dq"),
];

#[test]
fn algorithms_that_need_a_fence_are_found_and_those_that_have_it_are_not() {
    let reduced = |program: &Program| Settings {
        reduction: Reduction::Dpor,
        preemptions: None,
        ..program.settings()
    };
    for (vulnerable, fixed) in PAIRS {
        for report in [
            explored(vulnerable, reduced),
            explored(vulnerable, Program::settings),
        ] {
            assert!(is_stale(&report), "{vulnerable}: {report}");
        }
        for report in [explored(fixed, reduced), explored(fixed, Program::settings)] {
            assert!(report.verdict().is_pass(), "{fixed}: {report}");
        }
    }
}
