//! Misuses of locks in random executions against the definitions, and second reads of random programs against brute
//! force: one is reported in some execution if and only if a lock that prefers writers deadlocks in some execution.

use intermezzo_monitors::Misuses;
use intermezzo_sdk::testing::Script;
use intermezzo_sdk::{MemoryOrder, SyncVar, SyncVarOp, TaskId};

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::{BTreeSet, HashSet};

const SEED: u64 = 0x0815;
const EXECUTIONS: u32 = 10_000;
const PROGRAMS: u32 = 1_000;

/// The operations that wait for something that no lock guards.
const WAITS: [SyncVarOp; 3] = [SyncVarOp::Park, SyncVarOp::Sleep, SyncVarOp::ChannelReceive];

/// Draws an execution of three tasks, two mutexes and two condition variables. Returns it, and the findings that the
/// definitions want, each by a word of its message and the place of the operation.
fn draw(random: &mut Xoshiro256PlusPlus) -> (Script, BTreeSet<(&'static str, usize)>) {
    let mut script = Script::new();
    let mutexes = ["a", "b"].map(|name| script.var(name));
    let condvars = ["c", "d"].map(|name| script.var(name));
    let other = script.var("other");
    let tasks: Vec<TaskId> = (0..2).map(|_| script.fork(Script::MAIN)).collect();
    let tasks = [Script::MAIN, tasks[0], tasks[1]];
    let mut owners: [Option<TaskId>; 2] = [None, None];
    let mut first_mutex: [Option<usize>; 2] = [None, None];
    let mut wanted = BTreeSet::new();
    // A task that waits does nothing until it is woken, and then takes its mutex.
    let mut waiting: Vec<(TaskId, usize, usize)> = Vec::new();
    for _ in 0..random.random_range(3..=14) {
        let task = tasks[random.random_range(0..tasks.len())];
        let (mutex, condvar) = (random.random_range(0..2), random.random_range(0..2));
        let place = script.events().len();
        if let Some(at) = waiting.iter().position(|&(waiter, ..)| waiter == task) {
            let (_, condvar, mutex) = waiting[at];
            if owners[mutex].is_none() {
                waiting.remove(at);
                script.operation(task, SyncVarOp::CondvarWake, condvars[condvar]);
                script.lock(task, mutexes[mutex]);
                owners[mutex] = Some(task);
            }
            continue;
        }
        match random.random_range(0..10) {
            0..4 if owners[mutex].is_none() => {
                script.lock(task, mutexes[mutex]);
                owners[mutex] = Some(task);
            }
            4..6 if owners[mutex] == Some(task) || random.random_range(0..8) == 0 => {
                script.unlock(task, mutexes[mutex]);
                if owners[mutex] == Some(task) {
                    owners[mutex] = None;
                } else {
                    // Such a release has no effect here: the holder still has the lock.
                    wanted.insert(("does not hold", place));
                }
            }
            6 | 7 if owners[mutex] == Some(task) => {
                if *first_mutex[condvar].get_or_insert(mutex) != mutex {
                    wanted.insert(("two mutexes", place));
                }
                if owners[1 - mutex] == Some(task) {
                    wanted.insert(("while it waits", place));
                }
                let of = u64::from(mutexes[mutex].0);
                script.sync(
                    task,
                    SyncVarOp::CondvarWait,
                    condvars[condvar],
                    MemoryOrder::None,
                    0,
                    of,
                );
                owners[mutex] = None;
                waiting.push((task, condvar, mutex));
            }
            8 => {
                if owners.contains(&Some(task)) {
                    wanted.insert(("while it waits", place));
                }
                script.operation(task, WAITS[random.random_range(0..WAITS.len())], other);
            }
            _ => {}
        }
    }
    (script, wanted)
}

#[test]
fn locks_are_judged_as_the_definitions_say() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let mut counts = [0; 3];
    const WORDS: [&str; 3] = ["does not hold", "two mutexes", "while it waits"];
    for number in 0..EXECUTIONS {
        let (script, wanted) = draw(&mut random);
        let mut found = BTreeSet::new();
        for report in script.play(&mut Misuses::new()) {
            let message = &report.message;
            let word = WORDS
                .iter()
                .find(|word| message.contains(**word))
                .expect("a known kind");
            // The place of the operation is the last one that is named.
            let place = message.rsplit("script:").next().expect("a place");
            let digits: String = place.chars().take_while(char::is_ascii_digit).collect();
            found.insert((*word, digits.parse().expect("a number")));
        }
        assert_eq!(
            found,
            wanted,
            "execution {number} of seed {SEED:#x}: {:?}",
            script.events()
        );
        for (count, word) in counts.iter_mut().zip(WORDS) {
            *count += wanted.iter().filter(|(of, _)| *of == word).count();
        }
    }
    assert!(counts.iter().all(|&count| count > 50), "{counts:?}");
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Read,
    Unread,
    Write,
    Unwrite,
}

type Program = Vec<Vec<Op>>;

/// Draws sections of one lock: writes, and reads that may be nested.
fn task(random: &mut Xoshiro256PlusPlus) -> Vec<Op> {
    let (mut ops, mut shares) = (Vec::new(), 0);
    for _ in 0..random.random_range(1..=4) {
        match random.random_range(0..3) {
            0 if shares == 0 => ops.extend([Op::Write, Op::Unwrite]),
            1 if shares > 0 => {
                shares -= 1;
                ops.push(Op::Unread);
            }
            _ if shares < 2 => {
                shares += 1;
                ops.push(Op::Read);
            }
            _ => {}
        }
    }
    ops.extend((0..shares).map(|_| Op::Unread));
    ops
}

/// The progress of each task, and `true` for those that asked to write and have to wait; the shares of the lock, and
/// whether it is held exclusively.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    tasks: Vec<(usize, bool)>,
    shares: u32,
    written: bool,
}

impl State {
    fn new(tasks: usize) -> State {
        State {
            tasks: vec![(0, false); tasks],
            shares: 0,
            written: false,
        }
    }

    /// Returns the next state by a step of this task. If writers are preferred, a reader waits while a writer does.
    fn after(&self, program: &Program, task: usize, prefers_writers: bool) -> Option<State> {
        let (at, waits) = self.tasks[task];
        let op = *program[task].get(at)?;
        let mut next = self.clone();
        next.tasks[task] = (at + 1, false);
        let writer_waits = prefers_writers && self.tasks.iter().any(|&(_, waits)| waits);
        match op {
            Op::Read if !self.written && !writer_waits => next.shares += 1,
            Op::Read => return None,
            Op::Write if !self.written && self.shares == 0 => next.written = true,
            Op::Write if prefers_writers && !waits => next.tasks[task] = (at, true),
            Op::Write => return None,
            Op::Unread => next.shares -= 1,
            Op::Unwrite => next.written = false,
        }
        Some(next)
    }

    fn is_over(&self, program: &Program) -> bool {
        self.tasks
            .iter()
            .zip(program)
            .all(|(&(at, _), ops)| at == ops.len())
    }
}

/// `true` if some execution deadlocks with a lock that prefers writers.
fn deadlocks(program: &Program) -> bool {
    let (mut seen, mut open) = (HashSet::new(), vec![State::new(program.len())]);
    while let Some(state) = open.pop() {
        if !seen.insert(state.clone()) {
            continue;
        }
        let steps = (0..program.len()).filter_map(|task| state.after(program, task, true));
        let next: Vec<State> = steps.collect();
        if next.is_empty() && !state.is_over(program) {
            return true;
        }
        open.extend(next);
    }
    false
}

/// Calls a function with every execution under a lock that admits readers whenever it can.
fn each_execution(
    program: &Program,
    state: &State,
    script: &Script,
    lock: SyncVar,
    call: &mut dyn FnMut(&Script),
) {
    if state.is_over(program) {
        return call(script);
    }
    for task in 0..program.len() {
        if let Some(next) = state.after(program, task, false) {
            let mut script = script.clone();
            let op = match program[task][state.tasks[task].0] {
                Op::Read => SyncVarOp::SharedAcquire,
                Op::Unread => SyncVarOp::SharedRelease,
                Op::Write => SyncVarOp::LockAcquire,
                Op::Unwrite => SyncVarOp::LockRelease,
            };
            script.operation(TaskId(task as u32 + 1), op, lock);
            each_execution(program, &next, &script, lock, call);
        }
    }
}

#[test]
fn a_second_read_is_reported_if_and_only_if_a_lock_that_prefers_writers_deadlocks() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let mut deadlocking = 0;
    for number in 0..PROGRAMS {
        let program: Program = (0..random.random_range(2..=3))
            .map(|_| task(&mut random))
            .collect();
        // Enough to compare, and few enough to run.
        if program.iter().map(Vec::len).sum::<usize>() > 10 {
            continue;
        }
        let expected = deadlocks(&program);
        let mut script = Script::new();
        let lock = script.var("lock");
        program.iter().for_each(|_| _ = script.fork(Script::MAIN));
        let mut found = false;
        each_execution(
            &program,
            &State::new(program.len()),
            &script,
            lock,
            &mut |execution| {
                found = found || !execution.play(&mut Misuses::new()).is_empty();
            },
        );
        assert_eq!(found, expected, "program {number} of seed {SEED:#x}: {program:?}");
        deadlocking += u32::from(expected);
    }
    assert!(
        deadlocking > PROGRAMS / 20,
        "{deadlocking} of {PROGRAMS} programs deadlock"
    );
}
