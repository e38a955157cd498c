//! Blocks of memory: the events that monitors receive, and the treatment of memory that an execution releases.

use super::recorder::{lines_with, recorded};
use intermezzo_explorer::alloc::{Layout, Track, alloc, alloc_zeroed, dealloc, realloc};
use intermezzo_explorer::cell::Cell;
use intermezzo_explorer::sync::{Arc, Weak};
use intermezzo_explorer::{Environment, Explorer, ptr, thread};
use intermezzo_sdk::Interests;
use std::sync::Mutex as StdMutex;

fn explorer() -> Explorer {
    Explorer::new().environment(Environment::calm())
}

/// Returns the events of one task with blocks.
fn blocks(test: impl Fn() + Send + Sync) -> Vec<String> {
    let mut seen = recorded(explorer(), Interests::ALLOCATIONS, test);
    assert_eq!(seen.len(), 1);
    seen.remove(0)
}

#[test]
fn memory_of_the_allocator() {
    let seen = blocks(|| {
        let (small, large) = (Layout::new::<u32>(), Layout::new::<[u32; 4]>());
        // SAFETY: the layouts have sizes, and the memory is used as they say.
        unsafe {
            let first = alloc(small).cast::<u32>();
            *first = 7;
            let zeroed = alloc_zeroed(small).cast::<u32>();
            assert_eq!(*zeroed, 0);
            let grown = realloc(first.cast(), small, 16).cast::<u32>();
            assert_eq!(*grown, 7);
            assert_ne!(first, grown);
            dealloc(zeroed.cast(), small);
            dealloc(grown.cast(), large);
        }
    });
    let expected = [
        "0.1 gets block 0.1, 4 bytes",
        "0.1 gets block 0.2, 4 bytes",
        "0.1 gets block 0.3, 16 bytes",
        "0.1 gives block 0.1 back",
        "0.1 gives block 0.2 back",
        "0.1 gives block 0.3 back",
    ];
    assert_eq!(seen, expected);
}

#[test]
fn giving_back_twice_harms_nobody() {
    let seen = blocks(|| {
        let layout = Layout::new::<[u64; 16]>();
        // SAFETY: the layout has a size; released memory stays allocated during an execution.
        unsafe {
            let block = alloc(layout);
            dealloc(block, layout);
            dealloc(block, layout);
            // It is still there, and no other block has its memory.
            block.write(1);
            let other = alloc(layout);
            assert_ne!(other, block);
            dealloc(other, layout);
        }
    });
    assert_eq!(
        lines_with(std::slice::from_ref(&seen), "back"),
        ["0.1 gives block 0.1 back", "0.1 gives block 0.2 back"]
    );
    assert_eq!(
        seen.iter().filter(|line| line.contains("block 0.1 back")).count(),
        2
    );
}

#[test]
fn a_use_after_free_is_an_access_to_the_block() {
    let test = || {
        let layout = Layout::new::<[u64; 2]>();
        // SAFETY: the layout has a size; released memory stays allocated during an execution.
        unsafe {
            let block = alloc(layout).cast::<u64>();
            ptr::write(block, 1);
            dealloc(block.cast(), layout);
            ptr::read(block.add(1));
        }
    };
    let memory = Interests::DATA_ACCESSES.and(Interests::ALLOCATIONS);
    let expected = [
        "0.1 gets block 0.1, 16 bytes",
        "0.1 writes block 0.1 0..8",
        "0.1 gives block 0.1 back",
        "0.1 reads block 0.1 8..16",
    ];
    assert_eq!(recorded(explorer(), memory, test), [expected.map(str::to_owned)]);
}

#[test]
fn what_is_never_given_back_is_freed_after_the_execution() {
    // Both executions leak. If the engine did not free the memory, it would grow by a megabyte for each.
    let report = explorer().explore(|| {
        // SAFETY: the layout has a size.
        let leaked = unsafe { alloc(Layout::from_size_align(1 << 20, 64).unwrap()) };
        assert_eq!(leaked.addr() % 64, 0);
        thread::scope(|scope| {
            scope.spawn(thread::yield_now);
            thread::yield_now();
        });
    });
    assert!(report.verdict().is_pass(), "{report}");
}

#[test]
fn a_task_that_is_cleared_away_gives_memory_back_as_ever() {
    struct Owner(*mut u8);
    impl Drop for Owner {
        fn drop(&mut self) {
            // SAFETY: allocated below with this layout.
            unsafe { dealloc(self.0, Layout::new::<u64>()) };
        }
    }
    let report = explorer().explore(|| {
        // SAFETY: the layout has a size.
        let _owner = Owner(unsafe { alloc(Layout::new::<u64>()) });
        thread::park();
    });
    assert_eq!(report.findings()[0].kind.as_str(), "deadlock");
}

#[test]
fn blocks_are_named_by_who_asked_for_them() {
    let seen = recorded(explorer(), Interests::ALLOCATIONS, || {
        let layout = Layout::new::<u8>();
        // SAFETY: the layout has a size.
        let block = move || unsafe { dealloc(alloc(layout), layout) };
        block();
        thread::spawn(move || (block(), block())).join().unwrap();
    });
    let expected = ["block 0.1", "block 1.1", "block 1.2"];
    let gets = lines_with(&seen, "gets");
    assert_eq!(gets.len(), 3);
    for (line, name) in gets.iter().zip(expected) {
        assert!(line.contains(name), "{gets:?}");
    }
}

#[test]
fn shared_values() {
    let seen = blocks(|| {
        let first = Arc::new([0_u32; 4]);
        let weak = Arc::downgrade(&first);
        let second = first.clone();
        drop(first);
        assert_eq!(Arc::try_unwrap(second), Ok([0; 4]));
        assert!(weak.upgrade().is_none());
        drop(weak);
        // The count of this one is never read, except at its end.
        drop(Arc::new(1_u8));
    });
    let gone = seen.len() - 1;
    assert_eq!(seen[0], "0.1 gets arc 0.1, 16 bytes with count 0.1");
    assert!(seen[1].ends_with("gives arc 0.1 back"), "{seen:#?}");
    assert!(
        seen[2].ends_with("gets arc 0.2, 1 bytes with count 0.2"),
        "{seen:#?}"
    );
    assert!(seen[gone].ends_with("gives arc 0.2 back"), "{seen:#?}");
    assert_eq!(seen.len(), 4);
}

#[test]
fn a_cycle_of_shares_is_never_given_back() {
    struct Node {
        next: Cell<Option<Arc<Node>>>,
        _back: Weak<Node>,
    }
    let seen = blocks(|| {
        let node = Arc::new_cyclic(|back| Node {
            next: Cell::new(None),
            _back: back.clone(),
        });
        node.next.set(Some(node.clone()));
    });
    assert_eq!(
        lines_with(std::slice::from_ref(&seen), "arc").len(),
        1,
        "{seen:#?}"
    );
    assert!(!seen.iter().any(|line| line.contains("back")), "{seen:#?}");
}

#[test]
fn make_mut_moves_to_another_block() {
    let seen = blocks(|| {
        let mut value = Arc::new(1_u64);
        let other = value.clone();
        *Arc::make_mut(&mut value) += 1;
        let weak = Arc::downgrade(&value);
        *Arc::make_mut(&mut value) += 1;
        assert_eq!((*value, *other, weak.upgrade()), (3, 1, None));
    });
    let released = seen.iter().filter(|line| line.contains("back")).count();
    let allocated = seen.iter().filter(|line| line.contains("gets")).count();
    assert_eq!((allocated, released), (3, 3), "{seen:#?}");
}

#[test]
fn tracked_values() {
    struct Told<'a>(&'a StdMutex<Vec<&'static str>>);
    impl Drop for Told<'_> {
        fn drop(&mut self) {
            self.0.lock().unwrap().push("dropped");
        }
    }
    let told = StdMutex::default();
    let seen = blocks(|| {
        let mut value = Track::new(1_u32);
        *value.get_mut() += 1;
        assert_eq!((*value.get_ref(), format!("{value:?}")), (2, "Track(2)".into()));
        let moved = Box::new(value);
        drop(moved);
        drop(Track::new(Told(&told)));
        let kept = Track::new('a').into_inner();
        std::mem::forget(Track::new(kept));
    });
    let expected = [
        "0.1 gets value 0.1, 4 bytes",
        "0.1 gives value 0.1 back",
        "0.1 gets value 0.2, 8 bytes",
        "0.1 gives value 0.2 back",
        "0.1 gets value 0.3, 4 bytes",
        "0.1 gives value 0.3 back",
        "0.1 gets value 0.4, 4 bytes",
    ];
    assert_eq!(seen, expected);
    assert_eq!(*told.lock().unwrap(), ["dropped"]);
}

#[test]
fn outside_an_exploration_it_is_std() {
    let layout = Layout::new::<[u32; 4]>();
    // SAFETY: the layout has a size, and the memory is used as it says.
    unsafe {
        let block = realloc(alloc_zeroed(layout), layout, 32);
        assert_eq!(block.read(), 0);
        dealloc(block, Layout::from_size_align(32, layout.align()).unwrap());
    }
    assert_eq!(Track::new(1).into_inner(), 1);
}
