//! Vulnerabilities of real kernels and browsers, cut down to two tasks by the ConVul suite, and their twins, corrected.
//!
//! A pointer is an index here, 0 for null, and freed memory is marked: an access that would crash panics.

use super::scaffold::twin;
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
    body: |_| open_while_released(|pipe| pipe.expect("a null pointer").readers += 1),
};

/// Its twin, with a check.
pub(super) const CVE_2009_3547_FIXED: Program = twin(
    &CVE_2009_3547,
    "CVE-2009-3547_fixed",
    "CVE-2009-3547, with a check whether the pipe was released",
    |_| {
        open_while_released(|pipe| {
            if let Some(pipe) = pipe {
                pipe.readers += 1;
            }
        });
    },
);

fn open_while_released(open: fn(Option<&mut Pipe>)) {
    let inode = Mutex::new(Some(Pipe { readers: 1 }));
    thread::scope(|scope| {
        scope.spawn(|| open(inode.lock().unwrap().as_mut()));
        scope.spawn(|| *inode.lock().unwrap() = None);
    });
}

struct Pipe {
    readers: usize,
}

/// Two keyrings of which the first is checked for both.
pub(super) const CVE_2013_1792: Program = Program {
    name: "CVE-2013-1792",
    about: "two tasks install keyrings: the early check sees one that is set while the other is null \
            (ConVul)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("panic"),
    body: |_| install_twice(|user, _| user.load(SeqCst) != 0),
};

/// Its twin, whose early check covers both.
pub(super) const CVE_2013_1792_FIXED: Program = twin(
    &CVE_2013_1792,
    "CVE-2013-1792_fixed",
    "CVE-2013-1792, with an early check of both keyrings",
    |_| install_twice(|user, session| user.load(SeqCst) != 0 && session.load(SeqCst) != 0),
);

/// Two tasks install a user's keyrings, unless these are seen to be installed.
fn install_twice(installed: fn(&AtomicUsize, &AtomicUsize) -> bool) {
    let (user, session, install) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(()));
    let task = || {
        if !installed(&user, &session) {
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
}

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

/// Its twin, with a count that loses none and is raised before anything is checked.
pub(super) const CVE_2016_1972_FIXED: Program = twin(
    &CVE_2016_1972,
    "CVE-2016-1972_fixed",
    "CVE-2016-1972, with an atomic count that is raised before the check whether it is done",
    |_| {
        let (done, freed) = (AtomicBool::new(false), AtomicBool::new(false));
        let (waiters, lock) = (AtomicUsize::new(0), Mutex::new(()));
        let once = || {
            waiters.fetch_add(1, SeqCst);
            if !done.load(SeqCst) {
                if freed.load(SeqCst) {
                    panic!("a lock is used that was freed");
                }
                let _held = lock.lock().unwrap();
                done.store(true, SeqCst);
            }
            if waiters.fetch_sub(1, SeqCst) == 1 {
                freed.store(true, SeqCst);
            }
        };
        thread::scope(|scope| {
            scope.spawn(once);
            scope.spawn(once);
        });
    },
);

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

/// Its twin, which holds the lock.
pub(super) const CVE_2016_7911_FIXED: Program = twin(
    &CVE_2016_7911,
    "CVE-2016-7911_fixed",
    "CVE-2016-7911, with the context tested and used under the lock",
    |_| {
        let context = Mutex::new(1);
        thread::scope(|scope| {
            scope.spawn(|| {
                let context = context.lock().unwrap();
                if *context != 0 {
                    dereference(*context);
                }
            });
            scope.spawn(|| *context.lock().unwrap() = 0);
        });
    },
);

/// Listed before it is finished.
pub(super) const CVE_2017_15265: Program = Program {
    name: "CVE-2017-15265",
    about: "a port is put in a list before its creator is done with it; another task finds and frees it \
            (ConVul)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("panic"),
    body: |_| {
        create_and_free(|ports, use_port| {
            ports.lock().unwrap().push("port");
            use_port();
        })
    },
};

/// Its twin, which finishes the port before.
pub(super) const CVE_2017_15265_FIXED: Program = twin(
    &CVE_2017_15265,
    "CVE-2017-15265_fixed",
    "CVE-2017-15265, with a port that is put in the list last",
    |_| {
        create_and_free(|ports, use_port| {
            use_port();
            ports.lock().unwrap().push("port");
        })
    },
);

/// Lets one task create a port, list it and use it, in its own order, while another frees listed ports.
fn create_and_free(create: fn(&Mutex<Vec<&str>>, &dyn Fn())) {
    let (ports, freed) = (Mutex::new(Vec::new()), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            create(&ports, &|| {
                if freed.load(SeqCst) {
                    panic!("a port is named that was freed");
                }
            });
        });
        scope.spawn(|| {
            let found = ports.lock().unwrap().pop();
            if found.is_some() {
                freed.store(true, SeqCst);
            }
        });
    });
}
