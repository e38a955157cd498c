//! Lists of the things that an execution does. The next execution usually begins with the same entries.

/// A list whose entries stay when the next execution begins. They are compared with the new ones, and written only from
/// the first difference on. So the list knows how far two executions agree, without relying on what the search says
/// about that.
pub(super) struct Repeated<T> {
    /// The entries; those from `used` on belong to the execution before.
    entries: Vec<T>,
    used: usize,
    /// The maximum number of entries that may be the same as in the previous execution.
    same: usize,
    /// `true` if the execution has ended, so that `entries` is complete.
    is_over: bool,
    is_whole: bool,
}

impl<T> Default for Repeated<T> {
    fn default() -> Repeated<T> {
        Repeated {
            entries: Vec::new(),
            used: 0,
            same: 0,
            is_over: false,
            is_whole: true,
        }
    }
}

impl<T: Copy + PartialEq> Repeated<T> {
    /// Begins the next execution.
    pub(super) fn begin(&mut self) {
        // An execution that had no effect may have been begun twice.
        if !self.is_whole || self.used > 0 && !self.is_over {
            self.entries.clear();
        }
        self.same = self.entries.len();
        (self.used, self.is_over, self.is_whole) = (0, false, true);
    }

    /// Adds the next entry. Returns `true` if it is the same as in the previous execution.
    #[inline(always)]
    pub(super) fn push(&mut self, entry: T) -> bool {
        let as_before = self.expected().is_some_and(|known| *known == entry);
        if !as_before {
            self.differ();
            self.entries.push(entry);
        }
        self.used += 1;
        as_before
    }

    /// Returns the next entry of the previous execution, if everything was the same so far.
    #[inline(always)]
    pub(super) fn expected(&self) -> Option<&T> {
        self.entries.get(self.used)
    }

    /// Returns all remaining entries of the previous execution, if everything was the same so far.
    #[inline(always)]
    pub(super) fn expected_entries(&self) -> &[T] {
        &self.entries[self.used..]
    }

    /// Adds this many of the expected entries, which are known to be the next.
    #[inline(always)]
    pub(super) fn push_expected(&mut self, entries: usize) {
        debug_assert!(entries <= self.entries.len() - self.used);
        self.used += entries;
    }

    /// Adds entries when the execution already differs from the previous one, or if there are none.
    #[inline(always)]
    pub(super) fn push_all_new(&mut self, entries: impl ExactSizeIterator<Item = T>) {
        debug_assert!(self.used == self.entries.len() || entries.len() == 0);
        if entries.len() > 0 {
            self.entries.extend(entries);
            self.used = self.entries.len();
        }
    }

    /// Adds an entry, when nothing is expected.
    #[inline(always)]
    pub(super) fn push_new(&mut self, entry: T) {
        debug_assert_eq!(self.used, self.entries.len());
        self.entries.push(entry);
        self.used += 1;
    }

    /// Returns the list, to which entries may be added, since the execution differs from the one before from here on.
    /// `count_new` must follow.
    #[inline(always)]
    pub(super) fn new_entries(&mut self) -> &mut Vec<T> {
        self.differ();
        &mut self.entries
    }

    /// Counts the entries that were added.
    #[inline(always)]
    pub(super) fn count_new(&mut self) {
        self.used = self.entries.len();
    }

    /// Notes that from here on the execution differs from the one before.
    #[inline]
    pub(super) fn differ(&mut self) {
        self.same = self.same.min(self.used);
        self.entries.truncate(self.used);
    }

    /// Notes that the execution has ended.
    pub(super) fn end(&mut self) {
        self.differ();
        self.is_over = true;
    }

    /// Drops the list, because it takes too much memory.
    #[cold]
    pub(super) fn drop_all(&mut self) {
        self.entries.clear();
        (self.used, self.same, self.is_whole) = (0, 0, false);
    }

    /// Returns the entries so far.
    #[inline]
    pub(super) fn as_slice(&self) -> &[T] {
        &self.entries[..self.used]
    }

    /// Returns the number of entries so far.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.used
    }

    /// Returns the number of entries, from the first, that are as in the execution before.
    pub(super) fn same(&self) -> usize {
        self.same.min(self.used)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(list: &mut Repeated<u8>, entries: &[u8]) -> usize {
        list.begin();
        for &entry in entries {
            list.push(entry);
        }
        list.end();
        assert_eq!(list.as_slice(), entries);
        list.same()
    }

    #[test]
    fn what_begins_alike_is_counted() {
        let mut list = Repeated::default();
        assert_eq!(run(&mut list, &[1, 2, 3]), 0);
        assert_eq!(run(&mut list, &[1, 2, 3]), 3);
        assert_eq!(run(&mut list, &[1, 4, 3, 5]), 1);
        assert_eq!(run(&mut list, &[1, 4]), 2);
        assert_eq!(run(&mut list, &[1, 4, 3, 5]), 2);
        assert_eq!(run(&mut list, &[]), 0);
        assert_eq!(run(&mut list, &[1]), 0);
        list.begin();
        assert_eq!(run(&mut list, &[1, 2]), 1);
    }

    #[test]
    fn of_what_was_dropped_or_broken_off_nothing_is_known() {
        let mut list = Repeated::default();
        assert_eq!(run(&mut list, &[1, 2, 3]), 0);
        list.begin();
        list.push(1);
        list.drop_all();
        list.push(2);
        assert_eq!((list.same(), list.as_slice()), (0, &[2][..]));
        list.end();
        assert_eq!(run(&mut list, &[2]), 0);
        list.begin();
        list.push(2);
        assert_eq!(run(&mut list, &[2]), 0);
    }
}
