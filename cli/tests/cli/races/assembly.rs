//! Tests whose threads run inline assembly. This file follows `fine.rs` in the library.

#[cfg(test)]
mod assembly {
    use super::*;
    use std::arch::asm;

    /// One of two threads sees the other one's store, if each has a fence between its accesses.
    fn with(fence: fn()) {
        static WRITTEN: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];
        let task = thread::spawn(move || {
            WRITTEN[0].store(true, Relaxed);
            fence();
            WRITTEN[1].load(Relaxed)
        });
        WRITTEN[1].store(true, Relaxed);
        fence();
        let seen = WRITTEN[0].load(Relaxed);
        assert!(task.join().unwrap() || seen);
    }
    #[test]
    fn no_fence() {
        with(|| unsafe { asm!("nop", options(nomem, nostack)) });
    }
    #[test]
    fn fence() {
        with(|| {
            #[cfg(target_arch = "x86_64")]
            unsafe {
                core::arch::asm!("mfence", options(nostack, preserves_flags))
            };
            #[cfg(target_arch = "aarch64")]
            unsafe {
                core::arch::asm!("dmb ish", options(nostack, preserves_flags))
            };
        });
    }
    #[cfg(target_arch = "x86_64")]
    #[test]
    fn fence_of_a_locked_instruction() {
        with(|| {
            let own = std::cell::UnsafeCell::new(0_u64);
            unsafe { asm!("lock not qword ptr [{0}]", in(reg) own.get(), options(nostack, preserves_flags)) };
        });
    }
    #[cfg(target_arch = "x86_64")]
    #[test]
    fn fence_of_an_intrinsic() {
        with(|| unsafe { std::arch::x86_64::_mm_mfence() });
    }
    /// The names in the assembly belong to the test.
    #[test]
    fn result() {
        let assembly = 1_u64;
        let result: u64;
        let task = thread::spawn(|| ());
        unsafe {
            #[cfg(target_arch = "x86_64")]
            asm!("mov {to}, {from}", from = in(reg) assembly, to = out(reg) result, options(pure, nomem, nostack));
            #[cfg(target_arch = "aarch64")]
            asm!("mov {to}, {from}", from = in(reg) assembly, to = out(reg) result, options(pure, nomem, nostack));
        }
        assert_eq!(result, 1);
        task.join().unwrap();
    }
    /// The store is not a step, so there is only one execution.
    #[test]
    fn unseen_store() {
        static STORED: AtomicBool = AtomicBool::new(false);
        let task = thread::spawn(|| unsafe {
            #[cfg(target_arch = "x86_64")]
            asm!("mov byte ptr [{0}], 1", in(reg) STORED.as_ptr(), options(nostack));
            #[cfg(target_arch = "aarch64")]
            asm!("strb {1:w}, [{0}]", in(reg) STORED.as_ptr(), in(reg) 1, options(nostack));
        });
        let before = STORED.load(SeqCst);
        assert_eq!(STORED.load(SeqCst), before);
        task.join().unwrap();
    }
}
