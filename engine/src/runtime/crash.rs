//! Signals that would end the process, caught while a task runs, and reported as a finding with a schedule.
//!
//! A segmentation fault, a bus error, an illegal instruction, an arithmetic fault or an abort (which a panic in a
//! destructor during unwinding causes, too) on a task's stack makes that fiber return at once; the contents of its
//! stack are lost. Elsewhere the previous handler takes over. Handlers are installed only while an exploration runs.
//!
//! If the crash happened inside the allocator, the finding is reported and the process ends (`emergency.rs`). Blind
//! spot: if it happened under another lock of the C library, the process may hang later; so an exploration ends with
//! its first crash. Works on Linux for x86-64 and aarch64; elsewhere a crash ends the process as usual.

/// The reason why a signal ended a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crash {
    /// The task used up its stack.
    StackOverflow {
        /// The size of the stack in bytes.
        bytes: usize,
    },
    /// Another signal, by number.
    Signal(i32),
    /// The task did nothing visible for too long, and the watchdog ended it.
    Hang,
}

impl Crash {
    /// Returns a description of the crash.
    pub fn describe(self) -> String {
        match self {
            Crash::StackOverflow { bytes } => {
                format!("stack overflow (a task's stack has {} KiB)", bytes >> 10)
            }
            Crash::Hang => "it did not end".into(),
            Crash::Signal(number) => match name(number) {
                Some(name) => name.into(),
                None => format!("signal {number}"),
            },
        }
    }
}

#[cfg(unix)]
fn name(number: i32) -> Option<&'static str> {
    Some(match number {
        libc::SIGSEGV => "segmentation fault",
        libc::SIGBUS => "bus error",
        libc::SIGILL => "illegal instruction",
        libc::SIGFPE => "arithmetic fault",
        libc::SIGABRT => "abort (a panic that could not unwind, or a call of abort)",
        _ => return None,
    })
}

#[cfg(not(unix))]
fn name(_: i32) -> Option<&'static str> {
    None
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub use caught::Guard;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) use caught::{instruction_pointer, is_in_ended_call, set, stack_pointer};

/// A guard that catches no signals on this platform.
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub struct Guard;

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
impl Guard {
    pub fn install() -> Guard {
        Guard
    }
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod caught {
    use super::super::emergency::PROBES;
    use super::super::listen::probe;
    use super::super::switch::Registers;
    use super::super::tasks::Tasks;
    use super::super::{Engine, Runtime};
    use super::Crash;
    use libc::{c_int, c_void, sigaction, siginfo_t, ucontext_t};
    use std::mem::MaybeUninit;
    use std::sync::{Mutex, PoisonError};

    const SIGNALS: [c_int; 5] = [
        libc::SIGSEGV,
        libc::SIGBUS,
        libc::SIGILL,
        libc::SIGFPE,
        libc::SIGABRT,
    ];

    /// The largest distance in bytes between the address of a fault and the stack pointer for it to count as an
    /// overflow: a guard page and the frame that jumped over it.
    const NEAR: usize = 64 << 10;

    /// The number of explorations that need the handlers, and the previous handlers.
    struct Handlers {
        users: usize,
        before: [MaybeUninit<sigaction>; SIGNALS.len()],
    }

    static HANDLERS: Mutex<Handlers> = Mutex::new(Handlers {
        users: 0,
        before: [const { MaybeUninit::uninit() }; SIGNALS.len()],
    });

    /// A copy of the previous handlers that the signal handler can read without a lock.
    static mut BEFORE: [MaybeUninit<sigaction>; SIGNALS.len()] =
        [const { MaybeUninit::uninit() }; SIGNALS.len()];

    /// A guard that catches signals while it lives.
    pub struct Guard;

    impl Guard {
        /// Installs the signal handlers until the guard is dropped.
        pub fn install() -> Guard {
            let mut handlers = HANDLERS.lock().unwrap_or_else(PoisonError::into_inner);
            handlers.users += 1;
            if handlers.users == 1 {
                for (at, &signal) in SIGNALS.iter().enumerate() {
                    // SAFETY: plain calls with valid pointers; `BEFORE` is written before the handler
                    // that reads it can run, under the lock.
                    unsafe {
                        let mut before = MaybeUninit::uninit();
                        libc::sigaction(signal, std::ptr::null(), before.as_mut_ptr());
                        (&raw mut BEFORE)
                            .cast::<MaybeUninit<sigaction>>()
                            .add(at)
                            .write(before);
                        handlers.before[at] = before;
                        let mut ours: sigaction = std::mem::zeroed();
                        ours.sa_sigaction = on_signal as *const () as usize;
                        // The handler runs on the alternate stack, which std gives each thread: the task's stack may be
                        // used up.
                        ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                        libc::sigemptyset(&mut ours.sa_mask);
                        libc::sigaction(signal, &ours, std::ptr::null_mut());
                    }
                }
            }
            Guard
        }
    }

    impl Drop for Guard {
        fn drop(&mut self) {
            let mut handlers = HANDLERS.lock().unwrap_or_else(PoisonError::into_inner);
            handlers.users -= 1;
            if handlers.users == 0 {
                for (at, &signal) in SIGNALS.iter().enumerate() {
                    // SAFETY: the first guard stored it.
                    unsafe { libc::sigaction(signal, handlers.before[at].as_ptr(), std::ptr::null_mut()) };
                }
            }
        }
    }

    impl Tasks {
        /// Returns the task whose stack this address is on.
        pub(in super::super) fn on_stack(&self, address: usize) -> Option<u32> {
            self.with_fiber(|fiber| fiber.coroutine().holds(address))
        }

        /// Makes this task end with a crash, and returns the registers for that.
        ///
        /// # Safety
        /// The signal interrupted this task on its own stack.
        pub(in super::super) unsafe fn divert(&mut self, task: u32, crash: Crash) -> Registers {
            // A switch may have been in progress.
            let (worker_context, fiber) = self.enter(task);
            // SAFETY: as the caller says; the worker waits in its own context while any task runs. The task's previous
            // writes to memory were made by ordinary code of this thread, which the signal interrupted: the code that
            // runs next can read them.
            unsafe { (*fiber).coroutine().divert(worker_context, crash) }
        }
    }

    unsafe extern "C" fn on_signal(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
        if PROBES.get() {
            // The heap is corrupted. Another thread reports it, and ends the process.
            loop {
                // SAFETY: a plain call.
                unsafe { libc::pause() };
            }
        }
        // SAFETY: the kernel passes a valid context to a handler with SA_SIGINFO.
        let context = unsafe { &mut *context.cast::<ucontext_t>() };
        if return_from_probe(context) {
            return;
        }
        let at = stack_pointer(context);
        let is_fault = signal == libc::SIGSEGV || signal == libc::SIGBUS;
        // SAFETY: these two signals carry an address.
        let address = is_fault.then(|| unsafe { (*info).si_addr() } as usize);
        let divert = |rt: &mut Runtime| {
            let task = rt.tasks.on_stack(at)?;
            let crash = if address.is_some_and(|address| address.abs_diff(at) < NEAR) {
                Crash::StackOverflow {
                    bytes: rt.limits.stack_bytes,
                }
            } else {
                Crash::Signal(signal)
            };
            // SAFETY: the stack pointer is on this task's stack, and the registers are set below.
            Some(unsafe { rt.tasks.divert(task, crash) })
        };
        // SAFETY: if the runtime is changed, the code that the signal interrupted does not continue.
        match Engine::of_thread().and_then(|engine| unsafe { engine.interrupt(divert) }) {
            Some(registers) => set(context, registers),
            // SAFETY: restores the previous handler and returns: the fault, or the abort, occurs again.
            None => unsafe { give_back(signal) },
        }
    }

    /// Makes the engine's comparison of memory that may be unmapped return that it is unmapped. Returns `true` if that
    /// comparison was running.
    #[cfg(target_arch = "x86_64")]
    fn return_from_probe(context: &mut ucontext_t) -> bool {
        let registers = &mut context.uc_mcontext.gregs;
        if !probe::is_at(registers[libc::REG_RIP as usize] as usize) {
            return false;
        }
        let stack = std::ptr::with_exposed_provenance::<i64>(registers[libc::REG_RSP as usize] as usize);
        // SAFETY: the comparison keeps nothing on the stack, so the return address is on its top.
        registers[libc::REG_RIP as usize] = unsafe { *stack };
        registers[libc::REG_RSP as usize] += 8;
        registers[libc::REG_RAX as usize] = probe::GONE as i64;
        true
    }

    /// As above, but the return address is in a register.
    #[cfg(target_arch = "aarch64")]
    fn return_from_probe(context: &mut ucontext_t) -> bool {
        let registers = &mut context.uc_mcontext;
        if !probe::is_at(registers.pc as usize) {
            return false;
        }
        registers.pc = registers.regs[30];
        registers.regs[0] = probe::GONE as u64;
        true
    }

    /// # Safety
    /// `signal` is one of ours.
    unsafe fn give_back(signal: c_int) {
        if let Some(at) = SIGNALS.iter().position(|&ours| ours == signal) {
            let before = &raw const BEFORE;
            // SAFETY: written before this handler was installed.
            unsafe { libc::sigaction(signal, (*before)[at].as_ptr(), std::ptr::null_mut()) };
        }
    }

    #[cfg(target_arch = "x86_64")]
    pub(in super::super) fn stack_pointer(context: &ucontext_t) -> usize {
        context.uc_mcontext.gregs[libc::REG_RSP as usize] as usize
    }

    #[cfg(target_arch = "x86_64")]
    pub(in super::super) fn instruction_pointer(context: &ucontext_t) -> usize {
        context.uc_mcontext.gregs[libc::REG_RIP as usize] as usize
    }

    /// Returns `true` if the signal has interrupted a system call, whose result is then `EINTR`.
    pub(in super::super) fn is_in_ended_call(context: &ucontext_t) -> bool {
        #[cfg(target_arch = "x86_64")]
        let result = context.uc_mcontext.gregs[libc::REG_RAX as usize];
        #[cfg(target_arch = "aarch64")]
        let result = context.uc_mcontext.regs[0] as i64;
        result == -i64::from(libc::EINTR)
    }

    #[cfg(target_arch = "x86_64")]
    pub(in super::super) fn set(context: &mut ucontext_t, registers: Registers) {
        let to = &mut context.uc_mcontext.gregs;
        to[libc::REG_RIP as usize] = registers.instruction as i64;
        to[libc::REG_RSP as usize] = registers.stack as i64;
        to[libc::REG_RBP as usize] = registers.frame as i64;
        to[libc::REG_RDI as usize] = registers.arguments[0] as i64;
        to[libc::REG_RSI as usize] = registers.arguments[1] as i64;
    }

    #[cfg(target_arch = "aarch64")]
    pub(in super::super) fn stack_pointer(context: &ucontext_t) -> usize {
        context.uc_mcontext.sp as usize
    }

    #[cfg(target_arch = "aarch64")]
    pub(in super::super) fn instruction_pointer(context: &ucontext_t) -> usize {
        context.uc_mcontext.pc as usize
    }

    #[cfg(target_arch = "aarch64")]
    pub(in super::super) fn set(context: &mut ucontext_t, registers: Registers) {
        let to = &mut context.uc_mcontext;
        to.pc = registers.instruction as u64;
        to.sp = registers.stack as u64;
        to.regs[0] = registers.arguments[0] as u64;
        to.regs[1] = registers.arguments[1] as u64;
        to.regs[29] = registers.frame as u64;
        to.regs[30] = registers.link as u64;
    }
}
