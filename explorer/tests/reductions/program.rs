//! Random programs: the operations of their tasks, how they are drawn, and how a failing program is shrunk.
//!
//! Every sequence of operations is a program. An operation that makes no sense at its position does nothing, such as a
//! release without a lock, or a join of a task that was never created. So a program can be shrunk by leaving out
//! whatever is not needed.

use quickcheck::{Arbitrary, Gen};

/// The maximum number of tasks of a program, including the test's own body.
pub(crate) const TASKS: usize = 4;
/// The numbers of atomics, mutexes and channels. The second channel holds at most one message. There is one
/// reader-writer lock and one condition variable.
pub(crate) const ATOMICS: usize = PLAIN + SLOTS;
/// The atomics that any operation may access. After them come the slots of a table, in which a value decides which slot
/// is next.
pub(crate) const PLAIN: usize = 2;
pub(crate) const SLOTS: usize = 6;
pub(crate) const MUTEXES: usize = 2;
pub(crate) const CHANNELS: usize = 2;
/// The channel with a bound, and its bound.
pub(crate) const BOUNDED: usize = 1;
pub(crate) const BOUND: usize = 1;

/// One operation. The values it reads go into the task's record. The last value read is kept for branches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Load(usize),
    Store(usize, u8),
    Swap(usize, u8),
    Add(usize, u8),
    /// Compare-exchange, with the expected and the new value.
    Exchange(usize, u8, u8),
    /// Puts 1 into the first slot that holds 0, starting at this one and wrapping around. It uses one compare-exchange
    /// after the other, each of which reads the value that it finds, and gives up after the last slot.
    Claim(usize),
    /// Takes a mutex, reads its value and counts it up.
    Lock(usize),
    TryLock(usize),
    /// Takes the reader-writer lock and reads its value.
    Read,
    /// Takes the lock as a writer, reads its value and counts it up.
    Write,
    TryRead,
    TryWrite,
    /// Turns the hold of a writer into that of a reader, if it was taken last.
    Downgrade,
    /// Releases the lock that was taken last, if any.
    Release,
    /// Waits with the mutex that was taken last, if that is the last lock taken.
    Wait,
    NotifyOne,
    NotifyAll,
    Send(usize, u8),
    /// Receives, if this task is the channel's receiver: the first task with such an operation.
    Receive(usize),
    TryReceive(usize),
    /// Drops this task's sender.
    Close(usize),
    Park,
    /// Unparks a task that this one knows: its creator, those that its creator knew, and those that it created.
    Unpark(usize),
    /// A value from 0 to 1.
    Choose,
    /// Creates this task.
    Spawn(usize),
    /// Joins a task that this one created.
    Join(usize),
    IsFinished(usize),
    /// Skips the next operation unless the last value read was this one.
    OnlyIf(u8),
}

/// The operations of each task. The first task is the test's own body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program(pub(crate) Vec<Vec<Op>>);

impl Program {
    /// Returns the tasks that have a sender of a channel.
    pub(crate) fn senders(&self, channel: usize) -> impl Iterator<Item = usize> {
        let sends = move |op: &Op| matches!(op, Op::Send(to, _) | Op::Close(to) if *to == channel);
        (0..self.0.len()).filter(move |&task| self.0[task].iter().any(sends))
    }

    /// Returns the task that has the receiver of a channel.
    pub(crate) fn receiver(&self, channel: usize) -> Option<usize> {
        let receives = |op: &Op| matches!(op, Op::Receive(from) | Op::TryReceive(from) if *from == channel);
        self.0.iter().position(|ops| ops.iter().any(receives))
    }

    /// `true` if any task has such an operation.
    pub(crate) fn any(&self, is_such: impl Fn(Op) -> bool) -> bool {
        self.0.iter().flatten().any(|op| is_such(*op))
    }

    /// Returns the program without such operations.
    pub(crate) fn without_all(&self, is_such: impl Fn(Op) -> bool) -> Program {
        let mut fewer = self.clone();
        for ops in &mut fewer.0 {
            ops.retain(|op| !is_such(*op));
        }
        fewer
    }

    fn without(&self, task: usize, op: usize) -> Program {
        let mut fewer = self.clone();
        fewer.0[task].remove(op);
        fewer
    }

    /// Returns the program with this operation in place of another.
    fn with(&self, task: usize, at: usize, op: Op) -> Program {
        let mut other = self.clone();
        other.0[task][at] = op;
        other
    }
}

/// The main subject of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Atomics,
    Mutexes,
    ReadersWriters,
    Conditions,
    Channels,
    Parking,
    Tasks,
    /// Operations of all families above.
    Mixed,
    /// The variables that come into use, and their order, depend on the schedule.
    Probing,
}

impl Family {
    pub(crate) const ALL: [Family; 9] = [
        Family::Atomics,
        Family::Mutexes,
        Family::ReadersWriters,
        Family::Conditions,
        Family::Channels,
        Family::Parking,
        Family::Tasks,
        Family::Mixed,
        Family::Probing,
    ];
}

/// A random program of the family with this number in `Family::ALL`.
#[derive(Clone, Debug)]
pub(crate) struct Sample<const FAMILY: usize>(pub(crate) Program);

impl<const FAMILY: usize> Arbitrary for Sample<FAMILY> {
    fn arbitrary(g: &mut Gen) -> Sample<FAMILY> {
        Sample(draw(g, Family::ALL[FAMILY]))
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Sample<FAMILY>>> {
        let program = self.0.clone();
        let mut smaller = Vec::new();
        if let Some(last) = program.0.len().checked_sub(1).filter(|last| *last > 0) {
            let mut fewer = program.clone();
            fewer.0.pop();
            for ops in &mut fewer.0 {
                ops.retain(|op| !matches!(op, Op::Spawn(task) | Op::Join(task) | Op::IsFinished(task) | Op::Unpark(task) if *task == last));
            }
            smaller.push(fewer);
        }
        for (task, ops) in program.0.iter().enumerate() {
            for (at, op) in ops.iter().enumerate() {
                smaller.push(program.without(task, at));
                if let Some(simpler) = simpler(*op) {
                    smaller.push(program.with(task, at, simpler));
                }
            }
        }
        Box::new(smaller.into_iter().map(Sample))
    }
}

/// Returns a simpler operation, if there is one.
fn simpler(op: Op) -> Option<Op> {
    Some(match op {
        Op::Swap(at, value) | Op::Add(at, value) => Op::Store(at, value),
        Op::Exchange(at, _, value) => Op::Store(at, value),
        Op::Claim(slot) => Op::Exchange(slot_from(slot, 0), 0, 1),
        Op::Store(at, 2..) => Op::Store(at, 1),
        Op::Store(1, value) => Op::Store(0, value),
        Op::Load(1) => Op::Load(0),
        Op::Lock(1) => Op::Lock(0),
        Op::TryLock(1) => Op::TryLock(0),
        _ => return None,
    })
}

/// Returns the atomic that is the slot this many positions further on.
pub(crate) fn slot_from(slot: usize, tries: usize) -> usize {
    PLAIN + (slot + tries) % SLOTS
}

fn below(g: &mut Gen, bound: usize) -> usize {
    usize::arbitrary(g) % bound
}

fn value(g: &mut Gen) -> u8 {
    below(g, 3) as u8
}

/// A random program.
pub(crate) fn draw(g: &mut Gen, family: Family) -> Program {
    let tasks = [2, 2, 2, 3, 3, 3, 3, 4][below(g, 8)];
    // The more tasks there are, the fewer operations each has: interleavings multiply.
    let most = [0, 0, 5, 3, 2][tasks];
    let mut program: Vec<Vec<Op>> = Vec::new();
    for me in 0..tasks {
        // The test's own body often only creates tasks.
        let least = usize::from(me > 0);
        let count = least + below(g, most - least + 1);
        let mut ops = Vec::new();
        while ops.len() < count {
            operation(g, family, me, tasks, &mut ops);
        }
        program.push(ops);
    }
    // Mostly the test's own body creates the tasks, and does so first.
    for task in (1..tasks).rev() {
        let creator = if below(g, 4) == 0 { below(g, task) } else { 0 };
        let ops = &mut program[creator];
        let at = if below(g, 4) == 0 {
            below(g, ops.len() + 1)
        } else {
            0
        };
        ops.insert(at, Op::Spawn(task));
        if family == Family::Tasks && below(g, 2) == 0 || below(g, 8) == 0 {
            let after = at + 1 + below(g, ops.len() - at);
            let op = if below(g, 2) == 0 {
                Op::Join(task)
            } else {
                Op::IsFinished(task)
            };
            ops.insert(after, op);
        }
    }
    Program(program)
}

/// Adds an operation, or a few that belong together.
fn operation(g: &mut Gen, family: Family, me: usize, tasks: usize, ops: &mut Vec<Op>) {
    let family = match family {
        Family::Mixed => Family::ALL[below(g, Family::Mixed as usize)],
        family => family,
    };
    // Operations of another kind in between, so that the order has an effect.
    let family = if below(g, 4) == 0 { Family::Atomics } else { family };
    let which = below(g, 2);
    if below(g, 10) == 0 {
        ops.push(Op::Choose);
    }
    if !ops.is_empty() && below(g, 6) == 0 {
        ops.push(Op::OnlyIf(value(g)));
    }
    match family {
        Family::Mutexes => match below(g, 6) {
            0 => ops.push(Op::TryLock(which)),
            1 => ops.push(Op::Release),
            2 => ops.push(Op::Lock(which)),
            3 => ops.extend([Op::TryLock(which), Op::Release]),
            _ => ops.extend([Op::Lock(which), Op::Release]),
        },
        Family::ReadersWriters => match below(g, 8) {
            0 => ops.push(Op::Read),
            1 => ops.push(Op::Write),
            2 => ops.extend([Op::TryRead, Op::Release]),
            3 => ops.extend([Op::TryWrite, Op::Release]),
            4 => ops.extend([Op::Write, Op::Release]),
            5 => ops.extend([Op::Write, Op::Downgrade]),
            _ => ops.extend([Op::Read, Op::Release]),
        },
        Family::Conditions => match below(g, 6) {
            0 => ops.push(Op::NotifyOne),
            1 => ops.push(Op::NotifyAll),
            2 => ops.extend([Op::Lock(which), Op::NotifyOne, Op::Release]),
            3 => ops.extend([Op::Lock(0), Op::Release]),
            _ => ops.extend([Op::Lock(0), Op::Wait]),
        },
        Family::Channels => match below(g, 8) {
            0 => ops.push(Op::TryReceive(which)),
            1 | 2 => ops.push(Op::Receive(which)),
            3 => ops.push(Op::Close(which)),
            _ => ops.push(Op::Send(which, value(g))),
        },
        Family::Parking => match below(g, 3) {
            0 => ops.push(Op::Park),
            _ => ops.push(Op::Unpark((me + 1 + below(g, tasks - 1)) % tasks)),
        },
        Family::Probing => ops.push(match below(g, 8) {
            0 => Op::Load(slot_from(below(g, SLOTS), 0)),
            1 => Op::Store(slot_from(below(g, SLOTS), 0), value(g)),
            // Near each other, so that the tasks interact.
            _ => Op::Claim(below(g, 3)),
        }),
        Family::Atomics | Family::Tasks | Family::Mixed => ops.push(match below(g, 7) {
            0 | 1 => Op::Load(which),
            2 | 3 => Op::Store(which, value(g)),
            4 => Op::Swap(which, value(g)),
            5 => Op::Add(which, 1),
            _ => Op::Exchange(which, value(g), value(g)),
        }),
    }
}
