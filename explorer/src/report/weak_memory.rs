//! The second part of an exploration, under a memory model, in its report.

use super::{Coverage, Report, Verdict, count};
use intermezzo_engine::runtime::interrupt::interrupted;
use intermezzo_engine::serial::Serialize;
use std::fmt;

/// The executions under the memory model of C++20 that follow those with sequentially consistent memory.
///
/// ```
/// # use intermezzo_explorer as intermezzo;
/// use intermezzo::sync::atomic::{AtomicBool, Ordering::{Acquire, Release}};
/// use intermezzo::{Coverage, Explorer, Strategy, thread};
///
/// let report = Explorer::new().strategy(Strategy::auto()).explore(|| {
///     let ready = AtomicBool::new(false);
///     thread::scope(|scope| {
///         scope.spawn(|| ready.store(true, Release));
///         ready.load(Acquire);
///     });
/// });
/// let part = report.weak_memory().unwrap();
/// assert_eq!((part.stale_reads, &part.coverage), (1, &Coverage::Exhaustive));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WeakMemory {
    /// The bound `stale_reads` of their environment.
    pub stale_reads: u32,
    /// The number of executions, which those of the report do not include.
    pub executions: u64,
    /// Their coverage.
    pub coverage: Coverage,
}

/// Follows the words for the coverage of the first part: `under weak memory: 5 executions, every schedule was run`.
impl fmt::Display for WeakMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("under weak memory: ")?;
        if !matches!(self.coverage, Coverage::Sampled { .. }) {
            write!(f, "{}, ", count(self.executions, "execution"))?;
        }
        self.coverage.fmt(f)
    }
}

impl Report {
    /// Returns the executions under a memory model that followed those of this report; `None` if there were none.
    pub fn weak_memory(&self) -> Option<&WeakMemory> {
        self.weak_memory.as_deref()
    }

    /// Adds the report of the same search under a memory model. If that found an error, it replaces this one, and `true` is
    /// returned.
    pub(crate) fn take_second(&mut self, mut second: Report) -> bool {
        second.elapsed_seconds += self.elapsed_seconds;
        if second.errors().next().is_some() {
            second.note(&format!(
                "with sequentially consistent memory no error was found: {}; {}",
                count(self.executions, "execution"),
                self.coverage
            ));
            second.note_settled(self.settled, " with sequentially consistent memory");
            // There are only warnings among them.
            second.take_findings(std::mem::take(&mut self.findings));
            *self = second;
            return true;
        }
        self.elapsed_seconds = second.elapsed_seconds;
        self.note_settled(second.settled, " under weak memory");
        match (second.verdict, second.any_complete) {
            (Verdict::Pass, _) => {
                self.limits.retain(|limit| !limit.is_memory());
                for limit in second.limits {
                    if !self.limits.contains(&limit) {
                        self.limits.push(limit);
                    }
                }
                self.weak_memory = Some(Box::new(WeakMemory {
                    stale_reads: second.environment.stale_reads,
                    executions: second.executions,
                    coverage: second.coverage,
                }));
                self.take_findings(second.findings);
            }
            _ if interrupted() => {
                self.verdict = Verdict::Inconclusive;
                self.coverage = self
                    .coverage
                    .clone()
                    .because("it was interrupted under weak memory");
            }
            // No execution of the second part was complete.
            (_, false) => {}
            // An execution that was cut off had shown a failure.
            (_, true) => {
                self.verdict = Verdict::Inconclusive;
                self.coverage = self
                    .coverage
                    .clone()
                    .because("under weak memory, an execution that was cut off had failed");
            }
        }
        false
    }
}
