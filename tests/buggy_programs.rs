//! The published table of buggy programs (`corpus/oracle/buggy_programs.csv`), row by row: the bug that must be found,
//! the number of traces, the bounds that the bug needs, and the counterpart without the bug, which passes.

#[path = "tables/comparison.rs"]
mod comparison;

use comparison::Comparison;
use intermezzo::{Coverage, Environment, Reduction, Report, Schedule, Settings};
use intermezzo_corpus::bugs::{Published, TOOLS, bugs};
use intermezzo_corpus::{Arguments, Expected, Program, parse_full_name};

/// The maximum number of executions of a counterpart.
const TWIN_EXECUTIONS_MAX: u64 = 2000;

/// Bugs that need many preemptions, or one among very many schedules. Samples find them; bounded searches do not within
/// seconds.
const SAMPLED: [&str; 4] = [
    "reorder_3_bad,setters=9",
    "reorder_3_bad,setters=40,checkers=10",
    "twostage_bad,writers=10,readers=10",
    "safestack",
];

/// Differences in counting: the number of failing traces here, and in the model. Counting the happens-before orders of
/// every schedule by brute force gives the same numbers as here.
///
/// If the assertion of a task fails, the other tasks continue to their end here. The model's execution stops, and the
/// progress of the others distinguishes its traces: for example, the number of tasks that main had joined.
///
/// A signal that finds no waiter commutes here with the end of a wait that an earlier signal ended. In the model each
/// wake-up is an operation on the condition variable, with which every signal conflicts.
const FAILING_TRACES: [(&str, u64, u64); 5] = [
    ("din_phil2_sat", 8, 14),
    ("lazy01_bad", 2, 6),
    ("reorder_3_bad", 12, 8),
    ("arithmetic_prog_bad", 58, 71),
    ("sync02_bad", 9, 11),
];

fn explored((program, arguments): (&Program, Arguments), settings: Settings) -> Report {
    let explorer = program.explorer(settings, &arguments).monitors("none");
    explorer.explore(program.test(&arguments))
}

/// Returns settings for a search in a calm environment, whose findings are not minimised.
fn calm() -> Settings {
    Settings {
        environment: Environment::calm(),
        minimise: 0,
        ..Settings::default()
    }
}

#[test]
fn rows_are_about_the_corpus() {
    let mut names = Vec::new();
    for bug in bugs() {
        let (program, arguments) = bug.program();
        let (twin, of_twin) = bug.twin();
        if !SAMPLED.contains(&bug.cell("program")) {
            let kind = program.expected;
            assert!(
                matches!(kind, Expected::Fail(kind) if kind == bug.cell("finding")),
                "{}: {kind}",
                program.name
            );
        }
        assert_eq!(twin.expected, Expected::Pass, "{}", twin.name);
        for (name, (program, arguments)) in [("program", (program, &arguments)), ("twin", (twin, &of_twin))] {
            assert_eq!(
                program.full_name(arguments),
                format!("corpus::{}", bug.cell(name))
            );
        }
        names.push(program.full_name(&arguments));
    }
    assert_eq!(names.len(), 39);
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 39, "each row is about another program");
}

/// Every cell of the other tools is read: the numbers of rows found, not found and unknown are those of the table.
#[test]
fn published_figures_are_read() {
    const COUNTS: [[u32; 3]; 7] = [
        [25, 1, 13],
        [23, 1, 15],
        [22, 4, 13],
        [24, 2, 13],
        [16, 9, 14],
        [24, 8, 7],
        [21, 0, 18],
    ];
    for (tool, counts) in TOOLS.iter().zip(COUNTS) {
        let mut read = [0; 3];
        for bug in bugs() {
            match bug.published(tool) {
                Published::Found { executions, .. } => {
                    assert!(executions >= 1.0);
                    read[0] += 1;
                }
                Published::NotFound => read[1] += 1,
                Published::Unknown => read[2] += 1,
            }
        }
        assert_eq!(read, counts, "{tool}");
    }
}

#[test]
fn traces_are_as_many_as_in_the_model() {
    let mut comparison = Comparison::default();
    for bug in bugs() {
        let (Some(traces), Some(buggy)) = (bug.number("model_traces"), bug.number("model_buggy_traces"))
        else {
            continue;
        };
        let program = bug.cell("program");
        let report = explored(
            bug.program(),
            Settings {
                // This is the reduction that takes over from wakeup trees after a failure.
                reduction: Reduction::SourceDpor,
                keep_going: true,
                ..calm()
            },
        );
        let passing = report.traces().expect("few enough to tell apart");
        let counted = [passing, report.executions() - report.redundant() - passing];
        comparison.note(
            program,
            format!(
                "{counted:?} passing and failing, {} executions",
                report.executions()
            ),
        );
        let here = FAILING_TRACES.iter().find(|(name, ..)| *name == program);
        let expected = [traces - buggy, here.map_or(buggy, |&(_, here, _)| here)];
        if let Some(&(_, _, model)) = here {
            assert_eq!(model, buggy, "{program}: the table has changed");
        }
        if counted != expected || !report.coverage().eq(&Coverage::Exhaustive) {
            comparison.object(
                program,
                format!("{counted:?} passing and failing instead of {expected:?}"),
            );
        }
    }
    comparison.conclude();
}

/// The bound of the first failure is exactly that of the model. The numbers of schedules until then are printed next to
/// each other: the model's tasks are also preempted where they begin, end and join, which are not schedule points here.
#[test]
fn bugs_need_the_bounds_of_the_model() {
    let mut comparison = Comparison::default();
    for bug in bugs() {
        for by in ["preemption", "delay"] {
            let program = bug.cell("program");
            let Some(bound) = bug.number(&format!("model_{by}_bound")) else {
                comparison.note(program, format!("{by}: left out, the model came to no end"));
                continue;
            };
            let most = Some(bound as u32);
            let settings = match by {
                "preemption" => Settings {
                    preemptions: most,
                    ..calm()
                },
                _ => Settings {
                    strategy: intermezzo::StrategyKind::DepthFirst(intermezzo::DepthFirstBounds {
                        delays: Some(most),
                        ..intermezzo::DepthFirstBounds::NONE
                    }),
                    ..calm()
                },
            };
            let report = explored(bug.program(), settings);
            let completed = match report.coverage() {
                Coverage::Bounded {
                    preemptions, delays, ..
                } => preemptions.or(*delays),
                other => panic!("{program} is searched within a bound: {other}"),
            };
            let schedules = bug.cell(&format!("model_{by}_schedules_to_first"));
            comparison.note(
                program,
                format!(
                    "{by} bound {bound}: schedule {:?}, {schedules} of the model",
                    report.first_failure()
                ),
            );
            let found = bug.program().0.meets(&report);
            if !found || completed.map_or(0, |completed| u64::from(completed) + 1) != bound {
                comparison.object(program, format!("must be found at {by} bound {bound}:\n{report}"));
            }
        }
    }
    comparison.conclude();
}

/// The programs are run with the settings that fit them, and in the size that is published.
#[test]
fn bugs_are_found() {
    let mut comparison = Comparison::default();
    for bug in bugs() {
        let (program, arguments) = bug.program();
        if SAMPLED.contains(&bug.cell("program")) {
            comparison.note(bug.cell("program"), "left out: for samples".into());
            continue;
        }
        let report = explored((program, arguments), program.settings());
        comparison.note(
            bug.cell("program"),
            format!("found by {:?}", report.first_failure()),
        );
        if !program.meets(&report) {
            comparison.object(bug.cell("program"), report.to_string());
        }
    }
    comparison.conclude();
}

/// The token of a failure that `surw(all)` found, minimised.
const SAFESTACK: &str = "imz1.AQARY29ycHVzOjpzYWZlc3RhY2sCZBYodxfDSDYwo6ifnuIGCB3MxAAdHleG";

/// The program has the bug, although its own settings do not reach it.
#[test]
fn a_node_of_safestack_has_two_owners() {
    let schedule = Schedule::from_token(SAFESTACK).unwrap();
    assert!(
        schedule.preemptions() >= 5,
        "{} preemptions",
        schedule.preemptions()
    );
    let (program, arguments) = parse_full_name(&schedule.program).unwrap();
    let explorer = program.explorer(program.settings(), &arguments).replay(schedule);
    let report = explorer.explore(program.test(&arguments));
    let [finding] = report.findings() else {
        panic!("{report}")
    };
    assert_eq!(finding.kind.as_str(), "assertion");
    assert!(finding.message.contains("safestack.rs"), "{}", finding.message);
}

#[test]
fn twins_pass() {
    let mut comparison = Comparison::default();
    for bug in bugs() {
        let (twin, arguments) = bug.twin();
        let mut settings = twin.settings();
        settings.executions = Some(TWIN_EXECUTIONS_MAX);
        let report = explored((twin, arguments), settings);
        comparison.note(bug.cell("twin"), report.coverage().to_string());
        if !report.verdict().is_pass() {
            comparison.object(bug.cell("twin"), report.to_string());
        }
    }
    comparison.conclude();
}
