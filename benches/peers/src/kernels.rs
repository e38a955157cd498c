//! The programs that are measured, written once.
//!
//! Each tool's file loads this file as a module of its own, and `super` supplies that tool's
//! `AtomicUsize`, `Mutex` and `thread`. A kernel is one execution of one test: it spawns, joins, and answers
//! with a small outcome. No kernel asserts, because loom and shuttle end at the first failure.
//!
//! All are sequentially consistent and free of waiting loops: a loop goes round again only if
//! another thread has got further, so that every schedule ends and depth first search exhausts.
//!
//! The stack and the queue come in two forms, which differ in how they read a shared variable: by a plain load, or by
//! an exchange that must fail ([`newest`]), which no tool lets read an old value.

use std::sync::Arc;

use super::{AtomicUsize, Mutex, Ordering::SeqCst, thread};
use crate::case::{Case, Kernel};
use crate::outcomes::OUTCOMES_MAX;

/// Runs the case once and answers with its outcome, which is below [`OUTCOMES_MAX`].
pub(super) fn run(case: Case) -> usize {
    let Case { kernel, a, b } = case;
    match kernel {
        Kernel::Empty => empty(a),
        Kernel::Counter => counter(a, b),
        Kernel::RacyCounter => racy_counter(a, b),
        Kernel::MutexCounter => mutex_counter(a, b),
        Kernel::StoreBuffer => store_buffer(a),
        Kernel::Treiber => treiber(a, b, load),
        Kernel::TreiberNewest => treiber(a, b, newest),
        Kernel::MichaelScott => michael_scott(a, b, load),
        Kernel::MichaelScottNewest => michael_scott(a, b, newest),
        Kernel::Big0 => big0(),
        Kernel::FibBench => fib_bench(b),
    }
}

/// `a` threads that do nothing.
fn empty(a: usize) -> usize {
    fork(a, |_| ());
    0
}

/// `a` threads with `b` atomic increments each. Outcome: the final value.
fn counter(a: usize, b: usize) -> usize {
    let counter = Arc::new(AtomicUsize::new(0));
    let theirs = counter.clone();
    fork(a, move |_| {
        for _ in 0..b {
            theirs.fetch_add(1, SeqCst);
        }
    });
    counter.load(SeqCst)
}

/// `a` threads with `b` increments each, as a load and a store. Outcome: the final value.
fn racy_counter(a: usize, b: usize) -> usize {
    let counter = Arc::new(AtomicUsize::new(0));
    let theirs = counter.clone();
    fork(a, move |_| {
        for _ in 0..b {
            theirs.store(theirs.load(SeqCst) + 1, SeqCst);
        }
    });
    counter.load(SeqCst)
}

/// `a` threads with `b` increments each, under a lock. Outcome: the final value.
fn mutex_counter(a: usize, b: usize) -> usize {
    let counter = Arc::new(Mutex::new(0));
    let theirs = counter.clone();
    fork(a, move |_| {
        for _ in 0..b {
            *theirs.lock().unwrap() += 1;
        }
    });
    *counter.lock().unwrap()
}

/// Store buffering in a ring of `a` threads. Outcome: bit i is the value that thread i read. Sequential consistency
/// forbids 0: the thread that reads last must see its neighbour's write.
fn store_buffer(a: usize) -> usize {
    let flags = zeros(a);
    fork(a, move |i| {
        flags[i].store(1, SeqCst);
        flags[(i + 1) % a].load(SeqCst) << i
    })
    .into_iter()
    .sum()
}

/// `a` threads, each `b` times a push, then a pop. Outcome: the results of the pops.
fn treiber(a: usize, b: usize, read: Read) -> usize {
    let stack = TreiberStack {
        read,
        head: AtomicUsize::new(0),
        next: zeros(a * b + 1),
    };
    let popped = fork(a, move |i| {
        let each = (1..=b).map(|j| {
            stack.push(i * b + j);
            stack.pop()
        });
        each.collect::<Vec<_>>()
    });
    digits(a * b + 1, popped)
}

/// Treiber's stack (1986). Nodes are indices from 1, each pushed once, so that there is no ABA.
struct TreiberStack {
    read: Read,
    /// The top node; 0: the stack is empty.
    head: AtomicUsize,
    /// By node: the one below it.
    next: Vec<AtomicUsize>,
}

impl TreiberStack {
    fn push(&self, node: usize) {
        let mut top = (self.read)(&self.head);
        loop {
            self.next[node].store(top, SeqCst);
            match self.head.compare_exchange(top, node, SeqCst, SeqCst) {
                Ok(_) => return,
                Err(now) => top = now,
            }
        }
    }

    /// Returns the node taken, or 0 from the empty stack.
    fn pop(&self) -> usize {
        let mut top = (self.read)(&self.head);
        while top != 0 {
            let below = (self.read)(&self.next[top]);
            match self.head.compare_exchange(top, below, SeqCst, SeqCst) {
                Ok(_) => break,
                Err(now) => top = now,
            }
        }
        top
    }
}

/// `a` threads, each `b` times an enqueue, then a dequeue. Outcome: the results of the dequeues.
fn michael_scott(a: usize, b: usize, read: Read) -> usize {
    let queue = MichaelScottQueue {
        read,
        head: AtomicUsize::new(0),
        tail: AtomicUsize::new(0),
        next: zeros(a * b + 1),
    };
    let dequeued = fork(a, move |i| {
        let each = (1..=b).map(|j| {
            queue.enqueue(i * b + j);
            queue.dequeue()
        });
        each.collect::<Vec<_>>()
    });
    digits(a * b + 1, dequeued)
}

/// Michael and Scott's queue (PODC 1996). Nodes are indices, each enqueued once, so that there is
/// no ABA and no need of the paper's counters; node 0 is the first dummy.
///
/// Differs: dequeue leaves out the paper's second look at `head`, which protects the reading of a
/// node that may have been freed; here the compare-exchange alone decides.
struct MichaelScottQueue {
    read: Read,
    /// The dummy; the oldest item is the node after it.
    head: AtomicUsize,
    /// The last node, or the one before it while an enqueue is half done.
    tail: AtomicUsize,
    /// By node: the one after it; 0: none yet.
    next: Vec<AtomicUsize>,
}

impl MichaelScottQueue {
    fn enqueue(&self, node: usize) {
        loop {
            let last = (self.read)(&self.tail);
            let after = (self.read)(&self.next[last]);
            if after != 0 {
                advance(&self.tail, last, after);
            } else if advance(&self.next[last], 0, node) {
                advance(&self.tail, last, node);
                return;
            }
        }
    }

    /// Returns the node whose item was taken, or 0 from the empty queue.
    fn dequeue(&self) -> usize {
        loop {
            let first = (self.read)(&self.head);
            let last = (self.read)(&self.tail);
            let after = (self.read)(&self.next[first]);
            if after == 0 {
                return 0;
            }
            if first == last {
                advance(&self.tail, last, after);
            } else if advance(&self.head, first, after) {
                return after;
            }
        }
    }
}

/// Four tasks, two of which read the variables that the others store: "big0", a synthetic program from the literature
/// on partial-order reduction. Outcome: the last values read.
fn big0() -> usize {
    let variables = zeros(4);
    let (x, y, z, w) = (0, 1, 2, 3);
    let read = fork(4, move |i| {
        let read = |which: &[usize]| which.iter().map(|&one| variables[one].load(SeqCst)).collect();
        let write = |one: usize, other: usize| {
            for value in 1..=3 {
                variables[one].store(value, SeqCst);
                variables[other].store(value, SeqCst);
            }
            Vec::new()
        };
        match i {
            0 => read(&[x, y, z, w, x, y, z]),
            1 => read(&[x, y, z]),
            2 => write(x, y),
            _ => write(z, w),
        }
    });
    digits(4, read)
}

/// Two tasks that compute Fibonacci numbers together, in `b` additions each, and one that reads both: "fib_bench" of
/// SV-COMP. Outcome: the values that it read.
fn fib_bench(b: usize) -> usize {
    let numbers = [AtomicUsize::new(1), AtomicUsize::new(1)];
    let seen = fork(3, move |i| {
        let sum = |x: usize, y: usize| 145 * x + y;
        if i == 2 {
            return sum(numbers[0].load(SeqCst), numbers[1].load(SeqCst));
        }
        for _ in 0..b {
            let (x, y) = (numbers[0].load(SeqCst), numbers[1].load(SeqCst));
            numbers[i].store(x + y, SeqCst);
        }
        0
    });
    seen[2] % OUTCOMES_MAX
}

/// The way in which a structure reads a shared variable.
type Read = fn(&AtomicUsize) -> usize;

fn load(atomic: &AtomicUsize) -> usize {
    atomic.load(SeqCst)
}

/// Reads by an exchange that fails, because no kernel stores this value. A load may read an old value under loom; an
/// operation that could also store reads the newest.
fn newest(atomic: &AtomicUsize) -> usize {
    match atomic.compare_exchange(usize::MAX, usize::MAX, SeqCst, SeqCst) {
        Ok(value) | Err(value) => value,
    }
}

/// Returns `true` if `atomic` went from `old` to `new`.
fn advance(atomic: &AtomicUsize, old: usize, new: usize) -> bool {
    atomic.compare_exchange(old, new, SeqCst, SeqCst).is_ok()
}

fn zeros(n: usize) -> Vec<AtomicUsize> {
    (0..n).map(|_| AtomicUsize::new(0)).collect()
}

/// Runs `body(0)` to `body(n - 1)` on a thread each, joins them in order, and returns their results.
fn fork<R: Send + 'static>(n: usize, body: impl Fn(usize) -> R + Send + Sync + 'static) -> Vec<R> {
    let body = Arc::new(body);
    let spawn = |i| {
        let body = body.clone();
        thread::spawn(move || body(i))
    };
    let threads: Vec<_> = (0..n).map(spawn).collect();
    threads.into_iter().map(|thread| thread.join().unwrap()).collect()
}

/// Returns the answers as the digits of one number. Past [`OUTCOMES_MAX`] numbers fold together, which keeps equal sets
/// of outcomes equal.
fn digits(base: usize, answers: Vec<Vec<usize>>) -> usize {
    answers
        .into_iter()
        .flatten()
        .fold(0, |number, digit| (number * base + digit) % OUTCOMES_MAX)
}
