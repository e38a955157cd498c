//! The interval of moments in which each operation may take effect.

use super::Same;
use crate::history::Operation;

/// The interval in which an operation may take effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    pub(super) from: u64,
    /// `None` for an operation that may never do so.
    pub(super) until: Option<u64>,
}

/// Returns the intervals of operations, which are in the order of their calls.
///
/// `late` holds for operations that may take effect at any time after they have returned.
pub(super) fn intervals<C, R>(
    operations: &[&Operation<C, R>],
    same: Same,
    late: impl Fn(&C) -> bool,
) -> Vec<Interval> {
    let own = operations.iter().map(|operation| Interval {
        from: operation.called_at,
        until: (!operation.is_pending()).then_some(operation.returned_at),
    });
    let mut intervals: Vec<Interval> = own.collect();
    if same == Same::Quiescent {
        widen_to_quiet_moments(&mut intervals);
    }
    for (interval, operation) in intervals.iter_mut().zip(operations) {
        if interval.until.is_some() && late(&operation.call) {
            interval.until = Some(u64::MAX);
        }
    }
    intervals
}

/// Widens intervals: between two moments at which no operation runs, any order is allowed.
fn widen_to_quiet_moments(intervals: &mut [Interval]) {
    let mut first = 0;
    while first < intervals.len() {
        let from = intervals[first].from;
        let mut until = 0;
        let mut end = first;
        while end < intervals.len() && (end == first || intervals[end].from <= until) {
            until = until.max(intervals[end].until.unwrap_or(u64::MAX));
            end += 1;
        }
        for interval in &mut intervals[first..end] {
            interval.from = from;
            interval.until = interval.until.map(|_| until);
        }
        first = end;
    }
}
