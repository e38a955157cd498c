//! Queues with any number of producers and consumers.

use concurrent_queue::ConcurrentQueue;
use crossbeam_queue::{ArrayQueue, SegQueue};
use linearizability::{Row, fresh, refine, scenarios};
use std::collections::VecDeque;

type Model = VecDeque<u8>;

#[test]
fn seg_queue() {
    let subject = || {
        let queue = refine(SegQueue::new)
            .op("push", fresh::<u8>(), |queue, value| queue.push(value))
            .op("pop", (), |queue, ()| queue.pop())
            .op("len", (), |queue, ()| queue.len())
            .op("is_empty", (), |queue, ()| queue.is_empty());
        scenarios(queue, 60)
    };
    let model = subject()
        .spec(Model::new)
        .means("push", |model: &mut Model, value| model.push_back(*value))
        .means("pop", |model: &mut Model, ()| model.pop_front())
        .means("len", |model: &mut Model, ()| model.len())
        .means("is_empty", |model: &mut Model, ()| model.is_empty());
    Row::new("`SegQueue`", "crossbeam-queue", "push, pop, len, is_empty")
        .itself(subject().run())
        .model(model.run())
        .linearizable();
}

#[test]
fn array_queue() {
    let subject = || {
        let queue = refine(|| ArrayQueue::new(2))
            .op("push", fresh::<u8>(), |queue, value| queue.push(value))
            .op("pop", (), |queue, ()| queue.pop())
            .op("len", (), |queue, ()| queue.len())
            .op("is_empty", (), |queue, ()| queue.is_empty())
            .op("is_full", (), |queue, ()| queue.is_full());
        scenarios(queue, 60)
    };
    let model = subject()
        .spec(Model::new)
        .means("push", |model: &mut Model, value| push(model, *value, 2))
        .means("pop", |model: &mut Model, ()| model.pop_front())
        .means("len", |model: &mut Model, ()| model.len())
        .means("is_empty", |model: &mut Model, ()| model.is_empty())
        .means("is_full", |model: &mut Model, ()| model.len() == 2);
    Row::new(
        "`ArrayQueue` of 2",
        "crossbeam-queue",
        "push, pop, len, is_empty, is_full",
    )
    .itself(subject().run())
    .model(model.run())
    .linearizable();
}

/// Puts a value into a queue of that size, or returns it.
fn push(model: &mut Model, value: u8, size: usize) -> Result<(), u8> {
    if model.len() == size {
        return Err(value);
    }
    model.push_back(value);
    Ok(())
}

#[test]
fn array_queue_forced() {
    let subject = || {
        let queue = refine(|| ArrayQueue::new(1))
            .op("force_push", fresh::<u8>(), |queue, value| {
                queue.force_push(value)
            })
            .op("pop", (), |queue, ()| queue.pop())
            .op("len", (), |queue, ()| queue.len());
        scenarios(queue, 40)
    };
    let model = subject()
        .spec(Model::new)
        .means("force_push", |model: &mut Model, value| {
            let oldest = if model.len() == 1 { model.pop_front() } else { None };
            model.push_back(*value);
            oldest
        })
        .means("pop", |model: &mut Model, ()| model.pop_front())
        .means("len", |model: &mut Model, ()| model.len());
    Row::new(
        "`ArrayQueue` of 1, forced",
        "crossbeam-queue",
        "force_push, pop, len",
    )
    .itself(subject().run())
    .model(model.run())
    .not_linearizable(
        &["force_push(1); { force_push(2) } ‖ { len() }"],
        "`force_push` on a full queue advances the head, and then the tail.\n\
             In between, `len` counts one value less than there ever was.\n\
             The documentation of `len` does not say so.",
    );
}

fn concurrent(
    make: impl Fn() -> ConcurrentQueue<u8> + Send + Sync + 'static,
) -> linearizability::Refinement<ConcurrentQueue<u8>> {
    let queue = refine(make)
        .op("push", fresh::<u8>(), |queue, value| queue.push(value))
        .op("pop", (), |queue, ()| queue.pop())
        .op("len", (), |queue, ()| queue.len())
        .op("close", (), |queue, ()| queue.close());
    scenarios(queue, 60)
}

/// Returns the specification of a `ConcurrentQueue` with this many places.
fn closable(
    subject: linearizability::Refinement<ConcurrentQueue<u8>>,
    size: usize,
) -> intermezzo::refinement::Modelled<ConcurrentQueue<u8>, (Model, bool)> {
    use concurrent_queue::{PopError, PushError};
    type Closable = (Model, bool);
    subject
        .spec(Closable::default)
        .means(
            "push",
            move |(model, closed): &mut Closable, value| match closed {
                true => Err(PushError::Closed(*value)),
                false => push(model, *value, size).map_err(PushError::Full),
            },
        )
        .means("pop", |(model, closed): &mut Closable, ()| {
            match model.pop_front() {
                Some(value) => Ok(value),
                None if *closed => Err(PopError::Closed),
                None => Err(PopError::Empty),
            }
        })
        .means("len", |(model, _): &mut Closable, ()| model.len())
        .means("close", |(_, closed): &mut Closable, ()| {
            !std::mem::replace(closed, true)
        })
}

#[test]
fn concurrent_queue_unbounded() {
    let subject = || concurrent(ConcurrentQueue::unbounded);
    Row::new(
        "`ConcurrentQueue`, unbounded",
        "concurrent-queue",
        "push, pop, len, close",
    )
    .itself(subject().run())
    .model(closable(subject(), usize::MAX).run())
    .linearizable();
}

#[test]
fn concurrent_queue_bounded() {
    let subject = || concurrent(|| ConcurrentQueue::bounded(2));
    Row::new(
        "`ConcurrentQueue` of 2",
        "concurrent-queue",
        "push, pop, len, close",
    )
    .itself(subject().run())
    .model(closable(subject(), 2).run())
    .linearizable();
}

#[test]
fn concurrent_queue_single() {
    let subject = || concurrent(|| ConcurrentQueue::bounded(1));
    Row::new("`ConcurrentQueue` of 1", "concurrent-queue", "push, pop, len, close")
        .itself(subject().run())
        .model(closable(subject(), 1).run())
        .not_linearizable(
            &["push(1); { pop() } ‖ { pop(); push(2) }"],
            "The queue of one place is a lock around a value.\n\
             While a `pop` holds it, another `pop` finds it empty, and a `push` finds it full.\n\
             No order has both.\n\
             The documentation of `pop` says that it returns an error if the queue is empty; it does not mention this.",
        );
}

#[test]
fn scc_queue() {
    let subject = || {
        let queue = refine(scc::Queue::<u8>::default)
            .op("push", fresh::<u8>(), |queue, value| {
                queue.push(value);
            })
            .op("pop", (), |queue, ()| queue.pop().map(|entry| **entry))
            .op("is_empty", (), |queue, ()| queue.is_empty());
        scenarios(queue, 40)
    };
    let model = subject()
        .spec(Model::new)
        .means("push", |model: &mut Model, value| model.push_back(*value))
        .means("pop", |model: &mut Model, ()| model.pop_front())
        .means("is_empty", |model: &mut Model, ()| model.is_empty());
    Row::new("`scc::Queue`", "scc", "push, pop, is_empty")
        .itself(subject().run())
        .model(model.run())
        .linearizable();
}
