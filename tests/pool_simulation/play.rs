//! Simulates the workers of a pool that explore a tree under the rules of `docs/guide/src/pool.md`, in computed time.

use super::tree::{Share, Tree};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Times are in microseconds.
pub(super) type Time = u64;

pub(super) const SECOND: Time = 1_000_000;

/// The rules of the pool, and the speed of its machines.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    pub(super) workers: usize,
    /// The time of an execution.
    pub(super) execution: Time,
    /// The time to start the process of a share and to write its report.
    pub(super) process: Time,
    /// The time of a message to the server, or from it.
    pub(super) message: Time,
    /// The mean time after which a worker ends. It is back a minute later.
    pub(super) life: Option<Time>,
    /// The time that a share runs before it may be divided, and the time between two checks for idle workers.
    pub(super) split_after: Time,
    pub(super) look: Time,
    /// A share is divided if a worker has waited for this fraction (1/`patience`) of the time that the share has run.
    pub(super) patience: u64,
    /// A share is also divided when it has run for `split_after`, if fewer shares are queued than this many for each
    /// worker.
    pub(super) stock: usize,
    /// The losses that count: executions of other shares that a share runs, and executions of a share before it was
    /// divided.
    pub(super) runs_others: bool,
    pub(super) throws_away: bool,
    pub(super) seed: u64,
}

/// After that time the item of a worker that ended is given to another one.
const REDELIVERED: Time = 5 * SECOND;

/// The time until a worker that ended is back.
const AWAY: Time = 60 * SECOND;

/// A share that is to be explored, and the number of executions of other shares that it runs.
#[derive(Clone, Copy)]
struct Item {
    share: Share,
    of_others: u64,
    /// The part of the share that is still to be explored.
    left: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Arrives(usize),
    Ends { worker: usize, turn: u64 },
    Looks { worker: usize, turn: u64 },
    Leaves(usize),
    Returns(usize),
}

/// A worker. `turn` counts the items that it began, so that events of an abandoned item can be ignored.
#[derive(Clone, Copy, Default)]
struct Worker {
    turn: u64,
    is_away: bool,
    runs: Option<(Item, Time)>,
    waits_since: Option<Time>,
}

struct Play<'a> {
    tree: &'a Tree,
    rules: Rules,
    now: Time,
    events: BinaryHeap<Reverse<(Time, Event)>>,
    /// Items by number; those that are queued.
    items: Vec<Item>,
    queue: VecDeque<Item>,
    workers: Vec<Worker>,
    /// The workers that wait, the longest first. Some of them may no longer wait.
    waiting: VecDeque<usize>,
    /// The number of items that have no result.
    open: u64,
    rng: Xoshiro256PlusPlus,
}

/// Returns the time until the whole tree is explored.
pub(super) fn play(tree: &Tree, rules: Rules) -> Time {
    let mut play = Play {
        tree,
        rules,
        now: 0,
        events: BinaryHeap::new(),
        items: Vec::new(),
        queue: VecDeque::new(),
        workers: vec![Worker::default(); rules.workers],
        waiting: VecDeque::new(),
        open: 0,
        rng: Xoshiro256PlusPlus::seed_from_u64(rules.seed),
    };
    play.publish(Item {
        share: Some(Tree::WHOLE),
        of_others: 0,
        left: 1.0,
    });
    for worker in 0..rules.workers {
        play.waits(worker);
        play.will_leave(worker);
    }
    while play.open > 0 {
        let Reverse((now, event)) = play.events.pop().expect("something is still to come");
        play.now = now;
        play.happens(event);
    }
    play.now
}

impl Play<'_> {
    fn after(&mut self, time: Time, event: Event) {
        self.events.push(Reverse((self.now + time, event)));
    }

    fn publish(&mut self, item: Item) {
        self.open += 1;
        self.items.push(item);
        let number = self.items.len() - 1;
        self.after(self.rules.message, Event::Arrives(number));
    }

    fn waits(&mut self, worker: usize) {
        self.workers[worker].waits_since = Some(self.now);
        self.workers[worker].runs = None;
        self.waiting.push_back(worker);
        self.deliver();
    }

    /// Gives queued items to waiting workers.
    fn deliver(&mut self) {
        while !self.queue.is_empty()
            && let Some(worker) = self.waiting.pop_front()
        {
            if self.workers[worker].waits_since.take().is_none() {
                continue;
            }
            let item = self.queue.pop_front().expect("it is not empty");
            let turn = self.workers[worker].turn + 1;
            self.workers[worker].turn = turn;
            // One message delivers the item, and another one its result.
            let begins = self.now + self.rules.message;
            self.workers[worker].runs = Some((item, begins));
            let work = self.work(item) + self.rules.process;
            self.after(work + 2 * self.rules.message, Event::Ends { worker, turn });
            self.looks_later(worker, self.rules.split_after + self.rules.message);
        }
    }

    /// Returns the time of the executions of an item.
    fn work(&self, item: Item) -> Time {
        let others = if self.rules.runs_others { item.of_others } else { 0 };
        let executions = self.tree.executions(item.share) as f64 * item.left + others as f64;
        (executions * self.rules.execution as f64) as Time
    }

    fn looks_later(&mut self, worker: usize, time: Time) {
        let turn = self.workers[worker].turn;
        self.after(time, Event::Looks { worker, turn });
    }

    fn will_leave(&mut self, worker: usize) {
        let Some(life) = self.rules.life else {
            return;
        };
        let chance: f64 = self.rng.random();
        let time = -(1.0 - chance).ln() * life as f64;
        self.after(time as Time, Event::Leaves(worker));
    }

    /// Returns the time for which a worker has waited, the longest of all.
    fn longest_wait(&mut self) -> Option<Time> {
        while let Some(&worker) = self.waiting.front() {
            if let Some(since) = self.workers[worker].waits_since {
                return Some(self.now - since);
            }
            self.waiting.pop_front();
        }
        None
    }

    fn happens(&mut self, event: Event) {
        match event {
            Event::Arrives(number) => {
                let item = self.items[number];
                self.queue.push_back(item);
                self.deliver();
            }
            Event::Ends { worker, turn } if self.workers[worker].turn == turn => {
                self.open -= 1;
                self.workers[worker].turn += 1;
                self.waits(worker);
            }
            Event::Looks { worker, turn } if self.workers[worker].turn == turn => self.looks(worker),
            Event::Ends { .. } | Event::Looks { .. } => {}
            Event::Leaves(worker) => {
                let left = &mut self.workers[worker];
                left.is_away = true;
                left.turn += 1;
                left.waits_since = None;
                if let Some((item, _)) = left.runs.take() {
                    self.items.push(item);
                    let number = self.items.len() - 1;
                    self.after(REDELIVERED, Event::Arrives(number));
                }
                self.after(AWAY, Event::Returns(worker));
            }
            Event::Returns(worker) => {
                self.workers[worker].is_away = false;
                self.waits(worker);
                self.will_leave(worker);
            }
        }
    }

    /// Divides the share of this worker, if another one has waited for long enough and nothing is queued.
    fn looks(&mut self, worker: usize) {
        let Some((item, begun)) = self.workers[worker].runs else {
            return;
        };
        let has_run = self.now - begun;
        let wanted = self.queue.is_empty()
            && self
                .longest_wait()
                .is_some_and(|waited| waited * self.rules.patience >= has_run)
            || has_run < self.rules.split_after + self.rules.look
                && self.workers.len() > 1
                && self.queue.len() < self.rules.stock * self.workers.len();
        let within = match wanted {
            true => self.tree.divided(item.share),
            false => Vec::new(),
        };
        if within.is_empty() {
            let look = self.rules.look;
            return self.looks_later(worker, look);
        }
        let left = match self.rules.throws_away {
            true => item.left,
            false => item.left * (1.0 - (has_run as f64 / self.work(item) as f64).min(1.0)),
        };
        for (share, of_others) in within {
            self.publish(Item {
                share,
                of_others: item.of_others + of_others,
                left,
            });
        }
        self.open -= 1;
        self.workers[worker].turn += 1;
        self.waits(worker);
    }
}
