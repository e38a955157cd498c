//! A set of tasks: one word for the first 64, and more words only if there are more tasks.

/// A set of task numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskSet {
    /// Tasks 0 to 63.
    low: u64,
    /// Tasks from 64 on, 64 to a word; nothing is allocated while there are none.
    high: Vec<u64>,
}

impl TaskSet {
    /// Adds a task.
    #[inline(always)]
    pub fn insert(&mut self, task: u32) {
        if task < 64 {
            self.low |= 1 << task;
        } else {
            self.insert_high(task);
        }
    }

    #[cold]
    fn insert_high(&mut self, task: u32) {
        let word = task as usize / 64 - 1;
        if word >= self.high.len() {
            self.high.resize(word + 1, 0);
        }
        self.high[word] |= 1 << (task % 64);
    }

    /// Removes a task.
    #[inline(always)]
    pub fn remove(&mut self, task: u32) {
        if task < 64 {
            self.low &= !(1 << task);
        } else if let Some(word) = self.high.get_mut(task as usize / 64 - 1) {
            *word &= !(1 << (task % 64));
        }
    }

    /// Returns `true` if the task is in the set.
    #[inline(always)]
    pub fn contains(&self, task: u32) -> bool {
        if task < 64 {
            self.low >> task & 1 == 1
        } else {
            self.high
                .get(task as usize / 64 - 1)
                .is_some_and(|word| word >> (task % 64) & 1 == 1)
        }
    }

    /// Returns `true` if the set is empty.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.low == 0 && (self.high.is_empty() || self.high.iter().all(|&word| word == 0))
    }

    /// Returns the tasks below 64, as a word.
    #[inline(always)]
    pub fn low(&self) -> u64 {
        self.low
    }

    /// Returns the tasks below 64, as a word to change.
    #[inline(always)]
    pub(crate) fn low_mut(&mut self) -> &mut u64 {
        &mut self.low
    }

    /// Returns the first task whose number is at least `from`.
    #[inline(always)]
    pub(crate) fn first_from(&self, from: u32) -> Option<u32> {
        if from < 64 {
            let rest = self.low >> from;
            if rest != 0 {
                return Some(rest.trailing_zeros() + from);
            }
        }
        if self.high.is_empty() {
            None
        } else {
            self.first_high_from(from.max(64))
        }
    }

    /// Returns the first task whose number is at least `from`, which is at least 64.
    #[cold]
    fn first_high_from(&self, from: u32) -> Option<u32> {
        let begin = from as usize / 64 - 1;
        let mut words = self.high.iter().enumerate().skip(begin);
        words.find_map(|(at, &word)| {
            let skipped = if at == begin { from % 64 } else { 0 };
            let rest = word >> skipped << skipped;
            (rest != 0).then(|| (at as u32 + 1) * 64 + rest.trailing_zeros())
        })
    }

    /// Returns the tasks in the set whose numbers are at least `from`, in order.
    pub(crate) fn iter_from(&self, from: u32) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(self.first_from(from), |&task| self.first_from(task + 1))
    }

    /// Removes and returns the first task.
    #[inline(always)]
    pub fn pop_first(&mut self) -> Option<u32> {
        let first = self.first_from(0);
        if let Some(first) = first {
            self.remove(first);
        }
        first
    }

    /// Removes and returns the first task, if it is below 64.
    #[inline(always)]
    pub(crate) fn pop_low(&mut self) -> Option<u32> {
        let low = self.low;
        self.low = low & low.wrapping_sub(1);
        (low != 0).then(|| low.trailing_zeros())
    }

    /// Empties the set.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.low = 0;
        self.high.clear();
    }

    /// Makes the set equal to `other`.
    #[inline]
    pub(crate) fn copy_from(&mut self, other: &TaskSet) {
        self.low = other.low;
        if !(self.high.is_empty() && other.high.is_empty()) {
            self.high.clone_from(&other.high);
        }
    }

    /// Returns the tasks in the set, in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        std::iter::once(&self.low)
            .chain(&self.high)
            .zip(0..)
            .flat_map(|(&word, at)| Bits(word).map(move |bit| at * 64 + bit))
    }

    /// Adds all of `other`.
    pub(crate) fn union(&mut self, other: &TaskSet) {
        self.low |= other.low;
        if self.high.len() < other.high.len() {
            self.high.resize(other.high.len(), 0);
        }
        for (word, &with) in self.high.iter_mut().zip(&other.high) {
            *word |= with;
        }
    }

    /// Keeps only the tasks that are in `other` too.
    pub(crate) fn intersect(&mut self, other: &TaskSet) {
        self.low &= other.low;
        for (at, word) in self.high.iter_mut().enumerate() {
            *word &= other.high.get(at).copied().unwrap_or(0);
        }
    }

    /// Removes all of `other`.
    #[inline(always)]
    pub(crate) fn subtract(&mut self, other: &TaskSet) {
        self.low &= !other.low;
        for (word, &with) in self.high.iter_mut().zip(&other.high) {
            *word &= !with;
        }
    }

    /// Returns `true` if the two have a task in common.
    pub fn intersects(&self, other: &TaskSet) -> bool {
        self.low & other.low != 0 || self.high.iter().zip(&other.high).any(|(a, b)| a & b != 0)
    }
}

/// The positions of the ones in a word.
struct Bits(u64);

impl Iterator for Bits {
    type Item = u32;
    fn next(&mut self) -> Option<u32> {
        if self.0 == 0 {
            return None;
        }
        let bit = self.0.trailing_zeros();
        self.0 &= self.0 - 1;
        Some(bit)
    }
}

#[cfg(test)]
mod tests {
    use super::TaskSet;
    use quickcheck::quickcheck;
    use std::collections::BTreeSet;

    fn sets(tasks: &[u8]) -> (TaskSet, BTreeSet<u32>) {
        let mut set = TaskSet::default();
        let mut model = BTreeSet::new();
        for &task in tasks {
            set.insert(task.into());
            model.insert(task.into());
        }
        (set, model)
    }

    fn list(set: &TaskSet) -> Vec<u32> {
        set.iter().collect()
    }

    quickcheck! {
        fn agrees_with_a_tree_set(a: Vec<u8>, b: Vec<u8>, out: u8) -> bool {
            let ((a, in_a), (b, in_b)) = (sets(&a), sets(&b));
            let mut copy = b.clone();
            copy.copy_from(&a);
            let with = |f: fn(&mut TaskSet, &TaskSet)| { let mut c = a.clone(); f(&mut c, &b); list(&c) };
            let mut without = a.clone();
            without.remove(out.into());
            let from = u32::from(out);
            a.iter_from(from).collect::<Vec<_>>() == in_a.range(from..).copied().collect::<Vec<_>>()
                && list(&a) == in_a.iter().copied().collect::<Vec<_>>()
                && copy == a
                && a.contains(out.into()) == in_a.contains(&out.into())
                && a.is_empty() == in_a.is_empty()
                && list(&without) == in_a.iter().copied().filter(|&t| t != u32::from(out)).collect::<Vec<_>>()
                && with(TaskSet::union) == in_a.union(&in_b).copied().collect::<Vec<_>>()
                && with(TaskSet::intersect) == in_a.intersection(&in_b).copied().collect::<Vec<_>>()
                && with(TaskSet::subtract) == in_a.difference(&in_b).copied().collect::<Vec<_>>()
                && a.intersects(&b) != in_a.is_disjoint(&in_b)
        }
    }
}
