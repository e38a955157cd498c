//! The record of an execution: one entry per visible operation, flat.

use super::Site;
use intermezzo_sdk::{MemoryOrder, SyncVarOp};
use std::panic::Location;

/// One event of an execution, as recorded.
#[derive(Clone, Copy)]
pub(super) struct Event {
    pub(super) site: Site,
    /// Values read and written, as bits.
    pub(super) read: u64,
    pub(super) written: u64,
    pub(super) task: u32,
    /// The how-manieth event of its task, from 1.
    pub(super) index: u32,
    pub(super) var: u32,
    pub(super) op: SyncVarOp,
    pub(super) order: MemoryOrder,
    /// Whether it counts as not having happened: a loop waited in vain.
    pub(super) void: bool,
}

/// The events of an execution, in order. Entries are overwritten in place in the next one, which spares
/// the copy of a push.
#[derive(Default)]
pub(super) struct Events {
    entries: Vec<Event>,
    used: usize,
}

impl Events {
    /// Forgets all events, and keeps their memory.
    pub(super) fn clear(&mut self) {
        self.used = 0;
    }

    /// Makes sure that there is room for one more event.
    #[inline(always)]
    pub(super) fn make_room(&mut self) {
        if self.used == self.entries.len() {
            self.grow();
        }
    }

    /// Adds an event, for which there is room.
    #[inline(always)]
    pub(super) fn record(&mut self, event: Event) {
        // Nobody takes the event's address, so its fields go from registers to their places: put together
        // elsewhere first, and copied in larger pieces, each copy would wait for the stores before it.
        self.entries[self.used] = event;
        self.used += 1;
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let blank = Event {
            site: Location::caller(),
            read: 0,
            written: 0,
            task: 0,
            index: 0,
            var: 0,
            op: SyncVarOp::TaskBegin,
            order: MemoryOrder::None,
            void: false,
        };
        self.entries.resize((2 * self.entries.len()).max(64), blank);
    }

    /// Marks the events of a task from number `first` on as void.
    pub(super) fn void(&mut self, task: u32, first: usize) {
        let since = &mut self.entries[first..self.used];
        since
            .iter_mut()
            .filter(|event| event.task == task)
            .for_each(|event| event.void = true);
    }

    /// The events so far.
    pub(super) fn as_slice(&self) -> &[Event] {
        &self.entries[..self.used]
    }
}
