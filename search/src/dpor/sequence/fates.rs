//! The fates of the steps of a sequence, compared with those of sleeping tasks.

use super::super::sleep::{Footprint, Sleeper, is_asleep};
use super::super::values::{Fate, Values, fate_of, values};
use super::{Done, Planned, Sequence};
use intermezzo_engine::schedule::Choice;
use intermezzo_engine::trace::{StepAccess, Trace, conflict};
use smallvec::SmallVec;

/// A step that is not part of the sequence: it was done before the sequence's end, or is assumed to come after it.
#[derive(Clone)]
pub(in super::super) struct Assumed {
    task: u32,
    /// The number of steps that its task takes before it.
    after: usize,
    /// The values that it chooses.
    pub(in super::super) values: Values,
    footprint: Footprint,
}

/// Steps that are assumed to come after a sequence, and the fate of its last step.
pub(in super::super) struct Assumption {
    assumed: SmallVec<[Assumed; 1]>,
    fate: Option<Fate>,
    otherwise: Option<Footprint>,
}

/// The state of a sequence before it was reset, to be restored.
pub(in super::super) struct Before {
    steps: SmallVec<[Planned; 16]>,
    from: usize,
    done: Vec<Done>,
    outside: SmallVec<[Assumed; 1]>,
    is_outside_unknown: bool,
    counts_otherwise: bool,
    assumption: Assumption,
}

impl Sequence {
    /// Returns `true` if the sequence can begin with a step of a sleeping task, and that step was tried. `sleepers` are
    /// all sleepers where the sequence begins.
    #[inline(always)]
    pub(in super::super) fn begins_asleep(
        &self,
        trace: &Trace,
        choices: &[Choice],
        sleeper: &Sleeper,
        sleepers: &[Sleeper],
    ) -> bool {
        let place = self
            .left()
            .iter()
            .position(|planned| planned.task == sleeper.task);
        place.is_some_and(|place| {
            self.can_be_first(trace, place) && self.is_tried(trace, choices, place, sleeper, sleepers)
        })
    }

    /// Returns `true` if the step at a place is the step that the sleeper tried: it chooses the same values.
    #[inline(always)]
    pub(in super::super) fn is_tried(
        &self,
        trace: &Trace,
        choices: &[Choice],
        place: usize,
        sleeper: &Sleeper,
        sleepers: &[Sleeper],
    ) -> bool {
        sleeper.values.is_empty()
            || match self.values_at(trace, choices, place) {
                Some(own) => own.starts_with(&sleeper.values),
                None => is_asleep(sleepers, sleeper.task),
            }
    }

    /// Returns the values of the step at a place, or only its fate; `None` if it may choose others.
    #[cold]
    fn values_at(&self, trace: &Trace, choices: &[Choice], place: usize) -> Option<Values> {
        let made = self.made_in(trace, choices, place).map(values);
        made.or_else(|| {
            Some(Values::from_slice(&[self
                .fate_at(trace, choices, place)?
                .value()]))
        })
    }

    /// Returns the fate of the step at a place; `None` if it has no choice of fates, or may have either.
    pub(in super::super) fn fate_at(&self, trace: &Trace, choices: &[Choice], place: usize) -> Option<Fate> {
        match self.left()[place].step() {
            Some(step) if self.reversed == Some(step) => self.fate,
            Some(step) => fate_of(trace, choices, step),
            None => None,
        }
    }

    /// Returns the fate of the second step of the race, if the sequence plans one.
    pub(in super::super) fn fate(&self) -> Option<Fate> {
        self.fate
    }

    /// Assumes that the next operation of a task has this fate, and resets the sequence to all its steps. With the
    /// other fate, its step has the footprint `other`. Steps that are done, and are not part of the sequence, are
    /// assumed to come before it. Returns the previous state, for [`Sequence::put_back`]; `None` if nothing is known of
    /// the step with this fate.
    pub(in super::super) fn assume(&mut self, task: u32, fate: Fate, other: &[StepAccess]) -> Option<Before> {
        let &[StepAccess { key, .. }] = other else {
            return None;
        };
        // The operation is recognised by the number of steps before it.
        if key.unknown_from().is_some() || self.counts_otherwise || self.is_outside_unknown {
            return None;
        }
        let has_step = self.left().iter().any(|planned| planned.task == task);
        let after = self.done_by(task);
        let before = self.begin_again();
        let footprint = Footprint::from_slice(&[fate.access(key)]);
        self.assumed.extend(before.outside.iter().cloned());
        if has_step {
            self.fate = Some(fate);
            self.otherwise = Some(footprint);
        } else {
            self.assumed.push(Assumed {
                task,
                after,
                values: Values::from_slice(&[fate.value()]),
                footprint,
            });
        }
        Some(before)
    }

    /// Returns the current assumption.
    pub(in super::super) fn assumption(&self) -> Assumption {
        Assumption {
            assumed: self.assumed.clone(),
            fate: self.fate,
            otherwise: self.otherwise.clone(),
        }
    }

    /// Makes an earlier assumption again, and resets the sequence to all its steps.
    pub(in super::super) fn assume_again(&mut self, assumption: &Assumption) {
        self.done.clear();
        self.outside.clear();
        self.restart();
        self.assumed.clone_from(&assumption.assumed);
        self.fate = assumption.fate;
        self.otherwise.clone_from(&assumption.otherwise);
    }

    /// Resets the sequence to all its steps, as if none was done. Returns the previous state, for
    /// [`Sequence::put_back`].
    pub(in super::super) fn begin_again(&mut self) -> Before {
        let before = Before {
            steps: self.planned[..self.end].into(),
            from: self.from,
            done: std::mem::take(&mut self.done),
            outside: std::mem::take(&mut self.outside),
            is_outside_unknown: self.is_outside_unknown,
            counts_otherwise: self.counts_otherwise,
            assumption: self.assumption(),
        };
        self.restart();
        before
    }

    /// Makes all steps remaining ones.
    fn restart(&mut self) {
        self.from = 0;
        (self.counts_otherwise, self.is_outside_unknown) = (false, false);
    }

    /// Restores a state.
    pub(in super::super) fn put_back(&mut self, before: Before) {
        self.planned[..self.end].copy_from_slice(&before.steps);
        self.from = before.from;
        (self.done, self.outside) = (before.done, before.outside);
        self.counts_otherwise = before.counts_otherwise;
        self.is_outside_unknown = before.is_outside_unknown;
        let Assumption {
            assumed,
            fate,
            otherwise,
        } = before.assumption;
        (self.assumed, self.fate, self.otherwise) = (assumed, fate, otherwise);
    }

    /// Notes that a step that is not part of the sequence is done. `is_known` is `true` if this is all of its
    /// footprint.
    #[cold]
    pub(super) fn take_outside(
        &mut self,
        task: u32,
        values: &[u32],
        footprint: &[StepAccess],
        is_known: bool,
    ) {
        let after = self.done_by(task);
        let is_at = |assumed: &Assumed| assumed.task == task && assumed.after == after;
        if self.assumed.iter().any(is_at) {
            return;
        }
        self.is_outside_unknown |= !is_known;
        self.outside.push(Assumed {
            task,
            after,
            values: Values::from_slice(values),
            footprint: Footprint::from_slice(footprint),
        });
    }

    /// Returns the number of steps of a task that are done.
    fn done_by(&self, task: u32) -> usize {
        self.done.iter().filter(|done| done.task == task).count()
    }

    /// Returns the next step of a task, if it is assumed to take one.
    #[inline(always)]
    pub(in super::super) fn assumed(&self, task: u32) -> Option<&Assumed> {
        self.assumed.iter().find(|assumed| self.is_next(assumed, task))
    }

    fn is_next(&self, assumed: &Assumed, task: u32) -> bool {
        assumed.task == task && assumed.after == self.done_by(task)
    }

    /// Returns `true` if the assumed steps of a task commute with everything in the sequence.
    pub(in super::super) fn assumed_commutes(&self, trace: &Trace, task: u32) -> bool {
        let mut own = self.assumed.iter().filter(|assumed| assumed.task == task);
        own.all(|assumed| self.may_begin(trace, task, &assumed.footprint, false) == Some(None))
    }

    /// Returns `true` if a step of a task with this footprint conflicts with an assumed step of another task that is
    /// not done. Only steps that are assumed before the task's own next one count.
    #[inline(always)]
    pub(super) fn wakes_assumed(&self, task: u32, footprint: &[StepAccess]) -> bool {
        let mut before = self
            .assumed
            .iter()
            .take_while(|assumed| !self.is_next(assumed, task));
        before.any(|assumed| {
            assumed.task != task
                && assumed.after >= self.done_by(assumed.task)
                && conflict(&assumed.footprint, footprint)
        })
    }

    /// Returns `true` if the step at a place may have either fate.
    pub(in super::super) fn may_have_either(&self, trace: &Trace, choices: &[Choice], place: usize) -> bool {
        self.fate.is_none()
            && self.left()[place].step().is_some()
            && self.made_in(trace, choices, place).is_none()
    }

    /// Returns the footprint of the step at a place.
    pub(in super::super) fn footprint_at(&self, trace: &Trace, place: usize) -> Footprint {
        self.with_footprint(trace, &self.left()[place], Footprint::from_slice)
    }

    /// Uses the class of this footprint, from a branch that was planned after the same steps, for the step at a place,
    /// if that is the second step of the race.
    #[cold]
    pub(in super::super) fn learn_along(&mut self, trace: &Trace, place: usize, footprint: &[StepAccess]) {
        let step = self.left()[place].step();
        let Some(step) =
            step.filter(|_| step == self.reversed && self.fate.is_none() && self.otherwise.is_none())
        else {
            return;
        };
        if let (&[StepAccess { key, .. }], &[StepAccess { class, .. }]) = (trace.footprint(step), footprint) {
            self.otherwise = Some(Footprint::from_slice(&[StepAccess { key, class }]));
        }
    }

    /// Assumes this fate of the step at a place, which may have either.
    pub(in super::super) fn have_fate(&mut self, trace: &Trace, place: usize, fate: Fate) {
        let step = self.left()[place].step();
        if let Some(own) = step.and_then(|step| trace.footprint(step).first()) {
            self.fate = Some(fate);
            self.otherwise = Some(Footprint::from_slice(&[fate.access(own.key)]));
        }
    }

    /// Uses the footprint that `planned` returns for the second step of the race, if that step can come first and is
    /// already planned.
    #[cold]
    pub(in super::super) fn learn_footprint(
        &mut self,
        trace: &Trace,
        planned: impl FnOnce(u32) -> Option<Footprint>,
    ) {
        if self.fate.is_some() || self.otherwise.is_some() {
            return;
        }
        let is_reversed = |planned: &Planned| planned.step().is_some() && planned.step() == self.reversed;
        let place = self.left().iter().position(is_reversed);
        let Some(place) = place.filter(|&place| self.can_be_first(trace, place)) else {
            return;
        };
        let task = self.left()[place].task;
        if self.left()[..place].iter().all(|planned| planned.task != task) {
            self.otherwise = planned(task);
        }
    }

    /// Returns `true` if the operation whose fate was assumed has not been done yet. It is the last assumed step, if
    /// that is the task's; otherwise the second step of the race, if that is the task's and remains in the sequence.
    pub(in super::super) fn is_to_have_fate(&self, task: u32) -> bool {
        match self.assumed.last().filter(|assumed| assumed.task == task) {
            Some(assumed) => assumed.after >= self.done_by(task),
            None => {
                let is_second = |planned: &Planned| planned.task == task && planned.step() == self.reversed;
                self.left().iter().any(is_second)
            }
        }
    }
}
