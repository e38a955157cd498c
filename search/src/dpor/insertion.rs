//! The reductions, by the sequences that a race inserts into the search.

use intermezzo_engine::trace::Analysis;

/// The reductions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Insertion {
    /// Source sets: keep the first step of a sequence that reverses a race.
    SourceSets,
    /// Wakeup trees: keep the whole sequence.
    WakeupTrees,
    /// Bounded: with at most this many preemptions; see `bounded`.
    Bounded(u32),
}

impl Insertion {
    /// Returns `true` for a search within a bound.
    pub(super) fn is_bounded(self) -> bool {
        matches!(self, Insertion::Bounded(_))
    }

    /// Returns the analysis that the reduction needs. Within a bound, it matters which tasks have to wait.
    pub(super) fn analysis(self) -> Analysis {
        match self {
            Insertion::SourceSets | Insertion::WakeupTrees => Analysis::Races,
            Insertion::Bounded(_) => Analysis::Waits,
        }
    }

    /// Returns the name of the reduction in reports.
    pub(super) fn name(self) -> &'static str {
        match self {
            Insertion::SourceSets => "source-dpor",
            Insertion::WakeupTrees | Insertion::Bounded(_) => "dpor",
        }
    }
}
