//! Blocks of a test that should be atomic.

use super::{event, is_exploring};
use intermezzo_sdk::UserEvent;

/// Runs a closure, and tells the monitors that it should be atomic: as if no other task did anything meanwhile. The
/// `Atomicity` monitor reports executions in which that is not so. The closure is not made atomic.
///
/// Blocks nest; leaving by a panic leaves the block. Does nothing else outside an exploration.
///
/// ```
/// # use intermezzo_explorer as intermezzo;
/// use intermezzo::{atomically, sync::atomic::{AtomicUsize, Ordering::SeqCst}};
///
/// let n = AtomicUsize::new(0);
/// let before = atomically("increment", || {
///     let before = n.load(SeqCst);
///     n.store(before + 1, SeqCst);
///     before
/// });
/// assert_eq!(before, 0);
/// ```
pub fn atomically<R>(name: &str, body: impl FnOnce() -> R) -> R {
    if is_exploring() {
        event(&format!("{}{name}", UserEvent::BLOCK_BEGINS));
    }
    let _end = End;
    body()
}

/// A guard that reports the end of a block when it is dropped.
struct End;

impl Drop for End {
    fn drop(&mut self) {
        event(UserEvent::BLOCK_ENDS);
    }
}
