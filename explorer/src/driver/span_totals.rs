//! Counts of executions, kept in search order although several workers run the search.
//!
//! A *span* is a gapless part of the search order, run by one worker. The counts of spans, added up in order, are those
//! that a single worker would have had.

use crate::retry::Departures;
use intermezzo_engine::described::BreakpointFigures;
use intermezzo_engine::runtime::{Capped, ExecutionOutcome, Scoping};
use intermezzo_engine::serial::{Deserialize, Serialize};
use intermezzo_engine::strategy::SearchPosition;
use std::collections::{BTreeMap, HashSet};

/// The fingerprints of consecutive executions, one for each execution. They are gathered if several workers run
/// executions that may turn out to lie behind the first finding, and so not to count.
#[derive(Clone, Debug, Default)]
pub(super) struct TracesRun {
    fingerprints: Vec<u128>,
    /// `true` if some are missing, because the memory was used up or because they were run before the checkpoint.
    incomplete: bool,
}

impl TracesRun {
    /// Adds a fingerprint, if there is room for one more.
    pub(super) fn add(&mut self, fingerprint: u128, room: &mut usize) {
        match room.checked_sub(1) {
            Some(left) => {
                *room = left;
                self.fingerprints.push(fingerprint);
            }
            None => self.incomplete = true,
        }
    }

    fn append(&mut self, later: &TracesRun) {
        self.fingerprints.extend_from_slice(&later.fingerprints);
        self.incomplete |= later.incomplete;
    }

    /// Returns the number of different traces; `None` if that is not known.
    pub(super) fn different(&self) -> Option<u64> {
        let different: HashSet<u128> = self.fingerprints.iter().copied().collect();
        (!self.incomplete).then_some(different.len() as u64)
    }

    /// Returns the traces of a span from a checkpoint, which does not contain them.
    fn unsaid() -> TracesRun {
        TracesRun {
            fingerprints: Vec::new(),
            incomplete: true,
        }
    }
}

/// Traces do not take part in comparisons of counts.
impl PartialEq for TracesRun {
    fn eq(&self, _: &TracesRun) -> bool {
        true
    }
}

/// The counts of consecutive executions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Counts {
    pub(super) executions: u64,
    /// Those that ended by themselves.
    pub(super) complete: u64,
    pub(super) steps: u64,
    pub(super) max_steps: u64,
    pub(super) max_tasks: u32,
    pub(super) context_switches: u64,
    /// Accesses to plain memory.
    pub(super) plain_accesses: u64,
    /// `true` if two tasks used one object.
    #[serde(default)]
    pub(super) shares: bool,
    /// `true` if fairness left schedules out.
    pub(super) unfair_left_out: bool,
    /// The bounds of the environment that kept executions from happening.
    #[serde(default)]
    pub(super) capped: Capped,
    /// The schedules that scoping left out.
    pub(super) scoping: Scoping,
    /// The figures of the armed breakpoints.
    #[serde(default)]
    pub(super) breakpoints: Vec<BreakpointFigures>,
    /// `true` if tasks were parked; and if some of them continued because of memory that is not compared.
    pub(super) parked: bool,
    pub(super) unseen_change: bool,
    /// `true` if unfinished tasks were unwound.
    #[serde(default)]
    pub(super) unwound: bool,
    /// Executions with a failed round of a loop although what the loop read was written.
    pub(super) failed_iterations: u64,
    /// Executions that departed from their schedule, and prescribed ones for which every attempt departed.
    pub(super) departures: Departures,
    /// The number, from 1, of the first of these executions in which an error was found.
    pub(super) first_failure: Option<u64>,
    /// Executions of other shares of the search, which count for nothing else.
    #[serde(default)]
    pub(super) elsewhere: u64,
    /// The traces of the executions, if they are gathered.
    #[serde(skip, default = "TracesRun::unsaid")]
    pub(super) traces: TracesRun,
}

impl Counts {
    /// Adds an execution.
    #[inline]
    pub(super) fn count(&mut self, executed: &ExecutionOutcome, complete: bool) {
        self.executions += 1;
        self.complete += u64::from(complete);
        self.steps += executed.steps;
        self.max_steps = self.max_steps.max(executed.steps);
        self.max_tasks = self.max_tasks.max(executed.tasks);
        self.context_switches += executed.switches;
        self.plain_accesses += executed.plain_accesses;
        self.shares |= executed.shares;
        self.unfair_left_out |= executed.unfair_left_out;
        self.capped.join(executed.capped);
        self.scoping.join(executed.scoping);
        BreakpointFigures::add(&mut self.breakpoints, &executed.breakpoints);
        self.parked |= executed.parked > 0;
        self.unseen_change |= executed.unseen_change;
        self.unwound |= executed.unwound;
        self.failed_iterations += u64::from(executed.failed_iterations > 0);
    }

    /// Returns `true` if a memory model could show more: several tasks ran, and an operation on an atomic had an ordering
    /// weaker than `SeqCst`.
    pub(super) fn may_be_weaker(&self) -> bool {
        self.capped.weaker_orders && self.max_tasks > 1
    }

    /// Returns all counters.
    pub(super) fn counts(&self) -> impl Iterator<Item = u64> {
        let of_breakpoint = |figures: &BreakpointFigures| {
            let BreakpointFigures {
                visits,
                skipped,
                hits,
                timeouts,
                unordered,
                executions_hit,
                name: _,
            } = *figures;
            [visits, skipped, hits, timeouts, unordered, executions_hit]
        };
        [
            self.executions,
            self.complete,
            self.steps,
            self.max_steps,
            self.context_switches,
            self.plain_accesses,
            self.failed_iterations,
            self.departures.departed,
            self.departures.lost,
            self.first_failure.unwrap_or_default(),
            self.elsewhere,
        ]
        .into_iter()
        .chain(self.breakpoints.iter().flat_map(of_breakpoint))
    }

    /// Adds the counts of the executions that followed.
    pub(super) fn append(&mut self, later: &Counts) {
        let failure = later.first_failure.map(|number| self.executions + number);
        self.first_failure = self.first_failure.or(failure);
        self.traces.append(&later.traces);
        self.executions += later.executions;
        self.complete += later.complete;
        self.steps += later.steps;
        self.max_steps = self.max_steps.max(later.max_steps);
        self.max_tasks = self.max_tasks.max(later.max_tasks);
        self.context_switches += later.context_switches;
        self.plain_accesses += later.plain_accesses;
        self.shares |= later.shares;
        self.unfair_left_out |= later.unfair_left_out;
        self.capped.join(later.capped);
        self.scoping.join(later.scoping);
        BreakpointFigures::add(&mut self.breakpoints, &later.breakpoints);
        self.parked |= later.parked;
        self.unseen_change |= later.unseen_change;
        self.unwound |= later.unwound;
        self.failed_iterations += later.failed_iterations;
        self.elsewhere += later.elsewhere;
        self.departures.departed += later.departures.departed;
        self.departures.lost += later.departures.lost;
    }
}

/// Spans, by their first position.
#[derive(Default)]
pub(super) struct SpanTotals {
    spans: BTreeMap<SearchPosition, Counts>,
    /// All rounds before this one are merged into one span.
    folded: u32,
}

impl SpanTotals {
    /// Adds to the span that begins at this position.
    pub(super) fn add(&mut self, begin: &SearchPosition, tally: &Counts) {
        // A worker may still add a span of the last round after another has begun this one, but not later.
        if begin.round().saturating_sub(1) > self.folded {
            self.fold(begin.round() - 1);
        }
        match self.spans.get_mut(begin) {
            Some(known) => known.append(tally),
            None => drop(self.spans.insert(begin.clone(), tally.clone())),
        }
    }

    /// Merges all spans of rounds before `round`, which are complete.
    fn fold(&mut self, round: u32) {
        self.folded = round;
        let later = self.spans.split_off(&SearchPosition::of_choices(round, &[]));
        let earlier = std::mem::replace(&mut self.spans, later);
        let total = total(earlier.values());
        if let Some((begin, _)) = earlier.into_iter().next() {
            self.spans.insert(begin, total);
        }
    }

    /// Returns the sum of all spans; or, if `last` is given, of all up to that execution, with which its span must end.
    pub(super) fn total(&self, last: Option<&SearchPosition>) -> Counts {
        match last {
            Some(last) => total(self.spans.range(..=last).map(|(_, tally)| tally)),
            None => total(self.spans.values()),
        }
    }

    /// Returns the spans, to be saved.
    pub(super) fn spans(&self) -> impl Iterator<Item = (&SearchPosition, &Counts)> {
        self.spans.iter()
    }
}

fn total<'a>(tallies: impl Iterator<Item = &'a Counts>) -> Counts {
    tallies.fold(Counts::default(), |mut sum, tally| {
        sum.append(tally);
        sum
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(executions: u64, first_failure: Option<u64>) -> Counts {
        Counts {
            executions,
            first_failure,
            ..Counts::default()
        }
    }

    #[test]
    fn spans_add_up_in_their_order() {
        let mut ledger = SpanTotals::default();
        let at = SearchPosition::of_number;
        ledger.add(&at(20), &tally(5, Some(2)));
        ledger.add(&at(0), &tally(10, None));
        ledger.add(&at(30), &tally(1, Some(1)));
        ledger.add(&at(20), &tally(2, Some(1)));
        assert_eq!(ledger.total(None), tally(18, Some(12)));
        assert_eq!(ledger.total(Some(&at(19))), tally(10, None));
        assert_eq!(ledger.total(Some(&at(29))), tally(17, Some(12)));
    }

    #[test]
    fn rounds_that_are_over_are_one_span() {
        let mut ledger = SpanTotals::default();
        for round in 0..5 {
            for taken in [2, 0, 1] {
                let choice = intermezzo_engine::schedule::Choice {
                    kind: intermezzo_engine::schedule::ChoiceKind::Task,
                    preempts: false,
                    alternatives: 3,
                    taken,
                };
                let found = (round == 1 && taken == 1).then_some(1);
                ledger.add(&SearchPosition::of_choices(round, &[choice]), &tally(10, found));
            }
        }
        assert_eq!(ledger.total(None), tally(150, Some(41)));
        assert_eq!(ledger.spans().count(), 7);
    }
}
