//! Blocks of memory that the test asks for in an execution.
//!
//! Memory of the allocator's that is given back is kept until the execution is over: a double free is then a finding
//! and harms nobody, and no address is used twice, so that executions do not depend on what the allocator does. What the
//! test never gives back is freed then, too.

use super::{Engine, Runtime};
use intermezzo_sdk::BlockKind;
use std::alloc::Layout;
use std::collections::BTreeMap;

/// A block of the execution that runs.
#[derive(Clone, Copy)]
pub(super) struct Block {
    pub(super) start: usize,
    pub(super) size: usize,
    pub(super) kind: BlockKind,
    /// Who asked for it, and the how-manieth of its kind that was: its stable name.
    pub(super) user: u32,
    pub(super) ordinal: u32,
    /// `false` once a block that is not the allocator's was given back.
    is_in_use: bool,
}

/// The blocks of an execution.
#[derive(Default)]
pub(super) struct Blocks {
    list: Vec<Block>,
    /// Those of the allocator's, by address; no two overlap, for none is freed.
    heap: BTreeMap<usize, u32>,
    /// Those of others that are in use, up to the block of number `settled`: they are put there when somebody looks.
    shared: BTreeMap<usize, u32>,
    settled: usize,
    /// By task and kind: how many it asked for.
    counts: Vec<[u32; KINDS]>,
    /// How to free those of the allocator's.
    layouts: Vec<(*mut u8, Layout)>,
}

/// Number of kinds of blocks.
const KINDS: usize = 3;

/// The name of a kind in reports.
fn kind_name(kind: BlockKind) -> &'static str {
    match kind {
        BlockKind::Shared => "arc",
        BlockKind::Value => "value",
        _ => "block",
    }
}

impl Blocks {
    /// Whether there is any.
    #[inline]
    pub(super) fn any(&self) -> bool {
        !self.list.is_empty()
    }

    /// Whether any is the allocator's.
    #[inline]
    pub(super) fn any_heap(&self) -> bool {
        !self.heap.is_empty()
    }

    fn add(&mut self, kind: BlockKind, start: usize, size: usize, user: u32) -> u32 {
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
            is_in_use: true,
        });
        if kind == BlockKind::Heap {
            self.heap.insert(start, number);
        }
        number
    }

    /// The block of that number.
    pub(super) fn get(&self, block: u32) -> Block {
        self.list[block as usize]
    }

    /// The block of the allocator's that begins there.
    fn heap_from(&self, start: usize) -> Option<u32> {
        self.heap.get(&start).copied()
    }

    /// Puts the blocks of others that are in use where they can be found by address.
    pub(super) fn settle(&mut self) {
        for (number, block) in self.list.iter().enumerate().skip(self.settled) {
            // A value that is moved is somewhere else.
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

    /// The block of the allocator's in which this address lies, whether it was given back or not.
    #[inline]
    pub(super) fn heap_at(&self, address: usize) -> Option<u32> {
        if self.heap.is_empty() {
            return None;
        }
        self.at(&self.heap, address)
    }

    /// The block of others in which it lies, of those that were settled.
    pub(super) fn shared_at(&self, address: usize) -> Option<u32> {
        self.at(&self.shared, address)
    }

    /// Where the next block after this address begins, of those that were settled.
    pub(super) fn next_after(&self, address: usize) -> Option<usize> {
        let after = |map: &BTreeMap<usize, u32>| map.range(address + 1..).next().map(|(&start, _)| start);
        let (heap, shared) = (after(&self.heap), after(&self.shared));
        heap.into_iter().chain(shared).min()
    }

    /// Its memory is in use no more, and may be used for something else.
    fn forget(&mut self, number: u32) {
        let block = &mut self.list[number as usize];
        block.is_in_use = false;
        if block.kind == BlockKind::Shared && self.shared.get(&block.start) == Some(&number) {
            self.shared.remove(&block.start);
        }
    }
}

impl Runtime {
    /// The name of a block: what it is, who asked for it, and the how-manieth that was.
    pub(super) fn block_name(&self, block: u32) -> String {
        let Block {
            kind, user, ordinal, ..
        } = self.blocks.get(block);
        let user = super::naming::lineage(&self.tasks, user);
        format!("{} {user}.{ordinal}", kind_name(kind))
    }

    /// The execution is over: frees the memory of the allocator's that the test was given. Not where it `is_damaged`: then
    /// the memory is lost.
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
        } = &mut self.blocks;
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
    /// Takes care of memory that the allocator has just given to the test.
    pub fn keep_heap(self, pointer: *mut u8, layout: Layout) -> u32 {
        let user = self.task();
        let blocks = &mut self.rt().blocks;
        blocks.layouts.push((pointer, layout));
        blocks.add(BlockKind::Heap, pointer.addr(), layout.size(), user)
    }

    /// The block of the allocator's that begins there, if this execution has it.
    pub fn heap_block(self, pointer: *mut u8) -> Option<u32> {
        self.rt().blocks.heap_from(pointer.addr())
    }

    /// Notes a block that the allocator's callers do not see.
    pub fn note_block(self, kind: BlockKind, start: usize, size: usize) -> u32 {
        let user = self.task();
        self.rt().blocks.add(kind, start, size, user)
    }

    /// A block of others than the allocator's is no more.
    pub fn forget_block(self, block: u32) {
        self.rt().blocks.forget(block);
    }
}
