//! Random priorities of places in the source: a policy of our own.
//!
//! For some bugs, all tasks that reach a place have to wait there, not just one. For example, a hundred tasks store to
//! `a` and then to `b`, and the bug shows only while none of them has stored to `b`. With priorities of tasks or of
//! operations, each additional task makes that less likely. Here each place has a random priority, and a task at the
//! place with the highest priority runs. All tasks at that place have the same probability. So tasks that run the same
//! code are treated alike, and their number does not matter. If p places matter, and one order of them provokes the
//! bug, an execution finds it with probability at least 1/p!.
//!
//! In every second execution, a place counts as a different one at each visit by the same task. That finds bugs that
//! only one round of a loop shows.
//!
//! In an execution with thousands of choices, all priorities are drawn again from time to time. Otherwise loops that wait
//! for each other could go in lockstep forever: each would always look at the wrong moment.
//!
//! A task that yielded waits until another one has run, if one can. Misses: orders in which a place has to come first
//! at one time and last at another, unless the rounds distinguish them; and orders that require many particular
//! decisions between tasks at the same place.

use super::{Draw, Generator, Policy, Profile, uniform};
use hashbrown::HashMap;
use intermezzo_engine::schedule::ChoiceKind;
use intermezzo_engine::site::Site;
use intermezzo_engine::strategy::ChoicePoint;
use rand::RngExt;

/// The number of choices among tasks after which the priorities are drawn again.
const CHOICES: u32 = 4096;

/// Random priorities of places.
#[derive(Default)]
pub(crate) struct Places {
    /// `true` if rounds are distinguished in this execution.
    by_rounds: bool,
    /// The number of choices among tasks in this execution.
    choices: u32,
    /// The priorities by place, and by the number of the task's earlier visits to it.
    priorities: HashMap<(Site, u32), u64>,
    /// The number of visits of each task to each place, if rounds are distinguished.
    visits: HashMap<(u32, Site), u32>,
    /// A buffer for the alternatives with the highest priority.
    best: Vec<u32>,
}

impl Policy for Places {
    fn name(&self) -> String {
        "places".into()
    }

    fn learns(&self) -> bool {
        false
    }

    fn begin(&mut self, draw: Draw, _: &Profile, _: &mut Generator) {
        self.by_rounds = draw.number % 2 == 1;
        self.choices = 0;
        self.priorities.clear();
        self.visits.clear();
    }

    fn choose(&mut self, point: &ChoicePoint<'_>, _: &Profile, random: &mut Generator) -> u32 {
        if point.kind != ChoiceKind::Task {
            return uniform(point, random);
        }
        self.choices = self.choices.wrapping_add(1);
        if self.choices.is_multiple_of(CHOICES) {
            self.priorities.clear();
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
