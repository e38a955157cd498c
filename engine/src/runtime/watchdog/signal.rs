//! The signal that asks a worker's thread for its progress, and that ends a task that hangs.
//!
//! The handler runs on the alternate stack of the thread. It allocates nothing and takes no lock. Code addresses are
//! found by the unwinder, which takes no lock either since glibc 2.35; with an older version, a thread that is loading
//! a library gives no answer.

use super::super::crash::{Crash, instruction_pointer, is_in_ended_call, set, stack_pointer};
use super::super::{Engine, Runtime};
use super::{FRAMES_MAX, Pulse};
use libc::{c_int, c_void, siginfo_t, ucontext_t};
use std::mem::MaybeUninit;
use std::sync::Once;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::time::{Duration, Instant};

/// A signal that is ignored unless a handler is installed, and hardly ever used.
const SIGNAL: c_int = libc::SIGURG;

/// The longest time to wait for an answer. A running thread answers at once.
const ANSWER: Duration = Duration::from_millis(500);

/// An order for the handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Report the progress of the execution.
    Tell = 1,
    /// Report the place, too.
    Sample,
    /// End the task, unless it is inside the allocator, whose locks would be held for ever.
    End,
    /// End it in any case.
    EndAnyway,
    /// End the task, even if it has made progress, if it waits in a system call that this signal has interrupted. This
    /// order stays in force until it is carried out or withdrawn.
    EndWait,
}

/// The previous handler; written under the lock of the watchdog, before the new one is installed.
static mut BEFORE: MaybeUninit<libc::sigaction> = MaybeUninit::uninit();

/// The beginning and the end of the code of the allocator's library; empty if that is the program itself.
static ALLOCATOR: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];

/// Installs the handler.
pub(super) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        find_allocator();
        // The unwinder's first walk binds its functions, for which the alternate stack of the handler is too small
        // where processors have many registers to save. SAFETY: nothing resolves addresses on this thread.
        unsafe { walk(|address| address != 0) };
    });
    // SAFETY: plain calls with valid pointers. `BEFORE` is used here and in `uninstall` only, both under one lock.
    unsafe {
        let mut ours: libc::sigaction = std::mem::zeroed();
        ours.sa_sigaction = on_signal as *const () as usize;
        // The handler runs on the alternate stack, because a task's stack is small. System calls of the test are
        // resumed.
        ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
        libc::sigemptyset(&mut ours.sa_mask);
        libc::sigaction(SIGNAL, &ours, (&raw mut BEFORE).cast());
    }
}

/// Restores the previous handler.
pub(super) fn uninstall() {
    // SAFETY: `install` wrote it, and the lock of the watchdog is held.
    unsafe { libc::sigaction(SIGNAL, (&raw const BEFORE).cast(), std::ptr::null_mut()) };
}

/// Returns `true` if a worker's thread has an order that is in force.
pub(super) fn is_under_way(pulse: &Pulse) -> bool {
    pulse.order.load(Acquire) != 0
}

/// Withdraws the order that a worker's thread has, if it has one.
pub(super) fn withdraw(pulse: &Pulse) {
    pulse.order.store(0, Release);
}

/// Gives an order to a worker's thread. Returns `true` if it answered.
pub(super) fn give(pulse: &Pulse, order: Order) -> bool {
    let answers = pulse.answers.load(Acquire);
    pulse.order.store(order as u32, Release);
    // SAFETY: plain calls. If the thread with this number is gone, nothing happens. If another thread has its number by
    // now, the handler finds no order there.
    let sent = unsafe {
        libc::syscall(
            libc::SYS_tgkill,
            libc::getpid(),
            pulse.thread.load(Relaxed),
            SIGNAL,
        )
    };
    let until = Instant::now() + ANSWER;
    while sent == 0 && pulse.answers.load(Acquire) == answers {
        if Instant::now() >= until {
            break;
        }
        std::thread::sleep(Duration::from_micros(50));
    }
    if order != Order::EndWait || sent != 0 {
        withdraw(pulse);
    }
    pulse.answers.load(Acquire) != answers
}

unsafe extern "C" fn on_signal(_: c_int, _: *mut siginfo_t, context: *mut c_void) {
    let Some(engine) = Engine::of_thread() else { return };
    // SAFETY: the kernel passes a valid context to a handler with SA_SIGINFO.
    let context = unsafe { &mut *context.cast::<ucontext_t>() };
    // SAFETY: `errno` is this thread's own; it is restored, because the test may be about to read it.
    let errno = unsafe { *libc::__errno_location() };
    // SAFETY: the code that the signal interrupted does not continue, unless the runtime is only read.
    unsafe { engine.interrupt(|rt| answer(rt, context)) };
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
}

/// Carries out this thread's order.
fn answer(rt: &mut Runtime, context: &mut ucontext_t) {
    let pulse = rt.watched.pulse();
    let order = pulse.order.swap(0, Acquire);
    if order == 0 {
        return;
    }
    let before = pulse.progress.load(Relaxed);
    let task = rt.tasks.on_stack(stack_pointer(context));
    // Code in the worker's context, between tasks, is the engine's own: it counts as progress.
    let progress = task.map_or(before.wrapping_add(1), |_| rt.progress());
    pulse.progress.store(progress, Relaxed);
    let order_is = |which: Order| order == which as u32;
    if !order_is(Order::Tell) {
        let inside = sample(pulse, instruction_pointer(context));
        let ends = match progress == before {
            _ if order_is(Order::EndWait) => is_in_ended_call(context),
            true => order_is(Order::EndAnyway) || order_is(Order::End) && !inside,
            false => false,
        };
        // The frames of a task that was ended are not needed, except for one that waited: they show the place.
        let ended = task.filter(|_| ends);
        if ended.is_some() != order_is(Order::EndWait) {
            pulse.frames_len.store(0, Relaxed);
        }
        if let Some(task) = ended {
            // SAFETY: the signal interrupted this task on its own stack, and the registers are set.
            set(context, unsafe { rt.tasks.divert(task, Crash::Hang) });
        }
    }
    pulse.answers.fetch_add(1, Release);
}

/// Notes the code addresses on the stack that the signal interrupted at this address. Returns `true` if some belong to
/// the allocator.
fn sample(pulse: &Pulse, interrupted: usize) -> bool {
    let allocator = ALLOCATOR[0].load(Relaxed)..ALLOCATOR[1].load(Relaxed);
    let mut inside = allocator.contains(&interrupted);
    pulse.frames[0].store(interrupted, Relaxed);
    let mut len = 1;
    // The handler's own frames come first. They are skipped, because the code that returns from the handler may be in
    // the allocator's library.
    let mut handlers = true;
    // SAFETY: no addresses are resolved here. If the signal has interrupted a walk, that walk has its state on its own
    // stack.
    unsafe {
        walk(|address| {
            if address == 0 {
                // The root of the stack.
                return false;
            }
            if handlers {
                handlers = address != interrupted;
                return true;
            }
            inside |= allocator.contains(&address);
            pulse.frames[len].store(address, Relaxed);
            len += 1;
            len < FRAMES_MAX
        });
    }
    pulse.frames_len.store(len, Release);
    inside
}

/// Calls `each` with the code addresses on this stack, from the innermost, until it returns `false`.
///
/// # Safety
/// Nothing resolves addresses on this thread in the meantime.
#[cfg(feature = "hang-places")]
unsafe fn walk(mut each: impl FnMut(usize) -> bool) {
    // SAFETY: the caller guarantees it.
    unsafe { backtrace::trace_unsynchronized(|frame| each(frame.ip().addr())) };
}

/// Calls `each` with the code addresses on this stack, from the innermost, until it returns `false`: by the unwinder
/// that std links, as the crate `backtrace` does.
///
/// # Safety
/// Nothing resolves addresses on this thread in the meantime.
#[cfg(not(feature = "hang-places"))]
unsafe fn walk<F: FnMut(usize) -> bool>(mut each: F) {
    unsafe extern "C" {
        fn _Unwind_Backtrace(
            trace: unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int,
            argument: *mut c_void,
        ) -> c_int;
        fn _Unwind_GetIP(context: *mut c_void) -> usize;
    }
    /// Continues the walk.
    const NO_REASON: c_int = 0;
    /// Ends it.
    const FAILURE: c_int = 9;

    unsafe extern "C" fn trace<F: FnMut(usize) -> bool>(context: *mut c_void, each: *mut c_void) -> c_int {
        // SAFETY: the unwinder passes a frame, and the closure that it was given, which nothing else uses in the
        // meantime.
        let goes_on = unsafe { (*each.cast::<F>())(_Unwind_GetIP(context)) };
        if goes_on { NO_REASON } else { FAILURE }
    }
    // SAFETY: the function gets the argument that it expects.
    unsafe { _Unwind_Backtrace(trace::<F>, (&raw mut each).cast()) };
}

/// Finds the library that the allocator is in.
fn find_allocator() {
    struct Found {
        allocator: usize,
        ours: usize,
        range: (usize, usize),
    }
    unsafe extern "C" fn each(info: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
        // SAFETY: the loader passes valid descriptions, and what the caller gave it.
        let (info, found) = unsafe { (&*info, &mut *found.cast::<Found>()) };
        // SAFETY: the headers are there for as long as the object is loaded.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
        for header in headers.iter().filter(|header| header.p_type == libc::PT_LOAD) {
            let begin = info.dlpi_addr as usize + header.p_vaddr as usize;
            let range = begin..begin + header.p_memsz as usize;
            if range.contains(&found.allocator) && !range.contains(&found.ours) {
                found.range = (range.start, range.end);
            }
        }
        0
    }
    let mut found = Found {
        allocator: libc::malloc as *const () as usize,
        ours: find_allocator as *const () as usize,
        range: (0, 0),
    };
    // SAFETY: the callback gets the argument that it expects.
    unsafe { libc::dl_iterate_phdr(Some(each), (&raw mut found).cast()) };
    ALLOCATOR[0].store(found.range.0, Relaxed);
    ALLOCATOR[1].store(found.range.1, Relaxed);
}

/// Returns the kernel's number of this thread.
pub(in super::super) fn thread_id() -> i32 {
    thread_local! {
        // SAFETY: a plain call.
        static NUMBER: i32 = unsafe { libc::gettid() };
    }
    NUMBER.with(|number| *number)
}

/// Returns the number of ticks per second in which the kernel counts a thread's processor time.
pub(super) fn ticks_per_second() -> u64 {
    // SAFETY: a plain call.
    u64::try_from(unsafe { libc::sysconf(libc::_SC_CLK_TCK) })
        .unwrap_or(100)
        .max(1)
}

impl Runtime {
    /// Returns the progress of the execution, a number that changes with each operation.
    fn progress(&self) -> u64 {
        let cleared = u64::from(self.end.teardown) << 63;
        (self.record.steps << 32).wrapping_add(self.record.events.as_slice().len() as u64) | cleared
    }
}
