//! The events of accesses to plain memory that monitors receive.

use super::recorder::{lines_with, recorded};
use intermezzo_explorer::alloc::{Layout, alloc, dealloc};
use intermezzo_explorer::cell::{ByPointer, Cell, UnsafeCell};
use intermezzo_explorer::sync::atomic::{AtomicU32, Ordering::SeqCst};
use intermezzo_explorer::{Environment, Explorer, ptr, thread};
use intermezzo_sdk::Interests;

const MEMORY: Interests = Interests::DATA_ACCESSES.and(Interests::ALLOCATIONS);

/// Returns the events of one task with memory.
fn memory(test: impl Fn() + Send + Sync) -> Vec<String> {
    let explorer = Explorer::new().environment(Environment::calm());
    let mut seen = recorded(explorer, MEMORY, test);
    assert_eq!(seen.len(), 1);
    seen.remove(0)
}

#[test]
fn cells_are_read_and_written_and_dropped() {
    let seen = memory(|| {
        let unsafe_cell = UnsafeCell::new(1_u32);
        // SAFETY: no other task can see it.
        assert_eq!(unsafe_cell.with(|value| unsafe { *value }), 1);
        // SAFETY: as above.
        unsafe_cell.with_mut(|value| unsafe { *value = 2 });
        // SAFETY: as above.
        unsafe { *unsafe_cell.get() += 1 };
        let cell = Cell::new(1_u16);
        cell.set(cell.get() + 1);
        // No monitor saw this one before.
        drop(Cell::new(0));
        assert_eq!((unsafe_cell.into_inner(), cell.into_inner()), (3, 2));
    });
    let expected = [
        "0.1 reads cell 0.1 0..4",
        "0.1 writes cell 0.1 0..4",
        // A pointer is requested. The write through it shows at the next access.
        "0.1 reads cell 0.1 0..4",
        "0.1 reads cell 0.2 0..2",
        "0.1 writes cell 0.2 0..2",
        "0.1 writes cell 0.1 0..4",
        "0.1 gives cell 0.1 back",
        "0.1 gives cell 0.2 back",
    ];
    assert_eq!(seen, expected);
}

#[test]
fn atomics_that_are_accessed_plainly() {
    let seen = memory(|| {
        let mut n = AtomicU32::new(1);
        // With this access it comes into use, and later accesses may race with it.
        *n.get_mut() += 1;
        n.store(3, SeqCst);
        *n.get_mut() += 1;
        assert_eq!(n.into_inner(), 4);
    });
    let expected = [
        "0.1 writes atomic 0.1 0..4 of atomic 0.1",
        "0.2 writes atomic 0.1 0..4 of atomic 0.1",
        "0.2 reads atomic 0.1 0..4 of atomic 0.1",
    ];
    assert_eq!(seen, expected);
}

#[test]
fn access_by_pointer_is_access_to_what_lies_there() {
    let seen = memory(|| {
        let cell = UnsafeCell::new([0_u8; 8]);
        let n = AtomicU32::new(0);
        let bytes = cell.with_mut(|bytes| bytes.cast::<u8>());
        // SAFETY: within the cell; no other task can see it.
        unsafe {
            ptr::write(bytes.add(2).cast::<u16>(), 7);
            assert_eq!(ptr::read(bytes.add(2).cast::<u16>()), 7);
            ptr::write_volatile(bytes, 1);
            ptr::copy(bytes, bytes.add(4), 4);
        }
        let value = n.as_ptr();
        // SAFETY: no other task can see it.
        unsafe { ptr::write(value, 5) };
        ptr::track_read(value, 2);
        assert_eq!(n.load(SeqCst), 5);
    });
    let expected = [
        "0.1 writes cell 0.1 0..8",
        "0.1 writes cell 0.1 2..4",
        "0.1 reads cell 0.1 2..4",
        "0.1 writes cell 0.1 0..1",
        "0.1 reads cell 0.1 0..4",
        "0.1 writes cell 0.1 4..8",
        "0.1 writes atomic 0.2 0..4 of atomic 0.2",
        "0.1 reads atomic 0.2 0..2 of atomic 0.2",
        "0.2 gives cell 0.1 back",
    ];
    assert_eq!(seen, expected);
}

#[test]
fn memory_of_which_nobody_told_goes_by_pieces() {
    let seen = memory(|| {
        let mut words = [0_u64; 3];
        let first = words.as_mut_ptr().cast::<u8>();
        // SAFETY: within the array.
        unsafe {
            ptr::write_unaligned(first.add(6).cast::<u32>(), 7);
            ptr::read(first.add(8));
            ptr::write_bytes(first, 0, 24);
        }
    });
    let expected = [
        "0.1 writes memory 0.1 6..8",
        "0.1 writes memory 0.2 0..2",
        "0.1 reads memory 0.2 0..1",
        "0.1 writes memory 0.1 0..8",
        "0.1 writes memory 0.2 0..8",
        "0.1 writes memory 0.3 0..8",
    ];
    assert_eq!(seen, expected);
}

#[test]
fn an_access_beyond_a_cell_is_told_in_parts() {
    #[repr(C)]
    struct Record {
        before: u64,
        cell: UnsafeCell<u64>,
        after: u64,
    }
    let seen = memory(|| {
        let mut record = Record {
            before: 1,
            cell: UnsafeCell::new(2),
            after: 3,
        };
        record.cell.with(|_| ());
        record.before += record.after;
        ptr::track_read(&raw const record, size_of::<Record>());
    });
    let of = |what: &str| seen.iter().filter(|line| line.contains(what)).count();
    assert_eq!(seen[0], "0.1 reads cell 0.1 0..8");
    assert_eq!(of("reads cell 0.1 0..8"), 2, "{seen:#?}");
    // Before it, the word that identifies it, after it.
    assert_eq!(of("reads memory 0."), 3, "{seen:#?}");
}

#[test]
fn a_cell_in_a_block_is_the_block() {
    let seen = memory(|| {
        let layout = Layout::new::<[UnsafeCell<u32>; 2]>();
        // SAFETY: the layout has a size, and the block is used as its type.
        unsafe {
            let cells = alloc(layout).cast::<UnsafeCell<u32>>();
            cells.write(UnsafeCell::new(1));
            (*cells).with_mut(|value| *value = 2);
            let value = (*cells).get();
            ptr::write(value, 3);
            cells.drop_in_place();
            dealloc(cells.cast(), layout);
        }
    });
    let place = "block 0.1 ";
    assert_eq!(seen.len(), 5, "{seen:#?}");
    assert!(
        seen.iter()
            .all(|line| line.contains(place) || line.contains("block 0.1,")),
        "{seen:#?}"
    );
    let offsets: Vec<&str> = seen[1..4]
        .iter()
        .map(|line| line.rsplit(' ').next().unwrap())
        .collect();
    assert!(offsets.iter().all(|offset| offset == &offsets[0]), "{seen:#?}");
}

#[test]
fn pointers_work_outside_an_exploration() {
    let mut words = [1_u32, 2, 3, 4];
    let first = words.as_mut_ptr();
    // SAFETY: within the array.
    unsafe {
        assert_eq!(ptr::replace(first, 5), 1);
        ptr::swap(first, first.add(1));
        ptr::copy_nonoverlapping(first, first.add(2), 2);
        ptr::write_bytes(first, 0, 1);
        assert_eq!(
            (ptr::read_volatile(first), ptr::read_unaligned(first.add(3))),
            (0, 5)
        );
    }
    assert_eq!(words, [0, 5, 2, 5]);
    let cell = UnsafeCell::new(1);
    // SAFETY: no other task can see it.
    cell.with_mut(|value| unsafe { *value += 1 });
    // SAFETY: as above.
    assert_eq!(cell.with(|value| unsafe { *value }), 2);
}

/// Names of variables do not depend on the monitors, nor numbers on the run.
#[test]
fn names_are_stable() {
    let test = || {
        let cells = [Cell::new(0), Cell::new(0)];
        let n = AtomicU32::new(0);
        cells[1].set(1);
        n.store(1, SeqCst);
        cells[0].set(1);
        thread::spawn(|| Cell::new(1).set(2)).join().unwrap();
    };
    let explorer = || Explorer::new().environment(Environment::calm());
    let all = recorded(explorer(), Interests::ALL, test);
    assert_eq!(all, recorded(explorer(), Interests::ALL, test));
    let stores = recorded(explorer(), Interests::SYNC_ACCESSES, test);
    assert_eq!(lines_with(&stores, "store"), ["0.2 store atomic 0.2 0 1"]);
    assert_eq!(lines_with(&all, "store"), lines_with(&stores, "store"));
    assert_eq!(
        lines_with(&all, "cell 1."),
        ["1.1 writes cell 1.1 0..4", "1.1 gives cell 1.1 back"]
    );
}
