//! Compares ranked search in which each array is one variable, or which is limited to the first variables of each place,
//! with an enumerator that counts arrays and places by their definitions.

use super::explored;
use crate::ranked::{place, ranked};
use intermezzo_explorer::sync::Mutex;
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::{Arrays, Coverage, Explorer, RankBound, Report, Verdict, thread};
use quickcheck::{Arbitrary, Gen, QuickCheck, TestResult};
use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The number of atomics, and of locks.
const OF_EACH: usize = 4;

/// The maximum number of interleavings of a program.
const INTERLEAVINGS_MAX: usize = 3_000;

/// The number of random programs that are compared, unless `EXPLORED_PROGRAMS` sets it.
const PROGRAMS: u64 = 120;

/// The number of random programs in which the variables of places are compared.
const PROGRAMS_WITH_PLACES: u64 = 1_000;

/// One operation: at one of three places, on an atomic or lock by index; or at a place that only this variable uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Op {
    Add { place: u8, atomic: usize },
    Own { atomic: usize },
    Lock { place: u8, lock: usize },
    Unlock,
}

#[derive(Clone, Debug)]
struct Program(Vec<Vec<Op>>);

impl Arbitrary for Program {
    fn arbitrary(g: &mut Gen) -> Program {
        let mut below = |most: usize| usize::arbitrary(g) % most;
        let tasks = 2 + below(2);
        let mut task = || {
            let mut ops = Vec::new();
            for _ in 0..1 + below(4) {
                let which = below(OF_EACH);
                let place = below(3) as u8;
                match below(6) {
                    0 => ops.extend([Op::Lock { place, lock: which }, Op::Unlock]),
                    1 => ops.push(Op::Own { atomic: which }),
                    _ => ops.push(Op::Add { place, atomic: which }),
                }
            }
            ops
        };
        Program((0..tasks).map(|_| task()).collect())
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Program>> {
        let all = self.0.clone();
        let tasks = all.len();
        Box::new((0..tasks).filter(move |_| tasks > 1).map(move |gone| {
            let mut fewer = all.clone();
            fewer.remove(gone);
            Program(fewer)
        }))
    }
}

/// The objects on which the engine runs the program.
#[derive(Default)]
struct Objects {
    atomics: [AtomicUsize; OF_EACH],
    locks: [Mutex<()>; OF_EACH],
}

impl Objects {
    /// Performs the operations. Each arm of the match is a place.
    fn perform(&self, ops: &[Op]) {
        let mut held = None;
        for op in ops {
            match *op {
                Op::Add { place: 0, atomic } => _ = self.atomics[atomic].fetch_add(1, SeqCst),
                Op::Add { place: 1, atomic } => _ = self.atomics[atomic].swap(1, SeqCst),
                Op::Add { atomic, .. } => self.atomics[atomic].store(1, SeqCst),
                Op::Own { atomic: 0 } => _ = self.atomics[0].fetch_add(1, SeqCst),
                Op::Own { atomic: 1 } => _ = self.atomics[1].fetch_add(1, SeqCst),
                Op::Own { atomic: 2 } => _ = self.atomics[2].fetch_add(1, SeqCst),
                Op::Own { .. } => _ = self.atomics[3].fetch_add(1, SeqCst),
                Op::Lock { place: 0, lock } => held = self.locks[lock].lock().ok(),
                Op::Lock { place: 1, lock } => held = self.locks[lock].lock().ok(),
                Op::Lock { lock, .. } => held = self.locks[lock].lock().ok(),
                Op::Unlock => drop(held.take()),
            }
        }
    }

    fn run(program: &Program) {
        let objects = Objects::default();
        thread::scope(|scope| {
            for task in &program.0 {
                let objects = &objects;
                scope.spawn(move || objects.perform(task));
            }
        });
    }
}

/// A variable of the enumerator: `true` for a lock, and its index.
type Variable = (bool, usize);

/// A state of an execution. Arrays follow the paper's definitions, and the first variables of a place those of
/// `docs/SEARCH.md`.
#[derive(Clone, Default)]
struct State {
    at: Vec<usize>,
    held: Vec<Option<usize>>,
    path: Vec<u32>,
    /// The array of each variable, and that of each place, named by its first variable.
    arrays: HashMap<Variable, Variable>,
    places: HashMap<Op, Variable>,
    accessed: Vec<Option<Variable>>,
    /// The position of each variable that some task has reached among those of its kind first used at its place, and the
    /// number of these for each place.
    positions: HashMap<Variable, u32>,
    used_at: HashMap<Op, u32>,
    /// The number of first variables of each place that include all variables against which preemptions count.
    per_place: u32,
    /// For each preemption, the variable and the array that it counts against.
    preempted: Vec<(Option<Variable>, Option<Variable>)>,
}

/// An execution: the task of each step, the number of preemptions, and the numbers of variables and arrays.
#[derive(Clone, Debug)]
struct Known {
    path: Vec<u32>,
    preemptions: u32,
    variables: u32,
    arrays: u32,
    per_place: u32,
}

/// Returns the variable of an operation and its place, which is the operation without its index. A release has neither.
fn used(op: Op) -> Option<(Variable, Op)> {
    Some(match op {
        Op::Add { place, atomic } => ((false, atomic), Op::Add { place, atomic: 0 }),
        Op::Own { atomic } => ((false, atomic), Op::Own { atomic }),
        Op::Lock { place, lock } => ((true, lock), Op::Lock { place, lock: 0 }),
        Op::Unlock => return None,
    })
}

impl State {
    /// Notes that a task has reached its next operation: it uses the variable from then on.
    fn reach(&mut self, program: &Program, task: usize) {
        let next = program.0[task].get(self.at[task]);
        if let Some((variable, place)) = next.and_then(|op| used(*op))
            && !self.positions.contains_key(&variable)
        {
            let before = self.used_at.entry(place).or_default();
            self.positions.insert(variable, *before);
            *before += 1;
        }
    }

    fn enabled(&self, program: &Program, task: usize) -> bool {
        match program.0[task].get(self.at[task]) {
            None => false,
            Some(Op::Lock { lock, .. }) => !self.held.contains(&Some(*lock)),
            Some(_) => true,
        }
    }

    fn step(&mut self, program: &Program, task: usize) {
        let op = program.0[task][self.at[task]];
        self.at[task] += 1;
        self.path.push(task as u32 + 1);
        let (variable, place) = match used(op) {
            Some((variable, place)) => (variable, Some(place)),
            None => {
                let lock = self.held[task].take().expect("a release comes after its lock");
                ((true, lock), None)
            }
        };
        if let Op::Lock { lock, .. } = op {
            self.held[task] = Some(lock);
        }
        self.reach(program, task);
        let of_place = place.and_then(|place| self.places.get(&place).copied());
        let array = *self
            .arrays
            .entry(variable)
            .or_insert(of_place.unwrap_or(variable));
        if let Some(place) = place {
            self.places.entry(place).or_insert(array);
        }
        self.accessed[task] = Some(variable);
    }

    fn go(self, program: &Program, found: &mut Vec<Known>) -> Option<()> {
        let tasks = program.0.len();
        let enabled: Vec<usize> = (0..tasks).filter(|&task| self.enabled(program, task)).collect();
        if enabled.is_empty() {
            let count = |of: BTreeSet<Variable>| of.len() as u32;
            found.push(Known {
                preemptions: self.preempted.len() as u32,
                variables: count(self.preempted.iter().filter_map(|at| at.0).collect()),
                arrays: count(self.preempted.iter().filter_map(|at| at.1).collect()),
                per_place: self.per_place,
                path: self.path,
            });
            return (found.len() <= INTERLEAVINGS_MAX).then_some(());
        }
        let last = self.path.last().map(|&last| last as usize - 1);
        for &task in &enabled {
            let mut next = self.clone();
            if let Some(last) = last.filter(|last| *last != task && enabled.contains(last)) {
                let variable = self.accessed[last];
                let array = variable.map(|variable| self.arrays[&variable]);
                next.preempted.push((variable, array));
                let position = variable.map_or(0, |variable| self.positions[&variable] + 1);
                next.per_place = next.per_place.max(position);
            }
            next.step(program, task);
            next.go(program, found)?;
        }
        Some(())
    }

    /// Returns every execution; `None` if there are too many.
    fn enumerate(program: &Program) -> Option<Vec<Known>> {
        let tasks = program.0.len();
        let mut begin = State {
            at: vec![0; tasks],
            held: vec![None; tasks],
            accessed: vec![None; tasks],
            ..State::default()
        };
        (0..tasks).for_each(|task| begin.reach(program, task));
        let mut found = Vec::new();
        begin.go(program, &mut found)?;
        Some(found)
    }
}

fn agrees(program: Program) -> TestResult {
    let Some(all) = State::enumerate(&program) else {
        return TestResult::discard();
    };
    for (preemptions, variables) in [(1, 0), (2, 1), (3, 1), (3, 2), (99, 1)] {
        let within = |known: &&Known, at: u32| known.preemptions <= preemptions && at <= variables;
        let sorted = |paths: Vec<&Known>| {
            let mut paths: Vec<Vec<u32>> = paths.into_iter().map(|known| known.path.clone()).collect();
            paths.sort();
            paths
        };
        let by_array = sorted(all.iter().filter(|known| within(known, known.arrays)).collect());
        let by_element = sorted(
            all.iter()
                .filter(|known| within(known, known.variables))
                .collect(),
        );
        for sets in ["each", "dynamic"] {
            for (arrays, wanted) in [("whole", &by_array), ("elements", &by_element)] {
                let settings = format!(
                    "strategy=ranked(variables={variables},sets={sets},arrays={arrays}) preemptions={preemptions}"
                );
                let (mut seen, _) = explored(&settings, || Objects::run(&program));
                seen.sort();
                if seen != *wanted {
                    return TestResult::error(format!("{settings}: {seen:?}, where there are {wanted:?}"));
                }
            }
        }
        // Coarser variables leave nothing out.
        if by_element
            .iter()
            .any(|path| by_array.binary_search(path).is_err())
        {
            return TestResult::error("an execution at few elements is at more arrays");
        }
    }
    TestResult::passed()
}

#[test]
fn arrays_count_as_one_variable_each() {
    let given = std::env::var("EXPLORED_PROGRAMS").ok();
    let programs = given.map_or(PROGRAMS, |all| all.parse().expect("a number of programs"));
    QuickCheck::new()
        .tests(programs)
        .max_tests(programs * 20)
        .min_tests_passed(programs)
        .quickcheck(agrees as fn(Program) -> TestResult);
}

/// Returns the bound on variables of each place that the coverage states.
fn per_place_claimed(report: &Report) -> Option<u32> {
    match report.coverage() {
        Coverage::Bounded { rank, .. } => rank.and_then(|rank| rank.per_place),
        _ => None,
    }
}

/// The number of comparisons in which variables of places left something out.
static LEFT_OUT: AtomicU32 = AtomicU32::new(0);

fn places_agree(program: Program) -> TestResult {
    let Some(all) = State::enumerate(&program).filter(|all| all.len() <= INTERLEAVINGS_MAX / 10) else {
        return TestResult::discard();
    };
    for (preemptions, variables, per_place) in
        [(1, 1, 1), (2, 1, 1), (2, 1, 2), (2, 2, 1), (3, 2, 2), (99, 99, 1)]
    {
        let within = |known: &&Known| known.preemptions <= preemptions && known.variables <= variables;
        let mut wanted: Vec<Vec<u32>> = all
            .iter()
            .filter(within)
            .filter(|known| known.per_place <= per_place)
            .map(|known| known.path.clone())
            .collect();
        wanted.sort();
        for sets in ["each", "dynamic"] {
            let settings = format!(
                "strategy=ranked(variables={variables},sets={sets},per_place={per_place}) preemptions={preemptions}"
            );
            let (mut seen, report) = explored(&settings, || Objects::run(&program));
            seen.sort();
            if seen != wanted {
                return TestResult::error(format!("{settings}: {seen:?}, where there are {wanted:?}"));
            }
            // The bound is stated if it left out something that the others did not.
            let leaves_out = all.iter().filter(within).any(|known| known.per_place > per_place);
            LEFT_OUT.fetch_add(u32::from(leaves_out), Relaxed);
            let claimed = per_place_claimed(&report);
            if claimed != leaves_out.then_some(per_place) {
                return TestResult::error(format!("{settings}: {report}"));
            }
            if wanted.len() == all.len() && report.coverage() != &Coverage::Exhaustive {
                return TestResult::error(format!("{settings}: {report}"));
            }
        }
    }
    TestResult::passed()
}

#[test]
fn the_first_variables_of_places_are_complete() {
    let given = std::env::var("EXPLORED_PROGRAMS").ok();
    let programs = given.map_or(PROGRAMS_WITH_PLACES, |all| {
        all.parse().expect("a number of programs")
    });
    QuickCheck::new()
        .tests(programs)
        .max_tests(programs * 20)
        .min_tests_passed(programs)
        .quickcheck(places_agree as fn(Program) -> TestResult);
    let left_out = LEFT_OUT.load(Relaxed);
    assert!(u64::from(left_out) > programs, "{left_out}");
}

/// The variables of a function are of one place, without a loop.
#[test]
fn the_second_variable_of_a_function_is_left_out() {
    fn increment(number: &AtomicUsize) {
        let before = number.load(SeqCst);
        number.store(before + 1, SeqCst);
    }
    let explore = |per_place: u32| {
        let settings = format!("preemptions=1 strategy=ranked(per_place={per_place})");
        ranked(&settings, || {
            let [one, other]: [AtomicUsize; 2] = Default::default();
            thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| [&one, &other].map(increment));
                }
            });
            assert_eq!(other.load(SeqCst), 2);
        })
    };
    let first = explore(1);
    assert!(first.verdict().is_pass(), "{first}");
    assert_eq!(
        first.coverage().to_string(),
        "every schedule with at most 1 preemption after accesses to variables among the first of each place was run: \
         a failure that is left is beyond these bounds"
    );
    assert!(explore(2).verdict().is_fail());
}

#[test]
fn the_claim_says_which_variables_of_places() {
    let report = ranked("preemptions=2 strategy=ranked(variables=1,per_place=2)", || {
        let slots: [AtomicUsize; 4] = Default::default();
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for slot in &slots {
                        slot.fetch_add(1, SeqCst);
                        slot.fetch_add(1, SeqCst);
                    }
                });
            }
        });
    });
    let told = report.coverage().to_string();
    assert_eq!(
        told,
        "every schedule with at most 2 preemptions after accesses to 1 variable among the first 2 of each place was \
         run: a failure that is left is beyond these bounds"
    );
    assert!(report.to_json().contains("\"per_place\": 2"));
}

/// Reads two slots while another task writes them. It sees an inconsistent pair if it is preempted after its first read,
/// and the writer between its two writes to the second slot.
fn torn_look() {
    let slots: [AtomicUsize; 2] = Default::default();
    thread::scope(|scope| {
        scope.spawn(|| {
            let seen = [0, 1].map(|at: usize| slots[at].load(SeqCst));
            assert_ne!(seen, [0, 1]);
        });
        scope.spawn(|| {
            for (at, value) in [(0, 1), (1, 1), (1, 2)] {
                slots[at].store(value, SeqCst);
            }
        });
    });
}

#[test]
fn a_failure_at_two_elements_is_found_at_one_array() {
    let find = |settings: &str| ranked(&format!("preemptions=2 {settings} minimise=0"), torn_look);
    let missed = find("strategy=ranked(variables=1,arrays=elements)");
    assert_eq!(missed.verdict(), Verdict::Pass, "{missed}");
    let by_element = find("strategy=ranked(variables=2,arrays=elements)");
    assert!(
        place(&by_element).starts_with("rank 2 preemptions, 2 variables"),
        "{by_element}"
    );
    let whole = find("strategy=ranked(variables=1,arrays=whole)");
    let found = place(&whole);
    assert!(
        found.starts_with("rank 2 preemptions, 1 variable, after accesses to atomic at "),
        "{whole}"
    );
    assert!(found.contains("arrays.rs:"), "{whole}");
    let again = Explorer::new()
        .program(whole.program())
        .replay(whole.findings()[0].schedule.clone())
        .explore(torn_look);
    assert_eq!(again.findings()[0].message, whole.findings()[0].message);
}

/// The statement of completeness names what counted as one variable, also after it was saved and read again.
#[test]
fn the_claim_says_what_a_variable_is() {
    let report = Explorer::new()
        .set("strategy", "ranked(variables=1,arrays=whole)")
        .preemptions(2)
        .explore(|| {
            let slots: [AtomicUsize; 2] = Default::default();
            let others: [AtomicUsize; 2] = Default::default();
            thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| {
                        slots.iter().for_each(|slot| _ = slot.fetch_add(1, SeqCst));
                        others.iter().for_each(|other| _ = other.fetch_add(1, SeqCst));
                    });
                }
            });
        });
    let rank = RankBound {
        preemptions: Some(2),
        variables: Some(1),
        arrays: Arrays::Whole,
        per_place: None,
        threads: None,
        epsilon: None,
    };
    assert!(
        matches!(report.coverage(), Coverage::Bounded { rank: Some(told), reason: None, .. } if *told == rank),
        "{report}"
    );
    let told = report.coverage().to_string();
    assert!(
        told.contains("at most 2 preemptions after accesses to 1 variable (an array is one)"),
        "{told}"
    );
    assert!(report.to_json().contains("\"arrays\": \"whole\""));
}
