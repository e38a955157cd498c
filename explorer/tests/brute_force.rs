//! Depth first search against an independent enumerator of interleavings, on random small programs:
//! unbounded search runs every interleaving exactly once, and with a bound of c preemptions exactly those
//! with at most c, each once; with one worker, and with two.

mod common;

use common::{Collect, counted};
use intermezzo_explorer::sync::Mutex;
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::{Environment, Explorer, thread};
use quickcheck::{Arbitrary, Gen, QuickCheck, TestResult};
use std::collections::BTreeMap;

/// One operation of a random program, on the atomic or lock of that number.
#[derive(Clone, Copy, Debug)]
enum Op {
    Load(usize),
    Store(usize),
    Add(usize),
    Lock(usize),
    TryLock(usize),
    /// Releases the lock taken last, if that was got.
    Unlock,
}

/// Tasks and what each does.
#[derive(Clone, Debug)]
struct Program(Vec<Vec<Op>>);

/// Most interleavings that a program may have to be worth a test.
const INTERLEAVINGS_MAX: usize = 3_000;

impl Arbitrary for Program {
    fn arbitrary(g: &mut Gen) -> Program {
        let tasks = 2 + usize::arbitrary(g) % 2;
        let task = |g: &mut Gen| {
            let mut ops = Vec::new();
            let mut held = 0;
            for _ in 0..1 + usize::arbitrary(g) % 4 {
                let which = usize::arbitrary(g) % 2;
                let op = match usize::arbitrary(g) % 7 {
                    0 => Op::Load(which),
                    1 => Op::Store(which),
                    3 | 4 => Op::Lock(which),
                    5 => Op::TryLock(which),
                    6 if held > 0 => Op::Unlock,
                    _ => Op::Add(which),
                };
                held += match op {
                    Op::Lock(_) | Op::TryLock(_) => 1,
                    Op::Unlock => -1,
                    _ => 0,
                };
                ops.push(op);
            }
            ops.extend(std::iter::repeat_n(Op::Unlock, held as usize));
            ops
        };
        Program((0..tasks).map(|_| task(g)).collect())
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Program>> {
        // Whole tasks: what is inside one keeps its locks balanced.
        let all = self.0.clone();
        let without = move |gone: usize| {
            let mut tasks = all.clone();
            tasks.remove(gone);
            Program(tasks)
        };
        Box::new((0..if self.0.len() > 1 { self.0.len() } else { 0 }).map(without))
    }
}

/// The state of the enumerator: written against the words of the design, not against the engine.
#[derive(Clone)]
struct State {
    /// Position of each task.
    at: Vec<usize>,
    /// Which locks each task holds, innermost last; `None` for a try that failed.
    held: Vec<Vec<Option<usize>>>,
    owner: [Option<usize>; 2],
}

impl State {
    fn enabled(&self, program: &Program, task: usize) -> bool {
        match program.0[task].get(self.at[task]) {
            None => false,
            Some(Op::Lock(lock)) => self.owner[*lock].is_none(),
            Some(_) => true,
        }
    }

    fn step(&mut self, program: &Program, task: usize) {
        match program.0[task][self.at[task]] {
            Op::Lock(lock) => {
                self.owner[lock] = Some(task);
                self.held[task].push(Some(lock));
            }
            Op::TryLock(lock) => {
                let got = self.owner[lock].is_none();
                if got {
                    self.owner[lock] = Some(task);
                }
                self.held[task].push(got.then_some(lock));
            }
            Op::Unlock => {
                let lock = self.held[task]
                    .pop()
                    .flatten()
                    .expect("only a held lock is released visibly");
                self.owner[lock] = None;
            }
            Op::Load(_) | Op::Store(_) | Op::Add(_) => {}
        }
        self.at[task] += 1;
        // Releasing what was not got is no operation.
        while let Some(Op::Unlock) = program.0[task].get(self.at[task])
            && self.held[task].last() == Some(&None)
        {
            self.held[task].pop();
            self.at[task] += 1;
        }
    }
}

/// An interleaving as the sequence of tasks (the first is 1), and its preemptions.
type Interleaving = (Vec<u32>, u32);

/// Every interleaving; `None` if there are too many.
fn enumerate(program: &Program) -> Option<Vec<Interleaving>> {
    fn go(
        program: &Program,
        state: &State,
        path: &Interleaving,
        found: &mut Vec<Interleaving>,
    ) -> Option<()> {
        let enabled: Vec<u32> = (1..=program.0.len() as u32)
            .filter(|&task| state.enabled(program, task as usize - 1))
            .collect();
        if enabled.is_empty() {
            found.push(path.clone());
            return (found.len() <= INTERLEAVINGS_MAX).then_some(());
        }
        for &task in &enabled {
            let preempts = path
                .0
                .last()
                .is_some_and(|last| *last != task && enabled.contains(last));
            let mut next = state.clone();
            next.step(program, task as usize - 1);
            let mut path = path.clone();
            path.0.push(task);
            path.1 += u32::from(preempts);
            go(program, &next, &path, found)?;
        }
        Some(())
    }
    let tasks = program.0.len();
    let state = State {
        at: vec![0; tasks],
        held: vec![Vec::new(); tasks],
        owner: [None; 2],
    };
    let mut found = Vec::new();
    go(program, &state, &(Vec::new(), 0), &mut found)?;
    Some(found)
}

/// The program for the engine.
fn run(program: &Program) {
    let atomics = [AtomicUsize::new(0), AtomicUsize::new(0)];
    let locks = [Mutex::new(()), Mutex::new(())];
    thread::scope(|scope| {
        for ops in &program.0 {
            let (atomics, locks) = (&atomics, &locks);
            scope.spawn(move || {
                let mut held = Vec::new();
                for op in ops {
                    match *op {
                        Op::Load(at) => drop(atomics[at].load(SeqCst)),
                        Op::Store(at) => atomics[at].store(1, SeqCst),
                        Op::Add(at) => drop(atomics[at].fetch_add(1, SeqCst)),
                        Op::Lock(at) => held.push(locks[at].lock().ok()),
                        Op::TryLock(at) => held.push(locks[at].try_lock().ok()),
                        Op::Unlock => drop(held.pop()),
                    }
                }
            });
        }
    });
}

/// What the engine runs with so many workers: each interleaving, and how often.
fn explored(program: &Program, bound: Option<u32>, jobs: usize) -> BTreeMap<Vec<u32>, u32> {
    let (_, seen) = Collect::new();
    let shared = seen.clone();
    let mut explorer = Explorer::new()
        .environment(Environment::calm())
        .keep_going(true)
        .jobs(jobs)
        .monitor_with(move || Collect::into(shared.clone()));
    if let Some(bound) = bound {
        explorer = explorer.preemptions(bound);
    }
    let report = explorer.explore(|| run(program));
    assert!(
        report
            .findings()
            .iter()
            .all(|finding| finding.kind.as_str() == "deadlock"),
        "{report}"
    );
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len() as u64, report.executions());
    counted(&seen)
}

fn agrees(program: Program) -> TestResult {
    let Some(expected) = enumerate(&program) else {
        return TestResult::discard();
    };
    let most = expected
        .iter()
        .map(|(_, preemptions)| *preemptions)
        .max()
        .unwrap_or(0);
    for bound in (0..=most).map(Some).chain([None]) {
        let within = |preemptions: u32| bound.is_none_or(|bound| preemptions <= bound);
        let expected: BTreeMap<Vec<u32>, u32> = expected
            .iter()
            .filter(|(_, preemptions)| within(*preemptions))
            .map(|(path, _)| (path.clone(), 1))
            .collect();
        // Several workers for the searches of both kinds: they share the same tree.
        let several = bound.is_none() || bound == Some(1);
        for jobs in if several { 1..=2 } else { 1..=1 } {
            let found = explored(&program, bound, jobs);
            assert_eq!(found, expected, "bound {bound:?}, {jobs} workers, of {program:?}");
        }
    }
    TestResult::passed()
}

/// How many random programs are compared.
const PROGRAMS: u64 = 1_000;

#[test]
fn search_visits_exactly_the_interleavings_within_the_bound() {
    // The seed is recorded: the same programs each time.
    let generator = Gen::from_size_and_seed(8, 2026);
    QuickCheck::new()
        .rng(generator)
        .tests(PROGRAMS)
        .max_tests(20 * PROGRAMS)
        .min_tests_passed(PROGRAMS)
        .quickcheck(agrees as fn(Program) -> TestResult);
}
