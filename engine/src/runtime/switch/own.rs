//! Switching by swapping stacks in place.
//!
//! A suspended context is a stack pointer. On top of that stack are the address to continue at, the frame pointer and
//! the one register that the compiler does not let inline assembly clobber. The compiler saves the others itself, and
//! only those in use, because the assembly says that it clobbers them all.
//!
//! Not saved are the control words of the floating point units (MXCSR, x87, FPCR). They belong to the thread, so a task
//! that changed the rounding would change it for all; safe Rust cannot. Shadow stacks and branch target checks (CET,
//! BTI) are not supported: a swap returns to an address that was not called from.

#[path = "snapshot.rs"]
mod snapshot;

use super::super::crash::Crash;
use super::super::stack::TaskStack;
use super::{Back, Entry, Registers};
use corosensei::stack::Stack;
pub(in crate::runtime) use snapshot::yield_now_in_loop;
use std::ops::Range;

/// The context in which the worker waits while tasks run.
#[derive(Default)]
pub(in super::super) struct WorkerContext {
    stack_pointer: usize,
    /// The crash, if control returned because of one.
    crash: Option<Crash>,
}

/// A stack, and the point at which it is suspended.
pub(in super::super) struct Coroutine {
    stack_pointer: usize,
    /// The stack; there until it is released.
    stack: Option<TaskStack>,
    /// The coroutine stays on its thread, because the contents of its stack do.
    here: std::marker::PhantomData<*mut ()>,
}

/// The number of words of a suspended context.
const FRAME: usize = 4;

impl Coroutine {
    /// Returns a coroutine that runs `entry` once it is entered or switched to.
    #[allow(clippy::unnecessary_wraps, reason = "the other way of switching can fail")]
    pub(in super::super) fn new(stack: TaskStack, entry: Entry) -> std::io::Result<Coroutine> {
        let mut coroutine = Coroutine {
            stack_pointer: 0,
            stack: Some(stack),
            here: std::marker::PhantomData,
        };
        coroutine.restart(entry)?;
        Ok(coroutine)
    }

    /// Forgets the contents of the stack and begins again. The coroutine must not be running.
    #[allow(clippy::unnecessary_wraps, reason = "the other way of switching can fail")]
    pub(in super::super) fn restart(&mut self, entry: Entry) -> std::io::Result<()> {
        let top = self.top();
        // These are the address to continue at, no frame before this one, a register; and on x86-64 a return address,
        // as a call would have pushed, which is zero. There the unwinder stops.
        let frame: [usize; FRAME] = [entry as *const () as usize, 0, 0, 0];
        self.stack_pointer = top - size_of_val(&frame);
        // SAFETY: the top words of our own stack, which is mapped, aligned to a page and not in use.
        unsafe { std::ptr::with_exposed_provenance_mut::<[usize; FRAME]>(self.stack_pointer).write(frame) };
        Ok(())
    }

    /// Returns the address at which the stack begins: it grows downwards.
    fn top(&self) -> usize {
        self.stack.as_ref().map_or(0, |stack| stack.base().get())
    }

    /// Returns the number of bytes of the stack that are in use while it is suspended.
    pub(in super::super) fn in_use(&self) -> usize {
        self.top() - self.stack_pointer
    }

    /// Sets the unused part of the stack to zero, down to this many bytes from its top. The coroutine must not be
    /// running.
    pub(in super::super) fn clear(&mut self, bytes: usize) {
        let size = self.addresses().len();
        let from = self.top() - bytes.min(size);
        let unused = self.stack_pointer.saturating_sub(from);
        // SAFETY: our own stack, which is mapped, and suspended at its pointer: nothing uses what is below. The caller
        // gives at most the size of the stack, so the guard page is not reached.
        unsafe { std::ptr::with_exposed_provenance_mut::<u8>(from).write_bytes(0, unused) };
    }

    /// Gives the stack back. Its contents are forgotten.
    pub(in super::super) fn release(&mut self) -> Option<TaskStack> {
        self.stack.take()
    }

    /// Runs `to`, and the coroutines that it switches to, until one of them leaves.
    ///
    /// # Safety
    /// No coroutine of `worker_context` is running. `to` is fresh or suspended, and so is every coroutine that is
    /// switched to from there. None is moved.
    #[inline(always)]
    pub(in super::super) unsafe fn enter(worker_context: *mut WorkerContext, to: *const Coroutine) -> Back {
        // SAFETY: as the caller says.
        unsafe {
            swap(&raw mut (*worker_context).stack_pointer, (*to).stack_pointer);
            match (*worker_context).crash.take() {
                None => Back::Left,
                Some(crash) => Back::Crashed(crash),
            }
        }
    }

    /// Suspends `from` and runs `to`; returns when `from` is resumed.
    ///
    /// # Safety
    /// `from` is running, `to` is fresh or suspended, and neither is moved.
    #[inline(always)]
    pub(in super::super) unsafe fn switch(from: *mut Coroutine, to: *const Coroutine) {
        // SAFETY: as the caller says.
        unsafe { swap(&raw mut (*from).stack_pointer, (*to).stack_pointer) }
    }

    /// Suspends `from` and returns to the worker; returns here when `from` is resumed.
    ///
    /// # Safety
    /// `from` is running, inside an `enter` with this `worker_context`.
    #[inline(always)]
    pub(in super::super) unsafe fn leave(from: *mut Coroutine, worker_context: *const WorkerContext) {
        // SAFETY: as the caller says.
        unsafe { swap(&raw mut (*from).stack_pointer, (*worker_context).stack_pointer) }
    }

    /// Returns `true` if this address is on the stack or on its guard page.
    #[allow(dead_code, reason = "signals are caught on few targets")]
    pub(in super::super) fn holds(&self, address: usize) -> bool {
        self.addresses().contains(&address)
    }

    /// Returns the addresses of the stack.
    pub(in super::super) fn addresses(&self) -> Range<usize> {
        match &self.stack {
            Some(stack) => stack.limit().get()..stack.base().get(),
            None => 0..0,
        }
    }

    /// Returns to a signal handler the registers with which the interrupted coroutine leaves for the worker, where
    /// `enter` then reports the crash. The stack is used again from its top, because it may be used up.
    ///
    /// # Safety
    /// The signal interrupted this coroutine, inside an `enter` with this `worker_context`. It is not resumed, only
    /// restarted.
    #[allow(dead_code, reason = "signals are caught on few targets")]
    pub(in super::super) unsafe fn divert(
        &self,
        worker_context: *mut WorkerContext,
        crash: Crash,
    ) -> Registers {
        // SAFETY: the worker is suspended in `enter`, which reads it next.
        unsafe { (*worker_context).crash = Some(crash) };
        // On x86-64 a function begins just below the return address, which is zero here.
        let stack = if cfg!(target_arch = "x86_64") {
            self.top() - size_of::<usize>()
        } else {
            self.top()
        };
        if cfg!(target_arch = "x86_64") {
            // SAFETY: the top word of the stack, all of which is abandoned.
            unsafe { std::ptr::with_exposed_provenance_mut::<usize>(stack).write(0) };
        }
        let instruction = land as *const () as usize;
        Registers {
            instruction,
            stack,
            frame: 0,
            link: 0,
            arguments: [worker_context.expose_provenance(), 0],
        }
    }
}

/// Runs in place of a coroutine that a signal ended: returns to the worker.
extern "C" fn land(worker_context: *const WorkerContext) -> ! {
    let mut nowhere = 0;
    // SAFETY: the worker is suspended there, as the caller of `divert` guarantees.
    unsafe { swap(&raw mut nowhere, (*worker_context).stack_pointer) };
    unreachable!("the stack pointer is not kept, so nothing can switch back to it")
}

/// Saves this context in `*save` and continues at `to`; returns when this context is resumed. Inlined, so that the
/// compiler saves only what it needs, and the processor predicts the jump of each call site separately.
///
/// # Safety
/// `to` is the pointer that `swap` saved last for a context, or the frame of a fresh one; it belongs to this thread.
#[inline(always)]
unsafe fn swap(save: *mut usize, to: usize) {
    // SAFETY: every register in which the compiler could have a value is saved. The compiler saves those declared
    // clobbered, and the assembly the others. The other side, which is this same code, restores all of them in the
    // mirrored order; a fresh context (a function without arguments) ignores them. The stack pointer is as before at
    // the end. The pushed words lie below the caller's frame: without `nostack` the compiler keeps nothing in a red
    // zone and aligns the stack. Without `nomem` memory is assumed to change.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::asm!(
            "push rbx",
            "push rbp",
            "lea rax, [rip + 2f]",
            "push rax",
            "mov [rdi], rsp",
            "mov rsp, rsi",
            "pop rax",
            "pop rbp",
            "pop rbx",
            "jmp rax",
            "2:",
            inout("rdi") save => _, inout("rsi") to => _,
            out("r12") _, out("r13") _, out("r14") _, out("r15") _,
            clobber_abi("sysv64"),
        );
    }
    // SAFETY: as above. The link register is cleared for a fresh context, because it has no caller.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        // `clobber_abi` covers all vector registers, although a call would preserve a half of some.
        std::arch::asm!(
            "sub sp, sp, #32",
            "adr x2, 2f",
            "stp x2, x29, [sp]",
            "str x19, [sp, #16]",
            "mov x2, sp",
            "str x2, [x0]",
            "mov sp, x1",
            "ldp x2, x29, [sp]",
            "ldr x19, [sp, #16]",
            "add sp, sp, #32",
            "mov x30, xzr",
            "br x2",
            "2:",
            inout("x0") save => _, inout("x1") to => _,
            out("x20") _, out("x21") _, out("x22") _, out("x23") _, out("x24") _,
            out("x25") _, out("x26") _, out("x27") _, out("x28") _,
            clobber_abi("C"),
        );
    }
}
