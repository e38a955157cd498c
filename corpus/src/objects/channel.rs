//! A channel that can be closed: messages that were sent before are still received.
//!
//! A receiver that finds no message, and then finds the channel closed, may have missed a message in between.

use super::{Against, Effort, Object, refuted};
use intermezzo::refinement::{RefinementReport, fresh, refine};
use intermezzo::sync::Mutex;
use intermezzo::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::collections::VecDeque;

/// The reason why there is no message.
#[derive(Debug)]
enum Nothing {
    Empty,
    Closed,
}

#[derive(Default)]
struct Channel {
    messages: Mutex<VecDeque<u8>>,
    closed: AtomicBool,
    looks_again: bool,
}

impl Channel {
    /// Sends a message. `true` if the channel was open.
    fn send(&self, message: u8) -> bool {
        let open = !self.closed.load(SeqCst);
        if open {
            self.messages.lock().unwrap().push_back(message);
        }
        open
    }

    fn close(&self) {
        self.closed.store(true, SeqCst);
    }

    fn next(&self) -> Option<u8> {
        self.messages.lock().unwrap().pop_front()
    }

    fn try_receive(&self) -> Result<u8, Nothing> {
        if let Some(message) = self.next() {
            return Ok(message);
        }
        match self.closed.load(SeqCst) {
            false => Err(Nothing::Empty),
            true if self.looks_again => self.next().ok_or(Nothing::Closed),
            true => Err(Nothing::Closed),
        }
    }
}

fn run(looks_again: bool, against: Against, effort: Effort) -> RefinementReport {
    let test = refine(move || Channel {
        looks_again,
        ..Channel::default()
    })
    .op("send", fresh::<u8>(), |channel: &Channel, message| {
        channel.send(message)
    })
    .op("close", (), |channel, ()| channel.close())
    .op("try_receive", (), |channel, ()| channel.try_receive())
    .exclusive("sender", ["send", "close"])
    .threads(2..=2)
    .init(0..=1);
    let test = effort.of(60, test);
    match against {
        Against::Itself => test.run(),
        Against::Model => test
            .spec(|| (VecDeque::new(), false))
            .means(
                "send",
                |(messages, closed): &mut (VecDeque<u8>, bool), message: &u8| {
                    if !*closed {
                        messages.push_back(*message);
                    }
                    !*closed
                },
            )
            .means("close", |(_, closed), (): &()| *closed = true)
            .means("try_receive", |(messages, closed), (): &()| {
                match messages.pop_front() {
                    Some(message) => Ok(message),
                    None if *closed => Err(Nothing::Closed),
                    None => Err(Nothing::Empty),
                }
            })
            .run(),
    }
}

/// The message is in the channel, and the receiver has gone.
pub(super) const LOSES: Object = Object {
    name: "channel_loses",
    about: "a channel whose receiver tries to take a message, and then checks whether the channel is closed",
    outcomes: &refuted(3),
    run: |against, effort| run(false, against, effort),
};

/// It tries again.
pub(super) const CORRECT: Object = Object {
    name: "channel_correct",
    about: "a channel whose receiver tries to take a message again when the channel is closed",
    outcomes: super::CORRECT,
    run: |against, effort| run(true, against, effort),
};
