//! Switching from one stack to another. The details are private to this module.
//!
//! A worker *enters* a coroutine; coroutines *switch* among each other; one of them *leaves* for the worker's context,
//! where the worker then continues. There are two implementations of one interface:
//!
//! - `own.rs`, on Unix for x86-64 and aarch64: registers are swapped in place, straight from task to task;
//! - `hub.rs`, on all other targets: the corosensei crate. There a coroutine can only suspend to the worker, which then
//!   resumes the next one, so a switch costs two round trips.
//!
//! `RUSTFLAGS="--cfg intermezzo_hub_switch"` selects the second everywhere, to test it.

#![allow(
    unexpected_cfgs,
    reason = "`intermezzo_hub_switch` is set by hand, and only for tests of this module"
)]

#[cfg(any(
    intermezzo_hub_switch,
    not(all(
        unix,
        target_pointer_width = "64",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ))
))]
#[path = "switch/hub.rs"]
mod imp;
#[cfg(all(
    not(intermezzo_hub_switch),
    unix,
    target_pointer_width = "64",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
#[path = "switch/own.rs"]
mod imp;

use super::crash::Crash;
pub(super) use imp::{Coroutine, WorkerContext, yield_now_in_loop};

/// The entry point of a coroutine: it never returns, and nothing may unwind out of it.
pub(super) type Entry = extern "C" fn() -> !;

/// The way in which control returned to the worker.
pub(super) enum Back {
    /// A coroutine left.
    Left,
    /// A signal ended it.
    Crashed(Crash),
}

/// The registers that a signal handler must set so that the interrupted coroutine leaves for the worker.
#[allow(
    dead_code,
    reason = "not all of it is used on every target, and signals are caught on few"
)]
pub(super) struct Registers {
    pub(super) instruction: usize,
    pub(super) stack: usize,
    pub(super) frame: usize,
    /// The return address, if that is a register.
    pub(super) link: usize,
    /// The first two arguments of a call.
    pub(super) arguments: [usize; 2],
}

#[cfg(test)]
mod tests {
    use super::super::stack::TaskStack;
    use super::*;
    use std::cell::{Cell, RefCell};
    use std::panic::catch_unwind;
    use std::ptr::null_mut;

    thread_local! {
        static HOME: Cell<*mut WorkerContext> = const { Cell::new(null_mut()) };
        static PAIR: Cell<[*mut Coroutine; 2]> = const { Cell::new([null_mut(); 2]) };
        /// The member of the pair that must run next.
        static NEXT: Cell<usize> = const { Cell::new(0) };
        static HEARD: RefCell<String> = const { RefCell::new(String::new()) };
    }

    fn say(what: char) {
        HEARD.with_borrow_mut(|heard| heard.push(what));
    }

    /// Switches to the other of the pair.
    fn over(me: usize) {
        NEXT.set(1 - me);
        let pair = PAIR.get();
        // SAFETY: `me` runs, the other is suspended or fresh, and the test keeps both in place.
        unsafe { Coroutine::switch(pair[me], pair[1 - me]) };
    }

    extern "C" fn first() -> ! {
        for _ in 0..3 {
            say('a');
            assert!(catch_unwind(|| std::panic::resume_unwind(Box::new(7))).is_err());
            over(0);
        }
        // A stack walk ends at the stack's first frame.
        say(
            if std::backtrace::Backtrace::force_capture().to_string().is_empty() {
                '?'
            } else {
                '.'
            },
        );
        loop {
            // SAFETY: the first of the pair runs.
            unsafe { Coroutine::leave(PAIR.get()[0], HOME.get()) };
        }
    }

    extern "C" fn second() -> ! {
        // Registers and floats survive the switch and the return.
        let mut sum = 0.5;
        for round in 1.. {
            say('b');
            over(1);
            sum += f64::from(round);
            assert_eq!(sum, f64::from(round * (round + 1) / 2) + 0.5);
        }
        unreachable!()
    }

    /// Enters coroutines until one of the pair leaves.
    fn run(worker_context: *mut WorkerContext, pair: [*mut Coroutine; 2]) {
        while HEARD.with_borrow(|heard| !heard.ends_with('.')) {
            // SAFETY: both are suspended or fresh, and stay in place.
            let back = unsafe { Coroutine::enter(worker_context, pair[NEXT.get()]) };
            assert!(matches!(back, Back::Left));
        }
    }

    #[test]
    fn two_coroutines_take_turns_and_are_used_again() {
        let stack = || TaskStack::new(256 << 10).unwrap();
        let worker_context = Box::into_raw(Box::<WorkerContext>::default());
        let pair = [first as Entry, second]
            .map(|entry| Box::into_raw(Box::new(Coroutine::new(stack(), entry).unwrap())));
        HOME.set(worker_context);
        PAIR.set(pair);
        for _ in 0..2 {
            HEARD.take();
            NEXT.set(0);
            run(worker_context, pair);
            assert_eq!(HEARD.take(), "ababab.");
            for (coroutine, entry) in pair.into_iter().zip([first as Entry, second]) {
                // SAFETY: neither runs, and their stacks hold nothing that needs a drop.
                unsafe { (*coroutine).restart(entry).unwrap() };
            }
        }
        for coroutine in pair {
            // SAFETY: as above; they are no longer used.
            drop(unsafe { Box::from_raw(coroutine).release() });
        }
        // SAFETY: made by `into_raw` above.
        drop(unsafe { Box::from_raw(worker_context) });
    }
}
