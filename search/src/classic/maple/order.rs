//! An approximation of the order that holds in every execution: the order that is due to anything but locks.
//!
//! Maple's *non-mutex happens-before* (section 3.3): creation and end of tasks, notifications, parking, messages,
//! barriers and one-time initialisations. The order in which tasks take a lock, or reach an atomic, may be another next
//! time. Misses: an order that follows from values, for instance when a task spins until another has stored.

use intermezzo_sdk::{SyncVarAccess, SyncVarOp, TaskId, VectorClock};
use std::collections::HashMap;

/// The order of one execution, as it grows.
#[derive(Debug, Default)]
pub(crate) struct Order {
    /// The clock of each task: its own entry counts what it has published.
    tasks: Vec<VectorClock>,
    published: HashMap<Message, VectorClock>,
}

/// Something that one task publishes and another receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Message {
    Notification(u32),
    Token(u32),
    /// A message of a channel, by its index; 0 for the closing of the channel.
    Sent(u32, u64),
    Round(u32, u64),
    Initialised(u32),
    Ended(u32),
}

impl Order {
    /// Returns a task's present clock.
    pub(super) fn clock(&mut self, task: u32) -> &VectorClock {
        self.task(task)
    }

    fn task(&mut self, task: u32) -> &mut VectorClock {
        while self.tasks.len() <= task as usize {
            let mut clock = VectorClock::new();
            clock.set(TaskId(self.tasks.len() as u32), 1);
            self.tasks.push(clock);
        }
        &mut self.tasks[task as usize]
    }

    fn publish(&mut self, task: u32, message: Message) {
        let clock = self.task(task).clone();
        self.published.entry(message).or_default().join(&clock);
        self.advance(task);
    }

    fn advance(&mut self, task: u32) {
        let clock = self.task(task);
        let own = clock.get(TaskId(task));
        clock.set(TaskId(task), own + 1);
    }

    fn learn(&mut self, task: u32, message: Message) {
        if let Some(known) = self.published.get(&message) {
            let known = known.clone();
            self.task(task).join(&known);
        }
    }

    /// Adds the next event.
    pub(super) fn add(&mut self, event: &SyncVarAccess) {
        use SyncVarOp::*;
        let (task, var) = (event.event.task.0, event.var.0);
        match event.op {
            TaskFork => {
                if let Some(child) = event.other_task() {
                    let clock = self.task(task).clone();
                    self.task(child.0).join(&clock);
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
            // A task that woke spuriously learns nothing.
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
