//! Parallel kernels of the Splash-2, PARSEC and Inspect suites, cut down to the synchronisation of their tasks, with
//! the waiting that they lack; and their twins, which wait.
//!
//! Freed memory is marked: an access that would crash panics.

use super::scaffold::{number, tasks, twin};
use super::support::CALM_2;
use crate::{Expected, Parameter, Program};
use intermezzo::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use intermezzo::sync::{Condvar, Mutex};
use intermezzo::thread;
use std::sync::Arc;

/// A wait for the end that is empty.
pub(super) const BARNES: Program = Program {
    name: "barnes",
    about: "main does not wait for its worker before it checks whether it is done (SCTBench splash2.barnes)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("assertion"),
    body: |_| look_at_the_end(0, |_| {}),
};

/// Its twin, which waits.
pub(super) const BARNES_FIXED: Program = twin(
    &BARNES,
    "barnes_fixed",
    "barnes, with main waiting for its worker",
    |_| look_at_the_end(0, |worker| worker.join().unwrap()),
);

/// The same around another kernel.
pub(super) const FFT: Program = Program {
    name: "fft",
    about: "as barnes, with a worker that transposes a matrix first (SCTBench splash2.fft)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("assertion"),
    body: |_| look_at_the_end(2, |_| {}),
};

/// Its twin, which waits.
pub(super) const FFT_FIXED: Program =
    twin(&FFT, "fft_fixed", "fft, with main waiting for its worker", |_| {
        look_at_the_end(2, |worker| worker.join().unwrap())
    });

/// A worker exchanges `pairs` pairs of cells and counts itself as finished, which main checks after `wait_for_end`.
fn look_at_the_end(pairs: usize, wait_for_end: fn(thread::JoinHandle<()>)) {
    let finished = Arc::new(AtomicUsize::new(0));
    let counted = finished.clone();
    let worker = thread::spawn(move || {
        for pair in 0..pairs {
            let cells = [AtomicUsize::new(pair), AtomicUsize::new(pair + 1)];
            cells[0].store(cells[1].swap(cells[0].load(SeqCst), SeqCst), SeqCst);
        }
        counted.fetch_add(1, SeqCst);
    });
    wait_for_end(worker);
    assert_eq!(finished.load(SeqCst), 1);
}

/// A barrier of a lock and a condition variable: the kernels bring their own.
struct OwnBarrier {
    size: u64,
    /// The number of all arrivals so far.
    arrived: Mutex<u64>,
    complete: Condvar,
}

impl OwnBarrier {
    fn new(size: u64) -> OwnBarrier {
        OwnBarrier {
            size,
            arrived: Mutex::new(0),
            complete: Condvar::new(),
        }
    }

    /// Waits until enough tasks have arrived.
    fn wait(&self) {
        let mut arrived = self.arrived.lock().unwrap();
        *arrived += 1;
        let needed = arrived.div_ceil(self.size) * self.size;
        if *arrived == needed {
            self.complete.notify_all();
        }
        drop(
            self.complete
                .wait_while(arrived, |arrived| *arrived < needed)
                .unwrap(),
        );
    }
}

const WORKERS: &[Parameter] = &[number("workers", 2, (2, 4), "workers, of which the first leads")];

/// Workers that work on the same point again.
pub(super) const STREAMCLUSTER: Program = Program {
    name: "streamcluster",
    about: "a leader opens points for all workers; without the barrier after it closed one, workers continue with it \
            and wait for those who do not (SCTBench parsec.streamcluster; 4 workers)",
    parameters: WORKERS,
    settings: CALM_2,
    expected: Expected::Fail("deadlock"),
    body: |values| open_points(values[0], |_| {}),
};

/// Its twin, with the barrier.
pub(super) const STREAMCLUSTER_FIXED: Program = twin(
    &STREAMCLUSTER,
    "streamcluster_fixed",
    "streamcluster, with the barrier after a point is closed",
    |values| open_points(values[0], OwnBarrier::wait),
);

/// Points that a leader opens, one after the other.
struct Points {
    open: bool,
    point: usize,
}

/// Each point is worked on by all workers, which then wait for each other. Once it is closed, they do what
/// `after_closing` does.
fn open_points(workers: u64, after_closing: fn(&OwnBarrier)) {
    const POINTS: usize = 2;
    let barrier = OwnBarrier::new(workers);
    let (points, opened) = (
        Mutex::new(Points {
            open: false,
            point: 0,
        }),
        Condvar::new(),
    );
    let open = |point| {
        *points.lock().unwrap() = Points { open: true, point };
        opened.notify_all();
    };
    let lead = || {
        for point in 0..POINTS {
            open(point);
            barrier.wait();
            points.lock().unwrap().open = false;
            after_closing(&barrier);
        }
        open(POINTS);
    };
    let follow = || {
        loop {
            let points = opened
                .wait_while(points.lock().unwrap(), |points| !points.open)
                .unwrap();
            if points.point == POINTS {
                break;
            }
            drop(points);
            barrier.wait();
            after_closing(&barrier);
        }
    };
    thread::scope(|scope| {
        scope.spawn(lead);
        for _ in 1..workers {
            scope.spawn(follow);
        }
    });
}

/// An array that is freed while others read it.
pub(super) const STREAMCLUSTER3: Program = Program {
    name: "streamcluster3",
    about: "a leader frees an array that all workers write and read, without the barrier between reading and freeing \
            (SCTBench parsec.streamcluster3; 4 workers)",
    parameters: WORKERS,
    settings: CALM_2,
    expected: Expected::Fail("panic"),
    body: |values| share_costs(values[0], |_| {}),
};

/// Its twin, with the barrier.
pub(super) const STREAMCLUSTER3_FIXED: Program = twin(
    &STREAMCLUSTER3,
    "streamcluster3_fixed",
    "streamcluster3, with a barrier before the array is freed",
    |values| share_costs(values[0], OwnBarrier::wait),
);

/// Each worker writes its cost, and reads its neighbour's when all are written; the leader then frees them.
fn share_costs(workers: u64, before_freeing: fn(&OwnBarrier)) {
    let barrier = OwnBarrier::new(workers);
    let costs: Vec<AtomicUsize> = (0..workers).map(|_| AtomicUsize::new(0)).collect();
    let freed = AtomicBool::new(false);
    let work = |worker: usize| {
        costs[worker].store(worker + 1, SeqCst);
        barrier.wait();
        if freed.load(SeqCst) {
            panic!("an array is read that was freed");
        }
        let neighbour = (worker + 1) % costs.len();
        assert_eq!(costs[neighbour].load(SeqCst), neighbour + 1);
        before_freeing(&barrier);
        if worker == 0 {
            freed.store(true, SeqCst);
        }
    };
    let work = &work;
    thread::scope(|scope| {
        for worker in 0..workers as usize {
            scope.spawn(move || work(worker));
        }
    });
}

/// A library that two tasks shut down while main still uses it.
pub(super) const CTRACE_TEST: Program = Program {
    name: "ctrace-test",
    about: "main traces by a library while two tasks each shut it down, and read an argument that main changes \
            (SCTBench inspect.ctrace-test)",
    parameters: &[tasks(2, 4)],
    settings: CALM_2,
    expected: Expected::Fail("panic"),
    body: |values| {
        let library = Tracing::default();
        let argument = &AtomicUsize::new(0);
        thread::scope(|scope| {
            for task in 1..=values[0] as usize {
                argument.store(task, SeqCst);
                scope.spawn(|| {
                    library.trace(argument.load(SeqCst));
                    library.shut_down();
                });
            }
            library.trace(0);
        });
    },
};

/// Its twin: main shuts down when all are done.
pub(super) const CTRACE_TEST_FIXED: Program = twin(
    &CTRACE_TEST,
    "ctrace-test_fixed",
    "ctrace-test, with an argument for each task, and shut down by main when they are done",
    |values| {
        let library = &Tracing::default();
        thread::scope(|scope| {
            for task in 1..=values[0] as usize {
                scope.spawn(move || library.trace(task));
            }
            library.trace(0);
        });
        library.shut_down();
    },
);

/// A library with a buffer that it frees when it is shut down.
#[derive(Default)]
struct Tracing {
    shut_down: AtomicBool,
    traced: [AtomicUsize; 5],
}

impl Tracing {
    /// Notes that the task of this number was here.
    fn trace(&self, task: usize) {
        if self.shut_down.load(SeqCst) {
            panic!("a buffer is written that was freed");
        }
        self.traced[task].store(1, SeqCst);
    }

    fn shut_down(&self) {
        if self.shut_down.load(SeqCst) {
            panic!("a buffer is freed twice");
        }
        self.shut_down.store(true, SeqCst);
    }
}
