//! Fair scheduling (Musuvathi & Qadeer, PLDI 2008): a task that yields gives way to those it starves.
//!
//! Exactly the paper's algorithm, with one saving: nothing is tracked before the first yield of an
//! execution, because until a task's first yield its windows hold every task and add no edge.
//! Without it, depth first search would follow two spinning tasks for ever.

use super::task_set::TaskSet;

/// What is kept for a task that has yielded: its window since its last yield.
#[derive(Default)]
struct Window {
    /// E: tasks enabled ever since.
    enabled: TaskSet,
    /// D: tasks that this one disabled.
    disabled: TaskSet,
    /// S: tasks that ran.
    scheduled: TaskSet,
    /// Row of P: the tasks that this one waits for.
    waits_for: TaskSet,
    /// Whether it has yielded at all: before, the window is full.
    open: bool,
}

/// The priority relation P and the windows of one execution.
#[derive(Default)]
pub(super) struct Fairness {
    windows: Vec<Window>,
    active: bool,
    /// The enabled tasks before the step that is under way.
    before: TaskSet,
}

impl Fairness {
    /// A new execution begins.
    pub(super) fn reset(&mut self) {
        if self.active {
            self.active = false;
            self.windows.clear();
            self.before.clear();
        }
    }

    /// Whether any task has yielded yet.
    #[inline(always)]
    pub(super) fn active(&self) -> bool {
        self.active
    }

    /// A step of `task` is over, at whose end `enabled` are enabled.
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
        if yielded {
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

    /// Whether `task`, which is enabled, may go: it waits for no enabled task.
    pub(super) fn may_go(&self, task: u32, enabled: &TaskSet) -> bool {
        self.windows
            .get(task as usize)
            .is_none_or(|window| !window.waits_for.intersects(enabled))
    }
}
