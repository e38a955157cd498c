//! Programs by which partial-order reductions are compared: a number of tasks that conflict in a known way.
//!
//! A plain access of the original is a relaxed atomic here. All variables are 0 at first unless said otherwise; `||`
//! stands between tasks.

use super::scaffold::{flag, in_numbered_tasks, in_tasks, litmus, number, tasks, zeros};
use super::support::CALM_2;
use crate::{Expected, Parameter, Program};
use intermezzo::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use intermezzo::sync::atomic::{AtomicUsize, Ordering};

/// Increments of one variable.
pub(super) const AINC: Program = Program {
    name: "ainc",
    about: "each task: x+=1",
    parameters: &[tasks(3, 16)],
    settings: &[],
    expected: Expected::Pass,
    body: |values| {
        let [x] = zeros();
        in_numbered_tasks(0..values[0], |_| {
            x.fetch_add(1, Relaxed);
        });
    },
};

/// Increments of two variables.
pub(super) const BINC: Program = Program {
    name: "binc",
    about: "each task: x+=1; y+=1",
    parameters: &[tasks(3, 16)],
    settings: &[],
    expected: Expected::Pass,
    body: |values| {
        let [x, y] = zeros();
        in_numbered_tasks(0..values[0], |_| {
            x.fetch_add(1, Relaxed);
            y.fetch_add(1, Relaxed);
        });
    },
};

/// Increments and a store.
pub(super) const WAINC: Program = Program {
    name: "wainc",
    about: "x=42 || each of `tasks` tasks: x+=1",
    parameters: &[tasks(2, 16)],
    settings: &[],
    expected: Expected::Pass,
    body: |values| {
        let [x] = zeros();
        in_numbered_tasks(0..values[0] + 1, |task| match task {
            0 => x.store(42, Release),
            _ => {
                x.fetch_add(1, Relaxed);
            }
        });
    },
};

/// Increments that are a load and a store.
pub(super) const INC: Program = Program {
    name: "inc",
    about: "task i: read x; x = that + 2^i",
    parameters: &[tasks(3, 16)],
    settings: &[],
    expected: Expected::Pass,
    body: |values| {
        let [x] = zeros();
        in_numbered_tasks(0..values[0], |task| {
            let read = x.load(Relaxed);
            x.store(read + (1 << task), Release);
        });
    },
};

/// The same, with a result that is wrong.
pub(super) const LOSTUPD: Program = Program {
    name: "lostupd",
    about: "each task: read x; x = that + 1; in the end x is not the number of tasks",
    parameters: &[tasks(2, 16)],
    settings: &[],
    expected: Expected::Fail("assertion"),
    body: |values| {
        let [x] = zeros();
        in_numbered_tasks(0..values[0], |_| {
            let read = x.load(Relaxed);
            x.store(read + 1, Release);
        });
        assert_eq!(x.into_inner() as u64, values[0]);
    },
};

/// Increments, counted in the end.
pub(super) const FAI_OK: Program = Program {
    name: "fai-ok",
    about: "each task increments x `increments` times, and none is lost",
    parameters: &[
        tasks(2, 16),
        number("increments", 2, (1, 100), "increments of each"),
    ],
    settings: &[],
    expected: Expected::Pass,
    body: |values| {
        let &[tasks, increments] = values else {
            unreachable!("two parameters")
        };
        let [x] = zeros();
        in_numbered_tasks(0..tasks, |_| {
            for _ in 0..increments {
                x.fetch_add(1, Relaxed);
            }
        });
        assert_eq!(x.into_inner() as u64, tasks * increments);
    },
};

/// Nothing in common.
pub(super) const INDEP: Program = Program {
    name: "indep",
    about: "each task stores `stores` times to a variable of its own: one trace",
    parameters: &[tasks(2, 16), number("stores", 2, (1, 100), "stores of each")],
    settings: &[],
    expected: Expected::Pass,
    body: |values| {
        let own = zeros::<16>();
        in_numbered_tasks(0..values[0], |task| {
            for value in 0..values[1] as usize {
                own[task].store(value, Relaxed);
            }
        });
    },
};

/// Exchanges of which one wins.
pub(super) const CAS: Program = Program {
    name: "cas",
    about: "task i: exchange x 0 -> i+1; those that fail are reads",
    parameters: &[tasks(3, 16)],
    settings: &[],
    expected: Expected::Pass,
    body: |values| {
        let [x] = zeros();
        in_numbered_tasks(0..values[0], |task| {
            let _ = x.compare_exchange(0, task + 1, Relaxed, Relaxed);
        });
    },
};

/// Exchanges that build on one another.
pub(super) const CASROT: Program = Program {
    name: "casrot",
    about: "task i of 1, 2, ..: exchange x i-1 -> i; those that fail are reads",
    parameters: &[tasks(3, 16)],
    settings: &[],
    expected: Expected::Pass,
    body: |values| {
        let [x] = zeros();
        in_numbered_tasks(1..values[0] + 1, |task| {
            let _ = x.compare_exchange(task - 1, task, Relaxed, Relaxed);
        });
    },
};

/// One writer and readers.
pub(super) const READERS: Program = Program {
    name: "readers",
    about: "x=1 || each of `tasks` tasks: read x",
    parameters: &[tasks(3, 32)],
    settings: &[],
    expected: Expected::Pass,
    body: |values| {
        let [x] = zeros();
        in_numbered_tasks(0..values[0] + 1, |task| match task {
            0 => x.store(1, Release),
            _ => {
                x.load(Acquire);
            }
        });
    },
};

/// Writers and one reader.
pub(super) const N_WRITERS: Program = Program {
    name: "N-writers",
    about: "writer i: x=i || read x",
    parameters: &[number("writers", 3, (1, 16), "tasks that store")],
    settings: &[],
    expected: Expected::Pass,
    body: |values| {
        let [x] = zeros();
        in_numbered_tasks(0..values[0] + 1, |task| match task {
            0 => {
                x.load(Acquire);
            }
            _ => x.store(task, Release),
        });
    },
};

/// Readers of variables that others write all the time.
pub(super) const COA: Program = Program {
    name: "CoA",
    about: "x=1; read y; read x || x=2; read z; read x || writer i: y=i; z=i",
    parameters: &[number("writers", 1, (0, 16), "tasks that store to y and z")],
    settings: CALM_2,
    expected: Expected::Pass,
    body: |values| {
        let [x, y, z] = zeros();
        in_numbered_tasks(0..values[0] + 2, |task| match task {
            0 | 1 => {
                x.store(task + 1, Release);
                [&y, &z][task].load(Acquire);
                x.load(Acquire);
            }
            _ => {
                y.store(task, Release);
                z.store(task, Release);
            }
        });
    },
};

/// Two pointers crosswise.
pub(super) const SHARED_PTR: Program = Program {
    name: "SharedPtr",
    about: "x=3, y=4: point p at y; read x `reads` times; add 3 to what p points at || the same with x and y \
            exchanged",
    parameters: &[number("reads", 2, (0, 1000), "reads of each")],
    settings: CALM_2,
    expected: Expected::Pass,
    body: |values| {
        let variables = [3, 4].map(AtomicUsize::new);
        let [pointer] = zeros();
        in_numbered_tasks(0..2, |task| {
            pointer.store(1 - task, Release);
            for _ in 0..values[0] {
                variables[task].load(Acquire);
            }
            let target = &variables[pointer.load(Acquire)];
            target.store(target.load(Acquire) + 3, Release);
        });
    },
};

/// Long stretches in private, a little in common.
pub(super) const PAR_LENGTH: Program = Program {
    name: "par_length",
    about: "two tasks store to and read a cell of their own `iterations` times; then v = the task's number; \
            read v",
    parameters: &[number("iterations", 2, (0, 1000), "stores and reads in private")],
    settings: CALM_2,
    expected: Expected::Pass,
    body: |values| {
        let (own, [v]) = (zeros::<2>(), zeros());
        in_numbered_tasks(0..2, |task| {
            for value in 0..values[0] as usize {
                own[task].store(value, SeqCst);
                own[task].load(SeqCst);
            }
            v.store(task + 1, SeqCst);
            v.load(SeqCst);
        });
    },
};

/// Many reads against many stores.
pub(super) const BIG0: Program = Program {
    name: "big0",
    about: "read x y z w x y z || read x y z || x=1; y=1; x=2; y=2; x=3; y=3 || z=1; w=1; z=2; w=2; z=3; w=3",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Pass,
    body: |_| {
        let [x, y, z, w] = zeros();
        let read = |variables: &[&AtomicUsize]| {
            for variable in variables {
                variable.load(Acquire);
            }
        };
        let write = |one: &AtomicUsize, other: &AtomicUsize| {
            for value in 1..=3 {
                one.store(value, Release);
                other.store(value, Release);
            }
        };
        in_tasks([
            &|| read(&[&x, &y, &z, &w, &x, &y, &z]),
            &|| read(&[&x, &y, &z]),
            &|| write(&x, &y),
            &|| write(&z, &w),
        ]);
    },
};

/// A reader that polls, but not for ever.
pub(super) const PUBLISH: Program = litmus(
    "publish",
    "x=42; flag=1 || poll flag at most 41 times, then want x to be 42 if it was seen",
    |_| {
        let [x, published] = zeros();
        in_tasks([
            &|| {
                x.store(42, Release);
                published.store(1, Release);
            },
            &|| {
                if (0..41).any(|_| published.load(Acquire) == 1) {
                    assert_eq!(x.load(Acquire), 42);
                }
            },
        ]);
    },
);

/// Two tasks that compute Fibonacci numbers together.
pub(super) const FIB_BENCH: Program = Program {
    name: "fib_bench",
    about: "x=y=1: `iterations` times x=x+y || `iterations` times y=x+y || neither exceeds 144",
    parameters: &[ITERATIONS],
    settings: CALM_2,
    expected: Expected::Pass,
    body: |values| fibonacci(values[0], |n| n <= 144),
};

/// The same, with an assertion that they reach less than they can.
pub(super) const FIB_BENCH_144: Program = Program {
    name: "fib-bench-144",
    about: "as fib_bench; none reaches the Fibonacci number of 2 * iterations + 2, but one can \
            (144 for 5 iterations)",
    parameters: &[ITERATIONS],
    settings: CALM_2,
    expected: Expected::Fail("assertion"),
    body: |values| {
        let (mut last, mut most) = (0, 1);
        for _ in 1..2 * values[0] + 2 {
            (last, most) = (most, last + most);
        }
        fibonacci(values[0], |n| n < most);
    },
};

const ITERATIONS: Parameter = number("iterations", 2, (1, 5), "additions of each");

fn fibonacci(iterations: u64, allowed: impl Fn(usize) -> bool + Sync) {
    let [x, y] = [1, 1].map(AtomicUsize::new);
    let add = |sum: &AtomicUsize| {
        for _ in 0..iterations {
            let (x, y) = (x.load(Acquire), y.load(Acquire));
            sum.store(x + y, Release);
        }
    };
    in_tasks([&|| add(&x), &|| add(&y), &|| {
        assert!(allowed(x.load(Acquire)) && allowed(y.load(Acquire)));
    }]);
}

/// Tasks that insert into one hash table; those after the eleventh meet others.
pub(super) const INDEXER: Program = Program {
    name: "indexer",
    about: "task t inserts t + 11 i for i < 4 into a hash table of 128, at 7 times that or the next free slot: \
            no conflicts below 12 tasks (Flanagan and Godefroid)",
    parameters: &[tasks(2, 16)],
    settings: CALM_2,
    expected: Expected::Pass,
    body: |values| {
        const SIZE: usize = 128;
        let table = zeros::<SIZE>();
        in_numbered_tasks(0..values[0], |task| {
            for message in 0..4 {
                let word = task + 11 * message;
                let mut at = (word * 7) % SIZE;
                while table[at].compare_exchange(0, word, Relaxed, Relaxed).is_err() {
                    at = (at + 1) % SIZE;
                }
            }
        });
    },
};

/// A message handed on from task to task.
pub(super) const MPCHAIN: Program = Program {
    name: "mpchain",
    about: "task 0: v0=1; task i: read v(i-1); vi=1",
    parameters: &[tasks(3, 16)],
    settings: &[],
    expected: Expected::Pass,
    body: |values| {
        let v = zeros::<16>();
        in_numbered_tasks(0..values[0], |task| {
            if task > 0 {
                v[task - 1].load(Acquire);
            }
            v[task].store(1, Release);
        });
    },
};

/// Load buffering in a ring.
pub(super) const LB_RING: Program = Program {
    name: "lb-ring",
    about: "task i of N: read vi; v(i+1 mod N)=1 (relaxed load buffering)",
    parameters: &[tasks(3, 16)],
    settings: &[],
    expected: Expected::Pass,
    body: |values| {
        let (v, tasks) = (zeros::<16>(), values[0] as usize);
        in_numbered_tasks(0..values[0], |task| {
            v[task].load(Relaxed);
            v[(task + 1) % tasks].store(1, Relaxed);
        });
    },
};

/// Store buffering in a ring.
pub(super) const SB_RING: Program = Program {
    name: "sb-ring",
    about: "task i of N: vi=1; read v(i+1 mod N) (store buffering)",
    parameters: &[
        tasks(3, 16),
        flag("seq_cst", "1: all accesses are SeqCst; 0: they are relaxed"),
    ],
    settings: &[],
    expected: Expected::Pass,
    body: |values| {
        let (v, tasks) = (zeros::<16>(), values[0] as usize);
        let order = [Ordering::Relaxed, SeqCst][values[1] as usize];
        in_numbered_tasks(0..values[0], |task| {
            v[task].store(1, order);
            v[(task + 1) % tasks].load(order);
        });
    },
};
