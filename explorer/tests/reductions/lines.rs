//! Random programs without branches: tasks that load, store, add, look at the time and sleep, one line after the other.
//!
//! They are small enough that every search runs to its end, and each way to create and join tasks is drawn.

use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::time::{Duration, Instant};
use intermezzo_explorer::{Coverage, Environment, Explorer, Reduction, Report, thread};
use quickcheck::{Arbitrary, Gen};
use std::collections::BTreeSet;
use std::sync::Mutex;

const VARS: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    Load(usize),
    Store(usize),
    Add(usize),
    /// Expects 0, stores 1.
    Exchange(usize),
    /// How late it is.
    Now,
    /// Sleeps this many milliseconds.
    Sleep(u64),
}

/// How the tasks of a program are created and joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Joining {
    /// By a scope.
    Scope,
    /// By handle, in the order of creation.
    Handles,
    /// By handle, the last first.
    Backwards,
    /// Each task creates the next one, and joins it at its end.
    Chain,
    /// Not at all.
    Detached,
}

const JOININGS: [Joining; 5] = [
    Joining::Scope,
    Joining::Handles,
    Joining::Backwards,
    Joining::Chain,
    Joining::Detached,
];

#[derive(Clone, Debug)]
struct Program {
    joining: Joining,
    tasks: Vec<Vec<Line>>,
}

fn below(g: &mut Gen, bound: usize) -> usize {
    usize::arbitrary(g) % bound
}

fn draw(g: &mut Gen, timed: bool) -> Program {
    let tasks = 2 + below(g, 4);
    let most = [0, 0, 4, 3, 2, 1][tasks];
    let line = |g: &mut Gen| {
        let var = below(g, VARS);
        match below(g, if timed { 11 } else { 8 }) {
            0..3 => Line::Load(var),
            3..6 => Line::Store(var),
            6 => Line::Add(var),
            7 => Line::Exchange(var),
            8 | 9 => Line::Now,
            _ => Line::Sleep(below(g, 3) as u64),
        }
    };
    let joining = JOININGS[below(g, JOININGS.len())];
    let lines = |g: &mut Gen| (0..1 + below(g, most)).map(|_| line(g)).collect();
    let tasks = (0..tasks).map(|_| lines(g)).collect();
    Program { joining, tasks }
}

/// What tasks share in an execution. It is leaked: an `Arc` would have reference counts.
struct Shared {
    vars: [AtomicUsize; VARS],
    begin: Option<Instant>,
    /// What each task read.
    read: Vec<Mutex<Vec<u128>>>,
}

impl Shared {
    fn run(&self, task: usize, lines: &[Line]) {
        for line in lines {
            let read = match *line {
                Line::Load(var) => self.vars[var].load(SeqCst) as u128,
                Line::Store(var) => {
                    self.vars[var].store(task + 1, SeqCst);
                    continue;
                }
                Line::Add(var) => self.vars[var].fetch_add(10, SeqCst) as u128,
                Line::Exchange(var) => {
                    let exchanged = self.vars[var].compare_exchange(0, 1, SeqCst, SeqCst);
                    u128::from(exchanged.is_ok())
                }
                Line::Now => self.begin.expect("a clock").elapsed().as_nanos(),
                Line::Sleep(ms) => {
                    thread::sleep(Duration::from_millis(ms));
                    continue;
                }
            };
            self.read[task].lock().unwrap().push(read);
        }
    }
}

fn chain(shared: &'static Shared, program: &'static Program, task: usize) {
    let next = task + 1;
    let handle = (next < program.tasks.len()).then(|| thread::spawn(move || chain(shared, program, next)));
    shared.run(task, &program.tasks[task]);
    if let Some(handle) = handle {
        handle.join().unwrap();
    }
}

fn execute(shared: &'static Shared, program: &'static Program) {
    let tasks = program.tasks.iter().enumerate();
    let spawn = |(task, lines): (usize, &'static Vec<Line>)| thread::spawn(move || shared.run(task, lines));
    match program.joining {
        Joining::Scope => thread::scope(|scope| {
            for (task, lines) in tasks {
                scope.spawn(move || shared.run(task, lines));
            }
        }),
        Joining::Handles | Joining::Backwards => {
            let mut handles: Vec<_> = tasks.map(spawn).collect();
            if program.joining == Joining::Backwards {
                handles.reverse();
            }
            for handle in handles {
                handle.join().unwrap();
            }
        }
        Joining::Chain => chain(shared, program, 0),
        Joining::Detached => tasks.for_each(|task| drop(spawn(task))),
    }
}

type Outcomes = BTreeSet<Vec<Vec<u128>>>;

/// What a search of a program shows: what its tasks read.
fn explore(program: &Program, explorer: Explorer) -> (Report, Outcomes) {
    let program: &'static Program = Box::leak(Box::new(program.clone()));
    let timed = program.tasks.iter().flatten().any(|line| *line == Line::Now);
    let outcomes = Mutex::new(Outcomes::new());
    let last: Mutex<Option<&'static Shared>> = Mutex::new(None);
    let keep = || {
        let told = |shared: &Shared| shared.read.iter().map(|read| read.lock().unwrap().clone()).collect();
        if let Some(shared) = last.lock().unwrap().take() {
            outcomes.lock().unwrap().insert(told(shared));
        }
    };
    let explorer = explorer.environment(Environment::calm()).minimise(0).executions(20_000);
    let report = explorer.explore(|| {
        // Of detached tasks it is known only here what they read.
        keep();
        let shared: &'static Shared = Box::leak(Box::new(Shared {
            vars: Default::default(),
            begin: timed.then(Instant::now),
            read: program.tasks.iter().map(|_| Mutex::default()).collect(),
        }));
        *last.lock().unwrap() = Some(shared);
        execute(shared, program);
    });
    keep();
    assert!(report.verdict().is_pass(), "{program:?}: {report}");
    (report, outcomes.into_inner().unwrap())
}

fn searched(program: &Program, reduction: Reduction, bound: Option<u32>) -> (Report, Outcomes) {
    let explorer = Explorer::new().reduction(reduction);
    explore(program, match bound {
        Some(bound) => explorer.preemptions(bound),
        None => explorer,
    })
}

/// How many programs are compared.
fn programs(otherwise: u64) -> u64 {
    crate::variable("LINES_PROGRAMS").unwrap_or(otherwise)
}

/// `dpor` runs each trace of a program without branches once, and nothing else.
#[test]
fn dpor_runs_each_trace_of_straight_lines_once() {
    let g = &mut Gen::from_size_and_seed(8, 27);
    let mut problems = Vec::new();
    let all = programs(1_500);
    for number in 0..all {
        let program = draw(g, false);
        let (source, seen) = searched(&program, Reduction::SourceDpor, None);
        let (optimal, same) = searched(&program, Reduction::Dpor, None);
        assert_eq!(source.coverage(), &Coverage::Exhaustive, "{program:?}: {source}");
        assert_eq!((same, optimal.traces()), (seen, source.traces()), "{program:?}");
        let once = (optimal.executions(), optimal.redundant()) == (optimal.traces().unwrap(), 0);
        if !once || optimal.reduction() != "dpor" {
            problems.push(format!(
                "{number} {program:?}: {} executions, {} redundant, {:?} traces, source {}, {}",
                optimal.executions(),
                optimal.redundant(),
                optimal.traces(),
                source.executions(),
                optimal.reduction()
            ));
        }
    }
    problems.sort_by_key(String::len);
    let (count, few) = (problems.len(), problems.iter().take(15).cloned().collect::<Vec<_>>());
    assert!(problems.is_empty(), "{count} of {all} programs: {few:#?}");
}

/// Programs that sleep and look at the time: every search shows the same.
#[test]
fn searches_agree_on_programs_with_clocks() {
    let g = &mut Gen::from_size_and_seed(8, 28);
    let (mut problems, all) = (Vec::new(), programs(300));
    let mut compared = 0;
    for number in 0..all {
        let program = draw(g, true);
        for bound in [None, Some(0), Some(1), Some(2)] {
            let (every, seen) = searched(&program, Reduction::None, bound);
            if every.executions() == 20_000 {
                continue;
            }
            let reductions: &[Reduction] = match bound {
                None => &[Reduction::Caching, Reduction::SourceDpor, Reduction::Dpor],
                Some(_) => &[Reduction::Caching, Reduction::Bpor],
            };
            for &reduction in reductions {
                let (reduced, same) = searched(&program, reduction, bound);
                compared += 1;
                if same != seen || reduced.traces() != every.traces() {
                    problems.push(format!(
                        "{number} {program:?}, {reduction:?} {bound:?}: {:?} traces for {:?}, {} outcomes for {}",
                        reduced.traces(),
                        every.traces(),
                        same.len(),
                        seen.len()
                    ));
                }
            }
        }
    }
    problems.sort_by_key(String::len);
    let (count, few) = (problems.len(), problems.iter().take(15).cloned().collect::<Vec<_>>());
    assert!(problems.is_empty(), "{count} of {compared}: {few:#?}");
}

/// Where no loop waits, it makes no difference whether loops that do are assumed to.
#[test]
fn assuming_awaits_changes_nothing_without_a_loop() {
    let g = &mut Gen::from_size_and_seed(8, 29);
    let mut problems = Vec::new();
    for number in 0..programs(600) {
        let program = draw(g, number % 4 == 0);
        for reduction in [Reduction::Caching, Reduction::SourceDpor, Reduction::Dpor] {
            let told = |assume| {
                let explorer = Explorer::new().reduction(reduction).assume_awaits(assume);
                let (report, seen) = explore(&program, explorer);
                (
                    (report.executions(), report.redundant(), report.traces()),
                    report.reduction().to_owned(),
                    seen,
                )
            };
            let (plain, assumed) = (told(false), told(true));
            if plain != assumed {
                problems.push(format!("{number} {program:?}, {reduction:?}: {:?} {} {:?} {}", plain.0, plain.1, assumed.0, assumed.1));
            }
        }
    }
    problems.sort_by_key(String::len);
    let (count, few) = (problems.len(), problems.iter().take(15).cloned().collect::<Vec<_>>());
    assert!(problems.is_empty(), "{count}: {few:#?}");
}
