//! The state of an execution in the model: tasks and objects.

use crate::model::{FAILED, Record, noted};
use crate::program::{ATOMICS, CHANNELS, MUTEXES, TASKS};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Unborn,
    Live,
    /// Waits for a notification, and takes this mutex again afterwards.
    Waits(usize),
    /// Has to take a mutex again.
    Retakes(usize),
    Joins(usize),
    Ended,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hold {
    /// A failed attempt.
    Nothing,
    Mutex(usize),
    Share,
    Writer,
}

/// The maximum number of holds of a task at a time.
pub(crate) const HOLDS: usize = 12;

#[derive(Clone, Copy)]
pub(crate) struct Task {
    pub(crate) status: Status,
    pub(crate) at: usize,
    pub(crate) last_read: u8,
    pub(crate) record: Record,
    pub(crate) holds: [Hold; HOLDS],
    pub(crate) held: usize,
    /// The tasks that it can unpark, and those that it can join, as bits.
    pub(crate) known: u8,
    pub(crate) handles: u8,
    /// The channels of which it has a sender, as bits.
    pub(crate) senders: u8,
    /// Its number in the order of creation.
    pub(crate) number: u32,
    pub(crate) operations: u8,
    /// The variable that it accessed last.
    pub(crate) accessed: Option<u8>,
    pub(crate) token: bool,
    /// The number of slots that it has found taken in its current search.
    pub(crate) tries: usize,
}

#[derive(Clone, Copy)]
pub(crate) struct Channel {
    pub(crate) messages: [u8; 8],
    pub(crate) count: usize,
    pub(crate) senders: usize,
    /// `true` if the last sender has closed.
    pub(crate) closed: bool,
}

#[derive(Clone, Copy)]
pub(crate) struct State {
    pub(crate) tasks: [Task; TASKS],
    pub(crate) atomics: [u8; ATOMICS],
    /// The data of each mutex, and `true` if it is taken.
    pub(crate) mutexes: [(u8, bool); MUTEXES],
    /// The data of the reader-writer lock, its number of readers, and `true` if it has a writer.
    pub(crate) rwlock: (u8, u8, bool),
    pub(crate) waiters: [usize; TASKS],
    pub(crate) waiting: usize,
    pub(crate) channels: [Channel; CHANNELS],
    pub(crate) created: u32,
    /// The task that continues without a decision, and those that do so after it, as bits.
    pub(crate) running: Option<usize>,
    pub(crate) eager: u8,
    pub(crate) last: usize,
    pub(crate) preemptions: u32,
    /// The tasks that a check found ended, as bits.
    pub(crate) found: u8,
    /// `true` if the check of the current step is late: it does not find a task ended that has.
    pub(crate) late: bool,
}

impl Task {
    pub(crate) fn read(&mut self, value: u8) {
        self.last_read = value;
        self.record = noted(self.record, value);
    }

    pub(crate) fn hold(&mut self, hold: Hold) {
        self.holds[self.held] = hold;
        self.held += 1;
    }

    /// Records a failed attempt to take a lock.
    pub(crate) fn fail(&mut self) {
        self.read(FAILED);
        self.hold(Hold::Nothing);
    }
}
