//! Long histories of priority queues: no value is taken while a greater one must be there.
//!
//! That is exact: consider the values from the greatest. Assume that the greater ones can be put in and taken such
//! that in each gap in which none of them must be there, for a moment none is. Take the next value in the first such
//! gap in which it may be taken, at that moment, and put it in as late as allowed. Then it is there, outside of its
//! critical interval, only while the greater ones must be there, and the assumption holds for it as well.

use super::container::{Container, Step};
use super::cover::{self, Gaps, chain, told};
use super::{CheckLong, Long, Violation};
use crate::history::History;
use crate::specs::priority_queue::{Call, PriorityQueue, Return};
use std::hash::Hash;

/// Returns whether a priority queue's history is linearizable, in n log n.
pub fn check<V: Clone + Ord + Hash>(
    _queue: &PriorityQueue<V>,
    history: &History<Call<V>, Return<V>>,
) -> Long {
    match Container::read(history, step) {
        Ok(container) => {
            container.decide(|container| cover::never_empty(container).or_else(|| overlooked(container)))
        }
        Err(decided) => decided,
    }
}

impl<V: Clone + Ord + Hash> CheckLong for PriorityQueue<V> {
    fn check_long(&self, history: &History<Call<V>, Return<V>>) -> Long {
        check(self, history)
    }
}

fn step<V: Clone>(call: &Call<V>, returned: Option<&Return<V>>) -> Step<V> {
    match (call, returned) {
        (Call::Insert(value), None | Some(Return::Done)) => Step::Put(value.clone()),
        (Call::Poll, Some(Return::Greatest(greatest))) => Step::Take(greatest.clone()),
        (Call::Poll, None) => Step::PendingTake,
        _ => Step::Misfit,
    }
}

/// Finds a value that is taken though at every moment a greater one must be there.
fn overlooked<V: Clone + Ord>(container: &Container<V>) -> Option<Violation> {
    // Next to their places, because sorting then stays within the caches.
    let mut order: Vec<(V, usize)> = container.names.iter().cloned().zip(0..).collect();
    order.sort_unstable_by(|(one, _), (other, _)| other.cmp(one));
    let mut gaps = Gaps::new(container.moments);
    for (greater, (_, at)) in order.iter().enumerate() {
        let value = &container.values[*at];
        if let Some(taken) = value.taken
            && !gaps.has_free(value.until, taken.ret)
        {
            let greater = order[..greater].iter().map(|(_, at)| &container.values[*at]);
            let chain = chain(greater, value.until, taken.ret);
            return Some(Violation::new(
                format!(
                    "#{} takes the value of #{}, though at every moment at which it may there is something greater: {}",
                    taken.id,
                    value.put.id,
                    told(&chain)
                ),
                chain
                    .iter()
                    .flat_map(|value| value.operations())
                    .chain(value.operations()),
            ));
        }
        if value.is_critical() {
            gaps.cover(value.there, value.until);
        }
    }
    None
}
