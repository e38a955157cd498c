//! Ten bugs that depend on timing, each with the breakpoint that reproduces it. They are written against `crate::facade`: std
//! in one suite, the look-alikes in another.

use crate::facade::breakpoint;
use crate::facade::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use crate::facade::sync::{Condvar, Mutex};
use crate::facade::thread;

/// A bug: its name, which is that of its breakpoint, and its code, which sometimes panics or never ends.
pub(crate) struct Bug {
    pub(crate) name: &'static str,
    /// `true` if it shows by never ending.
    pub(crate) stalls: bool,
    pub(crate) run: fn(),
}

/// All of them.
pub(crate) const BUGS: [Bug; 10] = [
    bug("lost-update", lost_update),
    bug("overdraft", overdraft),
    bug("use-before-init", use_before_init),
    stall("crosswise-locks", crosswise_locks),
    stall("missed-notification", missed_notification),
    bug("aba", aba),
    bug("two-sections", two_sections),
    bug("stale-length", stale_length),
    bug("log-closed", log_closed),
    bug("made-twice", made_twice),
];

const fn bug(name: &'static str, run: fn()) -> Bug {
    Bug {
        name,
        stalls: false,
        run,
    }
}

const fn stall(name: &'static str, run: fn()) -> Bug {
    Bug {
        name,
        stalls: true,
        run,
    }
}

/// Two tasks read, and then both write.
fn lost_update() {
    let n = AtomicUsize::new(0);
    let add_one = || {
        let v = n.load(SeqCst);
        breakpoint::conflict("lost-update", &n).meet();
        n.store(v + 1, SeqCst);
    };
    thread::scope(|s| {
        s.spawn(add_one);
        s.spawn(add_one);
    });
    assert_eq!(n.load(SeqCst), 2);
}

/// A check, and an action that relies on it, each under the lock, but not together.
fn overdraft() {
    let balance = Mutex::new(100);
    let withdraw_checked = || {
        let enough = *balance.lock().unwrap() >= 80;
        if enough {
            breakpoint::atomicity("overdraft", &balance).within();
            *balance.lock().unwrap() -= 80;
        }
    };
    let pay_fee = || {
        let _turn = breakpoint::atomicity("overdraft", &balance).intrude();
        let mut balance = balance.lock().unwrap();
        if *balance >= 30 {
            *balance -= 30;
        }
    };
    thread::scope(|s| {
        s.spawn(withdraw_checked);
        s.spawn(pay_fee);
    });
    let left = *balance.lock().unwrap();
    assert!(left >= 0, "{left} is left");
}

/// A thread uses a value that its creator sets up after creating the thread.
fn use_before_init() {
    let address = AtomicUsize::new(0);
    thread::scope(|s| {
        s.spawn(|| {
            // The first actions of a thread take longer, as a rule, than the next actions of its creator.
            let digest = (0..100_000_u64).fold(7, |digest, n| digest * 31 % 1_000_003 + n);
            let turn = breakpoint::conflict("use-before-init", &address).first();
            let found = address.load(SeqCst);
            drop(turn);
            assert_ne!(found, 0, "used before it was set, with {digest}");
        });
        breakpoint::conflict("use-before-init", &address).second();
        address.store(0x1000, SeqCst);
    });
}

/// Two locks, taken in both orders.
fn crosswise_locks() {
    let (from, to) = (Mutex::new(1), Mutex::new(2));
    let transfer = |one: &Mutex<i32>, other: &Mutex<i32>| {
        let mut a = one.lock().unwrap();
        breakpoint::deadlock("crosswise-locks", one, other).meet();
        let mut b = other.lock().unwrap();
        (*a, *b) = (*a - 1, *b + 1);
    };
    thread::scope(|s| {
        s.spawn(|| transfer(&from, &to));
        s.spawn(|| transfer(&to, &from));
    });
}

/// A check without the lock, and then a wait: the notification comes in between.
fn missed_notification() {
    let ready = AtomicBool::new(false);
    let (lock, condvar) = (Mutex::new(()), Condvar::new());
    thread::scope(|s| {
        s.spawn(|| {
            if !ready.load(SeqCst) {
                breakpoint::notification("missed-notification", &condvar).before_wait();
                drop(condvar.wait(lock.lock().unwrap()).unwrap());
            }
        });
        s.spawn(|| {
            let _turn = breakpoint::notification("missed-notification", &condvar).before_notify();
            ready.store(true, SeqCst);
            condvar.notify_one();
        });
    });
}

/// A stack of numbered nodes without a count of changes: its top is the same again, and the nodes below it are not.
fn aba() {
    const NOTHING: usize = usize::MAX;
    let head = AtomicUsize::new(0);
    // Node 0 lies on node 1.
    let below = [AtomicUsize::new(1), AtomicUsize::new(NOTHING)];
    let taken = [AtomicUsize::new(0), AtomicUsize::new(0)];
    let pop = |with_break: bool| {
        loop {
            let top = head.load(SeqCst);
            if top == NOTHING {
                return NOTHING;
            }
            let next = below[top].load(SeqCst);
            if with_break {
                breakpoint::atomicity("aba", &head).within();
            }
            if head.compare_exchange(top, next, SeqCst, SeqCst).is_ok() {
                taken[top].fetch_add(1, SeqCst);
                return top;
            }
        }
    };
    let push = |node: usize| {
        taken[node].fetch_sub(1, SeqCst);
        loop {
            let top = head.load(SeqCst);
            below[node].store(top, SeqCst);
            if head.compare_exchange(top, node, SeqCst, SeqCst).is_ok() {
                return;
            }
        }
    };
    thread::scope(|s| {
        s.spawn(|| {
            pop(true);
            pop(false);
        });
        s.spawn(|| {
            let _turn = breakpoint::atomicity("aba", &head).intrude();
            let first = pop(false);
            pop(false);
            if first != NOTHING {
                push(first);
            }
        });
    });
    let most = taken.iter().map(|taken| taken.load(SeqCst)).max();
    assert!(most <= Some(1), "a node was taken twice");
}

/// Two sections that are one transfer, and a task that adds up in between.
fn two_sections() {
    let (checking, savings) = (Mutex::new(50), Mutex::new(50));
    thread::scope(|s| {
        s.spawn(|| {
            *checking.lock().unwrap() -= 20;
            breakpoint::atomicity("two-sections", &checking).within();
            *savings.lock().unwrap() += 20;
        });
        s.spawn(|| {
            let turn = breakpoint::atomicity("two-sections", &checking).intrude();
            let total = *checking.lock().unwrap() + *savings.lock().unwrap();
            drop(turn);
            assert_eq!(total, 100);
        });
    });
}

/// `StringBuffer::append`: the length is looked up, and is another when the characters are copied.
fn stale_length() {
    let buffer = Mutex::new(String::from("abc"));
    thread::scope(|s| {
        s.spawn(|| {
            let length = buffer.lock().unwrap().len();
            breakpoint::atomicity("stale-length", &buffer).within();
            let copied = buffer.lock().unwrap().get(..length).map(str::to_owned);
            assert!(copied.is_some(), "{length} characters are not there any more");
        });
        s.spawn(|| {
            let _turn = breakpoint::atomicity("stale-length", &buffer).intrude();
            buffer.lock().unwrap().clear();
        });
    });
}

/// Many lines are written to a log. Then one more is written, after a check that the log is open, while another task
/// closes it.
fn log_closed() {
    const LINES: usize = 20;
    let log = Mutex::new(Some(Vec::new()));
    let last = AtomicBool::new(false);
    thread::scope(|s| {
        s.spawn(|| {
            for line in 0..LINES {
                let open = log.lock().unwrap().is_some();
                last.store(line == LINES - 1, SeqCst);
                if open {
                    breakpoint::atomicity("log-closed", &log)
                        .skip(LINES as u64 - 1)
                        .within();
                    let mut log = log.lock().unwrap();
                    log.as_mut()
                        .expect("a line is written to a closed log")
                        .push(line);
                }
            }
        });
        s.spawn(|| {
            while !last.load(SeqCst) {
                thread::yield_now();
            }
            let _turn = breakpoint::atomicity("log-closed", &log).intrude();
            *log.lock().unwrap() = None;
        });
    });
}

/// Two tasks see that something is not there yet, and both make it.
fn made_twice() {
    let instance = Mutex::new(None);
    let made = AtomicUsize::new(0);
    let get = || {
        let missing = instance.lock().unwrap().is_none();
        if missing {
            breakpoint::conflict("made-twice", &instance).at_most(1).meet();
            made.fetch_add(1, SeqCst);
            *instance.lock().unwrap() = Some(7);
        }
    };
    thread::scope(|s| {
        s.spawn(get);
        s.spawn(get);
    });
    assert_eq!(made.load(SeqCst), 1, "made more than once");
}
