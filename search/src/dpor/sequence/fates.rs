//! The fates of the steps of a sequence, compared with those of sleeping tasks.

use super::super::sleep::{Sleeper, is_asleep};
use super::super::values::{Fate, Values, fate_of, values};
use super::Sequence;
use intermezzo_engine::schedule::Choice;
use intermezzo_engine::trace::Trace;

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
}
