//! Values of a broadcast were cloned by several threads at once, though they need not be `Sync`, up to 1.44.1
//! (RUSTSEC-2025-0023).

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;
use tokio::sync::broadcast;

/// A value that is not `Sync`, and notices if it is cloned by two threads at once.
#[derive(Default)]
struct Counted(AtomicBool, PhantomData<Cell<()>>);

impl Clone for Counted {
    fn clone(&self) -> Counted {
        assert!(!self.0.swap(true, SeqCst), "two clones are made at once");
        self.0.store(false, SeqCst);
        Counted::default()
    }
}

#[test]
fn values_are_cloned_one_at_a_time() {
    let (sender, first) = broadcast::channel(1);
    let second = sender.subscribe();
    assert!(sender.send(Counted::default()).is_ok());
    thread::scope(|scope| {
        for mut receiver in [first, second] {
            scope.spawn(move || assert!(receiver.try_recv().is_ok()));
        }
    });
}
