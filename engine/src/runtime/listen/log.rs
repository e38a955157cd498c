//! What was done with plain memory, kept for monitors that are told of it when the execution is over.

use super::memory::{DataAccess, Does, Owner};
use super::repeated::Repeated;
use intermezzo_sdk::{DataVarAccess, EventId, Location, MemoryDeed, MemoryEvent};

/// What was done with plain memory, and what it was made of: where an access is made of the same as in the execution
/// before, nothing has to be made.
#[derive(Default)]
pub(super) struct Log {
    told: Repeated<MemoryEvent>,
    /// For each that is told, and those of the execution before.
    made: Vec<Made>,
}

/// What an access to a cell or an atomic outside of blocks is made of, as far as the log does not say.
#[derive(Clone, Copy)]
pub(super) struct Made {
    /// The address of the source place; 0 for what is no such access.
    site: usize,
    owner: Owner,
    size: usize,
    does: Does,
}

impl Made {
    /// Of what is no such access.
    pub(super) const OTHERWISE: Made = Made {
        site: 0,
        owner: Owner::Unknown,
        size: 0,
        does: Does::Read,
    };

    #[inline(always)]
    pub(super) fn of(access: &DataAccess) -> Made {
        Made {
            site: std::ptr::from_ref(access.site).addr(),
            owner: access.owner,
            size: access.size,
            does: access.does,
        }
    }

    #[inline(always)]
    fn is_of(&self, access: &DataAccess) -> bool {
        self.site == std::ptr::from_ref(access.site).addr()
            && self.owner == access.owner
            && self.does == access.does
            && self.size == access.size
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

    /// Adds the access that is expected next, if it is this one, to this location. Whether it is.
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
