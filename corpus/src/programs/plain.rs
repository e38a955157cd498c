//! Plain memory: the data that the literature's programs share next to their atomics, in cells. Accesses that nothing
//! orders are a data race, whatever their outcome.

use super::scaffold::{in_numbered_tasks, in_tasks, number, tasks, wait_until, zeros};
use super::support::CALM_2;
use crate::{Body, Expected, Program};
use Ordering::{AcqRel, Acquire, Relaxed, Release};
use intermezzo::cell::UnsafeCell;
use intermezzo::sync::Mutex;
use intermezzo::sync::atomic::{AtomicUsize, Ordering, fence};

/// A number that tasks share, and that nothing protects.
struct Plain(UnsafeCell<u64>);

// SAFETY: it is for programs that order all accesses to it, or whose race is to be found; inside an exploration tasks
// take turns.
unsafe impl Sync for Plain {}

impl Plain {
    const fn new() -> Plain {
        Plain(UnsafeCell::new(0))
    }

    #[track_caller]
    fn set(&self, value: u64) {
        // SAFETY: as said above, no other task accesses it now.
        unsafe { *self.0.get() = value };
    }

    #[track_caller]
    fn get(&self) -> u64 {
        // SAFETY: as for `set`.
        unsafe { *self.0.get() }
    }
}

/// Returns a program that races, and nothing else.
const fn races(name: &'static str, about: &'static str, body: Body) -> Program {
    Program {
        expected: Expected::Fail("data_race"),
        ..races_not(name, about, body)
    }
}

/// Returns a program that is right.
const fn races_not(name: &'static str, about: &'static str, body: Body) -> Program {
    Program {
        name,
        about,
        parameters: &[],
        settings: &[],
        expected: Expected::Pass,
        body,
    }
}

/// Two tasks count up.
pub(super) const RACY: Program = races("racy", "two tasks increment plain data", |_| {
    let data = Plain::new();
    in_numbered_tasks(0..2, |_| data.set(data.get() + 1));
});

/// Message passing.
pub(super) const MP_REL_ACQ: Program = races_not(
    "MP+rel+acq-plain",
    "plain x=1; release y=1 || if acquired y, read plain x",
    |_| message(Release, Acquire),
);

/// The same with a relaxed load.
pub(super) const MP_REL_RLX: Program = races(
    "MP+rel+rlx-plain",
    "plain x=1; release y=1 || if relaxed y, read plain x",
    |_| message(Release, Relaxed),
);

/// The same with a relaxed store, too.
pub(super) const MP_RLX_RLX: Program = races(
    "MP+rlx+rlx-plain",
    "plain x=1; relaxed y=1 || if relaxed y, read plain x",
    |_| message(Relaxed, Relaxed),
);

fn message(store: Ordering, load: Ordering) {
    let (x, [y]) = (Plain::new(), zeros());
    in_tasks([
        &|| {
            x.set(1);
            y.store(1, store);
        },
        &|| {
            if y.load(load) != 0 {
                assert_eq!(x.get(), 1);
            }
        },
    ]);
}

/// Message passing by fences.
pub(super) const MP_RELF_ACQF: Program = races_not(
    "MP+relf+acqf-plain",
    "plain x=1; release fence; y=1 || if y, acquire fence and read plain x",
    |_| {
        let (x, [y]) = (Plain::new(), zeros());
        in_tasks([
            &|| {
                x.set(1);
                fence(Release);
                y.store(1, Relaxed);
            },
            &|| {
                if y.load(Relaxed) != 0 {
                    fence(Acquire);
                    assert_eq!(x.get(), 1);
                }
            },
        ]);
    },
);

/// Message passing by a release store and another after it: since C++20 that is no release sequence.
pub(super) const MP_RELS_ACQ: Program = races(
    "MP+rels+acq-plain",
    "plain x=1; release y=0; relaxed y=1 || if acquired y, read plain x",
    |_| {
        let (x, [y]) = (Plain::new(), zeros());
        in_tasks([
            &|| {
                x.set(1);
                y.store(0, Release);
                y.store(1, Relaxed);
            },
            &|| {
                if y.load(Acquire) != 0 {
                    assert_eq!(x.get(), 1);
                }
            },
        ]);
    },
);

/// Message passing through a read-modify-write of a third task.
pub(super) const MPU_REL_ACQ: Program = races_not(
    "MPU+rel+acq-plain",
    "plain x=1; release y=1 || y+=1 || if acquired y > 1, plain x=2",
    |_| message_through_update(Release),
);

/// The same with a relaxed store.
pub(super) const MPU_RLX_ACQ: Program = races(
    "MPU+rlx+acq-plain",
    "plain x=1; relaxed y=1 || y+=1 || if acquired y > 1, plain x=2",
    |_| message_through_update(Relaxed),
);

fn message_through_update(store: Ordering) {
    let (x, [y]) = (Plain::new(), zeros());
    in_tasks([
        &|| {
            x.set(1);
            y.store(1, store);
        },
        &|| {
            y.fetch_add(1, Relaxed);
        },
        &|| {
            if y.load(Acquire) > 1 {
                x.set(2);
            }
        },
    ]);
}

/// Store against message.
pub(super) const S_REL_ACQ: Program = races_not(
    "S+rel+acq-plain",
    "plain x=1; release y=1 || if acquired y, plain x=2",
    |_| overwrite(Release),
);

/// The same with a relaxed store.
pub(super) const S_RLX_ACQ: Program = races(
    "S+rlx+acq-plain",
    "plain x=1; relaxed y=1 || if acquired y, plain x=2",
    |_| overwrite(Relaxed),
);

fn overwrite(store: Ordering) {
    let (x, [y]) = (Plain::new(), zeros());
    in_tasks([
        &|| {
            x.set(1);
            y.store(1, store);
        },
        &|| {
            if y.load(Acquire) != 0 {
                x.set(2);
            }
        },
    ]);
}

/// A lock of one exchange.
pub(super) const CASLOCK: Program = Program {
    name: "caslock-plain",
    about: "each task increments plain data under a lock that is one exchange",
    parameters: &[tasks(2, 8)],
    settings: CALM_2,
    expected: Expected::Pass,
    body: |values| increments_under_exchange(values[0], Acquire, Release),
};

/// The same without order.
pub(super) const CASLOCK_RLX: Program = Program {
    name: "caslock-rlx-plain",
    about: "as caslock-plain, with relaxed orderings",
    expected: Expected::Fail("data_race"),
    body: |values| increments_under_exchange(values[0], Relaxed, Relaxed),
    ..CASLOCK
};

fn increments_under_exchange(tasks: u64, lock: Ordering, unlock: Ordering) {
    let (data, [locked]) = (Plain::new(), zeros());
    in_numbered_tasks(0..tasks, |_| {
        wait_until(|| locked.compare_exchange(0, 1, lock, Relaxed).is_ok());
        data.set(data.get() + 1);
        locked.store(0, unlock);
    });
    assert_eq!(data.get(), tasks);
}

/// A lock that loads before it tries.
pub(super) const SPINLOCK: Program = Program {
    name: "spinlock-plain",
    about: "each task stores and reads plain data under a lock that is read until it is free, then exchanged",
    parameters: &[tasks(2, 8)],
    settings: CALM_2,
    expected: Expected::Pass,
    body: |values| {
        let (data, [locked]) = (Plain::new(), zeros());
        in_numbered_tasks(0..values[0], |task| {
            take_when_free(&locked);
            data.set(task as u64);
            assert_eq!(data.get(), task as u64);
            locked.store(0, Release);
        });
    },
};

fn take_when_free(locked: &AtomicUsize) {
    loop {
        wait_until(|| locked.load(Relaxed) == 0);
        if locked.compare_exchange(0, 1, Acquire, Relaxed).is_ok() {
            return;
        }
    }
}

/// A mutex, and plain data that it does not protect.
pub(super) const MUTEX_NM: Program = Program {
    name: "mutex-nm-plain",
    about: "each task takes a mutex some times, and increments plain data beside it",
    parameters: &[
        tasks(2, 8),
        number("increments", 1, (1, 8), "how often each task takes it"),
    ],
    settings: &[],
    expected: Expected::Pass,
    body: |values| {
        let (data, mutex) = (Plain::new(), Mutex::new(()));
        in_numbered_tasks(0..values[0], |_| {
            for _ in 0..values[1] {
                let _held = mutex.lock().unwrap();
                data.set(data.get() + 1);
            }
        });
        assert_eq!(data.get(), values[0] * values[1]);
    },
};

/// Tasks that each work on memory of their own, and a release sequence by which one learns of all.
pub(super) const TICKETS: Program = Program {
    name: "tickets-plain",
    about: "each task takes a ticket, increments the plain data of that number, and reads all if it is the last",
    parameters: &[
        tasks(2, 8),
        number("increments", 4, (1, 1000), "how often each task increments"),
    ],
    settings: &[],
    expected: Expected::Pass,
    body: |values| {
        let data = [const { Plain::new() }; 8];
        let [tickets, done] = zeros();
        in_numbered_tasks(0..values[0], |_| {
            let own = &data[tickets.fetch_add(1, AcqRel)];
            (0..values[1]).for_each(|_| own.set(own.get() + 1));
            if done.fetch_add(1, AcqRel) as u64 + 1 == values[0] {
                let sum: u64 = data.iter().map(Plain::get).sum();
                assert_eq!(sum, values[0] * values[1]);
            }
        });
    },
};
