//! Inline assembly: `std::arch::asm!`.
//!
//! What its instructions do to memory is not seen. A text that can be a fence only is one under the memory model; after any
//! other that may access memory, a pass says that something was not seen.

use crate::sync::atomic::fence;
use intermezzo_engine::runtime::Engine;
use std::sync::atomic::Ordering;

/// The arguments of an `asm!`, as far as they concern memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assembly {
    /// It orders all accesses of its task.
    is_fence: bool,
    /// It may access memory that other tasks use.
    accesses: bool,
}

impl Assembly {
    /// Reads the arguments of an `asm!`, as `stringify!` gives them.
    ///
    /// Instructions with `lock`, `mfence` and aarch64's `dmb ish` and `dmb sy` are fences. One with `lock` changes memory,
    /// too. If the assembly has no results, it is taken for a fence only: it is used as one where it is faster than `mfence`,
    /// on a variable that nothing else uses.
    pub const fn of(arguments: &str) -> Assembly {
        let text = arguments.as_bytes();
        let (mut quoted, mut in_template) = (false, true);
        let (mut instructions, mut barrier, mut shared) = (false, false, false);
        let (mut locks, mut results, mut no_memory) = (false, false, false);
        let mut at = 0;
        while at < text.len() {
            let byte = text[at];
            if byte == b'"' {
                quoted = !quoted;
            } else if quoted && byte == b'\\' {
                at += 1;
            } else if quoted && begins(text, at, b"/*") {
                while at < text.len() && !begins(text, at, b"*/") {
                    at += 1;
                }
                at += 1;
            } else if !quoted && byte == b'=' {
                in_template = false;
            } else if is_of_word(byte) {
                let from = at;
                while at < text.len() && is_of_word(text[at]) {
                    at += 1;
                }
                if quoted && in_template {
                    instructions = true;
                    locks |= is(text, from, at, b"lock") || is(text, from, at, b"mfence");
                    barrier |= is(text, from, at, b"dmb");
                    shared |= is(text, from, at, b"ish") || is(text, from, at, b"sy");
                }
                // Other words in quotes are names of registers.
                if !quoted {
                    let results_here = is(text, from, at, b"out")
                        || is(text, from, at, b"inout")
                        || is(text, from, at, b"lateout")
                        || is(text, from, at, b"inlateout")
                        || is(text, from, at, b"label");
                    results |= results_here;
                    no_memory |= is(text, from, at, b"nomem");
                    let operands = results_here
                        || is(text, from, at, b"in")
                        || is(text, from, at, b"const")
                        || is(text, from, at, b"sym")
                        || is(text, from, at, b"options")
                        || is(text, from, at, b"clobber_abi");
                    in_template &= !operands;
                }
                continue;
            } else if quoted && in_template && byte == b'{' {
                // An operand in a comment was skipped; this one is part of an instruction.
                instructions = true;
            }
            at += 1;
        }
        // A template by a macro has no text here, if that is not `concat!`.
        let is_fence = locks || barrier && shared;
        let is_empty = begins(text, 0, b"\"") && !instructions;
        Assembly {
            is_fence,
            accesses: !no_memory && !is_empty && (results || !is_fence),
        }
    }
}

/// Notes that the current task is about to run this assembly.
#[track_caller]
#[inline(never)]
pub fn assembly(assembly: Assembly) {
    let Some(engine) = Engine::current() else {
        return;
    };
    if assembly.accesses {
        engine.access_unseen();
    }
    if assembly.is_fence && engine.has_memory_model() {
        fence(Ordering::SeqCst);
    }
}

/// The intrinsics of the processor that order memory, or access it atomically.
#[cfg(target_arch = "x86_64")]
pub mod x86_64 {
    use super::{Assembly, assembly};
    use std::arch::x86_64 as real;
    use std::sync::atomic::Ordering;

    /// `std::arch::x86_64::_mm_mfence`
    ///
    /// # Safety
    /// None is needed.
    #[track_caller]
    pub unsafe fn _mm_mfence() {
        assembly(Assembly {
            is_fence: true,
            accesses: false,
        });
        // SAFETY: a fence has no preconditions.
        unsafe { real::_mm_mfence() }
    }

    /// `std::arch::x86_64::cmpxchg16b`. The exchange is not seen.
    ///
    /// # Safety
    /// That of the intrinsic: `at` is valid and aligned to 16 bytes, and the processor has the instruction.
    #[track_caller]
    pub unsafe fn cmpxchg16b(
        at: *mut u128,
        old: u128,
        new: u128,
        success: Ordering,
        failure: Ordering,
    ) -> u128 {
        assembly(Assembly {
            is_fence: true,
            accesses: true,
        });
        // SAFETY: the caller's.
        unsafe { real::cmpxchg16b(at, old, new, success, failure) }
    }
}

/// `true` if the text has these bytes at this place.
const fn begins(text: &[u8], at: usize, with: &[u8]) -> bool {
    at + with.len() <= text.len() && is(text, at, at + with.len(), with)
}

/// `true` if the part of the text is the word.
const fn is(text: &[u8], from: usize, to: usize, word: &[u8]) -> bool {
    if to - from != word.len() {
        return false;
    }
    let mut at = 0;
    while at < word.len() {
        if text[from + at] != word[at] {
            return false;
        }
        at += 1;
    }
    true
}

const fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: (bool, bool) = (false, false);
    const FENCE: (bool, bool) = (true, false);
    const ACCESS: (bool, bool) = (false, true);
    const BOTH: (bool, bool) = (true, true);

    macro_rules! read {
        ($($arguments:tt)*) => {{
            let read = Assembly::of(stringify!($($arguments)*));
            (read.is_fence, read.accesses)
        }};
    }

    #[test]
    fn fences_are_told_from_accesses() {
        assert_eq!(read!("mfence", options(nostack, preserves_flags)), FENCE);
        assert_eq!(
            read!("lock not qword ptr [{0}]", in(reg) a.get(), options(nostack)),
            FENCE
        );
        assert_eq!(
            read!(concat!("lock ", "or dword ptr [rsp], 0"), options(nostack)),
            FENCE
        );
        assert_eq!(read!("dmb ish"), FENCE);
        assert_eq!(read!("dmb ishst"), ACCESS);
        // The result is used, so other tasks may use the variable, too.
        assert_eq!(
            read!("lock xadd [{p}], {v}", p = in(reg) at, v = inout(reg) by),
            BOTH
        );
        assert_eq!(
            read!("mov {}, [{}]", out(reg) value, in(reg) at, options(readonly)),
            ACCESS
        );
        assert_eq!(read!("mov [{}], {}", in(reg) lock, in(reg) "lock"), ACCESS);
        assert_eq!(read!(template!(), in(reg) lock), ACCESS);
    }

    #[test]
    fn what_has_no_instruction_or_no_memory_is_nothing() {
        assert_eq!(read!(""), NOTHING);
        assert_eq!(read!("", in("eax") value, options(nostack)), NOTHING);
        assert_eq!(read!("/*{0}*/", inout(reg) value), NOTHING);
        assert_eq!(
            read!("/* {0} */", in(reg) at, options(nostack, readonly)),
            NOTHING
        );
        assert_eq!(read!("cpuid", out("ecx") _, options(nomem)), NOTHING);
        assert_eq!(read!("\n\t"), NOTHING);
    }
}
