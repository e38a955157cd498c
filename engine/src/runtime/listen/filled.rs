//! Blocks that the allocator has written for a task: with zeros, or with the content of a block that it moved.
//!
//! Such a write is one of the task that asks for the block. Another task that gets a pointer to the block without
//! synchronisation, and reads it, has a data race. The write covers all of the block, which may be large, so it is kept
//! as one entry. It becomes an access to a piece of memory when the piece is accessed for the first time.

use super::held::Held;
use super::memory::GRANULE;
use crate::site::Site;
use std::collections::BTreeMap;

/// The allocator's write of a block.
#[derive(Clone, Copy)]
struct Fill {
    end: usize,
    site: Site,
    task: u32,
    /// The last event of its task.
    after: u32,
    /// The number of accesses in the execution before it.
    when: u64,
}

/// The blocks of the execution that the allocator has written, by the addresses at which they begin. No two overlap.
#[derive(Default)]
pub(in super::super) struct Filled(BTreeMap<usize, Fill>);

impl Filled {
    /// Returns `true` if there are none.
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the write of a piece of memory. Blocks begin where a piece begins, so a piece is in one block at most.
    #[inline(always)]
    pub(super) fn write_of(&self, piece: usize) -> Option<Held> {
        if self.0.is_empty() {
            return None;
        }
        self.find(piece)
    }

    #[inline(never)]
    fn find(&self, piece: usize) -> Option<Held> {
        let (_, fill) = self.0.range(..=piece).next_back()?;
        let size = fill.end.checked_sub(piece).filter(|&size| size > 0)?;
        Some(Held {
            site: fill.site,
            task: fill.task,
            after: fill.after,
            when: fill.when,
            from: 0,
            to: size.min(GRANULE) as u8,
            is_write: true,
            frees: false,
        })
    }

    /// Forgets all of them.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Forgets those that begin in this memory, which is used again.
    #[cfg(feature = "unmodified")]
    pub(super) fn forget(&mut self, memory: std::ops::Range<usize>) {
        while let Some((&begin, _)) = self.0.range(memory.clone()).next() {
            self.0.remove(&begin);
        }
    }
}

#[cfg(feature = "unmodified")]
impl super::super::Runtime {
    /// Notes that the allocator has written this memory, for the current task and at this place.
    #[allow(dead_code, reason = "for systems on which memory is watched")]
    pub(in super::super) fn note_filled(
        &mut self,
        memory: std::ops::Range<usize>,
        site: impl FnOnce(&super::super::tasks::Tasks) -> Option<Site>,
    ) {
        // What the first task does before it creates another one comes before everything that others do.
        if memory.is_empty() || !self.hears_of_memory() || self.tasks.created() == 1 {
            return;
        }
        let Some(site) = site(&self.tasks) else { return };
        let last = self.last_of_current();
        let fill = Fill {
            end: memory.end,
            site,
            task: last.task.0,
            after: last.index,
            when: self.monitors.plain_accesses,
        };
        self.monitors.held_back.filled.0.insert(memory.start, fill);
    }
}
