//! The parts that many small programs share: parameters, variables that are 0, tasks, waiting loops.

use crate::{Body, Expected, Parameter, Program};
use intermezzo::sync::atomic::AtomicUsize;
use intermezzo::{hint, thread};

/// Returns a small program without parameters that is always right, explored to its end.
pub(super) const fn litmus(name: &'static str, about: &'static str, body: Body) -> Program {
    Program {
        name,
        about,
        parameters: &[],
        settings: &[],
        expected: Expected::Pass,
        body,
    }
}

/// Returns a wrong program's twin, corrected: the same parameters and settings, and nothing to find.
pub(super) const fn twin(of: &Program, name: &'static str, about: &'static str, body: Body) -> Program {
    Program {
        name,
        about,
        parameters: of.parameters,
        settings: of.settings,
        expected: Expected::Pass,
        body,
    }
}

/// Returns the parameter for the number of tasks besides the main one.
pub(super) const fn tasks(default: u64, most: u64) -> Parameter {
    number("tasks", default, (1, most), "tasks beside the main one")
}

/// Returns a parameter.
pub(super) const fn number(
    name: &'static str,
    default: u64,
    range: (u64, u64),
    about: &'static str,
) -> Parameter {
    Parameter {
        name,
        default,
        range,
        about,
    }
}

/// Returns a parameter that is on (1) or off (0, the default).
pub(super) const fn flag(name: &'static str, about: &'static str) -> Parameter {
    number(name, 0, (0, 1), about)
}

/// Returns variables that are 0.
pub(super) fn zeros<const N: usize>() -> [AtomicUsize; N] {
    [const { AtomicUsize::new(0) }; N]
}

/// Runs each in a task of its own, and waits for all.
pub(super) fn in_tasks<const N: usize>(bodies: [&(dyn Fn() + Sync); N]) {
    thread::scope(|scope| {
        for body in bodies {
            scope.spawn(body);
        }
    });
}

/// Runs `body` in tasks of these numbers, and waits for all.
pub(super) fn in_numbered_tasks(numbers: std::ops::Range<u64>, body: impl Fn(usize) + Sync) {
    let body = &body;
    thread::scope(|scope| {
        for number in numbers {
            scope.spawn(move || body(number as usize));
        }
    });
}

/// Waits for a condition by checking it repeatedly: a loop that does nothing else.
#[track_caller]
pub(super) fn wait_until(mut condition: impl FnMut() -> bool) {
    while !condition() {
        hint::spin_loop();
    }
}
