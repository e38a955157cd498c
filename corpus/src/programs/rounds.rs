//! Tasks that take mutexes, once or round after round.

use super::scaffold::{in_numbered_tasks, in_tasks, litmus, number, tasks};
use crate::{Expected, Parameter, Program};
use intermezzo::sync::Mutex;

/// Increments under one lock.
pub(super) const LOCKINC: Program = Program {
    name: "lockinc",
    about: "each task increments a number under a mutex",
    parameters: &[tasks(3, 16)],
    settings: &[],
    expected: Expected::Pass,
    body: |values| increments(values[0], 1),
};

/// The same, round after round.
pub(super) const MUTEX_NM: Program = Program {
    name: "mutex-nm",
    about: "each task increments a number under a mutex `rounds` times",
    parameters: &[tasks(2, 16), ROUNDS],
    settings: &[],
    expected: Expected::Pass,
    body: |values| increments(values[0], values[1]),
};

const ROUNDS: Parameter = number("rounds", 1, (1, 100), "sections of each");

fn increments(tasks: u64, rounds: u64) {
    let data = Mutex::new(0);
    in_numbered_tasks(0..tasks, |_| (0..rounds).for_each(|_| *data.lock().unwrap() += 1));
    assert_eq!(data.into_inner().unwrap(), tasks * rounds);
}

/// Two locks by turns.
pub(super) const MUTEX2_NM: Program = Program {
    name: "mutex2-nm",
    about: "task i takes lock (i + k) mod 2 in its round k of `rounds`",
    parameters: &[tasks(2, 16), ROUNDS],
    settings: &[],
    expected: Expected::Pass,
    body: |values| {
        let locks = [Mutex::new(()), Mutex::new(())];
        in_numbered_tasks(0..values[0], |task| {
            for round in 0..values[1] as usize {
                drop(locks[(task + round) % 2].lock().unwrap());
            }
        });
    },
};

/// Two locks, two orders.
pub(super) const ABBA: Program = Program {
    expected: Expected::Fail("deadlock"),
    ..litmus("abba", "lock a, b || lock b, a", |_| {
        let [a, b] = [Mutex::new(()), Mutex::new(())];
        let both = |first: &Mutex<()>, second: &Mutex<()>| {
            let _first = first.lock().unwrap();
            let _second = second.lock().unwrap();
        };
        in_tasks([&|| both(&a, &b), &|| both(&b, &a)]);
    })
};
