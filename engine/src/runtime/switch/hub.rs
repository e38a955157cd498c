//! Switching by way of the worker: the corosensei crate.

use super::super::crash::Crash;
use super::super::{Engine, Runtime};
use super::{Back, Entry, Registers};
use crate::record::{Access, Site};
use corosensei::stack::DefaultStack;
use corosensei::{CoroutineResult, Yielder};
use intermezzo_sdk::SyncVarOp;
use std::cell::Cell;
use std::rc::Rc;

/// Yields. The caller's local state is not known here, so loops that wait are not told from others.
///
/// # Safety
/// `runtime` is what an `Engine` holds.
pub(in crate::runtime) unsafe fn yield_now_in_loop(runtime: *mut Runtime, op: SyncVarOp, site: Site) {
    Engine(runtime).yield_now(Access::nowhere(op, site));
}

/// Where the worker waits while tasks run. Corosensei keeps that itself.
#[derive(Default)]
pub(in super::super) struct WorkerContext;

/// A coroutine that can only suspend to whoever resumed it.
pub(in super::super) struct Coroutine {
    coroutine: Option<corosensei::Coroutine<(), (), Crash>>,
    yielder: *const Yielder<(), ()>,
}

impl Coroutine {
    /// Returns a coroutine that runs `entry` once it is entered.
    pub(in super::super) fn new(stack: DefaultStack, entry: Entry) -> std::io::Result<Coroutine> {
        let mut new = Coroutine {
            coroutine: None,
            yielder: std::ptr::null(),
        };
        new.start(stack, entry);
        Ok(new)
    }

    fn start(&mut self, stack: DefaultStack, entry: Entry) {
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

    /// Forgets what is on the stack and begins anew. The coroutine must not be running.
    pub(in super::super) fn restart(&mut self, entry: Entry) -> std::io::Result<()> {
        if let Some(stack) = self.release() {
            self.start(stack, entry);
        }
        Ok(())
    }

    /// Bytes of the stack that are in use, while it is suspended: not known here, so a guess for a task that does
    /// little.
    #[allow(clippy::unused_self, reason = "the other way of switching knows")]
    pub(in super::super) fn in_use(&self) -> usize {
        16 << 10
    }

    /// Gives the stack back. What is on it is forgotten.
    pub(in super::super) fn release(&mut self) -> Option<DefaultStack> {
        let mut coroutine = self.coroutine.take()?;
        // SAFETY: what is left on the stack is leaked on purpose, and nothing refers to it: it is never
        // gone on with.
        unsafe { coroutine.force_reset() };
        Some(coroutine.into_stack())
    }

    /// Runs `to` until it switches or leaves: the caller is to enter the one switched to.
    ///
    /// # Safety
    /// `to` is fresh or suspended, and stays in place.
    pub(in super::super) unsafe fn enter(_: *mut WorkerContext, to: *mut Coroutine) -> Back {
        // SAFETY: as the caller says. This field is touched by nobody else meanwhile.
        let coroutine =
            unsafe { (*to).coroutine.as_mut() }.expect("a coroutine is there until it is released");
        match coroutine.resume(()) {
            CoroutineResult::Yield(()) => Back::Left,
            CoroutineResult::Return(crash) => Back::Crashed(crash),
        }
    }

    /// Suspends `from`; returns when it is gone on with.
    ///
    /// # Safety
    /// `from` is running.
    #[inline(always)]
    pub(in super::super) unsafe fn switch(from: *mut Coroutine, _: *const Coroutine) {
        // SAFETY: the yielder lives on the stack that runs this.
        unsafe { (*(*from).yielder).suspend(()) }
    }

    /// Suspends `from`; returns when it is gone on with.
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

    /// For a signal handler: how the coroutine that it interrupted is to end, and to tell of the crash.
    ///
    /// # Safety
    /// The signal interrupted this coroutine.
    #[allow(dead_code, reason = "signals are caught on few targets")]
    pub(in super::super) unsafe fn divert(&self, _: *mut WorkerContext, crash: Crash) -> Registers {
        let handler = self.coroutine.as_ref().map(corosensei::Coroutine::trap_handler);
        let handler = handler.expect("a coroutine is there until it is released");
        // SAFETY: the stack pointer is on this coroutine's stack, and the handler sets the registers. What
        // the task did to memory so far was done by ordinary code of this thread, which the signal
        // interrupted: it is there to be read by what runs next.
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
