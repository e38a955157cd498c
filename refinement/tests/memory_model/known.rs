//! Objects with the orderings that are known to be right, and with one of them weakened: that fails under the memory model,
//! and passes without it.

use crate::weak;
use intermezzo_explorer::sync::atomic::{AtomicU8, AtomicUsize, Ordering, Ordering::*, fence};
use intermezzo_explorer::{Environment, Explorer, Verdict};
use intermezzo_refinement::{Refinement, RefinementReport, fresh, refine};
use std::array::from_fn;

/// The most nodes or slots of an object.
pub(crate) const ROOM: usize = 8;

/// The orderings of an object, of which one may be weakened.
#[derive(Clone, Copy)]
pub(crate) struct Orderings {
    weakened: Option<usize>,
}

impl Orderings {
    /// Returns the ordering of this number.
    pub(crate) fn of(self, number: usize, right: Ordering) -> Ordering {
        match self.weakened == Some(number) {
            true => Relaxed,
            false => right,
        }
    }

    /// Runs the fence of this number.
    pub(crate) fn fence(self, number: usize, right: Ordering) {
        if self.weakened != Some(number) {
            fence(right);
        }
    }
}

/// Checks an object whose orderings are numbered from 0 on: as it is, and with each of them weakened.
pub(crate) fn check(orderings: usize, run: impl Fn(Orderings, Configure) -> RefinementReport) {
    let strong: Configure = |explorer| explorer.environment(Environment::calm());
    let weakly: Configure = |explorer| weak(1)(explorer);
    let right = run(Orderings { weakened: None }, weakly);
    assert_eq!(right.verdict(), Verdict::Pass, "{right}");
    assert!(right.by_happens_before && right.short.is_empty(), "{right}");
    for weakened in (0..orderings).map(Some) {
        let orderings = Orderings { weakened };
        let report = run(orderings, strong);
        assert_eq!(report.verdict(), Verdict::Pass, "{weakened:?}: {report}");
        assert!(!report.by_happens_before);
        let report = run(orderings, weakly);
        assert_eq!(report.verdict(), Verdict::Fail, "{weakened:?}: {report}");
        let kind = &report.failure.as_ref().unwrap().kind;
        assert_eq!(kind.as_str(), "refinement", "{weakened:?}: {report}");
    }
}

/// The settings of an exploration.
pub(crate) type Configure = fn(Explorer) -> Explorer;

/// Sets what all of these tests have in common.
pub(crate) fn small<T: Sync + 'static>(test: Refinement<T>, configure: Configure) -> Refinement<T> {
    test.threads(2..=2)
        .ops(1..=2)
        .init(0..=1)
        .scenarios(10)
        .monitors("none")
        .explorer(configure)
}

/// Treiber's stack. Its nodes are not used again, so its head needs no tag.
struct Stack {
    head: AtomicUsize,
    /// The values, and the nodes below. Number 0 is none.
    nodes: [(AtomicU8, AtomicUsize); ROOM],
    used: AtomicUsize,
    orderings: Orderings,
}

impl Stack {
    fn new(orderings: Orderings) -> Stack {
        Stack {
            head: AtomicUsize::new(0),
            nodes: from_fn(|_| (AtomicU8::new(0), AtomicUsize::new(0))),
            used: AtomicUsize::new(0),
            orderings,
        }
    }

    fn push(&self, value: u8) {
        let node = 1 + self.used.fetch_add(1, Relaxed);
        self.nodes[node].0.store(value, Relaxed);
        loop {
            let head = self.head.load(Relaxed);
            self.nodes[node].1.store(head, Relaxed);
            let release = self.orderings.of(0, Release);
            if self.head.compare_exchange(head, node, release, Relaxed).is_ok() {
                return;
            }
        }
    }

    fn pop(&self) -> Option<u8> {
        loop {
            let head = self.head.load(self.orderings.of(1, Acquire));
            if head == 0 {
                return None;
            }
            let next = self.nodes[head].1.load(Relaxed);
            if self.head.compare_exchange(head, next, Relaxed, Relaxed).is_ok() {
                return Some(self.nodes[head].0.load(Relaxed));
            }
        }
    }
}

#[test]
fn a_treiber_stack() {
    check(2, |orderings, configure| {
        let test = refine(move || Stack::new(orderings))
            .op("push", fresh::<u8>(), |stack, value| stack.push(value))
            .op("pop", (), |stack, ()| stack.pop());
        small(test, configure).run()
    });
}

/// The queue of Michael and Scott. Its nodes are not used again, so links need no tags.
struct Queue {
    head: AtomicUsize,
    tail: AtomicUsize,
    /// The values, and the next nodes. Number 0 is the first dummy, and none as a next node.
    nodes: [(AtomicU8, AtomicUsize); ROOM],
    used: AtomicUsize,
    orderings: Orderings,
}

impl Queue {
    fn new(orderings: Orderings) -> Queue {
        Queue {
            head: AtomicUsize::new(0),
            tail: AtomicUsize::new(0),
            nodes: from_fn(|_| (AtomicU8::new(0), AtomicUsize::new(0))),
            used: AtomicUsize::new(0),
            orderings,
        }
    }

    fn push(&self, value: u8) {
        let node = 1 + self.used.fetch_add(1, Relaxed);
        self.nodes[node].0.store(value, Relaxed);
        loop {
            let tail = self.tail.load(self.orderings.of(0, Acquire));
            let next = self.nodes[tail].1.load(Acquire);
            let newest = if next == 0 { node } else { next };
            let link = &self.nodes[tail].1;
            let release = self.orderings.of(1, Release);
            let is_linked = next == 0 && link.compare_exchange(0, node, release, Relaxed).is_ok();
            if is_linked || next != 0 {
                let release = self.orderings.of(2, Release);
                let _ = self.tail.compare_exchange(tail, newest, release, Relaxed);
            }
            if is_linked {
                return;
            }
        }
    }

    fn pop(&self) -> Option<u8> {
        loop {
            let head = self.head.load(self.orderings.of(3, Acquire));
            let next = self.nodes[head].1.load(self.orderings.of(4, Acquire));
            if next == 0 {
                return None;
            }
            let release = self.orderings.of(5, Release);
            if self.head.compare_exchange(head, next, release, Relaxed).is_ok() {
                return Some(self.nodes[next].0.load(Relaxed));
            }
        }
    }
}

#[test]
fn a_michael_scott_queue() {
    check(6, |orderings, configure| {
        let test = refine(move || Queue::new(orderings))
            .op("push", fresh::<u8>(), |queue, value| queue.push(value))
            .op("pop", (), |queue, ()| queue.pop())
            .pin(|scenario| {
                scenario
                    .task(|task| task.op("push", 1u8))
                    .task(|task| task.op("pop", ()))
            })
            // The second task learns that the first has popped, and not that the second value was there before.
            .pin(|scenario| {
                scenario
                    .init("push", 1u8)
                    .task(|task| task.op("push", 2u8).op("pop", ()))
                    .task(|task| task.op("pop", ()))
            })
            // A task appends to a value of which it does not know.
            .pin(|scenario| {
                scenario
                    .task(|task| task.op("push", 1u8))
                    .task(|task| task.op("push", 2u8).op("pop", ()))
            });
        small(test, configure).scenarios(4).run()
    });
}

/// A ring with one producer and one consumer.
pub(crate) struct Ring<const SIZE: usize> {
    head: AtomicUsize,
    tail: AtomicUsize,
    slots: [AtomicU8; SIZE],
    orderings: Orderings,
    /// The orderings of stores and loads.
    right: [Ordering; 2],
}

impl<const SIZE: usize> Ring<SIZE> {
    fn new(orderings: Orderings, right: [Ordering; 2]) -> Ring<SIZE> {
        Ring {
            head: AtomicUsize::new(0),
            tail: AtomicUsize::new(0),
            slots: from_fn(|_| AtomicU8::new(0)),
            orderings,
            right,
        }
    }

    fn push(&self, value: u8) -> bool {
        let tail = self.tail.load(Relaxed);
        if tail - self.head.load(self.orderings.of(2, self.right[1])) == SIZE {
            return false;
        }
        self.slots[tail % SIZE].store(value, Relaxed);
        self.tail.store(tail + 1, self.orderings.of(0, self.right[0]));
        true
    }

    fn pop(&self) -> Option<u8> {
        let head = self.head.load(Relaxed);
        if head == self.tail.load(self.orderings.of(1, self.right[1])) {
            return None;
        }
        let value = self.slots[head % SIZE].load(Relaxed);
        self.head.store(head + 1, self.orderings.of(3, self.right[0]));
        Some(value)
    }
}

fn ring<const SIZE: usize>(orderings: Orderings, right: [Ordering; 2]) -> Refinement<Ring<SIZE>> {
    refine(move || Ring::new(orderings, right))
        .op("push", fresh::<u8>(), |ring, value| ring.push(value))
        .op("pop", (), |ring, ()| ring.pop())
        .exclusive("producer", ["push"])
        .exclusive("consumer", ["pop"])
}

/// It is never full, so the producer need not see the consumer's index.
#[test]
fn a_ring_with_room() {
    check(2, |orderings, configure| {
        small(ring::<ROOM>(orderings, [Release, Acquire]), configure).run()
    });
}

/// A producer that finds the ring full, and a consumer that finds it empty, each have to see what the other did before.
/// With release and acquire both may miss it, as with store buffers. No order explains that.
#[test]
fn a_ring_that_is_found_full_and_empty_needs_sequential_consistency() {
    let run = |right| {
        let test = ring::<2>(Orderings { weakened: None }, right).pin(|scenario| {
            scenario
                .init("push", 1u8)
                .task(|task| task.op("push", 2u8).op("push", 3u8))
                .task(|task| task.op("pop", ()).op("pop", ()))
        });
        small(test, |explorer| weak(1)(explorer)).scenarios(0).run()
    };
    assert_eq!(run([SeqCst, SeqCst]).verdict(), Verdict::Pass);
    let report = run([Release, Acquire]);
    assert_eq!(report.verdict(), Verdict::Fail, "{report}");
}

/// A sequence lock: a reader fails if it meets the writer.
struct SequenceLock {
    sequence: AtomicUsize,
    values: [AtomicU8; 2],
    orderings: Orderings,
}

impl SequenceLock {
    fn write(&self, value: u8) {
        let sequence = self.sequence.load(Relaxed);
        self.sequence.store(sequence + 1, Relaxed);
        self.orderings.fence(0, Release);
        self.values.iter().for_each(|half| half.store(value, Relaxed));
        self.sequence.store(sequence + 2, self.orderings.of(1, Release));
    }

    fn read(&self) -> Option<[u8; 2]> {
        let before = self.sequence.load(self.orderings.of(2, Acquire));
        let seen = [self.values[0].load(Relaxed), self.values[1].load(Relaxed)];
        self.orderings.fence(3, Acquire);
        (before.is_multiple_of(2) && self.sequence.load(Relaxed) == before).then_some(seen)
    }
}

#[test]
fn a_sequence_lock() {
    check(4, |orderings, configure| {
        let test = refine(move || SequenceLock {
            sequence: AtomicUsize::new(0),
            values: from_fn(|_| AtomicU8::new(0)),
            orderings,
        })
        .op("write", fresh::<u8>(), |lock: &SequenceLock, value| {
            lock.write(value)
        })
        .op("read", (), |lock, ()| lock.read())
        .exclusive("writer", ["write"]);
        small(test, configure)
            .spec(|| 0)
            .means("write", |state: &mut u8, value: &u8| *state = *value)
            .may("read", |state: &u8, (): &()| {
                vec![(*state, Some([*state; 2])), (*state, None)]
            })
            .run()
    });
}
