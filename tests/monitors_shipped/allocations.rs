//! The default monitors allocate nothing in an execution, except when the execution is longer than all before it.

use intermezzo::cell::{ByPointer, UnsafeCell};
use intermezzo::monitors::{by_name, names};
use intermezzo::sync::atomic::{AtomicUsize, Ordering};
use intermezzo::sync::{Arc, Mutex};
use intermezzo::{Environment, Explorer, Settings, thread};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Mutex as StdMutex;

/// The system's allocator, which counts the allocations of each thread.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    // A thread that ends may allocate after its thread-locals were dropped.
    let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: all calls are passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller guarantees it.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller guarantees it.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller guarantees it.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// The number of executions, and of those after which the monitors have allocated their memory.
const EXECUTIONS: usize = 3_000;
const WARM: usize = 1_000;

/// The shared state: cells that one task writes and the other reads, an atomic, and a lock.
struct Shared {
    cells: [UnsafeCell<usize>; 4],
    written: AtomicUsize,
    sum: Mutex<usize>,
}

// SAFETY: each cell is read only once `written` says that it has been written.
unsafe impl Sync for Shared {}

fn test() {
    let shared = Arc::new(Shared {
        cells: [(); 4].map(|()| UnsafeCell::new(0)),
        written: AtomicUsize::new(0),
        sum: Mutex::new(0),
    });
    let writer = {
        let shared = shared.clone();
        thread::spawn(move || {
            for (cell, number) in shared.cells.iter().zip(1..) {
                // SAFETY: no other task reads this cell yet.
                cell.with_mut(|at| unsafe { *at = number });
                shared.written.store(number, Ordering::Release);
            }
            *shared.sum.lock().unwrap() += 1;
        })
    };
    for _ in 0..3 {
        let written = shared.written.load(Ordering::Acquire);
        for cell in &shared.cells[..written] {
            // SAFETY: the cell has been written, and is not written again.
            *shared.sum.lock().unwrap() += cell.with(|at| unsafe { *at });
        }
    }
    writer.join().unwrap();
}

/// Returns the allocations from the beginning of each execution to that of the next, after the first `WARM` ones.
fn allocations(monitors: &str) -> Vec<u64> {
    let mut settings = Settings::default();
    settings.set("monitors", monitors).unwrap();
    settings.set("reduction", "none").unwrap();
    settings.set("executions", &EXECUTIONS.to_string()).unwrap();
    settings.environment = Environment::calm();
    let marks = StdMutex::new(Vec::with_capacity(EXECUTIONS));
    let report = Explorer::with_settings(settings)
        .monitors_by_name(by_name, names())
        .explore(|| {
            marks.lock().unwrap().push(ALLOCATIONS.get());
            test();
        });
    assert!(report.findings().is_empty(), "{report}");
    let marks = marks.into_inner().unwrap();
    assert_eq!(marks.len(), EXECUTIONS, "{report}");
    marks[WARM..].windows(2).map(|two| two[1] - two[0]).collect()
}

#[test]
fn default_monitors_allocate_nothing_in_an_execution() {
    let off = allocations("none");
    assert!(off.iter().all(|&count| count > 0), "the test's own are counted");
    for monitors in ["data-race", "leak", "misuse", "data-race;leak;misuse"] {
        let on = allocations(monitors);
        let more: Vec<(usize, u64, u64)> = (WARM..)
            .zip(off.iter().zip(&on))
            .filter(|(_, (off, on))| off != on)
            .map(|(execution, (&off, &on))| (execution, off, on))
            .collect();
        // In an execution that is longer than all before it, a list of the engine and one of the monitor may grow. Also, a
        // worker reads the clock after some executions, more often if they are slow, which allocates, too.
        let looks = off.len() / 16;
        assert!(
            more.len() <= 3 + looks && more.iter().all(|(_, off, on)| off.abs_diff(*on) <= 2),
            "{monitors}: executions, and their allocations without and with: {more:?}"
        );
    }
}
