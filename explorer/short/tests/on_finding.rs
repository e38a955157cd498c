//! A function that decides about each failure, and a test that reads its own schedule.

use intermezzo_explorer::schedule::ChoiceKind;
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::{Coverage, Explorer, OnFound, Reduction, choices, choose, preemptions_off, thread};
use std::sync::{Arc, Mutex};

/// Fails in three of four executions, in two ways.
fn fails() {
    match choose(4) {
        0 => {}
        3 => panic!("three"),
        other => panic!("no more than two: {}", usize::from(other > 0)),
    }
}

#[test]
fn a_function_decides_whether_a_search_goes_on_after_a_failure() {
    let decided = |answer: OnFound, jobs: usize| {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let told = asked.clone();
        let report = Explorer::new()
            .jobs(jobs)
            .on_finding(move |finding| {
                told.lock().unwrap().push(finding.message.clone());
                match finding.message.contains("three") {
                    true => OnFound::GoOn,
                    false => answer,
                }
            })
            .explore(fails);
        (report, asked.lock().unwrap().clone())
    };
    for jobs in [1, 2] {
        let (all, asked) = decided(OnFound::GoOn, jobs);
        assert_eq!(
            (all.executions(), all.findings().len(), asked.len()),
            (4, 2, 3),
            "{all}"
        );
        assert_eq!(*all.coverage(), Coverage::Exhaustive, "{all}");

        let (settled, asked) = decided(OnFound::Settle, jobs);
        assert_eq!(
            (settled.executions(), settled.findings().len(), asked.len()),
            (4, 1, 3),
            "{settled}"
        );
        assert!(settled.findings()[0].message.contains("three"), "{settled}");
        let note = "on_finding: 2 failures were settled, and are not reported";
        assert!(settled.notes().iter().any(|told| told == note), "{settled}");
    }
    let (first, asked) = decided(OnFound::Stop, 1);
    assert_eq!(
        (first.executions(), first.findings().len(), asked.len()),
        (2, 1, 1),
        "{first}"
    );
    assert_ne!(*first.coverage(), Coverage::Exhaustive, "{first}");
}

#[test]
fn a_search_whose_failures_are_all_settled_passes_and_covers_everything() {
    let test = || {
        let n = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| n.store(n.load(SeqCst) + 1, SeqCst));
            n.store(n.load(SeqCst) + 1, SeqCst);
        });
        assert_eq!(n.load(SeqCst), 2);
    };
    let mut traces = Vec::new();
    for reduction in [
        Reduction::None,
        Reduction::Caching,
        Reduction::SourceDpor,
        Reduction::Dpor,
    ] {
        let explorer = || Explorer::new().reduction(reduction).minimise(0);
        let report = explorer().on_finding(|_| OnFound::Settle).explore(test);
        assert!(
            report.verdict().is_pass() && report.findings().is_empty(),
            "{report}"
        );
        assert_eq!(*report.coverage(), Coverage::Exhaustive, "{report}");
        let kept = explorer().keep_going(true).explore(test);
        assert_eq!(report.executions(), kept.executions(), "{report}");
        traces.push(report.traces());
    }
    assert!(traces.iter().all(|count| *count == traces[0]), "{traces:?}");
}

#[test]
fn a_test_reads_its_schedule_so_far() {
    assert_eq!(choices(), None);
    let told = Arc::new(Mutex::new(Vec::new()));
    let kept = told.clone();
    let test = move || {
        let n = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| n.store(1, SeqCst));
            preemptions_off(|| n.load(SeqCst));
            assert_ne!(choose(3), 2);
        });
        kept.lock().unwrap().push(choices().unwrap());
    };
    let report = Explorer::new().keep_going(true).minimise(0).explore(test.clone());
    let executions = told.lock().unwrap().clone();
    // The failing ones do not get so far.
    assert!(
        !executions.is_empty() && (executions.len() as u64) < report.executions(),
        "{report}"
    );
    for made in &executions {
        let values: Vec<u32> = made
            .iter()
            .filter(|choice| choice.kind == ChoiceKind::Value)
            .map(|choice| choice.taken)
            .collect();
        assert!(values == [0] || values == [1], "{made:?}");
    }
    // No two are the same, so each of them is the schedule of its execution.
    for (at, made) in executions.iter().enumerate() {
        assert!(!executions[..at].contains(made), "{made:?}");
    }
}
