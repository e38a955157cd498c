//! A wake-up that is left out when no task seems to wait: the signal of CHESS's talks (Burckhardt & Musuvathi, CAV
//! 2008).

use super::scaffold::in_tasks;
use super::support::CALM_2;
use crate::{Expected, Program};
use intermezzo::sync::atomic::Ordering::{Acquire, Release, SeqCst};
use intermezzo::sync::atomic::{AtomicBool, Ordering};
use intermezzo::sync::{Condvar, Mutex};

/// The object that a consumer without work sleeps on.
struct Idle {
    is_idle: AtomicBool,
    has_work: AtomicBool,
    lock: Mutex<()>,
    woken: Condvar,
    /// The ordering of the stores to the two flags: each is set before the other is read.
    store: Ordering,
}

impl Idle {
    fn new(store: Ordering) -> Idle {
        Idle {
            is_idle: AtomicBool::new(false),
            has_work: AtomicBool::new(false),
            lock: Mutex::new(()),
            woken: Condvar::new(),
            store,
        }
    }

    /// Blocks the consumer until there is work.
    fn block_on_idle(&self) {
        let mut held = self.lock.lock().unwrap();
        self.is_idle.store(true, self.store);
        while !self.has_work.load(Acquire) {
            held = self.woken.wait(held).unwrap();
        }
        self.is_idle.store(false, self.store);
    }

    /// Signals that there is work. The producer takes the lock only if the consumer may sleep.
    fn notify_potential_work(&self) {
        self.has_work.store(true, self.store);
        if self.is_idle.load(Acquire) {
            let _held = self.lock.lock().unwrap();
            self.woken.notify_one();
        }
    }
}

fn run(store: Ordering) {
    let idle = Idle::new(store);
    in_tasks([&|| idle.block_on_idle(), &|| idle.notify_potential_work()]);
}

/// With store buffers, both may miss the other's flag, and the consumer sleeps for ever.
pub(super) const RELEASED: Program = Program {
    name: "idle_signal",
    about: "a producer wakes the consumer only if it sees it idle, by flags that release and acquire: right under \
            sequential consistency, a lost wake-up with store buffers (CHESS)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Pass,
    body: |_| run(Release),
};

/// Its twin, whose stores are seen before the task checks.
pub(super) const IN_ORDER: Program = Program {
    name: "idle_signal_sc",
    about: "the same with SeqCst stores: right with store buffers, too",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Pass,
    body: |_| run(SeqCst),
};
