//! A channel: messages in order, until it is closed.

use crate::specification::Sequential;
use std::collections::VecDeque;
use std::hash::Hash;
use std::marker::PhantomData;

/// An operation of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call<V> {
    /// Sends a message; waits while the channel is full.
    Send(V),
    /// Sends a message if there is room.
    TrySend(V),
    /// Receives a message; waits while there is none and some may come.
    Receive,
    /// Receives a message if there is one.
    TryReceive,
    /// Closes the channel: no more messages can be sent. Those that are in it can be received.
    Close,
}

/// The result of an operation of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Return<V> {
    /// A message was sent, or the channel closed.
    Done,
    /// A message was received.
    Message(V),
    /// There is no room, or no message, now.
    NotReady,
    /// The channel is closed: nothing can be sent, or nothing is left to receive.
    Closed,
}

/// A channel's messages, and its closed flag.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State<V> {
    messages: VecDeque<V>,
    closed: bool,
}

/// A channel of messages.
#[derive(Clone, Copy, Debug)]
pub struct Channel<V> {
    capacity: Option<usize>,
    messages: PhantomData<fn() -> V>,
}

impl<V> Channel<V> {
    /// Creates a channel with room for everything.
    pub fn unbounded() -> Channel<V> {
        Channel {
            capacity: None,
            messages: PhantomData,
        }
    }

    /// Creates a channel with room for `capacity` messages, at least one: a rendezvous is no object with one
    /// operation at a time.
    pub fn bounded(capacity: usize) -> Channel<V> {
        Channel {
            capacity: Some(capacity.max(1)),
            messages: PhantomData,
        }
    }
}

impl<V: Clone + Eq + Hash> Sequential for Channel<V> {
    type Call = Call<V>;
    type Return = Return<V>;
    type State = State<V>;

    fn initial(&self) -> State<V> {
        State {
            messages: VecDeque::new(),
            closed: false,
        }
    }

    fn apply(&self, state: &mut State<V>, call: &Call<V>) -> Option<Return<V>> {
        let full = self
            .capacity
            .is_some_and(|capacity| state.messages.len() >= capacity);
        Some(match call {
            Call::Send(_) | Call::TrySend(_) if state.closed => Return::Closed,
            Call::Send(_) if full => return None,
            Call::TrySend(_) if full => Return::NotReady,
            Call::Send(message) | Call::TrySend(message) => {
                state.messages.push_back(message.clone());
                Return::Done
            }
            Call::Receive | Call::TryReceive => match state.messages.pop_front() {
                Some(message) => Return::Message(message),
                None if state.closed => Return::Closed,
                None if *call == Call::TryReceive => Return::NotReady,
                None => return None,
            },
            Call::Close => {
                state.closed = true;
                Return::Done
            }
        })
    }
}
