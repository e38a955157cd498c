//! An execution as who went when, so that one that is a little different can be asked for.
//!
//! A script is followed loosely: it names tasks by who created them, not by the place in a list of alternatives, so it
//! still makes sense where an earlier change has opened or closed some. Where the task that should go cannot, the next
//! in the script that can goes.

use intermezzo_engine::record::Task;
use intermezzo_engine::schedule::{Choice, ChoiceKind};
use intermezzo_engine::strategy::{ChoicePoint, Coverage, Plan, SoFar, Status, Strategy};
use intermezzo_engine::trace::Trace;
use std::collections::VecDeque;

/// Steps of one task in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    task: u64,
    steps: u32,
    /// Whether it may begin by a preemption. Else it waits until the task before it cannot go on.
    pub(super) preempts: bool,
}

/// Who went when.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Script {
    pub(super) blocks: Vec<Block>,
    /// What was taken at the choices that are not of tasks, in order.
    pub(super) values: VecDeque<(ChoiceKind, u32)>,
}

impl Script {
    /// The script of an execution.
    pub(super) fn of(trace: &Trace, tasks: &[Task], choices: &[Choice]) -> Script {
        let mut blocks: Vec<Block> = Vec::new();
        // The first step is what the test's body does before there is anything to decide.
        for pair in trace.steps().windows(2) {
            let (before, step) = (&pair[0], &pair[1]);
            let task = lineage(tasks, step.task);
            let decided = &choices[before.choices_end..step.choices_end];
            let preempts = decided
                .first()
                .is_some_and(|choice| choice.kind == ChoiceKind::Task && choice.cost(choice.taken) > 0);
            match blocks.last_mut() {
                Some(block) if block.task == task && !preempts => block.steps += 1,
                _ => blocks.push(Block {
                    task,
                    steps: 1,
                    preempts,
                }),
            }
        }
        let values = choices.iter().filter(|choice| choice.kind != ChoiceKind::Task);
        Script {
            blocks,
            values: values.map(|choice| (choice.kind, choice.taken)).collect(),
        }
    }

    /// The block of the same task that comes next after this one, if there is another between them.
    fn next_of_same(&self, at: usize) -> Option<usize> {
        let task = self.blocks[at].task;
        let later = self.blocks.iter().enumerate().skip(at + 1);
        later
            .filter(|(_, block)| block.task == task)
            .map(|(next, _)| next)
            .find(|&next| next > at + 1)
    }

    /// With the task's next block done right after this one.
    pub(super) fn with_next_pulled(&self, at: usize) -> Option<Script> {
        let next = self.next_of_same(at)?;
        let mut script = self.clone();
        let pulled = script.blocks.remove(next);
        script.blocks[at].steps += pulled.steps;
        Some(script)
    }

    /// With this block put off until right before the task's next one.
    pub(super) fn with_put_off(&self, at: usize) -> Option<Script> {
        let next = self.next_of_same(at)?;
        let mut script = self.clone();
        script.blocks[next].steps += script.blocks[at].steps;
        script.blocks.remove(at);
        Some(script)
    }
}

/// Returns what identifies a task in every execution: its number among its creator's tasks, and those of all above it.
fn lineage(tasks: &[Task], mut task: u32) -> u64 {
    let mut ordinals = Vec::new();
    while task != 0 {
        let entry = &tasks[task as usize];
        ordinals.push(entry.ordinal);
        task = entry.parent;
    }
    // Two that come out alike would only make a script less exact.
    ordinals.iter().rev().fold(1u64, |above, &ordinal| {
        above
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .wrapping_add(ordinal.into())
    })
}

/// Runs one execution, by a script.
pub(super) struct Follow {
    script: Script,
    begun: bool,
    /// The block that is due, and how many steps have been taken off the script.
    due: usize,
    seen: usize,
}

impl Follow {
    /// The execution that this script describes, as far as there is one.
    pub(super) fn new(script: Script) -> Follow {
        Follow {
            script,
            begun: false,
            due: 0,
            seen: 1,
        }
    }

    /// Takes the steps off the script that have been taken since the last choice.
    fn catch_up(&mut self, trace: &Trace, tasks: &[Task]) {
        for step in trace.steps().iter().skip(self.seen) {
            let task = lineage(tasks, step.task);
            let blocks = self.script.blocks[self.due..].iter_mut();
            if let Some(block) = blocks
                .into_iter()
                .find(|block| block.task == task && block.steps > 0)
            {
                block.steps -= 1;
            }
        }
        self.seen = self.seen.max(trace.steps().len());
        while self
            .script
            .blocks
            .get(self.due)
            .is_some_and(|block| block.steps == 0)
        {
            self.due += 1;
        }
    }

    fn next_task(&mut self, point: &ChoicePoint<'_>) -> u32 {
        self.catch_up(point.trace(), point.tasks);
        let able: Vec<u64> = (0..point.alternatives)
            .filter_map(|at| Some(lineage(point.tasks, point.task(at)?.0)))
            .collect();
        let place = |block: &Block| able.iter().position(|&task| task == block.task);
        let mut blocks = self.script.blocks[self.due..]
            .iter()
            .filter(|block| block.steps > 0);
        let taken = if point.preempts {
            blocks.next().filter(|block| block.preempts).and_then(place)
        } else {
            blocks.find_map(place)
        };
        taken.unwrap_or(0) as u32
    }
}

impl Strategy for Follow {
    fn next(&mut self, plan: &mut Plan, _: &Trace) -> bool {
        plan.truncate(0);
        !std::mem::replace(&mut self.begun, true)
    }

    fn choose(&mut self, point: &ChoicePoint<'_>) -> Option<u32> {
        if point.kind == ChoiceKind::Task {
            return Some(self.next_task(point));
        }
        let place = self
            .script
            .values
            .iter()
            .position(|&(kind, _)| kind == point.kind);
        let value = place.and_then(|place| self.script.values.remove(place));
        let taken = value.map(|(_, taken)| taken);
        Some(taken.filter(|&taken| taken < point.alternatives).unwrap_or(0))
    }

    fn coverage(&self, _: bool) -> Coverage {
        Coverage::Sampled { executions: 1 }
    }

    fn status(&self, _: &SoFar<'_>) -> Status {
        Status::named("script")
    }
}
