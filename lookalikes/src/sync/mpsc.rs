//! `std::sync::mpsc`: channels with many senders and one receiver.

mod channel;

pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

use crate::name::named_by;
use crate::traits::opaque;
use channel::{Receiving, Sending};
use intermezzo_engine::site::Site;
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::time::Duration;

/// Returns an unbounded channel: sending never waits.
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    unbounded(false, Site::caller())
}

/// Like [`channel`], but the drop of an end has no schedule point: it belongs to the step that the task is in. For drop-ins
/// of tools whose channels have none.
#[doc(hidden)]
#[track_caller]
pub fn channel_closed_in_step<T>() -> (Sender<T>, Receiver<T>) {
    unbounded(true, Site::caller())
}

fn unbounded<T>(closes_in_step: bool, site: Site) -> (Sender<T>, Receiver<T>) {
    let (sending, receiving) = channel::ends(None, closes_in_step, site);
    (
        Sender { sending },
        Receiver {
            receiving,
            not_sync: PhantomData,
        },
    )
}

/// Returns a channel that holds at most `bound` messages: sending waits for room. With a bound of 0 it waits until the
/// message is received.
#[track_caller]
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    bounded(bound, false, Site::caller())
}

/// Like [`sync_channel`], as [`channel_closed_in_step`] is like [`channel`].
#[doc(hidden)]
#[track_caller]
pub fn sync_channel_closed_in_step<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    bounded(bound, true, Site::caller())
}

fn bounded<T>(bound: usize, closes_in_step: bool, site: Site) -> (SyncSender<T>, Receiver<T>) {
    let (sending, receiving) = channel::ends(Some(bound), closes_in_step, site);
    (
        SyncSender { sending },
        Receiver {
            receiving,
            not_sync: PhantomData,
        },
    )
}

/// The sending end of an unbounded channel: `std::sync::mpsc::Sender`.
pub struct Sender<T> {
    sending: Sending<T>,
}

/// The sending end of a bounded channel: `std::sync::mpsc::SyncSender`.
pub struct SyncSender<T> {
    sending: Sending<T>,
}

/// The receiving end of a channel: `std::sync::mpsc::Receiver`.
pub struct Receiver<T> {
    receiving: Receiving<T>,
    /// As in std, because there is one receiver.
    not_sync: PhantomData<Cell<()>>,
}

named_by! { [T] Receiver<T>: receiving; }

impl<T> UnwindSafe for Receiver<T> {}
impl<T> RefUnwindSafe for Receiver<T> {}

/// Implements what both sending ends have.
macro_rules! sending_ends {
    ($($sender:ident),*) => {$(
        impl<T> UnwindSafe for $sender<T> {}
        impl<T> RefUnwindSafe for $sender<T> {}

        named_by! { [T] $sender<T>: sending; }

        impl<T> Clone for $sender<T> {
            #[track_caller]
            fn clone(&self) -> Self {
                let sending = self.sending.clone();
                $sender { sending }
            }
        }
    )*};
}

sending_ends!(Sender, SyncSender);

impl<T> Sender<T> {
    /// Sends a message.
    ///
    /// # Errors
    /// If the receiver is gone. The error contains the message.
    #[track_caller]
    pub fn send(&self, t: T) -> Result<(), SendError<T>> {
        self.sending.send(t, Site::caller())
    }
}

impl<T> SyncSender<T> {
    /// Sends a message, waiting for room.
    ///
    /// # Errors
    /// If the receiver is gone. The error contains the message.
    #[track_caller]
    pub fn send(&self, t: T) -> Result<(), SendError<T>> {
        self.sending.send(t, Site::caller())
    }

    /// Sends a message if there is room; with a bound of 0, if the receiver waits.
    ///
    /// # Errors
    /// If there is no room, or the receiver is gone. The error contains the message.
    #[track_caller]
    pub fn try_send(&self, t: T) -> Result<(), TrySendError<T>> {
        self.sending.try_send(t, Site::caller())
    }
}

impl<T> Receiver<T> {
    /// Returns the next message, waiting for it.
    ///
    /// # Errors
    /// If there is no message, and all senders are gone.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        self.receiving.recv(Site::caller())
    }

    /// Returns the next message, if it is there.
    ///
    /// # Errors
    /// If there is no message; the error says if all senders are gone.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.receiving.try_recv(Site::caller())
    }

    /// Returns the next message, waiting for it at most this long.
    ///
    /// # Errors
    /// If there is no message; the error says if all senders are gone.
    #[track_caller]
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        // A time that no clock can represent is no limit.
        let limit = u64::try_from(timeout.as_nanos()).is_ok().then_some(timeout);
        self.receiving.recv_within(limit, Site::caller())
    }

    /// Returns an iterator over future messages, until all senders are gone.
    #[track_caller]
    pub fn iter(&self) -> Iter<'_, T> {
        Iter {
            rx: self,
            begun: Site::caller(),
        }
    }

    /// Returns an iterator over the messages that are there.
    #[track_caller]
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter {
            rx: self,
            begun: Site::caller(),
        }
    }
}

opaque! {
    [T] Sender<T>;
    [T] SyncSender<T>;
    [T] Receiver<T>;
}

/// An iterator over future messages, until all senders are gone: `std::sync::mpsc::Iter`.
pub struct Iter<'a, T> {
    rx: &'a Receiver<T>,
    /// The place of an operation that code of std calls, such as `collect`.
    begun: Site,
}

/// An iterator over the messages that are there: `std::sync::mpsc::TryIter`.
pub struct TryIter<'a, T> {
    rx: &'a Receiver<T>,
    begun: Site,
}

/// An iterator over future messages that owns the receiver: `std::sync::mpsc::IntoIter`.
pub struct IntoIter<T> {
    rx: Receiver<T>,
    begun: Site,
}

/// Implements the traits of an iterator that receives each message by this method.
macro_rules! iterators {
    ($($iterator:ident<$($lifetime:lifetime,)? T> by $method:ident;)*) => {$(
        impl<T> fmt::Debug for $iterator<$($lifetime,)? T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($iterator)).field("rx", &self.rx).finish()
            }
        }

        impl<T> Iterator for $iterator<$($lifetime,)? T> {
            type Item = T;
            #[track_caller]
            fn next(&mut self) -> Option<T> {
                let site = Site::caller().unless_in_std(self.begun);
                self.rx.receiving.$method(site).ok()
            }
        }
    )*};
}

iterators! {
    Iter<'_, T> by recv;
    TryIter<'_, T> by try_recv;
    IntoIter<T> by recv;
}

impl<'a, T> IntoIterator for &'a Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;
    #[track_caller]
    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;
    #[track_caller]
    fn into_iter(self) -> IntoIter<T> {
        IntoIter {
            rx: self,
            begun: Site::caller(),
        }
    }
}
