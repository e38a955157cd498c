//! Teardown: removal of what an execution leaves behind.
//!
//! An execution may leave unfinished tasks: after a deadlock, or if the test's body failed. As a rule they are
//! *forgotten*, as threads are when their process ends. None of their code runs again, nothing that they may share is
//! dropped, and their stacks stay mapped, because lists and thread-locals outside the execution may refer to them. So
//! code stays sound even if it was not written to unwind from an operation.
//!
//! Where the memory of an execution is reclaimed and statics are restored, as in tests that were not written for
//! intermezzo, nothing refers to these stacks afterwards, so they are used again. Elsewhere that memory is leaked.
//! Beyond a budget (`forgotten` of the setting `stack`, for all explorations of the process) tasks are *unwound*
//! instead, newest first. So what they own is dropped, and no task outlives what it borrows from its creator. The
//! unwinding is a panic with a private payload and no message. Operations then happen at once. A task that waits for
//! the tasks of its scope is not unwound before they have ended, because they borrow from it. Some tasks cannot be
//! unwound: their destructors wait for something that never happens, or do not end, or panic. Such a task is left as it
//! is, never resumed, and its memory is used again. That is rare, and better than a dead process.

use super::crash::Crash;
use super::fiber::{ClosureEnd, Fiber};
use super::image::statics_are_restored;
use super::switch::Back;
use super::{Engine, PanicNote, Runtime, Stop, arena, panic_count};
use crate::record::{Access, Gates, Local, Status, Task, Wake, gate};
use intermezzo_sdk::{Interests, SyncVarOp};
use std::any::Any;
use std::convert::Infallible;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The total size in bytes of the stacks that the process has forgotten.
static FORGOTTEN: AtomicUsize = AtomicUsize::new(0);

/// The minimum number of bytes that a forgotten stack counts for, because it takes two of the mappings that the system
/// allows a process (65,530 on Linux).
const FORGOTTEN_LEAST: usize = 32 << 10;

/// The payload that unwinds an abandoned task.
struct Abandoned;

/// The number of passes over the remaining tasks: a task that waits for a lock in a destructor can continue once the
/// lock's holder was unwound.
const ROUNDS: usize = 4;

/// The number of operations that a task may perform during teardown. Destructors perform few; a loop that waits for a
/// task that is gone would never end.
const OPERATIONS_MAX: u32 = 10_000;

impl Engine {
    /// Unwinds the current task, which was resumed for teardown or performs an operation during it. If it is already
    /// unwinding, or drops what it left, the operation just happens.
    #[cold]
    #[inline(never)]
    pub(super) fn abandon_current(self) {
        if self.inspects() {
            return;
        }
        let (operations, pinned, unwinds, gate_var, gates) = self.with(|rt| {
            let sweeping = rt.end.sweeping;
            let task = rt.tasks.current_task();
            task.operations_cleared += 1;
            (
                task.operations_cleared,
                task.pinned_by_scope,
                !task.finishing && !sweeping,
                task.pending.gate_var,
                task.pending.gates,
            )
        });
        if operations > OPERATIONS_MAX {
            // The task does not end, so the teardown continues without it.
            loop {
                self.switch_to_worker();
            }
        }
        if pinned {
            while self.gates(gate_var) & gates == 0 {
                self.switch_to_worker();
            }
            return;
        }
        if unwinds && !std::thread::panicking() {
            self.with(|rt| rt.tasks.current_task().abandoned = true);
            resume_unwind(Box::new(Abandoned));
        }
    }

    /// Calls a function that may let other tasks run, from code that must not be unwound, such as an allocator or C.
    pub fn keep_from_unwinding<R>(self, f: impl FnOnce() -> R) -> R {
        let task = self.task();
        let before = self.with_task(task, |entry| std::mem::replace(&mut entry.finishing, true));
        let result = f();
        self.with_task(task, |entry| entry.finishing = before);
        result
    }

    /// Lets a task continue that had to wait for others before it unwinds: during teardown, it unwinds now.
    pub fn go_on_unwinding(self) {
        if self.in_teardown() {
            self.abandon_current();
        }
    }

    /// Handles a wait during teardown: it passes if the gate is open; otherwise the task unwinds.
    #[cold]
    #[inline(never)]
    pub(super) fn pass_in_teardown(self, gate_var: u32, gates: Gates) -> Wake {
        self.inspection_has_to_wait(gate_var, gates);
        while self.gates(gate_var) & gates == 0 {
            if !self.with(|rt| rt.tasks.current_task().pinned_by_scope) {
                self.abandon_current();
            }
            self.switch_to_worker();
        }
        Wake::Ready
    }

    /// Runs the current task from beginning to end, on its fiber.
    #[inline(always)]
    fn run_task(self) {
        let (task, begin) = self.with(|rt| {
            let entry = rt.tasks.current_task();
            entry.status = Status::Live;
            let begin = entry.pending.access;
            (rt.tasks.current(), begin)
        });
        self.commit(begin, 0, 0);
        if self.needs_care() {
            self.tell_switch();
        }
        let (run, place) = self.with(|rt| rt.tasks.room(task).start());
        // SAFETY: `start` gave the two together.
        let closure_end = unsafe { run(place) };
        let returned = closure_end == ClosureEnd::Returned;
        let nothing_own = self.with(|rt| {
            rt.tasks.room(task).finished();
            let entry = &mut rt.tasks[task];
            entry.finishing = true;
            entry.payload_drops = closure_end == ClosureEnd::Panicked { payload_drops: true };
            if !entry.locals.is_empty() || rt.limits.every_operation {
                return false;
            }
            // There is nothing to drop and no step to take, so the task can end at once.
            entry.over_at = NonZero::new(rt.record.events.len() as u32);
            !entry.detached || returned && rt.tasks.room(task).forget_result()
        });
        let quiet = nothing_own || self.finish_own(task);
        self.end_task(task, returned && quiet);
    }

    /// Takes the steps that a task may need before its end, and drops its own values. Returns `true` if no destructor
    /// panicked.
    #[inline(never)]
    fn finish_own(self, task: u32) -> bool {
        let (end, is_step) = self.with(|rt| {
            let result_drops = rt.tasks.room(task).result_drops();
            (rt.end_of(task), result_drops && !rt.tasks[task].locals.is_empty())
        });
        self.point(end);
        if is_step {
            self.give_result(end);
        }
        let nothing_own = self.with(|rt| {
            let entry = &mut rt.tasks[task];
            entry.over_at = NonZero::new(rt.record.events.len() as u32);
            entry.had_locals = !entry.locals.is_empty();
            !entry.detached && !entry.had_locals
        });
        nothing_own || self.drop_own(task)
    }

    /// Performs the step in which a task with thread-local values releases its result. If the handle on the task was
    /// dropped before, the task drops its result then, and its thread-locals afterwards; otherwise the result is left
    /// to the handle.
    ///
    /// For a task without thread-locals, [`detach_from_result`](Self::detach_from_result) chooses the order instead.
    #[cold]
    #[inline(never)]
    fn give_result(self, end: Access) {
        let gives = Access::new(SyncVarOp::SchedulePoint, end.var, end.site);
        self.enter(gives);
        self.commit(gives, 0, 0);
    }

    /// Drops a task's own values: its result, if there is no handle on the task, and its thread-local values. This
    /// happens before its end, because a task that waits for the end relies on the task borrowing nothing any more.
    /// Returns `true` if no destructor panicked.
    fn drop_own(self, task: u32) -> bool {
        let mut quiet = true;
        loop {
            // The test's code runs in each round: it may detach the task, or initialise a thread-local.
            let (has_result, has_locals) = self.with(|rt| {
                let entry = &rt.tasks[task];
                let (detached, has_locals) = (entry.detached, !entry.locals.is_empty());
                (detached && !rt.tasks.room(task).is_empty(), has_locals)
            });
            if has_result {
                quiet &= quietly(|| self.drop_room(task));
            } else if has_locals && self.leaves_locals(task) {
                self.leave_locals(task);
            } else if has_locals {
                quiet &= self.drop_locals(task);
            } else {
                return quiet;
            }
        }
    }

    /// Returns `true` if a task ends before its thread-local values are dropped: a scope waits for the closures of its
    /// tasks, and not for their thread-locals.
    fn leaves_locals(self, task: u32) -> bool {
        self.with(|rt| {
            let entry = &rt.tasks[task];
            let drops = entry.locals.iter().any(|local| local.has_destructor);
            entry.in_scope && drops && !rt.end.teardown
        })
    }

    /// Creates a task that drops the thread-local values of this one.
    fn leave_locals(self, task: u32) {
        let (site, locals) = self.with_task(task, |entry| {
            (entry.pending.access.site, std::mem::take(&mut entry.locals))
        });
        let adopts = move || self.with_task(self.task(), |entry| entry.locals = locals);
        // SAFETY: the closure borrows nothing.
        let heir = unsafe { self.fork(None, site, adopts) };
        self.with(|rt| {
            rt.tasks[task].heir = Some(heir);
            rt.stand_for(heir, task);
        });
    }

    /// Drops a task's thread-local values in reverse order of initialisation, as std does. Returns `true` if no
    /// destructor panicked; in std a panic aborts the process.
    fn drop_locals(self, task: u32) -> bool {
        // Only the value is taken out: while its destructor runs, the key exists and has no value. A destructor may
        // initialise more keys. Values without a destructor stay until the end.
        let next = |entry: &mut Task| {
            let is_next = |local: &&mut Local| local.has_destructor && local.value.is_some();
            let local = entry.locals.iter_mut().rfind(is_next)?;
            local.value.take()
        };
        let mut quiet = true;
        while let Some(value) = self.with_task(task, next) {
            quiet &= quietly(|| drop(value));
        }
        self.with_task(task, |entry| entry.locals.clear());
        quiet
    }

    #[inline(always)]
    fn end_task(self, task: u32, returned: bool) {
        // Until a program ends, its other tasks may continue: the end is a schedule point.
        let is_end = || self.with(|rt| rt.ends_others(task) && rt.could_others_continue());
        if self.every_operation() || is_end() {
            self.enter(self.with(|rt| rt.end_of(task)));
        }
        let access = self.with(|rt| {
            rt.tasks.end(task);
            rt.ready.disable(task);
            if !rt.end.teardown {
                rt.begin_after(task, None);
            }
            rt.end_of(task)
        });
        self.commit(access, 0, 0);
        self.change_gates(access.var, gate::ENDED, 0);
        if self.in_teardown() {
            self.with(|rt| {
                if rt.end.finishes_unwinding && !returned && !rt.tasks[task].abandoned {
                    rt.panic_escaped(task);
                }
            });
            return;
        }
        self.with(|rt| {
            if returned && rt.ends_others(task) {
                rt.end.stop = Some(Stop::Ended);
            } else if returned || !rt.failed(task) {
                rt.dispatch();
            }
        });
    }

    /// Drops untaken results, and the values of statics.
    fn sweep(self) {
        if self.with(|rt| !rt.end.drops_statics) {
            for task in self.with(|rt| rt.tasks.numbers()) {
                // A panic in a destructor cannot be reported any more.
                quietly(|| self.drop_room(task));
            }
        }
        while let Some((address, drop)) = self.with(|rt| rt.objects.statics.next_to_drop()) {
            quietly(drop);
            self.with(|rt| rt.objects.statics.dropped(address));
        }
        self.drop_locals(self.task());
    }
}

/// Runs a function that may panic. Returns `true` if it did not. The payload is leaked, because dropping it may panic
/// again.
pub(super) fn quietly(f: impl FnOnce()) -> bool {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(()) => true,
        Err(panic) => {
            std::mem::forget(panic);
            false
        }
    }
}

/// Runs a fiber: one job after the other.
pub(super) extern "C" fn serve() -> ! {
    loop {
        // Nothing may unwind out of a fiber. Panics of the test do not reach this point, because they are caught
        // before.
        let Err(panic) = catch_unwind(|| -> Infallible {
            loop {
                serve_once();
            }
        });
        let engine = Engine::current().expect("a fiber runs inside an execution");
        let panic = arena::outside(|| copied(panic));
        engine.with(|rt| rt.end.carried = Some(panic));
        engine.switch_to_worker();
    }
}

/// Returns a copy of a panic's text, which outlives the execution.
fn copied(panic: Box<dyn Any + Send>) -> Box<dyn Any + Send> {
    if let Some(text) = panic.downcast_ref::<String>() {
        Box::new(text.clone())
    } else if let Some(&text) = panic.downcast_ref::<&'static str>() {
        Box::new(text)
    } else {
        panic
    }
}

/// Runs the current task's job on its fiber, and continues with the next task.
#[inline(always)]
fn serve_once() {
    let engine = Engine::current().expect("a fiber runs inside an execution");
    let (task, sweeping) = engine.with(|rt| (rt.tasks.current(), rt.end.sweeping));
    if sweeping {
        engine.sweep();
    } else if engine.in_teardown() {
        // The task never began.
        engine.with_task(task, |entry| entry.finishing = true);
        quietly(|| engine.drop_room(task));
        engine.drop_locals(task);
        engine.with(|rt| rt.tasks.end(task));
        engine.change_gates(engine.task_var(task), gate::ENDED, 0);
    } else {
        engine.run_task();
        if engine.with(|rt| rt.end.stop.is_none() && !rt.end.teardown) {
            return engine.switch_fiber();
        }
    }
    engine.switch_to_worker();
}

impl Engine {
    /// Lets tasks finish unwinding after an execution was cut short: because it reached its limit on steps and that is
    /// not a failure, or because its program ended. Their panics count unless they are caught. A task that catches its
    /// panic continues only up to its next operation.
    pub(super) fn finish_unwinding(self) {
        let unwinding = self.with(|rt| {
            let is_cut_short = match rt.end.stop {
                Some(Stop::GivenUp) => rt.limits.long_allowed,
                Some(Stop::Ended | Stop::Failed(_)) => true,
                _ => false,
            };
            // The task that ended the program never continues.
            let is_exit = !matches!(rt.end.stop, Some(Stop::GivenUp));
            let exiting = is_exit.then(|| rt.tasks.current());
            // A task that waits for something that does not happen is left waiting.
            let unwinds = |&task: &u32| {
                exiting != Some(task) && rt.tasks[task].unwinding > 0 && rt.ready.is_enabled(task)
            };
            match is_cut_short && !rt.end.damaged {
                true => rt.tasks.unfinished().filter(unwinds).collect(),
                false => Vec::new(),
            }
        });
        for task in unwinding {
            self.with(|rt| (rt.end.teardown, rt.end.finishes_unwinding) = (true, true));
            self.resume(task);
            self.with(|rt| (rt.end.teardown, rt.end.finishes_unwinding) = (false, false));
        }
    }

    /// Removes what the execution leaves behind. With `is_damaged`, its tasks' memory cannot be trusted any more, so
    /// none of their code runs.
    pub(super) fn clear_away(self, is_damaged: bool) {
        let unwinds = self.with(|rt| {
            rt.end.teardown = true;
            #[cfg(feature = "unmodified")]
            std::mem::forget(rt.end.hook.take());
            let may_forget = rt.tasks.any_live() && !is_damaged && !rt.end.uses_streams;
            rt.end.forgot = may_forget && (rt.leave_tasks() || rt.forget_tasks());
            let unwinds = rt.tasks.any_live() && !rt.end.forgot && !is_damaged && cfg!(panic = "unwind");
            rt.end.unwound |= unwinds;
            unwinds
        });
        if unwinds {
            self.unwind_tasks();
        }
        let sweeps = self.with(|rt| {
            rt.forget_unfinished();
            if rt.end.forgot {
                rt.forget_leftovers();
            }
            !rt.end.forgot && !is_damaged && rt.has_leftovers()
        });
        if sweeps {
            self.drop_leftovers();
        }
        self.with(|rt| rt.end.teardown = false);
    }

    /// Drops untaken results and the values of statics, on the main task's fiber.
    fn drop_leftovers(self) {
        self.with(|rt| rt.end.sweeping = true);
        self.resume(0);
        self.with(|rt| {
            rt.end.sweeping = false;
            let are_left = if rt.end.drops_statics {
                rt.objects.statics.any()
            } else {
                rt.has_leftovers()
            };
            if are_left {
                // A destructor did not reach its end.
                rt.forget(0);
                rt.forget_leftovers();
            }
        });
    }

    /// Drops the values of statics before the monitors see the end of a complete execution, if one listens to memory.
    /// Notes the blocks that they held, which are not leaks.
    pub(super) fn drop_statics_early(self) {
        let is_needed = self.with(|rt| {
            let is_needed = matches!(rt.end.stop, Some(Stop::Complete))
                && rt.objects.statics.any()
                && rt.monitors.listening.intersects(Interests::ALLOCATIONS)
                && !rt.end.damaged
                && !rt.tasks.any_live();
            (rt.end.teardown, rt.end.drops_statics) = (is_needed, is_needed);
            is_needed
        });
        if is_needed {
            self.drop_leftovers();
            self.with(|rt| (rt.end.teardown, rt.end.drops_statics) = (false, false));
        }
    }

    /// Unwinds the tasks that have not ended, as far as possible.
    fn unwind_tasks(self) {
        for _ in 0..ROUNDS {
            for task in self.with(|rt| rt.tasks.numbers()).rev() {
                if self.with_task(task, |entry| entry.status != Status::Ended) {
                    self.resume(task);
                }
            }
            if self.with(|rt| rt.tasks.unfinished().next().is_none()) {
                break;
            }
        }
    }
}

impl Runtime {
    /// Returns the operation with which a task ends.
    fn end_of(&self, task: u32) -> Access {
        let entry = &self.tasks[task];
        Access::new(SyncVarOp::TaskEnd, entry.var, entry.pending.access.site)
    }

    /// Handles the end of a task by a panic. Returns `true` if the execution ends with it.
    #[cold]
    #[inline(never)]
    fn failed(&mut self, task: u32) -> bool {
        self.panic_escaped(task);
        if task == 0 {
            self.end.stop = Some(Stop::Panicked);
        }
        task == 0
    }

    /// Notes that the task's last panic was not caught inside it.
    fn panic_escaped(&mut self, task: u32) {
        let own = |note: &PanicNote| note.task == task && note.depth == 1;
        let last = self.end.panics.iter().rposition(own);
        self.note_escaped(task, last);
    }

    /// Notes that a panic of the task was not caught: the one that escaped from code that began when there were `from`
    /// panics. It is the least deep one since then. Panics of destructors that ran while it unwound are deeper.
    pub(super) fn came_out(&mut self, task: u32, from: usize) {
        let out = self.panic_since(task, from);
        self.note_escaped(task, out);
    }

    /// Returns the index of the task's least deep panic since there were `from` panics.
    pub(super) fn panic_since(&self, task: u32, from: usize) -> Option<usize> {
        let since = self.end.panics.iter().enumerate().skip(from).rev();
        let out = since
            .filter(|(_, note)| note.task == task)
            .min_by_key(|(_, note)| note.depth);
        out.map(|(at, _)| at)
    }

    /// Notes that a panic of the task was not caught; `None` if the panic hook was not called, because the panic began
    /// with `resume_unwind`.
    fn note_escaped(&mut self, task: u32, panic: Option<usize>) {
        match panic {
            Some(at) => self.end.panics[at].escaped = true,
            None => self.end.panics.push(PanicNote {
                task,
                message: "unwound without a message".into(),
                place: None,
                escaped: true,
                joined: false,
                depth: 1,
                unwinding: false,
                passed_on: false,
            }),
        }
    }

    /// Forgets the tasks that have not ended, and uses their stacks again, if nothing refers to these once the
    /// execution is over: every reference is in memory that is reclaimed, or in statics that are restored.
    fn leave_tasks(&mut self) -> bool {
        let leaves = self.limits.forgotten_bytes > 0 && arena::has_execution() && statics_are_restored();
        if leaves {
            self.forget_unfinished();
        }
        leaves
    }

    /// Forgets the tasks that have not ended, and uses their stacks again.
    fn forget_unfinished(&mut self) {
        if self.tasks.any_live() {
            let left: Vec<u32> = self.tasks.unfinished().collect();
            left.into_iter().for_each(|task| self.forget(task));
        }
    }

    /// Forgets the tasks that have not ended, if the budget allows it. Their stacks are never used again.
    fn forget_tasks(&mut self) -> bool {
        let live: Vec<u32> = self.tasks.unfinished().collect();
        let bytes = |&task: &u32| self.tasks.fiber(task).in_use().max(FORGOTTEN_LEAST);
        let bytes: usize = live.iter().map(bytes).sum();
        let most = self.limits.forgotten_bytes;
        let within = |forgotten: usize| forgotten.checked_add(bytes).filter(|&sum| sum <= most);
        if FORGOTTEN.fetch_update(Relaxed, Relaxed, within).is_err() {
            return false;
        }
        let fresh = || Fiber::new(self.limits.stack_bytes, serve);
        let Ok(fresh) = live.iter().map(|_| fresh()).collect::<Result<Vec<_>, _>>() else {
            return false;
        };
        for (task, fresh) in live.into_iter().zip(fresh) {
            let entry = &mut self.tasks[task];
            entry.status = Status::Ended;
            entry.locals.drain(..).for_each(std::mem::forget);
            std::mem::forget(self.tasks.replace_fiber(task, fresh));
        }
        true
    }

    /// Forgets results and the values of statics, because forgotten tasks may be in the middle of changing them.
    fn forget_leftovers(&mut self) {
        for room in self.tasks.rooms() {
            room.empty();
        }
        while let Some((address, _)) = self.objects.statics.next_to_drop() {
            self.objects.statics.dropped(address);
        }
    }

    /// Returns `true` if results or statics remain to be dropped.
    fn has_leftovers(&mut self) -> bool {
        self.objects.statics.any() || self.tasks.rooms().any(|room| !room.is_empty())
    }
}

impl Engine {
    /// Runs a task, and those that follow it, until control returns to the worker.
    pub(super) fn resume(self, task: u32) {
        // The exploration may run in a destructor while its thread unwinds.
        let own = match std::thread::panicking() {
            true => panic_count::lay_down(),
            false => 0,
        };
        if let Back::Crashed(crash) = self.enter_fiber(task) {
            self.take_crash(crash);
        }
        if own > 0 {
            panic_count::take_up(own);
        }
        if let Some(panic) = self.with(|rt| rt.end.carried.take()) {
            resume_unwind(panic);
        }
    }

    /// Handles a crash of the task that ran last.
    #[cold]
    fn take_crash(self, crash: Crash) {
        let emergency = self.with(|rt| {
            rt.tasks.running_task().unwinding = u32::from(std::thread::panicking());
            rt.end.emergency.clone()
        });
        if let Some(emergency) = emergency {
            emergency.crashed(self.as_ptr(), crash);
        }
        // It will not finish its panics.
        let unwinding = panic_count::lay_down();
        self.with(|rt| {
            rt.tasks.running_task().unwinding = unwinding;
            if rt.end.teardown {
                rt.end.crash_cleared = Some(crash);
            } else {
                rt.end.stop = Some(match rt.watched.pulse().take() {
                    Some(hang) if crash == Crash::Hang => Stop::Hung(hang),
                    _ => Stop::Crashed(crash),
                });
            }
            rt.end.damaged = true;
            // Its stack is lost, so there is nothing to unwind.
            rt.forget(rt.tasks.running());
        });
    }
}

impl Runtime {
    /// Abandons a task: the contents of its stack are lost.
    fn forget(&mut self, task: u32) {
        let entry = &mut self.tasks[task];
        entry.status = Status::Ended;
        entry.locals.drain(..).for_each(std::mem::forget);
        if self.tasks.fiber(task).abandon(serve).is_err() {
            self.end.damaged = true;
        }
    }
}
