//! What published programs use and std has not: semaphores and events, built over a mutex and a condition
//! variable as a user would; and sets of settings.
//!
//! Each operation is then a section under a lock, so that programs over these have more traces than their
//! originals, in which an operation is one step.

use intermezzo::sync::{Condvar, Mutex};

/// At most 2 preemptions; nothing happens unasked, because the published programs know no spurious wake-ups.
pub(super) const CALM_2: &[(&str, &str)] = &[
    ("preemptions", "2"),
    ("spurious_wakeups", "0"),
    ("timeouts", "0"),
    ("notify_any", "false"),
];

/// As [`CALM_2`], with at most 3 preemptions: the last bound in CHESS's own table.
pub(super) const CALM_3: &[(&str, &str)] = &[
    ("preemptions", "3"),
    ("spurious_wakeups", "0"),
    ("timeouts", "0"),
    ("notify_any", "false"),
];

/// A counting semaphore.
pub(super) struct Semaphore {
    permits: Mutex<usize>,
    released: Condvar,
}

impl Semaphore {
    pub(super) fn new(permits: usize) -> Semaphore {
        Semaphore {
            permits: Mutex::new(permits),
            released: Condvar::new(),
        }
    }

    /// Waits for a permit and takes it.
    pub(super) fn wait(&self) {
        let permits = self.permits.lock().unwrap();
        *self
            .released
            .wait_while(permits, |permits| *permits == 0)
            .unwrap() -= 1;
    }

    /// Adds permits.
    pub(super) fn release(&self, count: usize) {
        *self.permits.lock().unwrap() += count;
        self.released.notify_all();
    }
}

/// What becomes of an event when a wait for it is over.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reset {
    /// It stays set.
    Manual,
    /// It is reset: one waiter goes on.
    Automatic,
}

/// Events that can be waited for one by one or together: they share a lock.
pub(super) struct Events<const N: usize> {
    set: Mutex<[bool; N]>,
    changed: Condvar,
    reset: [Reset; N],
}

impl<const N: usize> Events<N> {
    /// Events that are not set.
    pub(super) fn new(reset: [Reset; N]) -> Events<N> {
        Events {
            set: Mutex::new([false; N]),
            changed: Condvar::new(),
            reset,
        }
    }

    pub(super) fn set(&self, event: usize) {
        self.set.lock().unwrap()[event] = true;
        self.changed.notify_all();
    }

    /// Waits for one event.
    pub(super) fn wait(&self, event: usize) {
        let set = self.set.lock().unwrap();
        let mut set = self.changed.wait_while(set, |set| !set[event]).unwrap();
        set[event] = self.reset[event] == Reset::Manual;
    }

    /// Waits until one of the events is set; the first that is.
    pub(super) fn wait_any(&self) -> usize {
        let set = self.set.lock().unwrap();
        let mut set = self.changed.wait_while(set, |set| !set.contains(&true)).unwrap();
        let first = set.iter().position(|&set| set).expect("one is set");
        set[first] = self.reset[first] == Reset::Manual;
        first
    }
}
