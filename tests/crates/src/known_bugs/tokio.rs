//! Values of a broadcast were cloned by several threads at once, though they need not be `Sync`, up to 1.44.1
//! (RUSTSEC-2025-0023).

use std::cell::Cell;
use std::thread;
use tokio::sync::broadcast;

/// A value that is not `Sync`: its clones are made one at a time.
struct Counted(Cell<bool>);

impl Clone for Counted {
    fn clone(&self) -> Counted {
        assert!(!self.0.replace(true), "two clones are made at once");
        thread::yield_now();
        self.0.set(false);
        Counted(Cell::new(false))
    }
}

#[test]
fn values_are_cloned_one_at_a_time() {
    let (sender, first) = broadcast::channel(1);
    let second = sender.subscribe();
    assert!(sender.send(Counted(Cell::new(false))).is_ok());
    thread::scope(|scope| {
        for mut receiver in [first, second] {
            scope.spawn(move || assert!(receiver.try_recv().is_ok()));
        }
    });
}
