//! Mutual exclusion by loads and stores alone: Dekker, Peterson, Lamport.

use super::scaffold::{flag, in_numbered_tasks, in_tasks, litmus, wait_until, zeros};
use super::support::CALM_2;
use crate::{Expected, Program};
use intermezzo::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use intermezzo::sync::atomic::{AtomicUsize, Ordering, fence};

/// Dekker's entry, with fences.
pub(super) const DEKKER_F: Program = litmus(
    "dekker_f",
    "two tasks announce themselves, and enter if the other has not: SeqCst fences in between",
    |_| dekker(|| fence(SeqCst)),
);

/// Dekker's entry without them: wrong in relaxed models.
pub(super) const DEKKER_RLX: Program = litmus(
    "dekker-rlx",
    "two tasks announce themselves, and enter if the other has not (relaxed)",
    |_| dekker(|| ()),
);

fn dekker(between: fn()) {
    let [x, y, c] = zeros();
    let enter = |mine: &AtomicUsize, other: &AtomicUsize, value| {
        mine.store(1, Relaxed);
        between();
        if other.load(Relaxed) == 0 {
            c.store(value, Relaxed);
            assert_eq!(c.load(Relaxed), value);
        }
    };
    in_tasks([&|| enter(&y, &x, 1), &|| enter(&x, &y, 0)]);
}

/// Peterson's algorithm by release and acquire: enough under sequential consistency only.
pub(super) const PETERSON: Program = Program {
    name: "peterson",
    about: "Peterson's algorithm, two tasks, which release and acquire",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Pass,
    body: |_| peterson(Release, Acquire),
};

/// Peterson's algorithm.
pub(super) const PETERSON_SC: Program = Program {
    name: "peterson-sc",
    about: "Peterson's algorithm, two tasks, all SeqCst",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Pass,
    body: |_| peterson(SeqCst, SeqCst),
};

/// Peterson's algorithm, in either way.
pub(super) const PETERSON_A: Program = Program {
    name: "peterson-a",
    about: "Peterson's algorithm, two tasks, one section each",
    parameters: &[flag(
        "seq_cst",
        "1: all accesses are SeqCst; 0: they release and acquire",
    )],
    settings: CALM_2,
    expected: Expected::Pass,
    body: |values| match values {
        [0] => peterson(Release, Acquire),
        _ => peterson(SeqCst, SeqCst),
    },
};

fn peterson(store: Ordering, load: Ordering) {
    let (flags, [turn, inside]) = (zeros::<2>(), zeros());
    in_numbered_tasks(0..2, |task| {
        let other = 1 - task;
        flags[task].store(1, store);
        turn.store(other, store);
        wait_until(|| flags[other].load(load) == 0 || turn.load(load) != other);
        inside.store(task + 1, Relaxed);
        assert_eq!(inside.load(Relaxed), task + 1);
        flags[task].store(0, store);
    });
}

/// Lamport's fast mutex (1987).
pub(super) const LAMPORT: Program = Program {
    name: "lamport",
    about: "Lamport's fast mutex, two tasks, all SeqCst; lock and unlock once",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Pass,
    body: |_| {
        const TASKS: usize = 2;
        let (contending, [x, y]) = (zeros::<TASKS>(), zeros());
        in_numbered_tasks(0..TASKS as u64, |task| {
            // 0 is no task.
            let me = task + 1;
            loop {
                contending[task].store(1, SeqCst);
                x.store(me, SeqCst);
                if y.load(SeqCst) != 0 {
                    contending[task].store(0, SeqCst);
                    wait_until(|| y.load(SeqCst) == 0);
                    continue;
                }
                y.store(me, SeqCst);
                if x.load(SeqCst) == me {
                    break;
                }
                contending[task].store(0, SeqCst);
                for other in &contending {
                    wait_until(|| other.load(SeqCst) == 0);
                }
                if y.load(SeqCst) == me {
                    break;
                }
                wait_until(|| y.load(SeqCst) == 0);
            }
            y.store(0, SeqCst);
            contending[task].store(0, SeqCst);
        });
    },
};
