//! PCT, probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatte, ASPLOS 2010).
//!
//! Tasks get random priorities, and the enabled task with the highest one goes. At `depth - 1` change points, drawn
//! beforehand, the task that would go is lowered below all others. A bug of depth d is one that d constraints on the
//! order of operations are enough to provoke. An execution finds it with probability at least 1/(n k^(d-1)), for n
//! tasks and k places.
//!
//! Differs: places are counted where there is a choice between tasks, not at each step. When a task is lowered the next
//! one counts as another place, so that two may be lowered before one step. So k is the most steps of an execution from
//! its first choice on, plus `depth - 1`. n and k are those of the executions that were learned from. If the choice is
//! not about tasks, any alternative has the same probability. A task that yields gets the lowest priority.
//!
//! Misses: bugs that take more steps than were learned of, and bugs that are lost with a priority that a yield has
//! cost.

use super::priorities::{Changes, Priorities};
use super::{Drawn, Generator, Policy, Profile, uniform};
use intermezzo_engine::schedule::ChoiceKind;
use intermezzo_engine::strategy::ChoicePoint;

/// Priorities that change `depth - 1` times.
pub(crate) struct Pct {
    depth: u32,
    priorities: Priorities,
    changes: Changes,
}

impl Pct {
    /// Returns the policy for bugs of this depth, at least 1.
    pub(crate) fn new(depth: u32) -> Pct {
        Pct {
            depth,
            priorities: Priorities::default(),
            changes: Changes::default(),
        }
    }
}

/// Returns the number of places for changes: the most steps that were seen, and those that changes add.
pub(crate) fn places(depth: u32, known: &Profile) -> u64 {
    known.steps().max(1) + u64::from(depth - 1)
}

/// Returns the reliability of the numbers of tasks and places.
pub(crate) fn so_far(drawn: &Drawn<'_>) -> &'static str {
    match drawn.beyond {
        true => ", as the first executions had them (later ones had more)",
        false => ", as all executions had them",
    }
}

impl Policy for Pct {
    fn name(&self) -> String {
        format!("pct({})", self.depth)
    }

    fn begin(&mut self, _: u64, known: &Profile, random: &mut Generator) {
        self.priorities.begin();
        self.changes
            .draw(self.depth - 1, places(self.depth, known), random);
    }

    fn choose(&mut self, point: &ChoicePoint<'_>, _: &Profile, random: &mut Generator) -> u32 {
        if point.kind != ChoiceKind::Task {
            return uniform(point, random);
        }
        self.changes.choose(&mut self.priorities, point, random, |_| true)
    }

    fn notes(&self, drawn: &Drawn<'_>) -> Vec<String> {
        let (tasks, places) = (drawn.known.tasks(), places(self.depth, drawn.known));
        vec![format!(
            "{}: with at most {tasks} tasks and {places} places for a change of priority{}, an execution finds a bug of \
             depth {} with a probability of at least 1/({tasks} * {places}^{})",
            self.name(),
            so_far(drawn),
            self.depth,
            self.depth - 1
        )]
    }

    fn fork(&self) -> Box<dyn Policy> {
        Box::new(Pct::new(self.depth))
    }
}
