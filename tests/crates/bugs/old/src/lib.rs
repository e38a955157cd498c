//! Tests that fail with these versions.
#![cfg(test)]

#[path = "../../../src/known_bugs/arc_swap.rs"]
mod arc_swap;
#[path = "../../../src/known_bugs/crossbeam_channel.rs"]
mod crossbeam_channel;
#[path = "../../../src/known_bugs/crossbeam_deque.rs"]
mod crossbeam_deque;
#[path = "../../../src/known_bugs/flume.rs"]
mod flume;
#[path = "../../../src/known_bugs/oneshot.rs"]
mod oneshot;
#[path = "../../../src/known_bugs/spin.rs"]
mod spin;
#[path = "../../../src/known_bugs/tokio.rs"]
mod tokio;

/// A channel whose receiver is a future.
fn oneshot_channel() -> (::oneshot::Sender<Box<u32>>, ::oneshot::Receiver<Box<u32>>) {
    ::oneshot::channel()
}
