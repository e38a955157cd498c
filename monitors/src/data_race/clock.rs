//! Vector clocks that copy no lists: nearly all tests have few tasks.

use intermezzo_sdk::{EventId, Knowledge, Moments, TaskId};

/// The number of tasks whose moments are in the clock itself.
const FEW: usize = 8;

/// For each task, the index of its last known event; 0 for none.
#[derive(Debug, Default)]
pub(super) struct Clock {
    few: [u32; FEW],
    /// Those of the other tasks.
    more: Vec<u32>,
}

impl Clone for Clock {
    fn clone(&self) -> Clock {
        Clock {
            few: self.few,
            more: self.more.clone(),
        }
    }

    #[inline(always)]
    fn clone_from(&mut self, source: &Clock) {
        self.few = source.few;
        if self.more.len() | source.more.len() > 0 {
            self.more.clone_from(&source.more);
        }
    }
}

impl Clock {
    /// Returns the index of the last known event of a task; 0 for none.
    #[inline(always)]
    pub(super) fn get(&self, task: TaskId) -> u32 {
        match self.few.get(task.index()) {
            Some(&index) => index,
            None => self.more.get(task.index() - FEW).copied().unwrap_or(0),
        }
    }

    /// Makes the events of a task up to this index known, and no others of that task.
    #[inline(always)]
    pub(super) fn set(&mut self, task: TaskId, index: u32) {
        match self.few.get_mut(task.index()) {
            Some(known) => *known = index,
            None => self.set_far(task.index() - FEW, index),
        }
    }

    #[cold]
    fn set_far(&mut self, at: usize, index: u32) {
        if self.more.len() <= at {
            self.more.resize(at + 1, 0);
        }
        self.more[at] = index;
    }

    /// `true` if the event is known.
    #[inline(always)]
    pub(super) fn knows(&self, event: EventId) -> bool {
        self.get(event.task) >= event.index
    }

    /// Adds everything that the other clock knows.
    #[inline(always)]
    pub(super) fn join(&mut self, other: &Clock) {
        for (own, theirs) in self.few.iter_mut().zip(&other.few) {
            *own = (*own).max(*theirs);
        }
        if !other.more.is_empty() {
            self.join_far(other);
        }
    }

    #[cold]
    fn join_far(&mut self, other: &Clock) {
        if self.more.len() < other.more.len() {
            self.more.resize(other.more.len(), 0);
        }
        for (own, theirs) in self.more.iter_mut().zip(&other.more) {
            *own = (*own).max(*theirs);
        }
    }

    /// Forgets everything. The memory is kept.
    #[inline(always)]
    pub(super) fn clear(&mut self) {
        self.few = [0; FEW];
        self.more.clear();
    }
}

impl Knowledge for Clock {
    #[inline(always)]
    fn join(&mut self, other: &Self) {
        Clock::join(self, other);
    }

    #[inline]
    fn forget(&mut self) {
        self.clear();
    }

    /// A task's moments are known with all that it knew then: an event passes on its whole knowledge.
    #[inline(always)]
    fn covers(&self, event: EventId) -> bool {
        self.knows(event)
    }
}

impl Moments for Clock {
    #[inline(always)]
    fn last_of(&self, task: TaskId) -> u32 {
        self.get(task)
    }

    #[inline(always)]
    fn know(&mut self, task: TaskId, index: u32) {
        self.set(task, index);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use intermezzo_sdk::VectorClock;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    /// The clock of the SDK is the model, with more tasks than lie in the clock itself.
    #[test]
    fn it_is_a_vector_clock() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut clocks: Vec<(Clock, VectorClock)> = (0..4).map(|_| Default::default()).collect();
        for _ in 0..20_000 {
            let tasks = [3, 8, 9, 20][random.random_range(0..4)];
            let (at, from) = (random.random_range(0..4), random.random_range(0..4));
            let task = TaskId(random.random_range(0..tasks));
            let index = random.random_range(0..9);
            match random.random_range(0..6) {
                0 => {
                    clocks[at].0.clear();
                    clocks[at].1.clear();
                }
                1 => {
                    let other = (clocks[from].0.clone(), clocks[from].1.clone());
                    clocks[at].0.clone_from(&other.0);
                    clocks[at].1.clone_from(&other.1);
                }
                2 => {
                    let other = (clocks[from].0.clone(), clocks[from].1.clone());
                    clocks[at].0.join(&other.0);
                    clocks[at].1.join(&other.1);
                }
                _ => {
                    clocks[at].0.set(task, index);
                    clocks[at].1.set(task, index);
                }
            }
            for (clock, model) in &clocks {
                let same = |task| clock.get(task) == model.get(task);
                assert!((0..24).map(TaskId).all(same), "{clock:?}, {model:?}");
                let event = EventId { task, index };
                assert_eq!(clock.knows(event), model.knows(event));
            }
        }
    }
}
