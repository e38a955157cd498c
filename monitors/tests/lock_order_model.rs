//! Lock orders of random programs against brute force: a ring is reported if and only if some interleaving deadlocks.
//!
//! That holds for tasks that run side by side, take locks in nested order and wait for nothing else, with no reads
//! that decide their actions: locks and shares of reader-writer locks, no `try_lock`. With a `try_lock` the monitor
//! may report a false positive. The oracle knows nothing of rings: it tries every state that can be reached.

use intermezzo_monitors::LockOrder;
use intermezzo_sdk::SyncVarOp;
use intermezzo_sdk::testing::Script;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::HashSet;

const SEED: u64 = 0x10c5;
const PROGRAMS: u32 = 10_000;
const LOCKS: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Lock(usize),
    Read(usize),
    Unlock(usize),
    Unread(usize),
}

type Program = Vec<Vec<Op>>;

/// Returns nested sections: each releases, in turn, what it took.
fn task(random: &mut Xoshiro256PlusPlus) -> Vec<Op> {
    let mut ops = Vec::new();
    let mut held: Vec<Op> = Vec::new();
    for _ in 0..random.random_range(2..=5) {
        let lock = random.random_range(0..LOCKS);
        let holds = |op: &Op| matches!(op, Op::Lock(held) | Op::Read(held) if *held == lock);
        if held.iter().any(holds) || held.len() == LOCKS || random.random_range(0..4) == 0 {
            ops.extend(held.pop().map(release));
        } else {
            let taken = if random.random_range(0..3) == 0 {
                Op::Read(lock)
            } else {
                Op::Lock(lock)
            };
            ops.push(taken);
            held.push(taken);
        }
    }
    ops.extend(held.into_iter().rev().map(release));
    ops
}

fn release(op: Op) -> Op {
    match op {
        Op::Lock(lock) => Op::Unlock(lock),
        Op::Read(lock) => Op::Unread(lock),
        other => other,
    }
}

/// The progress of each task, and the holders of each lock: the number of shares, and whether it is held exclusively.
#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    at: Vec<usize>,
    locks: [(u32, bool); LOCKS],
}

impl State {
    fn new(tasks: usize) -> State {
        State {
            at: vec![0; tasks],
            locks: [(0, false); LOCKS],
        }
    }

    fn after(&self, program: &Program, task: usize) -> Option<State> {
        let op = program[task].get(self.at[task])?;
        let mut next = self.clone();
        next.at[task] += 1;
        match *op {
            Op::Lock(lock) if self.locks[lock] == (0, false) => next.locks[lock].1 = true,
            Op::Read(lock) if !self.locks[lock].1 => next.locks[lock].0 += 1,
            Op::Lock(_) | Op::Read(_) => return None,
            Op::Unlock(lock) => next.locks[lock].1 = false,
            Op::Unread(lock) => next.locks[lock].0 -= 1,
        }
        Some(next)
    }

    fn is_over(&self, program: &Program) -> bool {
        self.at.iter().zip(program).all(|(at, ops)| *at == ops.len())
    }
}

/// `true` if some interleaving deadlocks.
fn deadlocks(program: &Program) -> bool {
    let mut seen = HashSet::new();
    let mut open = vec![State::new(program.len())];
    while let Some(state) = open.pop() {
        if !seen.insert(state.clone()) {
            continue;
        }
        let next: Vec<State> = (0..program.len())
            .filter_map(|task| state.after(program, task))
            .collect();
        if next.is_empty() && !state.is_over(program) {
            return true;
        }
        open.extend(next);
    }
    false
}

/// A random complete execution.
fn execution(program: &Program, random: &mut Xoshiro256PlusPlus) -> Script {
    'again: loop {
        let mut script = Script::new();
        let locks: Vec<_> = (0..LOCKS)
            .map(|lock| script.var(&format!("lock {lock}")))
            .collect();
        let tasks: Vec<_> = program.iter().map(|_| script.fork(Script::MAIN)).collect();
        let mut state = State::new(program.len());
        while !state.is_over(program) {
            let able: Vec<(usize, State)> = (0..program.len())
                .filter_map(|task| Some((task, state.after(program, task)?)))
                .collect();
            if able.is_empty() {
                continue 'again;
            }
            let (task, next) = able[random.random_range(0..able.len())].clone();
            let (op, lock) = match program[task][state.at[task]] {
                Op::Lock(lock) => (SyncVarOp::LockAcquire, lock),
                Op::Read(lock) => (SyncVarOp::SharedAcquire, lock),
                Op::Unlock(lock) => (SyncVarOp::LockRelease, lock),
                Op::Unread(lock) => (SyncVarOp::SharedRelease, lock),
            };
            script.operation(tasks[task], op, locks[lock]);
            state = next;
        }
        return script;
    }
}

#[test]
fn a_ring_is_reported_if_and_only_if_there_is_a_deadlock() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let mut deadlocking = 0;
    for number in 0..PROGRAMS {
        let tasks = random.random_range(2..=3);
        let program: Program = (0..tasks).map(|_| task(&mut random)).collect();
        let expected = deadlocks(&program);
        let reports = execution(&program, &mut random).play(&mut LockOrder::new());
        assert_eq!(
            !reports.is_empty(),
            expected,
            "program {number} of seed {SEED:#x}: {program:?}: {reports:#?}"
        );
        deadlocking += u32::from(expected);
    }
    // Both happen often.
    assert!(
        (PROGRAMS / 10..PROGRAMS / 2).contains(&deadlocking),
        "{deadlocking} of {PROGRAMS} programs deadlock"
    );
}
