//! Segment trees of the check of stacks: gaps by the number of values that cover them, and operations that wait for a
//! gap.

use super::time::{Moment, Placed};

/// Beyond every count: the gap was found before.
const FOUND: i32 = i32::MAX / 2;

/// The number of values that cover each gap, while values are removed.
pub(super) struct Coverage {
    /// Leaves from `size` on. For an inner node: the least count below it, without the subtractions further up.
    least: Vec<i32>,
    /// The subtraction for everything below a node.
    off: Vec<i32>,
    size: usize,
}

impl Coverage {
    /// Creates gaps with these counts.
    pub(super) fn new(counts: impl Iterator<Item = i32>, gaps: Moment) -> Coverage {
        let size = (gaps as usize).max(1).next_power_of_two();
        let mut least = vec![FOUND; 2 * size];
        for (leaf, count) in least[size..].iter_mut().zip(counts) {
            *leaf = count;
        }
        for node in (1..size).rev() {
            least[node] = least[2 * node].min(least[2 * node + 1]);
        }
        Coverage {
            least,
            off: vec![0; 2 * size],
            size,
        }
    }

    /// Removes one value from the cover of the gaps between two moments.
    pub(super) fn uncover(&mut self, from: Moment, until: Moment) {
        let (mut left, mut right) = (from as usize + self.size, until as usize + self.size);
        let (first, last) = (left, right - 1);
        while left < right {
            if left % 2 == 1 {
                self.take_off(left);
                left += 1;
            }
            if right % 2 == 1 {
                right -= 1;
                self.take_off(right);
            }
            left /= 2;
            right /= 2;
        }
        self.refresh(first);
        self.refresh(last);
    }

    fn take_off(&mut self, node: usize) {
        self.least[node] -= 1;
        self.off[node] += 1;
    }

    fn refresh(&mut self, leaf: usize) {
        let mut node = leaf / 2;
        while node > 0 {
            self.least[node] = self.least[2 * node].min(self.least[2 * node + 1]) - self.off[node];
            node /= 2;
        }
    }

    /// Returns a gap that at most one value covers, and its count; each gap once.
    pub(super) fn find(&mut self) -> Option<(Moment, i32)> {
        let count = self.least[1];
        if count > 1 {
            return None;
        }
        let mut node = 1;
        while node < self.size {
            node *= 2;
            if self.least[node] > self.least[node + 1] {
                node += 1;
            }
        }
        self.least[node] = FOUND;
        self.refresh(node);
        Some(((node - self.size) as Moment, count))
    }
}

/// The values that cover a gap, combined such that for a single one it is the number itself.
pub(super) struct Coverers {
    /// A Fenwick tree of exclusive ors of numbers, at the moments at which they begin and end.
    tree: Vec<u32>,
}

impl Coverers {
    pub(super) fn new(gaps: Moment) -> Coverers {
        Coverers {
            tree: vec![0; gaps as usize + 2],
        }
    }

    /// Adds the value to the cover of the gaps between two moments, or removes it.
    pub(super) fn toggle(&mut self, value: u32, from: Moment, until: Moment) {
        for at in [from, until] {
            let mut at = at as usize + 1;
            while at < self.tree.len() {
                self.tree[at] ^= value;
                at += at & at.wrapping_neg();
            }
        }
    }

    /// Returns the one value that covers a gap.
    pub(super) fn only(&self, gap: Moment) -> u32 {
        let mut at = gap as usize + 1;
        let mut value = 0;
        while at > 0 {
            value ^= self.tree[at];
            at &= at - 1;
        }
        value
    }
}

/// Operations that wait for a gap in which they may take effect.
pub(super) struct Waiting {
    /// The call of each operation, in order (within the range of one search).
    calls: Vec<Moment>,
    /// The latest return below a node; 0 where nothing waits any more.
    latest: Vec<Moment>,
    size: usize,
}

impl Waiting {
    pub(super) fn new(operations: impl Iterator<Item = Placed>) -> Waiting {
        let (calls, returns): (Vec<Moment>, Vec<Moment>) = operations.map(|at| (at.call, at.ret)).unzip();
        let size = calls.len().max(1).next_power_of_two();
        let mut latest = vec![0; 2 * size];
        latest[size..size + returns.len()].copy_from_slice(&returns);
        for node in (1..size).rev() {
            latest[node] = latest[2 * node].max(latest[2 * node + 1]);
        }
        Waiting { calls, latest, size }
    }

    /// Takes out one of the operations `among` that overlaps the gap.
    pub(super) fn overlapping(&mut self, among: std::ops::Range<usize>, gap: Moment) -> Option<usize> {
        let end = among.start + self.calls[among.clone()].partition_point(|&call| call <= gap);
        let found = self.latest_in(among.start, end, gap)?;
        self.remove(found);
        Some(found)
    }

    /// Returns an operation in a range that returns after a moment.
    fn latest_in(&self, start: usize, end: usize, after: Moment) -> Option<usize> {
        let (mut left, mut right) = (start + self.size, end + self.size);
        let mut node = 0;
        while left < right && node == 0 {
            if left % 2 == 1 {
                if self.latest[left] > after {
                    node = left;
                }
                left += 1;
            }
            if right % 2 == 1 && node == 0 {
                right -= 1;
                if self.latest[right] > after {
                    node = right;
                }
            }
            left /= 2;
            right /= 2;
        }
        if node == 0 {
            return None;
        }
        while node < self.size {
            node *= 2;
            if self.latest[node] <= after {
                node += 1;
            }
        }
        Some(node - self.size)
    }

    /// Marks an operation as no longer waiting.
    pub(super) fn remove(&mut self, operation: usize) {
        let mut node = operation + self.size;
        self.latest[node] = 0;
        while node > 1 {
            node /= 2;
            self.latest[node] = self.latest[2 * node].max(self.latest[2 * node + 1]);
        }
    }
}
