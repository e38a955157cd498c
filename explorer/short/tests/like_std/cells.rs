//! Cells.

use super::subject::cell::{Cell, LazyCell, OnceCell, Ref, RefCell, RefMut, UnsafeCell};
use super::subject::thread;
use std::rc::Rc;
use std::sync::Arc;

fn values_move_in_and_out() {
    let a = Cell::new(1);
    a.set(2);
    assert_eq!(a.replace(3), 2);
    a.update(|n| n * 2);
    assert_eq!(a.take(), 6);
    assert_eq!((a.get(), a.into_inner()), (0, 0));

    let text = Cell::new(String::from("old"));
    assert_eq!(text.replace("new".into()), "old");
    assert_eq!((text.take(), text.into_inner()), ("new".into(), String::new()));
}

fn swap() {
    let (a, b) = (Cell::new("a"), Cell::new("b"));
    a.swap(&b);
    a.swap(&a);
    assert_eq!((a.get(), b.get()), ("b", "a"));
}

fn exclusive_access() {
    let mut a = Cell::new(1);
    *a.get_mut() += 1;
    // SAFETY: no other thread can see it.
    unsafe { *a.as_ptr() += 1 };
    assert_eq!(a.get(), 3);
}

fn cells_compare_by_value() {
    let (one, two) = (Cell::new(1), Cell::from(2));
    assert!(one < two && one != two && one == one.clone());
    assert_eq!(one.cmp(&two), std::cmp::Ordering::Less);
    assert_eq!(Cell::<u8>::default().get(), 0);
    assert_eq!(format!("{one:?}"), "Cell { value: 1 }");
}

fn unsized_values() {
    let cell: &Cell<[u8]> = &Cell::new([1, 2, 3]);
    assert_eq!(cell.as_ptr().len(), 3);
    let cell: Box<UnsafeCell<[u8]>> = Box::new(UnsafeCell::new([1, 2, 3]));
    // SAFETY: no other thread can see it.
    assert_eq!(unsafe { &*cell.get() }, [1, 2, 3]);
}

fn set_drops_what_was_there() {
    let shared = Rc::new(());
    let cell = Cell::new(Some(shared.clone()));
    cell.set(None);
    assert_eq!(Rc::strong_count(&shared), 1);
    cell.set(Some(shared.clone()));
    drop(cell);
    assert_eq!(Rc::strong_count(&shared), 1);
}

fn unsafe_cells() {
    let mut cell = UnsafeCell::from(1);
    // SAFETY: no other thread can see it.
    unsafe { *cell.get() += 1 };
    *cell.get_mut() += 1;
    assert_eq!(format!("{cell:?}"), "UnsafeCell { .. }");
    assert_eq!(
        (cell.into_inner(), UnsafeCell::<u8>::default().into_inner()),
        (3, 0)
    );
}

struct Shared(UnsafeCell<u32>, Cell<u32>);
// SAFETY: the case joins before it looks.
unsafe impl Sync for Shared {}

fn handed_from_thread_to_thread() {
    static SHARED: Shared = Shared(UnsafeCell::new(10), Cell::new(20));
    let add = || {
        // SAFETY: the threads run one after the other.
        unsafe { *SHARED.0.get() += 1 };
        SHARED.1.update(|n| n + 1);
    };
    // SAFETY: no other thread runs.
    let before = (unsafe { *SHARED.0.get() }, SHARED.1.get());
    thread::spawn(add).join().unwrap();
    thread::spawn(add).join().unwrap();
    // SAFETY: as above.
    let after = unsafe { *SHARED.0.get() };
    assert_eq!((before, after, SHARED.1.get()), ((10, 20), 12, 22));
}

fn moved_into_a_thread() {
    let cell = Arc::new(std::sync::Mutex::new(Cell::new(1)));
    let moved = Cell::new(5);
    let shared = cell.clone();
    thread::spawn(move || shared.lock().unwrap().set(moved.get()))
        .join()
        .unwrap();
    assert_eq!(cell.lock().unwrap().get(), 5);
}

fn cells_of_std() {
    let cell = RefCell::new(vec![1]);
    RefMut::map(cell.borrow_mut(), |numbers| &mut numbers[0]).add_assign_one();
    assert_eq!(*Ref::map(cell.borrow(), |numbers| &numbers[0]), 2);
    assert!(cell.try_borrow_mut().is_ok());
    assert_eq!(*OnceCell::new().get_or_init(|| 3), 3);
    assert_eq!(*LazyCell::new(|| 4), 4);
}

trait AddAssignOne {
    fn add_assign_one(self);
}

impl AddAssignOne for RefMut<'_, i32> {
    fn add_assign_one(mut self) {
        *self += 1;
    }
}

cases! {
    values_move_in_and_out swap exclusive_access cells_compare_by_value unsized_values set_drops_what_was_there
    unsafe_cells handed_from_thread_to_thread moved_into_a_thread cells_of_std
}
