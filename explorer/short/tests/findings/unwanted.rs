//! Results of tasks that no task joins, and whose destructors panic: std aborts the process, in whichever thread they run.

use super::Bomb;
use intermezzo_explorer::thread::{self, JoinHandle};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Returns the handle on a task that has ended with this result.
fn ended<T: Send + 'static>(result: T) -> JoinHandle<T> {
    let task = thread::spawn(move || result);
    while !task.is_finished() {
        thread::yield_now();
    }
    task
}

pub(crate) fn panic_of_an_unwanted_result() {
    let task = ended(Bomb);
    let dropped = catch_unwind(AssertUnwindSafe(|| drop(task)));
    unreachable!("the panic was caught: {}", dropped.is_err());
}

/// The panic that is told is the one that came out of the destructor, not one that was caught in it.
pub(crate) fn panic_of_an_unwanted_result_after_others() {
    struct Quiet(&'static str);
    impl Drop for Quiet {
        fn drop(&mut self) {
            let _ = catch_unwind(|| panic!("{}", self.0));
        }
    }
    struct Noisy;
    impl Drop for Noisy {
        fn drop(&mut self) {
            drop(Quiet("caught before"));
            let _caught_while_unwinding = Quiet("caught while unwinding");
            panic!("it came out");
        }
    }
    drop(ended(Noisy));
}

/// A destructor may unwind without a message, after panics that were caught.
pub(crate) fn unwinding_of_an_unwanted_result() {
    struct Silent;
    impl Drop for Silent {
        fn drop(&mut self) {
            resume_unwind(Box::new("no hook is called"));
        }
    }
    let _ = catch_unwind(|| panic!("an earlier one"));
    let task = ended(Silent);
    let dropped = catch_unwind(AssertUnwindSafe(|| drop(task)));
    unreachable!("it was caught: {}", dropped.is_err());
}

/// The dropping task unwinds already.
pub(crate) fn panic_of_an_unwanted_result_while_unwinding() {
    let task = ended(Bomb);
    let unwound = catch_unwind(AssertUnwindSafe(move || {
        let _task = task;
        panic!("first");
    }));
    unreachable!("the panic was caught: {}", unwound.is_err());
}
