//! The shared state of the two ends of a channel.
//!
//! A rendezvous channel (bound 0) has a slot for one message, the *table*. A sender waits until the table is free, puts
//! its message there, and waits until the message was taken, or returned because the receiver is gone. A receiver that
//! finds no message notes that it waits, and only then can `try_send` pass it a message. In std, senders form a queue
//! before the table, but a sender in the queue cannot be distinguished from one that has not begun.

use crate::gated::{Did, Gated, State, When};
use crate::name::named_by;
use intermezzo_engine::runtime::{Gates, Site, VarKind};
use intermezzo_sdk::SyncVarOp;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};
use std::time::Duration;

/// Open when a message can be received, or no sender is left.
const RECEIVE: Gates = 1;
/// Open when a message can be sent, or is refused because the receiver is gone.
const SEND: Gates = 2;
/// Open when the message on the table was taken, or never will be.
const ANSWERED: Gates = 4;

/// The table of a rendezvous.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Table {
    Free,
    /// It has a message, whose sender waits.
    Offered,
    /// The message was taken, which its sender has not noticed yet.
    Taken,
    /// `try_send` put a message there for the waiting receiver.
    Handed,
}

struct Queue<T> {
    messages: VecDeque<T>,
    bound: Option<usize>,
    table: Table,
    /// `true` if the receiver of a rendezvous waits.
    receiver_waits: bool,
    senders_gone: bool,
    receiver_gone: bool,
    /// The number of messages sent, and the number received: their numbers, for monitors.
    sent: u64,
    received: u64,
}

impl<T> State for Queue<T> {
    const KIND: VarKind = VarKind::Channel;
    fn gates(&self) -> Gates {
        let room = match self.bound {
            None => true,
            Some(0) => self.table == Table::Free,
            Some(bound) => self.messages.len() < bound,
        };
        let mut gates = 0;
        if !self.messages.is_empty() || self.senders_gone {
            gates |= RECEIVE;
        }
        if room || self.receiver_gone {
            gates |= SEND;
        }
        if self.table == Table::Taken || self.receiver_gone {
            gates |= ANSWERED;
        }
        gates
    }
}

impl<T> Queue<T> {
    /// Sends a message, or refuses it.
    fn put(&mut self, message: T) -> Did<Result<(), SendError<T>>> {
        if self.receiver_gone {
            return Did::just(SyncVarOp::ChannelSend, Err(SendError(message)));
        }
        if self.bound == Some(0) {
            self.table = Table::Offered;
        }
        self.push(message)
    }

    /// Adds a message. There must be room for it.
    fn push<E>(&mut self, message: T) -> Did<Result<(), E>> {
        self.messages.push_back(message);
        self.sent += 1;
        // The message whose receipt made room for this one.
        let bound = self.bound.filter(|&bound| bound > 0);
        let made_room = bound.map_or(0, |bound| self.sent.saturating_sub(bound as u64));
        Did {
            read: made_room,
            written: self.sent,
            ..Did::just(SyncVarOp::ChannelSend, Ok(()))
        }
    }

    fn try_put(&mut self, message: T) -> Did<Result<(), TrySendError<T>>> {
        if self.receiver_gone {
            return Did::just(SyncVarOp::ChannelSend, Err(TrySendError::Disconnected(message)));
        }
        let room = match self.bound {
            Some(0) => self.table == Table::Free && self.receiver_waits,
            _ => self.gates() & SEND != 0,
        };
        if !room {
            return Did::just(SyncVarOp::ChannelTryFailed, Err(TrySendError::Full(message)));
        }
        if self.bound == Some(0) {
            self.table = Table::Handed;
        }
        self.push(message)
    }

    /// Returns the result for the message that the caller put on the table.
    fn answer(&mut self) -> Did<Result<(), SendError<T>>> {
        let refused = if self.table == Table::Offered {
            self.messages.pop_front()
        } else {
            None
        };
        self.table = Table::Free;
        match refused {
            Some(message) => Did::just(SyncVarOp::ChannelSend, Err(SendError(message))),
            // It was the last one received: the table was not free for another.
            None => Did {
                read: self.received,
                ..Did::just(SyncVarOp::ChannelSend, Ok(()))
            },
        }
    }

    fn take(&mut self) -> Result<T, TryRecvError> {
        match self.messages.pop_front() {
            Some(message) => {
                self.table = if self.table == Table::Offered {
                    Table::Taken
                } else {
                    Table::Free
                };
                self.receiver_waits = false;
                self.received += 1;
                Ok(message)
            }
            None if self.senders_gone => Err(TryRecvError::Disconnected),
            None => Err(TryRecvError::Empty),
        }
    }

    /// Receives a message, if there is one. If the receiver of a rendezvous channel finds none, it waits from now on with
    /// `waits`, and no longer waits without it.
    fn receive(&mut self, waits: Option<bool>) -> Did<Result<T, TryRecvError>> {
        let taken = self.take();
        let empty = matches!(taken, Err(TryRecvError::Empty));
        if let Some(waits) = waits {
            self.receiver_waits = waits && empty;
        }
        Did {
            read: if taken.is_ok() { self.received } else { 0 },
            written: u64::from(empty),
            ..Did::just(SyncVarOp::ChannelReceive, taken)
        }
    }
}

pub(super) struct Channel<T> {
    queue: Gated<Queue<T>>,
    /// `true` if it is a rendezvous.
    rendezvous: bool,
    /// `true` if there is always room.
    unbounded: bool,
    /// `true` if the drop of an end belongs to the current step of its task.
    closes_in_step: bool,
    /// The number of senders, and `true` if there is a receiver: known without access to the queue.
    senders: AtomicUsize,
    receiver: AtomicBool,
}

/// A sending end of a channel.
pub(super) struct Sending<T> {
    channel: Arc<Channel<T>>,
    /// The place where it was made: the place of its end, which has none of its own.
    site: Site,
}

/// The receiving end of a channel.
pub(super) struct Receiving<T> {
    channel: Arc<Channel<T>>,
    /// As for the other end.
    site: Site,
}

named_by! {
    [T] Sending<T>: channel.queue;
    [T] Receiving<T>: channel.queue;
}

/// Returns the two ends of a new channel. With `closes_in_step` the drop of an end has no schedule point.
pub(super) fn ends<T>(bound: Option<usize>, closes_in_step: bool, site: Site) -> (Sending<T>, Receiving<T>) {
    let queue = Queue {
        messages: VecDeque::new(),
        bound,
        table: Table::Free,
        receiver_waits: false,
        senders_gone: false,
        receiver_gone: false,
        sent: 0,
        received: 0,
    };
    let channel = Arc::new(Channel {
        queue: Gated::new(queue),
        rendezvous: bound == Some(0),
        unbounded: bound.is_none(),
        closes_in_step,
        senders: AtomicUsize::new(1),
        receiver: AtomicBool::new(true),
    });
    (
        Sending {
            channel: channel.clone(),
            site,
        },
        Receiving { channel, site },
    )
}

impl<T> Sending<T> {
    pub(super) fn send(&self, message: T, site: Site) -> Result<(), SendError<T>> {
        let Channel {
            queue,
            rendezvous,
            unbounded,
            ..
        } = &*self.channel;
        let when = if *unbounded { When::Now } else { When::Open(SEND) };
        let op = SyncVarOp::ChannelSend;
        let put = queue.perform(op, site, when, |queue| queue.put(message));
        put.expect("a wait without limit ends by its gate")?;
        if *rendezvous {
            let answer = queue.perform(op, site, When::Open(ANSWERED), Queue::answer);
            answer.expect("a wait without limit ends by its gate")?;
        }
        Ok(())
    }

    pub(super) fn try_send(&self, message: T, site: Site) -> Result<(), TrySendError<T>> {
        let sent = self
            .channel
            .queue
            .perform(SyncVarOp::ChannelSend, site, When::Now, |queue| {
                queue.try_put(message)
            });
        sent.expect("it does not wait")
    }
}

impl<T> Clone for Sending<T> {
    /// Adds a sender. The number of senders cannot be observed while there is one, so this is no event.
    #[track_caller]
    fn clone(&self) -> Self {
        self.channel.senders.fetch_add(1, SeqCst);
        Sending {
            channel: self.channel.clone(),
            site: Site::caller(),
        }
    }
}

impl<T> Receiving<T> {
    pub(super) fn recv(&self, site: Site) -> Result<T, RecvError> {
        self.recv_within(None, site).map_err(|_| RecvError)
    }

    pub(super) fn recv_within(&self, limit: Option<Duration>, site: Site) -> Result<T, RecvTimeoutError> {
        let op = SyncVarOp::ChannelReceive;
        let Channel {
            queue, rendezvous, ..
        } = &*self.channel;
        if *rendezvous {
            let begun = queue.perform(op, site, When::Now, |queue| queue.receive(Some(true)));
            match begun.expect("it does not wait") {
                Err(TryRecvError::Empty) => {}
                done => return done.map_err(|_| RecvTimeoutError::Disconnected),
            }
        }
        let when = limit.map_or(When::Open(RECEIVE), |limit| When::OpenWithin(RECEIVE, limit));
        let mut received = queue.perform(op, site, when, |queue| queue.receive(None));
        if received.is_none() && *rendezvous {
            // `try_send` may have handed a message over after the time was up.
            received = queue.perform(op, site, When::Now, |queue| queue.receive(Some(false)));
        }
        match received {
            Some(Ok(message)) => Ok(message),
            Some(Err(TryRecvError::Disconnected)) => Err(RecvTimeoutError::Disconnected),
            Some(Err(TryRecvError::Empty)) | None => Err(RecvTimeoutError::Timeout),
        }
    }

    pub(super) fn try_recv(&self, site: Site) -> Result<T, TryRecvError> {
        let op = SyncVarOp::ChannelReceive;
        let received = self
            .channel
            .queue
            .perform(op, site, When::Now, |queue| match queue.receive(None) {
                Did {
                    result: Err(TryRecvError::Empty),
                    ..
                } => Did::just(SyncVarOp::ChannelTryFailed, Err(TryRecvError::Empty)),
                received => received,
            });
        received.expect("it does not wait")
    }
}

impl<T> Drop for Sending<T> {
    fn drop(&mut self) {
        let Channel {
            queue,
            senders,
            receiver,
            closes_in_step,
            ..
        } = &*self.channel;
        // A receiver observes which sender closes last: until then it finds the channel empty. So each of them has a
        // schedule point while there is a receiver, not only the one that would be the last now.
        let when = match receiver.load(SeqCst) {
            _ if *closes_in_step => When::InStep,
            true => When::Now,
            false => {
                queue.point(SyncVarOp::ChannelClose, self.site);
                When::InStep
            }
        };
        queue.perform(SyncVarOp::ChannelClose, self.site, when, |queue| {
            queue.senders_gone |= senders.fetch_sub(1, SeqCst) == 1;
            Did::just(SyncVarOp::ChannelClose, ())
        });
    }
}

impl<T> Drop for Receiving<T> {
    fn drop(&mut self) {
        let Channel {
            queue,
            senders,
            receiver,
            closes_in_step,
            ..
        } = &*self.channel;
        if !closes_in_step {
            queue.point(SyncVarOp::ChannelClose, self.site);
        }
        let when = if senders.load(SeqCst) > 0 && !closes_in_step {
            When::Now
        } else {
            When::InStep
        };
        let unread = queue.perform(SyncVarOp::ChannelClose, self.site, when, |queue| {
            queue.receiver_gone = true;
            // Not earlier: at its schedule point the receiver is still there for other tasks.
            receiver.store(false, SeqCst);
            // A message whose sender waits is returned to it.
            let offered = queue.table == Table::Offered;
            let unread = if offered {
                VecDeque::new()
            } else {
                std::mem::take(&mut queue.messages)
            };
            Did {
                read: unread.len() as u64,
                written: 1,
                ..Did::just(SyncVarOp::ChannelClose, unread)
            }
        });
        // The queue is not borrowed, because these are the test's own values.
        drop(unread);
    }
}
