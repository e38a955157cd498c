//! Inline assembly: `std::arch::asm!`.
//!
//! Its accesses to memory are not seen. Its fences are fences under the memory model. If it may access memory that other
//! tasks use, a pass says that this was not seen.
//!
//! Of the processor's intrinsics, those that order memory are treated in the same way, and those that count time are on the
//! virtual clock.

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
    /// Instructions with the prefix `lock`, `mfence` and aarch64's `dmb ish` and `dmb sy` are fences. So is `xchg` with a place
    /// in memory, which has the prefix implicitly. One with `lock` changes memory, too. If it is the only instruction, and has
    /// no results, it is taken for a fence only: crates use it as one where it is faster than `mfence`, on a variable that
    /// nothing else uses.
    pub const fn of(arguments: &str) -> Assembly {
        let text = arguments.as_bytes();
        let mut template = Template::new();
        let (mut results, mut no_memory) = (false, false);
        let (mut in_template, mut depth, mut at) = (true, 0, 0);
        while at < text.len() {
            let byte = text[at];
            if byte == b'"' {
                let is_raw = at > 0 && text[at - 1] == b'r';
                // Only the parts of a `concat!` are one line.
                if depth == 0 {
                    template.line_begins = true;
                }
                at = if in_template {
                    template.read(text, at + 1, is_raw)
                } else {
                    end_of_string(text, at + 1)
                };
            } else if is_of_word(byte) {
                let from = at;
                while at < text.len() && is_of_word(text[at]) {
                    at += 1;
                }
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
                continue;
            } else if byte == b'=' {
                in_template = false;
            } else if byte == b'(' {
                depth += 1;
            } else if byte == b')' {
                depth -= 1;
            }
            at += 1;
        }
        // Only a text that begins with a string is known to be empty: the text of a macro other than `concat!` is not seen.
        let is_empty = begins(text, 0, b"\"") && template.instructions == 0;
        let is_only_fence = template.instructions == 1 && template.fences == 1 && !results;
        Assembly {
            is_fence: template.fences > 0,
            accesses: !no_memory && !is_empty && !is_only_fence,
        }
    }
}

/// The instructions of an `asm!`, as far as they were read.
struct Template {
    instructions: u32,
    fences: u32,
    /// The next word is the first of an instruction.
    line_begins: bool,
    /// The last word was `dmb`.
    is_barrier: bool,
    /// The instruction is an exchange, and no place in memory was read in it so far.
    is_exchange: bool,
}

impl Template {
    const fn new() -> Template {
        Template {
            instructions: 0,
            fences: 0,
            line_begins: true,
            is_barrier: false,
            is_exchange: false,
        }
    }

    /// Reads a string from its first byte on, and returns the place of its end.
    const fn read(&mut self, text: &[u8], mut at: usize, is_raw: bool) -> usize {
        while at < text.len() && text[at] != b'"' {
            let byte = text[at];
            if byte == b'\\' && !is_raw {
                at += 1;
                self.line_begins |= at < text.len() && text[at] == b'n';
            } else if byte == b'\n' || byte == b';' || byte == b':' {
                // What is before a colon is a label.
                self.line_begins = true;
            } else if begins(text, at, b"/*") {
                at += 2;
                while at < text.len() && text[at] != b'"' && !begins(text, at, b"*/") {
                    at += 1;
                }
                if !begins(text, at, b"*/") {
                    // The rest may be anything.
                    self.instructions += 2;
                    return at;
                }
                at += 1;
            } else if begins(text, at, b"//") || byte == b'#' && (self.line_begins || begins(text, at, b"# "))
            {
                while at < text.len() && text[at] != b'"' && text[at] != b'\n' && !begins(text, at, b"\\n") {
                    at += 1;
                }
                continue;
            } else if byte == b'[' || byte == b'(' {
                // Places in memory have brackets in Intel's syntax, and parentheses in AT&T's.
                self.fences += self.is_exchange as u32;
                self.is_exchange = false;
            } else if byte == b'{' {
                self.operand();
                while at < text.len() && text[at] != b'"' && text[at] != b'}' {
                    at += 1;
                }
                continue;
            } else if is_of_word(byte) {
                let from = at;
                while at < text.len() && is_of_word(text[at]) {
                    at += 1;
                }
                self.word(text, from, at);
                continue;
            }
            at += 1;
        }
        at
    }

    /// Takes in the operand of an instruction.
    const fn operand(&mut self) {
        self.instructions += self.line_begins as u32;
        self.is_exchange &= !self.line_begins;
        (self.line_begins, self.is_barrier) = (false, false);
    }

    /// Takes in a word.
    const fn word(&mut self, text: &[u8], from: usize, to: usize) {
        if self.line_begins {
            self.instructions += 1;
            self.fences += (is(text, from, to, b"lock") || is(text, from, to, b"mfence")) as u32;
            self.is_barrier = is(text, from, to, b"dmb");
            self.is_exchange = is_exchange(text, from, to);
            self.line_begins = false;
        } else {
            let is_of_all = is(text, from, to, b"ish") || is(text, from, to, b"sy");
            self.fences += (self.is_barrier && is_of_all) as u32;
            self.is_barrier = false;
        }
    }
}

/// `true` if the word is an `xchg`, with or without the suffix that it may have in AT&T's syntax.
const fn is_exchange(text: &[u8], from: usize, to: usize) -> bool {
    let has_suffix = to > from && matches!(text[to - 1], b'b' | b'w' | b'l' | b'q');
    is(text, from, to - has_suffix as usize, b"xchg")
}

/// Returns the place of the end of a string, from its first byte on.
const fn end_of_string(text: &[u8], mut at: usize) -> usize {
    while at < text.len() && text[at] != b'"' {
        at += 1 + (text[at] == b'\\') as usize;
    }
    at
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

/// The intrinsics of the processor that order memory, access it atomically, or count time.
#[cfg(target_arch = "x86_64")]
pub mod x86_64 {
    use super::{Assembly, assembly};
    use intermezzo_engine::runtime::{Engine, Site};
    use std::arch::x86_64 as real;
    use std::sync::OnceLock;
    use std::sync::atomic::Ordering;
    use std::time::Instant;

    /// The time-stamp counter when it is first read outside executions: a processor's has counted since it was started.
    const BEGINNING: u64 = 1 << 48;

    /// The counter when an execution begins: more than it reaches outside executions, because it never goes back.
    const BEGINNING_INSIDE: u64 = 1 << 50;

    /// Returns the time-stamp counter, which counts nanoseconds. Crates find out how fast it counts, often before a test
    /// begins. So it counts as fast outside executions.
    fn counter(site: Site) -> u64 {
        static BEGAN: OnceLock<Instant> = OnceLock::new();
        match Engine::current() {
            Some(engine) => BEGINNING_INSIDE + engine.look_at_clock(site),
            None => BEGINNING + BEGAN.get_or_init(Instant::now).elapsed().as_nanos() as u64,
        }
    }

    /// `std::arch::x86_64::_rdtsc`, on the virtual clock.
    ///
    /// # Safety
    /// None is needed.
    #[track_caller]
    pub unsafe fn _rdtsc() -> u64 {
        counter(Site::caller())
    }

    /// `std::arch::x86_64::__rdtscp`, on the virtual clock. All tasks run on the processor with the number 0.
    ///
    /// # Safety
    /// That of the intrinsic: `processor` is valid.
    #[track_caller]
    pub unsafe fn __rdtscp(processor: *mut u32) -> u64 {
        // SAFETY: the caller's.
        unsafe { processor.write(0) };
        counter(Site::caller())
    }

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
        assert_eq!(
            read!("mov [{lock}], {mfence}", lock = in(reg) at, mfence = in(reg) by),
            ACCESS
        );
        assert_eq!(read!("mov [{0}], 1 // lock, mfence", in(reg) at), ACCESS);
        assert_eq!(read!("# mfence\n mov [{0}], 1", in(reg) at), ACCESS);
        assert_eq!(read!("mov [{0}], 1 /* mfence", in(reg) at), ACCESS);
        assert_eq!(read!("/* mfence", in(reg) at), ACCESS);
        assert_eq!(read!(r"\", "mov [{0}], 1", in(reg) at), ACCESS);
        assert_eq!(read!(template!(), in(reg) lock), ACCESS);
        // A store with a barrier is not only a barrier.
        assert_eq!(read!("mov [{0}], {1}", "mfence", in(reg) at, in(reg) by), BOTH);
        assert_eq!(read!("mov [{0}], {1}\n mfence", in(reg) at, in(reg) by), BOTH);
        assert_eq!(read!("str {1:w}, [{0}]; dmb ish", in(reg) at, in(reg) by), BOTH);
        assert_eq!(
            read!("lock or dword ptr [rsp], 0", "mov [{0}], 1", in(reg) at),
            BOTH
        );
        assert_eq!(read!("2:", "lock not qword ptr [{0}]", in(reg) at), BOTH);
    }

    #[test]
    fn exchanges_with_memory_are_fences() {
        assert_eq!(read!("xchg [{p}], {v}", p = in(reg) at, v = inout(reg) by), BOTH);
        assert_eq!(
            read!("xchg {0:e}, dword ptr [{1}]", inout(reg) by, in(reg) at),
            BOTH
        );
        assert_eq!(
            read!("xchgq {0}, ({1})", inout(reg) by, in(reg) at, options(att_syntax)),
            BOTH
        );
        assert_eq!(read!("xchg rax, fs:[0]", inout("rax") by), BOTH);
        assert_eq!(
            read!("mov {0:r}, rbx", "cpuid", "xchg {0:r}, rbx", out(reg) value, options(nomem)),
            NOTHING
        );
        assert_eq!(
            read!("xchg {0}, {1}", "mov [{2}], {0}", inout(reg) by, inout(reg) value, in(reg) at),
            ACCESS
        );
        assert_eq!(
            read!("xchg {0}, {1}\n {{nop}} [{2}]", inout(reg) by, inout(reg) value, in(reg) at),
            ACCESS
        );
        assert_eq!(
            read!("cmpxchg [{0}], {1}", in(reg) at, in(reg) by, inout("rax") value),
            ACCESS
        );
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
