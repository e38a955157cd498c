//! Tests that fail with older versions of these crates: the packages in `bugs/` run them with those.

mod arc_swap;
mod crossbeam_channel;
mod crossbeam_deque;
mod flume;
mod oneshot;
mod spin;
mod spin_rwlock;
mod thread_local;
mod tokio;
mod tokio_oneshot;

/// A channel whose receiver is a future.
fn oneshot_channel() -> (::oneshot::Sender<Box<u32>>, ::oneshot::AsyncReceiver<Box<u32>>) {
    ::oneshot::async_channel()
}
