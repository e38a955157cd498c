//! The record of an execution: one entry per visible operation, flat.

use super::{Access, Site};
use intermezzo_sdk::{MemoryOrder, SyncVarOp};
use std::panic::Location;

/// One event of an execution, as recorded.
#[derive(Clone, Copy)]
pub struct Event {
    /// Where in the source the operation was called.
    pub site: Site,
    /// Values read and written, as bits.
    pub read: u64,
    /// The value written, or 0.
    pub written: u64,
    /// The task that did it.
    pub task: u32,
    /// The how-manieth event of its task, from 1.
    pub index: u32,
    /// The variable's number in this execution.
    pub var: u32,
    /// The operation.
    pub op: SyncVarOp,
    /// Its memory order.
    pub order: MemoryOrder,
    /// Whether it counts as not having happened: a loop waited in vain.
    pub elided: bool,
}

impl Event {
    /// Whether this is what a task does with this access: the same done at the same place by the same task.
    #[inline(always)]
    fn is_like(&self, task: u32, access: &Access) -> bool {
        (self.task, self.op, self.var) == (task, access.op, access.var)
            && std::ptr::eq(self.site, access.site)
    }
}

/// The events of an execution, in order. Entries are overwritten in place in the next one, which spares
/// the copy of a push.
#[derive(Default)]
pub(crate) struct Events {
    entries: Vec<Event>,
    used: usize,
    /// How many of them are to be as in the execution before, whose entries are still there to compare with.
    known: usize,
    /// The first that was not, and what it had been.
    differs: Option<(usize, Event)>,
    /// Those before which the running task was preempted, in order.
    preempting: Vec<usize>,
}

impl Events {
    /// Begins anew. The first `known` events are to be as they were: the search relies on that.
    pub(crate) fn clear(&mut self, known: usize) {
        (self.used, self.known, self.differs) = (0, known, None);
        self.preempting.clear();
    }

    /// The first event that was not what it had been in the execution before, under the same choices.
    pub(crate) fn differs(&self) -> Option<(usize, Event)> {
        self.differs
    }

    /// How many of the events so far, from the first, are like those of the execution before: the same done at the same
    /// place by the same task. Values may be others.
    pub(crate) fn alike(&self) -> usize {
        self.known.min(self.used)
    }

    /// Whether there is room for one more event, and it is the one expected, if any is.
    #[inline(always)]
    pub(crate) fn has_room(&self, task: u32, access: &Access) -> bool {
        match self.entries.get(self.used) {
            Some(entry) => self.used >= self.known || entry.is_like(task, access),
            None => false,
        }
    }

    /// Makes room for one more event, or notes that it is not the one expected.
    #[cold]
    #[inline(never)]
    pub(crate) fn make_room(&mut self) {
        if self.used == self.entries.len() {
            self.grow();
        }
        if self.used < self.known {
            self.depart();
        }
    }

    /// Adds an event, for which there is room.
    #[inline(always)]
    pub(crate) fn record(&mut self, event: Event) {
        // Nobody takes the event's address, so its fields go from registers to their places: put together
        // elsewhere first, and copied in larger pieces, each copy would wait for the stores before it.
        let entry = &mut self.entries[self.used];
        if self.used < self.known {
            // What else there is to it was compared.
            (entry.read, entry.written, entry.elided) = (event.read, event.written, event.elided);
        } else {
            *entry = event;
        }
        self.used += 1;
    }

    /// The running task is preempted: the next event is another's.
    #[inline(always)]
    pub(crate) fn preempt(&mut self) {
        self.preempting.push(self.used);
    }

    /// Whether the running task was preempted right before this event.
    pub(crate) fn preempts(&self, at: usize) -> bool {
        self.preempting.binary_search(&at).is_ok()
    }

    fn depart(&mut self) {
        self.differs = Some((self.used, self.entries[self.used]));
        self.known = 0;
    }

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
            elided: false,
        };
        self.entries.resize((2 * self.entries.len()).max(64), blank);
    }

    /// Marks the events of a task from number `first` on as void.
    pub(crate) fn elided(&mut self, task: u32, first: usize) {
        let since = &mut self.entries[first..self.used];
        since
            .iter_mut()
            .filter(|event| event.task == task)
            .for_each(|event| event.elided = true);
    }

    /// How many there are so far.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.used
    }

    /// The events so far.
    pub(crate) fn as_slice(&self) -> &[Event] {
        &self.entries[..self.used]
    }
}
