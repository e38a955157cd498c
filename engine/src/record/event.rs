//! The record of an execution: one entry per visible operation, flat.

use super::Access;
use crate::site::Site;
use intermezzo_sdk::{MemoryOrder, SyncVarOp};

/// One event of an execution, as recorded.
#[derive(Clone, Copy)]
pub struct Event {
    /// The place in the source where the operation was called.
    pub site: Site,
    /// The value read, as bits, or 0.
    pub read: u64,
    /// The value written, as bits, or 0.
    pub written: u64,
    /// The task that performed it.
    pub task: u32,
    /// The index of the event among those of its task, from 1.
    pub index: u32,
    /// The variable's number in this execution.
    pub var: u32,
    /// The operation.
    pub op: SyncVarOp,
    /// Its memory ordering.
    pub order: MemoryOrder,
    /// `true` if it counts as not having happened: it belongs to a failed round of a loop.
    pub elided: bool,
}

impl Event {
    /// Returns `true` if a channel refused the operation, because its other end is gone. That changes nothing.
    pub(crate) fn is_refused(&self) -> bool {
        matches!(self.op, SyncVarOp::ChannelSend | SyncVarOp::ChannelReceive)
            && (self.read, self.written) == (0, 0)
    }

    /// Returns `true` if the event may have changed the state of its variable.
    pub(crate) fn may_change(&self) -> bool {
        self.op.is_write() && !self.is_refused()
    }

    /// Returns `true` if this event is this operation, by this task.
    #[inline(always)]
    fn is_like(&self, task: u32, access: &Access) -> bool {
        (self.task, self.op, self.var) == (task, access.op, access.var) && self.site.is_same_word(access.site)
    }
}

/// The events of an execution, in order. The next execution overwrites the entries in place, which is faster than
/// adding new ones.
#[derive(Default)]
pub(crate) struct Events {
    entries: Vec<Event>,
    used: usize,
    /// The number of events that must equal those of the previous execution, whose entries are still there for
    /// comparison.
    known: usize,
    /// The first event that differs, and its former value.
    differs: Option<(usize, Event)>,
    /// The events before which the running task was preempted, in order, and that task.
    preempting: Vec<(usize, u32)>,
}

impl Events {
    /// Empties the record. The first `known` events must repeat: the search relies on that.
    pub(crate) fn clear(&mut self, known: usize) {
        (self.used, self.known, self.differs) = (0, known, None);
        self.preempting.clear();
    }

    /// Returns the first event that differs from the previous execution under the same choices, with its former value.
    pub(crate) fn differs(&self) -> Option<(usize, Event)> {
        self.differs
    }

    /// Returns the number of events so far, from the first, that match those of the previous execution: the same
    /// operation at the same place by the same task. Values may differ.
    pub(crate) fn alike(&self) -> usize {
        self.known.min(self.used)
    }

    /// Returns `true` if there is room for one more event and, if one is expected, it is that one.
    pub(crate) fn has_room(&self, task: u32, access: &Access) -> bool {
        match self.entries.get(self.used) {
            Some(entry) => self.used >= self.known || entry.is_like(task, access),
            None => false,
        }
    }

    /// Makes room for one more event, or notes that it is not the expected one.
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

    /// Adds the `index`-th event of a task. Returns `false` if there is no room for it, or if another one is expected.
    #[inline(always)]
    pub(crate) fn record(&mut self, task: u32, index: u32, access: &Access, read: u64, written: u64) -> bool {
        let Some(entry) = self.entries.get_mut(self.used) else {
            return false;
        };
        if self.used < self.known {
            if !entry.is_like(task, access) {
                return false;
            }
            // The other fields have been compared.
        } else {
            // One field after the other: so none waits in a register that the caller would have to save first.
            (entry.task, entry.index) = (task, index);
            entry.site = access.site;
            entry.var = access.var;
            (entry.op, entry.order) = (access.op, access.order);
        }
        (entry.read, entry.written, entry.elided) = (read, written, false);
        self.used += 1;
        true
    }

    /// Notes that the running task is preempted: the next event is another task's.
    #[inline(always)]
    pub(crate) fn preempt(&mut self, running: u32) {
        self.preempting.push((self.used, running));
    }

    /// Returns the event with this index of a task, from 1, if it has happened.
    pub(crate) fn of(&self, task: u32, index: u32) -> Option<&Event> {
        let mut events = self.as_slice().iter();
        events.rfind(|event| (event.task, event.index) == (task, index))
    }

    /// Returns `true` if the task was preempted after its last event.
    pub(crate) fn is_preempted(&self, task: u32) -> bool {
        let last = self.as_slice().iter().rposition(|event| event.task == task);
        let preemption = self.preempting.iter().rfind(|(_, running)| *running == task);
        preemption.is_some_and(|&(at, _)| last.is_none_or(|last| at > last))
    }

    /// Returns `true` if the running task was preempted right before this event.
    pub(crate) fn preempts(&self, at: usize) -> bool {
        self.preempting.binary_search_by_key(&at, |&(at, _)| at).is_ok()
    }

    fn depart(&mut self) {
        self.differs = Some((self.used, self.entries[self.used]));
        self.known = 0;
    }

    fn grow(&mut self) {
        let blank = Event {
            site: Site::caller(),
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

    /// Marks the events of a task from number `first` on as elided.
    pub(crate) fn elide(&mut self, task: u32, first: usize) {
        let since = &mut self.entries[first..self.used];
        since
            .iter_mut()
            .filter(|event| event.task == task)
            .for_each(|event| event.elided = true);
    }

    /// Returns the number of events so far.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.used
    }

    /// Returns the events so far.
    pub(crate) fn as_slice(&self) -> &[Event] {
        &self.entries[..self.used]
    }
}
