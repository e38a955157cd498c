//! Random straight-line programs with a few variables, and their execution.

use intermezzo::sync::atomic::{AtomicUsize, Ordering, fence};
use intermezzo::thread;
use rand::{Rng, RngExt};

/// The maximum number of variables.
pub(crate) const VARS: usize = 3;

/// An operation, on a variable by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Load(usize, Ordering),
    /// Relaxed, releasing or `SeqCst`.
    Store(usize, Ordering),
    /// A relaxed exchange.
    Swap(usize),
    /// A relaxed compare-exchange that fails.
    Failed(usize),
    Fence(Ordering),
}

/// A value that no variable ever has.
const NEVER: usize = usize::MAX;

impl Op {
    fn perform(self, vars: &[AtomicUsize; VARS]) {
        use Ordering::Relaxed;
        match self {
            Op::Load(var, order) => _ = vars[var].load(order),
            Op::Store(var, order) => vars[var].store(1, order),
            Op::Swap(var) => _ = vars[var].swap(1, Relaxed),
            Op::Failed(var) => _ = vars[var].compare_exchange(NEVER, 1, Relaxed, Relaxed),
            Op::Fence(order) => fence(order),
        }
    }

    /// Returns a load or a store, except for twelve of `of` draws.
    fn random(vars: usize, of: u32, random: &mut impl Rng) -> Op {
        use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
        let var = random.random_range(0..vars);
        let any = random.random_range(0..3);
        match random.random_range(0..of) {
            0..2 => Op::Store(var, SeqCst),
            2..4 => Op::Swap(var),
            4..6 => Op::Failed(var),
            6..9 => Op::Fence(SeqCst),
            9..12 => Op::Fence([Acquire, Release, AcqRel][any]),
            other if other % 2 == 0 => Op::Load(var, [Relaxed, Acquire, SeqCst][any]),
            _ => Op::Store(var, [Relaxed, Release, Relaxed][any]),
        }
    }
}

/// The operations of each task.
pub(crate) type Program = Vec<Vec<Op>>;

/// Draws two or three tasks of two operations or more, on one to three variables, with no more interleavings than this.
pub(crate) fn random(interleavings_max: u64, random: &mut impl Rng) -> Program {
    // Programs of three tasks have many more schedules.
    let tasks = [2, 2, 2, 3][random.random_range(0..4)];
    let lengths = loop {
        let lengths: Vec<u64> = (0..tasks).map(|_| random.random_range(2..=4)).collect();
        if interleavings(&lengths) <= interleavings_max {
            break lengths;
        }
    };
    // Buffers never have an effect with one variable, and often with two.
    let vars = [1, 2, 2, 2, 2, 2, 3, 3][random.random_range(0..8)];
    // Gives many vulnerable programs, and many that nearly are.
    let of = [100, 40][random.random_range(0..2)];
    let mut task = |length| (0..length).map(|_| Op::random(vars, of, random)).collect();
    lengths.into_iter().map(&mut task).collect()
}

/// Returns the number of schedules of tasks with these numbers of operations: a multinomial coefficient.
fn interleavings(lengths: &[u64]) -> u64 {
    let mut before = 0;
    let mut ways = 1;
    for length in lengths {
        for operation in 1..=*length {
            before += 1;
            ways = ways * before / operation;
        }
    }
    ways
}

/// Runs one execution of a program.
pub(crate) fn run(program: &Program) {
    let vars = [const { AtomicUsize::new(0) }; VARS];
    thread::scope(|scope| {
        for task in program {
            scope.spawn(|| task.iter().for_each(|op| op.perform(&vars)));
        }
    });
}
