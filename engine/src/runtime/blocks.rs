//! Blocks of memory that the test allocates in an execution.
//!
//! Freed memory of the allocator is kept until the execution ends. So a double free is a finding and does no harm, and
//! no address is used twice, so that executions do not depend on the allocator. Memory that the test never frees is
//! freed at the end, too.

use super::{Engine, Runtime};
use crate::site::Site;
use intermezzo_sdk::{BlockKind, EventId};
use std::alloc::Layout;
use std::collections::BTreeMap;

/// A block of the current execution.
#[derive(Clone, Copy)]
pub(super) struct Block {
    pub(super) start: usize,
    pub(super) size: usize,
    pub(super) kind: BlockKind,
    /// The task that asked for it, and its index among that task's blocks of this kind: its stable name.
    pub(super) user: u32,
    pub(super) ordinal: u32,
    /// The place where it was allocated, and the user's last event before that.
    pub(super) site: Site,
    pub(super) after: u32,
    /// `true` once monitors were notified of it.
    pub(super) is_told: bool,
    /// `false` once a block that is not the allocator's was released.
    is_in_use: bool,
}

/// The blocks of an execution.
#[derive(Default)]
pub(super) struct Blocks {
    list: Vec<Block>,
    /// The allocator's blocks, by address. No two overlap, because none is freed.
    heap: BTreeMap<usize, u32>,
    /// Other blocks in use, among the first `settled` blocks. They are added when a lookup needs them.
    shared: BTreeMap<usize, u32>,
    settled: usize,
    /// The number of blocks of each kind that each task asked for.
    counts: Vec<[u32; KINDS]>,
    /// The layouts with which to free the allocator's blocks.
    layouts: Vec<(*mut u8, Layout)>,
}

/// The number of kinds of blocks.
const KINDS: usize = 3;

/// Returns the name of a kind in reports.
fn kind_name(kind: BlockKind) -> &'static str {
    match kind {
        BlockKind::Shared => "arc",
        BlockKind::Value => "value",
        _ => "block",
    }
}

impl Blocks {
    /// Returns `true` if there are any blocks.
    #[inline]
    pub(super) fn any(&self) -> bool {
        !self.list.is_empty()
    }

    /// Returns `true` if there are any blocks of the allocator.
    #[inline]
    pub(super) fn any_heap(&self) -> bool {
        !self.heap.is_empty()
    }

    /// Adds a block that is allocated after this event, and returns its number.
    pub(super) fn add(
        &mut self,
        kind: BlockKind,
        start: usize,
        size: usize,
        site: Site,
        after: EventId,
    ) -> u32 {
        let user = after.task.0;
        if self.counts.len() <= user as usize {
            self.counts.resize(user as usize + 1, [0; KINDS]);
        }
        let ordinal = &mut self.counts[user as usize][kind as usize];
        *ordinal += 1;
        let number = self.list.len() as u32;
        self.list.push(Block {
            start,
            size,
            kind,
            user,
            ordinal: *ordinal,
            site,
            after: after.index,
            is_told: false,
            is_in_use: true,
        });
        if kind == BlockKind::Heap {
            self.heap.insert(start, number);
        }
        number
    }

    /// Returns the block of that number.
    pub(super) fn get(&self, block: u32) -> Block {
        self.list[block as usize]
    }

    /// Notes that monitors are notified of a block. Returns `false` if they had been notified already.
    pub(super) fn tell(&mut self, block: u32) -> bool {
        !std::mem::replace(&mut self.list[block as usize].is_told, true)
    }

    /// Returns the shared blocks that are in use and that monitors were not notified of.
    pub(super) fn untold(&self) -> Vec<u32> {
        let is_untold = |block: &Block| block.kind == BlockKind::Shared && block.is_in_use && !block.is_told;
        let numbered = (0..).zip(&self.list);
        numbered
            .filter(|(_, block)| is_untold(block))
            .map(|(number, _)| number)
            .collect()
    }

    /// Returns the block of the allocator that begins there.
    fn heap_from(&self, start: usize) -> Option<u32> {
        self.heap.get(&start).copied()
    }

    /// Adds the other blocks that are in use, so that they can be found by address.
    pub(super) fn settle(&mut self) {
        for (number, block) in self.list.iter().enumerate().skip(self.settled) {
            // Values are left out: they get another address when they are moved.
            if block.kind == BlockKind::Shared && block.size > 0 && block.is_in_use {
                self.shared.insert(block.start, number as u32);
            }
        }
        self.settled = self.list.len();
    }

    fn at(&self, map: &BTreeMap<usize, u32>, address: usize) -> Option<u32> {
        let (_, &number) = map.range(..=address).next_back()?;
        let block = self.get(number);
        (address - block.start < block.size).then_some(number)
    }

    /// Returns the block of the allocator in which this address lies, whether or not it was freed.
    #[inline]
    pub(super) fn heap_at(&self, address: usize) -> Option<u32> {
        if self.heap.is_empty() {
            return None;
        }
        self.at(&self.heap, address)
    }

    /// Returns the other block in which this address lies, among those that were added.
    pub(super) fn shared_at(&self, address: usize) -> Option<u32> {
        self.at(&self.shared, address)
    }

    /// Returns the beginning of the next block after this address, among those that were added.
    pub(super) fn next_after(&self, address: usize) -> Option<usize> {
        let after = |map: &BTreeMap<usize, u32>| map.range(address + 1..).next().map(|(&start, _)| start);
        let (heap, shared) = (after(&self.heap), after(&self.shared));
        heap.into_iter().chain(shared).min()
    }

    /// Removes a block whose memory is no longer in use, and may be used for something else.
    fn forget(&mut self, number: u32) {
        let block = &mut self.list[number as usize];
        block.is_in_use = false;
        if block.kind == BlockKind::Shared && self.shared.get(&block.start) == Some(&number) {
            self.shared.remove(&block.start);
        }
    }
}

impl Runtime {
    /// Returns the name of a block: its kind, the task that asked for it, and its index.
    pub(super) fn block_name(&self, block: u32) -> String {
        let Block {
            kind, user, ordinal, ..
        } = self.objects.blocks.get(block);
        let user = super::naming::lineage(self.tasks.with_earlier(), user);
        format!("{} {user}.{ordinal}", kind_name(kind))
    }

    /// Frees the memory of the allocator at the end of the execution. If the heap `is_damaged`, the memory is leaked
    /// instead.
    #[cold]
    #[inline(never)]
    pub(super) fn free_blocks(&mut self, is_damaged: bool) {
        let Blocks {
            list,
            heap,
            shared,
            settled,
            counts,
            layouts,
        } = &mut self.objects.blocks;
        list.clear();
        heap.clear();
        shared.clear();
        *settled = 0;
        counts.clear();
        for (pointer, layout) in layouts.drain(..).filter(|_| !is_damaged) {
            // SAFETY: it was allocated with this layout, and nothing but this frees it.
            unsafe { std::alloc::dealloc(pointer, layout) };
        }
    }
}

impl Engine {
    /// Registers memory that the allocator has just given to the test.
    pub fn keep_heap(self, pointer: *mut u8, layout: Layout, site: Site) -> u32 {
        self.with(|rt| {
            let after = rt.last_of_current();
            if !rt.objects.blocks.any_heap() {
                rt.settle_log();
                rt.monitors.logs_only = false;
            }
            let blocks = &mut rt.objects.blocks;
            blocks.layouts.push((pointer, layout));
            blocks.add(BlockKind::Heap, pointer.addr(), layout.size(), site, after)
        })
    }

    /// Returns the block of the allocator that begins there, if it belongs to this execution.
    #[inline]
    pub fn heap_block(self, pointer: *mut u8) -> Option<u32> {
        self.with(|rt| rt.objects.blocks.heap_from(pointer.addr()))
    }

    /// Registers a block that was not allocated by a call of the test: the content of an `Arc`, or a value.
    pub fn note_block(self, kind: BlockKind, start: usize, size: usize, site: Site) -> u32 {
        self.with(|rt| {
            let after = rt.last_of_current();
            rt.objects.blocks.add(kind, start, size, site, after)
        })
    }

    /// Removes a block that is not the allocator's.
    pub fn forget_block(self, block: u32) {
        self.with(|rt| rt.objects.blocks.forget(block));
    }
}
