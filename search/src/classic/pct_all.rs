//! PCT without randomness: every relevant order of priorities, with every placement of the change points.
//!
//! It follows from the proof of the bound in Burckhardt, Kothari, Musuvathi, Nagarakatte, ASPLOS 2010; CHESS calls it
//! de-randomised PCT. Of the initial priorities, only the lowest one matters. The others may be in any order; here they
//! are in the order of creation. So n k (k-1) .. executions, with `depth - 1` factors after n, provoke every bug of
//! depth d. That holds for tests whose executions have no more tasks and steps than those that were learned from; the
//! report says if one had more. Choices that are not about tasks take their default alternatives, so a bug that needs
//! another one is missed. `sampling/pct.rs` lists the other differences.

use crate::sampling::pct::places;
use crate::sampling::priorities::{Changes, Priorities};
use crate::sampling::{Draw, Drawn, Generator, Policy, Profile};
use intermezzo_engine::schedule::ChoiceKind;
use intermezzo_engine::strategy::ChoicePoint;

/// A policy that gives each task the lowest priority, with each placement of `depth - 1` change points.
pub(crate) struct PctAll {
    depth: u32,
    priorities: Priorities,
    changes: Changes,
}

impl PctAll {
    /// Returns the policy for bugs of this depth, at least 1.
    pub(crate) fn new(depth: u32) -> PctAll {
        PctAll {
            depth,
            priorities: Priorities::default(),
            changes: Changes::default(),
        }
    }
}

/// Returns for each change point the number of places that the ones before it leave.
fn places_left(depth: u32, known: &Profile) -> impl Iterator<Item = u64> + use<> {
    let all = places(depth, known.steps());
    (0..u64::from(depth - 1)).map(move |placed| all - placed)
}

impl Policy for PctAll {
    fn name(&self) -> String {
        format!("pct-all({})", self.depth)
    }

    fn begin(&mut self, Draw { number, .. }: Draw, known: &Profile, _: &mut Generator) {
        let tasks = known.tasks().max(1);
        self.priorities.begin_in_order((number % tasks) as u32);
        self.changes.begin();
        let mut rest = number / tasks;
        let mut taken: Vec<u64> = Vec::new();
        for (level, left) in (0..).zip(places_left(self.depth, known)) {
            // This is the place with that number among those that are not taken.
            let mut place = rest % left + 1;
            rest /= left;
            for &other in &taken {
                place += u64::from(other <= place);
            }
            let at = taken.partition_point(|&other| other < place);
            taken.insert(at, place);
            self.changes.add(place, level);
        }
    }

    fn choose(&mut self, point: &ChoicePoint<'_>, _: &Profile, random: &mut Generator) -> u32 {
        match point.kind {
            ChoiceKind::Task => self.changes.choose(&mut self.priorities, point, random, |_| true),
            _ => 0,
        }
    }

    fn may_pass_clones(&self) -> bool {
        false
    }

    fn executions(&self, known: &Profile) -> Option<u64> {
        let tasks = known.tasks().max(1);
        Some(places_left(self.depth, known).fold(tasks, u64::saturating_mul))
    }

    fn notes(&self, drawn: &Drawn<'_>) -> Vec<String> {
        let all = self.executions(drawn.known).unwrap_or(u64::MAX);
        let (tasks, steps) = (drawn.known.tasks(), drawn.known.steps());
        let name = self.name();
        vec![match (drawn.complete, drawn.beyond) {
            (false, _) => {
                format!("{name}: not all of its {all} executions were run, so it guarantees nothing")
            }
            (true, true) => format!(
                "{name}: all of its {all} executions were run, but some had more than the {tasks} tasks or the {steps} steps \
                 of the first ones, so it guarantees nothing"
            ),
            (true, false) => format!(
                "{name}: all of its {all} executions were run, so a bug of depth {} was found if there is one, \
                 provided that it occurs in executions of at most {tasks} tasks and {steps} steps after the first \
                 choice, and depends only on choices between tasks",
                self.depth
            ),
        }]
    }

    fn fork(&self) -> Box<dyn Policy> {
        Box::new(PctAll::new(self.depth))
    }
}
