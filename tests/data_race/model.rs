//! Data races by definition: every interleaving of a program, and in each the happens-before relation of C11 computed from
//! its axioms, event by event. Nothing here uses vector clocks or the monitor.

use crate::cells::{ADD, EXCHANGE, LOAD, STORE};
use crate::program::{ATOMICS, Access, CELLS, Hold, Program, Step};
use intermezzo::sync::atomic::Ordering::{self, AcqRel, Acquire, Release, SeqCst};
use std::collections::BTreeSet;

/// Two accesses that race, by their slots, the lower first.
pub(crate) type Pair = (usize, usize);

/// The races of an execution.
pub(crate) type Races = BTreeSet<Pair>;

/// The races of each execution of a program: those that end, and those that do not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcomes {
    pub(crate) complete: BTreeSet<Races>,
    pub(crate) stuck: BTreeSet<Races>,
}

impl Outcomes {
    /// The races of all executions together.
    pub(crate) fn union(&self) -> Races {
        self.complete
            .iter()
            .chain(&self.stuck)
            .flatten()
            .copied()
            .collect()
    }
}

/// The number of tasks that must arrive at the barrier.
pub(crate) const BARRIER: usize = 2;

/// The kind of an event, with what matters for happens-before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Plain(Access),
    /// An atomic access: its variable, the ordering of its read and of its write, and the write it reads from.
    Atomic {
        variable: usize,
        /// The place of the access.
        slot: usize,
        reads: Option<Ordering>,
        writes: Option<Ordering>,
        from: Option<usize>,
    },
    Fence(Ordering),
    Take(Hold),
    LetGo(Hold),
    Send,
    /// A receipt of the message that this event sent.
    Receive(usize),
    /// The answer to a sender at a rendezvous: this event received its message.
    Answer(usize),
    SenderLeft,
    /// The end of the receiver, with this many of the last sent messages, which were not received.
    ReceiverLeft(usize),
    /// A receiver or a sender learns that it is alone.
    NoSenders,
    NoReceiver,
    Unpark(usize),
    Unparked,
    Arrive(usize),
    Pass(usize),
    Initialised,
    SeenInitialised,
    /// A handle is dropped; `true` if it was the last.
    HandleDropped(bool),
    Created(usize),
    Begun,
    Ended,
    Joined(usize),
    /// An event that no task can observe.
    Nothing,
}

#[derive(Clone, Copy, Debug)]
struct Event {
    task: usize,
    what: What,
}

/// The test's own body, as a task.
const MAIN: usize = usize::MAX;

fn acquires(order: Ordering) -> bool {
    matches!(order, Acquire | AcqRel | SeqCst)
}

fn releases(order: Ordering) -> bool {
    matches!(order, Release | AcqRel | SeqCst)
}

/// `true` if Y reads a value that X wrote, or a read-modify-write in the release sequence that X heads, or would head.
fn reads_from_sequence(events: &[Event], x: usize, y: usize) -> bool {
    let (
        What::Atomic { variable, .. },
        What::Atomic {
            variable: other,
            from: Some(from),
            ..
        },
    ) = (events[x].what, events[y].what)
    else {
        return false;
    };
    let goes_on = |event: &Event| match event.what {
        What::Atomic {
            variable: written,
            reads,
            writes: Some(_),
            ..
        } if written == variable => reads.is_some(),
        _ => true,
    };
    variable == other && x <= from && events[x + 1..=from].iter().all(goes_on)
}

/// Returns the writes by which this event releases.
fn released_by(events: &[Event], a: usize) -> Vec<usize> {
    let writes = |event: &Event| matches!(event.what, What::Atomic { writes: Some(_), .. });
    match events[a].what {
        What::Atomic {
            writes: Some(order), ..
        } if releases(order) => vec![a],
        What::Fence(order) if releases(order) => (a + 1..events.len())
            .filter(|&x| events[x].task == events[a].task && writes(&events[x]))
            .collect(),
        _ => Vec::new(),
    }
}

/// Returns the reads by which this event acquires.
fn acquired_by(events: &[Event], b: usize) -> Vec<usize> {
    let reads = |event: &Event| matches!(event.what, What::Atomic { reads: Some(_), .. });
    match events[b].what {
        What::Atomic {
            reads: Some(order), ..
        } if acquires(order) => vec![b],
        What::Fence(order) if acquires(order) => (0..b)
            .filter(|&y| events[y].task == events[b].task && reads(&events[y]))
            .collect(),
        _ => Vec::new(),
    }
}

/// `true` if `a`, which came first, synchronises with `b`.
fn synchronises(events: &[Event], a: usize, b: usize) -> bool {
    use Hold::{Exclusive, Mutex, Shared};
    use What::*;
    let (first, second) = (events[a], events[b]);
    match (first.what, second.what) {
        (Atomic { .. } | Fence(_), Atomic { .. } | Fence(_)) => {
            let acquired = acquired_by(events, b);
            !acquired.is_empty()
                && released_by(events, a)
                    .iter()
                    .any(|&x| acquired.iter().any(|&y| reads_from_sequence(events, x, y)))
        }
        (LetGo(Mutex), Take(Mutex)) => true,
        (LetGo(Exclusive), Take(Exclusive | Shared)) => true,
        (LetGo(Shared), Take(Exclusive)) => true,
        (Send, Receive(sent)) => sent == a,
        (Receive(_), Answer(received)) => received == a,
        (SenderLeft, NoSenders) | (ReceiverLeft(_), NoReceiver) => true,
        (Send, ReceiverLeft(untaken)) => {
            let later = events[a + 1..b].iter().filter(|event| event.what == Send);
            later.count() < untaken
        }
        (Unpark(task), Unparked) => task == second.task,
        (Arrive(one), Pass(other)) => one == other,
        (Initialised, SeenInitialised) => true,
        (HandleDropped(_), HandleDropped(last)) => last,
        (Created(task), Begun) => task == second.task,
        (Ended, Joined(task)) => task == first.task,
        _ => false,
    }
}

/// Returns the pairs that race in an execution.
fn races(events: &[Event]) -> Races {
    let mut found = Races::new();
    assert!(events.len() <= 128, "a bit for each event");
    let mut before: Vec<u128> = Vec::with_capacity(events.len());
    for b in 0..events.len() {
        let mut known = 0;
        for a in 0..b {
            if events[a].task == events[b].task || synchronises(events, a, b) {
                known |= before[a] | 1 << a;
            }
        }
        before.push(known);
        let Some(second) = Touch::of(events[b].what) else {
            continue;
        };
        for a in (0..b).filter(|a| known & (1 << a) == 0) {
            if let Some(first) = Touch::of(events[a].what)
                && first.cell == second.cell
                && (first.is_write || second.is_write)
                && !(first.is_atomic && second.is_atomic)
            {
                let (one, other) = (first.slot, second.slot);
                found.insert((one.min(other), one.max(other)));
            }
        }
    }
    found
}

/// An access to memory, plain or atomic.
struct Touch {
    slot: usize,
    cell: usize,
    is_write: bool,
    is_atomic: bool,
}

impl Touch {
    fn of(what: What) -> Option<Touch> {
        match what {
            What::Plain(access) => Some(Touch {
                slot: access.slot,
                cell: access.cell,
                is_write: access.is_write,
                is_atomic: false,
            }),
            What::Atomic {
                variable,
                slot,
                writes,
                ..
            } => Some(Touch {
                slot,
                cell: CELLS + variable,
                is_write: writes.is_some(),
                is_atomic: true,
            }),
            _ => None,
        }
    }
}

/// The position of a task.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    step: usize,
    /// The event or the round for which the task waits in the middle of a step.
    waits_for: Option<usize>,
    succeeded: bool,
}

/// The shared state of the tasks, in the middle of an execution.
#[derive(Clone, Debug)]
struct State {
    places: Vec<Place>,
    /// The value, and the event that wrote it.
    atomics: [(u8, Option<usize>); ATOMICS],
    mutex_taken: bool,
    /// Shared holders; `None` if there is an exclusive one.
    readers: Option<usize>,
    /// Messages that were not received yet, by the events that sent them.
    messages: Vec<usize>,
    /// At a rendezvous: sending and receiving event of the messages that were received.
    taken: Vec<(usize, usize)>,
    senders: usize,
    receiver_left: bool,
    tokens: Vec<bool>,
    /// The number of tasks that have arrived at the barrier so far.
    arrived: usize,
    initialised: bool,
    handles: usize,
}

/// The results for a program.
pub(crate) struct Judgement {
    pub(crate) outcomes: Outcomes,
    pub(crate) executions: u64,
}

struct Search<'a> {
    program: &'a Program,
    events: Vec<Event>,
    outcomes: Outcomes,
    executions: u64,
    most: u64,
}

/// Returns the races of all executions; `None` if there are more than `most`.
pub(crate) fn judge(program: &Program, most: u64) -> Option<Judgement> {
    let tasks = program.tasks.len();
    let count = |step| {
        let has = |steps: &&Vec<Step>| steps.contains(&step);
        program.tasks.iter().filter(has).count()
    };
    let mut state = State {
        places: vec![Place::default(); tasks],
        atomics: [(0, None); ATOMICS],
        mutex_taken: false,
        readers: Some(0),
        messages: Vec::new(),
        taken: Vec::new(),
        senders: count(Step::CloseSender),
        receiver_left: false,
        tokens: vec![false; tasks],
        arrived: 0,
        initialised: false,
        handles: count(Step::DropHandle),
    };
    let mut search = Search {
        program,
        events: Vec::new(),
        outcomes: Outcomes::default(),
        executions: 0,
        most,
    };
    search.begin(&mut state);
    search.go_on(state).then_some(Judgement {
        outcomes: search.outcomes,
        executions: search.executions,
    })
}

impl Search<'_> {
    fn happened(&mut self, task: usize, what: What) -> usize {
        self.events.push(Event { task, what });
        self.events.len() - 1
    }

    fn begin(&mut self, state: &mut State) {
        let program = self.program;
        for access in &program.before {
            self.happened(MAIN, What::Plain(*access));
        }
        for task in 0..program.tasks.len() {
            self.happened(MAIN, What::Created(task));
            self.happened(task, What::Begun);
            self.settle(task, state);
        }
    }

    /// Visits every execution from this state on. Returns `false` if there are too many.
    fn go_on(&mut self, state: State) -> bool {
        let so_far = self.events.len();
        let mut stuck = true;
        for task in 0..state.places.len() {
            let mut next = state.clone();
            if self.advance(task, &mut next) {
                stuck = false;
                if !self.go_on(next) {
                    return false;
                }
            }
            self.events.truncate(so_far);
        }
        if stuck {
            self.executions += 1;
            let ended = |(task, place): (usize, &Place)| place.step == self.program.tasks[task].len();
            let complete = state.places.iter().enumerate().all(ended);
            if complete {
                let program = self.program;
                (0..state.places.len()).for_each(|task| {
                    self.happened(task, What::Ended);
                });
                for task in 0..state.places.len() {
                    self.happened(MAIN, What::Joined(task));
                }
                for access in &program.after {
                    self.happened(MAIN, What::Plain(*access));
                }
            }
            let races = races(&self.events);
            match complete {
                true => self.outcomes.complete.insert(races),
                false => self.outcomes.stuck.insert(races),
            };
            self.events.truncate(so_far);
        }
        self.executions <= self.most
    }

    /// Takes the task's next visible step, and the invisible ones after it. Returns `false` if the task must wait, or
    /// has ended.
    fn advance(&mut self, task: usize, state: &mut State) -> bool {
        let next = self.program.tasks[task].get(state.places[task].step);
        let Some(&step) = next.filter(|step| self.take(task, **step, state)) else {
            return false;
        };
        debug_assert!(step.is_visible());
        if state.places[task].waits_for.is_none() {
            state.places[task].step += 1;
            self.settle(task, state);
        }
        true
    }

    /// Takes the task's next steps as long as they are invisible.
    fn settle(&mut self, task: usize, state: &mut State) {
        while let Some(&step) = self.program.tasks[task].get(state.places[task].step)
            && !step.is_visible()
        {
            self.take(task, step, state);
            let place = &mut state.places[task];
            place.step += match step {
                Step::Unless(steps) if !place.succeeded => 1 + steps,
                _ => 1,
            };
        }
    }

    /// Takes a step. Returns `false` if it must wait.
    fn take(&mut self, task: usize, step: Step, state: &mut State) -> bool {
        let place = state.places[task];
        let succeeded = &mut state.places[task].succeeded;
        match step {
            Step::Plain(access) => {
                self.happened(task, What::Plain(access));
            }
            Step::Fence(order) => {
                self.happened(task, What::Fence(order));
            }
            Step::Unless(_) => {}
            Step::Load(variable, order) => {
                let (value, from) = state.atomics[variable];
                *succeeded = value != 0;
                self.atomic(task, (variable, LOAD), Some(order), None, from);
            }
            Step::Store(variable, order, value) => {
                let at = self.atomic(task, (variable, STORE), None, Some(order), None);
                state.atomics[variable] = (value, Some(at));
            }
            Step::Add(variable, order) => {
                let (value, from) = state.atomics[variable];
                *succeeded = value != 0;
                let at = self.atomic(task, (variable, ADD), Some(order), Some(order), from);
                state.atomics[variable] = (value.wrapping_add(1), Some(at));
            }
            Step::Exchange(variable, success, failure) => {
                let (value, from) = state.atomics[variable];
                *succeeded = value == 1;
                if value == 1 {
                    let at = self.atomic(task, (variable, EXCHANGE), Some(success), Some(success), from);
                    state.atomics[variable] = (2, Some(at));
                } else {
                    self.atomic(task, (variable, EXCHANGE), Some(failure), None, from);
                }
            }
            Step::Lock(hold) | Step::TryLock(hold) => {
                let free = match hold {
                    Hold::Mutex => !state.mutex_taken,
                    Hold::Shared => state.readers.is_some(),
                    Hold::Exclusive => state.readers == Some(0),
                };
                if let Step::TryLock(_) = step {
                    *succeeded = free;
                } else if !free {
                    return false;
                }
                if !free {
                    self.happened(task, What::Nothing);
                    return true;
                }
                match hold {
                    Hold::Mutex => state.mutex_taken = true,
                    Hold::Shared => state.readers = state.readers.map(|readers| readers + 1),
                    Hold::Exclusive => state.readers = None,
                }
                self.happened(task, What::Take(hold));
            }
            Step::Unlock(hold) => {
                match hold {
                    Hold::Mutex => state.mutex_taken = false,
                    Hold::Shared => state.readers = state.readers.map(|readers| readers - 1),
                    Hold::Exclusive => state.readers = Some(0),
                }
                self.happened(task, What::LetGo(hold));
            }
            Step::Send | Step::Receive | Step::TryReceive | Step::CloseSender | Step::CloseReceiver => {
                return self.pass_messages(task, step, state);
            }
            Step::Park => {
                if !std::mem::take(&mut state.tokens[task]) {
                    return false;
                }
                self.happened(task, What::Unparked);
            }
            Step::Unpark(other) => {
                state.tokens[other] = true;
                self.happened(task, What::Unpark(other));
            }
            Step::Barrier => match place.waits_for {
                Some(round) => {
                    if state.arrived / BARRIER <= round {
                        return false;
                    }
                    state.places[task].waits_for = None;
                    self.happened(task, What::Pass(round));
                }
                None => {
                    let round = state.arrived / BARRIER;
                    state.arrived += 1;
                    self.happened(task, What::Arrive(round));
                    if state.arrived / BARRIER > round {
                        self.happened(task, What::Pass(round));
                    } else {
                        state.places[task].waits_for = Some(round);
                    }
                }
            },
            Step::Once(access) => {
                if state.initialised {
                    self.happened(task, What::SeenInitialised);
                } else {
                    state.initialised = true;
                    self.happened(task, What::Plain(access));
                    self.happened(task, What::Initialised);
                }
            }
            Step::IsComplete => {
                *succeeded = state.initialised;
                let what = if state.initialised {
                    What::SeenInitialised
                } else {
                    What::Nothing
                };
                self.happened(task, what);
            }
            Step::DropHandle => {
                state.handles -= 1;
                *succeeded = state.handles == 0;
                self.happened(task, What::HandleDropped(state.handles == 0));
            }
        }
        true
    }

    fn atomic(
        &mut self,
        task: usize,
        (variable, slot): (usize, usize),
        reads: Option<Ordering>,
        writes: Option<Ordering>,
        from: Option<usize>,
    ) -> usize {
        self.happened(
            task,
            What::Atomic {
                variable,
                slot,
                reads,
                writes,
                from,
            },
        )
    }

    fn pass_messages(&mut self, task: usize, step: Step, state: &mut State) -> bool {
        let rendezvous = self.program.rendezvous;
        let place = &mut state.places[task];
        match step {
            Step::Send => match place.waits_for {
                Some(sent) => {
                    let taken = state.taken.iter().find(|(message, _)| *message == sent);
                    let what = match taken {
                        Some((_, received)) => What::Answer(*received),
                        None if state.receiver_left => What::NoReceiver,
                        None => return false,
                    };
                    (place.waits_for, place.succeeded) = (None, taken.is_some());
                    self.happened(task, what);
                }
                None if state.receiver_left => {
                    place.succeeded = false;
                    self.happened(task, What::NoReceiver);
                }
                // At most one message waits for the receiver at a time.
                None if rendezvous && !state.messages.is_empty() => return false,
                None => {
                    let sent = self.happened(task, What::Send);
                    state.messages.push(sent);
                    place.succeeded = true;
                    place.waits_for = rendezvous.then_some(sent);
                }
            },
            Step::CloseSender => {
                state.senders -= 1;
                self.happened(task, What::SenderLeft);
            }
            Step::CloseReceiver => {
                state.receiver_left = true;
                // At a rendezvous the sender keeps its message.
                let untaken = if rendezvous { 0 } else { state.messages.len() };
                self.happened(task, What::ReceiverLeft(untaken));
            }
            _ if !state.messages.is_empty() => {
                let sent = state.messages.remove(0);
                place.succeeded = true;
                let received = self.happened(task, What::Receive(sent));
                state.taken.push((sent, received));
            }
            _ => {
                place.succeeded = false;
                let alone = state.senders == 0;
                if step == Step::Receive && !alone {
                    return false;
                }
                self.happened(task, if alone { What::NoSenders } else { What::Nothing });
            }
        }
        true
    }
}
