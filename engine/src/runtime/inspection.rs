//! Inspections: descriptions of the test's objects after each visible operation, made outside the execution.
//!
//! An inspection is code of the test that runs between two visible operations, while the task that performed the last
//! one runs alone. Look-alikes treat it like code that runs during teardown: operations happen at once, make no choice,
//! and are not recorded, and an object that was not used yet does not become a variable. But the task is not unwound:
//! an operation that would have to wait, for instance for a lock that is held, ends only the inspection.
//!
//! None of this runs unless inspections were requested.

use super::panics::caught_inside;
use super::{Engine, Listeners, arena};
use crate::record::Gates;
use intermezzo_sdk::{EventId, Interests};
use std::panic::resume_unwind;

/// The number of operations that an inspection may perform. It should only read, and a loop that waits for another task
/// would never end.
const OPERATIONS_MAX: u32 = 10_000;

/// The result of an inspection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Inspection {
    /// The description of the object.
    Seen(String),
    /// Something was locked, or would have had to be waited for.
    Locked,
    /// The inspection panicked, or performed too many operations; or the task was unwinding, and no inspection was
    /// made.
    Failed,
}

/// The functions that make inspections and receive their results.
pub struct Inspector {
    /// Describes the object's value.
    pub look: Box<dyn FnMut() -> String + Send>,
    /// Receives the description, after the event that it belongs to.
    pub tell: Box<dyn FnMut(EventId, Inspection) + Send>,
}

/// The payload that ends an inspection.
struct Ended;

/// An inspection in progress.
#[derive(Clone, Copy, Default)]
pub(super) struct UnderWay {
    /// The number of operations that it may still perform.
    left: u32,
    locked: bool,
}

impl Listeners {
    /// Requests inspections.
    pub fn inspect(&mut self, inspector: Inspector) {
        self.inspector = Some(Box::new(inspector));
    }

    /// Returns the events after which inspections are made.
    pub(super) fn inspection_interests(&self) -> Interests {
        match self.inspector {
            Some(_) => Interests::SYNC_ACCESSES,
            None => Interests::NONE,
        }
    }
}

impl Engine {
    /// Reports the last access to the monitors, and makes the inspection that follows it.
    #[inline(never)]
    pub(super) fn tell_access(self) {
        let inspects = self.with(|rt| {
            rt.tell_last_access();
            rt.monitors.listeners.inspector.is_some()
        });
        if inspects {
            self.look_after_access();
        }
    }

    #[cold]
    #[inline(never)]
    fn look_after_access(self) {
        if let Some(inspector) = self.with(|rt| rt.monitors.listeners.inspector.take()) {
            let inspector = self.inspect(inspector);
            self.with(|rt| rt.monitors.listeners.inspector = Some(inspector));
        }
    }

    fn inspect(self, mut inspector: Box<Inspector>) -> Box<Inspector> {
        let event = self.last_event();
        let inspect = match std::thread::panicking() {
            true => Inspection::Failed,
            false => self.look(&mut *inspector.look),
        };
        // The receiver keeps the text, which is in the test's memory.
        arena::outside(|| (inspector.tell)(event, inspect.clone()));
        inspector
    }

    fn look(self, look: &mut dyn FnMut() -> String) -> Inspection {
        self.with(|rt| {
            rt.end.teardown = true;
            rt.monitors.listeners.inspect = Some(UnderWay {
                left: OPERATIONS_MAX,
                locked: false,
            });
        });
        let mut seen = None;
        let looked = caught_inside(|| seen = Some(look()));
        let under_way = self.with(|rt| {
            rt.end.teardown = false;
            rt.monitors.listeners.inspect.take().unwrap_or_default()
        });
        match (looked, seen) {
            (Ok(()), Some(seen)) => Inspection::Seen(seen),
            _ if under_way.locked => Inspection::Locked,
            _ => Inspection::Failed,
        }
    }

    /// Returns `true` if an inspection is in progress, and counts one more operation of it. Ends the inspection if it
    /// has performed too many.
    pub(super) fn inspects(self) -> bool {
        let Some(left) = self.with(|rt| {
            let under_way = rt.monitors.listeners.inspect.as_mut()?;
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

    /// Ends an inspection in progress if none of these gates is open.
    pub(super) fn inspection_has_to_wait(self, gate_var: u32, gates: Gates) {
        if self.gates(gate_var) & gates == 0 {
            self.end_inspection();
        }
    }

    /// Ends the inspection in progress, if there is one.
    pub(super) fn end_inspection(self) {
        let ends = self.with(|rt| {
            let under_way = rt.monitors.listeners.inspect.as_mut();
            under_way.map(|under_way| under_way.locked = true).is_some()
        });
        if ends {
            resume_unwind(Box::new(Ended));
        }
    }
}
