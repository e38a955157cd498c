//! Moments: calls and returns, numbered in order.

use crate::history::{History, Operation};

/// The number of a call or a return among all of a history.
pub(super) type Moment = u32;

/// Later than every moment: the return of a pending operation.
pub(super) const NEVER: Moment = Moment::MAX;

/// An operation and its moments. It takes effect in one of the gaps between them: gap `g` lies between the moments
/// `g` and `g + 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Placed {
    /// Its place in the history.
    pub(super) id: u32,
    pub(super) call: Moment,
    /// The return, or [`NEVER`].
    pub(super) ret: Moment,
}

/// Returns the operations of a history with their moments, and the number of moments. Operations at the same time
/// overlap: of the moments of one time calls come first.
///
/// # Panics
/// If there are two thousand million operations or more.
pub(super) fn place<C, R>(history: &History<C, R>) -> (Vec<Placed>, Moment) {
    let operations = history.operations();
    assert!(
        operations.len() < NEVER as usize / 2,
        "moments are numbered with 32 bits"
    );
    let mut returns: Vec<(u64, u32)> = operations
        .iter()
        .zip(0..)
        .filter(|(operation, _)| operation.returned_at != Operation::<C, R>::NEVER)
        .map(|(operation, id)| (operation.returned_at, id))
        .collect();
    returns.sort_unstable();
    let mut placed = Vec::with_capacity(operations.len());
    let mut moment = 0;
    let mut returns = returns.into_iter().peekable();
    for (operation, id) in operations.iter().zip(0..) {
        while let Some((_, returned)) = returns.next_if(|&(at, _)| at < operation.called_at) {
            let returned: &mut Placed = &mut placed[returned as usize];
            returned.ret = moment;
            moment += 1;
        }
        placed.push(Placed {
            id,
            call: moment,
            ret: NEVER,
        });
        moment += 1;
    }
    for (_, returned) in returns {
        placed[returned as usize].ret = moment;
        moment += 1;
    }
    (placed, moment)
}
