//! `shuttle::sync::mpsc`: std's channels. The drop of an end is no schedule point.

pub use intermezzo::sync::mpsc::{
    IntoIter, Iter, Receiver, RecvError, RecvTimeoutError, SendError, Sender, SyncSender, TryIter,
    TryRecvError, TrySendError,
};

use intermezzo::sync::mpsc as looked;

/// Returns an unbounded channel: sending never waits.
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    looked::channel_closed_in_step()
}

/// Returns a channel that holds at most `bound` messages: sending waits for room. With a bound of 0 it waits until the
/// message is received.
#[track_caller]
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    looked::sync_channel_closed_in_step(bound)
}
