//! An approximation of the order that holds in every execution: the order that is not due to locks.
//!
//! This is Maple's *non-mutex happens-before* (section 3.3): creation and end of tasks, notifications, parking,
//! messages, barriers and one-time initialisations. The order in which tasks take a lock, or access an atomic, may be
//! different in the next execution. Misses: an order that follows from values, for instance if a task spins until
//! another one has stored.

use crate::classic::slots::slot;
use hashbrown::HashMap;
use intermezzo_sdk::{SyncVarAccess, SyncVarOp, TaskId, VectorClock};

/// The order in an execution, event by event.
#[derive(Debug, Default)]
pub(crate) struct Order {
    /// The clock of each task, by number. Its own entry counts what the task has published.
    tasks: Vec<Clock>,
    /// The published clocks, by their numbers in `clocks`, whose memory is reused.
    published: HashMap<Message, usize>,
    clocks: Vec<VectorClock>,
    /// The clocks of all moments, one after the other, and the end of each.
    moments: Vec<u32>,
    ends: Vec<u32>,
}

/// The current clock of a task.
#[derive(Debug)]
struct Clock {
    clock: VectorClock,
    /// The moment with this clock; `None` if none has been requested since the clock changed.
    moment: Option<Moment>,
}

/// The number of a clock that a task had. All events of the task from one change of its clock to the next have the same
/// moment.
pub(super) type Moment = u32;

/// Something with which one task publishes its clock and another receives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Message {
    Notification(u32),
    Token(u32),
    /// A message of a channel, by its index; index 0 is the closing of the channel.
    Sent(u32, u64),
    Round(u32, u64),
    Initialised(u32),
    Ended(u32),
}

impl Order {
    /// Forgets the last execution.
    pub(super) fn clear(&mut self) {
        for (task, known) in (0..).map(TaskId).zip(&mut self.tasks) {
            known.clock.clear();
            known.clock.set(task, 1);
            known.moment = None;
        }
        self.published.clear();
        self.moments.clear();
        self.ends.clear();
    }

    /// Returns the current moment of a task.
    pub(super) fn now(&mut self, task: u32) -> Moment {
        if let Some(moment) = self.task(task).moment {
            return moment;
        }
        let moment = self.ends.len() as Moment;
        let task = &mut self.tasks[task as usize];
        task.moment = Some(moment);
        self.moments.extend_from_slice(task.clock.as_slice());
        self.ends.push(self.moments.len() as u32);
        moment
    }

    /// Returns the number of events of a task that are known at a moment of some task.
    #[inline]
    pub(super) fn known(&self, at: Moment, task: u32) -> u32 {
        self.clock(at).get(task as usize).copied().unwrap_or(0)
    }

    /// Returns the clock of a moment: the number of events of each task that are known.
    #[inline]
    pub(super) fn clock(&self, at: Moment) -> &[u32] {
        let begin = at.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
        &self.moments[begin as usize..self.ends[at as usize] as usize]
    }

    fn task(&mut self, task: u32) -> &mut Clock {
        let mut next = self.tasks.len() as u32;
        slot(&mut self.tasks, task, || {
            let mut clock = VectorClock::new();
            clock.set(TaskId(next), 1);
            next += 1;
            Clock { clock, moment: None }
        })
    }

    fn publish(&mut self, task: u32, message: Message) {
        self.task(task);
        let clock = &self.tasks[task as usize].clock;
        let next = self.published.len();
        let number = *self.published.entry(message).or_insert(next);
        match self.clocks.get_mut(number) {
            Some(published) if number == next => published.clone_from(clock),
            Some(published) => published.join(clock),
            None => self.clocks.push(clock.clone()),
        }
        self.advance(task);
    }

    fn advance(&mut self, task: u32) {
        let Clock { clock, moment } = self.task(task);
        clock.set(TaskId(task), clock.get(TaskId(task)) + 1);
        *moment = None;
    }

    fn learn(&mut self, task: u32, message: Message) {
        self.task(task);
        if let Some(&number) = self.published.get(&message) {
            self.tasks[task as usize].learn(&self.clocks[number]);
        }
    }

    /// Adds the next event.
    #[inline]
    pub(super) fn add(&mut self, event: &SyncVarAccess) {
        use SyncVarOp::*;
        let (task, var) = (event.event.task.0, event.var.0);
        match event.op {
            TaskFork => {
                if let Some(child) = event.other_task() {
                    let clock = std::mem::take(&mut self.task(task).clock);
                    self.task(child.0).learn(&clock);
                    self.task(task).clock = clock;
                    self.advance(task);
                }
            }
            TaskEnd => self.publish(task, Message::Ended(task)),
            TaskJoin => {
                if let Some(child) = event.other_task() {
                    self.learn(task, Message::Ended(child.0));
                }
            }
            NotifyOne | NotifyAll => self.publish(task, Message::Notification(var)),
            // A task that woke spuriously received no notification.
            CondvarWake if event.read == 0 => self.learn(task, Message::Notification(var)),
            Unpark => self.publish(task, Message::Token(var)),
            Park if event.read == 0 => self.learn(task, Message::Token(var)),
            ChannelSend => self.publish(task, Message::Sent(var, event.written)),
            ChannelReceive => self.learn(task, Message::Sent(var, event.read)),
            ChannelClose => self.publish(task, Message::Sent(var, 0)),
            BarrierArrive => self.publish(task, Message::Round(var, event.read)),
            BarrierPass => self.learn(task, Message::Round(var, event.read)),
            OnceEnd => self.publish(task, Message::Initialised(var)),
            OnceCheck | OnceBegin => self.learn(task, Message::Initialised(var)),
            _ => {}
        }
    }
}

impl Clock {
    fn learn(&mut self, known: &VectorClock) {
        if known.iter().any(|event| !self.clock.knows(event)) {
            self.clock.join(known);
            self.moment = None;
        }
    }
}
