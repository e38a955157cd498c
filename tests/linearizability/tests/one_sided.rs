//! Queues and deques each of whose ends belongs to one task.

use crossbeam_deque::{Injector, Steal, Stealer, Worker};
use linearizability::{Row, fresh, refine, scenarios};
use ringbuf::traits::{Consumer, Producer, Split};
use std::collections::VecDeque;
use std::sync::Mutex;

type Model = VecDeque<u8>;

/// Steals until it is known whether there is a value.
fn steal(attempt: impl Fn() -> Steal<u8>) -> Option<u8> {
    loop {
        match attempt() {
            Steal::Success(value) => return Some(value),
            Steal::Empty => return None,
            Steal::Retry => {}
        }
    }
}

#[test]
fn worker_and_stealer() {
    let subject = || {
        let make = || {
            let worker = Worker::new_lifo();
            let stealer: Stealer<u8> = worker.stealer();
            (Mutex::new(worker), stealer)
        };
        let deque = refine(make)
            .op("push", fresh::<u8>(), |(worker, _), value| {
                worker.lock().unwrap().push(value)
            })
            .op("pop", (), |(worker, _), ()| worker.lock().unwrap().pop())
            .op("steal", (), |(_, stealer), ()| steal(|| stealer.steal()))
            .op("is_empty", (), |(_, stealer), ()| stealer.is_empty())
            .op("len", (), |(_, stealer), ()| stealer.len())
            .exclusive("owner", ["push", "pop"])
            .exclusive("thief", ["steal"]);
        scenarios(deque, 30)
    };
    let model = subject()
        .spec(Model::new)
        .means("push", |model: &mut Model, value| model.push_back(*value))
        .means("pop", |model: &mut Model, ()| model.pop_back())
        .means("steal", |model: &mut Model, ()| model.pop_front())
        .means("is_empty", |model: &mut Model, ()| model.is_empty())
        .means("len", |model: &mut Model, ()| model.len());
    Row::new(
        "`Worker` and `Stealer`",
        "crossbeam-deque",
        "push, pop by the owner; steal, is_empty, len",
    )
    .itself(subject().run())
    .model(model.run())
    .linearizable();
}

#[test]
fn injector() {
    let subject = || {
        let queue = refine(Injector::<u8>::new)
            .op("push", fresh::<u8>(), |queue, value| queue.push(value))
            .op("steal", (), |queue, ()| steal(|| queue.steal()))
            .op("is_empty", (), |queue, ()| queue.is_empty());
        scenarios(queue, 30)
    };
    let model = subject()
        .spec(Model::new)
        .means("push", |model: &mut Model, value| model.push_back(*value))
        .means("steal", |model: &mut Model, ()| model.pop_front())
        .means("is_empty", |model: &mut Model, ()| model.is_empty());
    Row::new("`Injector`", "crossbeam-deque", "push, steal, is_empty")
        .itself(subject().run())
        .model(model.run())
        .linearizable();
}

#[test]
fn injector_len() {
    let subject = || {
        let queue = refine(Injector::<u8>::new)
            .op("push", fresh::<u8>(), |queue, value| queue.push(value))
            .op("steal", (), |queue, ()| steal(|| queue.steal()))
            .op("len", (), |queue, ()| queue.len());
        scenarios(queue, 30)
    };
    let model = subject()
        .spec(Model::new)
        .means("push", |model: &mut Model, value| model.push_back(*value))
        .means("steal", |model: &mut Model, ()| model.pop_front())
        .means("len", |model: &mut Model, ()| model.len());
    Row::new("`Injector`, counted", "crossbeam-deque", "push, steal, len")
        .itself(subject().run())
        .model(model.run())
        .linearizable();
}

/// Puts a value into a ring of two.
fn push(model: &mut Model, value: u8) -> bool {
    let fits = model.len() < 2;
    if fits {
        model.push_back(value);
    }
    fits
}

#[test]
fn rtrb_ring() {
    let subject = || {
        let make = || {
            let (producer, consumer) = rtrb::RingBuffer::<u8>::new(2);
            (Mutex::new(producer), Mutex::new(consumer))
        };
        let ring = refine(make)
            .op("push", fresh::<u8>(), |(producer, _), value| {
                producer.lock().unwrap().push(value).is_ok()
            })
            .op("pop", (), |(_, consumer), ()| consumer.lock().unwrap().pop().ok())
            .op("slots", (), |(_, consumer), ()| consumer.lock().unwrap().slots())
            .exclusive("producer", ["push"])
            .exclusive("consumer", ["pop", "slots"]);
        scenarios(ring, 40).ops(1..=3)
    };
    let model = subject()
        .spec(Model::new)
        .means("push", |model: &mut Model, value| push(model, *value))
        .means("pop", |model: &mut Model, ()| model.pop_front())
        .means("slots", |model: &mut Model, ()| model.len());
    Row::new(
        "`rtrb::RingBuffer` of 2",
        "rtrb",
        "push by one task; pop, slots by one task",
    )
    .itself(subject().run())
    .model(model.run())
    .linearizable();
}

#[test]
fn ringbuf_ring() {
    let subject = || {
        let make = || {
            let (producer, consumer) = ringbuf::HeapRb::<u8>::new(2).split();
            (Mutex::new(producer), Mutex::new(consumer))
        };
        let ring = refine(make)
            .op("try_push", fresh::<u8>(), |(producer, _), value| {
                producer.lock().unwrap().try_push(value).is_ok()
            })
            .op("try_pop", (), |(_, consumer), ()| {
                consumer.lock().unwrap().try_pop()
            })
            .exclusive("producer", ["try_push"])
            .exclusive("consumer", ["try_pop"]);
        scenarios(ring, 40).ops(1..=3)
    };
    let model = subject()
        .spec(Model::new)
        .means("try_push", |model: &mut Model, value| push(model, *value))
        .means("try_pop", |model: &mut Model, ()| model.pop_front());
    Row::new(
        "`ringbuf::HeapRb` of 2",
        "ringbuf",
        "try_push by one task; try_pop by one task",
    )
    .itself(subject().run())
    .model(model.run())
    .linearizable();
}
