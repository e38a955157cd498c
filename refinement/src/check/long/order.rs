//! The order of values, in which they are inserted and reach the front.
//!
//! `a` must be before `b` if `a` was inserted before `b` is, or if `a` is found at the front before the last time that `b`
//! is. A value that no operation removes is at the front after all values that are found there. There is an order if and
//! only if this relation has no cycle. A cycle may have three values if operations read the front, so comparing pairs is
//! not enough.

use super::time::Moment;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The bounds that order a value among the others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// The call that inserts it.
    pub(super) put: Moment,
    /// The first return of its operations, always after `put`.
    pub(super) there: Moment,
    /// The first return of those that find it at the front; `NEVER` if there are none.
    pub(super) front: Moment,
    /// The last call of those; `NEVER` if no operation takes it.
    pub(super) until: Moment,
}

/// The reason why a value is before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    /// It was inserted before the other value is.
    Put,
    /// It is at the front before the other value is, or the other value is never removed.
    Front,
}

/// The places of values in ascending order, with the remaining ones at the front.
struct Ascending {
    order: Vec<u32>,
    first: usize,
    second: usize,
}

impl Ascending {
    fn new(values: &[Bounds], key: impl Fn(&Bounds) -> Moment) -> Ascending {
        let mut order: Vec<u32> = (0..values.len() as u32).collect();
        order.sort_by_key(|&at| key(&values[at as usize]));
        Ascending {
            order,
            first: 0,
            second: 1,
        }
    }

    /// Skips the values that are gone.
    fn skip(&mut self, gone: &[bool]) {
        let is_gone = |at: usize| self.order.get(at).is_some_and(|&value| gone[value as usize]);
        if is_gone(self.first) {
            while is_gone(self.second) {
                self.second += 1;
            }
            self.first = self.second;
            self.second += 1;
        }
        while is_gone(self.second) {
            self.second += 1;
        }
    }

    fn first(&self) -> Option<usize> {
        self.order.get(self.first).map(|&at| at as usize)
    }

    fn second(&self) -> Option<usize> {
        self.order.get(self.second).map(|&at| at as usize)
    }

    /// Returns the first that is not this one.
    fn other_than(&self, value: usize) -> Option<usize> {
        self.first().filter(|&first| first != value).or(self.second())
    }
}

/// Returns a cycle of values, each with the reason why it is before the next (and the last before the first). `None`:
/// they can be ordered.
pub(super) fn cycle(values: &[Bounds]) -> Option<Vec<(usize, Before)>> {
    let mut gone = vec![false; values.len()];
    let by_put = Ascending::new(values, |value| value.put);
    let mut by_there = Ascending::new(values, |value| value.there);
    let mut by_front = Ascending::new(values, |value| value.front);
    // The values that no other has to be put in before, by the end of their time at the front.
    let mut ready = BinaryHeap::new();
    let mut next = 0;
    loop {
        for ascending in [&mut by_there, &mut by_front] {
            ascending.skip(&gone);
        }
        let there = by_there.first()?;
        while let Some(&value) = by_put.order.get(next)
            && values[value as usize].put < values[there].there
        {
            ready.push(Reverse((values[value as usize].until, value)));
            next += 1;
        }
        while ready
            .peek()
            .is_some_and(|&Reverse((_, value))| gone[value as usize])
        {
            ready.pop();
        }
        let fronts_before = |value: usize| {
            by_front
                .other_than(value)
                .filter(|&other| values[other].front < values[value].until)
        };
        // The free value: first the one whose time at the front ends first, because it has the fewest before it. The
        // value that is found there first does not block itself.
        let shortest = ready.peek().map(|&Reverse((_, value))| value as usize);
        let found = by_front
            .first()
            .filter(|&value| values[value].put < values[there].there);
        let free = [shortest, found]
            .into_iter()
            .flatten()
            .find(|&value| fronts_before(value).is_none());
        match free {
            Some(value) => gone[value] = true,
            None => {
                let before = |value: usize| {
                    if values[there].there < values[value].put {
                        (there, Before::Put)
                    } else {
                        let other = fronts_before(value).expect("no value is free");
                        (other, Before::Front)
                    }
                };
                return Some(walk(there, before));
            }
        }
    }
}

/// Walks from a value to one before it until it reaches one a second time. There are few candidates: a blocking value
/// is there first, or at the front first or second.
fn walk(start: usize, before: impl Fn(usize) -> (usize, Before)) -> Vec<(usize, Before)> {
    let mut path: Vec<(usize, Before)> = Vec::new();
    let mut value = start;
    loop {
        let (other, why) = before(value);
        path.push((other, why));
        value = other;
        // The values before those that were passed are at the end of the path.
        let at = path[..path.len() - 1]
            .iter()
            .position(|&(passed, _)| passed == value);
        if let Some(at) = at {
            let mut cycle = path.split_off(at + 1);
            cycle.reverse();
            return cycle;
        }
    }
}
