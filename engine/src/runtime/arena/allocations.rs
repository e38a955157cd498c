//! The allocations whose places in the source are wanted, for reports of leaks.
//!
//! An allocation is identified by the distance of its block from the beginning of the execution's memory. The same
//! schedule gives the same distances, so a block that an execution has left behind is named in advance to the next
//! execution with the same choices, which notes where it is allocated. An allocation whose place is not wanted costs
//! nothing: the next wanted one only lowers the limit up to which blocks are given out without a further check.

use super::super::Engine;
use super::gate;
use intermezzo_sdk::EventId;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The maximum number of code addresses that are noted of a stack, from the innermost.
const FRAMES_MAX: usize = 128;

/// The number of wanted allocations from which on the earlier ones are forgotten.
const WANTED_MAX: usize = 256;

/// An allocation whose place was wanted.
pub(in super::super) struct Noted {
    distance: usize,
    /// The last event of its task before it.
    pub(in super::super) after: EventId,
    /// The code addresses on its task's stack, innermost first.
    pub(in super::super) stack: Vec<usize>,
}

/// The allocations that are wanted, and those that the current execution has noted.
struct Wanted {
    /// In ascending order.
    distances: Vec<usize>,
    noted: Vec<Noted>,
}

static WANTED: Mutex<Wanted> = Mutex::new(Wanted {
    distances: Vec::new(),
    noted: Vec::new(),
});

/// The next wanted distance of this execution.
static NEXT: AtomicUsize = AtomicUsize::new(NONE);

/// No distance.
const NONE: usize = usize::MAX;

/// The number of wanted allocations.
static COUNT: AtomicUsize = AtomicUsize::new(0);

fn wanted() -> MutexGuard<'static, Wanted> {
    WANTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the distance of the next block whose allocation is wanted.
pub(super) fn next_wanted() -> usize {
    NEXT.load(Relaxed)
}

/// Forgets the last execution's notes.
pub(super) fn begin() {
    if COUNT.load(Relaxed) > 0 {
        let mut wanted = wanted();
        wanted.noted.clear();
        NEXT.store(wanted.after(None), Relaxed);
    }
}

impl Wanted {
    /// Returns the first wanted distance after this one.
    fn after(&self, distance: Option<usize>) -> usize {
        let mut distances = self.distances.iter().copied();
        distances.find(|&next| Some(next) > distance).unwrap_or(NONE)
    }
}

/// Requests the places of the allocations of these blocks from the next execution on. Earlier requests stay, unless
/// there are too many, because executions often leave the same blocks behind as earlier ones.
pub(in super::super) fn want(mut distances: Vec<usize>) {
    let mut wanted = wanted();
    if wanted.distances.len() < WANTED_MAX {
        distances.append(&mut wanted.distances);
    }
    distances.sort_unstable();
    distances.dedup();
    COUNT.store(distances.len(), Relaxed);
    wanted.noted.clear();
    wanted.distances = distances;
}

/// Notes the allocation of a block, if that is wanted.
pub(super) fn note(distance: usize) {
    let Some(engine) = Engine::current() else { return };
    gate::outside(|| {
        let mut wanted = wanted();
        // Earlier executions may have had other blocks. So a wanted distance may lie inside or before this block, and
        // not at its start.
        if wanted.distances.binary_search(&distance).is_ok() {
            let mut stack = Vec::new();
            backtrace::trace(|frame| {
                let address = frame.ip().addr();
                stack.push(address);
                // The root of the stack has none.
                address > 0 && stack.len() < FRAMES_MAX
            });
            let after = engine.with(|rt| rt.last_of_current());
            wanted.noted.push(Noted {
                distance,
                after,
                stack,
            });
        }
        NEXT.store(wanted.after(Some(distance)), Relaxed);
    });
}

/// Returns the note about the allocation of a block, if there is one, and `true` if it was wanted.
pub(in super::super) fn noted(distance: usize) -> (Option<Noted>, bool) {
    let mut wanted = wanted();
    let at = wanted.noted.iter().position(|noted| noted.distance == distance);
    let was_wanted = wanted.distances.contains(&distance);
    (at.map(|at| wanted.noted.swap_remove(at)), was_wanted)
}
