//! Glances: descriptions of the test's objects after each visible operation, made outside the execution.
//!
//! A glance is code of the test that runs between two visible operations, when the task that took the last one runs
//! alone. Look-alikes treat it like code that runs during teardown: operations happen at once, make no choice, and are
//! not recorded, and an object that was not used yet becomes no variable. But nothing is unwound: an operation that
//! would have to wait, for instance for a lock that is held, ends the glance.
//!
//! None of this runs unless glances were requested.

use super::panics::caught;
use super::{Engine, Listeners};
use crate::record::Gates;
use intermezzo_sdk::{EventId, Interests};
use std::panic::resume_unwind;

/// The number of operations that a glance may take: it should only look, and a loop that waits for another task would
/// never end.
const OPERATIONS_MAX: u32 = 10_000;

/// The result of a glance.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Glance {
    /// The description of the object.
    Seen(String),
    /// Something was locked, or would have had to be waited for.
    Locked,
    /// The glance panicked, or took too many operations; or the task was unwinding, and no glance was made.
    Failed,
}

/// The functions that make glances and receive their results.
pub struct Glancing {
    /// Describes the object's value.
    pub look: Box<dyn FnMut() -> String + Send>,
    /// Receives the description, after the event that it belongs to.
    pub tell: Box<dyn FnMut(EventId, Glance) + Send>,
}

/// The payload that ends a glance.
struct Ended;

/// A glance in progress.
#[derive(Clone, Copy, Default)]
pub(super) struct UnderWay {
    /// The number of operations that it may still take.
    left: u32,
    locked: bool,
}

impl Listeners {
    /// Requests glances.
    pub fn glance(&mut self, glancing: Glancing) {
        self.glancing = Some(Box::new(glancing));
    }

    /// Returns the events that glances need to receive.
    pub(super) fn glance_interests(&self) -> Interests {
        match self.glancing {
            Some(_) => Interests::SYNC_ACCESSES,
            None => Interests::NONE,
        }
    }
}

impl Engine {
    /// Reports the last access, and glances at the object after it.
    #[cold]
    pub(super) fn tell_access(self) {
        let glancing = self.with(|rt| {
            rt.tell_last_access();
            rt.monitors.listeners.glancing.take()
        });
        if let Some(glancing) = glancing {
            let glancing = self.glance(glancing);
            self.with(|rt| rt.monitors.listeners.glancing = Some(glancing));
        }
    }

    fn glance(self, mut glancing: Box<Glancing>) -> Box<Glancing> {
        let event = self.last_event();
        let glance = match std::thread::panicking() {
            true => Glance::Failed,
            false => self.look(&mut *glancing.look),
        };
        (glancing.tell)(event, glance);
        glancing
    }

    fn look(self, look: &mut dyn FnMut() -> String) -> Glance {
        self.with(|rt| {
            rt.end.teardown = true;
            rt.monitors.listeners.glance = Some(UnderWay {
                left: OPERATIONS_MAX,
                locked: false,
            });
        });
        let mut seen = None;
        let looked = caught(|| seen = Some(look()));
        let under_way = self.with(|rt| {
            rt.end.teardown = false;
            rt.monitors.listeners.glance.take().unwrap_or_default()
        });
        match (looked, seen) {
            (Ok(()), Some(seen)) => Glance::Seen(seen),
            _ if under_way.locked => Glance::Locked,
            _ => Glance::Failed,
        }
    }

    /// Returns `true` if a glance is in progress; it then takes one more operation.
    pub(super) fn glances_on(self) -> bool {
        let Some(left) = self.with(|rt| {
            let under_way = rt.monitors.listeners.glance.as_mut()?;
            let left = under_way.left;
            under_way.left = left.saturating_sub(1);
            Some(left)
        }) else {
            return false;
        };
        if left == 0 {
            resume_unwind(Box::new(Ended));
        }
        true
    }

    /// Ends a glance in progress if none of these gates is open.
    pub(super) fn glance_has_to_wait(self, gate_var: u32, gates: Gates) {
        if self.gates(gate_var) & gates == 0 {
            self.end_glance();
        }
    }

    /// Ends the glance in progress, if there is one.
    pub(super) fn end_glance(self) {
        let ends = self.with(|rt| {
            let under_way = rt.monitors.listeners.glance.as_mut();
            under_way.map(|under_way| under_way.locked = true).is_some()
        });
        if ends {
            resume_unwind(Box::new(Ended));
        }
    }
}
