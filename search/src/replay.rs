//! Replay: one schedule, once.

use intermezzo_engine::schedule::Choice;
use intermezzo_engine::strategy::{ChoicePoint, Coverage, Needs, Plan, SoFar, Status, Strategy};
use intermezzo_engine::trace::Trace;

/// A search of one schedule, once.
pub struct Replay {
    schedule: Option<Vec<Choice>>,
}

impl Replay {
    /// Returns a search of the execution that makes exactly these choices.
    pub fn new(schedule: Vec<Choice>) -> Replay {
        Replay {
            schedule: Some(schedule),
        }
    }
}

impl Strategy for Replay {
    fn next(&mut self, plan: &mut Plan, _: &Trace) -> bool {
        match self.schedule.take() {
            Some(schedule) => {
                plan.replace(&schedule);
                true
            }
            None => false,
        }
    }

    fn choose(&mut self, _: &ChoicePoint<'_>) -> Option<u32> {
        None
    }

    fn coverage(&self, _: bool) -> Coverage {
        match self.schedule {
            None => Coverage::Replayed { as_recorded: true },
            Some(_) => Coverage::stopped(),
        }
    }

    fn status(&self, _: &SoFar<'_>) -> Status {
        Status::named("replay")
    }

    fn needs(&self) -> Needs {
        Needs {
            scope: false,
            ..Needs::default()
        }
    }
}
