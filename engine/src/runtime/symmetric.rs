//! Groups of tasks that the test declares to be symmetric: they run copies of one closure, and their identities make no
//! difference.
//!
//! Two executions that differ only by a permutation of such a group have the same results, so one of them is enough.
//! The one that is run is the one in which the tasks of the group take their first steps in the order of their numbers.
//! For this, each of them begins in the first step of the one before it. That is a constraint on the program, and not
//! on the search: every search, reduction and bound explores a program whose tasks begin in this order. CHESS renames
//! symmetric tasks in a similar way. SPORE (Kokologiannakis, Marmanis, Vafeiadis, PLDI 2024) adds the same constraint
//! to an execution graph, and maintains it beyond the first steps.
//!
//! *Differs:* only the first steps are in order. Tasks that do the same for longer, without a conflict, are not
//! recognised as the same.
//!
//! *Relies on:* two tasks of a group that have taken no step have the same next operation, so that one waits if the
//! other does. The code before the first operation has no effect that other tasks notice. Exceptions let the next task
//! begin at once: a choice, a new task, a wait until all is quiet, and an armed breakpoint. If no task can continue,
//! the next one begins, and it is noted if that makes a difference.

use super::{Engine, Runtime};
use crate::record::Status;
use crate::site::Site;
use crate::trace::{Class, Key, SoundReduction};
use intermezzo_sdk::SyncVarOp;

/// The tasks that begin in the first step of another one.
#[derive(Default)]
pub(super) struct Symmetric {
    /// The tasks that have not begun.
    held: Vec<Held>,
    /// The tasks that have begun, and have taken no step.
    begun: Vec<Begun>,
}

/// A task that has not begun.
struct Held {
    task: u32,
    /// The task before it in its group.
    after: u32,
}

/// A task that has begun, and has taken no step.
struct Begun {
    task: u32,
    /// The first operation of the task before it, and its place. `None` if its own may be different.
    first: Option<(SyncVarOp, Site)>,
    /// `true` if it began because no task could continue.
    at_rest: bool,
}

impl Symmetric {
    /// Resets the state for a new execution.
    #[inline(always)]
    pub(super) fn begin(&mut self) {
        self.held.clear();
        self.begun.clear();
    }

    /// Returns `true` if the next step may be the first one of a task in a group.
    pub(super) fn any(&self) -> bool {
        !self.held.is_empty() || !self.begun.is_empty()
    }
}

impl Engine {
    /// Declares that tasks that the current task has just created are symmetric. The first of them runs, and the others
    /// begin one after the other.
    pub(super) fn symmetric(self, tasks: &[u32]) {
        self.with(|rt| {
            if rt.end.teardown || tasks.len() < 2 {
                return;
            }
            debug_assert!(tasks.iter().all(|&task| rt.tasks[task].events == 0));
            for pair in tasks.windows(2) {
                rt.ready.hold(pair[1]);
                rt.constraints.symmetric.held.push(Held {
                    task: pair[1],
                    after: pair[0],
                });
            }
            for &task in tasks {
                rt.tasks[task].symmetric = true;
            }
            rt.world.capped.symmetric = true;
            rt.ready.take_slow_path();
        });
    }

    /// Notes that the test asks for the identity of a task, or for something else that differs between tasks. The
    /// identity of a task contains those of its creators.
    pub fn note_identity(self, task: u32) {
        self.with(|rt| {
            if !rt.world.capped.symmetric {
                return;
            }
            let mut at = task;
            while at != 0 {
                rt.world.capped.asymmetric |= rt.tasks[at].symmetric;
                at = rt.tasks[at].parent;
            }
        });
    }
}

impl Runtime {
    /// Lets a task begin: it runs to its first visible operation before anything is decided.
    pub(super) fn let_begin(&mut self, task: u32) {
        if self.limits.every_operation && task > 0 {
            self.ready.enable(task);
        } else {
            self.ready.run_first(task);
        }
    }

    /// Notes that a task takes a step, which may be its first.
    #[cold]
    pub(super) fn take_symmetric_step(&mut self, task: u32) {
        let access = self.tasks[task].pending.access;
        let begun = &mut self.constraints.symmetric.begun;
        if let Some(at) = begun.iter().position(|begun| begun.task == task) {
            let Begun { first, at_rest, .. } = begun.remove(at);
            // A count with one handle left has no schedule point, nor has a sender that closes without a receiver.
            let may_have_no_point = |op| {
                matches!(
                    op,
                    SyncVarOp::CountUp
                        | SyncVarOp::CountDown
                        | SyncVarOp::CountRead
                        | SyncVarOp::ChannelClose
                )
            };
            let differs = first.is_some_and(|(op, site)| {
                (op, site) != (access.op, access.site)
                    && !may_have_no_point(op)
                    && !may_have_no_point(access.op)
            });
            self.world.capped.asymmetric |= differs || at_rest;
            if at_rest {
                // The step was possible because no other task could continue, which no order of steps shows.
                self.record
                    .sound_only(SoundReduction::Caching, access.op, access.site);
            }
        }
        self.begin_after(task, Some((access.op, access.site)));
    }

    /// Lets the task that waits for the first step of this one begin: the step begins, or this task has done something
    /// else that other tasks can notice. `first` is this task's first operation, if the other task must have the same.
    #[inline(always)]
    pub(super) fn begin_after(&mut self, task: u32, first: Option<(SyncVarOp, Site)>) {
        if !self.constraints.symmetric.held.is_empty() {
            self.begin_held_after(task, first);
        }
    }

    #[cold]
    fn begin_held_after(&mut self, task: u32, first: Option<(SyncVarOp, Site)>) {
        let held = &mut self.constraints.symmetric.held;
        let Some(at) = held.iter().position(|held| held.after == task) else {
            return;
        };
        let next = held.remove(at).task;
        let life = Key::of(SyncVarOp::TaskFork, self.tasks[next].var);
        self.record.add_to_footprint(task, life, Class::Write);
        self.constraints.symmetric.begun.push(Begun {
            task: next,
            first,
            at_rest: false,
        });
        self.let_begin(next);
    }

    /// Lets a task begin although the one before it in its group has taken no step, because no task can continue. Its
    /// first operation waits like that of the other one, so the only effect is that the report of a deadlock shows it.
    pub(super) fn begin_at_rest(&mut self) {
        let stuck = self.ready.enabled().is_empty()
            && self.ready.timed_waiters().is_empty()
            && !self.ready.any_must_run();
        if !stuck || self.constraints.symmetric.held.is_empty() {
            return;
        }
        let next = self.constraints.symmetric.held.remove(0).task;
        debug_assert!(self.tasks[next].status == Status::Fresh);
        self.tasks[next].begun_at_rest = true;
        self.constraints.symmetric.begun.push(Begun {
            task: next,
            first: None,
            at_rest: true,
        });
        self.let_begin(next);
    }
}
