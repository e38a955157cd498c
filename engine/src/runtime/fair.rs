//! Fair scheduling (Musuvathi & Qadeer, PLDI 2008): a task that yields gives way to those it starves.
//!
//! It is exactly the paper's algorithm, including its parameter k (only every k-th yield of a task counts), with one
//! saving: nothing is tracked before the first yield. Until a task's first yield that counts, its windows hold every
//! task and add no edge. A yield that ends a failed round, at which the task is parked (`spin.rs`), does not count.
//! Without fairness, depth-first search would follow two spinning tasks for ever.

use crate::record::TaskSet;

/// The data of a task that has yielded: its window since its last yield.
#[derive(Default)]
struct Window {
    /// E: the tasks that have been enabled ever since.
    enabled: TaskSet,
    /// D: the tasks that this one disabled.
    disabled: TaskSet,
    /// S: the tasks that ran.
    scheduled: TaskSet,
    /// A row of P: the tasks that this one waits for.
    waits_for: TaskSet,
    /// `true` if it has yielded at all; before, the window is full.
    open: bool,
    /// The number of its yields since the last one that counted.
    yields: u32,
}

/// The priority relation P and the windows of one execution.
pub(super) struct Fairness {
    /// The paper's k: every k-th yield of a task counts.
    every: u32,
    windows: Vec<Window>,
    active: bool,
    /// The enabled tasks before the current step.
    before: TaskSet,
}

impl Fairness {
    /// Returns fairness in which every `every`-th yield of a task counts; 0 is taken for 1.
    pub(super) fn new(every: u32) -> Fairness {
        Fairness {
            every: every.max(1),
            windows: Vec::new(),
            active: false,
            before: TaskSet::default(),
        }
    }

    /// Resets the state for a new execution.
    pub(super) fn reset(&mut self) {
        if self.active {
            self.active = false;
            self.windows.clear();
            self.before.clear();
        }
    }

    /// Returns `true` if any task has yielded yet.
    #[inline(always)]
    pub(super) fn active(&self) -> bool {
        self.active
    }

    /// Ends a step of `task`, after which `enabled` are enabled.
    pub(super) fn step(&mut self, task: u32, enabled: &TaskSet, yielded: bool) {
        if !self.active {
            if !yielded {
                return;
            }
            self.active = true;
            self.before = enabled.clone();
        }
        if self.windows.len() <= task as usize {
            self.windows.resize_with(task as usize + 1, Window::default);
        }
        for window in &mut self.windows {
            window.waits_for.remove(task);
            window.enabled.intersect(enabled);
            window.scheduled.insert(task);
        }
        let window = &mut self.windows[task as usize];
        self.before.subtract(enabled);
        window.disabled.union(&self.before);
        window.yields += u32::from(yielded);
        if window.yields >= self.every {
            window.yields = 0;
            if window.open {
                let mut starved = window.enabled.clone();
                starved.union(&window.disabled);
                starved.subtract(&window.scheduled);
                // A task never waits for itself: it ran, so it is in S.
                window.waits_for.union(&starved);
            }
            window.open = true;
            window.enabled = enabled.clone();
            window.disabled.clear();
            window.scheduled.clear();
        }
        self.before = enabled.clone();
    }

    /// Returns `true` if `task`, which is enabled, may go: it waits for no enabled task.
    pub(super) fn may_go(&self, task: u32, enabled: &TaskSet) -> bool {
        self.windows
            .get(task as usize)
            .is_none_or(|window| !window.waits_for.intersects(enabled))
    }
}
