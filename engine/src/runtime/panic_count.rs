//! Keeps the number of panics that a stack is unwinding from, separately for each stack.
//!
//! std keeps that number per OS thread (`std::thread::panicking`, poisoning), and the tasks of a worker share one
//! thread. A task that is suspended while it unwinds first *lays down* its number: the thread then counts as not
//! unwinding. When the task is resumed, it *takes up* its number again. So the thread's number is always that of the
//! running task, both for the test's own code and for std's.
//!
//! std has no call that changes the number. It increases when a panic begins, and decreases when one is caught; the two
//! need not happen on the same thread. A *credit* is a coroutine that a destructor suspended while it unwinds.
//! Beginning a credit adds 1 to the number of the thread where it begins, and finishing it subtracts 1 from the number
//! of the thread where it is finished. If there is no credit to finish, a new one is begun on another thread, which
//! then ends.
//!
//! Blind spot: the flag by which std recognises a panic inside a panic hook, and aborts, is not kept per stack: it is
//! lost when a number is laid down. The engine knows the tasks that call a hook of a test that was not written for
//! intermezzo (`panics`). What remains is a message that performs a visible operation while it is formatted, and panics
//! after that; and a hook that a test with look-alikes sets for the process.

use super::arena;
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};

/// The size of a credit's stack in bytes: an unwinder needs about 10 KiB.
const STACK_BYTES: usize = 128 << 10;

/// The maximum number of panics of one stack that are laid down. They are nested: a destructor that one panic runs
/// begins the next.
const NESTED_MAX: u32 = 64;

/// A coroutine in the middle of unwinding. It is never dropped: that would unwind it by force.
struct Credit(ManuallyDrop<Coroutine<(), (), ()>>);

// SAFETY: the contents of its stack (a payload without data, a guard, a reference to its own stack) belong to no
// thread. Between beginning and finishing none of its code runs.
unsafe impl Send for Credit {}

/// A pool of credits, and of the stacks of finished ones.
struct Pool {
    credits: Vec<Credit>,
    stacks: Vec<DefaultStack>,
}

static POOL: Mutex<Pool> = Mutex::new(Pool {
    credits: Vec::new(),
    stacks: Vec::new(),
});

fn pool() -> std::sync::MutexGuard<'static, Pool> {
    POOL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes all panics from this thread that it is unwinding from. Returns their number, for `take_up`.
#[cold]
#[inline(never)]
pub(super) fn lay_down() -> u32 {
    // A credit that is finished in this execution may have begun in an earlier one, and vice versa.
    arena::outside(lay_down_credits)
}

fn lay_down_credits() -> u32 {
    let mut laid = 0;
    while laid < NESTED_MAX && std::thread::panicking() && finish_credit() {
        laid += 1;
    }
    laid
}

/// Makes this thread unwind from that number of panics.
#[cold]
#[inline(never)]
pub(super) fn take_up(laid: u32) {
    arena::outside(|| {
        for _ in 0..laid {
            let stack = pool().stacks.pop();
            let credit = begin_credit(stack).expect("a finished credit left its stack");
            pool().credits.push(credit);
        }
    });
}

/// Subtracts 1 from this thread's number. Returns `false` if the system has no thread or no memory for that.
fn finish_credit() -> bool {
    let credit = pool().credits.pop();
    let Some(mut credit) = credit.or_else(credit_of_another_thread) else {
        return false;
    };
    let finished = credit.0.resume(());
    assert!(
        matches!(finished, CoroutineResult::Return(())),
        "a credit suspends once"
    );
    pool()
        .stacks
        .push(ManuallyDrop::into_inner(credit.0).into_stack());
    true
}

fn credit_of_another_thread() -> Option<Credit> {
    let begin = || begin_credit(DefaultStack::new(STACK_BYTES).ok());
    std::thread::Builder::new().spawn(begin).ok()?.join().ok()?
}

/// Adds 1 to this thread's number.
fn begin_credit(stack: Option<DefaultStack>) -> Option<Credit> {
    let mut coroutine = Coroutine::with_stack(stack?, |yielder: &Yielder<(), ()>, ()| {
        // The thrown value holds nothing.
        let _ = catch_unwind(AssertUnwindSafe(|| unwind(yielder)));
    });
    let begun = coroutine.resume(());
    assert!(
        matches!(begun, CoroutineResult::Yield(())),
        "a credit is suspended while it unwinds"
    );
    Some(Credit(ManuallyDrop::new(coroutine)))
}

/// A guard that suspends the coroutine when it is dropped.
struct Suspend<'y>(&'y Yielder<(), ()>);

impl Drop for Suspend<'_> {
    fn drop(&mut self) {
        self.0.suspend(());
    }
}

/// Unwinds. It is a function of its own, because no address of a thread's data may be kept across the suspension.
#[inline(never)]
fn unwind(yielder: &Yielder<(), ()>) {
    let _suspend = Suspend(yielder);
    resume_unwind(Box::new(()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::panicking;

    /// A guard that calls its closure when it is dropped.
    struct OnDrop<F: FnMut()>(F);

    impl<F: FnMut()> Drop for OnDrop<F> {
        fn drop(&mut self) {
            (self.0)();
        }
    }

    #[test]
    fn a_number_is_laid_down_and_taken_up() {
        let mut seen = Vec::new();
        assert_eq!(lay_down(), 0);
        for _ in 0..3 {
            let caught = catch_unwind(AssertUnwindSafe(|| {
                let _outer = OnDrop(|| {
                    let caught = catch_unwind(AssertUnwindSafe(|| {
                        let _inner = OnDrop(|| {
                            let laid = lay_down();
                            seen.push((laid, panicking()));
                            // While it is laid down another panic begins and is caught.
                            let caught = catch_unwind(|| resume_unwind(Box::new(3)));
                            assert!(caught.is_err() && !panicking());
                            take_up(laid);
                            seen.push((0, panicking()));
                        });
                        resume_unwind(Box::new(2));
                    }));
                    seen.push((u32::from(caught.is_err()), panicking()));
                });
                resume_unwind(Box::new(1));
            }));
            assert!(caught.is_err());
            assert!(!panicking());
            assert_eq!(seen, [(2, false), (0, true), (1, true)]);
            seen.clear();
        }
        assert_eq!(lay_down(), 0);
    }
}
