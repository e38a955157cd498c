//! Monitors without a verdict: their counts compared with the report's, and the log of a small execution.

use intermezzo::monitors::{EventLog, HappensBeforeCounter, Statistics};
use intermezzo::sdk::Severity;
use intermezzo::sync::Arc;
use intermezzo::sync::atomic::{AtomicUsize, Ordering, Ordering::SeqCst};
use intermezzo::{Environment, Explorer, Reduction, Report, Settings, thread};
use intermezzo_corpus::parse_full_name;
use std::io::{self, Write};
use std::sync::Mutex;

/// Returns the number of classes that the monitor counts and of traces in the report, for a program of the corpus.
fn classes_and_traces(program: &str, reduction: Reduction) -> (u64, u64, Report) {
    let (program, arguments) = parse_full_name(program).unwrap_or_else(|error| panic!("{error}"));
    let counter = HappensBeforeCounter::new();
    let counts = counter.counts();
    let settings = Settings {
        environment: Environment::calm(),
        steps: program.settings().steps,
        reduction,
        ..Settings::default()
    };
    let explorer = program.explorer(settings, &arguments).monitor(counter);
    let report = explorer.explore(program.test(&arguments));
    assert_eq!(
        counts.executions(),
        report.executions() - report.redundant(),
        "{report}"
    );
    (
        counts.classes(),
        report.traces().expect("they are counted"),
        report,
    )
}

#[test]
fn classes_are_traces_where_no_writes_commute() {
    for program in [
        "inc2w", "small0", "n6", "cii", "default", "relseq", "wcii", "publish",
    ] {
        let (all, traces, _) = classes_and_traces(program, Reduction::None);
        assert_eq!(all, traces, "{program}");
        let (reduced, traces, report) = classes_and_traces(program, Reduction::Dpor);
        assert_eq!((reduced, report.executions()), (traces, traces), "{program}");
        assert_eq!(all, reduced, "{program}");
    }
}

#[test]
fn classes_are_more_where_writes_commute() {
    let counter = HappensBeforeCounter::new();
    let counts = counter.counts();
    let report = Explorer::new()
        .monitors("none")
        .environment(Environment::calm())
        .monitor(counter)
        .explore(|| {
            let main = thread::current();
            for _ in 0..2 {
                let main = main.clone();
                thread::spawn(move || main.unpark());
            }
        });
    assert_eq!(
        (report.traces(), counts.classes()),
        (Some(1), 2),
        "two tokens are left in either order"
    );
    let [finding] = report.findings() else {
        panic!("{report}")
    };
    assert_eq!(
        (finding.kind.as_str().as_ref(), finding.severity),
        ("plugin/happens-before-counter", Severity::Warning)
    );
    assert!(report.verdict().is_pass());
}

/// The ends of two handles of an `Arc` commute in the report's traces, and are ordered in classes.
#[test]
fn ends_of_handles_make_classes_and_no_traces() {
    let counter = HappensBeforeCounter::new();
    let counts = counter.counts();
    let report = Explorer::new()
        .monitors("none")
        .environment(Environment::calm())
        .monitor(counter)
        .explore(|| {
            let n = Arc::new(AtomicUsize::new(0));
            let tasks = [n.clone(), n.clone()].map(|n| {
                thread::spawn(move || {
                    n.fetch_add(1, Ordering::Relaxed);
                    drop(n);
                })
            });
            tasks.into_iter().for_each(|task| task.join().unwrap());
        });
    assert_eq!((report.traces(), counts.classes()), (Some(2), 4));
    assert!(
        report.findings()[0]
            .message
            .contains("happens-before classes: 4 (at least as many as the report's traces"),
        "{report}"
    );
}

fn two_increments() {
    let n = Arc::new(AtomicUsize::new(0));
    let other = n.clone();
    let task = thread::Builder::new()
        .name("other".into())
        .spawn(move || other.fetch_add(1, Ordering::Relaxed))
        .unwrap();
    n.fetch_add(1, Ordering::AcqRel);
    task.join().unwrap();
}

#[test]
fn statistics_agree_with_the_report() {
    let three_tasks = || {
        let n = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| n.fetch_add(1, Ordering::Relaxed) + n.fetch_add(1, Ordering::Relaxed));
            }
        });
    };
    for test in [two_increments, three_tasks] {
        let statistics = Statistics::new();
        let summary = statistics.summary();
        let report = Explorer::new()
            .monitors("none")
            .environment(Environment::calm())
            .monitor(statistics)
            .explore(test);
        let summary = summary.get();
        assert_eq!(
            (summary.executions, summary.complete),
            (report.executions(), report.executions())
        );
        assert_eq!(
            (summary.steps, summary.max_steps),
            (report.steps(), report.max_steps())
        );
        assert_eq!(summary.max_tasks, u64::from(report.max_tasks()));
        assert_eq!(summary.switches, report.context_switches());
        assert!(summary.preemptions > 0 && summary.events > summary.steps);
        let operations = summary.operations["read-modify-write"];
        assert_eq!(operations % report.executions(), 0, "{report}");
        assert_eq!(report.findings()[0].message, summary.to_string());
        assert!(report.verdict().is_pass());
    }
}

/// A writer whose contents the test can read.
#[derive(Clone, Default)]
struct Paper(std::sync::Arc<Mutex<Vec<u8>>>);

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn the_log_shows_an_execution() {
    let paper = Paper::default();
    let report = Explorer::new()
        .monitors("none")
        .environment(Environment::calm())
        .executions(1)
        .monitor(EventLog::new(paper.clone()))
        .explore(two_increments);
    assert!(report.findings().is_empty(), "{report}");
    let text = String::from_utf8(paper.0.lock().unwrap().clone()).unwrap();
    let words: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    let has = |start: &[&str]| words.iter().any(|line| line.starts_with(start));
    assert!(has(&["execution", "1"]), "{text}");
    assert!(
        has(&[
            "access",
            "1.2",
            "other",
            "read-modify-write",
            "(Relaxed)",
            "atomic"
        ]),
        "{text}"
    );
    assert!(
        has(&["allocation"]) && has(&["release"]) && has(&["point"]),
        "{text}"
    );
    assert!(has(&["shutdown"]), "{text}");
}

/// Every preemption of every execution is in the log, with the place of the operation that had to wait.
#[test]
fn the_log_has_the_preemptions_of_all_executions() {
    let (paper, statistics) = (Paper::default(), Statistics::new());
    let summary = statistics.summary();
    let report = Explorer::new()
        .monitors("none")
        .environment(Environment::calm())
        .keep_going(true)
        .monitor(EventLog::new(paper.clone()))
        .monitor(statistics)
        .explore(two_increments);
    assert!(report.executions() > 1, "{report}");
    let text = String::from_utf8(paper.0.lock().unwrap().clone()).unwrap();
    let mut preemptions = 0;
    for execution in text.split("execution ").skip(1) {
        let words = |line: &'_ str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let lines: Vec<Vec<String>> = execution.lines().map(words).collect();
        for line in &lines {
            if line[0] != "attribute" || line.last().is_none_or(|value| value != "preempted") {
                continue;
            }
            preemptions += 1;
            let is_placed = |other: &Vec<String>| {
                other[0] == "access" && other[1] == line[1] && other.last().unwrap().contains("observers.rs:")
            };
            assert!(lines.iter().any(is_placed), "{line:?}:\n{execution}");
        }
    }
    assert!(preemptions > 0, "{text}");
    assert_eq!(preemptions, summary.get().preemptions);
}

/// The states of a program are those that it names. A reduction leaves out some orders, but no states.
#[test]
fn states_that_a_test_names_are_counted() {
    let explored = |reduction| {
        let statistics = Statistics::new();
        let summary = statistics.summary();
        let report = Explorer::new()
            .monitors("none")
            .reduction(reduction)
            .monitor(statistics)
            .explore(|| {
                let n = AtomicUsize::new(0);
                thread::scope(|scope| {
                    for by in [1, 2] {
                        let n = &n;
                        scope.spawn(move || intermezzo::state(&(n.fetch_add(by, SeqCst) + by)));
                    }
                });
                intermezzo::state(&n.load(SeqCst));
            });
        assert!(report.verdict().is_pass(), "{report}");
        let summarised = &report.findings()[0].message;
        assert!(
            summarised.contains("; states: 3, most new ones in one execution: 2"),
            "{report}"
        );
        summary.get()
    };
    for reduction in [Reduction::None, Reduction::Dpor] {
        let summary = explored(reduction);
        // The states 1 and 3, or 2 and 3.
        assert_eq!((summary.states, summary.max_new_states), (3, 2));
        assert!((2..=summary.executions).contains(&summary.last_new_state));
    }
}
