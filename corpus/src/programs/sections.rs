//! The smallest programs of the CHESS release: sections under one lock, steps on one or two variables, a
//! choice.

use super::support::CALM_3;
use crate::{Expected, Program};
use intermezzo::sync::Mutex;
use intermezzo::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo::{choose, thread};

/// Two tasks that take one lock, in one order or the other.
pub(super) const TWO_THREADS: Program = Program {
    name: "twothreads",
    about: "main and child: one section under one lock each (CHESS)",
    parameters: &[],
    settings: CALM_3,
    expected: Expected::Pass,
    body: |_| sections(1),
};

/// Orders of two sections each.
pub(super) const EXAMPLE: Program = Program {
    name: "example",
    about: "main and child: two sections each under one lock (CHESS)",
    parameters: &[],
    settings: CALM_3,
    expected: Expected::Pass,
    body: |_| sections(2),
};

/// Orders of three sections each.
pub(super) const EXAMPLE3: Program = Program {
    name: "example3",
    about: "main and child: three sections each under one lock (CHESS)",
    parameters: &[],
    settings: CALM_3,
    expected: Expected::Pass,
    body: |_| sections(3),
};

fn sections(each: usize) {
    let n = Mutex::new(0);
    let work = || (0..each).for_each(|_| *n.lock().unwrap() += 1);
    thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    assert_eq!(n.into_inner().unwrap(), 2 * each);
}

/// Nothing to schedule.
pub(super) const ONE_THREAD: Program = Program {
    name: "onethread",
    about: "one task, one section under a lock (CHESS)",
    parameters: &[],
    settings: CALM_3,
    expected: Expected::Pass,
    body: |_| {
        let n = Mutex::new(0);
        *n.lock().unwrap() += 1;
        assert_eq!(n.into_inner().unwrap(), 1);
    },
};

/// Two steps that conflict.
pub(super) const INTERLOCK1: Program = Program {
    name: "interlock1",
    about: "main and child: one atomic increment of one counter each (CHESS)",
    parameters: &[],
    settings: CALM_3,
    expected: Expected::Pass,
    body: |_| {
        let n = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| n.fetch_add(1, SeqCst));
            n.fetch_add(1, SeqCst);
        });
        assert_eq!(n.into_inner(), 2);
    },
};

/// Three steps that conflict.
pub(super) const INTERLOCK5: Program = Program {
    name: "interlock5",
    about: "main and two children increment one counter once each; main waits for both (CHESS)",
    parameters: &[],
    settings: CALM_3,
    expected: Expected::Pass,
    body: |_| {
        let n = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| n.fetch_add(1, SeqCst));
            scope.spawn(|| n.fetch_add(1, SeqCst));
            n.fetch_add(1, SeqCst);
        });
        assert_eq!(n.into_inner(), 3);
    },
};

/// Two steps that do not conflict: one trace.
pub(super) const DIAMOND: Program = Program {
    name: "diamond",
    about: "main increments x, child increments y: independent (CHESS)",
    parameters: &[],
    settings: CALM_3,
    expected: Expected::Pass,
    body: |_| {
        let (x, y) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            scope.spawn(|| y.fetch_add(1, SeqCst));
            x.fetch_add(1, SeqCst);
        });
        assert_eq!((x.into_inner(), y.into_inner()), (1, 1));
    },
};

/// Two orders for each of two variables, all four of them possible.
pub(super) const VOLATILE: Program = Program {
    name: "volatile",
    about: "main x=1; y=1, child x=2; y=2, on SeqCst atomics (CHESS)",
    parameters: &[],
    settings: CALM_3,
    expected: Expected::Pass,
    body: |_| {
        let (x, y) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let set = |value| {
            x.store(value, SeqCst);
            y.store(value, SeqCst);
        };
        thread::scope(|scope| {
            scope.spawn(|| set(2));
            set(1);
        });
        assert!([1, 2].contains(&x.into_inner()) && [1, 2].contains(&y.into_inner()));
    },
};

/// No tasks, but values.
pub(super) const CHOOSE: Program = Program {
    name: "choose",
    about: "one choice among 6 (CHESS)",
    parameters: &[],
    settings: CALM_3,
    expected: Expected::Pass,
    body: |_| assert!(choose(6) < 6),
};
