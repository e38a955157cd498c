//! Vulnerabilities of real kernels and browsers, cut down to two tasks by the ConVul suite.
//!
//! A pointer is an index here, 0 for null, and memory that was freed is marked: what would crash panics.

use super::support::CALM_2;
use crate::{Expected, Program};
use intermezzo::sync::Mutex;
use intermezzo::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use intermezzo::thread;

/// A pipe is opened while it is released.
pub(super) const CVE_2009_3547: Program = Program {
    name: "CVE-2009-3547",
    about: "a pipe is opened without a check, and may have been released under the same lock (ConVul)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("panic"),
    body: |_| {
        let inode = Mutex::new(Some(Pipe { readers: 1 }));
        thread::scope(|scope| {
            scope.spawn(|| inode.lock().unwrap().as_mut().expect("a null pointer").readers += 1);
            scope.spawn(|| *inode.lock().unwrap() = None);
        });
    },
};

struct Pipe {
    readers: usize,
}

/// Two keyrings of which the first is looked at for both.
pub(super) const CVE_2013_1792: Program = Program {
    name: "CVE-2013-1792",
    about: "two tasks install keyrings: the early check sees one that is set while the other is null \
            (ConVul)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("panic"),
    body: |_| {
        let (user, session, install) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(()));
        let task = || {
            if user.load(SeqCst) == 0 {
                let _held = install.lock().unwrap();
                if user.load(SeqCst) == 0 {
                    user.store(1, SeqCst);
                    session.store(2, SeqCst);
                }
            }
            dereference(session.load(SeqCst));
        };
        thread::scope(|scope| {
            scope.spawn(task);
            scope.spawn(task);
        });
    },
};

fn dereference(pointer: usize) {
    if pointer == 0 {
        panic!("a null pointer is followed");
    }
}

/// A count of waiters that loses one.
pub(super) const CVE_2016_1972: Program = Program {
    name: "CVE-2016-1972",
    about: "the lock of a once-initialisation is freed when a racy count of its waiters is 0 (ConVul)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("panic"),
    body: |_| {
        let (done, freed) = (AtomicBool::new(false), AtomicBool::new(false));
        let (waiters, lock) = (AtomicUsize::new(0), Mutex::new(()));
        let add = |change: usize| {
            let waiting = waiters.load(SeqCst).wrapping_add(change);
            waiters.store(waiting, SeqCst);
            waiting
        };
        let once = || {
            if done.load(SeqCst) {
                return;
            }
            add(1);
            if freed.load(SeqCst) {
                panic!("a lock is used that was freed");
            }
            {
                let _held = lock.lock().unwrap();
                done.store(true, SeqCst);
            }
            if add(usize::MAX) == 0 {
                freed.store(true, SeqCst);
            }
        };
        thread::scope(|scope| {
            scope.spawn(once);
            scope.spawn(once);
        });
    },
};

/// Tested, then used.
pub(super) const CVE_2016_7911: Program = Program {
    name: "CVE-2016-7911",
    about: "an I/O context is tested and used without the lock under which an exiting task clears it \
            (ConVul)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("panic"),
    body: |_| {
        let (context, lock) = (AtomicUsize::new(1), Mutex::new(()));
        thread::scope(|scope| {
            scope.spawn(|| {
                if context.load(SeqCst) != 0 {
                    dereference(context.load(SeqCst));
                }
            });
            scope.spawn(|| {
                let _held = lock.lock().unwrap();
                context.store(0, SeqCst);
            });
        });
    },
};

/// Listed before it is finished.
pub(super) const CVE_2017_15265: Program = Program {
    name: "CVE-2017-15265",
    about: "a port is put in a list before its creator is done with it; another task finds and frees it \
            (ConVul)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("panic"),
    body: |_| {
        let (ports, freed) = (Mutex::new(Vec::new()), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| {
                ports.lock().unwrap().push("port");
                if freed.load(SeqCst) {
                    panic!("a port is named that was freed");
                }
            });
            scope.spawn(|| {
                let found = ports.lock().unwrap().pop();
                if found.is_some() {
                    freed.store(true, SeqCst);
                }
            });
        });
    },
};
