//! Small buggy programs of SCTBench's CS, CB and Splash-2 suites. Their unlocked variables are SeqCst
//! atomics here.

use super::support::CALM_2;
use crate::{Expected, Parameter, Program};
use intermezzo::sync::Mutex;
use intermezzo::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering::SeqCst};
use intermezzo::thread;
use std::collections::VecDeque;
use std::sync::Arc;

/// The stop thread believes that nothing is pending.
pub(super) const BLUETOOTH_DRIVER_BAD: Program = Program {
    name: "bluetooth_driver_bad",
    about: "a request sees that the driver is not stopping, which it then does (SCTBench \
            CS.bluetooth_driver_bad)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("assertion"),
    body: |_| {
        let (stopping, event, stopped) = (
            AtomicBool::new(false),
            AtomicBool::new(false),
            AtomicBool::new(false),
        );
        let pending = AtomicI64::new(1);
        let finish = || {
            if pending.fetch_sub(1, SeqCst) == 1 {
                event.store(true, SeqCst);
            }
        };
        thread::scope(|scope| {
            scope.spawn(|| {
                stopping.store(true, SeqCst);
                finish();
                if event.load(SeqCst) {
                    stopped.store(true, SeqCst);
                }
            });
            if !stopping.load(SeqCst) {
                pending.fetch_add(1, SeqCst);
                // The driver works on the request: it must not be stopped meanwhile.
                assert!(!stopped.load(SeqCst));
                finish();
            }
        });
    },
};

/// Fails in most orders.
pub(super) const LAZY01_BAD: Program = Program {
    name: "lazy01_bad",
    about: "three tasks under one lock: data += 1; data += 2; assert data < 3 (SCTBench CS.lazy01_bad)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("assertion"),
    body: |_| {
        let data = Mutex::new(0);
        thread::scope(|scope| {
            scope.spawn(|| *data.lock().unwrap() += 1);
            scope.spawn(|| *data.lock().unwrap() += 2);
            scope.spawn(|| assert!(*data.lock().unwrap() < 3));
        });
    },
};

/// Two stores seen half done.
pub(super) const REORDER_3_BAD: Program = Program {
    name: "reorder_3_bad",
    about: "setters store a = 1, then b = -1; checkers want both or neither \
            (SCTBench CS.reorder_3_bad; 3, 4 and 9 setters are reorder_4, _5 and _10)",
    parameters: &[
        Parameter {
            name: "setters",
            default: 2,
            range: (1, 40),
            about: "tasks that store",
        },
        Parameter {
            name: "checkers",
            default: 1,
            range: (1, 10),
            about: "tasks that check",
        },
    ],
    settings: CALM_2,
    expected: Expected::Fail("assertion"),
    body: |values| {
        let &[setters, checkers] = values else {
            unreachable!("two parameters")
        };
        let (a, b) = (AtomicI64::new(0), AtomicI64::new(0));
        let is = |x, y| a.load(SeqCst) == x && b.load(SeqCst) == y;
        let (a, b, is) = (&a, &b, &is);
        thread::scope(|scope| {
            for _ in 0..setters {
                scope.spawn(|| {
                    a.store(1, SeqCst);
                    b.store(-1, SeqCst);
                });
            }
            for _ in 0..checkers {
                scope.spawn(|| assert!(is(0, 0) || is(1, -1)));
            }
        });
    },
};

/// Two variables under a lock each.
pub(super) const TWOSTAGE_BAD: Program = Program {
    name: "twostage_bad",
    about: "d1 is set under one lock and d2 under another; a reader comes in between \
            (SCTBench CS.twostage_bad; 10 of each are twostage_20)",
    parameters: &[
        Parameter {
            name: "writers",
            default: 1,
            range: (1, 20),
            about: "tasks that set",
        },
        Parameter {
            name: "readers",
            default: 1,
            range: (1, 20),
            about: "tasks that read",
        },
    ],
    settings: CALM_2,
    expected: Expected::Fail("assertion"),
    body: |values| {
        let &[writers, readers] = values else {
            unreachable!("two parameters")
        };
        let (d1, d2) = (&Mutex::new(0), &Mutex::new(0));
        thread::scope(|scope| {
            for _ in 0..writers {
                scope.spawn(|| {
                    *d1.lock().unwrap() = 1;
                    *d2.lock().unwrap() = 2;
                });
            }
            for _ in 0..readers {
                scope.spawn(|| {
                    let first = *d1.lock().unwrap();
                    if first != 0 {
                        let second = *d2.lock().unwrap();
                        assert_eq!(second, first + 1);
                    }
                });
            }
        });
    },
};

/// A lock that does not guard.
pub(super) const WRONGLOCK_3_BAD: Program = Program {
    name: "wronglock_3_bad",
    about: "one task works on data under its lock, others under the wrong lock (SCTBench CS.wronglock_3_bad)",
    parameters: &[Parameter {
        name: "others",
        default: 3,
        range: (1, 20),
        about: "tasks with the wrong lock",
    }],
    settings: CALM_2,
    expected: Expected::Fail("assertion"),
    body: |values| {
        let (right, wrong) = (Mutex::new(()), Mutex::new(()));
        let data = AtomicUsize::new(0);
        let increment = || data.store(data.load(SeqCst) + 1, SeqCst);
        thread::scope(|scope| {
            scope.spawn(|| {
                let _held = right.lock().unwrap();
                let before = data.load(SeqCst);
                increment();
                assert_eq!(data.load(SeqCst), before + 1);
            });
            for _ in 0..values[0] {
                scope.spawn(|| {
                    let _held = wrong.lock().unwrap();
                    increment();
                });
            }
        });
    },
};

/// Taking turns, with the wrong index.
pub(super) const QUEUE_BAD: Program = Program {
    name: "queue_bad",
    about: "a dequeuer compares items by the number of its round, not by that of the item (SCTBench \
            CS.queue_bad)",
    parameters: &[Parameter {
        name: "rounds",
        default: 20,
        range: (2, 100),
        about: "rounds of both tasks",
    }],
    settings: CALM_2,
    expected: Expected::Fail("assertion"),
    body: |values| {
        #[derive(Default)]
        struct State {
            queue: VecDeque<usize>,
            stored: Vec<usize>,
            dequeue_next: bool,
        }
        let rounds = values[0] as usize;
        let state = Mutex::new(State::default());
        let enqueue = |state: &mut State, item| {
            state.queue.push_back(item);
            state.stored.push(item);
        };
        thread::scope(|scope| {
            scope.spawn(|| {
                enqueue(&mut state.lock().unwrap(), 0);
                for round in 1..rounds {
                    let mut state = state.lock().unwrap();
                    if !state.dequeue_next {
                        enqueue(&mut state, round);
                        state.dequeue_next = true;
                    }
                }
            });
            scope.spawn(|| {
                for round in 0..rounds {
                    let mut state = state.lock().unwrap();
                    if state.dequeue_next {
                        let item = state.queue.pop_front();
                        assert_eq!(item, state.stored.get(round).copied(), "in round {round}");
                        state.dequeue_next = false;
                    }
                }
            });
        });
    },
};

/// A string buffer whose every method locks its own buffer.
struct StringBuffer(Mutex<String>);

impl StringBuffer {
    /// Appends another buffer, which may change between its two calls.
    fn append(&self, other: &StringBuffer) {
        let mut own = self.0.lock().unwrap();
        let length = other.length();
        own.push_str(&other.get(length));
    }

    fn length(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    fn get(&self, length: usize) -> String {
        let own = self.0.lock().unwrap();
        // Fails if the length is stale.
        assert!(length <= own.len());
        own[..length].to_owned()
    }
}

/// A length that is stale when it is used.
pub(super) const STRINGBUFFER: Program = Program {
    name: "stringbuffer-jdk1.4",
    about: "a buffer is erased between an append's look at its length and its copying (SCTBench \
            CB.stringbuffer-jdk1.4)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("assertion"),
    body: |_| {
        let buffer = StringBuffer(Mutex::new("abc".into()));
        let sum = StringBuffer(Mutex::new(String::new()));
        thread::scope(|scope| {
            scope.spawn(|| {
                buffer.0.lock().unwrap().drain(..3);
                buffer.0.lock().unwrap().push_str("abc");
            });
            sum.append(&buffer);
        });
    },
};

/// A snapshot without a lock.
pub(super) const AGET_BUG2: Program = Program {
    name: "aget-bug2",
    about: "a signal handler saves downloaders' offsets and their total, which do not agree (SCTBench \
            CB.aget-bug2)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("assertion"),
    body: |_| {
        const BLOCKS: usize = 2;
        let total = &Mutex::new(0);
        let offsets = &[const { AtomicUsize::new(0) }; 2];
        thread::scope(|scope| {
            for offset in offsets {
                scope.spawn(move || {
                    for block in 1..=BLOCKS {
                        offset.store(block, SeqCst);
                        *total.lock().unwrap() += 1;
                    }
                });
            }
            scope.spawn(|| {
                let saved: usize = offsets.iter().map(|offset| offset.load(SeqCst)).sum();
                assert_eq!(saved, *total.lock().unwrap(), "saved offsets and their total");
            });
        });
    },
};

/// A barrier that is empty.
pub(super) const BARNES: Program = Program {
    name: "barnes",
    about: "main does not wait for its worker before it looks whether it is done (SCTBench splash2.barnes)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("assertion"),
    body: |_| {
        let finished = Arc::new(AtomicUsize::new(0));
        let worker = finished.clone();
        thread::spawn(move || worker.fetch_add(1, SeqCst));
        assert_eq!(finished.load(SeqCst), 1);
    },
};
