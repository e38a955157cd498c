//! Random programs without branches: tasks that load, store, add, read the clock and sleep, one line after the other.
//!
//! They are small enough that every search runs to its end, and each way to create and join tasks is drawn.

use intermezzo_explorer::sync::Arc;
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::time::{Duration, Instant};
use intermezzo_explorer::{Coverage, Environment, Explorer, Reduction, Report, thread};
use quickcheck::{Arbitrary, Gen};
use std::collections::BTreeSet;
use std::sync::Mutex;

const VARS: usize = 3;

/// Programs that need more executions are not compared.
const EXECUTIONS_MAX: u64 = 3_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Load(usize),
    Store(usize),
    Add(usize),
    /// Expects 0, stores 1.
    Exchange(usize),
    /// Reads the clock.
    Now,
    /// Sleeps this many milliseconds.
    Sleep(u64),
    /// Checks at most three times if the variable is 0, and yields in between. Its result is the number of checks
    /// that found 0.
    Poll(usize),
    Yield,
    /// Parks for this many milliseconds.
    Park(u64),
}

/// The lines of a program in addition to accesses to variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain,
    Timed,
    Polling,
    Yielding,
    YieldingAndTimed,
    PollingAndTimed,
    SleepingAndTimed,
}

/// The way in which the tasks of a program are created and joined.
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
    /// By handle, in the order of creation; after the first the creator runs the first task's lines again.
    Between,
    /// Not at all.
    Detached,
}

const JOININGS: [Joining; 6] = [
    Joining::Scope,
    Joining::Handles,
    Joining::Backwards,
    Joining::Chain,
    Joining::Between,
    Joining::Detached,
];

#[derive(Clone, Debug)]
pub(crate) struct Program {
    joining: Joining,
    /// `None` if tasks have no handles. Otherwise each task has one on one of two `Arc`s, and this is `true` if the
    /// creator drops its own before it joins.
    counted: Option<bool>,
    tasks: Vec<Vec<Line>>,
}

fn below(g: &mut Gen, bound: usize) -> usize {
    usize::arbitrary(g) % bound
}

/// Returns the program of these tasks, which are not joined.
pub(crate) fn detached(tasks: Vec<Vec<Line>>) -> Program {
    Program {
        joining: Joining::Detached,
        counted: None,
        tasks,
    }
}

pub(crate) fn draw(g: &mut Gen, kind: Kind) -> Program {
    draw_within(g, kind, &[4, 3, 2, 1])
}

/// Draws a program of two tasks or more, of at most as many lines as there are for this number of tasks.
pub(crate) fn draw_within(g: &mut Gen, kind: Kind, most_lines: &[usize]) -> Program {
    let tasks = 2 + below(g, most_lines.len());
    let most = most_lines[tasks - 2];
    let line = |g: &mut Gen| {
        let var = below(g, VARS);
        match below(g, if kind == Kind::Plain { 8 } else { 11 }) {
            0..3 => Line::Load(var),
            3..6 => Line::Store(var),
            6 => Line::Add(var),
            7 => Line::Exchange(var),
            at => match (kind, at) {
                (Kind::Polling, _) | (Kind::PollingAndTimed, 8) => Line::Poll(var),
                (Kind::Yielding, _) | (Kind::YieldingAndTimed, 8) => Line::Yield,
                (Kind::YieldingAndTimed | Kind::PollingAndTimed, 9) => Line::Park(1 + below(g, 2) as u64),
                (Kind::SleepingAndTimed, 8 | 9) => Line::Sleep(1 + below(g, 2) as u64),
                (Kind::SleepingAndTimed, _) => Line::Park(1 + below(g, 6) as u64),
                (_, 8 | 9) => Line::Now,
                _ => Line::Sleep(below(g, 3) as u64),
            },
        }
    };
    let joining = JOININGS[below(g, JOININGS.len())];
    let lines = |g: &mut Gen| (0..1 + below(g, most)).map(|_| line(g)).collect();
    let tasks = (0..tasks).map(|_| lines(g)).collect();
    let counted = [None, None, Some(false), Some(true)][below(g, 4)];
    Program {
        joining,
        counted,
        tasks,
    }
}

/// The state that tasks share in an execution.
struct Shared {
    vars: [AtomicUsize; VARS],
    begin: Option<Instant>,
    /// The values that each task read.
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
                Line::Poll(var) => {
                    let mut rounds = 0;
                    while rounds < 3 && self.vars[var].load(SeqCst) == 0 {
                        rounds += 1;
                        thread::yield_now();
                    }
                    rounds
                }
                Line::Park(ms) => {
                    thread::park_timeout(Duration::from_millis(ms));
                    continue;
                }
                Line::Yield => {
                    thread::yield_now();
                    continue;
                }
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
    let mut counted = program.counted.map(|_| [Arc::new(()), Arc::new(())]);
    let spawn = |(task, lines): (usize, &'static Vec<Line>)| {
        let own = counted.as_ref().map(|counted| counted[task % 2].clone());
        thread::spawn(move || {
            shared.run(task, lines);
            drop(own);
        })
    };
    match program.joining {
        Joining::Scope => thread::scope(|scope| {
            for (task, lines) in tasks {
                scope.spawn(move || shared.run(task, lines));
            }
        }),
        Joining::Handles | Joining::Backwards | Joining::Between => {
            let mut handles: Vec<_> = tasks.map(spawn).collect();
            if program.joining == Joining::Backwards {
                handles.reverse();
            }
            if program.counted == Some(true) {
                drop(counted.take());
            }
            for (at, handle) in handles.into_iter().enumerate() {
                handle.join().unwrap();
                if at == 0 && program.joining == Joining::Between {
                    shared.run(program.tasks.len(), &program.tasks[0]);
                }
            }
        }
        Joining::Chain => chain(shared, program, 0),
        Joining::Detached => tasks.for_each(|task| drop(spawn(task))),
    }
}

pub(crate) type Outcomes = BTreeSet<Vec<Vec<u128>>>;

/// Explores a program. Returns the report, and the values that its tasks read.
pub(crate) fn explore(program: &Program, explorer: Explorer) -> (Report, Outcomes) {
    let program: &'static Program = Box::leak(Box::new(program.clone()));
    let timed = program.tasks.iter().flatten().any(|line| *line == Line::Now);
    let outcomes = Mutex::new(Outcomes::new());
    let last: Mutex<Option<&'static Shared>> = Mutex::new(None);
    let keep = || {
        let told = |shared: &Shared| {
            shared
                .read
                .iter()
                .map(|read| read.lock().unwrap().clone())
                .collect()
        };
        if let Some(shared) = last.lock().unwrap().take() {
            outcomes.lock().unwrap().insert(told(shared));
        }
    };
    let explorer = explorer
        .environment(Environment::calm())
        .minimise(0)
        .executions(EXECUTIONS_MAX);
    let report = explorer.explore(|| {
        // Only here are the records of detached tasks complete.
        keep();
        let shared: &'static Shared = Box::leak(Box::new(Shared {
            vars: Default::default(),
            begin: timed.then(Instant::now),
            read: (0..=program.tasks.len()).map(|_| Mutex::default()).collect(),
        }));
        *last.lock().unwrap() = Some(shared);
        execute(shared, program);
    });
    keep();
    assert!(report.verdict().is_pass(), "{program:?}: {report}");
    (report, outcomes.into_inner().unwrap())
}

pub(crate) fn searched(program: &Program, reduction: Reduction, bound: Option<u32>) -> (Report, Outcomes) {
    searched_by(Explorer::new().reduction(reduction), program, bound)
}

/// Explores a program with these settings and this bound on preemptions.
pub(crate) fn searched_by(explorer: Explorer, program: &Program, bound: Option<u32>) -> (Report, Outcomes) {
    explore(
        program,
        match bound {
            Some(bound) => explorer.preemptions(bound),
            None => explorer,
        },
    )
}

/// Returns the number of programs that are compared.
fn programs(otherwise: u64) -> u64 {
    crate::variable("LINES_PROGRAMS").unwrap_or(otherwise)
}

/// As long as `dpor` keeps its wakeup trees, it runs each trace of a program without branches once, and nothing else.
/// In few programs it falls back to source sets, since it cannot identify the variables of two executions.
#[test]
fn dpor_runs_each_trace_of_straight_lines_once() {
    let g = &mut Gen::from_size_and_seed(8, 27);
    let all = programs(1_500);
    let (mut once, mut gave_way) = (0, 0);
    for number in 0..all {
        let program = draw(g, Kind::Plain);
        let (source, seen) = searched(&program, Reduction::SourceDpor, None);
        if *source.coverage() != Coverage::Exhaustive {
            continue;
        }
        let (optimal, same) = searched(&program, Reduction::Dpor, None);
        let missed: Vec<_> = seen.symmetric_difference(&same).collect();
        assert!(missed.is_empty(), "{number} {program:?}: {missed:?}");
        assert_eq!(optimal.traces(), source.traces(), "{number} {program:?}");
        if optimal.reduction() == "dpor" {
            let ran = (Some(optimal.executions()), optimal.redundant());
            assert_eq!(ran, (optimal.traces(), 0), "{number} {program:?}: {optimal}");
            once += 1;
        } else {
            assert_eq!(optimal.reduction(), "source-dpor", "{number} {program:?}");
            gave_way += 1;
        }
    }
    assert!(
        10 * once > 9 * all && 20 * gave_way < all,
        "{once} {gave_way} of {all}"
    );
}

/// Checks programs in which a planned step turns out to be another one: all traces are found, each once.
#[track_caller]
fn check_each(counted: Option<bool>, programs: &[&[&[Line]]]) {
    for tasks in programs {
        let program = Program {
            joining: Joining::Between,
            counted,
            tasks: tasks.iter().map(|lines| lines.to_vec()).collect(),
        };
        let (source, seen) = searched(&program, Reduction::SourceDpor, None);
        let (optimal, same) = searched(&program, Reduction::Dpor, None);
        assert_eq!(same, seen, "{program:?}");
        let ran = (optimal.executions(), optimal.redundant(), optimal.reduction());
        let traces = source.traces().expect("few traces");
        assert_eq!(ran, (traces, 0, "dpor"), "{program:?}: {optimal}");
        assert_eq!(optimal.traces(), Some(traces), "{program:?}");
        let (several, _) = explore(&program, Explorer::new().reduction(Reduction::Dpor).jobs(3));
        assert_eq!(several.traces(), Some(traces), "{program:?}");
    }
}

/// Time passes at a yield or a sleep if the task has read something since its last yield, and no task has written
/// anything. So the order of a yield and a store matters, although they share nothing.
#[test]
fn yields_that_let_time_pass_are_not_taken_to_commute() {
    let g = &mut Gen::from_size_and_seed(8, 61);
    use Line::{Load, Park, Sleep, Store, Yield};
    let known = [
        [
            vec![Load(0), Yield, Load(0), Yield, Store(1)],
            vec![Store(2)],
            vec![Park(1), Load(1)],
        ],
        [
            vec![Park(5), Load(1)],
            vec![Sleep(1), Sleep(1), Store(1)],
            vec![Load(2)],
        ],
    ];
    let known = known.map(|tasks| detached(tasks.into()));
    let first_drawn = known.len();
    let all = programs(400);
    let kinds = [Kind::YieldingAndTimed, Kind::SleepingAndTimed];
    let drawn = (0..all).map(|number| draw(g, kinds[number as usize % 2]));
    let mut compared = 0;
    for (number, program) in known.into_iter().chain(drawn).enumerate() {
        let is_known = number < first_drawn;
        for bound in [None, Some(0), Some(1), Some(2)] {
            let (whole, outcomes) = searched(&program, Reduction::None, bound);
            // The schedules that fairness leaves out may depend on the search.
            let is_fair = matches!(whole.coverage(), Coverage::Bounded { reason: Some(_), .. });
            if whole.executions() >= EXECUTIONS_MAX || is_fair && !is_known {
                continue;
            }
            for reduction in [Reduction::Caching, Reduction::SourceDpor, Reduction::Dpor] {
                if bound.is_some() && reduction == Reduction::SourceDpor {
                    continue;
                }
                let (found, same) = searched(&program, reduction, bound);
                let different: Vec<_> = outcomes.symmetric_difference(&same).collect();
                assert!(
                    different.is_empty(),
                    "{program:?} within {bound:?}: {found}: {different:?}"
                );
                compared += 1;
            }
        }
    }
    assert!(compared > all, "{compared} of {all}");
}

/// A failed exchange is planned before the step that made it fail, as if it succeeded there. But the second exchange of
/// the first task's lines fails everywhere, and wakes no task.
#[test]
fn dpor_finds_what_comes_after_an_exchange_that_fails_again() {
    use Line::{Add, Exchange, Load, Store};
    check_each(
        None,
        &[
            &[&[Exchange(0)], &[Add(0)], &[Load(0)], &[Load(0)]],
            &[&[Exchange(0)], &[Store(0)], &[Load(0)], &[Load(0)]],
            &[
                &[Exchange(0), Load(1)],
                &[Add(0), Store(1)],
                &[Load(0)],
                &[Load(0)],
            ],
            // An exchange that succeeded fails if it comes first.
            &[&[Load(0)], &[Store(0), Exchange(0)], &[Add(0)], &[Exchange(0)]],
        ],
    );
}

/// The order of steps decides which handle is the last. The last is dropped within the step before, others in steps of
/// their own. A later step may come one step later than planned, or one earlier.
#[test]
fn dpor_follows_sequences_past_dropped_handles() {
    use Line::{Add, Exchange, Load, Store};
    check_each(
        Some(true),
        &[
            &[&[Load(2)], &[Store(2), Store(0)], &[Store(2), Load(0)]],
            &[&[Exchange(2)], &[Load(2)], &[Load(0)], &[Store(2), Exchange(0)]],
            &[&[Load(1), Load(2), Load(1)], &[Store(1), Load(2)], &[Add(2)]],
            &[&[Add(0), Load(1)], &[Load(0), Load(0)], &[Load(1)], &[Store(1)]],
        ],
    );
}

/// Two pairs of tasks that cross each other, in all ways of joining them.
#[test]
fn dpor_runs_two_crossed_pairs_once_each() {
    use Line::{Load, Store};
    let tasks = [Load(0), Load(1), Store(1), Store(0)].map(|line| vec![line]);
    for joining in JOININGS {
        let program = Program {
            joining,
            counted: None,
            tasks: tasks.to_vec(),
        };
        let (report, _) = searched(&program, Reduction::Dpor, None);
        let ran = (report.executions(), report.redundant(), report.reduction());
        assert_eq!(
            ran,
            (report.traces().unwrap(), 0, "dpor"),
            "{program:?}: {report}"
        );
    }
}

/// Programs that sleep and read the clock: every search shows the same.
#[test]
fn searches_agree_on_programs_with_clocks() {
    let g = &mut Gen::from_size_and_seed(8, 28);
    let (mut problems, all) = (Vec::new(), programs(300));
    let mut compared = 0;
    for number in 0..all {
        let program = draw(g, Kind::Timed);
        for bound in [None, Some(0), Some(1), Some(2)] {
            let (every, seen) = searched(&program, Reduction::None, bound);
            if every.executions() == EXECUTIONS_MAX {
                continue;
            }
            let reductions: &[Reduction] = match bound {
                None => &[Reduction::Caching, Reduction::SourceDpor, Reduction::Dpor],
                Some(_) => &[Reduction::Caching, Reduction::Dpor],
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
    let (count, few) = (
        problems.len(),
        problems.iter().take(15).cloned().collect::<Vec<_>>(),
    );
    assert!(problems.is_empty(), "{count} of {compared}: {few:#?}");
}

/// If no loop waits, assuming awaits makes no difference.
#[test]
fn assuming_awaits_changes_nothing_without_a_loop() {
    let g = &mut Gen::from_size_and_seed(8, 29);
    let mut problems = Vec::new();
    for number in 0..programs(600) {
        let program = draw(g, if number % 4 == 0 { Kind::Timed } else { Kind::Plain });
        for reduction in [Reduction::Caching, Reduction::SourceDpor, Reduction::Dpor] {
            let told = |assume| {
                let explorer = Explorer::new()
                    .reduction(reduction)
                    .set("spin_loops", if assume { "assume" } else { "park" });
                let (report, seen) = explore(&program, explorer);
                (
                    (report.executions(), report.redundant(), report.traces()),
                    report.reduction().to_owned(),
                    seen,
                )
            };
            let (plain, assumed) = (told(false), told(true));
            if plain != assumed {
                problems.push(format!(
                    "{number} {program:?}, {reduction:?}: {:?} {} {:?} {}",
                    plain.0, plain.1, assumed.0, assumed.1
                ));
            }
        }
    }
    problems.sort_by_key(String::len);
    let (count, few) = (
        problems.len(),
        problems.iter().take(15).cloned().collect::<Vec<_>>(),
    );
    assert!(problems.is_empty(), "{count}: {few:#?}");
}
