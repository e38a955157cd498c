//! The objects of published programs that std lacks: semaphores and events; and sets of settings.
//!
//! An operation of an event is one step, as in the originals. Those of a semaphore are sections under a lock, as
//! a user would write them, so that programs over semaphores have more traces than their originals.

use super::scaffold::wait_until;
use intermezzo::sync::atomic::{AtomicBool, Ordering::SeqCst};
use intermezzo::sync::{Condvar, Mutex};

/// At most 2 preemptions, and no actions of the environment, because the published programs know no spurious
/// wake-ups.
pub(super) const CALM_2: &[(&str, &str)] = &[
    ("preemptions", "2"),
    ("environment", "spurious_wakeups=0,timeouts=0,notify_any=false"),
];

/// Like [`CALM_2`], with at most 3 preemptions: the last bound in CHESS's own table.
pub(super) const CALM_3: &[(&str, &str)] = &[
    ("preemptions", "3"),
    ("environment", "spurious_wakeups=0,timeouts=0,notify_any=false"),
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

/// The state of an event after a wait for it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reset {
    /// It stays set.
    Manual,
    /// It is reset: one waiter continues.
    Automatic,
}

/// A flag that tasks wait for.
pub(super) struct Event {
    set: AtomicBool,
    reset: Reset,
}

impl Event {
    /// Creates an event that is not set.
    pub(super) const fn new(reset: Reset) -> Event {
        Event {
            set: AtomicBool::new(false),
            reset,
        }
    }

    pub(super) fn set(&self) {
        self.set.store(true, SeqCst);
    }

    pub(super) fn wait(&self) {
        match self.reset {
            Reset::Manual => wait_until(|| self.set.load(SeqCst)),
            Reset::Automatic => {
                wait_until(|| self.set.compare_exchange(true, false, SeqCst, SeqCst).is_ok());
            }
        }
    }
}

/// Waits until one of the events, which stay set, is set. Returns the first that is. Each check is of all of them.
pub(super) fn wait_any<const N: usize>(events: &[Event; N]) -> usize {
    let mut first = None;
    wait_until(|| {
        let set = events.each_ref().map(|event| event.set.load(SeqCst));
        first = set.iter().position(|&set| set);
        first.is_some()
    });
    first.expect("one is set")
}
