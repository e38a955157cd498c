//! Random programs with waiting loops, against a model that runs every round of every loop. Both have the same
//! outcomes, and a livelock in the same programs.

use intermezzo_explorer::sync::atomic::AtomicUsize;
use intermezzo_explorer::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};
use intermezzo_explorer::{Coverage, Environment, Explorer, Reduction, Report, hint, thread};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

/// The number of variables of a program, all 0 at first.
const VARS: usize = 2;

/// Programs that need more executions are not compared.
const EXECUTIONS_MAX: u64 = 4_000;

/// A line of a task. In a real program it is a statement, in the model a small state machine.
#[derive(Clone, Copy, Debug)]
enum Line {
    Store(usize, usize),
    Load(usize),
    Add(usize),
    /// `while x != v`
    Await(usize, usize),
    /// `while x != v && y != w`
    Either([usize; 2], [usize; 2]),
    /// `while compare_exchange(v, w) fails`
    Exchange(usize, usize, usize),
    /// `while swap(1) == 1`
    Swap(usize),
    /// Reads x, y and x again until x is the same both times. Its result is the value of y.
    Consistent(usize, usize),
    /// Looks at most twice whether x is v. Its result is the number of looks.
    Twice(usize, usize),
}

/// The number of programs that are compared.
const PROGRAMS: usize = 100;

type Program = Vec<Vec<Line>>;
type Outcome = Vec<Vec<usize>>;

/// The result of a step of the model.
enum Next {
    /// The line continues at this position with these values.
    Within(u8, [usize; 2]),
    /// The line is over.
    Over,
    /// The line is over, with this result.
    Told(usize),
}

/// Performs one access to the variables.
fn step(line: Line, place: u8, held: [usize; 2], vars: &mut [usize; VARS]) -> Next {
    use Next::{Over, Told, Within};
    let again = Within(0, [0; 2]);
    match line {
        Line::Store(x, v) => {
            vars[x] = v;
            Over
        }
        Line::Load(x) => Told(vars[x]),
        Line::Add(x) => {
            vars[x] += 1;
            Told(vars[x] - 1)
        }
        Line::Await(x, v) if vars[x] == v => Over,
        Line::Await(..) => again,
        Line::Either(x, v) if vars[x[usize::from(place)]] == v[usize::from(place)] => Told(place.into()),
        Line::Either(..) if place == 0 => Within(1, held),
        Line::Either(..) => again,
        Line::Exchange(x, v, w) if vars[x] == v => {
            vars[x] = w;
            Over
        }
        Line::Exchange(..) => again,
        Line::Swap(x) if vars[x] == 1 => again,
        Line::Swap(x) => {
            vars[x] = 1;
            Over
        }
        Line::Consistent(x, y) => match place {
            0 => Within(1, [vars[x], 0]),
            1 => Within(2, [held[0], vars[y]]),
            _ if vars[x] == held[0] => Told(held[1]),
            _ => again,
        },
        Line::Twice(x, v) if vars[x] == v => Told(place.into()),
        Line::Twice(..) if place == 0 => Within(1, held),
        Line::Twice(..) => Told(2),
    }
}

/// The orderings of a program's loads, stores, and read-modify-writes.
#[derive(Clone, Copy)]
struct Order {
    loads: Ordering,
    stores: Ordering,
    both: Ordering,
}

const STRONG: Order = Order {
    loads: SeqCst,
    stores: SeqCst,
    both: SeqCst,
};

/// Runs the line in a real program.
fn run(line: Line, vars: &[AtomicUsize; VARS], order: Order) -> Option<usize> {
    let Order { loads, stores, both } = order;
    let load = |x: usize| vars[x].load(loads);
    match line {
        Line::Store(x, v) => {
            vars[x].store(v, stores);
            None
        }
        Line::Load(x) => Some(load(x)),
        Line::Add(x) => Some(vars[x].fetch_add(1, both)),
        Line::Await(x, v) => {
            while load(x) != v {
                hint::spin_loop();
            }
            None
        }
        Line::Either(x, v) => loop {
            if load(x[0]) == v[0] {
                break Some(0);
            }
            if load(x[1]) == v[1] {
                break Some(1);
            }
            thread::yield_now();
        },
        Line::Exchange(x, v, w) => {
            while vars[x].compare_exchange(v, w, both, loads).is_err() {
                hint::spin_loop();
            }
            None
        }
        Line::Swap(x) => {
            while vars[x].swap(1, both) == 1 {
                thread::yield_now();
            }
            None
        }
        Line::Consistent(x, y) => loop {
            let before = load(x);
            let read = load(y);
            if load(x) == before {
                break Some(read);
            }
            hint::spin_loop();
        },
        Line::Twice(x, v) => {
            for round in 0..2 {
                if load(x) == v {
                    return Some(round);
                }
                hint::spin_loop();
            }
            Some(2)
        }
    }
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    vars: [usize; VARS],
    /// For each task: its line, the position in it, the values it holds, and its results.
    tasks: Vec<(usize, u8, [usize; 2], Vec<usize>)>,
}

/// Returns all outcomes of a program, and `true` if it can reach a state from which no end can be reached.
fn model(program: &Program) -> (BTreeSet<Outcome>, bool) {
    let first = State {
        vars: [0; VARS],
        tasks: vec![(0, 0, [0; 2], Vec::new()); program.len()],
    };
    let mut before: BTreeMap<State, Vec<State>> = BTreeMap::from([(first.clone(), Vec::new())]);
    let mut open = vec![first];
    let (mut ends, mut outcomes) = (Vec::new(), BTreeSet::new());
    while let Some(state) = open.pop() {
        let mut over = true;
        for (task, lines) in program.iter().enumerate() {
            let Some(&line) = lines.get(state.tasks[task].0) else {
                continue;
            };
            over = false;
            let mut next = state.clone();
            let (at, place, held, told) = &mut next.tasks[task];
            match step(line, *place, *held, &mut next.vars) {
                Next::Within(to, values) => (*place, *held) = (to, values),
                Next::Over => (*at, *place, *held) = (*at + 1, 0, [0; 2]),
                Next::Told(what) => {
                    (*at, *place, *held) = (*at + 1, 0, [0; 2]);
                    told.push(what);
                }
            }
            let new = !before.contains_key(&next);
            before.entry(next.clone()).or_default().push(state.clone());
            if new {
                open.push(next);
            }
        }
        if over {
            outcomes.insert(outcome(
                &state.vars,
                state.tasks.iter().map(|task| task.3.clone()),
            ));
            ends.push(state);
        }
    }
    let mut ending: BTreeSet<State> = BTreeSet::new();
    while let Some(state) = ends.pop() {
        if ending.insert(state.clone()) {
            ends.extend(before[&state].iter().cloned());
        }
    }
    (outcomes, ending.len() < before.len())
}

fn outcome(vars: &[usize], told: impl Iterator<Item = Vec<usize>>) -> Outcome {
    std::iter::once(vars.to_vec()).chain(told).collect()
}

/// The result of exploring a program: its outcomes, and `true` if there is a livelock.
type Shown = (BTreeSet<Outcome>, bool);

/// Explores the program. Returns `None` if that takes too long.
fn explored(program: &Program, reduction: Reduction, assume: bool) -> Option<Shown> {
    explored_and_counted(program, reduction, assume).map(|(shown, _)| shown)
}

/// Like `explored`, and returns the number of traces too.
fn explored_and_counted(
    program: &Program,
    reduction: Reduction,
    assume: bool,
) -> Option<(Shown, Option<u64>)> {
    let explorer = Explorer::new()
        .reduction(reduction)
        .set("spin_loops", if assume { "assume" } else { "park" });
    let (shown, report) = explored_by(explorer, program, STRONG);
    assert!(
        report
            .findings()
            .iter()
            .all(|finding| finding.message.starts_with("no task can continue")),
        "parked, not given up: {program:?}: {report}"
    );
    (*report.coverage() == Coverage::Exhaustive).then(|| (shown, report.traces()))
}

/// Explores the program with this explorer. Returns its outcomes and the report.
fn explored_by(explorer: Explorer, program: &Program, order: Order) -> (Shown, Report) {
    let outcomes = Mutex::new(BTreeSet::new());
    // Fairness would leave out steps of a task that never gets past its loop. That is not compared here.
    let explorer = explorer
        .set("fair_yields", u32::MAX)
        .keep_going(true)
        .minimise(0)
        .executions(EXECUTIONS_MAX);
    let report = explorer.explore(|| {
        let vars: [AtomicUsize; VARS] = std::array::from_fn(|_| AtomicUsize::new(0));
        let vars = &vars;
        let told: Vec<Vec<usize>> = thread::scope(|scope| {
            let tasks: Vec<_> = program
                .iter()
                .map(|lines| {
                    scope.spawn(move || {
                        let told = lines.iter().filter_map(|&line| run(line, vars, order));
                        told.collect::<Vec<usize>>()
                    })
                })
                .collect();
            tasks.into_iter().map(|task| task.join().unwrap()).collect()
        });
        let values: Vec<usize> = vars.iter().map(|var| var.load(SeqCst)).collect();
        outcomes
            .lock()
            .unwrap()
            .insert(outcome(&values, told.into_iter()));
    });
    let kinds: BTreeSet<String> = report
        .findings()
        .iter()
        .map(|finding| finding.kind.to_string())
        .collect();
    assert!(
        kinds.iter().all(|kind| kind == "livelock"),
        "{program:?}: {report}"
    );
    let shown = (outcomes.into_inner().unwrap(), !kinds.is_empty());
    (shown, report)
}

/// A multiplication with carry: uniform enough, and the same everywhere.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = (self.0 & 0xffff_ffff) * 4_294_957_665 + (self.0 >> 32);
        (self.0 & 0xffff_ffff) as usize % end
    }

    fn line(&mut self) -> Line {
        let (x, v, w) = (self.below(VARS), self.below(3), self.below(3));
        match self.below(13) {
            0..4 => Line::Store(x, v),
            4 => Line::Load(x),
            5 => Line::Add(x),
            6 => Line::Await(x, v),
            7 => Line::Either([x, 1 - x], [v, w]),
            8 => Line::Exchange(x, v, w),
            9 => Line::Swap(x),
            10 => Line::Consistent(x, 1 - x),
            _ => Line::Twice(x, v),
        }
    }

    fn program(&mut self) -> Program {
        let tasks = 2 + self.below(2);
        let longest = if tasks == 2 { 3 } else { 2 };
        let mut lines = || (0..1 + self.below(longest)).map(|_| self.line()).collect();
        (0..tasks).map(|_| lines()).collect()
    }
}

/// Compares this many programs.
fn compare(programs: usize, reduction: Reduction) {
    let mut dice = Dice(0x696e_7465_726d_657a);
    let (mut compared, mut livelocks, mut several) = (0, 0, 0);
    for _ in 0..programs {
        let program = dice.program();
        let (outcomes, livelock) = model(&program);
        let Some((seen, found)) = explored(&program, reduction, false) else {
            continue;
        };
        assert_eq!((&seen, found), (&outcomes, livelock), "{program:?}");
        compared += 1;
        livelocks += usize::from(livelock);
        several += usize::from(outcomes.len() > 1);
    }
    assert!(
        4 * compared > 3 * programs && 4 * livelocks > programs && 5 * several > programs,
        "{compared} {livelocks} {several}"
    );
}

#[test]
fn outcomes_are_those_of_the_model() {
    compare(PROGRAMS, Reduction::None);
}

#[test]
fn reductions_leave_no_outcome_out() {
    for reduction in [Reduction::Caching, Reduction::SourceDpor, Reduction::Dpor] {
        compare(PROGRAMS, reduction);
    }
}

/// Loops that read old values, too.
#[test]
fn reductions_leave_no_outcome_of_stale_reads_out() {
    let programs = std::env::var("AWAITING_PROGRAMS").map_or(PROGRAMS, |n| n.parse().unwrap());
    let orders = [
        Order {
            loads: Relaxed,
            stores: Relaxed,
            both: Relaxed,
        },
        Order {
            loads: Acquire,
            stores: Release,
            both: AcqRel,
        },
    ];
    let mut dice = Dice(0x7374_616c_6520_7265);
    let (mut compared, mut weak) = (0, 0);
    for number in 0..programs {
        let program = dice.program();
        let order = orders[number % 2];
        let outcomes = |reduction| {
            let explorer = Explorer::new()
                .reduction(reduction)
                .set("environment", "stale_reads=1")
                .set("steps", 400);
            let ((outcomes, _), report) = explored_by(explorer, &program, order);
            (*report.coverage() == Coverage::Exhaustive).then_some(outcomes)
        };
        let Some(all) = outcomes(Reduction::None) else {
            continue;
        };
        for reduction in [Reduction::Caching, Reduction::SourceDpor, Reduction::Dpor] {
            let found = outcomes(reduction);
            assert_eq!(found.as_ref(), Some(&all), "{number}: {program:?}, {reduction:?}");
        }
        compared += 1;
        weak += usize::from(all != model(&program).0);
    }
    assert!(2 * compared > programs && weak > 0, "{compared} {weak}");
}

/// Loops that were seen to wait are assumed to do so from their first round on. No outcome is lost by that, and all
/// searches agree on the traces.
#[test]
fn outcomes_and_traces_with_loops_assumed_to_wait() {
    let mut dice = Dice(0x696e_7465_726d_657a);
    let (mut compared, mut several) = (0, 0);
    for _ in 0..PROGRAMS {
        let program = dice.program();
        let Some(all) = explored_and_counted(&program, Reduction::None, true) else {
            continue;
        };
        assert_eq!(all.0, model(&program), "{program:?}");
        for reduction in [Reduction::Caching, Reduction::SourceDpor, Reduction::Dpor] {
            let Some(reduced) = explored_and_counted(&program, reduction, true) else {
                continue;
            };
            assert_eq!(reduced, all, "{program:?}, {reduction:?}");
            compared += 1;
        }
        several += usize::from(all.1 > Some(1));
    }
    assert!(
        2 * compared > 3 * PROGRAMS && 3 * several > PROGRAMS,
        "{compared} {several}"
    );
}

/// Here a change has to come in the middle of a round that would fail without it.
#[test]
fn rounds_that_would_be_in_vain_are_gone_on_with_later() {
    for stores in [
        vec![Line::Store(0, 1), Line::Store(1, 2)],
        vec![Line::Store(0, 2), Line::Store(0, 1), Line::Store(1, 2)],
        vec![Line::Load(0), Line::Store(0, 1), Line::Store(1, 2)],
    ] {
        for first in [false, true] {
            let mut program = vec![stores.clone(), vec![Line::Either([0, 1], [1, 2])]];
            if first {
                program.reverse();
            }
            for reduction in Reduction::ALL.map(|(_, reduction)| reduction) {
                if reduction != Reduction::OrderedAtomics {
                    let expected = Some(model(&program));
                    assert_eq!(
                        explored(&program, reduction, true),
                        expected,
                        "{program:?}, {reduction:?}"
                    );
                }
            }
        }
    }
}

/// This program needs an execution that wakeup trees would miss.
#[test]
fn wakeup_trees_give_way_to_parked_tasks() {
    let program = vec![
        vec![Line::Store(1, 1), Line::Store(0, 2)],
        vec![Line::Store(0, 0), Line::Twice(0, 2)],
        vec![Line::Either([1, 0], [0, 2]), Line::Twice(1, 1)],
    ];
    assert_eq!(explored(&program, Reduction::Dpor, false), Some(model(&program)));
}

/// Within a bound on preemptions, and without one, every reduction shows the outcomes and the traces of plain
/// depth-first search. The exception are the traces of partial-order reductions without a bound. Within one trace it
/// depends on the time of other tasks' writes whether a round of several steps counts, so plain depth-first search
/// counts more.
#[test]
fn reductions_leave_no_trace_out() {
    let programs = std::env::var("AWAITING_PROGRAMS").map_or(PROGRAMS, |n| n.parse().unwrap());
    let mut dice = Dice(0x696e_7465_726d_657a);
    let (mut compared, mut several, mut problems) = (0, 0, Vec::new());
    for _ in 0..programs {
        let program = dice.program();
        for (bound, assume) in [
            (None, false),
            (Some(0), false),
            (Some(1), false),
            (Some(2), false),
            (Some(1), true),
        ] {
            let search = |reduction| {
                let explorer = Explorer::new()
                    .environment(Environment::calm())
                    .reduction(reduction);
                let explorer = explorer.set("spin_loops", if assume { "assume" } else { "park" });
                let (shown, report) = explored_by(
                    match bound {
                        Some(bound) => explorer.preemptions(bound),
                        None => explorer,
                    },
                    &program,
                    STRONG,
                );
                (report.executions() < EXECUTIONS_MAX).then(|| (shown, report.traces()))
            };
            let Some(all) = search(Reduction::None) else {
                continue;
            };
            let reductions: &[Reduction] = match bound {
                None => &[Reduction::Caching, Reduction::SourceDpor, Reduction::Dpor],
                Some(_) => &[Reduction::Caching, Reduction::Dpor],
            };
            for &reduction in reductions {
                let Some(reduced) = search(reduction) else {
                    continue;
                };
                compared += 1;
                let counts = bound.is_some() || reduction == Reduction::Caching;
                if reduced.0 != all.0 || counts && reduced.1 != all.1 {
                    problems.push(format!(
                        "{program:?}, {reduction:?} within {bound:?}, assumed {assume}: {:?} traces for {:?}",
                        reduced.1, all.1
                    ));
                }
            }
            several += usize::from(all.1 > Some(1));
        }
    }
    problems.sort_by_key(String::len);
    let (count, few) = (
        problems.len(),
        problems.iter().take(15).cloned().collect::<Vec<_>>(),
    );
    assert!(problems.is_empty(), "{count} of {compared}: {few:#?}");
    assert!(
        compared > 7 * programs && several > programs,
        "{compared} {several}"
    );
}
