//! Handles that may be counted too late: after the last handle was dropped, in another order of the same steps.
//!
//! Increments and decrements of a count commute, so a search explores one order of them. That is enough as long as
//! tasks clone handles that exist, because then the count is not 0 before an increment, in any order. A task that
//! clones by a raw pointer may have no handle. If another task drops the last one first, the clone uses freed memory.
//! That order is another trace, but no race leads to it. So the trace notes that there may be one, and `caching`, which
//! plans nothing, takes over.
//!
//! Consider the changes of a count up to some point of an execution, and an increment among them. In another order it
//! may come right after any set of changes that contains all changes before it in the happens-before relation, and
//! with each change those before that change, but not itself. The question is if the count may be 0 after such a set.
//! Let R be the other changes. The count after the set is the count after all changes, less the increments in R, plus
//! the decrements in R. So the largest difference of increments and decrements in R is needed, where R contains with
//! each change those after it. This is the number of increments that remain if as many as possible are matched, each
//! with a decrement of its own after it (Picard, "Maximal closure of a graph and applications to combinatorial
//! problems", Management Science 22, 1976).
//!
//! An increment in the step in which its task has just read the count belongs to `Weak::upgrade` or `Arc::downgrade`.
//! If the count is 0, there is no such increment. And the read does not commute with other changes, so their orders
//! are explored. `Arc::new_cyclic` increments a count that is 0 from the beginning.

use super::{Analysis, Key, NONE, SoundReduction, StepEnd, Trace};
use crate::record::Event;
use crate::site::Site;
use intermezzo_sdk::{SyncVar, SyncVarOp};

/// A change of a count.
#[derive(Clone, Copy)]
struct Change {
    step: u32,
    entry: u32,
    task: u32,
    /// The index of the entry in its task.
    index: u32,
    key: Key,
    is_up: bool,
    /// `true` if it increments the count, whatever the count is.
    clones: bool,
    /// The count after it, without elided changes.
    count: u64,
    /// The last change of the same count before it, and the last one by another task, by their places in the list.
    before: u32,
    before_by_other: u32,
}

/// The changes of counts, in order.
#[derive(Default)]
pub(super) struct Changes {
    list: Vec<Change>,
    /// The place of the last change of each key; `NONE` if there is none.
    last: Vec<u32>,
    /// The operation because of which a handle may be counted too late, with its place.
    late: Option<(SyncVarOp, Site)>,
}

impl Changes {
    /// Undoes the changes of all steps but the first `steps`.
    pub(super) fn take_back_to(&mut self, steps: usize) {
        while let Some(change) = self.list.pop_if(|change| change.step as usize >= steps) {
            self.last[change.key.index()] = change.before;
        }
    }

    /// Adds a change of a count that was `read` by it, and returns it.
    fn add(&mut self, mut change: Change, read: u64) -> Change {
        let key = change.key.index();
        if key >= self.last.len() {
            self.last.resize(2 * key + 16, NONE);
        }
        change.before = self.last[key];
        let before = self.list.get(change.before as usize);
        change.before_by_other = match before {
            Some(before) if before.task == change.task => before.before_by_other,
            _ => change.before,
        };
        let count = before.map_or(read, |before| before.count);
        // A count that is locked, by the largest number, counts as one more.
        change.count = match change.is_up {
            true => count.saturating_add(1),
            false => count.saturating_sub(1),
        };
        self.last[key] = self.list.len() as u32;
        self.list.push(change);
        change
    }
}

impl Trace {
    /// Adds the changes of counts in the last step, and notes if a handle may be counted too late.
    #[inline(always)]
    pub(super) fn add_count_changes(&mut self, end: &StepEnd<'_>) {
        let is_needed = self.detail >= Analysis::Races && end.counts && self.sound < SoundReduction::Caching;
        if is_needed && end.events.iter().any(changes_count) {
            self.check_counts(end);
        }
    }

    /// Returns the operation because of which a handle may be counted too late, with its place, if there is one.
    pub fn late_count(&self) -> Option<(SyncVarOp, Site)> {
        self.changes.late
    }

    #[inline(never)]
    fn check_counts(&mut self, end: &StepEnd<'_>) {
        let step = self.steps.len() as u32 - 1;
        let changes = |op| matches!(op, SyncVarOp::CountUp | SyncVarOp::CountDown);
        let from = self.steps[step as usize].entries;
        let mut events = end.events.iter().filter(|event| changes_count(event));
        for entry in from..self.entries.len() as u32 {
            let own = self.entries[entry as usize];
            if !changes(own.op) {
                continue;
            }
            let Some(event) = events.next() else { return };
            let is_up = own.op == SyncVarOp::CountUp;
            let before = self.entries.get(own.before as usize);
            let has_read = own.before >= from
                && before.is_some_and(|before| (before.op, before.key) == (SyncVarOp::CountRead, own.key));
            let change = Change {
                step,
                entry,
                task: own.task,
                index: own.index,
                key: own.key,
                is_up,
                clones: is_up && !has_read && event.read != 0 && event.written == event.read.wrapping_add(1),
                count: 0,
                before: NONE,
                before_by_other: NONE,
            };
            let change = self.changes.add(change, event.read);
            if self.is_late(change) {
                self.only(SoundReduction::Caching);
                self.changes.late = Some((event.op, event.site));
            }
        }
    }

    /// Returns `true` if a handle may be counted too late in an order of the changes up to the last one.
    fn is_late(&self, last: Change) -> bool {
        let count = last.count;
        if last.is_up && !last.clones {
            return false;
        }
        let others = self.concurrent_changes(last);
        let ups = others.iter().filter(|other| other.is_up).count();
        let own = usize::from(last.is_up);
        // Usually the count is too large, or only the last handle's clones are concurrent, or each task keeps a handle.
        if ups + own == 0 || ((excess_by_task(&others) + own) as u64) < count {
            return false;
        }
        if ((self.excess(&others) + own) as u64) < count {
            return false;
        }
        let is_late = |up: &Change| {
            let left_out = others.iter().copied().filter(|other| other.entry != up.entry);
            let left_out = left_out.filter(|other| !self.known(other.entry, up.entry));
            let (after, free): (Vec<Change>, Vec<Change>) =
                left_out.partition(|other| self.known(up.entry, other.entry));
            let ups = 1 + after.iter().filter(|other| other.is_up).count();
            let downs = after.len() + 1 - ups;
            (ups + self.excess(&free)) as u64 >= count + downs as u64
        };
        match last.is_up {
            true => is_late(&last),
            false => others.iter().filter(|other| other.clones).any(is_late),
        }
    }

    /// Returns the changes of a count before its last change that did not happen before that.
    fn concurrent_changes(&self, last: Change) -> Vec<Change> {
        // What does not commute with the change happened before it, with all changes before.
        let list = self.keys[last.key.index()].iter().rev();
        let own = list.skip_while(|access| access.entry != last.entry);
        let group = own.map(|access| access.group as usize).next().unwrap_or(0);
        let first = self.keys[last.key.index()][group].entry;
        let mut found = Vec::new();
        let list = &self.changes.list;
        let mut at = list.last().map_or(NONE, |last| last.before_by_other);
        while let Some(change) = list.get(at as usize)
            && change.entry >= first
        {
            if self.clocks.of(last.entry, change.task) >= change.index {
                // So did all earlier changes by its task.
                at = change.before_by_other;
                continue;
            }
            found.push(*change);
            at = change.before;
            while let Some(own) = list.get(at as usize)
                && own.task == last.task
            {
                at = own.before_by_other;
            }
        }
        found
    }

    /// Returns the largest difference of increments and decrements among those of these changes that may come last
    /// together: with each change, they contain all of these that happened after it.
    fn excess(&self, changes: &[Change]) -> usize {
        let (ups, downs): (Vec<Change>, Vec<Change>) = changes.iter().partition(|change| change.is_up);
        let mut matched = vec![None; downs.len()];
        let alone = (0..ups.len()).filter(|&up| {
            let mut tried = vec![false; downs.len()];
            !self.is_matched(up, &ups, &downs, &mut matched, &mut tried)
        });
        alone.count()
    }

    /// Matches an increment with a decrement that happened after it, if there is an augmenting path.
    fn is_matched(
        &self,
        up: usize,
        ups: &[Change],
        downs: &[Change],
        matched: &mut [Option<usize>],
        tried: &mut [bool],
    ) -> bool {
        for (at, down) in downs.iter().enumerate() {
            if tried[at] || !self.known(ups[up].entry, down.entry) {
                continue;
            }
            tried[at] = true;
            let is_free = match matched[at] {
                None => true,
                Some(other) => self.is_matched(other, ups, downs, matched, tried),
            };
            if is_free {
                matched[at] = Some(up);
                return true;
            }
        }
        false
    }
}

/// Returns a bound of the largest difference of increments and decrements among those of these changes, the last one
/// first, that may come last together: the sum of the largest differences of each task. The bound takes much less time
/// than the matching.
fn excess_by_task(changes: &[Change]) -> usize {
    let mut tasks: Vec<(u32, i64, i64)> = Vec::new();
    for change in changes {
        let at = tasks.iter().position(|task| task.0 == change.task);
        let at = at.unwrap_or_else(|| {
            tasks.push((change.task, 0, 0));
            tasks.len() - 1
        });
        let (_, difference, largest) = &mut tasks[at];
        *difference += if change.is_up { 1 } else { -1 };
        *largest = (*largest).max(*difference);
    }
    tasks.iter().map(|task| task.2 as usize).sum()
}

/// Returns `true` if the event is an entry that changes a count.
fn changes_count(event: &Event) -> bool {
    matches!(event.op, SyncVarOp::CountUp | SyncVarOp::CountDown)
        && !event.elided
        && event.var != SyncVar::NONE.0
}
