//! What was done with plain memory, kept for monitors that are told of it when the execution is over.

use super::memory::{DataAccess, Does, Owner};
use super::repeated::Repeated;
use intermezzo_sdk::{EventId, Location, MemoryDeed, MemoryEvent, TaskId};

/// What was done with plain memory, and what it was made of: where an access is made of the same as in the execution
/// before, nothing has to be made.
#[derive(Default)]
pub(super) struct Log {
    told: Repeated<MemoryEvent>,
    /// For each that is told, and those of the execution before.
    made: Vec<Made>,
}

/// What an access to a cell or an atomic outside of blocks is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Made {
    /// The address of the source place; 0 for what is no such access.
    site: usize,
    address: usize,
    size: usize,
    /// Number of visible operations before it.
    events: usize,
    after: EventId,
    owner: Owner,
    does: Does,
}

impl Made {
    /// Of what the log does not say.
    pub(super) const OTHERWISE: Made = Made {
        site: 0,
        address: 0,
        size: 0,
        events: 0,
        after: EventId {
            task: TaskId(0),
            index: 0,
        },
        owner: Owner::Unknown,
        does: Does::Read,
    };

    #[inline(always)]
    pub(super) fn of(access: &DataAccess, after: EventId, events: usize) -> Made {
        Made {
            site: std::ptr::from_ref(access.site).addr(),
            address: access.address,
            size: access.size,
            events,
            after,
            owner: access.owner,
            does: access.does,
        }
    }
}

impl Log {
    /// The next execution begins.
    pub(super) fn begin(&mut self) {
        self.told.begin();
        self.made.truncate(self.told.expected_len());
    }

    /// Adds what is done next.
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

    /// Adds the access that is expected next, if it is made of this and to this location. Whether it is.
    #[inline(always)]
    pub(super) fn push_again(&mut self, made: &Made, location: Location) -> bool {
        let again = self.made.get(self.told.len()) == Some(made)
            && matches!(self.told.expected(), Some(MemoryEvent { what: MemoryDeed::Access(access), .. })
                if access.location == location);
        if again {
            self.told.push_expected();
        }
        again
    }

    /// The execution is over.
    pub(super) fn end(&mut self) {
        self.told.end();
        self.made.truncate(self.told.len());
    }

    /// Drops what there is, as it takes too much room.
    #[cold]
    pub(super) fn drop_all(&mut self) {
        self.told.drop_all();
        self.made.clear();
    }

    /// What was done so far.
    pub(super) fn as_slice(&self) -> &[MemoryEvent] {
        self.told.as_slice()
    }

    /// How many things were done so far.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.told.len()
    }

    /// How many of them, from the first, are as in the execution before.
    pub(super) fn same(&self) -> usize {
        self.told.same()
    }
}
