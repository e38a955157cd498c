//! The memory that a task gets.

use super::{ARENA, CHECK, Notes, address, alone, explored, explorer};
use intermezzo_engine::runtime::arena::{Shortage, in_use, outside, shortage};
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::{Condvar, Mutex, Once, RwLock};
use intermezzo_explorer::{Coverage, thread};
use std::alloc::{GlobalAlloc, Layout, alloc, alloc_zeroed, dealloc, realloc};
use std::hint::black_box;
use std::sync::Arc;

/// Explores a test without tasks: one execution.
fn once(test: impl Fn() + Send + Sync) {
    let report = explored(explorer(), test);
    assert!(report.verdict().is_pass(), "{report}");
}

fn checks() -> bool {
    std::env::var_os(CHECK).is_some()
}

#[test]
fn the_same_schedule_has_the_same_addresses() {
    let _alone = alone();
    let notes = Notes::new();
    let run = || {
        let report = explored(explorer(), || {
            let n = Arc::new(AtomicUsize::new(0));
            let first = Box::new(7_u64);
            let other = thread::spawn({
                let n = n.clone();
                move || {
                    n.fetch_add(1, SeqCst);
                    let block = vec![n.load(SeqCst); 100];
                    n.fetch_add(1, SeqCst);
                    address(&block[..])
                }
            });
            n.fetch_add(1, SeqCst);
            let block = vec![n.load(SeqCst); 100];
            n.fetch_add(1, SeqCst);
            let other = other.join().unwrap();
            notes.add([address(&*first), address(&block[..]), other]);
        });
        assert!(
            report.verdict().is_pass() && report.coverage() == &Coverage::Exhaustive,
            "{report}"
        );
        notes.take()
    };
    let (one, two) = (run(), run());
    assert!(one.len() > 10);
    if !checks() {
        assert_eq!(one, two);
        // The order in which tasks allocate is the schedule's.
        assert!(one.iter().all(|at| at[0] == one[0][0]), "{one:x?}");
        assert!(one.iter().any(|at| at[1] < at[2]) && one.iter().any(|at| at[1] > at[2]));
    }
}

#[test]
fn the_runtime_allocates_nothing_in_it() {
    let _alone = alone();
    static COUNT: Mutex<u32> = Mutex::new(0);
    thread::thread_local! { static MINE: std::cell::Cell<u32> = const { std::cell::Cell::new(0) }; }
    let report = explored(explorer().preemptions(1), || {
        let objects = (
            Mutex::new(()),
            RwLock::new(()),
            AtomicUsize::new(0),
            Once::new(),
            Condvar::new(),
        );
        let before = in_use();
        thread::scope(|scope| {
            // The handles of a scope are std's own.
            let within = in_use();
            drop(objects.0.lock());
            drop(objects.1.read());
            objects.2.fetch_add(1, SeqCst);
            objects.3.call_once(|| {});
            objects.4.notify_all();
            *COUNT.lock().unwrap() += 1;
            thread::yield_now();
            assert_eq!(in_use(), within);
            scope.spawn(|| objects.2.fetch_add(1, SeqCst));
            scope.spawn(|| objects.2.fetch_add(1, SeqCst));
        });
        assert_eq!(in_use(), before);
        let task = thread::spawn(|| MINE.get());
        assert_eq!(in_use(), before);
        task.join().unwrap();
    });
    assert!(report.verdict().is_pass(), "{report}");
    assert_eq!(in_use(), (0, 0), "all is taken back");
}

#[test]
fn memory_is_taken_back_and_zero() {
    let _alone = alone();
    let notes = Notes::new();
    let report = explored(explorer(), || {
        let n = Arc::new(AtomicUsize::new(0));
        let other = thread::spawn({
            let n = n.clone();
            move || n.fetch_add(1, SeqCst)
        });
        n.fetch_add(1, SeqCst);
        other.join().unwrap();
        // More than stays in memory, and never freed.
        for size in [100, 300 << 10, 1 << 20, 50] {
            // SAFETY: the layout has a size, and the block has its bytes.
            unsafe {
                let layout = Layout::from_size_align(size, 1).unwrap();
                let block = alloc_zeroed(layout);
                let bytes = std::slice::from_raw_parts_mut(block, size);
                assert!(bytes.iter().all(|&byte| byte == 0));
                bytes.fill(0xff);
                notes.add(block.addr());
            }
        }
    });
    assert!(report.verdict().is_pass(), "{report}");
    let addresses = notes.take();
    assert!(addresses.len() >= 8);
    if !checks() {
        assert!(
            addresses.chunks(4).all(|chunk| chunk == &addresses[..4]),
            "{addresses:x?}"
        );
    }
}

#[test]
fn blocks_are_aligned_and_have_their_size() {
    let _alone = alone();
    once(|| {
        let mut end = 0;
        for align in (0..=16).map(|bits| 1_usize << bits) {
            for size in [0, 1, 7, 64, 5000] {
                let layout = Layout::from_size_align(size, align).unwrap();
                // SAFETY: this allocator takes blocks without a size, too; the others are written within.
                unsafe {
                    let block = ARENA.alloc(layout);
                    assert!(block.addr().is_multiple_of(align) && block.addr() > end);
                    block.write_bytes(1, size);
                    end = block.addr() + size;
                    if size % 2 == 1 {
                        ARENA.dealloc(block, layout);
                    }
                }
            }
        }
    });
}

#[test]
fn no_address_is_used_twice_and_freed_memory_has_a_pattern() {
    let _alone = alone();
    once(|| {
        let layout = Layout::new::<[u8; 40]>();
        // SAFETY: the memory stays mapped after it is freed, and nothing else has it.
        unsafe {
            let block = alloc(layout);
            block.write_bytes(1, 40);
            let block = black_box(block);
            dealloc(block, layout);
            assert_eq!(block.cast::<[u8; 40]>().read_volatile(), [0xdd; 40]);
            let other = alloc(layout);
            assert!(other.addr() >= block.addr() + 40);
            dealloc(other, layout);
            // A large one is given back to the system, but for the pages that it shares with others.
            let layout = Layout::from_size_align(1 << 20, 1).unwrap();
            let block = alloc(layout);
            block.write_bytes(1, 1 << 20);
            let block = black_box(block);
            dealloc(block, layout);
            assert_eq!(block.read_volatile(), 0xdd);
            assert_eq!(block.add(500_000).read_volatile(), 0);
        }
    });
}

#[test]
fn the_last_block_grows_in_place() {
    let _alone = alone();
    once(|| {
        let layout = |size| Layout::from_size_align(size, 8).unwrap();
        // SAFETY: each block is used within its size, and freed once with it.
        unsafe {
            let one = alloc(layout(16));
            one.write_bytes(1, 16);
            assert_eq!(realloc(one, layout(16), 1000), one);
            let two = alloc(layout(16));
            assert!(two.addr() >= one.addr() + 1000);
            // It is not the last one any more.
            let moved = realloc(one, layout(1000), 2000);
            assert!(moved.addr() > two.addr());
            assert_eq!(moved.cast::<[u8; 16]>().read(), [1; 16]);
            assert_eq!(one.read_volatile(), 0xdd);
            assert_eq!(realloc(moved, layout(2000), 8), moved);
            assert_eq!(moved.add(8).read_volatile(), 0xdd);
            assert_eq!(in_use().1, 16 + 8);
            dealloc(moved, layout(8));
            dealloc(two, layout(16));
        }
    });
}

#[test]
fn a_full_arena_leaves_the_rest_to_the_system() {
    let _alone = alone();
    once(|| {
        let anchor = address(&*Box::new(0_u8));
        let block = || Vec::<u8>::with_capacity(900 << 20);
        let near = |block: &Vec<u8>| (block.as_ptr().addr().wrapping_sub(anchor)) < 3 << 30;
        let blocks = [block(), block(), block()];
        assert_eq!(blocks.each_ref().map(near), [true, true, false]);
        assert_eq!(shortage(), Some(Shortage::Full));
        // What is freed and large does not count any more.
        drop(blocks);
        let again = block();
        assert!(near(&again) || again.as_ptr().addr() > anchor);
        assert!(again.as_ptr().addr() - anchor < 4 << 30);
    });
}

#[test]
fn a_second_exploration_has_the_systems_memory() {
    let _alone = alone();
    let notes = Notes::new();
    let report = explorer().explore(|| {
        let mine = Box::new(0_u64);
        let (mine, before) = (address(&*mine), in_use());
        outside(|| {
            std::thread::scope(|scope| {
                let exploration = || explorer().explore(|| notes.add(address(&*Box::new(0_u64))));
                let report = scope.spawn(exploration).join().unwrap();
                assert!(report.verdict().is_pass(), "{report}");
                assert_eq!(shortage(), Some(Shortage::InUse));
            });
        });
        let theirs = notes.take()[0];
        assert!(theirs.abs_diff(mine) > 64 << 30, "{theirs:x} {mine:x}");
        assert_eq!(in_use(), before);
    });
    assert!(report.verdict().is_pass(), "{report}");
}

#[test]
fn one_of_several_workers_has_it() {
    let _alone = alone();
    let notes = Notes::new();
    let drawn = explorer()
        .jobs(2)
        .set("strategy", "random")
        .set("executions", 2_000);
    let report = drawn.explore(|| {
        let block = Box::new(0_u64);
        notes.add(address(&*block));
        thread::spawn(thread::yield_now).join().unwrap();
    });
    assert!(report.verdict().is_pass(), "{report}");
    assert_eq!(shortage(), Some(Shortage::InUse));
    // An execution is run once more if stacks were not clear enough for its yield, a few times in a process.
    let runs = notes.take().len();
    assert!((2_000..2_004).contains(&runs), "{runs}");
}
