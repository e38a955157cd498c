//! One execution, from its beginning to its end.

use super::fiber::Fiber;
use super::scope::Scoping;
use super::teardown::serve;
use super::{Abnormal, CURRENT, Capped, Engine, ExecutionOutcome, PanicNote, Runtime, Stop};
use crate::record::{Access, Site, Task, VarKind};
use crate::strategy::CompletedExecution;
use crate::trace::{Analysis, Ending, SoundReduction};
use intermezzo_sdk::{Interests, SyncVarOp};
use std::panic::Location;
use std::sync::Arc;

/// Clears `CURRENT`, however the execution ends.
pub(super) struct ResetCurrent;

impl Drop for ResetCurrent {
    fn drop(&mut self) {
        CURRENT.set(std::ptr::null_mut());
    }
}

impl Engine {
    /// Runs one execution of the test, which has been begun.
    pub(super) fn run(self, test: &dyn Fn()) -> ExecutionOutcome {
        if self.rt().listeners.any() {
            self.rt().tell_begin();
        }
        let body = move || test();
        match self.rt().new_task(None, Location::caller()) {
            Ok(main) => {
                let entry = &mut self.rt().tasks[main as usize];
                // The main task has no creator. The counts are of the execution before, and must not enter its
                // identity.
                (entry.children, entry.ordinal) = (0, 0);
                // The main task is not joined: its result is dropped at its end.
                entry.detached = true;
                // SAFETY: the test outlives this call, and the room is emptied before it returns.
                unsafe { self.rt().fibers[main as usize].room.fill(body) };
            }
            Err(error) => {
                self.rt().stop = Some(Stop::Misuse(format!(
                    "no memory for the stack of a task: {error}"
                )))
            }
        }
        self.rt().must_run.clear();
        let mut next = 0;
        while self.rt().stop.is_none() {
            self.resume(next);
            next = self.rt().current;
        }
        let rt = self.rt();
        rt.mark_unwinding();
        let stop = rt.stop.take().expect("the loop ends with a reason");
        let stop = rt.check_prescribed(stop);
        rt.verify_quiet();
        let stop = rt.end_trace(stop);
        let complete = matches!(stop, Stop::Complete);
        if rt.listeners.any() {
            rt.tell_end(complete);
        }
        let learned_points = rt.data_points.is_some() && rt.learn_data_points();
        let wanted = match stop {
            Stop::Deadlock => rt.wanted(),
            _ => Vec::new(),
        };
        // To all but the monitors this is an end like any other.
        let stop = match stop {
            Stop::Deadlock if rt.limits.deadlocks_allowed => Stop::Complete,
            other => other,
        };
        rt.scoping.by_breakpoint = rt.breakpoints_acted();
        let quiet = matches!(stop, Stop::Complete)
            && !rt.panics.iter().any(PanicNote::unhandled)
            && rt.listeners.reported.is_empty();
        let scene = if quiet { None } else { Some(rt.scene()) };
        rt.clear_away(rt.damaged);
        let rt = self.rt();
        if rt.blocks.any() {
            rt.free_blocks(rt.damaged || rt.forgot);
        }
        let toucher = rt.watched.pulse().toucher();
        let trouble = if quiet && !rt.damaged {
            None
        } else {
            // The teardown of an execution that ended well crashed: its events are still there.
            let mut scene = scene.unwrap_or_else(|| rt.scene());
            scene.toucher.clone_from(&toucher);
            Some(Box::new(Abnormal {
                stop,
                wanted,
                scene,
                damaged: rt.damaged,
                crash_cleared: rt.crash_cleared,
            }))
        };
        ExecutionOutcome {
            steps: rt.steps,
            switches: rt.switches,
            tasks: rt.created,
            plain_accesses: rt.plain_accesses,
            sound: if rt.spins.parks() > 0 {
                rt.trace.sound().max(rt.suits_parked())
            } else {
                rt.trace.sound()
            },
            fingerprint: rt.trace.fingerprint(),
            unfair_left_out: rt.unfair_left_out,
            capped: rt.capped,
            scoping: rt.scoping,
            breakpoints: rt.breakpoint_figures(),
            parked: rt.spins.parks(),
            failed_iterations: rt.spins.failed_iterations(),
            unseen_change: rt.spins.unseen_change(),
            unwound: rt.unwound,
            departed: rt.departed.is_some(),
            learned: rt.departed.is_none() && rt.spins.has_learned() || learned_points,
            toucher,
            trouble,
        }
    }
}

impl Runtime {
    /// Returns the strongest reduction that is sound for an execution in which tasks were parked. Within a bound on
    /// preemptions only caching is. A switch away from a parked task is free, and whether it is parked depends on when
    /// it looked, which an elided round does not show.
    fn suits_parked(&self) -> SoundReduction {
        match self.trace.detail() {
            Analysis::Waits => SoundReduction::Caching,
            _ => SoundReduction::SourceSets,
        }
    }

    /// Begins an execution whose first choices are in `plan`.
    pub(super) fn begin(&mut self) {
        self.epoch = self.epochs.next();
        self.number += 1;
        self.alike.begin();
        self.created = 0;
        self.live = 0;
        self.vars.clear();
        self.watches_memory = self.watches_memory();
        if let Some(points) = &mut self.data_points {
            points.begin();
            self.listeners.forget();
        }
        self.current = 0;
        self.running = 0;
        self.last = 0;
        self.yielded = false;
        // Monitors that are notified of preemptions are notified on the slow path of decisions.
        let heard = self.listening.intersects(Interests::ATTRIBUTES);
        self.scoped = self.preemptible.is_some() || self.ordered_atomics.is_some() || heard;
        self.begin_breakpoints();
        self.slow_path = self.scoped;
        self.closed.clear();
        self.scoping = Scoping::default();
        if let Some(preemptible) = &mut self.preemptible {
            preemptible.begin();
        }
        if let Some(ordered_atomics) = &mut self.ordered_atomics {
            ordered_atomics.begin();
        }
        self.enabled.clear();
        self.must_run.clear();
        self.timed_waiters.clear();
        self.spurious_waiters.clear();
        self.expired.clear();
        self.fair.reset();
        self.spins.reset();
        self.left = self.environment;
        self.clock = 0;
        self.looks.clear();
        self.prescribed = self.plan.choices().len();
        self.decided = 0;
        self.departed = None;
        if self.plan.take_forgotten() {
            self.trace.clear();
        } else {
            self.trace.rewind(self.plan.kept(), &self.vars, &self.tasks);
        }
        let known = self.trace.steps();
        self.events.clear(known.last().map_or(0, |step| step.events_end));
        let nothing = self.trace.detail() == Analysis::Nothing;
        self.observe_from = if nothing { u64::MAX } else { known.len() as u64 };
        self.ask_from = if self.asks_always {
            self.observe_from.saturating_sub(1)
        } else {
            u64::MAX
        };
        self.extra_footprint.clear();
        (self.waited, self.forced_by_idle) = (None, false);
        self.steps = 0;
        self.switches = 0;
        self.plain_accesses = 0;
        self.pointers_out = false;
        self.pointers.clear();
        self.panics.clear();
        self.crash_cleared = None;
        (self.forgot, self.unwound) = (false, false);
        self.unfair_left_out = false;
        self.capped = Capped::default();
        self.stop = None;
    }

    /// Notes that an operation at this place allows no stronger reduction.
    pub(super) fn suits_only(&mut self, sound: SoundReduction, op: SyncVarOp, site: Site) {
        self.trace.only(sound);
        self.note_unsuited(sound, op, site);
    }

    /// Remembers the operation and place that first allowed no stronger reduction.
    pub(super) fn note_unsuited(&mut self, sound: SoundReduction, op: SyncVarOp, site: Site) {
        if self.unsound.is_none_or(|(known, ..)| known < sound) {
            self.unsound = Some((sound, op, site));
        }
    }

    /// Passes the completed execution to the strategy, which may learn from it.
    pub(super) fn tell_over(&mut self) {
        if self.departed.is_none() {
            self.strategy.finished(&CompletedExecution {
                events: self.events.as_slice(),
                trace: &self.trace,
                tasks: &self.tasks[..self.created as usize],
                choices: self.plan.choices(),
            });
        }
    }

    /// Ends the trace with the execution.
    fn end_trace(&mut self, stop: Stop) -> Stop {
        if self.trace.detail() == Analysis::Nothing || self.departed.is_some() {
            return stop;
        }
        let known = self.trace.steps().len() as u64;
        if known > self.steps + 1 {
            self.differed();
        } else if known <= self.steps {
            self.observe();
        }
        if let Some(differed) = self.stop.take() {
            // If it showed something, that is what counts.
            return if matches!(stop, Stop::Complete) {
                differed
            } else {
                stop
            };
        }
        let ending = match &stop {
            Stop::Complete => Ending::Complete,
            Stop::Deadlock => Ending::Stuck,
            _ => Ending::GivenUp,
        };
        self.trace.end(ending, &self.tasks[..self.created as usize]);
        stop
    }

    /// Treats an execution that ended before all its prescribed choices were made as departed from them. If it showed
    /// something, that is what counts.
    fn check_prescribed(&mut self, stop: Stop) -> Stop {
        if self.departed.is_some() {
            return stop;
        }
        let expected = self.plan.choices()[..self.prescribed].get(self.decided).copied();
        if expected.is_none() {
            return stop;
        }
        let at = self.decided;
        if !matches!(stop, Stop::Complete) {
            self.depart();
            return stop;
        }
        if self.events.differs().is_some() {
            self.differed();
            return self.stop.take().expect("what differs ends the execution");
        }
        self.depart();
        Stop::Diverged {
            at,
            expected,
            found: None,
        }
    }

    /// Adds a task, created by the current one, which must run before the next decision.
    pub(super) fn new_task(&mut self, name: Option<Arc<str>>, site: Site) -> std::io::Result<u32> {
        let task = self.created;
        if task as usize == self.fibers.len() {
            self.fibers.push(Fiber::new(self.limits.stack_bytes, serve)?);
        }
        let var = self.vars.add(VarKind::Task, 0, task, 0);
        if task as usize == self.tasks.len() {
            self.tasks.push(Task::new(site));
        }
        let parent = self.current;
        let creator = &mut self.tasks[parent as usize];
        creator.children += 1;
        let ordinal = creator.children;
        self.tasks[task as usize].renew(
            Access::new(SyncVarOp::TaskBegin, var, site),
            parent,
            ordinal,
            name,
        );
        self.created += 1;
        self.live += 1;
        if self.limits.every_operation && task > 0 {
            self.enabled.insert(task);
        } else {
            self.must_run.insert(task);
        }
        if self.created > 64 {
            self.slow_path = true;
        }
        Ok(task)
    }
}
