//! `intermezzo::breakpoint` inside an exploration: the runtime controls the tasks that wait at places in the test's
//! code.

use super::Engine;
use intermezzo_breakpoint::{Controller, Passed, Ticket, Visit};

/// The runtime of the execution that the caller is part of.
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

/// Makes breakpoints check from now on if an exploration controls the task that reaches them.
pub fn take_charge() {
    intermezzo_breakpoint::control(&Explored);
}
