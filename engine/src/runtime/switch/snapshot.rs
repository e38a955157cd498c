//! The local state of a task that yields: the registers that a call preserves, the return address, and the used part of
//! the stack. The rest of a machine's state is dead across a call, or memory.
//!
//! It is the state of the caller of `yield_now_in_loop`: it is collected before any of the engine's own frames are on
//! the stack.

use crate::record::Access;
use crate::runtime::spin::LoopContext;
use crate::runtime::tasks::BELOW;
use crate::runtime::{Engine, Runtime};
use crate::site::Site;
use intermezzo_sdk::SyncVarOp;

/// Notes the caller's local state, and yields for it.
///
/// # Safety
/// `runtime` is the pointer of an `Engine`, and the caller runs on one of its fibers.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
pub(in crate::runtime) unsafe extern "C-unwind" fn yield_now_in_loop(
    runtime: *mut Runtime,
    op: SyncVarOp,
    site: Site,
) {
    // The registers that a call preserves go right below the return address, so that all of the state is in one piece.
    // The arguments follow, which also aligns the stack. The jump leaves everything as it was at the call.
    std::arch::naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "push rdi",
        "push rsi",
        "push rdx",
        "lea rsi, [rsp + 24]",
        "call {note}",
        "pop rdx",
        "pop rsi",
        "pop rdi",
        "add rsp, 48",
        "jmp {go_on}",
        note = sym note,
        go_on = sym go_on,
    );
}

/// Notes the caller's local state, and yields for it.
///
/// # Safety
/// `runtime` is the pointer of an `Engine`, and the caller runs on one of its fibers.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
pub(in crate::runtime) unsafe extern "C-unwind" fn yield_now_in_loop(
    runtime: *mut Runtime,
    op: SyncVarOp,
    site: Site,
) {
    // As above. The return address is a register, x30; of the vector registers a call preserves the lower halves.
    std::arch::naked_asm!(
        "sub sp, sp, #192",
        "stp x0, x1, [sp]",
        "str x2, [sp, #16]",
        "stp x19, x20, [sp, #32]",
        "stp x21, x22, [sp, #48]",
        "stp x23, x24, [sp, #64]",
        "stp x25, x26, [sp, #80]",
        "stp x27, x28, [sp, #96]",
        "stp x29, x30, [sp, #112]",
        "stp d8, d9, [sp, #128]",
        "stp d10, d11, [sp, #144]",
        "stp d12, d13, [sp, #160]",
        "stp d14, d15, [sp, #176]",
        "add x1, sp, #32",
        "bl {note}",
        "ldp x29, x30, [sp, #112]",
        "ldp x0, x1, [sp]",
        "ldr x2, [sp, #16]",
        "add sp, sp, #192",
        "b {go_on}",
        note = sym note,
        go_on = sym go_on,
    );
}

/// Notes the state that begins at `from` and ends with the stack. Nothing may unwind out of this.
extern "C" fn note(runtime: *mut Runtime, from: *const u64) {
    // SAFETY: as the caller says.
    let engine = unsafe { Engine::of(runtime) };
    engine.with(|rt| {
        let current = rt.tasks.current();
        let task = &rt.tasks[current];
        if rt.end.teardown || task.yielded || !rt.limits.awaits {
            return;
        }
        let surroundings = LoopContext {
            clock: rt.world.clock(),
            late_timeouts_left: rt.world.late_timeouts_left,
            adversities: task.adversities,
            random_sources: task.random_sources,
            visits: rt
                .constraints
                .breakpoints
                .as_ref()
                .map_or(0, |breakpoints| breakpoints.visits(current)),
        };
        let to = rt.tasks.fiber(rt.tasks.running()).coroutine().top();
        let words = (to - from.addr()) / size_of::<u64>();
        rt.tasks.note_compared(to - from.addr());
        // The words from the saved registers to the top of the stack are mapped, and nothing writes to them in the
        // meantime. The program has never written some of them: dead slots and padding. They are only passed to
        // functions of the C library, and the compiler cannot see where they come from.
        let is_same = |known: &[u64]| {
            // SAFETY: as above. `known` has as many bytes.
            unsafe { libc::memcmp(known.as_ptr().cast(), from.cast(), size_of_val(known)) == 0 }
        };
        let copy = |room: &mut [u64]| {
            // SAFETY: as above. `room` has as many bytes, and is on the heap.
            unsafe { libc::memcpy(room.as_mut_ptr().cast(), from.cast(), size_of_val(room)) };
        };
        rt.constraints
            .spins
            .note_state(current, words, surroundings, is_same, copy);
    });
}

/// Yields.
extern "C-unwind" fn go_on(runtime: *mut Runtime, op: SyncVarOp, site: Site) {
    // SAFETY: as the caller says.
    unsafe { Engine::of(runtime) }.yield_now(Access::nowhere(op, site));
    clear_below();
}

/// Clears the words of the stack that the engine has used for the yield. Otherwise a function that the loop calls could
/// return them as the uninitialised part of a value, in which the first round had other bytes.
#[inline(never)]
fn clear_below() {
    let words = [0_u64; BELOW / size_of::<u64>()];
    std::hint::black_box(&words);
}
