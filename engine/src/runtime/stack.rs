//! The stacks of tasks.
//!
//! Code may use addresses on its stack as numbers: hashers derive seeds from them. With the feature `unmodified`, on
//! Linux, stacks have the same addresses in every process, like the memory of the arena. A new stack gets the lowest
//! address that is free for its size. So the stacks of tasks that were created in the same order, with the same sizes,
//! have the same addresses.
//!
//! Where such an address is in use for something else, the system chooses one.

use corosensei::stack::{DefaultStack, Stack};

#[cfg(all(feature = "unmodified", target_os = "linux", target_pointer_width = "64"))]
mod placed {
    use super::{DefaultStack, Stack};
    use corosensei::stack::{MIN_STACK_SIZE, StackPointer};
    use std::collections::BTreeSet;
    use std::ptr::with_exposed_provenance_mut;
    use std::sync::{Mutex, PoisonError};

    /// The first address for stacks. The arena ends below it, and everything that the system places by itself is far
    /// above.
    const BEGIN: usize = 0x40_0000_0000;

    /// The number of bytes for stacks of one size, with their guard pages, rounded up to a power of two.
    const FOR_ONE_SIZE: usize = 16 << 30;

    /// The slots that are in use, by their first addresses. A slot is for one stack.
    static IN_USE: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());

    /// A stack that tasks run on.
    pub(in super::super) enum TaskStack {
        /// At an address chosen by this module.
        Placed(Placed),
        /// At an address that the system has chosen.
        Anywhere(DefaultStack),
    }

    /// A stack at the upper end of its slot, below which is a guard page.
    pub(in super::super) struct Placed {
        slot: usize,
        /// The address of the guard page, and the one after the end of the stack.
        limit: StackPointer,
        base: StackPointer,
    }

    impl TaskStack {
        /// Maps a stack of at least this size.
        ///
        /// # Errors
        /// The system has no memory for it.
        pub(in super::super) fn new(bytes: usize) -> std::io::Result<TaskStack> {
            match Placed::new(bytes) {
                Some(placed) => Ok(TaskStack::Placed(placed)),
                None => DefaultStack::new(bytes).map(TaskStack::Anywhere),
            }
        }
    }

    impl Placed {
        fn new(bytes: usize) -> Option<Placed> {
            // SAFETY: a plain call.
            let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok()?;
            let size = bytes.max(MIN_STACK_SIZE).checked_next_multiple_of(page)? + page;
            let slot_size = size.checked_next_power_of_two()?;
            if slot_size > FOR_ONE_SIZE {
                return None;
            }
            let first = BEGIN + slot_size.trailing_zeros() as usize * FOR_ONE_SIZE;
            let mut in_use = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
            let slots = (first..first + FOR_ONE_SIZE).step_by(slot_size);
            let slot = slots.into_iter().find(|slot| !in_use.contains(slot))?;
            let (limit, base) = (slot + slot_size - size, slot + slot_size);
            let flags = libc::MAP_ANONYMOUS | libc::MAP_PRIVATE | libc::MAP_FIXED_NOREPLACE;
            let wanted = with_exposed_provenance_mut(limit);
            // SAFETY: a mapping of its own, which replaces none.
            let mapped = unsafe { libc::mmap(wanted, size, libc::PROT_NONE, flags, -1, 0) };
            if mapped == libc::MAP_FAILED {
                return None;
            }
            let placed = Placed {
                slot,
                limit: StackPointer::new(mapped.expose_provenance())?,
                base: StackPointer::new(mapped.addr() + size)?,
            };
            in_use.insert(slot);
            drop(in_use);
            // A kernel before 4.17 treats the address as a hint.
            let is_there = placed.base.get() == base;
            let stack = with_exposed_provenance_mut(placed.limit.get() + page);
            // SAFETY: the mapping just made, less its guard page.
            let is_ready =
                unsafe { libc::mprotect(stack, size - page, libc::PROT_READ | libc::PROT_WRITE) } == 0;
            (is_there && is_ready).then_some(placed)
        }
    }

    impl Drop for Placed {
        fn drop(&mut self) {
            let limit = with_exposed_provenance_mut(self.limit.get());
            // SAFETY: the mapping of this stack, which nothing uses any more.
            unsafe { libc::munmap(limit, self.base.get() - self.limit.get()) };
            let mut in_use = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
            in_use.remove(&self.slot);
        }
    }

    // SAFETY: each has a guard page at its limit, and at least the minimum size above it.
    unsafe impl Stack for TaskStack {
        #[inline]
        fn base(&self) -> StackPointer {
            match self {
                TaskStack::Placed(placed) => placed.base,
                TaskStack::Anywhere(stack) => stack.base(),
            }
        }

        #[inline]
        fn limit(&self) -> StackPointer {
            match self {
                TaskStack::Placed(placed) => placed.limit,
                TaskStack::Anywhere(stack) => stack.limit(),
            }
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        /// A size that nothing else here uses.
        const BYTES: usize = 5 << 20;

        #[test]
        fn stacks_have_the_lowest_free_addresses_for_their_size() {
            let new = || match TaskStack::new(BYTES).unwrap() {
                TaskStack::Placed(placed) => placed,
                TaskStack::Anywhere(_) => panic!("there is room"),
            };
            let (first, second) = (new(), new());
            assert_eq!(first.slot, BEGIN + 23 * FOR_ONE_SIZE);
            assert_eq!(second.slot, first.slot + (8 << 20));
            assert_eq!(second.base.get(), second.slot + (8 << 20));
            drop(first);
            let third = new();
            assert_eq!(third.slot, BEGIN + 23 * FOR_ONE_SIZE);
            for stack in [second, third] {
                let (limit, base) = (stack.limit.get(), stack.base.get());
                assert!(base - limit > BYTES);
                let last = with_exposed_provenance_mut::<u64>(base - 8);
                let lowest = with_exposed_provenance_mut::<u64>(base - BYTES);
                // SAFETY: both are of this stack, which nothing runs on.
                unsafe {
                    last.write(1);
                    lowest.write(2);
                    assert_eq!(last.read() + lowest.read(), 3);
                }
            }
        }
    }
}

#[cfg(all(feature = "unmodified", target_os = "linux", target_pointer_width = "64"))]
pub(super) use placed::TaskStack;

/// A stack that tasks run on.
#[cfg(not(all(feature = "unmodified", target_os = "linux", target_pointer_width = "64")))]
pub(super) type TaskStack = DefaultStack;

/// Maps a stack of that size.
///
/// # Errors
/// The system has no memory for it.
pub(super) fn mapped(bytes: usize) -> std::io::Result<TaskStack> {
    let stack = TaskStack::new(bytes)?;
    #[cfg(target_os = "linux")]
    {
        let (begin, end) = (stack.limit().get(), stack.base().get());
        let begin = std::ptr::with_exposed_provenance_mut(begin);
        // SAFETY: the mapping just made. A huge page would make the first touch cost 2 MiB. If the kernel has no huge
        // pages the call fails, which does no harm.
        unsafe { libc::madvise(begin, end - begin.addr(), libc::MADV_NOHUGEPAGE) };
    }
    Ok(stack)
}
