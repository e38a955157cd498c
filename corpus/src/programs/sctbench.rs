//! Small buggy programs of SCTBench's CS and CB suites, and their twins, corrected. Their unlocked variables are
//! SeqCst atomics here.

use super::scaffold::twin;
use super::support::CALM_2;
use crate::{Expected, Parameter, Program};
use intermezzo::sync::Mutex;
use intermezzo::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering::SeqCst};
use intermezzo::thread;
use std::collections::VecDeque;

/// The stop thread believes that nothing is pending.
pub(super) const BLUETOOTH_DRIVER_BAD: Program = Program {
    name: "bluetooth_driver_bad",
    about: "a request sees that the driver is not stopping, which it then does (SCTBench \
            CS.bluetooth_driver_bad)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("assertion"),
    body: |_| {
        Driver::default().stopped_during(|driver| {
            if !driver.stopping.load(SeqCst) {
                driver.pending.fetch_add(1, SeqCst);
                driver.work();
            }
            driver.finish();
        })
    },
};

/// Its twin: the request is pending before it checks.
pub(super) const BLUETOOTH_DRIVER_FIXED: Program = twin(
    &BLUETOOTH_DRIVER_BAD,
    "bluetooth_driver_fixed",
    "bluetooth_driver_bad, with a request that is counted before it checks whether the driver is stopping",
    |_| {
        Driver::default().stopped_during(|driver| {
            driver.pending.fetch_add(1, SeqCst);
            if !driver.stopping.load(SeqCst) {
                driver.work();
            }
            driver.finish();
        })
    },
);

/// A driver with requests that are pending: one less while it is being stopped.
struct Driver {
    stopping: AtomicBool,
    event: AtomicBool,
    stopped: AtomicBool,
    pending: AtomicI64,
}

impl Default for Driver {
    fn default() -> Driver {
        Driver {
            stopping: AtomicBool::new(false),
            event: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            pending: AtomicI64::new(1),
        }
    }
}

impl Driver {
    fn finish(&self) {
        if self.pending.fetch_sub(1, SeqCst) == 1 {
            self.event.store(true, SeqCst);
        }
    }

    /// Works on a request: the driver must not be stopped meanwhile.
    fn work(&self) {
        assert!(!self.stopped.load(SeqCst));
    }

    /// Stops the driver while `request` runs.
    fn stopped_during(self, request: impl FnOnce(&Driver)) {
        thread::scope(|scope| {
            scope.spawn(|| {
                self.stopping.store(true, SeqCst);
                self.finish();
                if self.event.load(SeqCst) {
                    self.stopped.store(true, SeqCst);
                }
            });
            request(&self);
        });
    }
}

/// Fails in most orders.
pub(super) const LAZY01_BAD: Program = Program {
    name: "lazy01_bad",
    about: "three tasks under one lock: data += 1; data += 2; assert data < 3 (SCTBench CS.lazy01_bad)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("assertion"),
    body: |_| add_and_check(3),
};

/// Its twin, which allows for both additions.
pub(super) const LAZY01_FIXED: Program = twin(
    &LAZY01_BAD,
    "lazy01_fixed",
    "lazy01_bad, asserting data < 4",
    |_| add_and_check(4),
);

fn add_and_check(limit: i32) {
    let data = Mutex::new(0);
    thread::scope(|scope| {
        scope.spawn(|| *data.lock().unwrap() += 1);
        scope.spawn(|| *data.lock().unwrap() += 2);
        scope.spawn(|| assert!(*data.lock().unwrap() < limit));
    });
}

/// Two stores seen half done.
pub(super) const REORDER_3_BAD: Program = Program {
    name: "reorder_3_bad",
    about: "setters store a = 1, then b = -1; checkers want both or neither \
            (SCTBench CS.reorder_3_bad; 3, 4 and 9 setters are reorder_4, _5 and _10, 40 and 10 checkers reorder_50)",
    parameters: &[
        Parameter {
            name: "setters",
            default: 2,
            range: (1, 99),
            about: "tasks that store",
        },
        Parameter {
            name: "checkers",
            default: 1,
            range: (1, 20),
            about: "tasks that check",
        },
    ],
    settings: CALM_2,
    expected: Expected::Fail("assertion"),
    body: |values| set_and_check(values, |section| section()),
};

/// Its twin: one lock around both stores, and around the check.
pub(super) const REORDER_3_FIXED: Program = twin(
    &REORDER_3_BAD,
    "reorder_3_fixed",
    "reorder_3_bad, with both stores and the check under one lock",
    |values| {
        let lock = Mutex::new(());
        set_and_check(values, |section| {
            let _held = lock.lock().unwrap();
            section();
        });
    },
);

/// Setters and checkers, each of which does its work in a `section`.
fn set_and_check(values: &[u64], section: impl Fn(&dyn Fn()) + Sync) {
    let &[setters, checkers] = values else {
        unreachable!("two parameters")
    };
    let (a, b) = (AtomicI64::new(0), AtomicI64::new(0));
    let is = |x, y| a.load(SeqCst) == x && b.load(SeqCst) == y;
    let set = || {
        a.store(1, SeqCst);
        b.store(-1, SeqCst);
    };
    let check = || assert!(is(0, 0) || is(1, -1));
    thread::scope(|scope| {
        for _ in 0..setters {
            scope.spawn(|| section(&set));
        }
        for _ in 0..checkers {
            scope.spawn(|| section(&check));
        }
    });
}

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

/// Its twin: no task comes in between.
pub(super) const TWOSTAGE_FIXED: Program = twin(
    &TWOSTAGE_BAD,
    "twostage_fixed",
    "twostage_bad, with the first lock kept until the second is left",
    |values| {
        let &[writers, readers] = values else {
            unreachable!("two parameters")
        };
        let (d1, d2) = (&Mutex::new(0), &Mutex::new(0));
        thread::scope(|scope| {
            for _ in 0..writers {
                scope.spawn(|| {
                    let mut first = d1.lock().unwrap();
                    *first = 1;
                    *d2.lock().unwrap() = 2;
                });
            }
            for _ in 0..readers {
                scope.spawn(|| {
                    let first = d1.lock().unwrap();
                    if *first != 0 {
                        assert_eq!(*d2.lock().unwrap(), *first + 1);
                    }
                });
            }
        });
    },
);

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
    body: |values| increment_under(&Mutex::new(()), &Mutex::new(()), values[0]),
};

/// Its twin, with one lock.
pub(super) const WRONGLOCK_3_FIXED: Program = twin(
    &WRONGLOCK_3_BAD,
    "wronglock_3_fixed",
    "wronglock_3_bad, with the right lock for all",
    |values| {
        let lock = Mutex::new(());
        increment_under(&lock, &lock, values[0]);
    },
);

/// One task works on data under its lock, others under theirs.
fn increment_under(own: &Mutex<()>, of_others: &Mutex<()>, others: u64) {
    let data = AtomicUsize::new(0);
    let increment = || data.store(data.load(SeqCst) + 1, SeqCst);
    thread::scope(|scope| {
        scope.spawn(|| {
            let _held = own.lock().unwrap();
            let before = data.load(SeqCst);
            increment();
            assert_eq!(data.load(SeqCst), before + 1);
        });
        for _ in 0..others {
            scope.spawn(|| {
                let _held = of_others.lock().unwrap();
                increment();
            });
        }
    });
}

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
    body: |values| take_turns(values[0] as usize, |round, _| round),
};

/// Its twin, with the right index.
pub(super) const QUEUE_FIXED: Program = twin(
    &QUEUE_BAD,
    "queue_fixed",
    "queue_bad, with items compared by their own number",
    |values| take_turns(values[0] as usize, |_, dequeued| dequeued),
);

/// A queue's first item, and then one enqueued and one dequeued by turns, as far as both tasks' rounds allow. Each
/// dequeued item is compared with the one stored as number `index(round, items dequeued before)`.
fn take_turns(rounds: usize, index: fn(usize, usize) -> usize) {
    #[derive(Default)]
    struct State {
        queue: VecDeque<usize>,
        stored: Vec<usize>,
        dequeued: usize,
        dequeue_next: bool,
    }
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
                    let stored = state.stored.get(index(round, state.dequeued)).copied();
                    assert_eq!(item, stored, "in round {round}");
                    state.dequeued += 1;
                    state.dequeue_next = false;
                }
            }
        });
    });
}

/// A string buffer whose every method locks its own buffer.
struct StringBuffer(Mutex<String>);

impl StringBuffer {
    /// Appends another buffer, which may change between its two calls.
    fn append(&self, other: &StringBuffer) {
        let mut own = self.0.lock().unwrap();
        let length = other.length();
        own.push_str(&other.get(length));
    }

    /// Appends another buffer, which cannot change meanwhile.
    fn append_at_once(&self, other: &StringBuffer) {
        let mut own = self.0.lock().unwrap();
        own.push_str(&other.0.lock().unwrap());
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
    about: "a buffer is erased between an append's read of its length and its copying (SCTBench \
            CB.stringbuffer-jdk1.4)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("assertion"),
    body: |_| append_while_erased(StringBuffer::append),
};

/// Its twin, which keeps the lock of the appended buffer.
pub(super) const STRINGBUFFER_FIXED: Program = twin(
    &STRINGBUFFER,
    "stringbuffer-jdk1.4_fixed",
    "stringbuffer-jdk1.4, with the other buffer locked throughout an append",
    |_| append_while_erased(StringBuffer::append_at_once),
);

fn append_while_erased(append: fn(&StringBuffer, &StringBuffer)) {
    let buffer = StringBuffer(Mutex::new("abc".into()));
    let sum = StringBuffer(Mutex::new(String::new()));
    thread::scope(|scope| {
        scope.spawn(|| {
            buffer.0.lock().unwrap().drain(..3);
            buffer.0.lock().unwrap().push_str("abc");
        });
        append(&sum, &buffer);
    });
}

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

/// Its twin, with all of it under the lock.
pub(super) const AGET_BUG2_FIXED: Program = twin(
    &AGET_BUG2,
    "aget-bug2_fixed",
    "aget-bug2, with offsets and total changed and saved under one lock",
    |_| {
        const BLOCKS: usize = 2;
        let progress = &Mutex::new(([0; 2], 0));
        thread::scope(|scope| {
            for downloader in 0..2 {
                scope.spawn(move || {
                    for block in 1..=BLOCKS {
                        let (offsets, total) = &mut *progress.lock().unwrap();
                        offsets[downloader] = block;
                        *total += 1;
                    }
                });
            }
            scope.spawn(|| {
                let (offsets, total) = *progress.lock().unwrap();
                assert_eq!(
                    offsets.iter().sum::<usize>(),
                    total,
                    "saved offsets and their total"
                );
            });
        });
    },
);
