//! The happens-before order: clocks, and queries about steps.

use super::{KeyAccess, NONE, NOTHING, Step, StepAccess, Trace, conflict};
use intermezzo_sdk::SyncVarOp;

/// Vector clocks, one row per entry, in one allocation. A row is overwritten when its entry is undone and another takes
/// its place.
#[derive(Default)]
pub(super) struct Clocks {
    /// The rows, four tasks at a time.
    rows: Vec<[u32; 4]>,
    /// The length of a row: at least the number of tasks, in units of four.
    width: usize,
}

impl Clocks {
    /// Adds the row of an entry, the `index`-th of its task, which comes after the entry `before`, if there is one.
    #[inline(always)]
    pub(super) fn add_after(&mut self, entry: u32, before: u32, task: u32, index: u32) {
        let at = entry as usize * self.width;
        if self.rows.len() < at + self.width {
            self.grow();
        }
        match self.width {
            1 => self.copy_row::<1>(entry, before),
            2 => self.copy_row::<2>(entry, before),
            _ => self.copy_long_row(entry, before),
        }
        self.rows.as_flattened_mut()[4 * at + task as usize] = index;
    }

    /// Makes the row of an entry equal to that of `before`, or fills it with zeros. Most rows are short, and copying a
    /// row of a known length takes only a few instructions.
    #[inline(always)]
    fn copy_row<const WIDTH: usize>(&mut self, entry: u32, before: u32) {
        let (rows, _) = self.rows.as_chunks_mut::<WIDTH>();
        rows[entry as usize] = match before {
            NONE => [[0; 4]; WIDTH],
            before => rows[before as usize],
        };
    }

    #[inline(never)]
    fn copy_long_row(&mut self, entry: u32, before: u32) {
        let (at, width) = (entry as usize * self.width, self.width);
        if before == NONE {
            self.rows[at..at + width].fill([0; 4]);
        } else {
            let from = before as usize * width;
            self.rows.copy_within(from..from + width, at);
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let length = (2 * self.rows.len()).max(64 * self.width);
        self.rows.resize(length, [0; 4]);
    }

    /// Orders `earlier`, and all entries before it, before `entry`, which was added later.
    #[inline(always)]
    pub(super) fn join(&mut self, entry: u32, earlier: u32) {
        match self.width {
            1 => self.join_row::<1>(entry, earlier),
            2 => self.join_row::<2>(entry, earlier),
            _ => self.merge(entry, earlier),
        }
    }

    #[inline(always)]
    fn join_row<const WIDTH: usize>(&mut self, entry: u32, earlier: u32) {
        let (rows, _) = self.rows.as_chunks_mut::<WIDTH>();
        let theirs = rows[earlier as usize];
        for (mine, theirs) in rows[entry as usize].iter_mut().zip(theirs) {
            *mine = latest(*mine, theirs);
        }
    }

    /// Like `join`, but in any order of the two.
    #[inline(never)]
    pub(super) fn merge(&mut self, entry: u32, other: u32) {
        for at in 0..self.width {
            let theirs = self.rows[other as usize * self.width + at];
            let mine = &mut self.rows[entry as usize * self.width + at];
            *mine = latest(*mine, theirs);
        }
    }

    /// Returns the number of entries of a task that are before an entry, or are that entry.
    #[inline(always)]
    pub(super) fn of(&self, entry: u32, task: u32) -> u32 {
        self.rows.as_flattened()[4 * self.width * entry as usize + task as usize]
    }

    /// Returns `true` if an entry happens after `earlier`, or is the same; `false` if there is no entry.
    #[inline(always)]
    pub(super) fn knows(&self, entry: u32, earlier: &KeyAccess) -> bool {
        entry != NONE && self.of(entry, earlier.task) >= earlier.index
    }

    /// Returns for each task the number of its entries that are before an entry, or are that entry; an empty row for no
    /// entry.
    #[inline(always)]
    pub(super) fn row(&self, entry: u32) -> &[[u32; 4]] {
        if entry == NONE {
            return &[];
        }
        &self.rows[entry as usize * self.width..][..self.width]
    }

    /// Returns `true` if the first entry of a step is before an entry, or is the same; `false` if either is missing.
    #[inline(always)]
    fn has(&self, entry: u32, step: &Step) -> bool {
        entry != NONE && self.of(entry, step.task) >= step.index
    }

    /// Makes the rows of the first `entries` entries long enough for `tasks` tasks.
    pub(super) fn widen(&mut self, tasks: usize, entries: usize) {
        let width = tasks.next_power_of_two().div_ceil(4);
        if width <= self.width {
            return;
        }
        let mut rows = Vec::new();
        if self.width > 0 {
            for row in self.rows.chunks_exact(self.width).take(entries) {
                rows.extend_from_slice(row);
                rows.resize(rows.len() + width - self.width, [0; 4]);
            }
        }
        (self.rows, self.width) = (rows, width);
    }
}

/// Returns the larger of each pair.
#[inline(always)]
fn latest(mine: [u32; 4], theirs: [u32; 4]) -> [u32; 4] {
    std::array::from_fn(|task| mine[task].max(theirs[task]))
}

impl Trace {
    /// Returns `true` if `earlier` happened before `later`, or is the same entry.
    #[inline(always)]
    pub(super) fn known(&self, earlier: u32, later: u32) -> bool {
        later != NONE && {
            let earlier = &self.entries[earlier as usize];
            self.clocks.of(later, earlier.task) >= earlier.index
        }
    }

    /// Returns `true` if an entry comes after all accesses to a key that do not commute with this one.
    pub(super) fn knows_all(&self, entry: u32, access: StepAccess) -> bool {
        let list = self.keys.get(access.key.index()).map_or(&[][..], |key| &key[..]);
        list.iter()
            .filter(|earlier| !earlier.class.commutes(access.class))
            .all(|earlier| self.clocks.of(entry, earlier.task) >= earlier.index)
    }

    /// Returns `true` if this entry or a later one made the last access to a key.
    pub(super) fn is_accessed_from(&self, key: usize, entry: u32) -> bool {
        self.keys[key].last().is_some_and(|last| last.entry >= entry)
    }

    /// Returns `true` if an entry comes after all accesses of the group that ends a list, of which this is the last
    /// one.
    #[inline(always)]
    pub(super) fn knows_group(&self, entry: u32, last: &KeyAccess, list: &[KeyAccess]) -> bool {
        // From the last one backwards: unknown accesses are usually at the end, and usually there is only one access.
        let others = &list[last.group as usize..list.len() - 1];
        self.clocks.knows(entry, last)
            && (others.is_empty() || others.iter().rev().all(|other| self.clocks.knows(entry, other)))
    }

    /// Returns for each task the number of its entries that happened before the previous entry of a step's task, or are
    /// that entry; empty if there is none.
    #[inline(always)]
    pub fn known_before(&self, step: usize) -> &[u32] {
        let step = &self.steps[step];
        let knew = match self.entries.get(step.stands as usize) {
            Some(entry) if step.index != NOTHING => entry.before,
            _ => step.stands,
        };
        self.clocks.row(knew).as_flattened()
    }

    /// Returns `true` if two steps are dependent by their footprints.
    #[inline(always)]
    pub fn could_conflict(&self, one: usize, other: usize) -> bool {
        if self.elided.is_none() {
            return conflict(self.footprint(one), self.footprint(other));
        }
        conflict(
            &self.footprint_with_elided(one),
            &self.footprint_with_elided(other),
        )
    }

    /// Returns `true` if a step precedes a later one in every execution of the trace: it belongs to the same task, or
    /// its first entry happened before the first entry of the other.
    #[inline(always)]
    pub fn precedes(&self, earlier: usize, later: usize) -> bool {
        let (a, b) = (&self.steps[earlier], &self.steps[later]);
        a.task == b.task || self.clocks.has(b.stands, a)
    }

    /// Returns for each task the number of its entries that precede a step, or are the entry that represents it; empty
    /// if there is no such entry.
    #[inline(always)]
    pub fn known_by(&self, step: usize) -> &[u32] {
        self.clocks.row(self.steps[step].stands).as_flattened()
    }

    /// Returns the tasks that have entries, each with a number that identifies it in every execution. It stands for the
    /// task's creator, and its index among the creator's tasks.
    pub fn lineages(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let tasks = self.tasks.iter().enumerate();
        tasks
            .filter(|(_, task)| task.head != NONE)
            .map(|(number, task)| (number, task.lineage))
    }

    /// Returns `true` if some task may have performed its first operation in this step or a later one.
    pub fn has_tasks_from(&self, step: usize) -> bool {
        self.newest as usize >= step
    }

    /// Returns `true` if a step only stored a value, and accessed nothing else: then its task has learned nothing.
    pub fn is_store(&self, step: usize) -> bool {
        let from = self.steps[step].entries as usize;
        let next = self.steps.get(step + 1);
        let end = next.map_or(self.entries.len(), |next| next.entries as usize);
        let stores = matches!(&self.entries[from..end], [entry] if entry.op == SyncVarOp::AtomicStore);
        stores && self.footprint(step).len() == 1
    }

    /// Computes for each task a lower bound on the number of its entries that precede each of the steps from `from` to
    /// `steps`.
    pub fn known_to_all(&self, from: usize, steps: usize, least: &mut Vec<[u32; 4]>) {
        least.clear();
        least.resize(self.clocks.width, [u32::MAX; 4]);
        let mut seen = 0_u64;
        for step in self.steps.get(from..steps).unwrap_or_default() {
            // The task's later steps know at least as much.
            let bit = 1_u64.checked_shl(step.task).unwrap_or(0);
            if seen & bit != 0 {
                continue;
            }
            seen |= bit;
            let row = self.clocks.row(step.stands);
            if row.is_empty() {
                least.fill([0; 4]);
                return;
            }
            for (least, known) in least.iter_mut().zip(row) {
                *least = std::array::from_fn(|task| least[task].min(known[task]));
            }
        }
    }

    /// Returns `true` if each of the later steps with that bound has to come after this one. Returns `None` if the
    /// bound does not decide it.
    #[inline(always)]
    pub fn is_known_to_all(&self, step: usize, least: &[[u32; 4]]) -> Option<bool> {
        let Step { task, index, .. } = self.steps[step];
        (index != NOTHING).then(|| least.as_flattened()[task as usize] >= index)
    }

    /// Calls `each` with the steps from `from` on and below `steps` that need not come after `earlier`.
    #[inline(always)]
    pub fn for_each_independent(
        &self,
        earlier: usize,
        from: usize,
        steps: usize,
        mut each: impl FnMut(usize, &Step),
    ) {
        self.for_each_after(earlier, from, steps, |number, step, is_independent| {
            if is_independent {
                each(number, step);
            }
        });
    }

    /// Calls `each` with the steps from `from` on and below `steps`, and with `true` if the step need not come after
    /// `earlier`.
    #[inline(always)]
    pub fn for_each_after(
        &self,
        earlier: usize,
        from: usize,
        steps: usize,
        mut each: impl FnMut(usize, &Step, bool),
    ) {
        let a = &self.steps[earlier];
        for (number, b) in (from..).zip(&self.steps[from..steps.max(from)]) {
            let is_unknown = b.stands == NONE || self.clocks.of(b.stands, a.task) < a.index;
            each(number, b, (a.task != b.task) & is_unknown);
        }
    }
}

impl Trace {
    /// Returns the task of each entry.
    pub fn tasks_of_entries(&self) -> Vec<u32> {
        self.entries.iter().map(|entry| entry.task).collect()
    }

    /// Returns `true` if `earlier` happened before `later`, or is the same entry.
    pub fn entry_precedes(&self, earlier: usize, later: usize) -> bool {
        self.known(earlier as u32, later as u32)
    }
}
