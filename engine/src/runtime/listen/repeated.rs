//! Lists of what an execution does, of which the next execution mostly begins with the same.

/// A list whose entries stay when the next execution begins: they are compared with what comes then, and written again
/// only from the first on that differs. So it is known how far two executions are alike, whatever chose the second: nothing
/// is taken on trust from the search.
pub(super) struct Repeated<T> {
    /// Those from `used` on are of the execution before.
    entries: Vec<T>,
    used: usize,
    /// No more entries than this are as in the execution before.
    same: usize,
    /// `true` if the execution is over, and `entries` are all that it did.
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
    /// The next execution begins.
    pub(super) fn begin(&mut self) {
        // One of which nothing came may have been begun twice.
        if !self.is_whole || self.used > 0 && !self.is_over {
            self.entries.clear();
        }
        self.same = self.entries.len();
        (self.used, self.is_over, self.is_whole) = (0, false, true);
    }

    /// Adds what happens next. Whether it is as before.
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

    /// What happens next, if it is as before.
    #[inline(always)]
    pub(super) fn expected(&self) -> Option<&T> {
        self.entries.get(self.used)
    }

    /// How many there are if all that is expected happens.
    pub(super) fn expected_len(&self) -> usize {
        self.entries.len()
    }

    /// Adds what was expected: it is known to happen.
    #[inline(always)]
    pub(super) fn push_expected(&mut self) {
        debug_assert!(self.used < self.entries.len());
        self.used += 1;
    }

    /// From here on the execution is another than the one before.
    #[inline]
    fn differ(&mut self) {
        self.same = self.same.min(self.used);
        self.entries.truncate(self.used);
    }

    /// The execution is over.
    pub(super) fn end(&mut self) {
        self.differ();
        self.is_over = true;
    }

    /// Drops what there is, as it takes too much room.
    #[cold]
    pub(super) fn drop_all(&mut self) {
        self.entries.clear();
        (self.used, self.same, self.is_whole) = (0, 0, false);
    }

    /// What happened so far.
    #[inline]
    pub(super) fn as_slice(&self) -> &[T] {
        &self.entries[..self.used]
    }

    /// How many there are so far.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.used
    }

    /// How many of them, from the first, are as in the execution before.
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
