//! The handle on the runtime of an execution, and the switches between its tasks.
//!
//! The runtime stays at one address, reached by a raw pointer in a thread-local. [`Engine::with`] lends it to a
//! closure, and nothing that the closure returns can borrow from it. So no `&mut Runtime` outlives the call. A switch
//! to another task is a method of [`Engine`], which the closure's argument does not provide: the runtime decides inside
//! the closure, and the handle carries out the decision outside.
//!
//! A closure could still capture the handle. Builds with debug assertions check that it does not use it: a second
//! `with`, or a switch, inside the first panics.

use super::dispatch::Next;
use super::fiber::Fiber;
use super::switch::Back;
use super::{Runtime, arena, panic_count};
use crate::record::Task;
use std::cell::Cell;

thread_local! {
    /// The runtime whose task runs on this thread; null outside any execution.
    static CURRENT: Cell<*mut Runtime> = const { Cell::new(std::ptr::null_mut()) };
    /// The runtime of this thread while code runs for which no runtime is current.
    static PUT_ASIDE: Cell<*mut Runtime> = const { Cell::new(std::ptr::null_mut()) };
    /// `true` while code of the program's own global allocator runs on this thread.
    static IN_ALLOCATOR: Cell<bool> = const { Cell::new(false) };
    /// `true` while `with` lends the runtime of this thread; kept only in builds with debug assertions.
    static LENT: Cell<bool> = const { Cell::new(false) };
}

/// The runtime of the execution that the caller is part of.
#[derive(Clone, Copy)]
pub struct Engine(*mut Runtime);

/// A guard for as long as a runtime is current on this thread.
pub(super) struct Current(());

impl Drop for Current {
    fn drop(&mut self) {
        CURRENT.set(std::ptr::null_mut());
    }
}

/// A guard for as long as the runtime is lent. It does nothing in builds without debug assertions.
struct LentOpen(());

impl LentOpen {
    #[inline(always)]
    fn begin() -> LentOpen {
        if cfg!(debug_assertions) {
            assert!(!LENT.replace(true), "the runtime is in use already");
        }
        LentOpen(())
    }
}

/// A guard for as long as the runtime is lent: allocations during that time are not the test's. It does nothing in
/// builds without debug assertions and without the arena.
struct Lent(
    #[allow(dead_code, reason = "closes the arena until it is dropped")] arena::Closed,
    #[allow(dead_code, reason = "notes until it is dropped that the runtime is lent")] LentOpen,
);

impl Lent {
    #[inline(always)]
    fn begin() -> Lent {
        Lent(arena::Closed::new(), LentOpen::begin())
    }
}

/// Returns `true` if the runtime of this thread is lent. Always `false` in builds without debug assertions.
#[inline(always)]
#[allow(dead_code, reason = "for systems with an arena")]
pub(super) fn is_lent() -> bool {
    cfg!(debug_assertions) && LENT.get()
}

impl Drop for LentOpen {
    #[inline(always)]
    fn drop(&mut self) {
        if cfg!(debug_assertions) {
            LENT.set(false);
        }
    }
}

/// Checks in builds with debug assertions that the runtime is not lent.
#[inline(always)]
fn assert_not_lent() {
    debug_assert!(!LENT.get(), "a switch while the runtime is in use");
}

/// Calls a function of the program's own global allocator. Meanwhile this thread belongs to no execution.
///
/// An allocator is also called by the engine, whose state is in use then, and by look-alikes in the middle of an
/// operation. So what it does to atomics, locks and thread-locals of its own is no operation of the test.
#[inline]
pub fn in_allocator<R>(f: impl FnOnce() -> R) -> R {
    /// Notes that the function has returned.
    struct Returned(bool);
    impl Drop for Returned {
        #[inline]
        fn drop(&mut self) {
            IN_ALLOCATOR.set(self.0);
        }
    }
    let run = || {
        let _returned = Returned(IN_ALLOCATOR.replace(true));
        f()
    };
    match Engine::current() {
        Some(engine) => engine.outside(run),
        None => run(),
    }
}

/// Returns `true` if code of the program's own global allocator runs on this thread.
#[inline]
pub fn is_in_allocator() -> bool {
    IN_ALLOCATOR.get()
}

impl Engine {
    /// Returns the engine, if the caller is inside an execution.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline(always))]
    pub fn current() -> Option<Engine> {
        let runtime = CURRENT.get();
        if runtime.is_null() {
            None
        } else {
            Some(Engine(runtime))
        }
    }

    /// Makes a runtime current on this thread, until the guard is dropped.
    ///
    /// # Safety
    /// The runtime stays in place, and nothing else uses it, as long as the guard lives.
    pub(super) unsafe fn make_current(runtime: *mut Runtime) -> (Engine, Current) {
        CURRENT.set(runtime);
        (Engine(runtime), Current(()))
    }

    /// Returns the engine, even if the caller is code for which no runtime is current. For handlers that end that code.
    pub(super) fn of_thread() -> Option<Engine> {
        let aside = PUT_ASIDE.get();
        Engine::current().or_else(|| (!aside.is_null()).then_some(Engine(aside)))
    }

    /// Calls a function, during which no runtime is current. It must not let another task run.
    #[inline]
    pub(super) fn outside<R>(self, f: impl FnOnce() -> R) -> R {
        /// Makes a runtime current again.
        struct Again(*mut Runtime);
        impl Drop for Again {
            #[inline]
            fn drop(&mut self) {
                CURRENT.set(self.0);
                PUT_ASIDE.set(std::ptr::null_mut());
            }
        }
        let _again = Again(CURRENT.replace(std::ptr::null_mut()));
        PUT_ASIDE.set(self.0);
        f()
    }

    /// Returns the handle on a runtime.
    ///
    /// # Safety
    /// The pointer is from `as_ptr` of a handle, in the same execution.
    #[inline(always)]
    pub(super) unsafe fn of(runtime: *mut Runtime) -> Engine {
        Engine(runtime)
    }

    /// Returns the pointer to the runtime.
    #[inline(always)]
    pub(super) fn as_ptr(self) -> *mut Runtime {
        self.0
    }

    /// Calls the function with the runtime, and returns its result, which cannot borrow from the runtime. The function
    /// must not use a handle on it. It must not run code of the test; a strategy or a monitor that it calls has no
    /// handle.
    #[inline(always)]
    pub(super) fn with<R>(self, f: impl FnOnce(&mut Runtime) -> R) -> R {
        let _lent = Lent::begin();
        // SAFETY: a runtime is current for as long as it lives, on the thread that runs all its tasks. The reference
        // ends with the call. Until then no other is made: that takes a handle, which `f` must not use, and no other
        // task runs, because only a handle switches.
        f(unsafe { &mut *self.0 })
    }

    /// Does the same as `with`, for a function that neither allocates nor calls C's `memcpy` or one of its siblings: the
    /// arena stays open, which saves some instructions at each operation.
    #[inline(always)]
    pub(super) fn quick<R>(self, f: impl FnOnce(&mut Runtime) -> R) -> R {
        let _lent = LentOpen::begin();
        // SAFETY: as for `with`.
        f(unsafe { &mut *self.0 })
    }

    /// Calls the function with the runtime, which the interrupted code may be using.
    ///
    /// # Safety
    /// That code does not continue, or the function changes nothing that it uses.
    pub(super) unsafe fn interrupt<R>(self, f: impl FnOnce(&mut Runtime) -> R) -> R {
        // SAFETY: as for `with`, except for what the caller says.
        f(unsafe { &mut *self.0 })
    }

    /// Calls the function with the entry of a task, for the fields that belong to the front end. The function must not
    /// use the engine.
    #[inline(always)]
    pub fn with_task<R>(self, task: u32, f: impl FnOnce(&mut Task) -> R) -> R {
        self.with(|rt| f(&mut rt.tasks[task]))
    }

    /// Carries out a decision. Returns when the caller's task may continue.
    #[inline(always)]
    pub(super) fn follow(self, next: Next) {
        match next {
            Next::Stay => {}
            Next::Switch => {
                self.switch_fiber();
                if self.needs_care() {
                    self.continue_with_care();
                }
            }
            Next::Stop => self.leave(),
        }
    }

    /// Switches to the fiber of the task that is now current; returns when this task's fiber is resumed.
    #[inline(always)]
    pub(super) fn switch_fiber(self) {
        assert_not_lent();
        arena::assert_open();
        let unwinding = std::thread::panicking();
        if unwinding {
            self.lay_down_panics();
        }
        let (from, to) = self.with(|rt| rt.tasks.switch());
        // SAFETY: `running` was the caller's. The other is suspended: it is not the caller's, and no other fiber runs.
        // Fibers are boxed and do not move.
        unsafe { Fiber::switch(from, to) };
        if unwinding {
            self.take_up_panics();
        }
    }

    /// Switches to the worker; returns, if ever, for this task's teardown.
    #[inline(always)]
    pub(super) fn switch_to_worker(self) {
        assert_not_lent();
        arena::assert_open();
        let unwinding = std::thread::panicking();
        if unwinding {
            self.lay_down_panics();
        }
        let (from, worker_context) = self.with(|rt| rt.tasks.leave());
        // SAFETY: `running` is the caller's, and the worker waits in its own context while any task runs.
        unsafe { Fiber::leave(from, worker_context) };
        if unwinding {
            self.take_up_panics();
        }
    }

    /// Runs a task, and those that follow it. Returns when control is back at the worker, which is the caller, and says
    /// how it returned.
    pub(super) fn enter_fiber(self, task: u32) -> Back {
        assert_not_lent();
        let (worker_context, fiber) = self.with(|rt| rt.tasks.enter(task));
        // SAFETY: this is the worker, so no fiber runs; they are boxed and do not move.
        let back = arena::while_tasks_run(|| unsafe { Fiber::enter(worker_context, fiber) });
        if let Back::Crashed(_) = back {
            // If the task was using the runtime when it crashed, that use has ended with its stack. It may also have
            // been in code for which no runtime is current.
            LENT.set(false);
            CURRENT.set(self.0);
            PUT_ASIDE.set(std::ptr::null_mut());
        }
        back
    }

    /// Leaves an execution that must stop; returns only to be unwound.
    #[cold]
    #[inline(never)]
    pub(super) fn leave(self) {
        self.switch_to_worker();
        // A stopped execution resumes its tasks only for teardown.
        assert!(
            self.in_teardown(),
            "a stopped execution resumes tasks only to clear them away"
        );
        self.abandon_current();
    }

    /// Lays down the running task's panics before it is suspended, so that other tasks do not count as unwinding.
    #[cold]
    #[inline(never)]
    fn lay_down_panics(self) {
        let laid = panic_count::lay_down();
        self.with(|rt| rt.tasks.running_task().unwinding = laid);
    }

    /// Takes up the running task's panics after it was resumed, so that it continues to unwind.
    #[cold]
    #[inline(never)]
    fn take_up_panics(self) {
        let laid = self.with(|rt| std::mem::take(&mut rt.tasks.running_task().unwinding));
        panic_count::take_up(laid);
    }
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;
    use crate::environment::Environment;
    use crate::runtime::panics::{Guard, caught};
    use crate::runtime::{Executor, Limits, Listeners};
    use crate::strategy::{ChoicePoint, Coverage, Plan, SoFar, Status, Strategy};
    use crate::trace::Trace;

    /// A search that takes every default.
    struct Defaults;

    impl Strategy for Defaults {
        fn next(&mut self, _: &mut Plan, _: &Trace) -> bool {
            true
        }
        fn choose(&mut self, _: &ChoicePoint<'_>) -> Option<u32> {
            Some(0)
        }
        fn coverage(&self, _: bool) -> Coverage {
            Coverage::stopped()
        }
        fn status(&self, _: &SoFar<'_>) -> Status {
            Status::named("defaults")
        }
    }

    /// Runs a function as the only task of an execution.
    fn inside(test: impl Fn(Engine)) {
        let limits = Limits {
            steps: 100,
            tasks: 1,
            stack_bytes: 256 << 10,
            forgotten_bytes: 0,
            fair_yields: 1,
            awaits: false,
            deadlocks_allowed: false,
            long_allowed: false,
            reads_once: false,
            keeps_objects: false,
            unmodified: false,
            is_program: false,
            every_operation: false,
            hang: None,
            execution: None,
        };
        let _guard = Guard::install();
        let environment = Environment::calm();
        let mut executor = Executor::new(
            Box::new(Defaults),
            environment,
            limits,
            None,
            Listeners::default(),
        );
        assert!(executor.prepare());
        let outcome = executor.execute(&|| test(Engine::current().unwrap()));
        assert!(outcome.trouble.is_none());
    }

    #[test]
    fn a_runtime_that_is_lent_is_not_lent_again() {
        inside(|engine| {
            let error = caught(|| engine.with(|_| assert_eq!(engine.task(), 0))).unwrap_err();
            assert!(error.ends_with("the runtime is in use already"), "{error}");
            // The panic has ended the use.
            assert_eq!(engine.task(), 0);
        });
    }

    #[test]
    fn nothing_switches_while_the_runtime_is_lent() {
        inside(|engine| {
            for switch in [Engine::switch_fiber, Engine::switch_to_worker] {
                let error = caught(|| engine.with(|_| switch(engine))).unwrap_err();
                assert!(error.ends_with("a switch while the runtime is in use"), "{error}");
            }
        });
    }
}
