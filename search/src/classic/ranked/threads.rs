//! Thread bounding: the orders of priorities that a rank needs, and those that have been begun.

use super::agenda::Level;
use super::orders::Orders;
use super::permutations::{all, needed};
use intermezzo_engine::strategy::Epsilon;

/// The maximum number of orders that are explored together. Each choice inspects all of them.
const TOGETHER_MAX: u64 = 1 << 14;

/// A bound on the number of tasks on whose order a failure depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadBound {
    /// The maximum number of tasks, at least 2.
    pub threads: u32,
    /// The maximum probability that some order of that many tasks is not among those drawn.
    pub epsilon: Epsilon,
    /// The seed of the orders.
    pub seed: u64,
}

/// The orders of a search so far.
pub(super) struct Threads {
    bound: ThreadBound,
    /// The number of orders that have been drawn.
    drawn: u64,
    /// `true` if all orders are explored, so that none is drawn.
    pub(super) all: bool,
    /// The maximum number of tasks that an execution had.
    pub(super) tasks: u32,
}

/// The orders that a rank needs in addition to those that have been begun.
pub(super) enum More {
    Drawn(Orders),
    /// All orders. They replace those drawn before.
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

    /// Returns further orders that are needed for this level to be complete; `None` if there are enough.
    pub(super) fn more(&mut self, level: Level) -> Option<More> {
        if self.all {
            return None;
        }
        let (of, some) = (
            self.tasks.max(2) + level.preemptions,
            level.threads + level.preemptions,
        );
        let needed = match self.tasks {
            // No execution has been run that could show the number of tasks.
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

    /// Returns the maximum number of tasks for whose orders a rank has to be complete.
    pub(super) fn threads_max(&self) -> u32 {
        self.bound.threads.min(self.tasks).max(2)
    }

    /// Returns the maximum probability that some order that a level needs was missed. Returns `None` if none was
    /// missed: for two fragments, one order and its reverse are enough.
    pub(super) fn epsilon(&self, level: Level) -> Option<Epsilon> {
        let certain = self.all || level.threads.saturating_add(level.preemptions) <= 2;
        (!certain).then_some(self.bound.epsilon)
    }

    /// Returns the explored orders as text.
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
