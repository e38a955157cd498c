//! Thread bounding: the orders of priorities that a rank needs, and those that were begun.

use super::agenda::Level;
use super::orders::Orders;
use super::permutations::{all, needed};
use intermezzo_engine::strategy::Epsilon;

/// The largest number of orders that are explored together: a choice inspects each of them.
const TOGETHER_MAX: u64 = 1 << 14;

/// A bound on the number of tasks whose order a failure depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadBound {
    /// The largest number of tasks, at least 2.
    pub threads: u32,
    /// The largest probability with which some order of that many tasks was not among those drawn.
    pub epsilon: Epsilon,
    /// Seed of the orders.
    pub seed: u64,
}

/// The orders of a search so far.
pub(super) struct Threads {
    bound: ThreadBound,
    /// The number of orders that were drawn.
    drawn: u64,
    /// `true` if all orders are explored, drawn or not.
    pub(super) all: bool,
    /// The most tasks that an execution had.
    pub(super) tasks: u32,
}

/// The orders that a rank needs in addition to those that were begun.
pub(super) enum More {
    Drawn(Orders),
    /// All orders, which replaces those drawn before.
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

    /// Returns the orders that must be begun before executions of this level are complete; `None` if there are enough.
    pub(super) fn more(&mut self, level: Level) -> Option<More> {
        if self.all {
            return None;
        }
        let (of, some) = (
            self.tasks.max(2) + level.preemptions,
            level.threads + level.preemptions,
        );
        let needed = match self.tasks {
            // Nothing was run yet that could show it.
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

    /// Returns the most tasks for whose orders a rank must be complete.
    pub(super) fn threads_max(&self) -> u32 {
        self.bound.threads.min(self.tasks).max(2)
    }

    /// Returns the largest probability that some order that a level needs was missed; `None` if none was, because an
    /// order and its reverse are enough for any two fragments.
    pub(super) fn epsilon(&self, level: Level) -> Option<Epsilon> {
        let certain = self.all || level.threads.saturating_add(level.preemptions) <= 2;
        (!certain).then_some(self.bound.epsilon)
    }

    /// Returns the explored orders, as text.
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
