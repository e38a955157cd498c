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

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;
    use std::collections::BTreeSet;

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
        of: Vec<Of>,
    }

    impl Paper {
        fn new(every: u32) -> Paper {
            let of = |_| Of {
                s: (0..TASKS).collect(),
                ..Of::default()
            };
            Paper {
                every,
                p: BTreeSet::new(),
                of: (0..TASKS).map(of).collect(),
            }
        }

        fn may_go(&self, task: u32, enabled: &Set) -> bool {
            !enabled.iter().any(|other| self.p.contains(&(task, *other)))
        }

        fn step(&mut self, task: u32, before: &Set, after: &Set, yielded: bool) {
            self.p.retain(|(_, awaited)| *awaited != task);
            for of in &mut self.of {
                of.e = &of.e & after;
                of.s.insert(task);
            }
            let of = &mut self.of[task as usize];
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

    #[test]
    fn fairness_follows_the_rules_of_the_paper() {
        let (mut held_back, mut first_yields) = (0, 0);
        for seed in 0..RUNS {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let every = random.random_range(1..=3);
            let (mut ours, mut paper) = (Fairness::new(every), Paper::new(every));
            let mut enabled: Set = (0..TASKS).collect();
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
                // The relation has no cycle, so some enabled task may always go.
                let may: Vec<u32> = enabled
                    .iter()
                    .copied()
                    .filter(|task| paper.may_go(*task, &enabled))
                    .collect();
                assert!(!may.is_empty(), "seed {seed}, step {step}");
                let task = may[random.random_range(0..may.len())];
                let yielded = random.random_range(0..3) == 0;
                let mut after: Set = (0..TASKS).filter(|_| random.random_range(0..4) > 0).collect();
                after.insert(random.random_range(0..TASKS));
                let was_active = ours.active();
                ours.step(task, &tasks(&after), yielded);
                paper.step(task, &enabled, &after, yielded);
                if ours.active() && !was_active {
                    first_yields += 1;
                    assert!(paper.p.is_empty(), "the first yield adds nothing");
                }
                enabled = after;
            }
        }
        assert!(
            held_back > 10_000 && first_yields == RUNS,
            "{held_back} {first_yields}"
        );
    }
}
