//! The behaviour of stacks, queues, deques, sets and maps: models with the usual names of operations.

use intermezzo::refinement::{Modelled, Refinement};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Returns a stack with `push` and `pop`, and with these values at first: the last on top.
pub(super) fn stack<T: Sync + 'static>(test: Refinement<T>, at_first: &'static [u8]) -> Modelled<T, Vec<u8>> {
    test.spec(|| at_first.to_vec())
        .means("push", |stack: &mut Vec<u8>, value: &u8| stack.push(*value))
        .means("pop", |stack, (): &()| stack.pop())
}

/// Returns a queue with `enqueue` and `dequeue`.
pub(super) fn queue<T: Sync + 'static>(test: Refinement<T>) -> Modelled<T, VecDeque<u8>> {
    test.spec(VecDeque::new)
        .means("enqueue", |queue: &mut VecDeque<u8>, value: &u8| {
            queue.push_back(*value)
        })
        .means("dequeue", |queue, (): &()| queue.pop_front())
}

/// Returns a queue with room for a number of values, whose `enqueue` returns `true` if there was room.
pub(super) fn bounded_queue<T: Sync + 'static>(
    test: Refinement<T>,
    capacity: usize,
) -> Modelled<T, VecDeque<u8>> {
    test.spec(VecDeque::new)
        .means("enqueue", move |queue: &mut VecDeque<u8>, value: &u8| {
            let room = queue.len() < capacity;
            if room {
                queue.push_back(*value);
            }
            room
        })
        .means("dequeue", |queue, (): &()| queue.pop_front())
}

/// Returns a set with `add` and `remove`, and with these keys at first.
pub(super) fn set<T: Sync + 'static>(
    test: Refinement<T>,
    at_first: &'static [u8],
) -> Modelled<T, BTreeSet<u8>> {
    test.spec(|| at_first.iter().copied().collect())
        .means("add", |set: &mut BTreeSet<u8>, key: &u8| set.insert(*key))
        .means("remove", |set, key: &u8| set.remove(key))
}

/// Returns a map with `put` and `get`.
pub(super) fn map<T: Sync + 'static>(test: Refinement<T>) -> Modelled<T, BTreeMap<u8, u8>> {
    test.spec(BTreeMap::new)
        .means("put", |map: &mut BTreeMap<u8, u8>, &(key, value): &(u8, u8)| {
            map.insert(key, value)
        })
        .means("get", |map, key: &u8| map.get(key).copied())
}
