//! A function of the user's that decides about each failure when it is found.

use crate::report::Finding;
use intermezzo_sdk::FindingKind;
use std::sync::{Arc, Mutex, PoisonError};

/// The answer to a failure that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFound {
    /// It is reported, and the search continues.
    GoOn,
    /// It is reported, and the search ends.
    Stop,
    /// It is settled: it is not reported, and the search continues. A note says how many there were.
    Settle,
}

/// The function that decides.
pub(crate) type Decide = Arc<Mutex<dyn FnMut(&Finding) -> OnFound + Send>>;

/// Removes the errors of these kinds, and returns the kind of the first one.
pub(super) fn pass_over(kinds: &[FindingKind], found: &mut Vec<Finding>) -> Option<FindingKind> {
    let mut first = None;
    if !kinds.is_empty() {
        found.retain(|finding| {
            let passes = finding.is_error() && kinds.contains(&finding.kind);
            if passes {
                first.get_or_insert_with(|| finding.kind.clone());
            }
            !passes
        });
    }
    first
}

/// Asks about each failure among these findings, removes those that are settled, and returns their number; and `true` if
/// the search ends.
pub(super) fn ask(decide: &Decide, found: &mut Vec<Finding>) -> (u64, bool) {
    let mut decide = decide.lock().unwrap_or_else(PoisonError::into_inner);
    let (mut settled, mut stops) = (0, false);
    found.retain(|finding| {
        if !finding.is_error() {
            return true;
        }
        let answer = decide(finding);
        settled += u64::from(answer == OnFound::Settle);
        stops |= answer == OnFound::Stop;
        answer != OnFound::Settle
    });
    (settled, stops)
}
