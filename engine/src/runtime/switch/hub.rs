//! Switching by means of the worker: the corosensei crate.

use super::super::crash::Crash;
use super::super::stack::TaskStack;
use super::super::{Engine, Runtime};
use super::{Back, Entry, Registers};
use crate::record::Access;
use crate::site::Site;
use corosensei::{CoroutineResult, Yielder};
use intermezzo_sdk::SyncVarOp;
use std::cell::Cell;
use std::rc::Rc;

/// Yields. The caller's local state is not known here, so loops that wait are not recognised.
///
/// # Safety
/// `runtime` is the pointer of an `Engine`.
pub(in crate::runtime) unsafe fn yield_now_in_loop(runtime: *mut Runtime, op: SyncVarOp, site: Site) {
    // SAFETY: as the caller says.
    unsafe { Engine::of(runtime) }.yield_now(Access::nowhere(op, site));
}

/// The context in which the worker waits while tasks run. Corosensei keeps it itself.
#[derive(Default)]
pub(in super::super) struct WorkerContext;

/// A coroutine that can only suspend to the code that resumed it.
pub(in super::super) struct Coroutine {
    coroutine: Option<corosensei::Coroutine<(), (), Crash>>,
    yielder: *const Yielder<(), ()>,
}

impl Coroutine {
    /// Returns a coroutine that runs `entry` once it is entered.
    pub(in super::super) fn new(stack: TaskStack, entry: Entry) -> std::io::Result<Coroutine> {
        let mut new = Coroutine {
            coroutine: None,
            yielder: std::ptr::null(),
        };
        new.start(stack, entry);
        Ok(new)
    }

    fn start(&mut self, stack: TaskStack, entry: Entry) {
        let yielder = Rc::new(Cell::new(std::ptr::null()));
        let out = yielder.clone();
        let mut coroutine = corosensei::Coroutine::with_stack(stack, move |yielder: &Yielder<(), ()>, ()| {
            out.set(std::ptr::from_ref(yielder));
            drop(out);
            yielder.suspend(());
            entry()
        });
        coroutine.resume(());
        self.yielder = yielder.get();
        self.coroutine = Some(coroutine);
    }

    /// Forgets the contents of the stack and begins again. The coroutine must not be running.
    pub(in super::super) fn restart(&mut self, entry: Entry) -> std::io::Result<()> {
        if let Some(stack) = self.release() {
            self.start(stack, entry);
        }
        Ok(())
    }

    /// Returns the number of bytes of the stack that are in use while it is suspended. It is not known here, so this is
    /// a guess for a task that does little.
    #[allow(clippy::unused_self, reason = "the other way of switching knows")]
    pub(in super::super) fn in_use(&self) -> usize {
        16 << 10
    }

    /// Returns no addresses: those of the stack are not known.
    pub(in super::super) fn addresses(&self) -> std::ops::Range<usize> {
        0..0
    }

    /// Does nothing: the states of tasks are not compared here.
    #[allow(clippy::unused_self, reason = "the other way of switching clears it")]
    pub(in super::super) fn clear(&mut self, _: usize) {}

    /// Gives the stack back. Its contents are forgotten.
    pub(in super::super) fn release(&mut self) -> Option<TaskStack> {
        let mut coroutine = self.coroutine.take()?;
        // SAFETY: the contents of the stack are leaked on purpose, and nothing refers to them: the coroutine is never
        // resumed.
        unsafe { coroutine.force_reset() };
        Some(coroutine.into_stack())
    }

    /// Runs `to` until it switches or leaves; the caller then enters the coroutine that it switched to.
    ///
    /// # Safety
    /// `to` is fresh or suspended, and is not moved.
    pub(in super::super) unsafe fn enter(_: *mut WorkerContext, to: *mut Coroutine) -> Back {
        // SAFETY: as the caller says. Nothing else accesses this field in the meantime.
        let coroutine =
            unsafe { (*to).coroutine.as_mut() }.expect("a coroutine is there until it is released");
        match coroutine.resume(()) {
            CoroutineResult::Yield(()) => Back::Left,
            CoroutineResult::Return(crash) => Back::Crashed(crash),
        }
    }

    /// Suspends `from`; returns when it is resumed.
    ///
    /// # Safety
    /// `from` is running.
    #[inline(always)]
    pub(in super::super) unsafe fn switch(from: *mut Coroutine, _: *const Coroutine) {
        // SAFETY: the yielder lives on the stack that runs this.
        unsafe { (*(*from).yielder).suspend(()) }
    }

    /// Suspends `from`; returns when it is resumed.
    ///
    /// # Safety
    /// `from` is running.
    #[inline(always)]
    pub(in super::super) unsafe fn leave(from: *mut Coroutine, _: *const WorkerContext) {
        // SAFETY: as above.
        unsafe { (*(*from).yielder).suspend(()) }
    }

    /// Returns `true` if this address is on the stack or on its guard page.
    #[allow(dead_code, reason = "signals are caught on few targets")]
    pub(in super::super) fn holds(&self, address: usize) -> bool {
        self.coroutine
            .as_ref()
            .is_some_and(|coroutine| coroutine.trap_handler().stack_ptr_in_bounds(address))
    }

    /// Returns to a signal handler the registers with which the interrupted coroutine ends and reports the crash.
    ///
    /// # Safety
    /// The signal interrupted this coroutine.
    #[allow(dead_code, reason = "signals are caught on few targets")]
    pub(in super::super) unsafe fn divert(&self, _: *mut WorkerContext, crash: Crash) -> Registers {
        let handler = self.coroutine.as_ref().map(corosensei::Coroutine::trap_handler);
        let handler = handler.expect("a coroutine is there until it is released");
        // SAFETY: the stack pointer is on this coroutine's stack, and the handler sets the registers. The task's
        // previous writes to memory were made by ordinary code of this thread, which the signal interrupted: the code
        // that runs next can read them.
        let to = unsafe { handler.setup_trap_handler(move || crash) };
        registers(&to)
    }
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn registers(to: &corosensei::trap::TrapHandlerRegs) -> Registers {
    let [instruction, stack, frame, first, second] =
        [to.rip, to.rsp, to.rbp, to.rdi, to.rsi].map(|value| value as usize);
    Registers {
        instruction,
        stack,
        frame,
        link: 0,
        arguments: [first, second],
    }
}

#[cfg(all(target_os = "linux", target_arch = "aarch64"))]
fn registers(to: &corosensei::trap::TrapHandlerRegs) -> Registers {
    let [instruction, stack, frame, link, first, second] =
        [to.pc, to.sp, to.x29, to.lr, to.x0, to.x1].map(|value| value as usize);
    Registers {
        instruction,
        stack,
        frame,
        link,
        arguments: [first, second],
    }
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn registers(_: &corosensei::trap::TrapHandlerRegs) -> Registers {
    unreachable!("signals are not caught here")
}
