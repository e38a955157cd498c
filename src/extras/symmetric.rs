//! Threads that run copies of one closure, and whose names make no difference.

use crate::thread;
use std::fmt;

/// Runs copies of a closure on this number of new threads, and declares them to be symmetric: it makes no difference which
/// of them is which.
///
/// Inside an exploration they are tasks. Executions that differ only in which of them is which are explored once: without
/// a reduction, `n` symmetric tasks take up to `n!` times fewer executions. A pass says that the others were left out.
///
/// The tasks run the same code on clones of the same values. The rest is up to the test:
///
/// - The closure does not tell the tasks apart. It takes no number from a counter that intermezzo does not see, and
///   compares no addresses of its own. Random numbers differ from task to task. If the closure asks for them, or for its
///   thread's identity, the coverage is not exhaustive, and the report says so.
/// - The test asserts nothing that depends on the order of the results, or on the order in which they are dropped.
/// - A monitor of your own treats the tasks alike.
///
/// ```
/// use intermezzo::extras::spawn_symmetric;
/// use intermezzo::sync::Arc;
/// use intermezzo::sync::atomic::{AtomicUsize, Ordering::SeqCst};
///
/// let hits = Arc::new(AtomicUsize::new(0));
/// let theirs = hits.clone();
/// let threads = spawn_symmetric(3, move || theirs.fetch_add(1, SeqCst));
/// let mut before: Vec<_> = threads.join().into_iter().map(Result::unwrap).collect();
/// before.sort();
/// assert_eq!(before, [0, 1, 2]);
/// ```
///
/// # Panics
/// Outside an exploration, if the system has no more threads.
#[track_caller]
pub fn spawn_symmetric<F, T>(threads: usize, f: F) -> SymmetricThreads<T>
where
    F: FnOnce() -> T + Clone + Send + 'static,
    T: Send + 'static,
{
    #[cfg(feature = "explore")]
    let threads = thread::spawn_symmetric(threads, f);
    #[cfg(not(feature = "explore"))]
    let threads = vec![f; threads].into_iter().map(thread::spawn).collect();
    SymmetricThreads(threads)
}

/// Threads that run copies of one closure: the result of [`spawn_symmetric`].
///
/// They can only be joined together, because a test that joins one before another tells them apart. Dropping them lets
/// them run on.
pub struct SymmetricThreads<T>(Vec<thread::JoinHandle<T>>);

impl<T> SymmetricThreads<T> {
    /// Waits for all threads to end, and returns their results, each as [`thread::JoinHandle::join`] does. Their order means
    /// nothing.
    #[track_caller]
    pub fn join(self) -> Vec<thread::Result<T>> {
        let mut results = Vec::with_capacity(self.0.len());
        for thread in self.0 {
            results.push(thread.join());
        }
        results
    }
}

impl<T> fmt::Debug for SymmetricThreads<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SymmetricThreads")
            .field("threads", &self.0.len())
            .finish_non_exhaustive()
    }
}
