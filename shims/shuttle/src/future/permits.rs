//! The free permits of a semaphore, with the clocks of the tasks that gave them back.

use crate::clock::VectorClock;
use crate::clocks;
use std::collections::VecDeque;

/// The free permits of a semaphore. The ones that are free for the longest time are taken first: a task that takes them comes
/// after the tasks that gave them back, and after no others.
pub(super) struct Permits {
    number: usize,
    /// Those that a task gave back, with its clock; the oldest first. The ones that the semaphore began with are older than
    /// all of them. Empty if tasks have no clocks.
    given_back: VecDeque<(usize, VectorClock)>,
}

impl Permits {
    /// Returns this many permits, which no task has had.
    pub(super) const fn new(number: usize) -> Permits {
        Permits {
            number,
            given_back: VecDeque::new(),
        }
    }

    pub(super) fn number(&self) -> usize {
        self.number
    }

    /// Adds permits that a task with this clock gives back.
    pub(super) fn add(&mut self, number: usize, clock: VectorClock) {
        self.number += number;
        if clocks::ARE_KEPT {
            self.given_back.push_back((number, clock));
        }
    }

    /// Takes permits, of which there are enough. Returns their clock.
    pub(super) fn take(&mut self, number: usize) -> VectorClock {
        let mut clock = VectorClock::new();
        let with_clock: usize = self.given_back.iter().map(|(number, _)| number).sum();
        let mut left = number.saturating_sub(self.number - with_clock);
        self.number -= number;
        while left > 0
            && let Some((number, of_task)) = self.given_back.front_mut()
        {
            clock.update(of_task);
            let taken = left.min(*number);
            left -= taken;
            *number -= taken;
            if *number == 0 {
                self.given_back.pop_front();
            }
        }
        clock
    }
}
