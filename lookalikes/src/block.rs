//! Blocks of a test that are meant to happen at once.

use super::{event, is_exploring};
use intermezzo_sdk::UserEvent;

/// Runs this, and tells the monitors that it is meant to be atomic: as if no other task did anything meanwhile. The
/// `Atomicity` monitor reports executions in which that is not so. Nothing is made atomic by it.
///
/// Blocks nest; leaving by a panic leaves the block. Does nothing else outside an exploration.
///
/// ```
/// use intermezzo_explorer::{atomically, sync::atomic::{AtomicUsize, Ordering::SeqCst}};
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

/// Says where a block ends when it is dropped.
struct End;

impl Drop for End {
    fn drop(&mut self) {
        event(UserEvent::BLOCK_ENDS);
    }
}
