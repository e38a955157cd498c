//! An execution as a list of blocks of steps, from which similar executions can be derived.
//!
//! A script is followed loosely. It names tasks by their creators instead of by index in a list of alternatives, so it
//! still makes sense if an earlier change has added or removed alternatives. If the task that should run cannot, the
//! next task in the script that can runs instead.

use intermezzo_engine::record::Task;
use intermezzo_engine::schedule::{Choice, ChoiceKind};
use intermezzo_engine::strategy::{ChoicePoint, Coverage, Plan, SoFar, Status, Strategy};
use intermezzo_engine::trace::Trace;
use std::collections::VecDeque;

/// Consecutive steps of one task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    task: u64,
    steps: u32,
    /// `true` if it may begin with a preemption. Otherwise it waits until the previous task cannot continue.
    pub(super) preempts: bool,
}

/// The blocks and values of an execution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Script {
    pub(super) blocks: Vec<Block>,
    /// The choices of other kinds than tasks, in order.
    pub(super) values: VecDeque<Value>,
}

/// A choice that is not about tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) kind: ChoiceKind,
    /// The alternative that is taken.
    pub(super) taken: u32,
    /// The lineage of the task that makes it, and the number of the task's events before its step. Its position among all
    /// choices is not enough: if an earlier value changes, a task may make fewer choices.
    at: (u64, u32),
}

impl Script {
    /// Returns the script of an execution.
    ///
    /// `events` are the task and the index of each event.
    pub(super) fn of(trace: &Trace, tasks: &[Task], choices: &[Choice], events: &[(u32, u32)]) -> Script {
        let mut blocks: Vec<Block> = Vec::new();
        // The first step is the part of the test's body before the first choice.
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
        let before = trace.events_before_choices();
        let value = |(number, choice): (usize, &Choice)| {
            let first = before.get(number).and_then(|&before| events.get(before));
            let &(task, index) = first.unwrap_or(&(0, 1));
            Value {
                kind: choice.kind,
                taken: choice.taken,
                at: (lineage(tasks, task), index - 1),
            }
        };
        let choices = choices.iter().enumerate();
        let values = choices.filter(|(_, choice)| choice.kind != ChoiceKind::Task);
        Script {
            blocks,
            values: values.map(value).collect(),
        }
    }

    /// Returns the next block of the same task, if there is another block in between.
    fn next_of_same(&self, at: usize) -> Option<usize> {
        let task = self.blocks[at].task;
        let later = self.blocks.iter().enumerate().skip(at + 1);
        later
            .filter(|(_, block)| block.task == task)
            .map(|(next, _)| next)
            .find(|&next| next > at + 1)
    }

    /// Returns the script with the task's next block moved right after this one.
    pub(super) fn with_next_pulled(&self, at: usize) -> Option<Script> {
        let next = self.next_of_same(at)?;
        let mut script = self.clone();
        let pulled = script.blocks.remove(next);
        script.blocks[at].steps += pulled.steps;
        Some(script)
    }

    /// Returns the script with this block delayed until right before the task's next one.
    pub(super) fn with_put_off(&self, at: usize) -> Option<Script> {
        let next = self.next_of_same(at)?;
        let mut script = self.clone();
        script.blocks[next].steps += script.blocks[at].steps;
        script.blocks.remove(at);
        Some(script)
    }
}

/// Returns a hash that identifies a task in every execution, made of its index among its creator's tasks and the
/// indices of all its ancestors.
fn lineage(tasks: &[Task], mut task: u32) -> u64 {
    let mut ordinals = Vec::new();
    while task != 0 {
        let entry = &tasks[task as usize];
        ordinals.push(entry.ordinal);
        task = entry.parent;
    }
    // A collision only makes a script less exact.
    ordinals.iter().rev().fold(1u64, |above, &ordinal| {
        above
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .wrapping_add(ordinal.into())
    })
}

/// A strategy that runs one execution, by a script.
pub(super) struct Follow {
    script: Script,
    begun: bool,
    /// The block that is due, and the number of steps removed from the script.
    due: usize,
    seen: usize,
}

impl Follow {
    /// Makes the strategy for this script.
    pub(super) fn new(script: Script) -> Follow {
        Follow {
            script,
            begun: false,
            due: 0,
            seen: 1,
        }
    }

    /// Removes from the script the steps that were taken since the last choice.
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
        let running = point.running.0;
        let events = point.tasks.get(running as usize).map_or(0, |task| task.events);
        let at = (lineage(point.tasks, running), events);
        let values = || self.script.values.iter();
        // A task may take more steps before the choice than in the script, or fewer.
        let place = values()
            .position(|value| value.kind == point.kind && value.at == at)
            .or_else(|| values().position(|value| value.kind == point.kind));
        let value = place.and_then(|place| self.script.values.remove(place));
        let taken = value.map(|value| value.taken);
        Some(taken.filter(|&taken| taken < point.alternatives).unwrap_or(0))
    }

    fn coverage(&self, _: bool) -> Coverage {
        Coverage::Sampled { executions: 1 }
    }

    fn status(&self, _: &SoFar<'_>) -> Status {
        Status::named("script")
    }
}
