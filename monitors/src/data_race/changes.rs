//! The changes to the memory's histories by accesses.

use super::shadow::Before;

/// The changes to the memory's histories by accesses, so that they can be undone.
#[derive(Debug)]
pub(super) struct Changes {
    pub(super) list: Vec<Change>,
    /// The number of the current access; `NEVER` if those of this execution cannot be undone.
    pub(super) now: u32,
    /// No access before this one can be undone.
    pub(super) first: u32,
}

/// The number of accesses that cannot be undone.
pub(super) const NEVER: u32 = u32::MAX;

/// The stretch that stands for all of a location.
pub(super) const WHOLE: u32 = u32::MAX;

/// The stretch of a plain access to an atomic, whose variable has the place of the location.
pub(super) const PLAIN: u32 = u32::MAX - 1;

/// The change of one access.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) access: u32,
    pub(super) location: u32,
    /// The index of the changed stretch; `WHOLE` if the access changed all of the location, `PLAIN` if it changed an
    /// atomic's plain accesses.
    pub(super) stretch: u32,
    pub(super) before: Before,
}

impl Default for Changes {
    fn default() -> Changes {
        Changes {
            list: Vec::new(),
            now: NEVER,
            first: 0,
        }
    }
}

impl Changes {
    #[inline(always)]
    pub(super) fn add(&mut self, location: usize, stretch: u32, before: Before) {
        if self.now != NEVER {
            self.list.push(Change {
                access: self.now,
                location: location as u32,
                stretch,
                before,
            });
        }
    }

    /// Marks the current access as one that cannot be undone.
    #[cold]
    pub(super) fn skip(&mut self) {
        if self.now != NEVER {
            self.list.clear();
            self.first = self.now + 1;
        }
    }

    pub(super) fn forget(&mut self) {
        self.list.clear();
        (self.now, self.first) = (NEVER, 0);
    }
}
