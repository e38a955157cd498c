//! The part of a report about the second part of an exploration, under a memory model.

use super::{Coverage, Limit, Report, Verdict, count};
use intermezzo_engine::runtime::interrupt::interrupted;
use intermezzo_engine::serial::{Deserialize, Serialize};
use std::fmt;
use std::mem::discriminant;

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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
            self.replace_by(second);
            return true;
        }
        self.elapsed_seconds = second.elapsed_seconds;
        self.note_settled(second.settled, " under weak memory");
        if second.any_complete || second.cut_off_failed {
            for caution in &second.cautions {
                if !self.cautions.contains(caution) {
                    self.note(&format!("under weak memory: {caution}"));
                }
            }
        }
        match second.verdict {
            Verdict::Pass => {
                self.limits.retain(|limit| !limit.is_memory());
                second.limits.into_iter().for_each(|limit| self.take_limit(limit));
                self.weak_memory = Some(Box::new(WeakMemory {
                    stale_reads: second.environment.stale_reads,
                    executions: second.executions,
                    coverage: second.coverage,
                }));
                self.take_findings(second.findings);
            }
            _ if interrupted() => self.undecide("it was interrupted under weak memory"),
            _ if second.cut_off_failed => {
                self.undecide("under weak memory, an execution that was cut off had failed");
            }
            _ => {
                let mut note =
                    "weak memory was not explored: no execution under it came to its end".to_owned();
                for caution in &second.cautions {
                    note.push_str("; ");
                    note.push_str(caution);
                }
                self.note(&note);
            }
        }
        false
    }

    /// Makes the report inconclusive, for this reason.
    pub(super) fn undecide(&mut self, why: &str) {
        self.verdict = Verdict::Inconclusive;
        match &mut self.coverage {
            Coverage::Bounded { reason, .. } => *reason = Some(why.to_owned()),
            Coverage::Exhaustive => self.coverage = Coverage::unbounded(why),
            Coverage::Sampled { .. } | Coverage::Replayed { .. } => self.note(why),
        }
    }

    /// Adds a limit that executions under a memory model reached.
    fn take_limit(&mut self, limit: Limit) {
        let same = |known: &&mut Limit| discriminant(*known) == discriminant(&limit);
        match (self.limits.iter_mut().find(same), &limit) {
            // Executions of this report disprove it.
            (None, Limit::OneTask | Limit::NothingShared) => {}
            (
                Some(Limit::Departures { executions, lost }),
                Limit::Departures {
                    executions: more,
                    lost: too,
                },
            ) => {
                *executions += more;
                *lost += too;
            }
            // Its number belongs to the executions of this report.
            (Some(Limit::PlainMemory { .. }), _) => {}
            (Some(known), _) if *known == limit => {}
            _ => self.limits.push(limit),
        }
    }
}
