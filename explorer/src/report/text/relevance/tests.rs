//! Executions of random events, and of some made by hand: the events that are shown, and words for the others.

use super::*;
use crate::report::TaskPanic;
use intermezzo_sdk::FindingKind;
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn event(
    task: usize,
    op: SyncVarOp,
    var: &str,
    values: (Option<u64>, Option<u64>),
    line: usize,
) -> FindingEvent {
    FindingEvent {
        id: format!("{task}.{line}"),
        task: format!("task {task}"),
        op: op.name().into(),
        effect: None,
        from: None,
        newer: Vec::new(),
        order: None,
        var: var.into(),
        read: values.0,
        written: values.1,
        site: format!("src/x.rs:{line}:1"),
        preempts: false,
        concerned: false,
    }
}

fn load(task: usize, var: &str, value: u64, line: usize) -> FindingEvent {
    event(task, SyncVarOp::AtomicLoad, var, (Some(value), None), line)
}

fn store(task: usize, var: &str, value: u64, line: usize) -> FindingEvent {
    event(task, SyncVarOp::AtomicStore, var, (None, Some(value)), line)
}

/// Returns a failed assertion of this task.
fn failed(task: usize, events: Vec<FindingEvent>) -> Finding {
    let mut finding = Finding::bare(FindingKind::Assertion, "assertion failed");
    let panic = TaskPanic {
        task: format!("task {task}"),
        message: "assertion failed".into(),
        place: None,
        unwinding: false,
    };
    finding.detail = FindingDetail::Panic {
        panics: vec![panic],
        waiting: Vec::new(),
    };
    finding.events = events;
    finding
}

fn random(rng: &mut impl Rng) -> Finding {
    let length = rng.random_range(25..400);
    let mut task = 0;
    let mut events: Vec<FindingEvent> = Vec::new();
    for _ in 0..length {
        let before = task;
        if rng.random_range(0..8) == 0 {
            task = rng.random_range(0..4);
        }
        let var = format!("atomic 0.{}", rng.random_range(1..6));
        let line = rng.random_range(1..20);
        let mut event = match rng.random_range(0..2) {
            0 => load(task, &var, 0, line),
            _ => store(task, &var, 1, line),
        };
        event.preempts = task != before && rng.random_range(0..3) == 0;
        event.concerned = rng.random_range(0..100) == 0;
        events.push(event);
    }
    failed(rng.random_range(0..4), events)
}

/// Returns the last few reads of the task, and the last changes of each other task before them. It finds them by
/// looking at every pair of events.
fn conflicts_of_last_read(finding: &Finding, task: &str) -> Vec<usize> {
    let events = &finding.events;
    let reads = |at: &usize| events[*at].task == task && events[*at].read.is_some();
    let Some(last) = (0..events.len()).rev().find(reads) else {
        return Vec::new();
    };
    let is_last_change = |&at: &usize| {
        let one = &events[at];
        let later = (at + 1..last).any(|other| {
            let other = &events[other];
            other.task == one.task && other.var == one.var && other.written.is_some()
        });
        one.written.is_some() && one.var == events[last].var && !later
    };
    std::iter::once(last)
        .chain((0..last).filter(is_last_change))
        .collect()
}

#[test]
fn what_the_failure_is_about_stays() {
    let mut shortened = 0;
    for seed in 0..2000 {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let finding = random(&mut rng);
        let events = &finding.events;
        let shown = shown(&finding, None);
        assert!(
            shown.windows(2).all(|pair| pair[0] < pair[1]),
            "{seed}: {shown:?}"
        );
        let gaps = shown.windows(2).map(|pair| pair[1] - pair[0] - 1);
        assert!(gaps.clone().all(|gap| gap != 1), "{seed}: {shown:?}");
        let marked = (0..events.len()).filter(|&at| events[at].concerned);
        assert!(marked.clone().all(|at| shown.contains(&at)), "{seed}");
        let set: BTreeSet<usize> = shown.iter().copied().collect();
        let preemptions = events.iter().filter(|event| event.preempts).count();
        // An event that fills a gap may have the line of a preemption.
        let most = LINES + 3 * marked.clone().count() + preemptions;
        assert!(lines(events, &set) <= most, "{seed}");
        // With few preemptions and marks there is room for all sides of the conflicts.
        if preemptions <= 2 && marked.count() <= 2 && shown.len() < events.len() {
            shortened += 1;
            for at in (1..events.len()).filter(|&at| events[at].preempts) {
                assert!(shown.contains(&at) && shown.contains(&(at - 1)), "{seed}");
            }
            let FindingDetail::Panic { panics, .. } = &finding.detail else {
                unreachable!()
            };
            for at in conflicts_of_last_read(&finding, &panics[0].task) {
                assert!(shown.contains(&at), "{seed}: {at} of {shown:?}");
            }
        }
    }
    assert!(shortened > 100, "{shortened}");
}

/// Returns the reader of source files; events here have places in no file.
fn sources() -> Sources {
    Sources::new(crate::report::source::Search::here())
}

/// Every access to the variables that the failure is about stays if there is room for all; else the latest do, each with
/// the other side of its conflict.
#[test]
fn accesses_to_the_variables_of_the_failure_stay() {
    let (mut whole, mut short) = (0, 0);
    for seed in 0..2000 {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut finding = random(&mut rng);
        // Few are about the variable of the failure.
        let rare = rng.random_range(10..80);
        for event in &mut finding.events {
            let about = rng.random_range(0..rare) == 0;
            event.concerned &= about;
            event.var = if about { "atomic 0.1" } else { "atomic 0.9" }.into();
            event.preempts = false;
            event.site = format!("src/x.rs:{}:1", rng.random_range(1..1000));
        }
        let message = "`atomic 0.1` is wrong";
        let mut marked = Finding::bare(FindingKind::Assertion, message);
        marked.events = finding.events;
        let last = marked
            .events
            .iter_mut()
            .rev()
            .find(|event| event.var == "atomic 0.1");
        let Some(last) = last else { continue };
        last.concerned = true;
        let events = &marked.events;
        let accesses: BTreeSet<usize> = (0..events.len())
            .filter(|&at| events[at].var == "atomic 0.1")
            .collect();
        let shown: BTreeSet<usize> = shown(&marked, None).into_iter().collect();
        if lines(events, &accesses) <= LINES {
            whole += usize::from(shown.len() < events.len());
            assert!(accesses.is_subset(&shown), "{seed}: {accesses:?} {shown:?}");
        } else if events.iter().filter(|event| event.concerned).count() == 1 {
            // The last change by another task before each access that is shown, but for the earliest.
            short += 1;
            let kept: Vec<usize> = accesses.intersection(&shown).copied().collect();
            for &at in kept.iter().skip(LINES / 2) {
                let other = |before: &&usize| {
                    **before < at && events[**before].task != events[at].task && changes(&events[**before])
                };
                if let Some(before) = accesses.iter().rev().find(other) {
                    assert!(shown.contains(before), "{seed}: {at} without {before}");
                }
            }
        }
    }
    assert!(whole > 500 && short > 50, "{whole} {short}");
}

#[test]
fn what_is_left_out_is_named() {
    let mut events: Vec<FindingEvent> = (0..40).map(|_| store(1, "atomic 0.1", 1, 3)).collect();
    events.extend((0..10).flat_map(|_| [load(2, "atomic 0.2", 1, 4), load(2, "atomic 0.3", 1, 5)]));
    events.push(event(2, SyncVarOp::Yield, "", (None, None), 6));
    let mut finding = failed(2, events);
    finding.names.insert("atomic 0.1".into(), "tail".into());
    finding.names.insert("atomic 0.2".into(), "slots#1".into());
    finding.names.insert("atomic 0.3".into(), "slots#2".into());
    for (range, columns, expected) in [
        (0..5, 100, "  ... 5 events of task 1 on tail"),
        (1..5, 100, "  ... 4 more rounds: 4 events of task 1 on tail"),
        (44..60, 100, "  ... 8 more rounds: 16 events of task 2 on slots"),
        (43..60, 100, "  ... 17 events of task 2 on slots"),
        (30..61, 100, "  ... 31 events of task 1 and task 2 on slots, tail"),
        (30..61, 45, "  ... 31 events of task 1 and task 2"),
        (60..61, 100, "  ... 1 event of task 2"),
    ] {
        assert_eq!(
            gap(&finding, range, columns, &mut sources()).as_deref(),
            Some(expected)
        );
    }
}

#[test]
fn events_of_as_many_variables_are_described_in_time() {
    // If each were compared with all before it, that would take minutes.
    let events = (0..100_000).map(|number| store(1, &format!("atomic 1.{number}"), 1, 3));
    let finding = failed(1, events.collect());
    let text = gap(&finding, 0..100_000, 100, &mut sources());
    assert_eq!(
        text.as_deref(),
        Some(
            "  ... 100000 events of task 1 on atomic 1.0, atomic 1.1, atomic 1.2, atomic 1.3 and 99996 more"
        )
    );
}

#[test]
fn short_executions_are_shown_as_a_whole() {
    let events: Vec<FindingEvent> = (0..WHOLE)
        .map(|line| load(1, "atomic 0.1", 0, line + 1))
        .collect();
    assert_eq!(shown(&failed(1, events), None).len(), WHOLE);
}

/// The time is printed, and not judged: machines differ.
#[test]
#[expect(
    clippy::print_stdout,
    reason = "the time is for the reader of the test's output"
)]
fn a_long_execution_is_told_at_once() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut events = Vec::new();
    while events.len() < 10_000 {
        events.extend(random(&mut rng).events);
    }
    for event in &mut events {
        // Places in a real file.
        event.site = event.site.replace("src/x.rs", file!());
        event.concerned = false;
    }
    events.truncate(10_000);
    let mut finding = failed(1, events);
    let began = std::time::Instant::now();
    let mut files = crate::report::names::SourceFiles::new(crate::report::source::Search::here());
    finding.names = crate::report::names::of(&finding, &mut files);
    let text = finding.to_string();
    println!("10,000 events in {:?}", began.elapsed());
    assert!(text.lines().count() < 60, "{text}");
}

/// Of a loop the first and the last round are shown, and the number of those between them.
#[test]
fn rounds_of_a_loop_are_counted() {
    for round in 1..=ROUND_MAX {
        let mut events = vec![event(1, SyncVarOp::TaskBegin, "", (None, None), 99)];
        for _ in 0..50 {
            events.extend((0..round).map(|line| load(1, &format!("atomic 0.{}", line + 1), 0, line + 1)));
        }
        let mut finding = failed(1, events);
        finding.events.last_mut().unwrap().concerned = true;
        let finding = &finding;
        let shown = shown(finding, None);
        // The beginning of a task is part of any execution.
        let expected: Vec<usize> = (1..round + 1).chain(49 * round + 1..50 * round + 1).collect();
        assert_eq!(shown, expected, "{round}");
        let text = gap(finding, round + 1..49 * round + 1, 100, &mut sources()).unwrap();
        assert!(text.starts_with("  ... 48 more rounds: "), "{text}");
    }
}
