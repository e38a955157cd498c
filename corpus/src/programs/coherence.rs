//! Litmus tests of one variable, 0 at first: the order in which its stores are seen. `||` stands between tasks.

use super::scaffold::{in_tasks, litmus, zeros};
use crate::Program;
use intermezzo::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use intermezzo::sync::atomic::{AtomicUsize, Ordering};

/// Compares and exchanges; a failure is a read.
fn exchange(x: &AtomicUsize, from: usize, to: usize, order: Ordering) {
    let _ = x.compare_exchange(from, to, order, Relaxed);
}

fn read_twice(x: &AtomicUsize) {
    x.load(Acquire);
    x.load(Acquire);
}

/// Two stores and two reads.
pub(super) const CORR: Program = litmus("CoRR", "x=1; x=2 || read x; read x", |_| {
    let [x] = zeros();
    in_tasks([
        &|| {
            x.store(1, Release);
            x.store(2, Release);
        },
        &|| read_twice(&x),
    ]);
});

/// One writer, two readers.
pub(super) const CORR0: Program = litmus("CoRR0", "x=1 || read x || read x", |_| {
    let [x] = zeros();
    let read = || {
        x.load(Acquire);
    };
    in_tasks([&|| x.store(1, Release), &read, &read]);
});

/// Two writers, two readers.
pub(super) const CORR1: Program = litmus("CoRR1", "x=1 || x=2 || read x; read x || read x", |_| {
    let [x] = zeros();
    in_tasks([
        &|| x.store(1, Release),
        &|| x.store(2, Release),
        &|| read_twice(&x),
        &|| {
            x.load(Acquire);
        },
    ]);
});

/// A read before the task's own store.
pub(super) const CORW: Program = litmus("CoRW", "read x; x=1 || x=2", |_| {
    let [x] = zeros();
    in_tasks([
        &|| {
            x.load(Acquire);
            x.store(1, Release);
        },
        &|| x.store(2, Release),
    ]);
});

/// A read after the task's own store.
pub(super) const COWR: Program = litmus("CoWR", "x=1; read x || x=2", |_| {
    let [x] = zeros();
    in_tasks([
        &|| {
            x.store(1, Release);
            x.load(Acquire);
        },
        &|| x.store(2, Release),
    ]);
});

/// Two writers, and a reader of both.
pub(super) const DEFAULT: Program = litmus("default", "read x; read x || x=1 || x=2", |_| {
    let [x] = zeros();
    in_tasks([&|| read_twice(&x), &|| x.store(1, Release), &|| {
        x.store(2, Release)
    }]);
});

/// Three writers, and a reader of all.
pub(super) const FR_W_W_W_READS: Program =
    litmus("fr+w+w+w+reads", "x=1 || x=2 || x=3 || read x four times", |_| {
        let [x] = zeros();
        in_tasks([
            &|| x.store(1, Release),
            &|| x.store(2, Release),
            &|| x.store(3, Release),
            &|| {
                read_twice(&x);
                read_twice(&x);
            },
        ]);
    });

/// A reader, a reader that writes, a writer.
pub(super) const SMALL0: Program = litmus("small0", "read x || read x; x=1 || x=2", |_| {
    let [x] = zeros();
    in_tasks([
        &|| {
            x.load(Acquire);
        },
        &|| {
            x.load(Acquire);
            x.store(1, Release);
        },
        &|| x.store(2, Release),
    ]);
});

/// One exchange wins.
pub(super) const CCR: Program = litmus("ccr", "exchange x 0 -> 42 || exchange x 0 -> 17; read x", |_| {
    let [x] = zeros();
    in_tasks([&|| exchange(&x, 0, 42, AcqRel), &|| {
        exchange(&x, 0, 17, AcqRel);
        x.load(Acquire);
    }]);
});

/// An exchange that succeeds in the middle only.
pub(super) const CII: Program = litmus("cii", "exchange x 1 -> 2 || x+=1 || x+=1", |_| {
    let [x] = zeros();
    let increment = || {
        x.fetch_add(1, Relaxed);
    };
    in_tasks([&|| exchange(&x, 1, 2, Relaxed), &increment, &increment]);
});

/// The same with a store.
pub(super) const WCII: Program = litmus("wcii", "x=5 || exchange x 1 -> 2 || x+=1 || x+=1", |_| {
    let [x] = zeros();
    let increment = || {
        x.fetch_add(1, Relaxed);
    };
    in_tasks([
        &|| x.store(5, Relaxed),
        &|| exchange(&x, 1, 2, Relaxed),
        &increment,
        &increment,
    ]);
});

/// Increments around a store.
pub(super) const INC2W: Program = litmus("inc2w", "x+=1 || x=4 || x+=2", |_| {
    let [x] = zeros();
    in_tasks([
        &|| {
            x.fetch_add(1, Relaxed);
        },
        &|| x.store(4, Relaxed),
        &|| {
            x.fetch_add(2, Relaxed);
        },
    ]);
});
