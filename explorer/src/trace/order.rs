//! The order itself: clocks, and questions about steps.

use super::{NONE, Trace, conflict};

/// Vector clocks, one row per entry, in one piece.
#[derive(Default)]
pub(super) struct Clocks {
    rows: Vec<u32>,
    /// Length of a row: at least the number of tasks.
    width: usize,
}

impl Clocks {
    /// Adds the row of a new entry, the `local`-th of its task, which comes after the entry `before` (or none).
    #[inline(always)]
    pub(super) fn push_after(&mut self, before: u32, task: u32, local: u32) {
        let at = self.rows.len();
        if before == NONE {
            self.rows.resize(at + self.width, 0);
        } else {
            // Rows are short: a copy word by word beats a call.
            let from = before as usize * self.width;
            self.rows.resize(at + self.width, 0);
            let (rows, row) = self.rows.split_at_mut(at);
            for (new, old) in row.chunks_exact_mut(4).zip(rows[from..].chunks_exact(4)) {
                new.copy_from_slice(old);
            }
        }
        self.rows[at + task as usize] = local;
    }

    /// All before `earlier`, and that itself, is before `entry`.
    #[inline(always)]
    pub(super) fn join(&mut self, entry: u32, earlier: u32) {
        let at = entry as usize * self.width;
        let (head, row) = self.rows.split_at_mut(at);
        let from = earlier as usize * self.width;
        let other = &head[from..from + self.width];
        for (mine, theirs) in row.chunks_exact_mut(4).zip(other.chunks_exact(4)) {
            for (mine, theirs) in mine.iter_mut().zip(theirs) {
                *mine = (*mine).max(*theirs);
            }
        }
    }

    /// As `join`, wherever the two are.
    pub(super) fn merge(&mut self, entry: u32, other: u32) {
        for at in 0..self.width {
            let theirs = self.rows[other as usize * self.width + at];
            let mine = &mut self.rows[entry as usize * self.width + at];
            *mine = (*mine).max(theirs);
        }
    }

    /// How many entries of a task are before an entry, or are it.
    #[inline(always)]
    pub(super) fn of(&self, entry: u32, task: u32) -> u32 {
        self.rows[entry as usize * self.width + task as usize]
    }

    /// Keeps the first `entries` rows.
    #[inline(always)]
    pub(super) fn truncate(&mut self, entries: usize) {
        self.rows.truncate(entries * self.width);
    }

    /// Makes rows long enough for so many tasks.
    pub(super) fn widen(&mut self, tasks: usize, entries: usize) {
        if tasks <= self.width {
            return;
        }
        let width = tasks.next_power_of_two().max(4);
        let mut rows = Vec::with_capacity(entries * width + self.rows.capacity());
        if self.width > 0 {
            for row in self.rows.chunks_exact(self.width) {
                rows.extend_from_slice(row);
                rows.resize(rows.len() + width - self.width, 0);
            }
        }
        (self.rows, self.width) = (rows, width);
    }
}

impl Trace {
    /// Whether an entry happened before another, or is it.
    #[inline(always)]
    pub(super) fn known(&self, earlier: u32, later: u32) -> bool {
        later != NONE && {
            let earlier = &self.entries[earlier as usize];
            self.clocks.of(later, earlier.task) >= earlier.local
        }
    }

    /// Whether a step would still have to come before a later one that is done without waiting for whatever it came after
    /// in the meantime: it belongs to the same task, or that knew of it, or it touches the same.
    pub(crate) fn precedes_anew(&self, earlier: usize, later: usize) -> bool {
        let (a, b) = (&self.steps[earlier], &self.steps[later]);
        let begins = a.stands != NONE && a.stands >= a.entries;
        let knew = match self.entries.get(b.stands as usize) {
            Some(entry) if b.stands >= b.entries => entry.before,
            _ => b.stands,
        };
        a.task == b.task
            || begins && self.known(a.stands, knew)
            || conflict(&self.could_touch(earlier), &self.could_touch(later))
    }

    /// Whether a step has to come before a later one, in every execution of the trace: it belongs to the same task, or
    /// what it began with happened before what the other began with.
    #[inline(always)]
    pub(crate) fn precedes(&self, earlier: usize, later: usize) -> bool {
        let (a, b) = (&self.steps[earlier], &self.steps[later]);
        if a.task == b.task {
            return true;
        }
        // A step that begins with nothing that others may notice orders nothing.
        let begins = a.stands != NONE && a.stands >= a.entries;
        begins && b.stands != NONE && self.known(a.stands, b.stands)
    }
}

#[cfg(test)]
impl Trace {
    /// Whose each entry is.
    pub(crate) fn tasks_of_entries(&self) -> Vec<u32> {
        self.entries.iter().map(|entry| entry.task).collect()
    }

    /// Whether an entry happened before another, or is it.
    pub(crate) fn entry_precedes(&self, earlier: usize, later: usize) -> bool {
        self.known(earlier as u32, later as u32)
    }
}
