//! Concurrent objects that are not what their sequential selves are, and specifications that are none.

use intermezzo::refinement::{RefinementReport, fresh, refine};
use intermezzo::sync::Mutex;
use intermezzo::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// Each failure by name.
pub(crate) fn reports() -> [(&'static str, RefinementReport); 2] {
    [("refinement", queue()), ("nondeterministic_spec", dice())]
}

/// A queue that counts its items beside them.
fn queue() -> RefinementReport {
    #[derive(Default)]
    struct Queue {
        items: Mutex<Vec<u8>>,
        count: AtomicUsize,
    }
    refine(Queue::default)
        .name("a queue")
        .op("push", fresh::<u8>(), |queue, item| {
            queue.items.lock().unwrap().push(item);
            queue.count.fetch_add(1, SeqCst);
        })
        .op("pop", (), |queue, ()| {
            if queue.count.load(SeqCst) == 0 {
                return None;
            }
            queue.count.fetch_sub(1, SeqCst);
            Some(queue.items.lock().unwrap().remove(0))
        })
        .show(|queue| format!("{:?}", queue.items.lock().unwrap()))
        .pin(|s| {
            s.init("push", 1u8)
                .task(|t| t.op("pop", ()))
                .task(|t| t.op("push", 2u8).op("pop", ()))
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
