//! Philosophers at table, who need two forks each.

use super::scaffold::number;
use super::support::{CALM_2, CALM_3};
use crate::{Body, Expected, Parameter, Program};
use intermezzo::sync::Mutex;
use intermezzo::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo::thread;
use std::mem::forget;
use std::time::Duration;

/// Two philosophers who put down what they cannot use.
pub(super) const TRYING: Program = Program {
    name: "diningphil",
    about: "two philosophers try for both forks, and else release the left one and sleep (CHESS)",
    parameters: &[],
    settings: CALM_3,
    expected: Expected::Pass,
    body: |_| {
        let forks = [Mutex::new(()), Mutex::new(())];
        let dine = |left: usize| {
            loop {
                if let Ok(left_fork) = forks[left].try_lock()
                    && let Ok(right_fork) = forks[1 - left].try_lock()
                {
                    drop(left_fork);
                    drop(right_fork);
                    break;
                }
                thread::sleep(Duration::from_millis(1));
            }
        };
        thread::scope(|scope| {
            scope.spawn(|| dine(1));
            dine(0);
        });
    },
};

const PHILOSOPHERS: &[Parameter] = &[Parameter {
    name: "philosophers",
    default: 3,
    range: (2, 8),
    about: "philosophers, and forks",
}];

/// Each has one fork and waits for the next.
pub(super) const BROKEN: Program = Program {
    name: "dining_philosophers",
    about: "philosophers who take the left fork, then the right one (Dijkstra)",
    parameters: PHILOSOPHERS,
    settings: &[],
    expected: Expected::Fail("deadlock"),
    body: |values| dine(values[0] as usize, |left, right| (left, right)),
};

/// Its twin, with forks taken in order.
pub(super) const FIXED: Program = Program {
    name: "dining_philosophers_fixed",
    about: "the same philosophers, who take the fork with the lower number first",
    parameters: PHILOSOPHERS,
    settings: &[],
    expected: Expected::Pass,
    body: |values| {
        dine(values[0] as usize, |left, right| {
            (left.min(right), left.max(right))
        })
    },
};

fn dine(philosophers: usize, order: fn(usize, usize) -> (usize, usize)) {
    let forks: Vec<Mutex<()>> = (0..philosophers).map(|_| Mutex::new(())).collect();
    thread::scope(|scope| {
        for left in 0..philosophers {
            let (first, second) = order(left, (left + 1) % philosophers);
            let (first, second) = (&forks[first], &forks[second]);
            scope.spawn(|| {
                let _first = first.lock().unwrap();
                let _second = second.lock().unwrap();
            });
        }
    });
}

/// The way in which the philosophers of SCTBench's `din_phil` programs count those who are done.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counting {
    /// Without a lock, as a load and a store.
    Racy,
    /// Under the table's lock.
    Locked,
    /// Under the table's lock, which they took again instead of releasing it before.
    LockedTwice,
}

/// Two of them.
pub(super) const DIN_PHIL2_SAT: Program =
    din_phil("din_phil2_sat", "assertion", RACY, |_| eat(2, Counting::Racy, 2));

/// Three of them.
pub(super) const DIN_PHIL3_SAT: Program =
    din_phil("din_phil3_sat", "assertion", RACY, |_| eat(3, Counting::Racy, 3));

/// Four of them.
pub(super) const DIN_PHIL4_SAT: Program =
    din_phil("din_phil4_sat", "assertion", RACY, |_| eat(4, Counting::Racy, 4));

/// Five of them.
pub(super) const DIN_PHIL5_SAT: Program = din_phil("din_phil5_sat", "assertion", LOCKED, |_| {
    eat(5, Counting::Locked, 5)
});

/// Six of them.
pub(super) const DIN_PHIL6_SAT: Program = din_phil("din_phil6_sat", "assertion", LOCKED, |_| {
    eat(6, Counting::Locked, 6)
});

/// Seven of them.
pub(super) const DIN_PHIL7_SAT: Program = din_phil("din_phil7_sat", "deadlock", LOCKED_TWICE, |_| {
    eat(7, Counting::LockedTwice, 7)
});

/// Any number of them, none of which is refused.
pub(super) const DIN_PHIL_FIXED: Program = Program {
    name: "din_phil_fixed",
    about: "the philosophers of the din_phil programs, who count under a lock, and none is refused",
    parameters: &[number("philosophers", 2, (2, 7), "philosophers, and forks")],
    settings: CALM_2,
    expected: Expected::Pass,
    body: |values| eat(values[0] as usize, Counting::Locked, values[0] as usize + 1),
};

const RACY: &str =
    "philosophers eat one at a time, and count without a lock; the last is refused (SCTBench CS)";
const LOCKED: &str =
    "philosophers eat one at a time, and count under a lock; the last is refused (SCTBench CS)";
const LOCKED_TWICE: &str = "philosophers who eat one at a time take the table's lock twice (SCTBench CS)";

const fn din_phil(name: &'static str, kind: &'static str, about: &'static str, body: Body) -> Program {
    Program {
        name,
        about,
        parameters: &[],
        settings: CALM_2,
        expected: Expected::Fail(kind),
        body,
    }
}

/// Lets philosophers eat. Each asserts that fewer than `refused` are done so far.
fn eat(philosophers: usize, counting: Counting, refused: usize) {
    let table = Mutex::new(());
    let forks: Vec<Mutex<()>> = (0..philosophers).map(|_| Mutex::new(())).collect();
    let done = AtomicUsize::new(0);
    let (table, forks, done) = (&table, &forks, &done);
    thread::scope(|scope| {
        for i in 0..philosophers {
            scope.spawn(move || {
                let seat = table.lock().unwrap();
                {
                    let _right = forks[(i + 1) % philosophers].lock().unwrap();
                    let _left = forks[i].lock().unwrap();
                }
                if counting == Counting::LockedTwice {
                    forget(seat);
                } else {
                    drop(seat);
                }
                let seat = (counting != Counting::Racy).then(|| table.lock().unwrap());
                done.store(done.load(SeqCst) + 1, SeqCst);
                drop(seat);
                assert!(done.load(SeqCst) != refused);
            });
        }
    });
}
