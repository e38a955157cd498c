//! A queue whose states share their parts.

use imbl::Vector;
use intermezzo_refinement::specification::Sequential;
use intermezzo_refinement::specs::queue::{Call, Return};

/// Like `specs::queue::Queue`, with persistent states.
pub(crate) struct SharedQueue;

impl Sequential for SharedQueue {
    type Call = Call<u16>;
    type Return = Return<u16>;
    type State = Vector<u16>;

    fn initial(&self) -> Vector<u16> {
        Vector::new()
    }

    fn apply(&self, state: &mut Vector<u16>, call: &Call<u16>) -> Option<Return<u16>> {
        Some(match call {
            Call::Enqueue(value) => {
                state.push_back(*value);
                Return::Done
            }
            Call::Dequeue => Return::Front(state.pop_front()),
            Call::Peek => Return::Front(state.front().copied()),
        })
    }
}
