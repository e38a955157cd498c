//! Long histories of queues: the queue is found empty only when it can be, and its values have an order.
//!
//! The order is searched as a whole (`order.rs`): with an operation that reads the front, comparing pairs of values is not
//! enough. Given an order, each value is enqueued as early as the order allows, and found at the front as early as the
//! order allows. A gap in which the queue must be empty separates the values that must be removed before it from those
//! that must be inserted after it, and nothing orders the latter before the former. So an empty queue in the gap and the
//! order do not affect each other.
//!
//! A pending dequeue may have taken any remaining value. The check decides such a history if that makes no difference.

use super::container::{Container, Step, Value};
use super::order::{Before, Bounds, cycle};
use super::time::NEVER;
use super::{CheckLong, Long, Violation, cover};
use crate::history::History;
use crate::specs::queue::{Call, Queue, Return};
use std::hash::Hash;

/// Returns whether a queue's history is linearizable, in n log n.
pub fn check<V: Clone + Eq + Hash>(queue: &Queue<V>, history: &History<Call<V>, Return<V>>) -> Long {
    if let Some(capacity) = queue.capacity() {
        let enqueues = history
            .operations()
            .iter()
            .filter(|operation| matches!(operation.call, Call::Enqueue(_)));
        if enqueues.count() > capacity {
            return Long::NotApplicable("the queue may be full");
        }
    }
    match Container::read(history, step) {
        Ok(container) => {
            container.decide(|container| cover::never_empty(container).or_else(|| out_of_order(container)))
        }
        Err(decided) => decided,
    }
}

impl<V: Clone + Eq + Hash> CheckLong for Queue<V> {
    fn check_long(&self, history: &History<Call<V>, Return<V>>) -> Long {
        check(self, history)
    }
}

fn step<V: Clone>(call: &Call<V>, returned: Option<&Return<V>>) -> Step<V> {
    match (call, returned) {
        (Call::Enqueue(value), None | Some(Return::Done)) => Step::Put(value.clone()),
        (Call::Dequeue, Some(Return::Front(front))) => Step::Take(front.clone()),
        (Call::Peek, Some(Return::Front(front))) => Step::Look(front.clone()),
        (Call::Dequeue, None) => Step::PendingTake,
        (Call::Peek, None) => Step::Nothing,
        _ => Step::Misfit,
    }
}

fn out_of_order<V>(container: &Container<V>) -> Option<Violation> {
    let bounds: Vec<Bounds> = container
        .values
        .iter()
        .map(|value| Bounds {
            put: value.put.call,
            there: value.there,
            front: container
                .findings(value)
                .map(|found| found.ret)
                .min()
                .unwrap_or(NEVER),
            until: match value.taken {
                // Its last call is of an operation that finds it: enqueueing it was called before any return.
                Some(_) => container
                    .findings(value)
                    .map(|found| found.call)
                    .max()
                    .unwrap_or(NEVER),
                None => NEVER,
            },
        })
        .collect();
    let cycle = cycle(&bounds)?;
    let mut operations = Vec::new();
    let mut reasons = Vec::new();
    for (at, &(value, why)) in cycle.iter().enumerate() {
        let value = &container.values[value];
        let next = &container.values[cycle[(at + 1) % cycle.len()].0];
        let found = container.findings(value).min_by_key(|found| found.ret);
        let last = container.findings(next).max_by_key(|found| found.call);
        operations.extend(value.operations());
        operations.extend(found.iter().chain(&last).map(|found| found.id));
        reasons.push(reason(
            value,
            next,
            why,
            found.map(|found| found.id),
            last.map(|last| last.id),
        ));
    }
    Some(Violation::new(
        format!(
            "first in, first out: {}; none can be the first",
            reasons.join("; ")
        ),
        operations,
    ))
}

/// Returns the reason why a value is before the next. `found` is the first operation that finds the value at the
/// front; `last` is the last that finds the next.
fn reason(value: &Value, next: &Value, why: Before, found: Option<u32>, last: Option<u32>) -> String {
    let (put, after) = (value.put.id, next.put.id);
    let because = match (why, found, last) {
        (Before::Put, ..) => {
            format!(
                "it is there by the return of #{}, before #{after} is called",
                value.bounds[0]
            )
        }
        (Before::Front, Some(found), Some(last)) if next.taken.is_some() => {
            format!(
                "#{found} finds it at the front and returns before #{last} is called, which finds the latter"
            )
        }
        (Before::Front, found, _) => format!(
            "it is at the front by the return of #{}, and no operation takes the latter",
            found.expect("it is found at the front")
        ),
    };
    format!("the value of #{put} is before that of #{after}, as {because}")
}
