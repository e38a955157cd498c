//! Addresses that are used again within an execution, for the bound `address_reuse` of the environment.
//!
//! An allocation may then get a block that was freed in the same execution and has room for the same size. This finds
//! ABA problems, and values that are mistaken for others because of their address. The choice is among new memory,
//! which is the default, and all such blocks, the latest first.
//!
//! - **An allocation is a visible operation** as long as its task may use an address again. It accesses a variable for
//!   all blocks of that size. The schedule point in front of it lets other tasks free blocks first.
//! - **A free is part of the step in which it happens**, and writes the same variable. It needs no schedule point: an
//!   allocation that may get a block need not get it, so no behaviour is missed when a block is free early.
//! - **The bound is for each task**, so that whether an allocation is an operation depends only on the task's own past.
//! - **The old content of the memory is forgotten.** An atomic in it is a new variable, and accesses before the free do
//!   not race with those after it: C++ says that the free of a block happens before the allocation that returns it
//!   (new.delete.dataraces). Accesses to other memory are not ordered by it.
//!
//! Some allocations always get new memory and are not operations: those within an operation of a look-alike, and those
//! of tasks that unwind or whose closures have returned.
//!
//! Without the bound no address is used again. Whether one could have been is noted, so that a pass can say it, and the
//! search can continue with the bound.
//!
//! Blind spots: blocks of 256 KiB or more are not used again. Where the real std allocates while it holds a lock of the
//! process, another task may wait for that lock. An allocation is shown with the place of the operation before it,
//! because an allocator does not know its caller.

use super::super::{Engine, Runtime};
use super::blocks::{ALIGN, LARGE};
use crate::record::{Access, VarKind};
use crate::schedule::ChoiceKind;
use crate::trace::Key;
use hashbrown::HashMap;
use intermezzo_sdk::SyncVarOp;
use std::cell::Cell;
use std::ops::Range;

/// The purpose of noting blocks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// Addresses may be used again.
    Reuse,
    /// To say whether addresses could have been used again.
    Sizes,
    /// None: that is known already.
    None,
}

thread_local! {
    /// The purpose of noting blocks in the execution on this thread.
    static PURPOSE: Cell<Purpose> = const { Cell::new(Purpose::None) };
}

/// The number of variables: one for each size up to 1 KiB in steps of the alignment, and one for all larger ones. All
/// are created at the beginning, so that they have the same numbers in every execution.
const VARS: u32 = 65;

/// The blocks that were freed in an execution.
#[derive(Default)]
pub(in super::super) struct FreedBlocks {
    /// The variable of the smallest size.
    first_var: u32,
    /// The blocks by their room in bytes, in the order in which they were freed.
    by_room: HashMap<usize, Vec<FreedBlock>>,
    /// The sizes that are freed and allocated without the bound.
    sizes: Sizes,
}

/// The sizes of blocks that an execution without the bound allocates and frees: a bit for each size up to 1 KiB, and the
/// last one for all larger ones.
#[derive(Clone, Copy, Default)]
struct Sizes {
    /// Blocks of this size were allocated, and more than one was.
    allocated: u64,
    repeated: u64,
    /// Such a block was freed.
    freed: u64,
}

#[derive(Clone, Copy)]
struct FreedBlock {
    start: usize,
    /// The alignment for which it was allocated. Its address may be a multiple of a larger power of two, but that
    /// depends on the blocks before it.
    align: usize,
}

/// Returns the room in bytes of a block that was allocated with this size.
fn room(size: usize) -> usize {
    size.max(1).next_multiple_of(ALIGN)
}

impl Sizes {
    fn bit(room: usize) -> u64 {
        1 << (room / ALIGN - 1).min(u64::BITS as usize - 1)
    }

    fn add_allocated(&mut self, room: usize) {
        let bit = Sizes::bit(room);
        self.repeated |= self.allocated & bit;
        self.allocated |= bit;
    }

    fn add_freed(&mut self, room: usize) {
        self.freed |= Sizes::bit(room);
    }

    /// Returns `true` if an allocation with this room could have got a freed block in some order of the steps.
    fn any_reuse(self, room: usize) -> bool {
        self.freed & self.repeated & Sizes::bit(room) != 0
    }
}

impl FreedBlocks {
    /// Returns the variable of blocks with this room.
    fn var(&self, room: usize) -> u32 {
        self.first_var + (room / ALIGN - 1).min(VARS as usize - 1) as u32
    }

    /// Returns the indices of the blocks that suit an allocation, the latest first.
    fn suitable(&self, room: usize, align: usize) -> impl Iterator<Item = usize> {
        let blocks = self.by_room.get(&room).map_or(&[][..], |blocks| blocks);
        (0..blocks.len())
            .rev()
            .filter(move |&at| blocks[at].align >= align)
    }

    /// Removes and returns the block with that index.
    fn take(&mut self, room: usize, at: usize) -> Range<usize> {
        let blocks = self.by_room.get_mut(&room).expect("there are such blocks");
        let start = blocks.remove(at).start;
        start..start + room
    }
}

/// Lets the environment reuse the address of a freed block of this size, if it may. Returns the address; `None` if the
/// allocation gets new memory.
#[inline]
pub(super) fn freed_place(size: usize, align: usize) -> Option<usize> {
    match PURPOSE.get() {
        Purpose::None => None,
        Purpose::Sizes => {
            if let Some(engine) = Engine::current() {
                engine.quick(|rt| rt.note_allocated_size(room(size)));
            }
            None
        }
        Purpose::Reuse => choose_place(room(size), align),
    }
}

/// Lets the environment reuse the address of a freed block with this room, if it may.
#[inline(never)]
fn choose_place(room: usize, align: usize) -> Option<usize> {
    if std::thread::panicking() {
        return None;
    }
    let engine = Engine::current()?;
    let access = engine.with(|rt| rt.allocation(room, align))?;
    // Nothing may unwind out of an allocator.
    engine.keep_from_unwinding(|| {
        engine.enter(access);
        let suitable = engine.with(|rt| rt.objects.freed.suitable(room, align).count());
        let taken = engine.choose(ChoiceKind::Value, 1 + suitable as u32);
        engine.commit(access, u64::from(taken), 0);
        let which = taken.checked_sub(1)?;
        // No other event shows the choice.
        engine.commit(
            Access::nowhere(SyncVarOp::Choice, access.site),
            u64::from(taken),
            0,
        );
        Some(engine.with(|rt| rt.use_again(room, align, which as usize)))
    })
}

/// Notes that a block is freed.
#[inline]
pub(super) fn note_freed(engine: Engine, start: usize, size: usize, align: usize) {
    let room = room(size);
    match PURPOSE.get() {
        Purpose::None => {}
        _ if room >= LARGE => {}
        Purpose::Reuse => engine.with(|rt| rt.note_freed(room, FreedBlock { start, align })),
        Purpose::Sizes => engine.quick(|rt| rt.note_freed_size(room)),
    }
}

impl Runtime {
    /// Begins an execution: makes the variables, if addresses may be used again.
    pub(in super::super) fn begin_reuse(&mut self) {
        let reuses = self.world.environment.address_reuse > 0;
        PURPOSE.set(if reuses { Purpose::Reuse } else { Purpose::Sizes });
        self.objects.freed.sizes = Sizes::default();
        if reuses {
            let freed = &mut self.objects.freed;
            freed.by_room.clear();
            freed.first_var = self.objects.vars.count() as u32;
            for ordinal in 1..=VARS {
                self.objects.vars.add(VarKind::Heap, 0, 0, ordinal);
            }
        }
    }

    /// Returns the operation of an allocation; `None` if the allocation is not an operation, and gets new memory.
    fn allocation(&mut self, room: usize, align: usize) -> Option<Access> {
        let most = self.world.environment.address_reuse;
        let freed = &self.objects.freed;
        let task = self.tasks.current_task();
        if self.in_operation || task.finishing || self.end.teardown || room >= LARGE {
            return None;
        }
        if task.adversities.address_reuses >= most {
            self.world.capped.address_reuse |= freed.suitable(room, align).next().is_some();
            return None;
        }
        let var = freed.var(room);
        Some(Access::new(SyncVarOp::DataWrite, var, self.tasks.last_site()))
    }

    fn note_freed(&mut self, room: usize, block: FreedBlock) {
        if self.end.teardown {
            return;
        }
        let freed = &mut self.objects.freed;
        let key = Key::of(SyncVarOp::DataWrite, freed.var(room));
        self.record.add_write_since(self.tasks.current(), key);
        freed.by_room.entry(room).or_default().push(block);
    }

    /// Notes that a block with this room is freed, although none is used again.
    fn note_freed_size(&mut self, room: usize) {
        self.note_size(room, Sizes::add_freed);
    }

    /// Notes an allocation with this room, which gets new memory.
    fn note_allocated_size(&mut self, room: usize) {
        if room < LARGE {
            self.note_size(room, Sizes::add_allocated);
        }
    }

    /// Notes a block, and whether one could have been used again. That must not depend on the order of the steps that is
    /// run, so it is enough that there have been several tasks.
    fn note_size(&mut self, room: usize, note: fn(&mut Sizes, usize)) {
        if !self.end.teardown {
            let sizes = &mut self.objects.freed.sizes;
            note(sizes, room);
            if self.tasks.created() > 1 && sizes.any_reuse(room) {
                self.world.capped.address_reuse = true;
                PURPOSE.set(Purpose::None);
            }
        }
    }

    /// Takes one of the blocks that suit an allocation, by its index among them, and returns its address.
    fn use_again(&mut self, room: usize, align: usize, which: usize) -> usize {
        self.tasks.current_task().adversities.address_reuses += 1;
        let freed = &mut self.objects.freed;
        let at = freed.suitable(room, align).nth(which);
        let memory = freed.take(room, at.expect("it was counted"));
        let epoch = self.objects.epoch();
        self.objects.by_address.use_again(memory.clone(), epoch);
        self.forget_accesses(memory.clone());
        memory.start
    }
}
