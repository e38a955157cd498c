//! Which programs are measured, and at which sizes.

use std::fmt;

/// A program of `kernels.rs`. What the sizes `a` and `b` mean is documented there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// Threads that do nothing: what spawning and joining costs, and whether it is branched on.
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
    /// Michael and Scott's queue.
    MichaelScott,
}

/// A kernel and its sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// The program.
    pub kernel: Kernel,
    /// Its number of threads, the main one not counted.
    pub a: usize,
    /// What each thread repeats; 1 where the kernel repeats nothing.
    pub b: usize,
}

impl Case {
    /// What the binary measures: each kernel at a size that every tool exhausts in seconds, where
    /// there is one, and at a size beyond what some of them exhaust within the default cap.
    /// `empty(6,1)` has more threads than loom can hold.
    pub const ALL: [Case; 15] = [
        Case::new(Kernel::Empty, 3, 1),
        Case::new(Kernel::Empty, 6, 1),
        Case::new(Kernel::Counter, 3, 2),
        Case::new(Kernel::Counter, 3, 3),
        Case::new(Kernel::Counter, 4, 3),
        Case::new(Kernel::RacyCounter, 3, 1),
        Case::new(Kernel::RacyCounter, 3, 2),
        Case::new(Kernel::MutexCounter, 3, 1),
        Case::new(Kernel::MutexCounter, 3, 2),
        Case::new(Kernel::StoreBuffer, 2, 1),
        Case::new(Kernel::StoreBuffer, 3, 1),
        Case::new(Kernel::Treiber, 2, 1),
        Case::new(Kernel::Treiber, 2, 2),
        Case::new(Kernel::MichaelScott, 2, 1),
        Case::new(Kernel::MichaelScott, 2, 2),
    ];

    /// A kernel at these sizes.
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
            Kernel::MichaelScott => "michael_scott",
        })
    }
}

/// `counter(3,2)`.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({},{})", self.kernel, self.a, self.b)
    }
}
