//! Memory from the allocator, and access by pointer.

use super::subject::alloc::{Layout, LayoutError, alloc, alloc_zeroed, dealloc, realloc};
use super::subject::cell::Cell;
use super::subject::{ptr, thread};

fn memory_is_given_and_taken_back() {
    let layout = Layout::array::<u64>(4).unwrap();
    // SAFETY: the layout has a size, and the memory is used as it says.
    unsafe {
        let words = alloc_zeroed(layout).cast::<u64>();
        assert_eq!(ptr::read(words.add(3)), 0);
        ptr::write(words, 7);
        let more = realloc(words.cast(), layout, 64).cast::<u64>();
        assert_eq!(ptr::read(more), 7);
        dealloc(more.cast(), Layout::array::<u64>(8).unwrap());
        let aligned = Layout::from_size_align(3, 128).unwrap();
        let bytes = alloc(aligned);
        assert_eq!(bytes.addr() % 128, 0);
        dealloc(bytes, aligned);
    }
    let refused: Result<Layout, LayoutError> = Layout::from_size_align(1, 3);
    assert!(refused.is_err());
}

fn memory_goes_from_thread_to_thread() {
    struct Owned(*mut u32);
    // SAFETY: the thread that has it owns the memory to which it points.
    unsafe impl Send for Owned {}
    impl Owned {
        fn take(self) -> u32 {
            // SAFETY: allocated below with this layout, and given back here.
            unsafe {
                let value = ptr::read(self.0);
                dealloc(self.0.cast(), Layout::new::<u32>());
                value
            }
        }
    }
    // SAFETY: the layout has a size, and the memory is used as it says.
    let owned = unsafe {
        let pointer = alloc(Layout::new::<u32>()).cast::<u32>();
        ptr::write_volatile(pointer, 5);
        Owned(pointer)
    };
    assert_eq!(thread::spawn(move || owned.take()).join().unwrap(), 5);
}

fn pointers_read_and_write() {
    let mut words = [1_u16, 2, 3, 4];
    let first = words.as_mut_ptr();
    // SAFETY: within the array.
    unsafe {
        assert_eq!(ptr::replace(first, 9), 1);
        ptr::swap(first, first.add(1));
        ptr::copy(first, first.add(1), 3);
        ptr::copy_nonoverlapping(first, first.add(3), 1);
        ptr::write_bytes(first, 0xff, 1);
        ptr::write_unaligned(first.cast::<u8>().add(3).cast::<u16>(), 0);
        assert_eq!(ptr::read_unaligned(first.cast::<u8>().add(3).cast::<u16>()), 0);
        assert_eq!(ptr::read_volatile(first.add(3)), 2);
    }
    assert_eq!(words[0], u16::MAX);
    assert!(ptr::null::<u8>().is_null() && ptr::eq(first, first));
}

fn values_are_moved_by_pointer() {
    let text = std::mem::ManuallyDrop::new(String::from("moved"));
    // SAFETY: the value is not used where it was.
    let moved: String = unsafe { ptr::read(&*text) };
    assert_eq!(moved, "moved");
}

/// A cell may hold a value that borrows from its neighbour, since the cell itself does nothing when it is dropped.
fn cells_borrow_from_each_other() {
    struct Node<'a> {
        value: u8,
        next: Cell<Option<&'a Node<'a>>>,
    }
    let node = |value| Node {
        value,
        next: Cell::new(None),
    };
    let (first, second) = (node(1), node(2));
    first.next.set(Some(&second));
    second.next.set(Some(&first));
    let round = first.next.get().and_then(|node| node.next.get());
    assert_eq!(round.map(|node| node.value), Some(1));
}

cases! {
    memory_is_given_and_taken_back memory_goes_from_thread_to_thread pointers_read_and_write values_are_moved_by_pointer
    cells_borrow_from_each_other
}
