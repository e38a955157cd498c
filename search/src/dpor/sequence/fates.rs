//! The fates of the steps of a sequence, compared with those of sleeping tasks.

use super::super::sleep::{Footprint, Sleeper, is_asleep};
use super::super::values::{Fate, Values, fate_of, values};
use super::{Done, Planned, Sequence};
use intermezzo_engine::schedule::Choice;
use intermezzo_engine::trace::{Class, StepAccess, Trace, conflict};
use smallvec::SmallVec;

/// The fate that the operation of a task is assumed to have, which comes after its steps in the sequence.
#[derive(Clone)]
pub(super) struct Assumed {
    task: u32,
    fate: Fate,
    access: StepAccess,
    /// The number of steps that the task takes before.
    after: usize,
}

/// The state of a sequence before it began again.
pub(in super::super) struct Before {
    steps: SmallVec<[Planned; 16]>,
    from: usize,
    done: Vec<Done>,
    counts_otherwise: bool,
    fate: Option<Fate>,
    otherwise: Option<Footprint>,
    assumed: SmallVec<[Assumed; 1]>,
}

impl Sequence {
    /// Returns `true` if a sleeping task begins the sequence with its step in it, as it was tried. `sleepers` are all that
    /// sleep where the sequence begins.
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

    /// Returns `true` if trying the sleeper's step tried the step at a place: it was tried with the same values.
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

    /// Returns the values of the step at a place, or its fate only; `None` if it may choose others.
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

    /// Assumes that the operation of a task has this fate, and begins with all steps again. With the other fate, its step
    /// has the footprint `other`. Returns the state before, for [`Sequence::put_back`]; `None` if nothing is known of the
    /// step with this fate.
    pub(in super::super) fn assume(&mut self, task: u32, fate: Fate, other: &[StepAccess]) -> Option<Before> {
        let class = match fate {
            Fate::Succeeds => Class::Write,
            Fate::Fails => Class::Read,
        };
        let &[StepAccess { key, .. }] = other else {
            return None;
        };
        if key.unknown_from().is_some() {
            return None;
        }
        let has_step = self.left().iter().any(|planned| planned.task == task);
        // The operation is recognised by the number of steps before it.
        if self.counts_otherwise {
            return None;
        }
        let after = self.done_by(task);
        let before = self.begin_again();
        let access = StepAccess { key, class };
        if has_step {
            self.fate = Some(fate);
            self.otherwise = Some(Footprint::from_slice(&[access]));
        } else {
            self.assumed.push(Assumed {
                task,
                fate,
                access,
                after,
            });
        }
        Some(before)
    }

    /// Begins with all steps again, as if none was done. Returns the state before, for [`Sequence::put_back`].
    pub(in super::super) fn begin_again(&mut self) -> Before {
        let before = Before {
            steps: self.planned[..self.end].into(),
            from: self.from,
            done: std::mem::take(&mut self.done),
            counts_otherwise: self.counts_otherwise,
            fate: self.fate,
            otherwise: self.otherwise.clone(),
            assumed: self.assumed.clone(),
        };
        (self.from, self.counts_otherwise) = (0, false);
        before
    }

    /// Restores a state.
    pub(in super::super) fn put_back(&mut self, before: Before) {
        self.planned[..self.end].copy_from_slice(&before.steps);
        self.from = before.from;
        self.done = before.done;
        self.counts_otherwise = before.counts_otherwise;
        self.fate = before.fate;
        self.otherwise = before.otherwise;
        self.assumed = before.assumed;
    }

    /// Returns the number of steps of a task that are done.
    fn done_by(&self, task: u32) -> usize {
        self.done.iter().filter(|done| done.task == task).count()
    }

    /// Returns the fate that the next operation of a task is assumed to have.
    #[inline(always)]
    pub(in super::super) fn assumed(&self, task: u32) -> Option<Fate> {
        let is_next = |assumed: &&Assumed| assumed.task == task && assumed.after == self.done_by(task);
        self.assumed.iter().find(is_next).map(|assumed| assumed.fate)
    }

    /// Returns `true` if the assumed operation of a task commutes with everything.
    pub(in super::super) fn assumed_commutes(&self, trace: &Trace, task: u32) -> bool {
        let mut own = self.assumed.iter().filter(|assumed| assumed.task == task);
        own.all(|assumed| {
            let footprint = Footprint::from_slice(&[assumed.access]);
            self.may_begin(trace, task, &footprint, false) == Some(None)
        })
    }

    /// Returns `true` if a step of a task with this footprint does not commute with an assumed operation of another.
    #[inline(always)]
    pub(super) fn wakes_assumed(&self, task: u32, footprint: &[StepAccess]) -> bool {
        let wakes = |assumed: &Assumed| {
            assumed.task != task
                && assumed.after >= self.done_by(assumed.task)
                && conflict(&[assumed.access], footprint)
        };
        self.assumed.iter().any(wakes)
    }

    /// Returns `true` if the step at a place may have either fate.
    pub(in super::super) fn may_have_either(&self, trace: &Trace, choices: &[Choice], place: usize) -> bool {
        self.fate.is_none()
            && self.left()[place].step().is_some()
            && self.made_in(trace, choices, place).is_none()
    }

    /// Uses the footprint that `planned` knows of the second step of the race, where that can come first and is planned
    /// already.
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

    /// Returns `true` if the operation of a task that is assumed to have a fate is not done.
    pub(in super::super) fn is_to_have_fate(&self, task: u32) -> bool {
        let mut assumed = self.assumed.iter().filter(|assumed| assumed.task == task);
        match assumed.next() {
            Some(assumed) => assumed.after >= self.done_by(task),
            None => {
                let is_second = |planned: &Planned| planned.task == task && planned.step() == self.reversed;
                self.left().iter().any(is_second)
            }
        }
    }
}
