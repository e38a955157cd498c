//! PCT, probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatte, ASPLOS 2010).
//!
//! Tasks get random priorities, and the enabled task with the highest one runs. At `depth - 1` change points, drawn
//! beforehand, the priority of the task that would run is lowered below all others. A bug of depth d is one that d
//! constraints on the order of operations are enough to provoke. An execution finds it with probability at least 1/(n
//! k^(d-1)), for n tasks and k places.
//!
//! Differs: places are counted where there is a choice between tasks, not at each step. When the priority of a task is
//! lowered, the task with the next highest one counts as another place, so two tasks may be lowered before one step. So
//! k is the maximum number of steps of an execution from its first choice on, plus `depth - 1`. n and k are those of
//! the executions that were learned from. If a choice is not about tasks, each alternative has the same probability. A
//! task that yields gets the lowest priority.
//!
//! Misses: bugs that take more steps than the executions that were learned from had, and bugs that need a task to keep
//! its priority when it yields.

use super::priorities::{Changes, Priorities};
use super::{Draw, Drawn, Generator, Policy, Profile, uniform};
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

/// Returns the number of places for change points: the maximum number of steps, and the places that changes add.
pub(crate) fn places(depth: u32, steps: u64) -> u64 {
    steps.max(1) + u64::from(depth - 1)
}

/// Returns the part of a note that says for which executions the numbers of tasks and places hold.
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

    fn begin(&mut self, draw: Draw, known: &Profile, random: &mut Generator) {
        self.priorities.begin();
        self.changes
            .draw(self.depth - 1, places(self.depth, known.steps_of(draw)), random);
    }

    fn choose(&mut self, point: &ChoicePoint<'_>, _: &Profile, random: &mut Generator) -> u32 {
        if point.kind != ChoiceKind::Task {
            return uniform(point, random);
        }
        self.changes.choose(&mut self.priorities, point, random, |_| true)
    }

    fn notes(&self, drawn: &Drawn<'_>) -> Vec<String> {
        let (tasks, places) = (drawn.known.tasks(), places(self.depth, drawn.known.steps()));
        let clones = match drawn.known.has_clones() {
            true => "; a quarter of that, if a task has to be preempted where it clones a handle",
            false => "",
        };
        vec![format!(
            "{}: with at most {tasks} tasks and {places} places for a change of priority{}, an execution finds a bug of \
             depth {} with a probability of at least 1/({tasks} * {places}^{}){clones}",
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
