//! Vector clocks: how much of each task is known at some point.

use crate::{EventId, TaskId};
use std::cmp::Ordering;

/// For each task, the index of its last known event; 0 for none.
///
/// Of two events of different tasks, `a` comes before `b` if and only if `b`'s clock knows `a`.
#[derive(Debug, Default, PartialEq, Eq, Hash)]
pub struct VectorClock(Vec<u32>);

impl Clone for VectorClock {
    fn clone(&self) -> Self {
        VectorClock(self.0.clone())
    }

    /// Keeps the memory.
    #[inline]
    fn clone_from(&mut self, source: &Self) {
        self.0.clone_from(&source.0);
    }
}

impl VectorClock {
    /// Creates a clock that knows nothing.
    pub const fn new() -> VectorClock {
        VectorClock(Vec::new())
    }

    /// Returns the index of the last known event of `task`; 0 for none.
    #[inline]
    pub fn get(&self, task: TaskId) -> u32 {
        self.0.get(task.index()).copied().unwrap_or(0)
    }

    /// Makes the events of `task` up to this index known, and no others of that task.
    #[inline]
    pub fn set(&mut self, task: TaskId, index: u32) {
        if self.0.len() <= task.index() {
            if index == 0 {
                return;
            }
            self.0.resize(task.index() + 1, 0);
        }
        self.0[task.index()] = index;
        if index == 0 {
            self.trim();
        }
    }

    /// `true` if the event is known.
    #[inline]
    pub fn knows(&self, event: EventId) -> bool {
        self.get(event.task) >= event.index
    }

    /// Adds everything that the other clock knows.
    #[inline]
    pub fn join(&mut self, other: &VectorClock) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (own, theirs) in self.0.iter_mut().zip(&other.0) {
            if *theirs > *own {
                *own = *theirs;
            }
        }
    }

    /// Forgets everything. The memory is kept.
    #[inline]
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns the last known event of each task of which something is known.
    pub fn iter(&self) -> impl Iterator<Item = EventId> + '_ {
        let known = |(task, &index): (usize, &u32)| EventId {
            task: TaskId(task as u32),
            index,
        };
        let tasks = self.0.iter().enumerate();
        tasks.filter(|(_, index)| **index > 0).map(known)
    }

    /// Returns the clock as a table with a row per task.
    pub fn as_slice(&self) -> &[u32] {
        &self.0
    }

    /// Removes zeros at the end, so that two clocks that know the same are equal.
    fn trim(&mut self) {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }
}

impl FromIterator<u32> for VectorClock {
    fn from_iter<I: IntoIterator<Item = u32>>(indices: I) -> Self {
        let mut clock = VectorClock(indices.into_iter().collect());
        clock.trim();
        clock
    }
}

impl PartialOrd for VectorClock {
    /// A clock is less if it knows less; `None` if each knows something that the other does not.
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        let most = self.0.len().max(other.0.len()) as u32;
        let mut order = Ordering::Equal;
        for task in (0..most).map(TaskId) {
            match (order, self.get(task).cmp(&other.get(task))) {
                (_, Ordering::Equal) => {}
                (Ordering::Equal, unequal) => order = unequal,
                (before, now) if before == now => {}
                _ => return None,
            }
        }
        Some(order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(indices: &[u32]) -> VectorClock {
        indices.iter().copied().collect()
    }

    #[test]
    fn clocks_are_ordered_by_what_they_know() {
        assert_eq!(clock(&[1, 0, 0]), clock(&[1]));
        assert!(clock(&[1]) < clock(&[1, 2]));
        assert!(clock(&[2, 2]) > clock(&[1, 2]));
        assert_eq!(clock(&[1, 2]).partial_cmp(&clock(&[2, 1])), None);
        let mut joined = clock(&[1, 2]);
        joined.join(&clock(&[2, 1, 0, 4]));
        assert_eq!(joined, clock(&[2, 2, 0, 4]));
        let event = |task, index| EventId {
            task: TaskId(task),
            index,
        };
        assert!(joined.knows(event(3, 4)) && !joined.knows(event(3, 5)) && !joined.knows(event(7, 1)));
        assert_eq!(
            joined.iter().collect::<Vec<_>>(),
            [event(0, 2), event(1, 2), event(3, 4)]
        );
        joined.set(TaskId(3), 0);
        assert_eq!(joined, clock(&[2, 2]));
    }
}
