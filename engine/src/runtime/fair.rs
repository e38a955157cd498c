//! Fair scheduling (Musuvathi & Qadeer, PLDI 2008): a task that yields gives way to those it starves.
//!
//! It is exactly the paper's algorithm, including its parameter k (only every k-th yield of a task counts), with one
//! saving: nothing is tracked before the first yield. Until a task's first yield that counts, its windows hold every
//! task and add no edge. A yield that ends a failed round, at which the task is parked (`spin.rs`), does not count.
//! Without fairness, depth-first search would follow two spinning tasks for ever.

use crate::record::TaskSet;
use crate::strategy::Hold;

/// A task's window since its last yield that counts. E and S leave out the steps since any window last ended:
/// [`Fairness`] has these.
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
    /// The steps that ended with its yields that count.
    counted: Vec<u32>,
}

/// The priority relation P and the windows of one execution.
pub(super) struct Fairness {
    /// The paper's k: every k-th yield of a task counts.
    every: u32,
    windows: Vec<Window>,
    active: bool,
    /// `true` if some task waits for another one: P is not empty.
    restrains: bool,
    /// The enabled tasks before the current step.
    before: TaskSet,
    /// The tasks that have been enabled ever since a window last ended. E of each window is intersected with them when
    /// the next one ends.
    stayed: TaskSet,
    /// The tasks that ran since then. They are added to S of each window then.
    ran: TaskSet,
    /// For each task the first step that was a counted yield and after which the task was enabled; 0 if there was none.
    seen: Vec<u32>,
}

impl Fairness {
    /// Returns fairness in which every `every`-th yield of a task counts; 0 means 1.
    pub(super) fn new(every: u32) -> Fairness {
        Fairness {
            every: every.max(1),
            windows: Vec::new(),
            active: false,
            restrains: false,
            before: TaskSet::default(),
            stayed: TaskSet::default(),
            ran: TaskSet::default(),
            seen: Vec::new(),
        }
    }

    /// Resets the state for a new execution.
    pub(super) fn reset(&mut self) {
        if self.active {
            (self.active, self.restrains) = (false, false);
            self.windows.clear();
            self.ran.clear();
            self.seen.clear();
        }
    }

    /// Returns `true` if any task has yielded.
    #[inline(always)]
    pub(super) fn active(&self) -> bool {
        self.active
    }

    /// Returns `true` if P is not empty. If it is empty, no task is held back before the next yield.
    #[inline(always)]
    pub(super) fn restrains(&self) -> bool {
        self.restrains
    }

    /// Ends a step of `task`, after which `enabled` are enabled. `yielded` is the number of the step if it was a yield.
    pub(super) fn step(&mut self, task: u32, enabled: &TaskSet, yielded: Option<u32>) {
        if !self.active {
            if yielded.is_none() {
                return;
            }
            self.active = true;
            self.before.copy_from(enabled);
            self.stayed.copy_from(enabled);
        }
        if self.restrains {
            for window in &mut self.windows {
                window.waits_for.remove(task);
            }
            self.note_restraint();
        }
        self.stayed.intersect(enabled);
        self.ran.insert(task);
        self.before.subtract(enabled);
        if !self.before.is_empty()
            && let Some(window) = self.windows.get_mut(task as usize)
        {
            window.disabled.union(&self.before);
        }
        self.before.copy_from(enabled);
        if let Some(step) = yielded {
            self.end_window(task, enabled, step);
        }
    }

    /// Does the same for a step without a yield, while P is empty and there are at most 64 tasks.
    #[inline(always)]
    pub(super) fn step_low(&mut self, task: u32, enabled: u64) {
        debug_assert!(self.active && !self.restrains && task < 64);
        *self.stayed.low_mut() &= enabled;
        *self.ran.low_mut() |= 1 << task;
        let disabled = self.before.low() & !enabled;
        if disabled != 0
            && let Some(window) = self.windows.get_mut(task as usize)
        {
            *window.disabled.low_mut() |= disabled;
        }
        *self.before.low_mut() = enabled;
    }

    /// Counts a yield of `task`, in this step. Every k-th one ends its window.
    fn end_window(&mut self, task: u32, enabled: &TaskSet, step: u32) {
        if self.windows.len() <= task as usize {
            self.windows.resize_with(task as usize + 1, Window::default);
        }
        let own = &mut self.windows[task as usize];
        own.yields += 1;
        if own.yields < self.every {
            return;
        }
        for window in &mut self.windows {
            window.enabled.intersect(&self.stayed);
            window.scheduled.union(&self.ran);
        }
        self.stayed.copy_from(enabled);
        self.ran.clear();
        let own = &mut self.windows[task as usize];
        own.yields = 0;
        own.counted.push(step);
        if own.open {
            let mut starved = own.enabled.clone();
            starved.union(&own.disabled);
            starved.subtract(&own.scheduled);
            // A task never waits for itself: it ran, so it is in S.
            own.waits_for.union(&starved);
        }
        own.open = true;
        own.enabled.copy_from(enabled);
        own.disabled.clear();
        own.scheduled.clear();
        for task in enabled.iter() {
            let at = task as usize;
            if self.seen.len() <= at {
                self.seen.resize(at + 1, 0);
            }
            if self.seen[at] == 0 {
                self.seen[at] = step;
            }
        }
        self.note_restraint();
    }

    /// Releases a task that is held back: it waits for no task until it yields again.
    pub(super) fn let_go(&mut self, task: u32) {
        if let Some(window) = self.windows.get_mut(task as usize) {
            window.waits_for.clear();
            self.note_restraint();
        }
    }

    /// Adds the reasons for which `task`, which is enabled, may not go.
    pub(super) fn add_holds(&self, task: u32, enabled: &TaskSet, holds: &mut Vec<Hold>) {
        let before = holds.len();
        if let Some(window) = self.windows.get(task as usize) {
            for awaited in enabled.iter().filter(|&other| window.waits_for.contains(other)) {
                let seen = self.seen.get(awaited as usize).copied().unwrap_or(0);
                let first = window.counted.partition_point(|&step| step < seen);
                holds.push(Hold {
                    task,
                    awaited: Some(awaited),
                    yields: window.counted[first..].to_vec(),
                });
            }
        }
        if holds.len() == before {
            holds.push(Hold {
                task,
                ..Hold::default()
            });
        }
    }

    fn note_restraint(&mut self) {
        self.restrains = self.windows.iter().any(|window| !window.waits_for.is_empty());
    }

    /// Returns `true` if `task`, which is enabled, may go: it waits for no enabled task.
    pub(super) fn may_go(&self, task: u32, enabled: &TaskSet) -> bool {
        self.windows
            .get(task as usize)
            .is_none_or(|window| !window.waits_for.intersects(enabled))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;
    use std::collections::{BTreeMap, BTreeSet};
    use std::ops::Range;

    type Set = BTreeSet<u32>;

    const TASKS: u32 = 5;
    const RUNS: u64 = 2_000;
    const STEPS: usize = 60;

    /// The sets of a task, with the names of the paper.
    #[derive(Default)]
    struct Of {
        e: Set,
        d: Set,
        s: Set,
        yields: u32,
    }

    /// The algorithm as the paper has it, with every set tracked from the beginning.
    struct Paper {
        every: u32,
        p: BTreeSet<(u32, u32)>,
        of: BTreeMap<u32, Of>,
    }

    impl Paper {
        fn new(every: u32, tasks: Range<u32>) -> Paper {
            let of = |task| {
                let s = tasks.clone().collect();
                (task, Of { s, ..Of::default() })
            };
            Paper {
                every,
                p: BTreeSet::new(),
                of: tasks.clone().map(of).collect(),
            }
        }

        fn may_go(&self, task: u32, enabled: &Set) -> bool {
            !enabled.iter().any(|other| self.p.contains(&(task, *other)))
        }

        fn step(&mut self, task: u32, before: &Set, after: &Set, yielded: bool) {
            self.p.retain(|(_, awaited)| *awaited != task);
            for of in self.of.values_mut() {
                of.e = &of.e & after;
                of.s.insert(task);
            }
            let of = self.of.get_mut(&task).unwrap();
            of.d = &of.d | &(before - after);
            of.yields += u32::from(yielded);
            if of.yields == self.every {
                let starved = &(&of.e | &of.d) - &of.s;
                self.p.extend(starved.iter().map(|other| (task, *other)));
                (of.e, of.d, of.s, of.yields) = (after.clone(), Set::new(), Set::new(), 0);
            }
        }
    }

    fn tasks(set: &Set) -> TaskSet {
        let mut tasks = TaskSet::default();
        set.iter().for_each(|task| tasks.insert(*task));
        tasks
    }

    /// Every other program has tasks on both sides of 64. All share one `Fairness`, as executions do.
    #[test]
    fn fairness_follows_the_rules_of_the_paper() {
        let (mut held_back, mut first_yields, mut short_steps) = (0, 0, 0);
        for every in 1..=3 {
            let mut ours = Fairness::new(every);
            for seed in 0..RUNS {
                let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
                let first = if seed % 2 == 0 { 0 } else { 64 - TASKS / 2 };
                let numbers = first..first + TASKS;
                ours.reset();
                let mut paper = Paper::new(every, numbers.clone());
                let mut enabled: Set = numbers.clone().collect();
                for step in 0..STEPS {
                    for task in &enabled {
                        let may_go = paper.may_go(*task, &enabled);
                        assert_eq!(
                            ours.may_go(*task, &tasks(&enabled)),
                            may_go,
                            "seed {seed}, step {step}"
                        );
                        held_back += u32::from(!may_go);
                    }
                    assert_eq!(ours.restrains(), !paper.p.is_empty(), "seed {seed}, step {step}");
                    // The relation has no cycle, so some enabled task may always go.
                    let may: Vec<u32> = enabled
                        .iter()
                        .copied()
                        .filter(|task| paper.may_go(*task, &enabled))
                        .collect();
                    assert!(!may.is_empty(), "seed {seed}, step {step}");
                    let task = may[random.random_range(0..may.len())];
                    let yielded = random.random_range(0..3) == 0;
                    let mut after: Set = numbers
                        .clone()
                        .filter(|_| random.random_range(0..4) > 0)
                        .collect();
                    after.insert(random.random_range(numbers.clone()));
                    let was_active = ours.active();
                    if was_active && !yielded && !ours.restrains() && first == 0 {
                        short_steps += 1;
                        ours.step_low(task, tasks(&after).low());
                    } else {
                        ours.step(task, &tasks(&after), yielded.then_some(step as u32 + 1));
                    }
                    paper.step(task, &enabled, &after, yielded);
                    if ours.active() && !was_active {
                        first_yields += 1;
                        assert!(paper.p.is_empty(), "the first yield adds nothing");
                    }
                    enabled = after;
                }
            }
        }
        assert!(
            held_back > 10_000 && first_yields == 3 * RUNS && short_steps > 10_000,
            "{held_back} {first_yields} {short_steps}"
        );
    }
}
