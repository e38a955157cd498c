//! One execution, from its beginning to its end.

use super::breakpoints::Breakpoints;
use super::teardown::serve;
use super::{Abnormal, CutOffExecution, Engine, ExecutionOutcome, FailureContext, PanicNote, Runtime, Stop};
use crate::record::{Status, VarKind};
use crate::site::Site;
use crate::strategy::{CompletedExecution, Operation};
use crate::trace::{Analysis, Ending, SoundReduction};
use std::sync::Arc;

impl Engine {
    /// Runs one execution of the test, which has been begun.
    pub(super) fn run(self, test: &dyn Fn()) -> ExecutionOutcome {
        let main = self.with(|rt| {
            if rt.monitors.listeners.any() {
                rt.tell_begin();
            }
            rt.new_task(None, Site::caller())
        });
        let body = move || test();
        match main {
            Ok(main) => self.with(|rt| {
                let entry = &mut rt.tasks[main];
                // The main task has no creator. Its counts are those of the previous execution, and must not become
                // part of its identity.
                (entry.children, entry.ordinal) = (0, 0);
                // The main task is not joined: its result is dropped at its end.
                entry.detached = true;
                // SAFETY: the test outlives this call, and the room is emptied before this call returns.
                unsafe { rt.tasks.room(main).fill(body) };
            }),
            Err(error) => self.with(|rt| {
                rt.end.stop = Some(Stop::Misuse(format!(
                    "no memory for the stack of a task: {error}"
                )));
            }),
        }
        self.with(|rt| rt.ready.clear_must_run());
        let mut next = 0;
        while self.with(|rt| rt.end.stop.is_none()) {
            self.resume(next);
            next = self.task();
        }
        self.with(Runtime::note_cut_off_by_program);
        self.finish_unwinding();
        self.drop_statics_early();
        self.with(Runtime::give_up_on_unclear_stacks);
        #[cfg(all(
            feature = "unmodified",
            target_os = "linux",
            any(target_arch = "x86_64", target_arch = "aarch64")
        ))]
        self.publish_leaks();
        let examined = self.with(Runtime::examine);
        self.clear_away(self.with(|rt| rt.end.damaged));
        self.with(|rt| rt.outcome(examined))
    }
}

/// The results of an execution that has ended, before its tasks are cleared away.
struct Examined {
    stop: Stop,
    /// The next operations of the remaining tasks, after a deadlock.
    wanted: Vec<Operation>,
    /// The description of the execution; `None` if there is nothing to report.
    scene: Option<Box<FailureContext>>,
    /// Set if it was cut off.
    cut_off: Option<Box<CutOffExecution>>,
    /// `true` if places of races became schedule points.
    learned_points: bool,
}

impl Runtime {
    /// Ends the record of the execution, notifies the monitors, and describes what there is to report.
    #[inline(always)]
    fn examine(&mut self) -> Examined {
        self.mark_unwinding();
        let mut stop = self.end.stop.take().expect("the loop ends with a reason");
        if let Stop::CutOff = stop {
            return self.examine_cut_off();
        }
        self.note_static_uses();
        self.check_prescribed(&mut stop);
        if self.constraints.ordered_atomics.is_some() {
            self.verify_quiet();
        }
        self.end_trace(&mut stop);
        self.note_sharing();
        let complete = matches!(stop, Stop::Complete) && !self.end.damaged;
        if self.monitors.listeners.any() {
            self.tell_end(complete);
        }
        let learned_points = self.constraints.data_points.is_some() && self.learn_data_points();
        let wanted = match stop {
            Stop::Deadlock => self.wanted(),
            _ => Vec::new(),
        };
        // For everything but the monitors, these ends count as complete.
        let ends_well = match stop {
            Stop::Ended => true,
            Stop::Deadlock if self.limits.deadlocks_allowed => true,
            Stop::Deadlock | Stop::Livelock => self.limits.unmodified && self.has_main_ended(),
            _ => false,
        };
        if ends_well {
            stop = Stop::Complete;
        }
        let breakpoints = self.constraints.breakpoints.as_deref();
        self.constraints.scoping.by_breakpoint = breakpoints.is_some_and(Breakpoints::acted);
        let quiet = matches!(stop, Stop::Complete)
            && !self.end.panics.iter().any(PanicNote::unhandled)
            && self.monitors.listeners.reported.is_empty();
        let scene = match stop {
            _ if quiet => None,
            // It does not count, and there may be many.
            Stop::Inconsistent => Some(Box::default()),
            _ => Some(Box::new(self.scene())),
        };
        Examined {
            stop,
            wanted,
            scene,
            cut_off: None,
            learned_points,
        }
    }

    /// Does the same for an execution that was cut off, from which nothing is concluded.
    #[cold]
    fn examine_cut_off(&mut self) -> Examined {
        if self.monitors.listeners.any() {
            self.tell_end(false);
        }
        Examined {
            stop: Stop::CutOff,
            wanted: Vec::new(),
            scene: None,
            cut_off: Some(Box::new(CutOffExecution { shown: self.shown() })),
            learned_points: false,
        }
    }

    /// Returns the outcome of the execution, whose tasks have been cleared away.
    #[inline(always)]
    fn outcome(&mut self, examined: Examined) -> ExecutionOutcome {
        if self.objects.blocks.any() {
            self.free_blocks(self.end.damaged || self.end.forgot);
        }
        let toucher = self.watched.pulse().outsiders.take_first();
        let trouble = if examined.scene.is_none() && !self.end.damaged {
            None
        } else {
            // The teardown of an execution that ended well crashed: its events are still there.
            let mut scene = examined.scene.map_or_else(|| self.scene(), |scene| *scene);
            scene.toucher.clone_from(&toucher);
            Some(Box::new(Abnormal {
                stop: examined.stop,
                wanted: examined.wanted,
                scene,
                damaged: self.end.damaged,
                crash_cleared: self.end.crash_cleared,
            }))
        };
        let spins = &self.constraints.spins;
        let breakpoints = self.constraints.breakpoints.as_deref();
        let departed = self.decisions.has_departed() && examined.cut_off.is_none();
        ExecutionOutcome {
            steps: self.record.steps,
            switches: self.record.switches,
            tasks: self.tasks.created(),
            plain_accesses: self.monitors.plain_accesses,
            shares: self.record.shares,
            sound: if spins.parks() > 0 {
                self.record.trace.sound().max(self.suits_parked())
            } else {
                self.record.trace.sound()
            },
            fingerprint: self.record.trace.fingerprint(),
            unfair_left_out: self.ready.unfair_left_out(),
            capped: self.world.capped,
            scoping: self.constraints.scoping,
            breakpoints: breakpoints.map_or(Vec::new(), Breakpoints::figures),
            parked: spins.parks(),
            failed_iterations: spins.failed_iterations(),
            // The change was the uncontrolled thread's then, and not one in memory that is not observed.
            unseen_change: spins.unseen_change() && toucher.is_none(),
            unwound: self.end.unwound,
            departed,
            learned: !departed && examined.cut_off.is_none() && spins.has_learned()
                || examined.learned_points,
            cut_off: examined.cut_off,
            toucher,
            trouble,
        }
    }

    /// Returns the strongest reduction that is sound for an execution in which tasks were parked. Within a bound on
    /// preemptions only caching is. A switch away from a parked task is free, and whether it is parked depends on when
    /// it read its variables, which an elided round does not show.
    fn suits_parked(&self) -> SoundReduction {
        match self.record.trace.detail() {
            Analysis::Waits => SoundReduction::Caching,
            _ => SoundReduction::SourceSets,
        }
    }

    /// Begins an execution whose first choices are in `plan`.
    pub(super) fn begin(&mut self) {
        self.objects.begin();
        #[cfg(all(feature = "unmodified", unix, target_pointer_width = "64"))]
        self.begin_reuse();
        self.memory.begin(&*self.decisions.strategy);
        self.decisions.begin();
        self.monitors.watches_memory = self.watches_memory();
        if self.constraints.data_points.is_some() {
            self.monitors.listeners.forget();
        }
        self.tasks.begin();
        self.constraints.begin();
        self.ready.begin(self.constraints.scoped);
        self.world.begin(self.objects.epoch());
        self.record.begin(
            &mut self.decisions.plan,
            self.decisions.asks_always,
            &self.objects.vars,
            self.tasks.with_earlier(),
        );
        self.looks.begin(self.limits.steps);
        self.monitors.begin();
        self.monitors.logs_only = self.logs_only();
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

    /// Returns `true` if the test's own function has returned.
    pub(super) fn has_main_ended(&self) -> bool {
        self.tasks[0].status == Status::Ended
    }

    /// Ends the trace with the execution. If the execution differs from the previous one, that becomes the reason why
    /// it stopped, unless it has shown a failure.
    #[inline(always)]
    fn end_trace(&mut self, stop: &mut Stop) {
        if self.record.trace.detail() == Analysis::Nothing || self.decisions.has_departed() {
            return;
        }
        let known = self.record.trace.steps().len() as u64;
        if known > self.record.steps + 1 {
            self.differed();
        } else if known <= self.record.steps {
            self.observe();
        }
        if let Some(differed) = self.end.stop.take() {
            if matches!(stop, Stop::Complete | Stop::Ended) {
                *stop = differed;
            }
            return;
        }
        let ending = match stop {
            Stop::Complete => Ending::Complete,
            // Other executions show what happens with the other stores.
            Stop::Inconsistent => Ending::Complete,
            Stop::Deadlock => Ending::Stuck,
            Stop::Ended if !self.end.cut_others_off => Ending::Stuck,
            _ => Ending::GivenUp,
        };
        self.record.trace.end(ending, self.tasks.as_slice());
    }

    /// Treats an execution that ended before all its prescribed choices were made as departed from them. If it has
    /// shown a failure, that remains the reason why it stopped.
    #[inline(always)]
    fn check_prescribed(&mut self, stop: &mut Stop) {
        if self.decisions.has_departed() {
            return;
        }
        let expected = self.decisions.next_prescribed();
        if expected.is_none() {
            return;
        }
        let at = self.decisions.decided();
        if !matches!(stop, Stop::Complete | Stop::Ended) {
            self.depart();
        } else if self.record.events.differs().is_some() {
            self.differed();
            *stop = self.end.stop.take().expect("what differs ends the execution");
        } else {
            self.depart();
            *stop = Stop::Diverged {
                at,
                expected,
                found: None,
            };
        }
    }

    /// Abandons the execution, to be run again with the same choices, if remains of earlier tasks on the stacks may
    /// have influenced which tasks were parked.
    #[inline(always)]
    fn give_up_on_unclear_stacks(&mut self) {
        let ends = !matches!(
            self.end.stop,
            Some(Stop::CutOff | Stop::Hung(_) | Stop::Crashed(_))
        );
        self.end.is_unclear = self.tasks.is_unclear() && ends && !self.end.damaged;
        if self.end.is_unclear && !self.decisions.has_departed() {
            self.depart();
        }
    }

    /// Adds a task, created by the current one, which must run before the next decision.
    pub(super) fn new_task(&mut self, name: Option<Arc<str>>, site: Site) -> std::io::Result<u32> {
        let task = self.tasks.prepare(self.limits.stack_bytes, serve)?;
        let var = self.objects.vars.add(VarKind::Task, 0, task, 0);
        self.tasks.add(var, name, site);
        self.let_begin(task);
        if self.tasks.created() > 64 {
            self.ready.take_slow_path();
        }
        Ok(task)
    }
}
