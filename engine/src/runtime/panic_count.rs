//! Gives each stack the number of panics that it is unwinding from.
//!
//! std keeps that number per OS thread (`std::thread::panicking`, poisoning), and the tasks of a worker share one
//! thread. A task that gives control away while it unwinds *lays down* its number first: the thread then
//! counts as not unwinding. Once the task goes on it *takes up* its number again. So the flag of the thread is
//! always that of the task that runs, for the test's own code and for std's.
//!
//! std has no call that changes the number. It goes up where a panic begins, and down where one is caught; the
//! two need not be on the same thread. A *credit* is a coroutine that was suspended by a destructor while it
//! unwinds. Beginning one adds 1 to the thread where it begins, and finishing it takes 1 from the
//! thread where it is finished. The first credit is begun on a thread of its own, which then ends.
//!
//! Blind spot: the flag by which std sees a panic inside a panic hook is not kept. It would matter to a message
//! that performs a visible operation while it is formatted, and panics after that.

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};

/// Bytes of a credit's stack: an unwinder takes some 10 KiB.
const STACK_BYTES: usize = 128 << 10;

/// Panics of one stack that are laid down at most: each is begun by a destructor of the one before.
const NESTED_MAX: u32 = 64;

/// A coroutine in the middle of unwinding. It is never dropped: that would unwind it by force.
struct Credit(ManuallyDrop<Coroutine<(), (), ()>>);

// SAFETY: what is on its stack (a payload without data, a guard, a reference to its own stack) belongs to no
// thread. Between beginning and finishing it nothing of it runs.
unsafe impl Send for Credit {}

/// What is used again: credits, and stacks of finished ones.
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

/// Takes from this thread the panics that it is unwinding from. Returns their number, for `take_up`.
#[cold]
#[inline(never)]
pub(super) fn lay_down() -> u32 {
    let mut laid = 0;
    while laid < NESTED_MAX && std::thread::panicking() && finish_credit() {
        laid += 1;
    }
    laid
}

/// Gives this thread that number of panics to unwind from.
#[cold]
#[inline(never)]
pub(super) fn take_up(laid: u32) {
    for _ in 0..laid {
        let stack = pool().stacks.pop();
        let credit = begin_credit(stack).expect("a finished credit left its stack");
        pool().credits.push(credit);
    }
}

/// Takes 1 from this thread's number. `false` if the system has no thread or no memory for that.
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
        // What was thrown holds nothing.
        let _ = catch_unwind(AssertUnwindSafe(|| unwind(yielder)));
    });
    let begun = coroutine.resume(());
    assert!(
        matches!(begun, CoroutineResult::Yield(())),
        "a credit is suspended while it unwinds"
    );
    Some(Credit(ManuallyDrop::new(coroutine)))
}

/// Suspends the coroutine when it is dropped.
struct Suspend<'y>(&'y Yielder<(), ()>);

impl Drop for Suspend<'_> {
    fn drop(&mut self) {
        self.0.suspend(());
    }
}

/// A function of its own: no address of a thread's data may be kept across the suspension.
#[inline(never)]
fn unwind(yielder: &Yielder<(), ()>) {
    let _suspend = Suspend(yielder);
    resume_unwind(Box::new(()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::panicking;

    /// Calls its closure when it is dropped.
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
                            // While it is laid down another panic comes and goes.
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
