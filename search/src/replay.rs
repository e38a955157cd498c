//! Replay: runs one schedule, once.

use intermezzo_engine::schedule::Choice;
use intermezzo_engine::strategy::{ChoicePoint, Coverage, Needs, Plan, SoFar, Status, Strategy};
use intermezzo_engine::trace::Trace;

/// A search that runs one schedule, once.
pub struct Replay {
    schedule: Option<Vec<Choice>>,
    /// `true` if the execution may make choices after those of the schedule.
    goes_on: bool,
}

impl Replay {
    /// Returns a search that runs the execution that makes exactly these choices.
    pub fn new(schedule: Vec<Choice>) -> Replay {
        Replay {
            schedule: Some(schedule),
            goes_on: false,
        }
    }

    /// Returns a search that runs the execution that makes these choices first, and takes the default alternatives
    /// after them.
    pub fn and_on(schedule: Vec<Choice>) -> Replay {
        Replay {
            goes_on: true,
            ..Replay::new(schedule)
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
        self.goes_on.then_some(0)
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
