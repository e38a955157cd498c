//! A semaphore: a number of permits, which are acquired and released. With one permit, it is a mutex.

use crate::specification::Sequential;

/// An operation of a semaphore.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// Acquires a permit; waits while there is none.
    Acquire,
    /// Acquires a permit if there is one.
    TryAcquire,
    /// Releases a permit, or adds one.
    Release,
}

/// A semaphore with an initial number of permits. Each operation returns `true` if it acquired or released a permit.
#[derive(Clone, Copy, Debug)]
pub struct Semaphore {
    permits: usize,
    most: Option<usize>,
}

impl Semaphore {
    /// Creates a semaphore with `permits` at first, and any number later.
    pub fn new(permits: usize) -> Semaphore {
        Semaphore { permits, most: None }
    }

    /// Creates a mutex that is free: one permit, and never more. Giving it back when it is free does nothing, and
    /// returns `false`.
    pub fn mutex() -> Semaphore {
        Semaphore {
            permits: 1,
            most: Some(1),
        }
    }
}

impl Sequential for Semaphore {
    type Call = Call;
    type Return = bool;
    type State = usize;

    fn initial(&self) -> usize {
        self.permits
    }

    fn apply(&self, state: &mut usize, call: &Call) -> Option<bool> {
        match call {
            Call::Acquire if *state == 0 => return None,
            Call::TryAcquire if *state == 0 => return Some(false),
            Call::Acquire | Call::TryAcquire => *state -= 1,
            Call::Release if self.most.is_some_and(|most| *state >= most) => return Some(false),
            Call::Release => *state += 1,
        }
        Some(true)
    }
}
