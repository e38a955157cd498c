//! A model of programs, written from the design and without the engine's code: every interleaving, with its preemptions,
//! the values that its tasks read, and the trace to which it belongs.
//!
//! A step is a visible operation and everything that follows up to the next ones. Its task continues, and so do the
//! tasks that it creates or wakes, and those that join a task that it ends.

use crate::program::{ATOMICS, BOUND, BOUNDED, CHANNELS, MUTEXES, Op, Program, SLOTS, TASKS, slot_from};
use crate::state::{Channel, HOLDS, Hold, State, Status, Task};
use crate::trace::{self, Access, Class, Thing};

/// The values that a task read, as digits to base 16, each one more than the value.
pub(crate) type Record = u128;

/// Returns a record with one more value.
pub(crate) fn noted(record: Record, value: u8) -> Record {
    assert!(
        value < 15 && record >> 124 == 0,
        "a record has 31 values below 15"
    );
    record << 4 | Record::from(value + 1)
}

/// The values in a record for a failed attempt, and for a receive that finds all senders gone.
pub(crate) const FAILED: u8 = 13;
pub(crate) const DISCONNECTED: u8 = 14;

/// Returns the value of a lock's data after a task took it.
pub(crate) fn counted_up(data: u8) -> u8 {
    (data + 1) % 4
}

/// The end of an execution.
pub(crate) struct Leaf<'a> {
    /// `true` if every task ended; otherwise it is a deadlock.
    pub(crate) complete: bool,
    pub(crate) preemptions: u32,
    /// For each preemption, the variable that the preempted task had accessed last, if any.
    pub(crate) preempted: &'a [Option<u8>],
    pub(crate) records: [Record; TASKS],
    /// The task of each step, by order of creation.
    pub(crate) path: &'a [u32],
    accesses: &'a [Access],
}

impl Leaf<'_> {
    /// Returns the trace, in a form that is the same for all its executions.
    pub(crate) fn trace(&self) -> Vec<u8> {
        trace::canonical(self.accesses)
    }
}

/// The reason why a task does not continue by itself.
enum Stop {
    /// It has a visible operation to perform, or waits, or has ended.
    Settled,
    /// It has to choose a value.
    Choice,
}

/// Calls `visit` for every execution. Returns `true` if all were visited, because it returned `true` each time.
pub(crate) fn executions(program: &Program, visit: &mut dyn FnMut(&Leaf<'_>) -> bool) -> bool {
    let task = Task {
        status: Status::Unborn,
        at: 0,
        last_read: 0,
        record: 0,
        holds: [Hold::Nothing; HOLDS],
        held: 0,
        known: 0,
        handles: 0,
        senders: 0,
        number: 0,
        operations: 0,
        accessed: None,
        token: false,
        tries: 0,
    };
    let channel = Channel {
        messages: [0; 8],
        count: 0,
        senders: 0,
        closed: false,
    };
    let mut state = State {
        tasks: [task; TASKS],
        atomics: [0; ATOMICS],
        mutexes: [(0, false); MUTEXES],
        rwlock: (0, 0, false),
        waiters: [0; TASKS],
        waiting: 0,
        channels: [channel; CHANNELS],
        created: 1,
        running: Some(0),
        eager: 0,
        last: 0,
        preemptions: 0,
        found: 0,
        late: false,
    };
    state.tasks[0].status = Status::Live;
    for which in 0..CHANNELS {
        for task in program.senders(which) {
            state.tasks[task].senders |= 1 << which;
            state.channels[which].senders += 1;
        }
        // If no task sends, the test's own body keeps the sender.
        state.channels[which].senders = state.channels[which].senders.max(1);
    }
    let mut receivers = [None; CHANNELS];
    for (which, receiver) in receivers.iter_mut().enumerate() {
        *receiver = program.receiver(which);
    }
    let mut walk = Walk {
        program,
        receivers,
        accesses: Vec::new(),
        path: Vec::new(),
        preempted: Vec::new(),
        visit,
    };
    walk.from(state)
}

struct Walk<'a> {
    program: &'a Program,
    receivers: [Option<usize>; CHANNELS],
    accesses: Vec<Access>,
    path: Vec<u32>,
    preempted: Vec<Option<u8>>,
    visit: &'a mut dyn FnMut(&Leaf<'_>) -> bool,
}

impl Walk<'_> {
    /// Visits every execution from here on.
    fn from(&mut self, mut state: State) -> bool {
        loop {
            if let Some(task) = state.running {
                if let Stop::Choice = self.settle(&mut state, task) {
                    return self.choose(&state, task);
                }
                state.running = None;
            } else if state.eager != 0 {
                let eager = (0..TASKS).filter(|&task| state.eager & 1 << task != 0);
                let next = eager.min_by_key(|&task| state.tasks[task].number);
                state.running = next;
                state.eager &= !(1 << next.expect("some task is eager"));
            } else {
                break;
            }
        }
        let enabled: [bool; TASKS] = std::array::from_fn(|task| self.enabled(&state, task));
        if !enabled.contains(&true) {
            let ended = |task: &Task| matches!(task.status, Status::Unborn | Status::Ended);
            let leaf = Leaf {
                complete: state.tasks.iter().all(ended),
                preemptions: state.preemptions,
                preempted: &self.preempted,
                records: state.tasks.map(|task| task.record),
                path: &self.path,
                accesses: &self.accesses,
            };
            return (self.visit)(&leaf);
        }
        let tasks = (0..TASKS).filter(|&task| enabled[task]);
        let steps = tasks.flat_map(|task| [(task, false), (task, true)]);
        for (task, late) in steps {
            if late && !self.may_be_late(&state, task) {
                continue;
            }
            let mut next = state;
            next.late = late;
            let preempts = task != state.last && enabled[state.last];
            next.preemptions += u32::from(preempts);
            self.preempted
                .extend(preempts.then_some(state.tasks[state.last].accessed));
            next.last = task;
            next.running = Some(task);
            let accesses = self.accesses.len();
            self.path.push(state.tasks[task].number);
            self.step(&mut next, task);
            let go_on = self.from(next);
            self.accesses.truncate(accesses);
            self.path.pop();
            self.preempted.truncate(state.preemptions as usize);
            if !go_on {
                return false;
            }
        }
        true
    }

    /// `true` if the task's next step checks a task that has ended, and may not find that, because no check has found
    /// it yet.
    fn may_be_late(&self, state: &State, task: usize) -> bool {
        let Some(Op::IsFinished(other)) = self.operation(state, task) else {
            return false;
        };
        state.tasks[task].status == Status::Live
            && state.tasks[other].status == Status::Ended
            && state.found & 1 << other == 0
    }

    /// Visits every execution for each value that the task may choose.
    fn choose(&mut self, state: &State, task: usize) -> bool {
        (0..2).all(|value| {
            let mut next = *state;
            let accesses = self.accesses.len();
            let own = &mut next.tasks[task];
            own.at += 1;
            own.read(value);
            self.accesses.push(Access {
                thing: Thing::Own(task),
                class: Class::Write,
                task: task as u8,
                index: own.operations * 2 + value,
            });
            own.operations += 1;
            let go_on = self.from(next);
            self.accesses.truncate(accesses);
            go_on
        })
    }

    /// Returns the next operation of a task. After its last one it releases the locks that it still holds.
    fn operation(&self, state: &State, task: usize) -> Option<Op> {
        let own = &state.tasks[task];
        let written = self.program.0[task].get(own.at).copied();
        written.or((own.held > 0).then_some(Op::Release))
    }

    /// Performs all operations of the task that have no schedule point.
    fn settle(&mut self, state: &mut State, task: usize) -> Stop {
        loop {
            if state.tasks[task].status != Status::Live {
                return Stop::Settled;
            }
            let Some(op) = self.operation(state, task) else {
                self.end(state, task);
                return Stop::Settled;
            };
            let own = &mut state.tasks[task];
            let top = own.held.checked_sub(1).map(|top| own.holds[top]);
            match op {
                Op::Choose => return Stop::Choice,
                Op::OnlyIf(value) if own.last_read == value => {}
                Op::OnlyIf(_) => own.at += 1,
                Op::Spawn(new) => {
                    own.handles |= 1 << new;
                    let known = own.known | 1 << task;
                    own.known |= 1 << new;
                    let created = &mut state.tasks[new];
                    created.status = Status::Live;
                    created.known = known;
                    created.number = state.created;
                    state.created += 1;
                    state.eager |= 1 << new;
                }
                Op::Join(other) if own.handles & 1 << other != 0 => {
                    own.handles &= !(1 << other);
                    if state.tasks[other].status != Status::Ended {
                        state.tasks[task].status = Status::Joins(other);
                    }
                }
                Op::Join(_) => {}
                Op::Release if top.is_none() => {}
                Op::Downgrade if top != Some(Hold::Writer) => {}
                Op::Release if top == Some(Hold::Nothing) => own.held -= 1,
                Op::Close(channel) if own.senders & 1 << channel == 0 => {}
                Op::Wait if !matches!(top, Some(Hold::Mutex(_))) => {}
                Op::Send(channel, _) if own.senders & 1 << channel == 0 => {}
                Op::Receive(channel) | Op::TryReceive(channel) if self.receivers[channel] != Some(task) => {}
                Op::Unpark(other) if own.known & 1 << other == 0 => {}
                Op::IsFinished(other) if own.handles & 1 << other == 0 => {}
                _ => return Stop::Settled,
            }
            state.tasks[task].at += 1;
        }
    }

    /// Ends the task. Those that join it continue.
    fn end(&mut self, state: &mut State, task: usize) {
        state.tasks[task].status = Status::Ended;
        for other in 0..TASKS {
            if state.tasks[other].status == Status::Joins(task) {
                state.tasks[other].status = Status::Live;
                state.eager |= 1 << other;
            }
        }
    }

    /// `true` if the task can take a step.
    fn enabled(&self, state: &State, task: usize) -> bool {
        let own = &state.tasks[task];
        match own.status {
            Status::Unborn | Status::Ended | Status::Waits(_) | Status::Joins(_) => false,
            Status::Retakes(mutex) => !state.mutexes[mutex].1,
            Status::Live => match self.operation(state, task).expect("it has not ended") {
                Op::Lock(mutex) => !state.mutexes[mutex].1,
                Op::Read => !state.rwlock.2,
                Op::Write => !state.rwlock.2 && state.rwlock.1 == 0,
                Op::Send(BOUNDED, _) => state.channels[BOUNDED].count < BOUND,
                Op::Receive(channel) => {
                    let channel = &state.channels[channel];
                    channel.count > 0 || channel.closed
                }
                Op::Park => own.token,
                _ => true,
            },
        }
    }

    /// Records an operation of a task.
    fn access(&mut self, state: &mut State, task: usize, what: &[(Thing, Class)]) {
        let index = state.tasks[task].operations;
        state.tasks[task].operations += 1;
        state.tasks[task].accessed = what.first().map(|(thing, _)| thing.variable());
        self.accesses.extend(what.iter().map(|&(thing, class)| Access {
            thing,
            class,
            task: task as u8,
            index,
        }));
    }

    /// Records a check of the end of another task. A successful check comes after the end; a failed one is not ordered
    /// with it.
    fn look(&mut self, state: &mut State, task: usize, other: usize, ended: bool) {
        let own = &mut state.tasks[task];
        own.accessed = Some(Thing::End(other).variable());
        self.accesses.push(Access {
            thing: Thing::Own(task),
            class: Class::Write,
            task: task as u8,
            index: own.operations * 2 + u8::from(ended),
        });
        own.operations += 1;
    }

    /// Performs the next visible operation of the task.
    fn step(&mut self, state: &mut State, task: usize) {
        if let Status::Retakes(mutex) = state.tasks[task].status {
            state.tasks[task].status = Status::Live;
            take_mutex(state, task, mutex);
            return self.access(state, task, &[(Thing::Mutex(mutex), Class::Write)]);
        }
        let op = self
            .operation(state, task)
            .expect("only a task that has not ended takes a step");
        let own = &mut state.tasks[task];
        own.at += 1;
        if let Op::IsFinished(other) = op {
            let ended = state.tasks[other].status == Status::Ended && !state.late;
            state.found |= u8::from(ended) << other;
            state.tasks[task].read(u8::from(ended));
            return self.look(state, task, other, ended);
        }
        let own = &mut state.tasks[task];
        let done = match op {
            Op::Load(at) => {
                own.read(state.atomics[at]);
                (Thing::Atomic(at), Class::Read)
            }
            Op::Store(at, value) => {
                state.atomics[at] = value;
                (Thing::Atomic(at), Class::Write)
            }
            Op::Swap(at, value) => {
                own.read(state.atomics[at]);
                state.atomics[at] = value;
                (Thing::Atomic(at), Class::Write)
            }
            Op::Add(at, value) => {
                own.read(state.atomics[at]);
                state.atomics[at] += value;
                (Thing::Atomic(at), Class::Write)
            }
            Op::Exchange(at, expected, value) => {
                own.read(state.atomics[at]);
                if state.atomics[at] == expected {
                    state.atomics[at] = value;
                    (Thing::Atomic(at), Class::Write)
                } else {
                    (Thing::Atomic(at), Class::Read)
                }
            }
            Op::Claim(slot) => {
                let at = slot_from(slot, own.tries);
                own.read(state.atomics[at]);
                let taken = state.atomics[at] != 0;
                own.tries = if taken { own.tries + 1 } else { SLOTS };
                match own.tries {
                    SLOTS => own.tries = 0,
                    _ => own.at -= 1,
                }
                if taken {
                    (Thing::Atomic(at), Class::Read)
                } else {
                    state.atomics[at] = 1;
                    (Thing::Atomic(at), Class::Write)
                }
            }
            Op::TryLock(mutex) if state.mutexes[mutex].1 => {
                own.fail();
                (Thing::Mutex(mutex), Class::Read)
            }
            Op::Lock(mutex) | Op::TryLock(mutex) => {
                take_mutex(state, task, mutex);
                state.tasks[task].hold(Hold::Mutex(mutex));
                (Thing::Mutex(mutex), Class::Write)
            }
            Op::TryRead if state.rwlock.2 => {
                own.fail();
                (Thing::RwLock, Class::Read)
            }
            Op::Read | Op::TryRead => {
                state.rwlock.1 += 1;
                own.read(state.rwlock.0);
                own.hold(Hold::Share);
                (Thing::RwLock, Class::Share)
            }
            Op::TryWrite if state.rwlock.2 || state.rwlock.1 > 0 => {
                own.fail();
                (Thing::RwLock, Class::Read)
            }
            Op::Write | Op::TryWrite => {
                own.read(state.rwlock.0);
                own.hold(Hold::Writer);
                state.rwlock = (counted_up(state.rwlock.0), 0, true);
                (Thing::RwLock, Class::Write)
            }
            Op::Downgrade => {
                own.holds[own.held - 1] = Hold::Share;
                (state.rwlock.1, state.rwlock.2) = (1, false);
                let what = [(Thing::RwLock, Class::Write), (Thing::RwLock, Class::Share)];
                return self.access(state, task, &what);
            }
            Op::Release => {
                own.held -= 1;
                match own.holds[own.held] {
                    Hold::Mutex(mutex) => {
                        state.mutexes[mutex].1 = false;
                        (Thing::Mutex(mutex), Class::Write)
                    }
                    Hold::Share => {
                        state.rwlock.1 -= 1;
                        (Thing::RwLock, Class::Share)
                    }
                    Hold::Writer => {
                        state.rwlock.2 = false;
                        (Thing::RwLock, Class::Write)
                    }
                    Hold::Nothing => unreachable!("releasing nothing is no visible operation"),
                }
            }
            Op::Wait => {
                let Hold::Mutex(mutex) = own.holds[own.held - 1] else {
                    unreachable!("waiting without a mutex is no visible operation");
                };
                own.status = Status::Waits(mutex);
                state.mutexes[mutex].1 = false;
                state.waiters[state.waiting] = task;
                state.waiting += 1;
                let what = [
                    (Thing::Condvar, Class::Write),
                    (Thing::Mutex(mutex), Class::Write),
                ];
                return self.access(state, task, &what);
            }
            Op::NotifyOne | Op::NotifyAll => {
                let most = if op == Op::NotifyOne { 1 } else { TASKS };
                wake(state, most);
                (Thing::Condvar, Class::Write)
            }
            Op::Send(channel, value) => {
                let at = &mut state.channels[channel];
                at.messages[at.count] = value;
                at.count += 1;
                (Thing::Channel(channel), Class::Write)
            }
            Op::Receive(channel) | Op::TryReceive(channel) => {
                let at = &mut state.channels[channel];
                let class = if at.count > 0 {
                    own.read(at.messages[0]);
                    at.messages.copy_within(1.., 0);
                    at.count -= 1;
                    Class::Write
                } else if at.closed {
                    own.read(DISCONNECTED);
                    Class::Write
                } else {
                    own.read(FAILED);
                    Class::Read
                };
                (Thing::Channel(channel), class)
            }
            Op::Close(channel) => {
                own.senders &= !(1 << channel);
                let at = &mut state.channels[channel];
                at.senders -= 1;
                at.closed |= at.senders == 0;
                (Thing::Channel(channel), Class::Add)
            }
            Op::Park => {
                own.token = false;
                (Thing::Token(task), Class::Write)
            }
            Op::Unpark(other) => {
                state.tasks[other].token = true;
                (Thing::Token(other), Class::Add)
            }
            Op::IsFinished(_) => unreachable!("looks are seen to above"),
            Op::Choose | Op::Spawn(_) | Op::Join(_) | Op::OnlyIf(_) => {
                unreachable!("no visible operations")
            }
        };
        self.access(state, task, &[done]);
    }
}

fn take_mutex(state: &mut State, task: usize, mutex: usize) {
    let (data, taken) = &mut state.mutexes[mutex];
    *taken = true;
    state.tasks[task].read(*data);
    *data = counted_up(*data);
}

/// Wakes the tasks that have waited longest, at most `most` of them.
fn wake(state: &mut State, most: usize) {
    let woken = most.min(state.waiting);
    for waiter in 0..woken {
        let task = &mut state.tasks[state.waiters[waiter]];
        if let Status::Waits(mutex) = task.status {
            task.status = Status::Retakes(mutex);
        }
    }
    state.waiters.copy_within(woken.., 0);
    state.waiting -= woken;
}
