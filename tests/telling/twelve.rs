//! Twelve failures in programs that a user might write.

use intermezzo::cell::{ByPointer, UnsafeCell};
use intermezzo::refinement::{RefinementReport, fresh, refine};
use intermezzo::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::*};
use intermezzo::sync::{Arc, Condvar, Mutex};
use intermezzo::thread;
use std::cell::RefCell;

// A work-stealing deque: `pop` reads `top` before it writes `bottom`.
struct Deque {
    top: AtomicUsize,
    bottom: AtomicUsize,
    items: [AtomicUsize; 4],
}

impl Deque {
    fn new() -> Deque {
        Deque {
            top: AtomicUsize::new(0),
            bottom: AtomicUsize::new(0),
            items: std::array::from_fn(|_| AtomicUsize::new(0)),
        }
    }

    fn push(&self, item: usize) {
        let bottom = self.bottom.load(SeqCst);
        self.items[bottom % 4].store(item, SeqCst);
        self.bottom.store(bottom + 1, SeqCst);
    }

    fn pop(&self) -> Option<usize> {
        let bottom = self.bottom.load(SeqCst);
        let top = self.top.load(SeqCst);
        if top >= bottom {
            return None;
        }
        self.bottom.store(bottom - 1, SeqCst);
        let item = self.items[(bottom - 1) % 4].load(SeqCst);
        if top < bottom - 1 {
            return Some(item);
        }
        let won = self.top.compare_exchange(top, top + 1, SeqCst, SeqCst).is_ok();
        self.bottom.store(bottom, SeqCst);
        won.then_some(item)
    }

    fn steal(&self) -> Option<usize> {
        let top = self.top.load(SeqCst);
        if top >= self.bottom.load(SeqCst) {
            return None;
        }
        let item = self.items[top % 4].load(SeqCst);
        let won = self.top.compare_exchange(top, top + 1, SeqCst, SeqCst).is_ok();
        won.then_some(item)
    }
}

pub(crate) fn deque() {
    let deque = Arc::new(Deque::new());
    deque.push(1);
    deque.push(2);
    let thief = thread::spawn({
        let deque = deque.clone();
        move || [deque.steal(), deque.steal()]
    });
    let popped = deque.pop();
    let mut taken: Vec<usize> = thief
        .join()
        .unwrap()
        .into_iter()
        .chain([popped])
        .flatten()
        .collect();
    taken.extend(deque.pop());
    taken.sort();
    assert_eq!(taken, [1, 2], "each item is taken once");
}

// Treiber's stack without a tag.
const NONE: usize = usize::MAX;

struct Stack {
    head: AtomicUsize,
    next: [AtomicUsize; 3],
}

impl Stack {
    fn full() -> Stack {
        Stack {
            head: AtomicUsize::new(0),
            next: [AtomicUsize::new(1), AtomicUsize::new(2), AtomicUsize::new(NONE)],
        }
    }

    fn push(&self, node: usize) {
        loop {
            let head = self.head.load(SeqCst);
            self.next[node].store(head, SeqCst);
            if self.head.compare_exchange(head, node, SeqCst, SeqCst).is_ok() {
                return;
            }
        }
    }

    fn pop(&self) -> Option<usize> {
        loop {
            let head = self.head.load(SeqCst);
            if head == NONE {
                return None;
            }
            let next = self.next[head].load(SeqCst);
            if self.head.compare_exchange(head, next, SeqCst, SeqCst).is_ok() {
                return Some(head);
            }
        }
    }
}

pub(crate) fn aba_stack() {
    let stack = Stack::full();
    let mut nodes: Vec<usize> = Vec::new();
    thread::scope(|scope| {
        let one = scope.spawn(|| stack.pop());
        let other = scope.spawn(|| {
            let (first, second) = (stack.pop(), stack.pop());
            if let Some(first) = first {
                stack.push(first);
            }
            second
        });
        nodes.extend(one.join().unwrap());
        nodes.extend(other.join().unwrap());
    });
    nodes.extend(std::iter::from_fn(|| stack.pop()).take(3));
    nodes.sort();
    assert_eq!(nodes, [0, 1, 2], "each node is in one place");
}

// Michael and Scott's queue, of boxes: `dequeue` frees a node that another task still reads.
struct Link {
    next: AtomicUsize,
    value: AtomicUsize,
}

struct Queue {
    head: AtomicUsize,
    tail: AtomicUsize,
    nodes: [Link; 4],
}

impl Queue {
    fn new() -> Queue {
        let link = |_| Link {
            next: AtomicUsize::new(NONE),
            value: AtomicUsize::new(0),
        };
        Queue {
            head: AtomicUsize::new(0),
            tail: AtomicUsize::new(0),
            nodes: std::array::from_fn(link),
        }
    }

    fn enqueue(&self, node: usize, value: usize) {
        self.nodes[node].value.store(value, SeqCst);
        loop {
            let tail = self.tail.load(SeqCst);
            let next = self.nodes[tail].next.load(SeqCst);
            if next == NONE {
                // The bug: a store instead of an exchange.
                self.nodes[tail].next.store(node, SeqCst);
                let _ = self.tail.compare_exchange(tail, node, SeqCst, SeqCst);
                return;
            }
            let _ = self.tail.compare_exchange(tail, next, SeqCst, SeqCst);
        }
    }

    fn dequeue(&self) -> Option<usize> {
        loop {
            let head = self.head.load(SeqCst);
            let next = self.nodes[head].next.load(SeqCst);
            if next == NONE {
                return None;
            }
            let value = self.nodes[next].value.load(SeqCst);
            if self.head.compare_exchange(head, next, SeqCst, SeqCst).is_ok() {
                return Some(value);
            }
        }
    }
}

pub(crate) fn michael_scott_queue() {
    let queue = Arc::new(Queue::new());
    let producers: Vec<_> = [1, 2]
        .map(|number| {
            let queue = queue.clone();
            thread::spawn(move || queue.enqueue(number, 10 * number))
        })
        .into_iter()
        .collect();
    for producer in producers {
        producer.join().unwrap();
    }
    let mut values: Vec<usize> = std::iter::from_fn(|| queue.dequeue()).collect();
    values.sort();
    assert_eq!(values, [10, 20]);
}

// A bounded ring for one producer, used by two.
struct Slot {
    seq: AtomicUsize,
    value: AtomicUsize,
}

struct Ring {
    head: AtomicUsize,
    tail: AtomicUsize,
    slots: [Slot; 2],
}

impl Ring {
    fn new() -> Ring {
        let slot = |at| Slot {
            seq: AtomicUsize::new(at),
            value: AtomicUsize::new(0),
        };
        Ring {
            head: AtomicUsize::new(0),
            tail: AtomicUsize::new(0),
            slots: std::array::from_fn(slot),
        }
    }

    fn push(&self, value: usize) -> bool {
        let tail = self.tail.load(SeqCst);
        let slot = &self.slots[tail % 2];
        if slot.seq.load(SeqCst) != tail {
            return false;
        }
        self.tail.store(tail + 1, SeqCst);
        slot.value.store(value, SeqCst);
        slot.seq.store(tail + 1, SeqCst);
        true
    }

    fn pop(&self) -> Option<usize> {
        let head = self.head.load(SeqCst);
        let slot = &self.slots[head % 2];
        if slot.seq.load(SeqCst) != head + 1 {
            return None;
        }
        self.head.store(head + 1, SeqCst);
        let value = slot.value.load(SeqCst);
        slot.seq.store(head + 2, SeqCst);
        Some(value)
    }
}

pub(crate) fn bounded_ring() {
    let ring = Arc::new(Ring::new());
    let other = thread::spawn({
        let ring = ring.clone();
        move || ring.push(1)
    });
    let mine = ring.push(2);
    let pushed = usize::from(mine) + usize::from(other.join().unwrap());
    let popped = std::iter::from_fn(|| ring.pop()).count();
    assert_eq!(popped, pushed, "what is pushed comes out");
}

// Two tasks take two locks in opposite orders.
#[derive(Default)]
struct Bank {
    accounts: Mutex<Vec<u64>>,
    journal: Mutex<Vec<String>>,
}

impl Bank {
    fn transfer(&self) {
        let mut accounts = self.accounts.lock().unwrap();
        let mut journal = self.journal.lock().unwrap();
        accounts.push(1);
        journal.push("transfer".into());
    }

    fn audit(&self) {
        let journal = self.journal.lock().unwrap();
        let accounts = self.accounts.lock().unwrap();
        assert_eq!(journal.len(), accounts.len());
    }
}

pub(crate) fn abba_deadlock() {
    let bank = Arc::new(Bank::default());
    let auditor = thread::Builder::new().name("auditor".into()).spawn({
        let bank = bank.clone();
        move || bank.audit()
    });
    bank.transfer();
    auditor.unwrap().join().unwrap();
}

// A lost wake-up: the flag is checked before the lock is taken.
struct Gate {
    open: AtomicBool,
    lock: Mutex<()>,
    opened: Condvar,
}

impl Gate {
    fn wait(&self) {
        if !self.open.load(SeqCst) {
            let guard = self.lock.lock().unwrap();
            drop(self.opened.wait(guard).unwrap());
        }
    }

    fn open(&self) {
        self.open.store(true, SeqCst);
        self.opened.notify_all();
    }
}

pub(crate) fn lost_wake_up() {
    let gate = Arc::new(Gate {
        open: AtomicBool::new(false),
        lock: Mutex::new(()),
        opened: Condvar::new(),
    });
    let waiter = thread::spawn({
        let gate = gate.clone();
        move || gate.wait()
    });
    gate.open();
    waiter.join().unwrap();
}

// A data race in a cell: the value is written after the flag that publishes it.
struct Slab {
    ready: AtomicBool,
    value: UnsafeCell<u64>,
}

// SAFETY: none, which is the bug. Tasks run one at a time.
unsafe impl Sync for Slab {}

impl Slab {
    fn publish(&self) {
        self.ready.store(true, Release);
        // SAFETY: tasks run one at a time.
        self.value.with_mut(|value| unsafe { *value = 7 });
    }

    fn read(&self) -> Option<u64> {
        if self.ready.load(Acquire) {
            // SAFETY: as above.
            return Some(self.value.with(|value| unsafe { *value }));
        }
        None
    }
}

pub(crate) fn race_in_a_cell() {
    let slab = Arc::new(Slab {
        ready: AtomicBool::new(false),
        value: UnsafeCell::new(0),
    });
    let reader = thread::spawn({
        let slab = slab.clone();
        move || slab.read()
    });
    slab.publish();
    reader.join().unwrap();
}

// A poisoned mutex after a panic.
pub(crate) fn poisoned_mutex() {
    let total = Arc::new(Mutex::new(0u32));
    let limit = Arc::new(AtomicUsize::new(1));
    let adder = thread::spawn({
        let (total, limit) = (total.clone(), limit.clone());
        move || {
            let mut total = total.lock().unwrap();
            let limit = limit.load(SeqCst) as u32;
            assert!(*total < limit, "the limit is {limit}");
            *total += 1;
        }
    });
    limit.store(0, SeqCst);
    *total.lock().unwrap() += 1;
    adder.join().unwrap();
}

// A livelock of two tasks that give way to each other.
struct Polite {
    wants: [AtomicBool; 2],
}

impl Polite {
    fn enter(&self, me: usize) {
        loop {
            self.wants[me].store(true, SeqCst);
            if !self.wants[1 - me].load(SeqCst) {
                return;
            }
            self.wants[me].store(false, SeqCst);
            thread::yield_now();
        }
    }

    fn leave(&self, me: usize) {
        self.wants[me].store(false, SeqCst);
    }
}

pub(crate) fn livelock() {
    let door = Arc::new(Polite {
        wants: Default::default(),
    });
    let other = thread::spawn({
        let door = door.clone();
        move || {
            door.enter(1);
            door.leave(1);
        }
    });
    door.enter(0);
    door.leave(0);
    other.join().unwrap();
}

// A leak: two nodes refer to each other.
struct Person {
    friend: RefCell<Option<Arc<Mutex<Person>>>>,
}

pub(crate) fn leak_cycle() {
    let ann = Arc::new(Mutex::new(Person {
        friend: RefCell::new(None),
    }));
    let bob = Arc::new(Mutex::new(Person {
        friend: RefCell::new(None),
    }));
    let task = thread::spawn({
        let (ann, bob) = (ann.clone(), bob.clone());
        move || *ann.lock().unwrap().friend.borrow_mut() = Some(bob.clone())
    });
    let known = ann.lock().unwrap().friend.borrow().is_some();
    if known {
        *bob.lock().unwrap().friend.borrow_mut() = Some(ann.clone());
    }
    task.join().unwrap();
}

// A stale load: Dekker's algorithm with relaxed stores.
pub(crate) fn stale_load() {
    struct Dekker {
        flags: [AtomicU64; 2],
        inside: AtomicUsize,
    }
    let dekker = Arc::new(Dekker {
        flags: Default::default(),
        inside: AtomicUsize::new(0),
    });
    let enter = |dekker: &Dekker, me: usize| {
        dekker.flags[me].store(1, Release);
        if dekker.flags[1 - me].load(Acquire) == 0 {
            assert_eq!(dekker.inside.fetch_add(1, SeqCst), 0);
            dekker.inside.fetch_sub(1, SeqCst);
        }
        dekker.flags[me].store(0, Release);
    };
    let other = thread::spawn({
        let dekker = dekker.clone();
        move || enter(&dekker, 1)
    });
    enter(&dekker, 0);
    other.join().unwrap();
}

// A counter whose operation has two steps.
struct Counter {
    count: AtomicU64,
}

impl Counter {
    fn add(&self, n: u64) -> u64 {
        let before = self.count.load(SeqCst);
        self.count.store(before + n, SeqCst);
        before + n
    }
}

/// Returns the report of the refinement failure.
pub(crate) fn counter() -> RefinementReport {
    refine(|| Counter {
        count: AtomicU64::new(0),
    })
    .name("a counter")
    .op("add", fresh::<u64>(), |counter: &Counter, n| counter.add(n))
    .op("get", (), |counter: &Counter, ()| counter.count.load(SeqCst))
    .run()
}
