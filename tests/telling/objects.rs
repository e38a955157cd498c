//! Concurrent objects that are not what their sequential selves are, and specifications that are none.

use intermezzo::refinement::{RefinementReport, fresh, refine};
use intermezzo::sync::Mutex;
use intermezzo::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// Each failure by name.
pub(crate) fn reports() -> [(&'static str, RefinementReport); 3] {
    [
        ("refinement", counter()),
        ("refinement_of_a_panic", list()),
        ("nondeterministic_spec", dice()),
    ]
}

/// A counter whose increments are two steps.
fn counter() -> RefinementReport {
    refine(|| AtomicUsize::new(0))
        .name("a counter")
        .op("increment", (), |counter, ()| {
            let seen = counter.load(SeqCst);
            counter.store(seen + 1, SeqCst);
            seen
        })
        .show(|counter| counter.load(SeqCst))
        .run()
}

/// A list that is asked for an item without a look at whether there is one.
fn list() -> RefinementReport {
    #[derive(Default)]
    struct List {
        items: Mutex<Vec<u8>>,
        count: AtomicUsize,
    }
    refine(List::default)
        .name("a list")
        .op("take", (), |list, ()| {
            if list.count.load(SeqCst) == 0 {
                return None;
            }
            list.count.fetch_sub(1, SeqCst);
            Some(list.items.lock().unwrap().remove(0))
        })
        .op("put", fresh::<u8>(), |list, item| {
            list.items.lock().unwrap().push(item);
            list.count.fetch_add(1, SeqCst);
        })
        .run()
}

/// An object that does not do the same thing twice.
fn dice() -> RefinementReport {
    refine(|| std::sync::atomic::AtomicUsize::new(0))
        .name("dice")
        .op("throw", (), |_, ()| intermezzo::choose(2))
        .pin(|s| s.task(|t| t.op("throw", ())))
        .run()
}
