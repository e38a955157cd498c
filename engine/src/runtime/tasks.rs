//! The tasks of an execution, and the fibers that they run on.

use super::fiber::{Fiber, Room};
use super::switch::{Entry, WorkerContext};
use crate::record::{Access, Status, Task};
use crate::site::Site;
use intermezzo_sdk::SyncVarOp;
use std::ops::{Index, IndexMut, Range};
use std::sync::Arc;

/// The tasks of an execution, each with its fiber, and the one that runs.
#[derive(Default)]
pub(super) struct Tasks {
    /// The tasks, by number. Entries from `created` on belong to earlier executions, and are used again.
    list: Vec<Task>,
    /// The number of tasks that this execution has created, and the number of them that have not ended.
    created: u32,
    live: u32,
    /// A fiber for each task.
    #[allow(
        clippy::vec_box,
        reason = "a fiber stays in place while it runs, and the list grows meanwhile"
    )]
    fibers: Vec<Box<Fiber>>,
    /// The size in bytes of the next task's stack, if it must be larger than others.
    larger_stack: Option<usize>,
    /// The task whose code runs; during a switch, the one to run next.
    current: u32,
    /// The task whose fiber runs, or ran last: `current`, except during a switch.
    running: u32,
    /// The context in which the worker waits while tasks run.
    worker_context: WorkerContext,
    /// The number of bytes of each stack that are cleared before a task runs on it: the size of the largest compared
    /// state, and [`BELOW`] more. A compared state includes dead slots, in which earlier calls have left values. These
    /// must not influence whether a task is parked, because the stacks of other workers, and of replays, hold other
    /// values.
    ///
    /// Each worker has its own number. If the process had one, earlier explorations would decide how often executions
    /// are run again, and monitors count these.
    cleared: usize,
    /// `true` if a compared state was larger than the cleared part of its stack.
    is_unclear: bool,
}

/// The number of bytes to clear below those that are compared. Functions that return a partly uninitialised value may
/// copy remains from there.
pub(super) const BELOW: usize = 2048;

/// The number of bytes to clear is a multiple of this unit, so that it seldom has to grow.
const CLEARED_UNIT: usize = 1024;

impl Index<u32> for Tasks {
    type Output = Task;

    #[inline(always)]
    fn index(&self, task: u32) -> &Task {
        &self.list[task as usize]
    }
}

impl IndexMut<u32> for Tasks {
    #[inline(always)]
    fn index_mut(&mut self, task: u32) -> &mut Task {
        &mut self.list[task as usize]
    }
}

impl Tasks {
    /// Resets the state for a new execution.
    #[inline(always)]
    pub(super) fn begin(&mut self) {
        self.created = 0;
        self.live = 0;
        self.current = 0;
        self.running = 0;
        self.is_unclear = false;
    }

    /// Notes that the state of the running task is compared, which uses this many bytes of its stack.
    #[allow(dead_code, reason = "the states of tasks are not compared on all targets")]
    pub(super) fn note_compared(&mut self, bytes: usize) {
        let bytes = bytes + BELOW;
        self.cleared = self.cleared.max(bytes.next_multiple_of(CLEARED_UNIT));
        self.is_unclear |= bytes > self.fibers[self.running as usize].cleared();
    }

    /// Returns `true` if a compared state may contain remains of an earlier task.
    pub(super) fn is_unclear(&self) -> bool {
        self.is_unclear
    }

    /// Returns the tasks of this execution.
    #[inline(always)]
    pub(super) fn as_slice(&self) -> &[Task] {
        &self.list[..self.created as usize]
    }

    /// Returns the tasks of this execution.
    pub(super) fn as_mut_slice(&mut self) -> &mut [Task] {
        &mut self.list[..self.created as usize]
    }

    /// Returns the tasks of this execution, followed by entries of earlier ones.
    #[inline(always)]
    pub(super) fn with_earlier(&self) -> &[Task] {
        &self.list
    }

    /// Returns the number of tasks that this execution has created.
    #[inline(always)]
    pub(super) fn created(&self) -> u32 {
        self.created
    }

    /// Returns the numbers of the tasks of this execution.
    #[inline(always)]
    pub(super) fn numbers(&self) -> Range<u32> {
        0..self.created
    }

    /// Returns the tasks of this execution that have not ended.
    pub(super) fn unfinished(&self) -> impl Iterator<Item = u32> + '_ {
        self.numbers().filter(|&task| self[task].status != Status::Ended)
    }

    /// Returns `true` if a task has not ended.
    #[inline(always)]
    pub(super) fn any_live(&self) -> bool {
        self.live > 0
    }

    /// Returns the task whose code runs; during a switch, the one to run next.
    #[inline(always)]
    pub(super) fn current(&self) -> u32 {
        self.current
    }

    /// Returns the entry of the current task.
    #[inline(always)]
    pub(super) fn current_task(&mut self) -> &mut Task {
        &mut self.list[self.current as usize]
    }

    /// Returns the place of the operation that the current task announced last.
    pub(super) fn last_site(&self) -> Site {
        let last = self.list[self.current as usize].pending.access;
        // The test's own body has no place of creation in the source.
        match self.current == 0 && last.op == SyncVarOp::TaskBegin {
            true => Site::NOWHERE,
            false => last.site,
        }
    }

    /// Returns the task whose fiber runs, or ran last.
    pub(super) fn running(&self) -> u32 {
        self.running
    }

    /// Returns the entry of the task whose fiber runs, or ran last.
    pub(super) fn running_task(&mut self) -> &mut Task {
        &mut self.list[self.running as usize]
    }

    /// Makes sure that there is a fiber for the next task to be created, and returns the task's number.
    ///
    /// # Errors
    /// No memory can be mapped for a stack.
    #[inline(always)]
    pub(super) fn prepare(&mut self, stack_bytes: usize, entry: Entry) -> std::io::Result<u32> {
        if let Some(wanted) = self.larger_stack.take() {
            self.prepare_larger(wanted.max(stack_bytes), entry)?;
        } else if self.created as usize == self.fibers.len() {
            self.fibers.push(Fiber::new(stack_bytes, entry)?);
        }
        self.fibers[self.created as usize].clear(self.cleared);
        Ok(self.created)
    }

    #[cold]
    fn prepare_larger(&mut self, stack_bytes: usize, entry: Entry) -> std::io::Result<()> {
        match self.fibers.get_mut(self.created as usize) {
            None => self.fibers.push(Fiber::new(stack_bytes, entry)?),
            Some(fiber) if fiber.stack_bytes() < stack_bytes => *fiber = Fiber::new(stack_bytes, entry)?,
            Some(_) => {}
        }
        Ok(())
    }

    /// Gives the next task that is created a stack of at least this size in bytes.
    pub(super) fn want_stack(&mut self, bytes: usize) {
        self.larger_stack = Some(bytes);
    }

    /// Creates the task that was prepared, as a child of the current one. `var` is its own variable.
    #[inline(always)]
    pub(super) fn add(&mut self, var: u32, name: Option<Arc<str>>, site: Site) {
        let task = self.created;
        if task as usize == self.list.len() {
            self.list.push(Task::new(site));
        }
        let parent = self.current;
        let creator = &mut self[parent];
        creator.children += 1;
        let ordinal = creator.children;
        let begin = Access::new(SyncVarOp::TaskBegin, var, site);
        self[task].renew(begin, parent, ordinal, name);
        self.created += 1;
        self.live += 1;
    }

    /// Notes that a task has ended.
    #[inline(always)]
    pub(super) fn end(&mut self, task: u32) {
        self[task].status = Status::Ended;
        self.live -= 1;
    }

    /// Returns the room of a task's closure.
    #[inline(always)]
    pub(super) fn room(&mut self, task: u32) -> &mut Room {
        &mut self.fibers[task as usize].room
    }

    /// Returns the rooms of the tasks of this execution.
    pub(super) fn rooms(&mut self) -> impl Iterator<Item = &mut Room> {
        let fibers = self.fibers[..self.created as usize].iter_mut();
        fibers.map(|fiber| &mut fiber.room)
    }

    /// Returns the fiber of a task.
    #[inline(always)]
    pub(super) fn fiber(&mut self, task: u32) -> &mut Fiber {
        &mut self.fibers[task as usize]
    }

    /// Returns the stack of the task whose code runs.
    #[allow(dead_code, reason = "for the feature `unmodified`")]
    pub(super) fn running_stack(&self) -> Range<usize> {
        self.fibers[self.running as usize].stack()
    }

    /// Returns `true` if this address is on the stack of a task of this execution.
    #[allow(dead_code, reason = "for the feature `unmodified`")]
    pub(super) fn is_on_a_stack(&self, address: usize) -> bool {
        self.running_stack().contains(&address)
            || self.fibers[..self.created as usize]
                .iter()
                .any(|fiber| fiber.stack().contains(&address))
    }

    /// Gives a task another fiber, and returns the one that it had.
    pub(super) fn replace_fiber(&mut self, task: u32, fiber: Box<Fiber>) -> Box<Fiber> {
        std::mem::replace(&mut self.fibers[task as usize], fiber)
    }

    /// Returns the first task with such a fiber.
    #[allow(dead_code, reason = "signals are caught on few targets")]
    pub(super) fn with_fiber(&self, is_it: impl Fn(&Fiber) -> bool) -> Option<u32> {
        let at = self.fibers.iter().position(|fiber| is_it(fiber))?;
        Some(at as u32)
    }

    /// Makes the task current. Returns `true` if it was not, so that a switch is due.
    #[inline(always)]
    pub(super) fn hand_over(&mut self, task: u32) -> bool {
        let is_other = task != self.current;
        if is_other {
            self.current = task;
        }
        is_other
    }

    /// Makes the task current and running. Returns the worker's context, and the fiber to enter from there.
    #[inline(always)]
    pub(super) fn enter(&mut self, task: u32) -> (*mut WorkerContext, *mut Fiber) {
        (self.current, self.running) = (task, task);
        (&raw mut self.worker_context, &raw mut *self.fibers[task as usize])
    }

    /// Makes the current task the running one. Returns the fiber that ran so far, and the one to switch to.
    #[inline(always)]
    pub(super) fn switch(&mut self) -> (*mut Fiber, *const Fiber) {
        let from: *mut Fiber = &raw mut *self.fibers[self.running as usize];
        let to: *const Fiber = &raw const *self.fibers[self.current as usize];
        self.running = self.current;
        (from, to)
    }

    /// Returns the fiber that runs, and the worker's context to leave for.
    #[inline(always)]
    pub(super) fn leave(&mut self) -> (*mut Fiber, *const WorkerContext) {
        let from: *mut Fiber = &raw mut *self.fibers[self.running as usize];
        (from, &raw const self.worker_context)
    }
}
