//! Pointers that cells give out, watched for writes through them.
//!
//! Accesses of a task through a raw pointer cannot be seen, but their effect on the memory can. The value is copied
//! when `UnsafeCell::get` gives out the pointer, and compared before the task's next event. Between two visible
//! operations a task runs alone. So a difference was made by this task, after its last event: it is published as a
//! write. Without a difference the pointer counts as a read.
//!
//! Misses: a write that leaves every byte unchanged, or lies beyond the first [`COMPARED_MAX`] bytes; and accesses
//! through the pointer after the task's next visible operation, or after the task has asked for [`OUT_MAX`] other
//! pointers.

use super::super::Runtime;
use super::memory::{DataAccess, Does};
use std::mem::MaybeUninit;

/// The maximum number of bytes of a value that are compared. More would cost time and find little.
const COMPARED_MAX: usize = 4096;

/// The maximum number of pointers that are watched at a time. When a task asks for more, it has usually finished with
/// the earlier ones.
const OUT_MAX: usize = 32;

/// A pointer that was given out, with a copy of its target.
struct GivenOut {
    access: DataAccess,
    /// The offset of the copy in `Pointers::copies`, and its length.
    copy: usize,
    compared: usize,
}

/// The pointers that the current task was given since its last event.
#[derive(Default)]
pub(in super::super) struct Pointers {
    given: Vec<GivenOut>,
    copies: Vec<MaybeUninit<u8>>,
}

impl Pointers {
    /// Forgets all pointers.
    pub(in super::super) fn clear(&mut self) {
        self.given.clear();
        self.copies.clear();
    }

    /// Returns `true` if no other pointer can be watched before these are checked.
    pub(super) fn are_full(&self) -> bool {
        self.given.len() >= OUT_MAX
    }

    /// Watches a pointer that is about to be given out.
    pub(super) fn watch(&mut self, access: DataAccess) {
        let compared = access.size.min(COMPARED_MAX);
        if compared == 0 {
            return;
        }
        let copy = self.copies.len();
        let from = std::ptr::with_exposed_provenance::<MaybeUninit<u8>>(access.address);
        // SAFETY: the caller of `UnsafeCell::get` borrows the cell, whose value has at least as many bytes.
        let now = unsafe { std::slice::from_raw_parts(from, compared) };
        self.copies.extend_from_slice(now);
        self.given.push(GivenOut {
            access,
            copy,
            compared,
        });
    }

    /// Removes a pointer into these bytes, if there is one. Returns it, and `true` if its target was changed.
    fn take_at(&mut self, address: usize, size: usize) -> Option<(DataAccess, bool)> {
        let end = address.saturating_add(size);
        let touches = |given: &GivenOut| {
            given.access.address < end && address < given.access.address.saturating_add(given.access.size)
        };
        let at = self.given.iter().position(touches)?;
        Some(self.take(at))
    }

    /// Removes the pointer given out first. Returns it, and `true` if its target was changed.
    fn take_first(&mut self) -> Option<(DataAccess, bool)> {
        if self.given.is_empty() {
            self.copies.clear();
            return None;
        }
        Some(self.take(0))
    }

    fn take(&mut self, at: usize) -> (DataAccess, bool) {
        let given = self.given.remove(at);
        let copy = &self.copies[given.copy..given.copy + given.compared];
        (given.access, probe::differs(given.access.address, copy))
    }
}

impl Runtime {
    /// Publishes, before the next event of the current task, its writes through pointers that it was given since the
    /// last one.
    #[cold]
    #[inline(never)]
    pub(in super::super) fn look_at_pointers(&mut self) {
        self.monitors.pointers_out = false;
        while let Some((access, changed)) = self.monitors.pointers.take_first() {
            if changed {
                self.tell_written(access);
            }
        }
    }

    /// Does the same for pointers to these bytes, because the bytes are accessed in another way or no longer exist.
    pub(super) fn look_at_pointers_to(&mut self, address: usize, size: usize) {
        while let Some((access, changed)) = self.monitors.pointers.take_at(address, size) {
            if changed {
                self.tell_written(access);
            }
        }
    }

    fn tell_written(&mut self, access: DataAccess) {
        self.tell_pieces(&DataAccess {
            does: Does::WriteByPointer,
            ..access
        });
    }
}

pub(in super::super) mod probe {
    //! Reading of memory that may be unmapped: a cell can be moved, and its memory freed, while a pointer to it is
    //! watched.

    use std::mem::MaybeUninit;

    /// The result of the comparison if the memory is unmapped.
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    pub(in crate::runtime) const GONE: usize = 2;

    /// Returns `true` if the memory at this address holds other bytes than these; `false` if it is unmapped.
    pub(super) fn differs(address: usize, copy: &[MaybeUninit<u8>]) -> bool {
        // SAFETY: the copy has this many bytes. The memory at the address may be unmapped. Then the signal handler,
        // which is installed while an exploration runs, makes the function return `GONE`.
        unsafe { compare(address, copy.as_ptr(), copy.len()) == 1 }
    }

    /// Returns 1 if the two differ, and 0 otherwise. Reads upwards from the lowest address, eight bytes at a time while
    /// that many are left, and keeps nothing on the stack.
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    #[unsafe(naked)]
    unsafe extern "C" fn compare(address: usize, copy: *const MaybeUninit<u8>, len: usize) -> usize {
        std::arch::naked_asm!(
            "xor eax, eax",
            "2:",
            "cmp rdx, 8",
            "jb 3f",
            "mov rcx, [rdi]",
            "cmp rcx, [rsi]",
            "jne 4f",
            "add rdi, 8",
            "add rsi, 8",
            "sub rdx, 8",
            "jmp 2b",
            "3:",
            "test rdx, rdx",
            "jz 5f",
            "mov cl, [rdi]",
            "cmp cl, [rsi]",
            "jne 4f",
            "inc rdi",
            "inc rsi",
            "dec rdx",
            "jmp 3b",
            "4:",
            "mov eax, 1",
            "5:",
            "ret",
        );
    }

    /// As above.
    #[cfg(all(target_os = "linux", target_arch = "aarch64"))]
    #[unsafe(naked)]
    unsafe extern "C" fn compare(address: usize, copy: *const MaybeUninit<u8>, len: usize) -> usize {
        std::arch::naked_asm!(
            "2:",
            "cbz x2, 5f",
            "ldrb w3, [x0], #1",
            "ldrb w4, [x1], #1",
            "sub x2, x2, #1",
            "cmp w3, w4",
            "b.eq 2b",
            "mov x0, #1",
            "ret",
            "5:",
            "mov x0, #0",
            "ret",
        );
    }

    /// Compares as above. Where no signals are caught, the memory is assumed to be mapped.
    #[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
    unsafe fn compare(address: usize, copy: *const MaybeUninit<u8>, len: usize) -> usize {
        let now = std::ptr::with_exposed_provenance::<u8>(address);
        // The read is volatile, because the bytes may be padding, of which the compiler may assume anything.
        // SAFETY: both have this many bytes.
        let differs =
            |at| unsafe { now.add(at).read_volatile() != copy.cast::<u8>().add(at).read_volatile() };
        usize::from((0..len).any(differs))
    }

    /// Returns `true` if a fault at this instruction belongs to the comparison.
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    pub(in crate::runtime) fn is_at(instruction: usize) -> bool {
        // This is at most the size of the instructions above, and covers the last one that reads.
        const LEN: usize = 40;
        instruction.wrapping_sub(compare as *const () as usize) < LEN
    }
}

#[cfg(test)]
mod tests {
    use super::probe::differs;
    use std::mem::MaybeUninit;

    #[test]
    fn a_change_of_any_byte_is_seen() {
        for len in 1..40 {
            let mut memory = vec![7u8; len];
            let copy = vec![MaybeUninit::new(7u8); len];
            let address = memory.as_mut_ptr().expose_provenance();
            assert!(!differs(address, &copy), "{len}");
            for at in 0..len {
                memory[at] = 8;
                assert!(
                    differs(memory.as_ptr().expose_provenance(), &copy),
                    "{at} of {len}"
                );
                memory[at] = 7;
            }
        }
    }

    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    #[test]
    fn memory_that_is_gone_is_no_change() {
        let _handlers = crate::runtime::crash::Guard::install();
        let len = 4096;
        // SAFETY: a new mapping, which nothing else uses, and which is unmapped as a whole.
        let address = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let page = libc::mmap(std::ptr::null_mut(), len, libc::PROT_READ, flags, -1, 0);
            assert_ne!(page, libc::MAP_FAILED);
            assert_eq!(libc::munmap(page, len), 0);
            page.expose_provenance()
        };
        assert!(!differs(address, &[MaybeUninit::new(1); 64]));
    }
}
