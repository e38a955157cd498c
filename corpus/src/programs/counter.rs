//! Increments of one atomic.

use crate::{Expected, Parameter, Program};
use intermezzo::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo::thread;

/// Tasks that each increment one atomic: every interleaving is a different trace.
pub(super) const COUNTER: Program = Program {
    name: "counter",
    about: "each of `tasks` tasks increments one SeqCst atomic `increments` times",
    parameters: &[
        Parameter {
            name: "tasks",
            default: 3,
            range: (1, 300),
            about: "tasks beside the main one",
        },
        Parameter {
            name: "increments",
            default: 2,
            range: (1, 1000),
            about: "increments of each",
        },
    ],
    settings: &[],
    expected: Expected::Pass,
    body: |values| {
        let &[tasks, increments] = values else {
            unreachable!("two parameters")
        };
        let n = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..tasks {
                scope.spawn(|| {
                    for _ in 0..increments {
                        n.fetch_add(1, SeqCst);
                    }
                });
            }
        });
        assert_eq!(n.into_inner() as u64, tasks * increments);
    },
};
