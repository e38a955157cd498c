//! `shuttle::sync::mpsc`: std's channels.

pub use intermezzo::sync::mpsc::{
    IntoIter, Iter, Receiver, RecvError, RecvTimeoutError, SendError, Sender, SyncSender, TryIter,
    TryRecvError, TrySendError, channel, sync_channel,
};
