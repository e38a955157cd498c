//! Tasks that wait at an address, as with the system's futexes.

use super::{Engine, arena};
use crate::record::WaitsAt;
use std::num::NonZero;

impl Engine {
    /// Returns the engine, if the caller is code of the test in an execution, and not code of the engine that it
    /// called. Only with the feature `unmodified`.
    pub fn of_test() -> Option<Engine> {
        arena::test_runs().then(Engine::current).flatten()
    }

    /// Notes whether the operation that the current task announces needs only the address of its object. The object's
    /// memory may then be freed before the operation.
    pub fn needs_no_memory(self, how: bool) {
        self.with(|rt| rt.tasks.current_task().needs_no_memory = how);
    }

    /// Notes that the current task waits at the address of a variable, for a wake-up with one of these bits.
    pub fn waits_at(self, address: usize, var: u32, bits: u32) {
        self.with(|rt| {
            let since = NonZero::new(rt.record.events.len() as u32);
            rt.tasks.current_task().waits_at = since.map(|since| WaitsAt {
                address,
                var,
                bits,
                since,
            });
        });
    }

    /// Notes that a task no longer waits at an address.
    pub fn waits_nowhere(self, task: u32) {
        self.with(|rt| rt.tasks[task].waits_at = None);
    }

    /// Returns the number of tasks that wait at an address and are woken by one of these bits.
    pub fn waiting_at(self, address: usize, bits: u32) -> usize {
        self.with(|rt| {
            let all = rt.tasks.as_slice().iter();
            all.filter(|task| is_woken(task.waits_at, address, bits)).count()
        })
    }

    /// Returns one of these tasks: the first has waited longest.
    ///
    /// # Panics
    /// There are fewer.
    pub fn waiter_at(self, address: usize, bits: u32, which: usize) -> u32 {
        self.with(|rt| {
            let all = rt.tasks.as_slice().iter().enumerate();
            let mut waiters: Vec<(u32, usize)> = all
                .filter(|(_, task)| is_woken(task.waits_at, address, bits))
                .map(|(number, task)| (task.waits_at.map_or(0, |wait| wait.since.get()), number))
                .collect();
            waiters.sort_unstable();
            waiters[which].1 as u32
        })
    }
}

fn is_woken(waits_at: Option<WaitsAt>, address: usize, bits: u32) -> bool {
    waits_at.is_some_and(|wait| wait.address == address && wait.bits & bits != 0)
}
