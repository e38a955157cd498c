//! One execution, from its beginning to its end.

use super::breakpoints::Breakpoints;
use super::teardown::serve;
use super::{Abnormal, CURRENT, Engine, ExecutionOutcome, PanicNote, Runtime, Stop};
use crate::record::{Site, VarKind};
use crate::strategy::CompletedExecution;
use crate::trace::{Analysis, Ending, SoundReduction};
use intermezzo_sdk::Interests;
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
        if self.rt().monitored.listeners.any() {
            self.rt().tell_begin();
        }
        let body = move || test();
        match self.rt().new_task(None, Location::caller()) {
            Ok(main) => {
                let entry = &mut self.rt().tasks[main];
                // The main task has no creator. The counts are of the execution before, and must not enter its
                // identity.
                (entry.children, entry.ordinal) = (0, 0);
                // The main task is not joined: its result is dropped at its end.
                entry.detached = true;
                // SAFETY: the test outlives this call, and the room is emptied before it returns.
                unsafe { self.rt().tasks.room(main).fill(body) };
            }
            Err(error) => {
                self.rt().end.stop = Some(Stop::Misuse(format!(
                    "no memory for the stack of a task: {error}"
                )))
            }
        }
        self.rt().ready.clear_must_run();
        let mut next = 0;
        while self.rt().end.stop.is_none() {
            self.resume(next);
            next = self.rt().tasks.current();
        }
        let rt = self.rt();
        rt.mark_unwinding();
        let stop = rt.end.stop.take().expect("the loop ends with a reason");
        let stop = rt.check_prescribed(stop);
        rt.verify_quiet();
        let stop = rt.end_trace(stop);
        let complete = matches!(stop, Stop::Complete);
        if rt.monitored.listeners.any() {
            rt.tell_end(complete);
        }
        let learned_points = rt.constraints.data_points.is_some() && rt.learn_data_points();
        let wanted = match stop {
            Stop::Deadlock => rt.wanted(),
            _ => Vec::new(),
        };
        // To all but the monitors this is an end like any other.
        let stop = match stop {
            Stop::Deadlock if rt.limits.deadlocks_allowed => Stop::Complete,
            other => other,
        };
        rt.constraints.scoping.by_breakpoint = rt
            .constraints
            .breakpoints
            .as_deref()
            .is_some_and(Breakpoints::acted);
        let quiet = matches!(stop, Stop::Complete)
            && !rt.end.panics.iter().any(PanicNote::unhandled)
            && rt.monitored.listeners.reported.is_empty();
        let scene = if quiet { None } else { Some(rt.scene()) };
        rt.clear_away(rt.end.damaged);
        let rt = self.rt();
        if rt.objects.blocks.any() {
            rt.free_blocks(rt.end.damaged || rt.end.forgot);
        }
        let toucher = rt.watched.pulse().toucher();
        let trouble = if quiet && !rt.end.damaged {
            None
        } else {
            // The teardown of an execution that ended well crashed: its events are still there.
            let mut scene = scene.unwrap_or_else(|| rt.scene());
            scene.toucher.clone_from(&toucher);
            Some(Box::new(Abnormal {
                stop,
                wanted,
                scene,
                damaged: rt.end.damaged,
                crash_cleared: rt.end.crash_cleared,
            }))
        };
        ExecutionOutcome {
            steps: rt.record.steps,
            switches: rt.record.switches,
            tasks: rt.tasks.created(),
            plain_accesses: rt.monitored.plain_accesses,
            sound: if rt.constraints.spins.parks() > 0 {
                rt.record.trace.sound().max(rt.suits_parked())
            } else {
                rt.record.trace.sound()
            },
            fingerprint: rt.record.trace.fingerprint(),
            unfair_left_out: rt.ready.unfair_left_out(),
            capped: rt.world.capped,
            scoping: rt.constraints.scoping,
            breakpoints: rt
                .constraints
                .breakpoints
                .as_deref()
                .map_or(Vec::new(), Breakpoints::figures),
            parked: rt.constraints.spins.parks(),
            failed_iterations: rt.constraints.spins.failed_iterations(),
            unseen_change: rt.constraints.spins.unseen_change(),
            unwound: rt.end.unwound,
            departed: rt.decisions.has_departed(),
            learned: !rt.decisions.has_departed() && rt.constraints.spins.has_learned() || learned_points,
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
        match self.record.trace.detail() {
            Analysis::Waits => SoundReduction::Caching,
            _ => SoundReduction::SourceSets,
        }
    }

    /// Begins an execution whose first choices are in `plan`.
    pub(super) fn begin(&mut self) {
        self.objects.begin();
        self.decisions.begin();
        self.monitored.watches_memory = self.watches_memory();
        if self.constraints.data_points.is_some() {
            self.monitored.listeners.forget();
        }
        self.tasks.begin();
        // Monitors that are notified of preemptions are notified on the slow path of decisions.
        let heard = self.monitored.listening.intersects(Interests::ATTRIBUTES);
        self.constraints.begin(heard);
        self.ready.begin(self.constraints.scoped);
        self.world.begin();
        self.record.begin(
            &mut self.decisions.plan,
            self.decisions.asks_always,
            &self.objects.vars,
            self.tasks.with_earlier(),
        );
        self.monitored.begin();
        self.end.begin();
    }

    /// Passes the completed execution to the strategy, which may learn from it.
    pub(super) fn tell_over(&mut self) {
        if !self.decisions.has_departed() {
            self.decisions.strategy.finished(&CompletedExecution {
                events: self.record.events.as_slice(),
                trace: &self.record.trace,
                tasks: self.tasks.as_slice(),
                choices: self.decisions.plan.choices(),
            });
        }
    }

    /// Ends the trace with the execution.
    fn end_trace(&mut self, stop: Stop) -> Stop {
        if self.record.trace.detail() == Analysis::Nothing || self.decisions.has_departed() {
            return stop;
        }
        let known = self.record.trace.steps().len() as u64;
        if known > self.record.steps + 1 {
            self.differed();
        } else if known <= self.record.steps {
            self.observe();
        }
        if let Some(differed) = self.end.stop.take() {
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
        self.record.trace.end(ending, self.tasks.as_slice());
        stop
    }

    /// Treats an execution that ended before all its prescribed choices were made as departed from them. If it showed
    /// something, that is what counts.
    fn check_prescribed(&mut self, stop: Stop) -> Stop {
        if self.decisions.has_departed() {
            return stop;
        }
        let expected = self.decisions.next_prescribed();
        if expected.is_none() {
            return stop;
        }
        let at = self.decisions.decided();
        if !matches!(stop, Stop::Complete) {
            self.depart();
            return stop;
        }
        if self.record.events.differs().is_some() {
            self.differed();
            return self.end.stop.take().expect("what differs ends the execution");
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
        let task = self.tasks.prepare(self.limits.stack_bytes, serve)?;
        let var = self.objects.vars.add(VarKind::Task, 0, task, 0);
        self.tasks.add(var, name, site);
        if self.limits.every_operation && task > 0 {
            self.ready.enable(task);
        } else {
            self.ready.run_first(task);
        }
        if self.tasks.created() > 64 {
            self.ready.take_slow_path();
        }
        Ok(task)
    }
}
