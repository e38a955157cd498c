//! Thread bounding: how many orders of priorities a rank takes, and which were begun.

use super::agenda::Level;
use super::orders::Orders;
use super::permutations::{all, needed};
use intermezzo_engine::strategy::Epsilon;

/// Orders that are explored together at most: what a choice parts is looked at one by one.
const TOGETHER_MAX: u64 = 1 << 14;

/// A bound on how many tasks' order a failure depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadBound {
    /// Most tasks, at least 2.
    pub threads: u32,
    /// The most probable it may be that some order of so many tasks was not among those drawn.
    pub epsilon: Epsilon,
    /// Seed of the orders.
    pub seed: u64,
}

/// The orders of a search, so far.
pub(super) struct Threads {
    bound: ThreadBound,
    /// How many orders were drawn.
    drawn: u64,
    /// `true` if all orders are explored, drawn or not.
    pub(super) all: bool,
    /// The most tasks that an execution had.
    pub(super) tasks: u32,
}

/// What a rank takes beside the orders that were begun.
pub(super) enum More {
    Drawn(Orders),
    /// All, which makes up for those drawn before.
    All(Orders),
}

impl Threads {
    pub(super) fn new(bound: ThreadBound) -> Threads {
        Threads {
            bound,
            drawn: 0,
            all: false,
            tasks: 0,
        }
    }

    /// Orders that are to be begun before executions of this level are complete; `None` if there are enough.
    pub(super) fn more(&mut self, level: Level) -> Option<More> {
        if self.all {
            return None;
        }
        let (of, some) = (
            self.tasks.max(2) + level.preemptions,
            level.threads + level.preemptions,
        );
        let needed = match self.tasks {
            // Nothing was run yet that could tell.
            0 => 2,
            _ => needed(of, some, self.bound.epsilon.probability()),
        };
        if self.drawn >= needed {
            return None;
        }
        if self.tasks > 0 && all(of) <= needed - self.drawn {
            self.all = true;
            return Some(More::All(Orders::all()));
        }
        let most = (self.drawn + TOGETHER_MAX).min(needed);
        let orders = self.drawn..most;
        self.drawn = most;
        Some(More::Drawn(Orders::drawn(self.bound.seed, orders)))
    }

    /// Returns the most tasks whose order a rank is to be complete for.
    pub(super) fn threads_max(&self) -> u32 {
        self.bound.threads.min(self.tasks).max(2)
    }

    /// How probable it is at most that some order was missed that a level asks for; `None` if none was: an order and its reverse
    /// are enough for any two fragments.
    pub(super) fn epsilon(&self, level: Level) -> Option<Epsilon> {
        let certain = self.all || level.threads.saturating_add(level.preemptions) <= 2;
        (!certain).then_some(self.bound.epsilon)
    }

    /// Returns the orders explored, in words.
    pub(super) fn in_words(&self) -> String {
        if self.all {
            return "in every order of priorities".into();
        }
        let Threads { bound, drawn, .. } = self;
        format!(
            "in {drawn} orders of priorities, drawn with seed {}, which miss an order of the tasks concerned with a probability of at \
             most {}",
            bound.seed, bound.epsilon
        )
    }
}
