//! Programs that exercise the state that monitors can undo between two executions, and the state that they cannot. They are
//! compared like random ones.

use crate::again::{Seen, compare_in};
use crate::cells::Shared;
use intermezzo::alloc::{Layout, Track, alloc, dealloc};
use intermezzo::sync::atomic::{AtomicU64, Ordering::*, fence};
use intermezzo::sync::mpsc::{channel, sync_channel};
use intermezzo::sync::{Arc, Barrier, Mutex, PoisonError};
use intermezzo::{any_bool, choose, ptr, thread};
use std::cell::Cell;
use std::sync::{Arc as StdArc, Mutex as Plain};
use std::time::Duration;

/// The settings that decide which executions are run.
const SEARCHES: [&[(&str, &str)]; 7] = [
    &[("strategy", "dfs"), ("reduction", "none")],
    &[("strategy", "dfs"), ("reduction", "dpor"), ("jobs", "2")],
    &[("strategy", "dfs"), ("steps", "25")],
    &[("strategy", "dfs"), ("data_points", "races")],
    &[
        ("strategy", "dfs"),
        ("environment", "timeouts=1,spurious_wakeups=1,try_lock_failures=1"),
    ],
    &[("keep_going", "false"), ("minimise", "20")],
    &[("strategy", "portfolio(surw,pos)")],
];

intermezzo::thread_local! {
    static OWN: Shared = Shared::default();
}

/// The shared state of a program's tasks.
#[derive(Default)]
struct World {
    cells: [Shared; 3],
    lock: Mutex<()>,
    number: AtomicU64,
}

impl World {
    /// Calls `act` while it holds the lock.
    fn locked(&self, act: impl FnOnce()) {
        let _guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        act();
    }
}

/// Compares with all searches, or with these.
fn compare(searches: &[&[(&str, &str)]], program: fn()) {
    compare_in(searches, &StdArc::<Plain<Seen>>::default(), StdArc::new(program));
}

/// Addresses are reused, tasks begin and end, and executions leave different state.
fn memory_and_tasks() {
    let world = Arc::new(World::default());
    let boxed = StdArc::new(Plain::new(Box::<Shared>::default()));
    let spawn = |held: u8| {
        let (world, boxed) = (world.clone(), boxed.clone());
        thread::spawn(move || {
            OWN.with(|own| own.write(0));
            let fresh = Box::<Shared>::default();
            fresh.write(1);
            // Not dropped while the plain mutex is held, because monitors receive the drop.
            let old = std::mem::replace(&mut *boxed.lock().unwrap(), fresh);
            drop(old);
            world.locked(|| world.cells[0].write(2));
            match held {
                0 => std::mem::forget(world),
                _ => world.locked(|| panic!("the lock is poisoned")),
            }
        })
    };
    let tasks = [spawn(0), spawn(1)];
    let value = Track::new(0);
    let [first, second] = tasks;
    if first.is_finished() {
        std::mem::forget(value);
    }
    thread::park_timeout(Duration::from_millis(1));
    world.locked(|| world.cells[0].read(3));
    if any_bool() {
        let _panicked = second.join();
        world.cells[0].write(4);
    }
    drop(first);
}

/// Messages, rounds of a barrier and fences cannot be undone; the events between them can.
fn messages_and_rounds() {
    let world = Arc::new(World::default());
    let barrier = Arc::new(Barrier::new(2));
    let ((sender, receiver), (meets, met)) = (channel(), sync_channel(0));
    let first = thread::spawn({
        let (world, barrier) = (world.clone(), barrier.clone());
        move || {
            world.locked(|| world.cells[0].write(0));
            sender.send(()).expect("it is received");
            world.cells[1].write(1);
            fence(Release);
            world.number.store(3, Relaxed);
            let _met = met.recv();
            barrier.wait();
            world.locked(|| world.cells[0].write(2));
            if any_bool() {
                world.cells[1].read(3);
            }
        }
    });
    let second = thread::spawn({
        let world = world.clone();
        move || {
            world.locked(|| world.cells[0].write(4));
            let _met = meets.send(());
            world.locked(|| world.cells[0].write(5));
        }
    });
    let _message = receiver.recv();
    if world.number.load(Relaxed) == 3 {
        fence(Acquire);
        world.cells[1].write(6);
    }
    barrier.wait();
    world.locked(|| world.cells[0].write(7));
    first.join().unwrap();
    second.join().unwrap();
    world.cells[1].write(8);
}

/// A task reaches a fence or not, depending on the value that it has read.
fn a_fence_in_some_executions() {
    let world = Arc::new(World::default());
    let other = world.clone();
    let task = thread::spawn(move || {
        other.cells[0].write(0);
        if !any_bool() {
            fence(Release);
        }
        other.number.store(1, Relaxed);
    });
    if world.number.load(Acquire) == 1 {
        world.cells[0].write(1);
    }
    task.join().unwrap();
}

/// The schedule decides which bytes of a block are accessed together.
fn pieces_of_a_block() {
    let layout = Layout::from_size_align(64, 8).expect("a power of two");
    // SAFETY: the layout has a size.
    let at = unsafe { alloc(layout) }.expose_provenance();
    let world = Arc::new(World::default());
    let access = move |world: &World, task: usize| {
        for round in 0..3 {
            world.locked(|| {
                let from = at + (task * 12 + round * 20) % 50;
                ptr::track_write(std::ptr::with_exposed_provenance_mut::<u8>(from), 4 + round * 3);
                if round == 1 && any_bool() {
                    ptr::track_read(std::ptr::with_exposed_provenance::<u8>(from + 2), 9);
                }
            });
        }
    };
    let tasks = [0, 1].map(|number| {
        let world = world.clone();
        thread::spawn(move || access(&world, number))
    });
    if any_bool() {
        tasks.into_iter().for_each(|task| task.join().unwrap());
    }
    if any_bool() {
        // SAFETY: it was allocated with this layout, and stays until the execution is over.
        unsafe { dealloc(std::ptr::with_exposed_provenance_mut(at), layout) };
    }
}

/// A task that accessed memory is joined before some of it is released, or is not.
fn joined_or_not_before_a_release() {
    let layout = Layout::new::<u64>();
    // SAFETY: the layout has a size.
    let blocks = [(); 2].map(|()| unsafe { alloc(layout) }.expose_provenance());
    let pointer = |at: usize| std::ptr::with_exposed_provenance_mut::<u8>(at);
    // SAFETY: they were allocated with this layout, and stay until the execution is over.
    let free = move |at: usize| unsafe { dealloc(pointer(at), layout) };
    let world = Arc::new(World::default());
    let tasks = [0, 1, 2].map(|number| {
        let world = world.clone();
        thread::spawn(move || {
            ptr::track_write(pointer(blocks[0]), 8);
            world
                .number
                .fetch_add(1, if number == 0 { Release } else { Relaxed });
            if number == 2 {
                ptr::track_read(pointer(blocks[1]), 8);
            }
        })
    });
    let joined = Cell::new(choose(4));
    for task in tasks {
        if joined.replace(joined.get().saturating_sub(1)) > 0 {
            task.join().unwrap();
        }
    }
    if any_bool() {
        free(blocks[0]);
    }
    if world.number.load(Acquire) == 3 {
        free(blocks[1]);
    }
    let last = thread::spawn(move || {
        free(blocks[1]);
        ptr::track_read(pointer(blocks[0]), 4);
    });
    last.join().unwrap();
}

/// In some executions there are more memory events than fit into one call; the release comes in a later one.
fn more_than_one_call() {
    let layout = Layout::new::<u64>();
    // SAFETY: the layout has a size.
    let block = unsafe { alloc(layout) }.expose_provenance();
    let pointer = move || std::ptr::with_exposed_provenance_mut::<u8>(block);
    let world = Arc::new(World::default());
    let other = world.clone();
    let task = thread::spawn(move || {
        ptr::track_write(pointer(), 8);
        other.locked(|| other.cells[0].write(0));
        for _ in 0..[70_000, 1 << 16, 10][choose(3)] {
            other.cells[1].read(1);
        }
        other.number.store(1, Relaxed);
        other.cells[2].write(2);
    });
    // The other task mostly goes first, and nothing orders its accesses with the release.
    thread::sleep(Duration::from_millis(1));
    // SAFETY: it was allocated with this layout, and stays until the execution is over.
    unsafe { dealloc(pointer(), layout) };
    world.locked(|| world.cells[0].write(3));
    if world.number.load(Acquire) == 1 {
        world.cells[1].write(4);
    }
    task.join().unwrap();
}

/// There are more events than can be undone.
fn more_than_can_be_taken_back() {
    let world = Arc::new(World::default());
    for _ in 0..2100 {
        world.locked(|| world.cells[0].write(0));
    }
    let other = world.clone();
    let task = thread::spawn(move || {
        for _ in 0..2 {
            other.locked(|| other.cells[0].write(1));
        }
        if any_bool() {
            other.cells[1].write(2);
        }
    });
    world.locked(|| world.cells[0].write(3));
    if any_bool() {
        world.cells[1].read(4);
    }
    task.join().unwrap();
}

#[test]
fn undone_events_leave_no_trace() {
    compare(&SEARCHES, memory_and_tasks);
    compare(&SEARCHES, messages_and_rounds);
    compare(&SEARCHES, a_fence_in_some_executions);
    compare(&SEARCHES, pieces_of_a_block);
    compare(&SEARCHES, joined_or_not_before_a_release);
}

#[test]
fn nothing_is_undone_if_there_was_too_much() {
    let few: [&[(&str, &str)]; 2] = [
        &[("strategy", "dfs"), ("reduction", "dpor"), ("executions", "6")],
        &[("strategy", "random"), ("executions", "6")],
    ];
    compare(&few, more_than_one_call);
    compare(&few, more_than_can_be_taken_back);
}
