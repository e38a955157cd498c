//! Bugs of Maple's table (Yu, Narayanasamy, Pereira, Pokam, "Maple: A Coverage-Driven Testing Tool for Multithreaded
//! Programs", 2012), and their twins, corrected: what goes wrong in each, from the published descriptions of the bugs,
//! without the applications around it. Their unlocked variables are SeqCst atomics here.
//!
//! Two more of the table are in the corpus already (`stringbuffer-jdk1.4`, `aget-bug2`). Two are left out: the causes
//! of those in CNC and glibc are not published.

use super::scaffold::{number, twin};
use super::support::CALM_2;
use crate::{Expected, Parameter, Program};
use intermezzo::sync::Mutex;
use intermezzo::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering::SeqCst};
use intermezzo::thread;
use std::collections::VecDeque;

/// A log is swept while it is processed.
pub(super) const LOG_PROC_SWEEP: Program = Program {
    name: "log_proc_sweep",
    about: "one task checks whether there is a log, and processes it; another sweeps it (Maple's LogProcSweep)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("assertion"),
    body: |_| {
        let log = AtomicUsize::new(7);
        thread::scope(|scope| {
            scope.spawn(|| {
                if log.load(SeqCst) != 0 {
                    assert_ne!(log.load(SeqCst), 0, "the log is there");
                }
            });
            scope.spawn(|| log.store(0, SeqCst));
        });
    },
};

/// Its twin: the log is read once.
pub(super) const LOG_PROC_SWEEP_FIXED: Program = twin(
    &LOG_PROC_SWEEP,
    "log_proc_sweep_fixed",
    "log_proc_sweep, with a log that is taken by the one that processes it",
    |_| {
        let log = AtomicUsize::new(7);
        let swept = AtomicUsize::new(0);
        thread::scope(|scope| {
            let take = || {
                let taken = log.swap(0, SeqCst);
                swept.fetch_add(taken, SeqCst);
            };
            scope.spawn(take);
            scope.spawn(take);
        });
        assert_eq!(swept.into_inner(), 7, "the log is processed or swept, once");
    },
);

/// Two tasks turn a list, each in two steps.
pub(super) const CIRCULAR_LIST: Program = Program {
    name: "circular_list",
    about: "two tasks each move the first item of a list to its end, under a lock for each of the two steps (Maple's \
            CircularList)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("assertion"),
    body: |_| {
        turning(|list| {
            let first = list.lock().unwrap().pop_front().expect("there are items");
            list.lock().unwrap().push_back(first);
        })
    },
};

/// Its twin: under one lock.
pub(super) const CIRCULAR_LIST_FIXED: Program = twin(
    &CIRCULAR_LIST,
    "circular_list_fixed",
    "circular_list, with an item that is moved under one lock",
    |_| {
        turning(|list| {
            let mut list = list.lock().unwrap();
            let first = list.pop_front().expect("there are items");
            list.push_back(first);
        })
    },
);

/// Two tasks turn a list by one item.
fn turning(turn: impl Fn(&Mutex<VecDeque<u64>>) + Sync) {
    let list = Mutex::new(VecDeque::from([1, 2, 3]));
    thread::scope(|scope| {
        scope.spawn(|| turn(&list));
        scope.spawn(|| turn(&list));
    });
    assert_eq!(list.into_inner().unwrap(), [3, 1, 2], "the order is as before");
}

/// A withdrawal is lost.
pub(super) const BANK_ACCOUNT: Program = Program {
    name: "bank_account",
    about: "one task deposits, another withdraws, and each reads the balance before it writes it (Maple's BankAccount)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("assertion"),
    body: |_| {
        banking(|balance, amount| {
            let before = balance.load(SeqCst);
            balance.store(before + amount, SeqCst);
        })
    },
};

/// Its twin: in one step.
pub(super) const BANK_ACCOUNT_FIXED: Program = twin(
    &BANK_ACCOUNT,
    "bank_account_fixed",
    "bank_account, with a balance that is changed in one step",
    |_| {
        banking(|balance, amount| {
            balance.fetch_add(amount, SeqCst);
        })
    },
);

/// One task deposits, and another withdraws.
fn banking(change: impl Fn(&AtomicI64, i64) + Sync) {
    let balance = AtomicI64::new(100);
    thread::scope(|scope| {
        scope.spawn(|| change(&balance, 50));
        scope.spawn(|| change(&balance, -30));
    });
    assert_eq!(balance.into_inner(), 120, "both were done");
}

/// Nothing is logged that happens while the log is closed.
pub(super) const MYSQL_LOG_MISS: Program = Program {
    name: "mysql_log_miss",
    about: "a log is closed and opened again; what another task does meanwhile is not logged (Maple's MySQL-LogMiss)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("assertion"),
    body: |_| {
        let (is_open, logged) = (AtomicBool::new(true), AtomicUsize::new(0));
        thread::scope(|scope| {
            scope.spawn(|| {
                is_open.store(false, SeqCst);
                is_open.store(true, SeqCst);
            });
            scope.spawn(|| {
                if is_open.load(SeqCst) {
                    logged.fetch_add(1, SeqCst);
                }
            });
        });
        assert_eq!(logged.into_inner(), 1, "what was done is in the log");
    },
};

/// Its twin: the log is not seen while it is closed.
pub(super) const MYSQL_LOG_MISS_FIXED: Program = twin(
    &MYSQL_LOG_MISS,
    "mysql_log_miss_fixed",
    "mysql_log_miss, with a lock around closing and opening",
    |_| {
        let log = Mutex::new((true, 0));
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut log = log.lock().unwrap();
                log.0 = false;
                log.0 = true;
            });
            scope.spawn(|| {
                let (is_open, logged) = &mut *log.lock().unwrap();
                if *is_open {
                    *logged += 1;
                }
            });
        });
        assert_eq!(log.into_inner().unwrap().1, 1, "what was done is in the log");
    },
);

/// The same in the server: table and log have locks of their own.
pub(super) const MYSQL_791: Program = Program {
    name: "mysql-791",
    about: "a row is inserted under the table's lock, and logged under the log's, if the log is open: another task closes and \
            opens it under its lock, twice (Maple's MySQL #791)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("assertion"),
    body: |_| {
        flushing(|log, close| {
            close(&mut log.lock().unwrap());
            // The new file is made in between.
            log.lock().unwrap().is_open = true;
        })
    },
};

/// Its twin: the log is closed and opened under its lock.
pub(super) const MYSQL_791_FIXED: Program = twin(
    &MYSQL_791,
    "mysql-791_fixed",
    "mysql-791, with a log that is closed and opened under one lock",
    |_| {
        flushing(|log, close| {
            let mut log = log.lock().unwrap();
            close(&mut log);
            log.is_open = true;
        })
    },
);

/// A log that may be closed.
struct Log {
    is_open: bool,
    rows: usize,
}

/// One task inserts two rows, and another lets the log begin a new file, for which it is closed.
fn flushing(flush: impl Fn(&Mutex<Log>, fn(&mut Log)) + Sync) {
    let table = Mutex::new(0);
    let log = Mutex::new(Log {
        is_open: true,
        rows: 0,
    });
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..2 {
                *table.lock().unwrap() += 1;
                let mut log = log.lock().unwrap();
                log.rows += usize::from(log.is_open);
            }
        });
        scope.spawn(|| flush(&log, |log| log.is_open = false));
    });
    let rows = table.into_inner().unwrap();
    assert_eq!(log.into_inner().unwrap().rows, rows, "each row is in the log");
}

/// A queue is freed while a consumer uses it.
pub(super) const PBZIP2: Program = Program {
    name: "pbzip2",
    about: "main frees a queue once its blocks were written, without waiting for the consumer that still unlocks it (Maple's \
            Pbzip2)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("panic"),
    body: |_| freeing_a_queue(|_| ()),
};

/// Its twin: main joins the consumer first.
pub(super) const PBZIP2_FIXED: Program = twin(
    &PBZIP2,
    "pbzip2_fixed",
    "pbzip2, with main joining the consumer before it frees the queue",
    |_| freeing_a_queue(|consumer| consumer.join().unwrap()),
);

/// Main frees a queue once its consumer has written a block, and has waited for the consumer as `wait` does.
fn freeing_a_queue(wait: impl FnOnce(thread::ScopedJoinHandle<'_, ()>)) {
    let (is_there, written) = (AtomicBool::new(true), Mutex::new(0));
    let assert_there = |when: &str| assert!(is_there.load(SeqCst), "the queue is there when {when}");
    thread::scope(|scope| {
        let consumer = scope.spawn(|| {
            assert_there("a consumer locks it");
            *written.lock().unwrap() += 1;
            assert_there("a consumer unlocks it");
        });
        while *written.lock().unwrap() == 0 {
            thread::yield_now();
        }
        wait(consumer);
        is_there.store(false, SeqCst);
    });
}

/// Two requests write to the same place of a buffer.
pub(super) const APACHE_25520: Program = Program {
    name: "apache-25520",
    about: "two requests copy their lines to a log's buffer, at an index that they change afterwards (Maple's Apache #25520)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("assertion"),
    body: |_| {
        requesting(|buffer, line| {
            let end = buffer.end.load(SeqCst);
            buffer.lines[end].store(line, SeqCst);
            buffer.end.store(end + 1, SeqCst);
        })
    },
};

/// Its twin: each takes its place first.
pub(super) const APACHE_25520_FIXED: Program = twin(
    &APACHE_25520,
    "apache-25520_fixed",
    "apache-25520, with a place that each request takes first",
    |_| {
        requesting(|buffer, line| {
            let end = buffer.end.fetch_add(1, SeqCst);
            buffer.lines[end].store(line, SeqCst);
        })
    },
);

/// The lines of a log, and their number.
#[derive(Default)]
struct Buffer {
    lines: [AtomicUsize; 2],
    end: AtomicUsize,
}

/// Two requests log a line each.
fn requesting(log: impl Fn(&Buffer, usize) + Sync) {
    let buffer = Buffer::default();
    thread::scope(|scope| {
        scope.spawn(|| log(&buffer, 1));
        scope.spawn(|| log(&buffer, 2));
    });
    let mut lines = buffer.lines.map(AtomicUsize::into_inner);
    lines.sort_unstable();
    assert_eq!(lines, [1, 2], "each line is in the log");
}

/// An increment is lost between two locks.
pub(super) const MEMCACHED_127: Program = Program {
    name: "memcached-127",
    about: "two clients increment a number, each under a lock to get it and a lock to put it back (Maple's Memcached #127)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("assertion"),
    body: |_| {
        incrementing(|number| {
            let got = *number.lock().unwrap();
            *number.lock().unwrap() = got + 1;
        })
    },
};

/// Its twin: under one lock.
pub(super) const MEMCACHED_127_FIXED: Program = twin(
    &MEMCACHED_127,
    "memcached-127_fixed",
    "memcached-127, with one lock for getting and putting",
    |_| incrementing(|number| *number.lock().unwrap() += 1),
);

/// Two clients increment a number.
fn incrementing(increment: impl Fn(&Mutex<u64>) + Sync) {
    let number = Mutex::new(0);
    thread::scope(|scope| {
        scope.spawn(|| increment(&number));
        scope.spawn(|| increment(&number));
    });
    assert_eq!(number.into_inner().unwrap(), 2, "both are counted");
}

/// A task ends while it holds the lock of the output.
pub(super) const AGET_BUG1: Program = Program {
    name: "aget-bug1",
    about: "a task is cancelled while it holds the lock of the output, for which main waits (Maple's Aget #1)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("deadlock"),
    body: |_| {
        cancelling(|output, is_cancelled| {
            let lock = output.lock().unwrap();
            if is_cancelled.load(SeqCst) {
                // As the thread ends there and then, nothing unlocks it.
                std::mem::forget(lock);
            }
        })
    },
};

/// Its twin: it is cancelled only where it holds no lock.
pub(super) const AGET_BUG1_FIXED: Program = twin(
    &AGET_BUG1,
    "aget-bug1_fixed",
    "aget-bug1, with a task that checks whether it is cancelled before it takes the lock",
    |_| {
        cancelling(|output, is_cancelled| {
            if !is_cancelled.load(SeqCst) {
                drop(output.lock().unwrap());
            }
        })
    },
);

/// Main cancels a task that writes to the output, and then writes there itself.
fn cancelling(write: impl Fn(&Mutex<()>, &AtomicBool) + Sync) {
    let (output, is_cancelled) = (Mutex::new(()), AtomicBool::new(false));
    thread::scope(|scope| {
        let writer = scope.spawn(|| write(&output, &is_cancelled));
        is_cancelled.store(true, SeqCst);
        writer.join().unwrap();
        drop(output.lock().unwrap());
    });
}

/// A moment in a long execution.
pub(super) const LONG_TASKS: Program = Program {
    name: "long_tasks",
    about: "two tasks take many steps; in the middle one is busy for a moment, and the other must not see it then",
    parameters: &[STEPS],
    settings: CALM_2,
    expected: Expected::Fail("assertion"),
    body: |values| {
        let busy = AtomicUsize::new(0);
        taking_steps(
            values[0],
            || {
                busy.store(1, SeqCst);
                busy.store(0, SeqCst);
            },
            || assert_eq!(busy.load(SeqCst), 0, "the other is not busy"),
        )
    },
};

/// Its twin: the moment is one section of a lock.
pub(super) const LONG_TASKS_FIXED: Program = twin(
    &LONG_TASKS,
    "long_tasks_fixed",
    "long_tasks, with a moment that a lock hides",
    |values| {
        let busy = Mutex::new(0);
        taking_steps(
            values[0],
            || {
                let mut busy = busy.lock().unwrap();
                *busy = 1;
                *busy = 0;
            },
            || assert_eq!(*busy.lock().unwrap(), 0, "the other is not busy"),
        )
    },
);

const STEPS: Parameter = number("steps", 4, (2, 10_000), "steps of each task");

/// Two tasks take this many steps each, with `one` and `other` in the middle.
fn taking_steps(steps: u64, one: impl Fn() + Sync, other: impl Fn() + Sync) {
    let taken = &AtomicUsize::new(0);
    let half = || {
        for _ in 0..steps / 2 {
            taken.fetch_add(1, SeqCst);
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            half();
            one();
            half();
        });
        scope.spawn(|| {
            half();
            other();
            half();
        });
    });
}
