//! The locks that the calling task has marked as held: for breakpoints that count only then.

use crate::control;
use crate::switch;
use std::cell::RefCell;
use std::marker::PhantomData;

thread_local! {
    static HELD: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// Returns the address that identifies an object.
pub(crate) fn address<T: ?Sized>(object: &T) -> usize {
    (&raw const *object).cast::<()>().addr()
}

/// A mark that the calling task holds a lock, until it is dropped.
#[must_use = "the mark is gone when this is dropped"]
#[derive(Debug)]
pub struct Held {
    lock: Option<usize>,
    /// The mark belongs to the task that made it.
    not_send: PhantomData<*const ()>,
}

/// Marks that the calling task holds this lock, for [`Place::while_held`](crate::Place::while_held). Neither std nor
/// this crate knows otherwise which task holds a lock.
///
/// Costs a relaxed load and a branch as long as nothing is armed.
#[inline(always)]
pub fn held<L: ?Sized>(lock: &L) -> Held {
    let lock = (!switch::is_off()).then(|| push(address(lock)));
    Held {
        lock,
        not_send: PhantomData,
    }
}

#[cold]
fn push(lock: usize) -> usize {
    match control::in_charge() {
        Some(controller) => controller.hold(lock),
        None => HELD.with_borrow_mut(|held| held.push(lock)),
    }
    lock
}

#[cold]
fn pop(lock: usize) {
    match control::in_charge() {
        Some(controller) => controller.release(lock),
        None => {
            // A thread that ends has dropped its list, perhaps before this.
            let _ = HELD.try_with(|held| {
                let mut held = held.borrow_mut();
                if let Some(at) = held.iter().rposition(|&known| known == lock) {
                    held.remove(at);
                }
            });
        }
    }
}

/// `true` if the calling thread has marked this lock.
pub(crate) fn holds(lock: usize) -> bool {
    HELD.with_borrow(|held| held.contains(&lock))
}

impl Drop for Held {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(lock) = self.lock {
            pop(lock);
        }
    }
}
