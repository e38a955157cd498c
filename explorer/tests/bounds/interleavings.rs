//! Random small programs and an independent enumerator of their interleavings.

use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::{Mutex, MutexGuard};
use intermezzo_explorer::thread;
use quickcheck::{Arbitrary, Gen, QuickCheck, TestResult};

/// One operation of a random program, on the atomic or lock of that number.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    Load(usize),
    Store(usize),
    Add(usize),
    Lock(usize),
    TryLock(usize),
    /// Releases the lock that was taken last, if the attempt succeeded.
    Unlock,
}

/// The operations of each task.
#[derive(Clone, Debug)]
pub(crate) struct Program(pub(crate) Vec<Vec<Op>>);

/// The maximum number of interleavings of a program.
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
        // Whole tasks are removed, so that locks stay balanced.
        let all = self.0.clone();
        let without = move |gone: usize| {
            let mut tasks = all.clone();
            tasks.remove(gone);
            Program(tasks)
        };
        Box::new((0..if self.0.len() > 1 { self.0.len() } else { 0 }).map(without))
    }
}

/// The state of the enumerator. It follows the design, not the code of the engine.
#[derive(Clone)]
pub(crate) struct State {
    /// The position of each task.
    at: Vec<usize>,
    /// The locks that each task holds, innermost last; `None` for an attempt that failed.
    held: Vec<Vec<Option<usize>>>,
    owner: [Option<usize>; 2],
}

impl State {
    /// Returns the state before the first step.
    pub(crate) fn begin(tasks: usize) -> State {
        State {
            at: vec![0; tasks],
            held: vec![Vec::new(); tasks],
            owner: [None; 2],
        }
    }

    /// Returns the next operation of a task.
    pub(crate) fn next(&self, program: &Program, task: usize) -> Option<Op> {
        program.0[task].get(self.at[task]).copied()
    }

    /// Returns the lock that a task took last, if it holds it.
    pub(crate) fn innermost(&self, task: usize) -> Option<usize> {
        self.held[task].last().copied().flatten()
    }

    /// `true` if a task can take a step.
    pub(crate) fn enabled(&self, program: &Program, task: usize) -> bool {
        match program.0[task].get(self.at[task]) {
            None => false,
            Some(Op::Lock(lock)) => self.owner[*lock].is_none(),
            Some(_) => true,
        }
    }

    /// Performs the next step of a task.
    pub(crate) fn step(&mut self, program: &Program, task: usize) {
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
        // Releasing a lock that was not taken is not an operation.
        while let Some(Op::Unlock) = program.0[task].get(self.at[task])
            && self.held[task].last() == Some(&None)
        {
            self.held[task].pop();
            self.at[task] += 1;
        }
    }
}

/// One decision of an interleaving.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// The task that took the step before, from 1; 0 for none.
    pub(crate) last: u32,
    /// The next operation of that task.
    pub(crate) next_of_last: Option<Op>,
    /// The locks that that task holds, innermost last.
    pub(crate) locks_of_last: Vec<usize>,
    /// The tasks that can take this step, from 1.
    pub(crate) enabled: Vec<u32>,
    /// The task that takes this step.
    pub(crate) taken: u32,
}

impl Step {
    /// `true` if another task than the last one takes it although the last one could have continued.
    pub(crate) fn preempts(&self) -> bool {
        self.taken != self.last && self.enabled.contains(&self.last)
    }

    /// Returns the number of enabled tasks that are skipped in round-robin order, which begins with the last task if
    /// that can continue.
    pub(crate) fn delays(&self) -> u32 {
        let order = |task: u32| {
            let tasks = 1 + *self
                .enabled
                .iter()
                .max()
                .expect("a step is taken by somebody")
                .max(&self.last);
            (task + tasks - self.last) % tasks
        };
        let skipped = self
            .enabled
            .iter()
            .filter(|&&task| order(task) < order(self.taken));
        skipped.count() as u32
    }
}

/// An interleaving, decision by decision.
pub(crate) type Interleaving = Vec<Step>;

/// Returns the task of each step.
pub(crate) fn path(interleaving: &Interleaving) -> Vec<u32> {
    interleaving.iter().map(|step| step.taken).collect()
}

/// Returns every interleaving; `None` if there are too many.
pub(crate) fn enumerate(program: &Program) -> Option<Vec<Interleaving>> {
    fn go(
        program: &Program,
        state: &State,
        path: &mut Interleaving,
        found: &mut Vec<Interleaving>,
    ) -> Option<()> {
        let enabled: Vec<u32> = (1..=program.0.len() as u32)
            .filter(|&task| state.enabled(program, task as usize - 1))
            .collect();
        if enabled.is_empty() {
            found.push(path.clone());
            return (found.len() <= INTERLEAVINGS_MAX).then_some(());
        }
        let last = path.last().map_or(0, |step| step.taken);
        let next_of_last = (last != 0)
            .then(|| {
                program.0[last as usize - 1]
                    .get(state.at[last as usize - 1])
                    .copied()
            })
            .flatten();
        let locks_of_last = last.checked_sub(1).map_or(Vec::new(), |last| {
            state.held[last as usize]
                .iter()
                .flatten()
                .copied()
                .collect::<Vec<usize>>()
        });
        for &taken in &enabled {
            let mut next = state.clone();
            next.step(program, taken as usize - 1);
            path.push(Step {
                last,
                next_of_last,
                locks_of_last: locks_of_last.clone(),
                enabled: enabled.clone(),
                taken,
            });
            go(program, &next, path, found)?;
            path.pop();
        }
        Some(())
    }
    let state = State::begin(program.0.len());
    let mut found = Vec::new();
    go(program, &state, &mut Vec::new(), &mut found)?;
    Some(found)
}

/// The locks that a task holds, by index, innermost last; `None` for an attempt that failed.
pub(crate) type Held<'a> = Vec<Option<(usize, MutexGuard<'a, ()>)>>;

/// The objects on which the engine runs the program.
pub(crate) struct Objects {
    atomics: [AtomicUsize; 2],
    locks: [Mutex<()>; 2],
}

impl Objects {
    /// Returns the locks that a task holds, innermost last.
    pub(crate) fn held_locks(held: &Held<'_>) -> Vec<usize> {
        held.iter().flatten().map(|(lock, _)| *lock).collect()
    }

    /// Performs one operation of a task that holds these locks.
    #[track_caller]
    pub(crate) fn perform<'a>(&'a self, op: Op, held: &mut Held<'a>) {
        match op {
            Op::Load(at) => drop(self.atomics[at].load(SeqCst)),
            Op::Store(at) => self.atomics[at].store(1, SeqCst),
            Op::Add(at) => drop(self.atomics[at].fetch_add(1, SeqCst)),
            Op::Lock(at) => held.push(self.locks[at].lock().ok().map(|guard| (at, guard))),
            Op::TryLock(at) => held.push(self.locks[at].try_lock().ok().map(|guard| (at, guard))),
            Op::Unlock => drop(held.pop()),
        }
    }
}

/// A function that performs one operation.
pub(crate) type Perform = for<'a> fn(&'a Objects, Op, &mut Held<'a>);

/// Runs the program.
pub(crate) fn run(program: &Program) {
    run_with(program, Objects::perform);
}

/// Runs the program, with `perform` for each operation.
pub(crate) fn run_with(program: &Program, perform: Perform) {
    let objects = Objects {
        atomics: [AtomicUsize::new(0), AtomicUsize::new(0)],
        locks: [Mutex::new(()), Mutex::new(())],
    };
    thread::scope(|scope| {
        for ops in &program.0 {
            let objects = &objects;
            scope.spawn(move || {
                let mut held = Vec::new();
                for op in ops {
                    perform(objects, *op, &mut held);
                }
            });
        }
    });
}

/// Checks this many random programs, the same ones each time.
pub(crate) fn check_programs(programs: u64, check: fn(Program) -> TestResult) {
    let generator = Gen::from_size_and_seed(8, 2026);
    QuickCheck::new()
        .rng(generator)
        .tests(programs)
        .max_tests(20 * programs)
        .min_tests_passed(programs)
        .quickcheck(check);
}
