//! Random programs over atomics of either identity.

use super::{Atomic, ByAddress, Embedded};
use intermezzo_engine::runtime::Identity;
use intermezzo_explorer::thread;
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::ptr::without_provenance_mut;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::sync::{Arc, Mutex};

/// The places of a program's atomics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Heap,
    Stack,
    Static,
}

/// An operation. The number of an atomic is its index among the three of one byte.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    Load(usize),
    Store(usize, u8),
    Add(usize, u8),
    Exchange(usize, u8, u8),
    WeakExchange(usize, u8, u8),
    Wide(u64),
    Toggle,
    /// Stores this address, and reads the one before.
    Point(usize),
    /// Skips the next operation unless the last value read was this one.
    OnlyIf(u64),
}

/// The operations of each task, where the atomics are, and the sum of the bytes with which the test fails.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) place: Place,
    tasks: Vec<Vec<Op>>,
    fails_with: u8,
}

impl Program {
    pub(crate) fn draw(random: &mut Xoshiro256PlusPlus) -> Program {
        let tasks = random.random_range(2..=3);
        let longest = if tasks == 2 { 5 } else { 3 };
        let place = match random.random_range(0..3) {
            0 => Place::Heap,
            1 => Place::Stack,
            _ => Place::Static,
        };
        let tasks = (0..tasks)
            .map(|_| {
                (0..random.random_range(1..=longest))
                    .map(|_| draw_op(random))
                    .collect()
            })
            .collect();
        Program {
            place,
            tasks,
            fails_with: random.random_range(0..40),
        }
    }
}

fn draw_op(random: &mut Xoshiro256PlusPlus) -> Op {
    let at = random.random_range(0..3);
    let (a, b) = (random.random_range(0..3), random.random_range(0..3));
    match random.random_range(0..10) {
        0 | 1 => Op::Load(at),
        2 => Op::Store(at, a),
        3 => Op::Add(at, a),
        4 => Op::Exchange(at, a, b),
        5 => Op::WeakExchange(at, a, b),
        6 => Op::Wide(u64::from(a)),
        7 => Op::Toggle,
        8 => Op::Point(usize::from(a)),
        _ => Op::OnlyIf(u64::from(a)),
    }
}

/// The atomics of a program.
pub(crate) struct Shared<I: Identity> {
    /// Neighbours.
    bytes: [Atomic<u8, I>; 3],
    wide: Atomic<u64, I>,
    flag: Atomic<bool, I>,
    pointer: Atomic<*mut u8, I>,
}

impl<I: Identity> Shared<I> {
    const fn new() -> Shared<I> {
        Shared {
            bytes: [Atomic::new(0), Atomic::new(1), Atomic::new(2)],
            wide: Atomic::new(1 << 40),
            flag: Atomic::new(true),
            pointer: Atomic::new(without_provenance_mut(3)),
        }
    }

    /// Performs operations, and returns the values that they read.
    fn perform(&self, ops: &[Op]) -> Vec<u64> {
        let mut read = Vec::new();
        let mut is_skipped = false;
        for &op in ops {
            if std::mem::take(&mut is_skipped) {
                continue;
            }
            let either = |result: Result<u8, u8>| u64::from(result.unwrap_or_else(|other| other | 0x80));
            read.push(match op {
                Op::Load(at) => u64::from(self.bytes[at].load(Acquire)),
                Op::Store(at, value) => {
                    self.bytes[at].store(value, Release);
                    continue;
                }
                Op::Add(at, value) => u64::from(self.bytes[at].fetch_add(value, AcqRel)),
                Op::Exchange(at, from, to) => {
                    either(self.bytes[at].compare_exchange(from, to, SeqCst, Relaxed))
                }
                Op::WeakExchange(at, from, to) => {
                    either(self.bytes[at].compare_exchange_weak(from, to, SeqCst, Acquire))
                }
                Op::Wide(value) => self.wide.swap(value, Relaxed),
                Op::Toggle => u64::from(self.flag.fetch_not(SeqCst)),
                Op::Point(address) => {
                    self.pointer.swap(without_provenance_mut(address), SeqCst).addr() as u64
                }
                Op::OnlyIf(value) => {
                    is_skipped = read.last() != Some(&value);
                    continue;
                }
            });
        }
        read
    }

    fn sum(&self) -> u8 {
        self.bytes
            .iter()
            .fold(0, |sum, byte| sum.wrapping_add(byte.load(SeqCst)))
    }
}

/// An identity, and atomics with it in a static.
pub(crate) trait Family: Identity + Send + Sync + 'static {
    fn in_static() -> &'static Shared<Self>;
}

impl Family for Embedded {
    fn in_static() -> &'static Shared<Embedded> {
        static SHARED: Shared<Embedded> = Shared::new();
        &SHARED
    }
}

impl Family for ByAddress {
    fn in_static() -> &'static Shared<ByAddress> {
        static SHARED: Shared<ByAddress> = Shared::new();
        &SHARED
    }
}

/// The values that the tasks of an execution read, in the order of tasks.
pub(crate) type Outcome = Vec<Vec<u64>>;

/// Runs a program, and adds its outcome to a list.
pub(crate) fn execute<I: Family>(program: &Program, outcomes: &Mutex<Vec<Outcome>>) {
    let (first, others) = program.tasks.split_first().expect("a program has tasks");
    let (mut outcome, sum) = match program.place {
        Place::Heap => {
            let shared = Arc::new(Shared::<I>::new());
            let outcome = spawned(first, others, || shared.clone());
            (outcome, shared.sum())
        }
        Place::Static => {
            let outcome = spawned(first, others, I::in_static);
            (outcome, I::in_static().sum())
        }
        Place::Stack => {
            let shared = Shared::<I>::new();
            let outcome = thread::scope(|scope| {
                let tasks: Vec<_> = others
                    .iter()
                    .map(|ops| scope.spawn(|| shared.perform(ops)))
                    .collect();
                let mut outcome = vec![shared.perform(first)];
                outcome.extend(tasks.into_iter().map(|task| task.join().unwrap()));
                outcome
            });
            (outcome, shared.sum())
        }
    };
    outcome.push(vec![u64::from(sum)]);
    outcomes.lock().unwrap().push(outcome);
    assert_ne!(sum, program.fails_with, "the sum of the bytes");
}

/// Runs the first task, and spawns the others with what the closure gives.
fn spawned<I: Family, S: std::ops::Deref<Target = Shared<I>> + Send + 'static>(
    first: &[Op],
    others: &[Vec<Op>],
    shared: impl Fn() -> S,
) -> Outcome {
    let tasks: Vec<_> = others
        .iter()
        .map(|ops| {
            let (shared, ops) = (shared(), ops.clone());
            thread::spawn(move || shared.perform(&ops))
        })
        .collect();
    let mut outcome = vec![shared().perform(first)];
    outcome.extend(tasks.into_iter().map(|task| task.join().unwrap()));
    outcome
}
