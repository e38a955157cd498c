//! Vector clocks.

use crate::task_id::TaskId;
use std::cmp::Ordering;
use std::ops::Deref;

/// The number of events of each task that come before something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VectorClock {
    /// The numbers, by task.
    pub time: Vec<u32>,
}

impl VectorClock {
    /// Returns the clock of what nothing comes before.
    pub const fn new() -> VectorClock {
        VectorClock { time: Vec::new() }
    }

    /// Makes room for a task.
    pub fn extend(&mut self, task_id: TaskId) {
        let length = self.time.len().max(task_id.0 + 1);
        self.time.resize(length, 0);
    }

    /// Counts one more event of a task.
    pub fn increment(&mut self, task_id: TaskId) {
        self.extend(task_id);
        self.time[task_id.0] += 1;
    }

    /// Adds what comes before something else.
    pub fn update(&mut self, other: &VectorClock) {
        let length = self.time.len().max(other.time.len());
        self.time.resize(length, 0);
        for (mine, &its) in self.time.iter_mut().zip(&other.time) {
            *mine = (*mine).max(its);
        }
    }

    /// Returns the number of events of a task.
    pub fn get(&self, i: usize) -> u32 {
        self.time.get(i).copied().unwrap_or(0)
    }
}

impl<const N: usize> From<&[u32; N]> for VectorClock {
    fn from(time: &[u32; N]) -> VectorClock {
        VectorClock::from(&time[..])
    }
}

impl From<&[u32]> for VectorClock {
    fn from(time: &[u32]) -> VectorClock {
        VectorClock { time: time.to_vec() }
    }
}

impl Deref for VectorClock {
    type Target = [u32];
    fn deref(&self) -> &[u32] {
        &self.time
    }
}

impl PartialOrd for VectorClock {
    /// Returns `None` if neither comes before the other.
    fn partial_cmp(&self, other: &VectorClock) -> Option<Ordering> {
        let length = self.time.len().max(other.time.len());
        let mut order = Ordering::Equal;
        for task in 0..length {
            let here = self.get(task).cmp(&other.get(task));
            if order == Ordering::Equal {
                order = here;
            } else if here != Ordering::Equal && here != order {
                return None;
            }
        }
        Some(order)
    }
}
