//! A program whose operations have the places of their functions' callers.

use super::Case;
use intermezzo::sync::Arc;
use intermezzo::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo::thread;

pub(crate) const CASES: &[Case] = &[Case {
    name: "track_caller",
    settings: &[],
    body: called_from_elsewhere,
}];

struct Ledger {
    sum: AtomicUsize,
    entries: AtomicUsize,
}

impl Ledger {
    #[track_caller]
    fn add(&self, amount: usize) {
        assert!(amount > 0, "nothing to add");
        let sum = self.sum.load(SeqCst);
        self.sum.store(sum + amount, SeqCst);
        self.entries.fetch_add(1, SeqCst);
    }
}

fn called_from_elsewhere() {
    let ledger = Arc::new(Ledger {
        sum: AtomicUsize::new(0),
        entries: AtomicUsize::new(0),
    });
    let other = thread::spawn({
        let ledger = ledger.clone();
        move || ledger.add(5)
    });
    ledger.add(7);
    other.join().unwrap();
    assert_eq!(ledger.sum.load(SeqCst), 12);
    assert_eq!(ledger.entries.load(SeqCst), 2);
}
