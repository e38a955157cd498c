//! Random small programs for monitors to judge.

use crate::memory::Memory;
use intermezzo::atomically;
use intermezzo::cell::Cell;
use intermezzo::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo::sync::mpsc::{Receiver, Sender, channel};
use intermezzo::sync::{Arc, Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
use intermezzo::thread;
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

/// One operation.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Load(usize),
    Store(usize),
    Add(usize),
    /// Takes a mutex, unless the task holds it, and writes the cell in it.
    Lock(usize),
    TryLock(usize),
    /// Takes the reader-writer lock to read, or to write, unless the task already holds it.
    Read,
    Write,
    /// Releases the lock that was taken last.
    Release,
    /// Waits, if the mutex of the condition variable was taken last: once, or until the atomic is not 0.
    Wait,
    WaitUntil,
    /// Sets the atomic, and notifies.
    Notify,
    Send,
    /// Receives, if this task has the receiver.
    TryReceive,
    /// Clones an `Arc`, and drops the clone at once.
    Clone,
    /// Uses the memory, or releases it.
    Touch(bool),
    Free,
    Yield,
    Choose,
    /// A block meant to be atomic.
    Block(Vec<Op>),
}

/// The main subject of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Locks,
    Atomics,
    Waiting,
    Memory,
    Mixed,
}

/// The operations of each task; and `true` if the first, which creates the others, joins them.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    tasks: Vec<Vec<Op>>,
    joins: bool,
}

/// Draws a random program.
pub(crate) fn draw(random: &mut Xoshiro256PlusPlus, family: Family) -> Program {
    let count = random.random_range(2..=3);
    let most = if count == 2 { 5 } else { 3 };
    let mut task = || {
        let mut ops = Vec::new();
        let length = random.random_range(1..=most);
        while ops.len() < length {
            operation(random, family, &mut ops);
        }
        ops
    };
    Program {
        tasks: (0..count).map(|_| task()).collect(),
        joins: random.random_range(0..4) > 0,
    }
}

fn operation(random: &mut Xoshiro256PlusPlus, family: Family, ops: &mut Vec<Op>) {
    let which = random.random_range(0..2);
    let family = match family {
        Family::Mixed => {
            [Family::Locks, Family::Atomics, Family::Waiting, Family::Memory][random.random_range(0..4)]
        }
        family => family,
    };
    match (family, random.random_range(0..10)) {
        (Family::Locks, 0..5) => ops.push(Op::Lock(which)),
        (Family::Locks, 5) => ops.push(Op::Read),
        (Family::Locks, 6) => ops.push(Op::Write),
        (Family::Locks, 7) => ops.push(Op::TryLock(which)),
        (Family::Locks, _) => ops.push(Op::Release),
        (Family::Waiting, 0..2) => ops.extend([Op::Lock(0), Op::Wait]),
        (Family::Waiting, 2) => ops.extend([Op::Lock(0), Op::WaitUntil, Op::Release]),
        (Family::Waiting, 3..6) => ops.push(Op::Notify),
        (Family::Waiting, 6..8) => ops.push(Op::Send),
        (Family::Waiting, _) => ops.push(Op::TryReceive),
        (Family::Memory, 0..4) => ops.extend([Op::Store(which), Op::Touch(which == 0)]),
        (Family::Memory, 4 | 5) => ops.extend([Op::Store(which), Op::Free]),
        (Family::Memory, 6) => ops.push(Op::Lock(which)),
        (Family::Memory, 7) => ops.push(Op::Release),
        (Family::Memory, 8) => ops.push(Op::Load(which)),
        (Family::Memory, _) => ops.push(Op::Store(which)),
        (_, 0) => ops.push(Op::Add(which)),
        (_, 1) => ops.push(Op::Load(which)),
        (_, 2) => ops.push(Op::Store(which)),
        (_, 3) => ops.push(Op::Clone),
        (_, 4) => ops.push([Op::Yield, Op::Choose][which].clone()),
        (_, 5 | 6) => ops.push(Op::Block(vec![Op::Load(which), Op::Store(which)])),
        _ => {
            let other = random.random_range(0..2);
            ops.push(Op::Block(vec![Op::Store(which), Op::Load(other)]));
        }
    }
}

/// The shared state of all tasks.
struct Shared {
    atomics: [AtomicUsize; 2],
    mutexes: [Mutex<Cell<u32>>; 2],
    lock: RwLock<()>,
    condvar: Condvar,
    memory: Memory,
}

/// A lock that a task holds; for a mutex, with its number.
enum Held<'a> {
    Mutex(usize, MutexGuard<'a, Cell<u32>>),
    Read(#[expect(dead_code, reason = "it is held")] RwLockReadGuard<'a, ()>),
    Write(#[expect(dead_code, reason = "it is held")] RwLockWriteGuard<'a, ()>),
}

/// A running task.
struct Task<'a> {
    shared: &'a Arc<Shared>,
    sender: Sender<u32>,
    receiver: Option<Receiver<u32>>,
    held: Vec<Held<'a>>,
}

impl<'a> Task<'a> {
    fn holds_mutex(&self, which: usize) -> bool {
        self.held
            .iter()
            .any(|held| matches!(held, Held::Mutex(mutex, _) if *mutex == which))
    }

    fn holds_share(&self) -> bool {
        self.held.iter().any(|held| !matches!(held, Held::Mutex(..)))
    }

    /// Passes the mutex of the condition variable to `wait`, if it was taken last.
    fn wait(&mut self, wait: impl FnOnce(MutexGuard<'a, Cell<u32>>) -> MutexGuard<'a, Cell<u32>>) {
        match self.held.pop() {
            Some(Held::Mutex(0, guard)) => self.held.push(Held::Mutex(0, wait(guard))),
            other => self.held.extend(other),
        }
    }

    fn perform(&mut self, op: &Op) {
        let shared: &'a Shared = self.shared;
        let Shared {
            atomics,
            mutexes,
            lock,
            condvar,
            memory,
        } = shared;
        match op {
            Op::Load(which) => {
                atomics[*which].load(SeqCst);
            }
            Op::Store(which) => atomics[*which].store(1, SeqCst),
            Op::Add(which) => {
                atomics[*which].fetch_add(1, SeqCst);
            }
            Op::Lock(which) if !self.holds_mutex(*which) => {
                let guard = mutexes[*which].lock().expect("nobody panics");
                guard.set(guard.get() + 1);
                self.held.push(Held::Mutex(*which, guard));
            }
            Op::TryLock(which) if !self.holds_mutex(*which) => {
                let taken = mutexes[*which].try_lock().ok();
                self.held.extend(taken.map(|guard| Held::Mutex(*which, guard)));
            }
            Op::Read if !self.holds_share() => {
                let guard = lock.read().expect("nobody panics");
                self.held.push(Held::Read(guard));
            }
            Op::Write if !self.holds_share() => {
                let guard = lock.write().expect("nobody panics");
                self.held.push(Held::Write(guard));
            }
            Op::Lock(_) | Op::TryLock(_) | Op::Read | Op::Write => {}
            Op::Release => drop(self.held.pop()),
            Op::Wait => self.wait(|guard| condvar.wait(guard).expect("nobody panics")),
            Op::WaitUntil => self.wait(|mut guard| {
                while atomics[0].load(SeqCst) == 0 {
                    guard = condvar.wait(guard).expect("nobody panics");
                }
                guard
            }),
            Op::Notify => {
                atomics[0].store(1, SeqCst);
                condvar.notify_all();
            }
            // The receiver may have been dropped.
            Op::Send => drop(self.sender.send(1)),
            Op::TryReceive => {
                let _received = self.receiver.as_ref().map(|receiver| receiver.try_recv());
            }
            Op::Clone => drop(Arc::clone(self.shared)),
            Op::Touch(true) => memory.write(),
            Op::Touch(false) => memory.read(),
            Op::Free => memory.give_back(),
            Op::Yield => thread::yield_now(),
            Op::Choose => {
                intermezzo::any_bool();
            }
            Op::Block(ops) => atomically("block", || ops.iter().for_each(|op| self.perform(op))),
        }
    }
}

/// Runs a program: the test's own body is its first task.
pub(crate) fn run(program: &Program) {
    let shared = Arc::new(Shared {
        atomics: [AtomicUsize::new(0), AtomicUsize::new(0)],
        mutexes: [Mutex::new(Cell::new(0)), Mutex::new(Cell::new(0))],
        lock: RwLock::new(()),
        condvar: Condvar::new(),
        memory: Memory::new(),
    });
    let (sender, receiver) = channel();
    let act = |ops: &[Op], shared: &Arc<Shared>, sender, receiver| {
        let mut task = Task {
            shared,
            sender,
            receiver,
            held: Vec::new(),
        };
        ops.iter().for_each(|op| task.perform(op));
    };
    let others = program.tasks[1..].iter().map(|ops| {
        let (ops, shared, sender) = (ops.clone(), shared.clone(), sender.clone());
        thread::spawn(move || act(&ops, &shared, sender, None))
    });
    let handles: Vec<_> = others.collect();
    act(&program.tasks[0], &shared, sender, Some(receiver));
    for handle in handles {
        if program.joins {
            handle.join().expect("nobody panics");
        }
    }
}
