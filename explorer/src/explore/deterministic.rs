//! Explorations of tests that return the same in every execution.

use super::Explorer;
use crate::determinism;
use crate::driver::ExploreError;
use crate::report::Report;
use std::fmt::Debug;

impl Explorer {
    /// Explores a test that must return the same value in every execution, compared by its `Debug` text.
    ///
    /// A value that differs from that of the default execution, in which no task is preempted, is a finding of the kind
    /// `determinism`. It has both values and both schedules. If the default execution does not return, nothing can be
    /// compared, and the test does not pass.
    ///
    /// ```
    /// # use intermezzo_explorer as intermezzo;
    /// use intermezzo::{Explorer, sync::atomic::{AtomicUsize, Ordering::SeqCst}, thread};
    ///
    /// let report = Explorer::new().explore_deterministic(|| {
    ///     let n = AtomicUsize::new(0);
    ///     thread::scope(|s| {
    ///         s.spawn(|| n.store(n.load(SeqCst) + 1, SeqCst));
    ///         s.spawn(|| n.store(n.load(SeqCst) + 1, SeqCst));
    ///     });
    ///     n.load(SeqCst)
    /// });
    /// assert_eq!(report.findings()[0].message, "the test returned 1, and 2 in its default execution");
    /// ```
    ///
    /// # Panics
    /// As [`Explorer::explore`].
    pub fn explore_deterministic<T: Debug, F: Fn() -> T + Send + Sync>(self, test: F) -> Report {
        self.try_explore_deterministic(test)
            .unwrap_or_else(|error| panic!("{error}"))
    }

    /// Explores such a test, as [`Explorer::explore_deterministic`] does.
    ///
    /// # Errors
    /// As [`Explorer::try_explore`].
    pub fn try_explore_deterministic<T: Debug, F: Fn() -> T + Send + Sync>(
        mut self,
        test: F,
    ) -> Result<Report, ExploreError> {
        self.program.get_or_insert_with(super::name_of::<F>);
        self.deterministic = true;
        self.try_explore(move || determinism::note(&test()))
    }
}
