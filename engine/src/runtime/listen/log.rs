//! A log of operations on plain memory, for monitors that are notified of them when the execution has ended.

use super::memory::{DataAccess, Does, Owner};
use super::repeated::Repeated;
use intermezzo_sdk::{DataVarAccess, EventId, Location, MemoryDeed, MemoryEvent};

/// The operations on plain memory, and the data that they were made from. If an access has the same data as in the
/// execution before, its event need not be made again.
#[derive(Default)]
pub(super) struct Log {
    told: Repeated<MemoryEvent>,
    /// For each logged operation, and those of the execution before, the data that it was made from.
    made: Vec<Made>,
}

/// The data that an access to a cell or an atomic outside of blocks is made from, as far as the log does not have it.
#[derive(Clone, Copy)]
pub(super) struct Made {
    /// The address of the source place; 0 for other operations.
    site: usize,
    owner: Owner,
    size: usize,
    does: Does,
}

impl Made {
    /// The value for other operations.
    pub(super) const OTHERWISE: Made = Made {
        site: 0,
        owner: Owner::Unknown,
        size: 0,
        does: Does::Read,
    };

    #[inline(always)]
    pub(super) fn of(access: &DataAccess) -> Made {
        Made {
            site: access.site.word(),
            owner: access.owner,
            size: access.size,
            does: access.does,
        }
    }

    #[inline(always)]
    fn is_of(&self, access: &DataAccess) -> bool {
        self.site == access.site.word()
            && self.owner == access.owner
            && self.does == access.does
            && self.size == access.size
    }
}

impl Log {
    /// Begins the next execution.
    pub(super) fn begin(&mut self) {
        self.told.begin();
        self.made.truncate(self.told.expected_len());
    }

    /// Adds the next operation.
    #[inline(always)]
    pub(super) fn push(&mut self, event: MemoryEvent, made: Made) {
        let at = self.told.len();
        if self.told.push(event) {
            self.made[at] = made;
        } else {
            self.made.truncate(at);
            self.made.push(made);
        }
    }

    /// Adds the access that is expected next, if it is this one, to this location. Returns `true` if it is.
    #[inline(always)]
    pub(super) fn push_again(
        &mut self,
        access: &DataAccess,
        after: EventId,
        events: usize,
        location: Location,
    ) -> bool {
        let (Some(told), Some(made)) = (self.told.expected(), self.made.get(self.told.len())) else {
            return false;
        };
        let is_like = |known: &DataVarAccess| known.after == after && known.location == location;
        let again = told.events == events
            && matches!(&told.what, MemoryDeed::Access(known) if is_like(known))
            && made.is_of(access);
        if again {
            self.told.push_expected();
        }
        again
    }

    /// Notes that the execution has ended.
    pub(super) fn end(&mut self) {
        self.told.end();
        self.made.truncate(self.told.len());
    }

    /// Drops the log, because it takes too much memory.
    #[cold]
    pub(super) fn drop_all(&mut self) {
        self.told.drop_all();
        self.made.clear();
    }

    /// Returns the operations so far.
    pub(super) fn as_slice(&self) -> &[MemoryEvent] {
        self.told.as_slice()
    }

    /// Returns the number of operations so far.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.told.len()
    }

    /// Returns the number of operations, from the first, that are as in the execution before.
    pub(super) fn same(&self) -> usize {
        self.told.same()
    }
}
