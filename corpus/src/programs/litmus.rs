//! Litmus tests: the shapes that distinguish memory models, as the literature names them.
//!
//! Each is its accesses and nothing else: no outcome is asserted, because the same programs are right under every
//! memory model. A plain access of the original is a relaxed atomic here. All variables are 0 at first; `||` stands
//! between tasks.

use super::scaffold::{flag, in_tasks, litmus, zeros};
use crate::{Expected, Parameter, Program};
use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use intermezzo::sync::atomic::{AtomicUsize, Ordering, fence};

/// Stores that cross.
pub(super) const TWO_PLUS_TWO_W: Program = litmus("2+2W", "x=1; y=2 || y=1; x=2 (release stores)", |_| {
    crossing_stores(Release)
});

/// The same in one order.
pub(super) const TWO_PLUS_TWO_W_4SC: Program =
    litmus("2+2W+4sc", "x=1; y=2 || y=1; x=2 (SeqCst stores)", |_| {
        crossing_stores(SeqCst)
    });

fn crossing_stores(order: Ordering) {
    let [x, y] = zeros();
    in_tasks([
        &|| {
            x.store(1, order);
            y.store(2, order);
        },
        &|| {
            y.store(1, order);
            x.store(2, order);
        },
    ]);
}

/// Independent reads of independent writes, of mixed orders.
pub(super) const IRIW_ACQ_SC: Program = litmus(
    "IRIW-acq-sc",
    "x=1 || y=1 || read x, y || read y, x (the first read of each acquires, all else is SeqCst)",
    |_| independent_reads(SeqCst, Acquire, SeqCst),
);

/// Independent reads of independent writes.
pub(super) const IRIW: Program = Program {
    name: "iriw",
    about: "x=1 || y=1 || read x, y || read y, x",
    parameters: ORDER,
    settings: &[],
    expected: Expected::Pass,
    body: |values| {
        let (store, load) = orders(values);
        independent_reads(store, load, load);
    },
};

const ORDER: &[Parameter] = &[flag(
    "seq_cst",
    "1: all accesses are SeqCst; 0: they release and acquire",
)];

/// Returns the orderings of stores and of loads.
fn orders(values: &[u64]) -> (Ordering, Ordering) {
    match values {
        [0] => (Release, Acquire),
        _ => (SeqCst, SeqCst),
    }
}

fn independent_reads(store: Ordering, first: Ordering, second: Ordering) {
    let [x, y] = zeros();
    let read = |a: &AtomicUsize, b: &AtomicUsize| {
        a.load(first);
        b.load(second);
    };
    in_tasks([
        &|| x.store(1, store),
        &|| y.store(1, store),
        &|| read(&x, &y),
        &|| read(&y, &x),
    ]);
}

/// Load buffering.
pub(super) const LB: Program = litmus("LB", "read y; x=1 || read x; y=1 (load buffering)", |_| {
    let [x, y] = zeros();
    in_tasks([
        &|| {
            y.load(Acquire);
            x.store(1, Release);
        },
        &|| {
            x.load(Acquire);
            y.store(1, Release);
        },
    ]);
});

/// Load buffering, in a ring.
pub(super) const LB3: Program = litmus(
    "LB3",
    "read a; b=1 || read b; c=1 || read c; a=1 (relaxed load buffering)",
    |_| {
        let [a, b, c] = zeros();
        let pass = |from: &AtomicUsize, to: &AtomicUsize| {
            from.load(Relaxed);
            to.store(1, Relaxed);
        };
        in_tasks([&|| pass(&a, &b), &|| pass(&b, &c), &|| pass(&c, &a)]);
    },
);

/// Message passing.
pub(super) const MP: Program = litmus("MP", "x=1; y=1 || read y; read x (message passing)", |_| {
    let [x, y] = zeros();
    in_tasks([
        &|| {
            x.store(1, Release);
            y.store(1, Release);
        },
        &|| {
            y.load(Acquire);
            x.load(Acquire);
        },
    ]);
});

/// Message passing that is right.
pub(super) const MP_REL_ACQ: Program = litmus(
    "MP+rel+acq",
    "plain x=1; release y=1 || if acquired y, read plain x",
    |_| message(Release, Acquire),
);

/// Message passing whose reader does not acquire: a data race in relaxed models.
pub(super) const MP_REL_RLX: Program = litmus(
    "MP+rel+rlx",
    "plain x=1; release y=1 || if relaxed y, read plain x",
    |_| message(Release, Relaxed),
);

/// Message passing without any order: a data race in relaxed models.
pub(super) const MP_RLX_RLX: Program = litmus(
    "MP+rlx+rlx",
    "plain x=1; relaxed y=1 || if relaxed y, read plain x",
    |_| message(Relaxed, Relaxed),
);

fn message(store: Ordering, load: Ordering) {
    let [x, y] = zeros();
    in_tasks([
        &|| {
            x.store(1, Relaxed);
            y.store(1, store);
        },
        &|| {
            if y.load(load) != 0 {
                x.load(Relaxed);
            }
        },
    ]);
}

/// Message passing by fences.
pub(super) const MP_RELF_ACQF: Program = litmus(
    "MP+relf+acqf",
    "plain x=1; release fence; y=1 || if y, acquire fence and read plain x",
    |_| {
        let [x, y] = zeros();
        in_tasks([
            &|| {
                x.store(1, Relaxed);
                fence(Release);
                y.store(1, Relaxed);
            },
            &|| {
                if y.load(Relaxed) != 0 {
                    fence(Acquire);
                    x.load(Relaxed);
                }
            },
        ]);
    },
);

/// A release sequence that is none since C++20.
pub(super) const MP_RELS_ACQ: Program = litmus(
    "MP+rels+acq",
    "plain x=1; release y=0; relaxed y=1 || if acquired y, read plain x",
    |_| {
        let [x, y] = zeros();
        in_tasks([
            &|| {
                x.store(1, Relaxed);
                y.store(0, Release);
                y.store(1, Relaxed);
            },
            &|| {
                if y.load(Acquire) != 0 {
                    x.load(Relaxed);
                }
            },
        ]);
    },
);

/// Two messages, two receivers.
pub(super) const MP2: Program = litmus(
    "MP2",
    "a=1; c=1; fence; b=1; d=1 || read b; fence; read a || read d; fence; read c",
    |_| {
        let [a, b, c, d] = zeros();
        let receive = |flag: &AtomicUsize, data: &AtomicUsize| {
            flag.load(Relaxed);
            fence(AcqRel);
            data.load(Relaxed);
        };
        in_tasks([
            &|| {
                a.store(1, Relaxed);
                c.store(1, Relaxed);
                fence(AcqRel);
                b.store(1, Relaxed);
                d.store(1, Relaxed);
            },
            &|| receive(&b, &a),
            &|| receive(&d, &c),
        ]);
    },
);

/// Message passing through a read-modify-write of another task.
pub(super) const MPU_REL_ACQ: Program = litmus(
    "MPU+rel+acq",
    "plain x=1; release y=1 || y+=1 || if acquired y > 1, plain x=2",
    |_| message_through_update(Release),
);

/// The same without a release: a data race in relaxed models.
pub(super) const MPU_RLX_ACQ: Program = litmus(
    "MPU+rlx+acq",
    "plain x=1; relaxed y=1 || y+=1 || if acquired y > 1, plain x=2",
    |_| message_through_update(Relaxed),
);

fn message_through_update(store: Ordering) {
    let [x, y] = zeros();
    in_tasks([
        &|| {
            x.store(1, Relaxed);
            y.store(1, store);
        },
        &|| {
            y.fetch_add(1, Relaxed);
        },
        &|| {
            if y.load(Acquire) > 1 {
                x.store(2, Relaxed);
            }
        },
    ]);
}

/// Store against message.
pub(super) const S: Program = litmus("S", "x=2; y=1 || read y; x=1 (relaxed)", |_| {
    let [x, y] = zeros();
    in_tasks([
        &|| {
            x.store(2, Relaxed);
            y.store(1, Relaxed);
        },
        &|| {
            y.load(Relaxed);
            x.store(1, Relaxed);
        },
    ]);
});

/// A plain store after a message.
pub(super) const S_REL_ACQ: Program = litmus(
    "S+rel+acq",
    "plain x=1; release y=1 || if acquired y, plain x=2",
    |_| overwrite(Release),
);

/// The same without a release: a data race in relaxed models.
pub(super) const S_RLX_ACQ: Program = litmus(
    "S+rlx+acq",
    "plain x=1; relaxed y=1 || if acquired y, plain x=2",
    |_| overwrite(Relaxed),
);

fn overwrite(store: Ordering) {
    let [x, y] = zeros();
    in_tasks([
        &|| {
            x.store(1, Relaxed);
            y.store(1, store);
        },
        &|| {
            if y.load(Acquire) != 0 {
                x.store(2, Relaxed);
            }
        },
    ]);
}

/// Store buffering.
pub(super) const SB: Program = litmus("SB", "x=1; read y || y=1; read x (store buffering)", |_| {
    store_buffering(Release, Acquire, || ())
});

/// Store buffering in one order.
pub(super) const SB_4SC: Program = litmus("SB+4sc", "x=1; read y || y=1; read x (all SeqCst)", |_| {
    store_buffering(SeqCst, SeqCst, || ())
});

/// Store buffering with fences.
pub(super) const SB_SCFS: Program = litmus(
    "SB+scfs",
    "x=1; SeqCst fence; read y || y=1; SeqCst fence; read x (relaxed)",
    |_| store_buffering(Relaxed, Relaxed, || fence(SeqCst)),
);

fn store_buffering(store: Ordering, load: Ordering, between: fn()) {
    let [x, y] = zeros();
    let enter = |mine: &AtomicUsize, other: &AtomicUsize| {
        mine.store(1, store);
        between();
        other.load(load);
    };
    in_tasks([&|| enter(&x, &y), &|| enter(&y, &x)]);
}

/// Store buffering whose tasks read their own stores early.
pub(super) const SB_RFIS: Program = litmus(
    "SB+rfis",
    "x=1; read x; read y || y=1; read y; read x (release stores, SeqCst loads)",
    |_| {
        let [x, y] = zeros();
        let enter = |mine: &AtomicUsize, other: &AtomicUsize| {
            mine.store(1, Release);
            mine.load(SeqCst);
            other.load(SeqCst);
        };
        in_tasks([&|| enter(&x, &y), &|| enter(&y, &x)]);
    },
);

/// Stores against exchanges.
pub(super) const ATOMICPO: Program = litmus(
    "atomicpo",
    "y=1; fence; x=1 || swap x=1; swap y=1 (relaxed)",
    |_| {
        let [x, y] = zeros();
        in_tasks([
            &|| {
                y.store(1, Relaxed);
                fence(AcqRel);
                x.store(1, Relaxed);
            },
            &|| {
                x.swap(1, Relaxed);
                y.swap(1, Relaxed);
            },
        ]);
    },
);

/// A store that is forwarded before it is seen.
pub(super) const N6: Program = litmus("n6", "x=1; read x; read y || y=2; x=2 (x86)", |_| {
    forwarded(|| ())
});

/// The same with a fence before it is read.
pub(super) const N6_SCF: Program = litmus(
    "n6+scf",
    "x=1; SeqCst fence; read x; read y || y=2; x=2 (x86)",
    |_| forwarded(|| fence(SeqCst)),
);

fn forwarded(between: fn()) {
    let [x, y] = zeros();
    in_tasks([
        &|| {
            x.store(1, Release);
            between();
            x.load(Acquire);
            y.load(Acquire);
        },
        &|| {
            y.store(2, Release);
            x.store(2, Release);
        },
    ]);
}

/// A release sequence that another task's exchange continues.
pub(super) const RELSEQ: Program = litmus(
    "relseq",
    "x=1; release y=1; relaxed y=2 || swap y=3 || read y; fence; read x",
    |_| {
        let [x, y] = zeros();
        in_tasks([
            &|| {
                x.store(1, Relaxed);
                y.store(1, Release);
                y.store(2, Relaxed);
            },
            &|| {
                y.swap(3, Relaxed);
            },
            &|| {
                y.load(Relaxed);
                fence(AcqRel);
                x.load(Relaxed);
            },
        ]);
    },
);

/// A store, and a read behind a store.
pub(super) const RTEST: Program = Program {
    name: "rtest",
    about: "x=1; y=1 || y=2; read x (the shape R)",
    parameters: ORDER,
    settings: &[],
    expected: Expected::Pass,
    body: |values| {
        let (store, load) = orders(values);
        let [x, y] = zeros();
        in_tasks([
            &|| {
                x.store(1, store);
                y.store(1, store);
            },
            &|| {
                y.store(2, store);
                x.load(load);
            },
        ]);
    },
};
