//! Random priorities of places in the source: our own.
//!
//! What a bug of many tasks needs is often not that one task waits, but that all wait that came to one place: of a hundred
//! that store to `a` and then to `b`, none may have come to `b` yet. By tasks, or by operations, that is as unlikely as
//! there are tasks. So each place has a random priority for the whole execution, and a task at the place with the
//! highest goes; of several at one place, any is as likely. Tasks that run the same code are then treated alike, and
//! it does not matter how many there are: if p places matter, and one order of them provokes the bug, an execution finds
//! it with probability at least 1/p!. In every second execution, how often its task was at a place before makes
//! it another place: for bugs that one round of a loop must show, and not the others.
//!
//! A task that yielded waits until another one went, if one can.
//! Misses: orders in which a place comes first at one time and last at another, unless by rounds; and those in
//! which tasks at one place must be told apart, more often than chance does.

use super::{Generator, Policy, Profile, uniform};
use intermezzo_engine::record::Site;
use intermezzo_engine::schedule::ChoiceKind;
use intermezzo_engine::strategy::ChoicePoint;
use rand::RngExt;
use std::collections::HashMap;

/// Random priorities of places.
#[derive(Default)]
pub(crate) struct Places {
    /// `true` if rounds are told apart in this execution.
    by_rounds: bool,
    /// By place, and by how often its task was there before.
    priorities: HashMap<(Site, u32), u64>,
    /// The number of times each task was at each place, while rounds are told apart.
    visits: HashMap<(u32, Site), u32>,
    /// Room for alternatives.
    best: Vec<u32>,
}

impl Policy for Places {
    fn name(&self) -> String {
        "places".into()
    }

    fn learns(&self) -> bool {
        false
    }

    fn begin(&mut self, number: u64, _: &Profile, _: &mut Generator) {
        self.by_rounds = number % 2 == 1;
        self.priorities.clear();
        self.visits.clear();
    }

    fn choose(&mut self, point: &ChoicePoint<'_>, _: &Profile, random: &mut Generator) -> u32 {
        if point.kind != ChoiceKind::Task {
            return uniform(point, random);
        }
        let last = point.running;
        let yielded = !point.preempts && point.is_enabled(last.0);
        let (mut highest, mut alternative) = (0, 0);
        let mut best = std::mem::take(&mut self.best);
        best.clear();
        point.for_each_task(|task| {
            let place = point.tasks[task.0 as usize].pending.access.site;
            let visit = match self.by_rounds {
                true => self.visits.get(&(task.0, place)).copied().unwrap_or(0),
                false => 0,
            };
            let priority = self.priorities.entry((place, visit));
            let mut priority = *priority.or_insert_with(|| random.random::<u64>() | 1);
            if yielded && task == last {
                priority = 0;
            }
            if priority > highest || best.is_empty() {
                highest = priority;
                best.clear();
            }
            if priority == highest {
                best.push(alternative);
            }
            alternative += 1;
        });
        let taken = best[random.random_range(0..best.len())];
        self.best = best;
        if self.by_rounds
            && let Some(next) = point.operation(taken)
        {
            *self.visits.entry((next.task.0, next.site)).or_default() += 1;
        }
        taken
    }

    fn fork(&self) -> Box<dyn Policy> {
        Box::new(Places::default())
    }
}
