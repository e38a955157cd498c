//! A function of the user's that decides about each failure when it is found.

use crate::report::Finding;
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
