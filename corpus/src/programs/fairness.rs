//! Tasks that poll: with a yield, which makes the schedule fair, and without.

use super::support::CALM_3;
use crate::{Expected, Program};
use intermezzo::sync::Mutex;
use intermezzo::sync::atomic::{AtomicBool, Ordering::SeqCst};
use intermezzo::thread;
use std::time::Duration;

const MILLISECOND: Duration = Duration::from_millis(1);

/// Executions that will not end are abandoned soon.
const SHORT: &[(&str, &str)] = &[("preemptions", "3"), ("steps", "200")];

/// Loops for ever, and yields each time.
pub(super) const FAIRNESS1: Program = Program {
    name: "fairness1",
    about: "main polls, with a yield, a flag that no task sets (CHESS); a livelock",
    parameters: &[],
    settings: SHORT,
    expected: Expected::Fail("livelock"),
    body: |_| {
        let done = AtomicBool::new(false);
        while !done.load(SeqCst) {
            thread::sleep(Duration::ZERO);
        }
    },
};

/// Ends under each fair schedule.
pub(super) const FAIRNESS2: Program = Program {
    name: "fairness2",
    about: "task 1 writes under a lock and sets a flag, task 2 polls it with a yield (CHESS)",
    parameters: &[],
    settings: CALM_3,
    expected: Expected::Pass,
    body: |_| poll(|| thread::sleep(Duration::ZERO)),
};

/// Task 2 starves task 1, under schedules that are not fair to it.
pub(super) const FAIRNESS3: Program = Program {
    name: "fairness3",
    about: "as fairness2 without the yield (CHESS): a loop that never gives way",
    parameters: &[],
    settings: SHORT,
    expected: Expected::Fail("unfair_spin"),
    body: |_| poll(|| ()),
};

fn poll(give_way: fn()) {
    let (a, done) = (Mutex::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            *a.lock().unwrap() = 1;
            done.store(true, SeqCst);
        });
        scope.spawn(|| {
            while !done.load(SeqCst) {
                give_way();
            }
        });
    });
    assert_eq!(a.into_inner().unwrap(), 1);
}

/// Polls under a lock.
pub(super) const FAIRNESS4: Program = Program {
    name: "fairness4",
    about: "task 1 sets a flag under a lock, task 2 polls it under the lock and sleeps outside (CHESS)",
    parameters: &[],
    settings: CALM_3,
    expected: Expected::Pass,
    body: |_| {
        let done = Mutex::new(false);
        thread::scope(|scope| {
            scope.spawn(|| *done.lock().unwrap() = true);
            scope.spawn(|| poll_under_lock(&done));
        });
    },
};

/// The same, by main.
pub(super) const TIMEOUT: Program = Program {
    name: "timeout",
    about: "child sets x under a lock, main polls it under the lock and sleeps outside (CHESS)",
    parameters: &[],
    settings: CALM_3,
    expected: Expected::Pass,
    body: |_| {
        let x = Mutex::new(false);
        thread::scope(|scope| {
            scope.spawn(|| *x.lock().unwrap() = true);
            poll_under_lock(&x);
        });
    },
};

fn poll_under_lock(flag: &Mutex<bool>) {
    let mut set = flag.lock().unwrap();
    while !*set {
        drop(set);
        thread::sleep(MILLISECOND);
        set = flag.lock().unwrap();
    }
}

/// Waits for two tasks, a little at a time.
pub(super) const JOIN_WAIT: Program = Program {
    name: "joinwait",
    about: "main waits in a loop for two tasks that take one lock each (CHESS); timed joins are checks and \
            sleeps here",
    parameters: &[],
    settings: CALM_3,
    expected: Expected::Pass,
    body: |_| {
        let n = Mutex::new(0);
        thread::scope(|scope| {
            let tasks = [(); 2].map(|()| scope.spawn(|| *n.lock().unwrap() += 1));
            for task in &tasks {
                while !task.is_finished() {
                    thread::sleep(MILLISECOND);
                }
            }
        });
        assert_eq!(n.into_inner().unwrap(), 2);
    },
};
