//! POS, partial order sampling (Yuan, Yang, Gu, CAV 2018).
//!
//! Each pending operation has a random priority, and the one with the highest priority is done next. After each step,
//! the operations that race with it get new priorities. So the two orders of two conflicting operations have the same
//! probability, whatever came before.
//!
//! Differs: operations conflict as they do for reductions (`docs/SEARCH.md`), so two loads do not race; a waiting task
//! races, too, for what it waits for. Misses: nothing in principle; orders that need many conflicts in a row to have
//! one particular result are rare.

use super::pending::Pending;
use super::{Draw, Generator, Policy, Profile, uniform};
use intermezzo_engine::schedule::ChoiceKind;
use intermezzo_engine::strategy::ChoicePoint;
use intermezzo_engine::trace::{Key, StepAccess};
use intermezzo_sdk::{Class, SyncVar};

/// Random priorities of operations.
#[derive(Default)]
pub(crate) struct Pos {
    priorities: Pending,
    /// The number of steps of the execution that have been processed.
    steps: usize,
}

impl Pos {
    /// Drops the priorities of operations that race with a step taken since the last choice.
    fn redraw(&mut self, point: &ChoicePoint<'_>) {
        for step in self.steps..point.trace.steps().len() {
            let footprint = point.trace.footprint(step);
            self.priorities.redraw(|task| {
                let access = point.tasks[task].pending.access;
                let class = Class::of(access.op, false).filter(|_| access.var != SyncVar::NONE.0);
                class.is_some_and(|class| {
                    let key = Key::of(access.op, access.var);
                    footprint
                        .iter()
                        .any(|&access| access.conflicts(StepAccess { key, class }))
                })
            });
        }
        self.steps = point.trace.steps().len();
    }
}

impl Policy for Pos {
    fn name(&self) -> String {
        "pos".into()
    }

    fn learns(&self) -> bool {
        false
    }

    fn begin(&mut self, _: Draw, _: &Profile, _: &mut Generator) {
        self.priorities.begin();
        self.steps = 0;
    }

    fn choose(&mut self, point: &ChoicePoint<'_>, _: &Profile, random: &mut Generator) -> u32 {
        if point.kind != ChoiceKind::Task {
            return uniform(point, random);
        }
        self.redraw(point);
        let (mut best, mut at) = ((0, 0), 0);
        point.for_each_task(|task| {
            let priority = self.priorities.of(task, point, random);
            if priority > best.0 {
                best = (priority, at);
            }
            at += 1;
        });
        best.1
    }

    fn fork(&self) -> Box<dyn Policy> {
        Box::new(Pos::default())
    }
}
