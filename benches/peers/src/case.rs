//! The programs that are measured, and their sizes.

use std::fmt;

/// A program of `kernels.rs`, which documents the meaning of the sizes `a` and `b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// Threads that do nothing, which shows the cost of spawning and joining, and if the tool branches on them.
    Empty,
    /// Atomic increments: every pair of them is dependent, so no reduction helps.
    Counter,
    /// Increments as a load and a store, which lose updates.
    RacyCounter,
    /// Increments under a lock.
    MutexCounter,
    /// Each thread writes its own variable, then reads its neighbour's.
    StoreBuffer,
    /// Treiber's stack.
    Treiber,
    /// The same, which reads by exchanges that fail.
    TreiberNewest,
    /// Michael and Scott's queue.
    MichaelScott,
    /// The same, which reads by exchanges that fail.
    MichaelScottNewest,
    /// Many reads against many stores; always four threads.
    Big0,
    /// Two threads that compute Fibonacci numbers together, and one that looks on.
    FibBench,
}

impl Kernel {
    /// Returns `true` if all tools run the same program: its shared variables are locks, or are accessed by operations
    /// that could also store. On a plain load, loom branches on the old values that it may read, and no other tool
    /// does.
    pub fn is_like_for_like(self) -> bool {
        match self {
            Kernel::Empty
            | Kernel::Counter
            | Kernel::MutexCounter
            | Kernel::TreiberNewest
            | Kernel::MichaelScottNewest => true,
            Kernel::RacyCounter
            | Kernel::StoreBuffer
            | Kernel::Treiber
            | Kernel::MichaelScott
            | Kernel::Big0
            | Kernel::FibBench => false,
        }
    }
}

/// A kernel and its sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// The program.
    pub kernel: Kernel,
    /// Its number of threads, the main one not counted.
    pub a: usize,
    /// The number of repetitions in each thread; 1 if the kernel repeats nothing.
    pub b: usize,
}

impl Case {
    /// The cases that the binary measures: kernels that all tools run alike, at sizes that loom exhausts within a
    /// minute and at sizes that it does not; then those whose loads may read old values under loom.
    pub const ALL: [Case; 16] = [
        Case::new(Kernel::Empty, 4, 1),
        Case::new(Kernel::Counter, 3, 2),
        Case::new(Kernel::Counter, 3, 3),
        Case::new(Kernel::MutexCounter, 4, 1),
        Case::new(Kernel::MutexCounter, 3, 2),
        Case::new(Kernel::MutexCounter, 4, 2),
        Case::new(Kernel::TreiberNewest, 2, 1),
        Case::new(Kernel::TreiberNewest, 2, 2),
        Case::new(Kernel::MichaelScottNewest, 2, 1),
        Case::new(Kernel::MichaelScottNewest, 3, 1),
        Case::new(Kernel::StoreBuffer, 3, 1),
        Case::new(Kernel::RacyCounter, 3, 1),
        Case::new(Kernel::Treiber, 2, 2),
        Case::new(Kernel::MichaelScott, 3, 1),
        Case::new(Kernel::Big0, 4, 1),
        Case::new(Kernel::FibBench, 3, 5),
    ];

    /// Returns a kernel at these sizes.
    pub const fn new(kernel: Kernel, a: usize, b: usize) -> Self {
        Case { kernel, a, b }
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kernel::Empty => "empty",
            Kernel::Counter => "counter",
            Kernel::RacyCounter => "racy_counter",
            Kernel::MutexCounter => "mutex_counter",
            Kernel::StoreBuffer => "store_buffer",
            Kernel::Treiber => "treiber",
            Kernel::TreiberNewest => "treiber_newest",
            Kernel::MichaelScott => "michael_scott",
            Kernel::MichaelScottNewest => "michael_scott_newest",
            Kernel::Big0 => "big0",
            Kernel::FibBench => "fib_bench",
        })
    }
}

/// `counter(3,2)`.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({},{})", self.kernel, self.a, self.b)
    }
}
