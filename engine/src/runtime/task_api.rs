//! The interface of front ends to tasks: creation, results, panics.

use super::naming::site_name;
use super::stop::{PanicNote, Stop};
use super::teardown::quietly;
use super::{Engine, Runtime, panic_count};
use crate::record::{Access, WaitLimits, gate};
use crate::schedule::ChoiceKind;
use crate::site::Site;
use crate::trace::{Class, Key};
use intermezzo_sdk::SyncVarOp;
use std::sync::Arc;

/// The value recorded as written by a query about a task whose closure has returned, if the query does not find the
/// task ended.
pub const LATE: u64 = 1;

impl Engine {
    /// Gives the task that the current task creates next a stack of at least this size in bytes.
    pub fn want_stack(self, bytes: usize) {
        self.with(|rt| rt.tasks.want_stack(bytes));
    }

    /// Creates a task and returns its number. It runs once `fill` has put a closure in its room.
    ///
    /// # Safety
    /// As for `Room::fill`.
    pub unsafe fn fork<F: FnOnce() -> T, T>(self, name: Option<Arc<str>>, site: Site, closure: F) -> u32 {
        self.point(Access::nowhere(SyncVarOp::TaskFork, site));
        // SAFETY: as the caller says.
        unsafe { self.fork_now(name, site, closure) }
    }

    /// Creates tasks that are [symmetric](Self::symmetric), in one step, and returns their numbers.
    ///
    /// # Safety
    /// As for [`Self::fork`], for each of the closures.
    pub unsafe fn fork_symmetric<F: FnOnce() -> T, T>(self, site: Site, closures: Vec<F>) -> Vec<u32> {
        // One point for all: the first task must take no step before the group is declared.
        self.point(Access::nowhere(SyncVarOp::TaskFork, site));
        // SAFETY: as the caller says.
        let fork = |closure| unsafe { self.fork_now(None, site, closure) };
        let tasks: Vec<u32> = closures.into_iter().map(fork).collect();
        self.symmetric(&tasks);
        tasks
    }

    /// Creates a task without a schedule point before.
    ///
    /// # Safety
    /// As for [`Self::fork`].
    unsafe fn fork_now<F: FnOnce() -> T, T>(self, name: Option<Arc<str>>, site: Site, closure: F) -> u32 {
        let task = self.begin_fork(name, site);
        // SAFETY: as the caller says.
        self.with(|rt| unsafe { rt.tasks.room(task).fill(closure) });
        self.end_fork(task, site);
        task
    }

    /// Makes a task without a closure. Returns its number.
    #[inline(never)]
    fn begin_fork(self, name: Option<Arc<str>>, site: Site) -> u32 {
        if self.in_teardown() {
            // This counts as an operation. So a destructor cannot create tasks without limit.
            self.abandon_current();
        }
        let (created, limit) = self.with(|rt| (rt.tasks.created(), rt.limits.tasks));
        if created >= limit {
            self.end_with(|| Stop::TaskLimit {
                most: limit,
                site: site_name(site),
            });
        }
        // The entry keeps the name longer than the memory of the arena lasts.
        let name = match cfg!(feature = "unmodified") {
            true => name.map(|name| self.with(|_| Arc::from(&*name))),
            false => name,
        };
        self.with(|rt| rt.begin_after(rt.tasks.current(), None));
        match self.with(|rt| rt.new_task(name, site)) {
            Ok(task) => task,
            Err(error) => self.misuse(format!("no memory for the stack of task {created}: {error}")),
        }
    }

    /// Records that a task was created.
    #[inline(never)]
    fn end_fork(self, task: u32, site: Site) {
        self.commit(
            Access::new(SyncVarOp::TaskFork, self.task_var(task), site),
            u64::from(task),
            0,
        );
    }

    /// Returns the indices of the task's creators and its own, each among its creator's tasks: `1` for the first task
    /// of the execution, `2` for the first task that it creates, `2.1` for the first task that `2` creates.
    pub fn lineage(self, task: u32) -> String {
        self.with(|rt| {
            let mut numbers = Vec::new();
            let mut at = task;
            while at != 0 {
                let entry = &rt.tasks[at];
                let first = u32::from(entry.parent == 0);
                numbers.push((entry.ordinal + first).to_string());
                at = entry.parent;
            }
            if numbers.is_empty() {
                numbers.push("1".to_owned());
            }
            numbers.reverse();
            numbers.join(".")
        })
    }

    /// Returns a number less than 2^63 in place of [`Self::lineage`]: the first task's is 1, and those of the tasks
    /// that it creates follow. It depends neither on the execution nor on the order in which tasks of several creators
    /// were created.
    pub fn lineage_number(self, task: u32) -> u64 {
        self.with(|rt| lineage_number(|task| (rt.tasks[task].parent, rt.tasks[task].ordinal), task))
    }

    /// Returns the task whose lineage has this number, if there is one.
    pub fn task_of_lineage(self, number: u64) -> Option<u32> {
        self.with(|rt| {
            let creator = |task: u32| (rt.tasks[task].parent, rt.tasks[task].ordinal);
            rt.tasks
                .numbers()
                .find(|&task| lineage_number(creator, task) == number)
        })
    }

    /// Notes that a scope waits for the task. It waits for the task's closure, and not for its thread-locals: these are
    /// dropped by another task.
    pub fn note_scope(self, task: u32) {
        self.with_task(task, |entry| entry.in_scope = true);
    }

    /// Returns the task that drops the thread-local values of this one, which has ended, if that is another one.
    pub fn heir(self, task: u32) -> Option<u32> {
        self.with_task(task, |entry| entry.heir)
    }

    /// Returns the task that is the current thread for the test: the one whose thread-local values the current task
    /// drops, or the current task.
    pub fn thread(self) -> u32 {
        self.with(|rt| rt.tasks.current_task().heir_of.unwrap_or(rt.tasks.current()))
    }

    /// Takes and returns the result of a task that has ended.
    ///
    /// # Safety
    /// The task was forked, in this execution, with a closure that returns `T`.
    pub unsafe fn take_result<T>(self, task: u32) -> Option<std::thread::Result<T>> {
        // SAFETY: as the caller says.
        self.with(|rt| unsafe { rt.tasks.room(task).take() })
    }

    /// Queries whether a task has ended. Returns the answer; and `true` if the answer is late, because the task's
    /// closure has returned but the task was not found ended.
    ///
    /// The end of a task is not a step of its own: it belongs to the task's last operation. In reality it may happen at
    /// any later time, and a query can observe that. So each query about a task whose closure has returned is a choice,
    /// until one finds the task ended.
    pub fn look_for_end(self, task: u32) -> (bool, bool) {
        let may_be_late = self.with(|rt| {
            let entry = &rt.tasks[task];
            entry.over_at?;
            let surely = entry.found_ended || rt.limits.every_operation || rt.end.teardown;
            Some(!surely && rt.may_be_late(task))
        });
        let Some(may_be_late) = may_be_late else {
            return (false, false);
        };
        let late = may_be_late && self.choose(ChoiceKind::Ended, 2) == 1;
        self.with(|rt| {
            let passed = rt.tasks[task].passed_since_over > 0;
            if passed && may_be_late {
                rt.add_to_footprint(Key::TIMEOUTS, Class::Read);
            }
            let entry = &mut rt.tasks[task];
            entry.found_ended |= !late;
            if late && entry.passed_since_over > 0 {
                // Time passed before the end, so those time-outs were early.
                rt.world.late_timeouts_left -= std::mem::take(&mut entry.passed_since_over);
                rt.add_to_footprint(Key::TIMEOUTS, Class::Write);
            }
        });
        (!late, late)
    }

    /// Notes that there is no handle on the task any more. Its result is dropped now if its closure has returned, and
    /// otherwise when it returns.
    ///
    /// If the result's destructor panics, the execution fails, even if the caller would catch the panic: std aborts the
    /// process.
    pub fn detach(self, task: u32) {
        let has_result = self.with(|rt| {
            rt.tasks[task].detached = true;
            rt.tasks[task].over_at.is_some() && !rt.tasks.room(task).is_empty()
        });
        if !has_result {
            return;
        }
        let before = self.with(|rt| rt.end.panics.len());
        if quietly(|| self.drop_room(task)) {
            return;
        }
        // The execution may have ended while the destructor waited. Then this task is unwinding because of that.
        if self.in_teardown() {
            return self.go_on_unwinding();
        }
        self.with(|rt| rt.came_out(rt.tasks.current(), before));
        self.end_with(|| Stop::Panicked);
    }

    /// Does what [`detach`](Self::detach) does for a task whose result has a destructor, as a visible operation. Either
    /// this task or the other one runs the destructor: the one that releases the result last.
    ///
    /// The other one does so at its end, which is not a step of its own and may come at any later time. So if its
    /// closure has returned, there is a choice as in [`look_for_end`](Self::look_for_end). If the choice is that it
    /// runs the destructor later, a new task does so in its place. That task has no thread-local values. So there is no
    /// choice if the other task had some: it released its result in a step.
    pub fn detach_from_result(self, task: u32, site: Site) {
        if self.in_teardown() {
            return self.detach(task);
        }
        // The handles on a group are dropped one after the other.
        self.with(|rt| rt.world.capped.asymmetric |= rt.tasks[task].symmetric);
        let var = self.task_var(task);
        let access = Access::new(SyncVarOp::TaskCheck, var, site);
        self.enter(access);
        let (has_returned, had_locals) =
            self.with_task(task, |entry| (entry.over_at.is_some(), entry.had_locals));
        let (ended, late) = match had_locals {
            true => (has_returned, false),
            false => self.look_for_end(task),
        };
        self.commit(access, u64::from(ended), if late { LATE } else { 0 });
        let join = Access::new(SyncVarOp::TaskJoin, var, site);
        if ended {
            // The task that drops the result has synchronised with the other one.
            self.commit(join, u64::from(task), 0);
        }
        if !late {
            return self.detach(task);
        }
        self.with_task(task, |entry| entry.detached = true);
        let drops = move || {
            self.wait(join, var, gate::ENDED, WaitLimits::default());
            self.commit(join, u64::from(task), 0);
            self.drop_room(task);
        };
        // SAFETY: a scope waits for this task as for the one that it replaces; otherwise nothing is borrowed.
        let heir = unsafe { self.fork(None, site, drops) };
        self.with(|rt| {
            rt.tasks[task].result_heir = Some(heir);
            rt.stand_for(heir, task);
        });
    }

    /// Returns the task that drops the result of this one in its place, if there is one. Each is returned once.
    pub fn take_result_heir(self, task: u32) -> Option<u32> {
        self.with_task(task, |entry| entry.result_heir.take())
    }

    /// Returns `true` if a task that has ended left a result, and there is a handle on it.
    pub fn result_is_kept(self, task: u32) -> bool {
        self.with(|rt| {
            let kept = !rt.tasks[task].detached && rt.tasks.room(task).has_result();
            kept && !rt.end.teardown
        })
    }

    /// Drops the contents of a task's room.
    pub(super) fn drop_room(self, task: u32) {
        let content = self.with(|rt| {
            // Another task might have dropped it instead. Both orders are tried only for results with a destructor.
            let room = rt.tasks.room(task);
            let is_one_order = room.has_result() && !room.result_drops() && !rt.end.teardown;
            rt.world.capped.payloads |= rt.tasks[task].payload_drops && is_one_order;
            rt.tasks.room(task).empty()
        });
        if let Some((discard, place)) = content {
            // SAFETY: `empty` gave the two together. Dropping runs the test's code, while the runtime is not borrowed.
            unsafe { discard(place) };
        }
    }

    /// Notes a panic of the current task.
    pub(crate) fn note_panic(self, message: String, place: Option<String>) {
        // SAFETY: a panic in the middle of a use of the runtime has ended that use.
        unsafe { self.interrupt(|rt| rt.note_panic(message, place)) };
    }

    /// Notes that the current task waits for tasks that borrow from it, or that it no longer does. If the execution is
    /// abandoned in the meantime, it must not unwind before they end.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline)]
    pub fn stand_firm(self, pinned_by_scope: bool) {
        self.with(|rt| rt.tasks.current_task().pinned_by_scope = pinned_by_scope);
    }

    /// Returns the number of panics that were noted in this execution.
    pub fn panics_noted(self) -> usize {
        self.with(|rt| rt.end.panics.len())
    }

    /// Notes that the current task has caught the panic of code that began when there were `from` panics, and passes it on
    /// after a wait. Returns the panic's number; `None` if it was not noted.
    pub fn hold_panic(self, from: usize) -> Option<usize> {
        self.with(|rt| {
            let panic = rt.panic_since(rt.tasks.current(), from)?;
            rt.end.panics[panic].passed_on = true;
            Some(panic)
        })
    }

    /// Notes that the current task passes a panic on now.
    pub fn pass_panic_on(self, panic: usize) {
        self.with(|rt| rt.end.panics[panic].passed_on = false);
    }

    /// Notes that another task joined this task and observed its panic, which is then not a finding by itself.
    pub fn panic_seen(self, task: u32) {
        self.with(|rt| {
            for note in rt.end.panics.iter_mut().filter(|note| note.task == task) {
                note.joined = true;
            }
        });
    }

    /// Returns `true` if a task panicked and no other task has observed that by joining it. From now on the panic
    /// counts as observed.
    pub fn panic_unseen(self, task: u32) -> bool {
        self.with(|rt| {
            let mut is_unseen = false;
            for note in rt.end.panics.iter_mut().filter(|note| note.task == task) {
                is_unseen |= note.escaped && !note.joined;
                note.joined = true;
            }
            is_unseen
        })
    }
}

impl Runtime {
    /// Makes a new task the one that performs the rest of another task's end.
    pub(super) fn stand_for(&mut self, heir: u32, task: u32) {
        let name = self.tasks[task].name.clone();
        let entry = &mut self.tasks[heir];
        (entry.heir_of, entry.detached, entry.name) = (Some(task), true, name);
    }

    /// Notes a panic of the current task.
    fn note_panic(&mut self, message: String, place: Option<String>) {
        let task = self.tasks.current();
        if self.end.teardown {
            return;
        }
        let panics = &mut self.end.panics;
        let before = panics.iter().any(|note| note.task == task && !note.escaped);
        let depth = if before {
            // Either the earlier panic was caught, or this one began in a destructor that it runs.
            let unwinding = panic_count::lay_down();
            panic_count::take_up(unwinding);
            // A panic that the harness raises is noted before it begins, while the count is still 0.
            unwinding.max(1)
        } else {
            1
        };
        panics.push(PanicNote {
            task,
            message,
            place,
            escaped: false,
            joined: false,
            depth,
            unwinding: false,
            passed_on: false,
        });
    }

    /// Returns `true` if the current task may query a task whose closure has returned and not find it ended. This
    /// depends only on the current task's own operations, and not on when they happen: caching treats executions that
    /// differ only in that as the same.
    fn may_be_late(&mut self, task: u32) -> bool {
        let (me, over) = (self.tasks.current(), &self.tasks[task]);
        let gives_way = |op| matches!(op, SyncVarOp::Yield | SyncVarOp::Sleep | SyncVarOp::TimeOut);
        let (mut was_late, mut given_way) = (false, 0);
        let events_before = over.over_at.map_or(0, |before| before.get() as usize);
        for event in &self.record.events.as_slice()[events_before..] {
            match event.op {
                SyncVarOp::TaskEnd | SyncVarOp::TaskBegin => {}
                SyncVarOp::TaskFork if event.task == task && over.heir.is_some() => {}
                // The task drops thread-locals. From its first operation there on, queries find it ended.
                _ if event.task == task || over.heir == Some(event.task) => return false,
                _ if event.task != me => {}
                SyncVarOp::TaskCheck => was_late |= event.var == over.var && event.written == LATE,
                op => given_way += u32::from(was_late && gives_way(op)),
            }
        }
        if over.passed_since_over > self.world.late_timeouts_left {
            return false;
        }
        // Under fairness a task that yields twice lets the other end.
        let is_fair = given_way < self.limits.fair_yields.saturating_mul(2);
        if !is_fair {
            self.ready.leave_out_unfair();
        }
        is_fair
    }

    /// Marks the panics that tasks were unwinding from when the execution ended: they were not caught, and may be the
    /// reason why it ended.
    pub(super) fn mark_unwinding(&mut self) {
        for (task, entry) in self.tasks.as_slice().iter().enumerate() {
            if entry.unwinding == 0 {
                continue;
            }
            // One panic per depth: a later one of the same depth began after the earlier one was caught.
            let mut left = entry.unwinding;
            let own = self.end.panics.iter_mut().rev();
            for note in own.filter(|note| note.task as usize == task && !note.escaped) {
                if note.depth <= left {
                    note.unwinding = true;
                    left = note.depth - 1;
                }
            }
        }
    }
}

/// Returns the number of a task, given each task's creator and its index among the creator's tasks.
fn lineage_number(creator: impl Fn(u32) -> (u32, u32), task: u32) -> u64 {
    if task == 0 {
        return 1;
    }
    let (mut number, mut at) = (0_u64, task);
    loop {
        let (parent, ordinal) = creator(at);
        if parent == 0 && number == 0 {
            return 1 + u64::from(ordinal);
        }
        // As splitmix64 does (Steele et al., OOPSLA 2014). Two tasks of a test get the same number only by an unlikely
        // coincidence.
        number = (number ^ u64::from(ordinal)).wrapping_add(0x9e37_79b9_7f4a_7c15);
        number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number ^= number >> 27;
        if parent == 0 {
            // Bit 62 keeps it apart from the small numbers above.
            return number >> 2 | 1 << 62;
        }
        at = parent;
    }
}

#[cfg(test)]
mod tests {
    use super::lineage_number;

    #[test]
    fn tasks_have_different_numbers() {
        // The creator of each task, and its index there: 1 and 2 are the first task's, 3 is the first of 1, and so on.
        let tasks = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 1), (3, 1), (5, 1)];
        let numbers: Vec<u64> = (0..8)
            .map(|task| lineage_number(|task| tasks[task as usize], task))
            .collect();
        assert_eq!(numbers[..3], [1, 2, 3]);
        for (at, &number) in numbers.iter().enumerate() {
            assert!(number < 1 << 63);
            assert!(at < 3 || number >> 62 == 1);
            assert!(!numbers[..at].contains(&number), "{numbers:x?}");
        }
        // The order in which they were created makes no difference.
        let other = [(0, 0), (0, 1), (1, 1), (0, 2), (3, 1)];
        let number = |task| lineage_number(|task| other[task as usize], task);
        assert_eq!(
            [number(2), number(3), number(4)],
            [numbers[3], numbers[2], numbers[5]]
        );
    }
}
