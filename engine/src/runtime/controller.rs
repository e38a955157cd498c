//! `intermezzo::breakpoint` inside an exploration: places in the test's code, and the runtime in charge of who waits there.

use super::Engine;
use intermezzo_breakpoint::{Controller, Passed, Ticket, Visit};

/// The runtime of whichever execution the caller is part of.
struct Explored;

impl Controller for Explored {
    fn in_charge(&self) -> bool {
        Engine::current().is_some()
    }

    fn armed(&self, name: &str) -> bool {
        Engine::current().is_some_and(|engine| engine.breakpoint_armed(name))
    }

    fn visit(&self, visit: Visit<'_>) -> Passed {
        Engine::current().map_or(Passed::default(), |engine| engine.visit_breakpoint(visit))
    }

    fn turn_over(&self, turn: Ticket) {
        if let Some(engine) = Engine::current() {
            engine.breakpoint_turn_over(turn);
        }
    }

    fn hold(&self, lock: usize) {
        if let Some(engine) = Engine::current() {
            engine.mark_held(lock, true);
        }
    }

    fn release(&self, lock: usize) {
        if let Some(engine) = Engine::current() {
            engine.mark_held(lock, false);
        }
    }

    fn arming(&self) {
        if let Some(engine) = Engine::current() {
            engine.arming_unheeded();
        }
    }
}

/// From now on places ask whether an exploration is in charge of the task that comes to them.
pub fn take_charge() {
    intermezzo_breakpoint::control(&Explored);
}
