//! One more execution of a failing test: whether it fails in the same way, and its size.

use super::deadline::Deadline;
use super::same::Failure;
use super::script::Script;
use crate::classify;
use crate::report::{Finding, FindingEvent};
use intermezzo_engine::described::BreakpointFigures;
use intermezzo_engine::runtime::Executor;
use intermezzo_engine::schedule::{Choice, ChoiceKind, Premises, Schedule};

/// The size of an execution. The field that counts most comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Size {
    /// The number of stale reads, and of stores behind newer ones.
    pub(super) stale: u32,
    pub(super) preemptions: u32,
    pub(super) switches: u64,
    pub(super) steps: u64,
    /// The number of choices of other kinds than tasks that did not take their default.
    unusual: usize,
}

/// An execution that shows the failure.
#[derive(Clone)]
pub(super) struct Shown {
    pub(super) finding: Finding,
    pub(super) size: Size,
    pub(super) script: Script,
    /// The figures of the armed breakpoints.
    pub(super) breakpoints: Vec<BreakpointFigures>,
}

impl Shown {
    /// Returns `true` if it is smaller than `best`, and does not have the same message as another finding.
    pub(super) fn improves(&self, best: &Shown, others: &[&Finding]) -> bool {
        let says =
            |other: &&Finding| other.kind == self.finding.kind && other.message == self.finding.message;
        self.size < best.size && !others.iter().any(says)
    }
}

/// The result of an execution.
pub(super) enum Trial {
    /// The strategy asked for no more executions.
    None,
    /// It does not show the failure.
    Other,
    /// It shows the failure.
    Shown(Box<Shown>),
    /// It departed from its schedule.
    Departed,
    /// It crashed, and may have damaged the process, so no other execution may follow.
    Crashed(Vec<Finding>),
}

/// The budget of minimising in executions and steps, and its deadline.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    most: u64,
    pub(super) executions: u64,
    pub(super) steps: u64,
    deadline: Deadline,
}

/// The number of steps that count as one execution. With it the default budget is a matter of seconds in a debug build.
const STEPS_PER_EXECUTION: u64 = 200;

impl Budget {
    pub(super) fn new(most: u64, deadline: Deadline) -> Budget {
        Budget {
            most,
            executions: 0,
            steps: 0,
            deadline,
        }
    }

    /// `true` if the time was over while executions were left.
    pub(super) fn is_cut(&self) -> bool {
        self.spent() < self.most && self.deadline.is_over()
    }

    /// Returns the part of the budget that is spent.
    pub(super) fn spent(&self) -> u64 {
        self.executions.max(self.steps / STEPS_PER_EXECUTION)
    }

    /// `true` if nothing is left.
    pub(super) fn is_spent(&self) -> bool {
        self.spent() >= self.most || self.deadline.is_over()
    }

    /// `true` if the time is over.
    pub(super) fn is_late(&self) -> bool {
        self.deadline.is_over()
    }

    /// `true` if three quarters of it are spent.
    pub(super) fn is_mostly_spent(&self) -> bool {
        self.spent() >= self.most - self.most / 4 || self.deadline.is_over()
    }

    /// `true` if half of it is spent.
    pub(super) fn is_half_spent(&self) -> bool {
        self.spent() >= self.most.div_ceil(2) || self.deadline.is_over()
    }
}

/// A test to run again: the arguments of a trial besides its strategy.
#[derive(Clone, Copy)]
pub(super) struct Subject<'a> {
    pub(super) test: &'a dyn Fn(),
    pub(super) schedule: &'a dyn Fn(Vec<Choice>, Premises) -> Schedule,
    /// Called after each execution.
    pub(super) ran: &'a dyn Fn(),
}

impl Subject<'_> {
    /// Runs the next execution of the worker's strategy, and charges it to the budget.
    pub(super) fn run(&self, worker: &mut Executor, failure: &Failure, budget: &mut Budget) -> Trial {
        if !worker.prepare() {
            return Trial::None;
        }
        let executed = worker.execute(self.test);
        (self.ran)();
        budget.executions += 1;
        budget.steps += executed.steps;
        // One that was cut off shows nothing either.
        let Some(trouble) = executed.trouble else {
            return Trial::Other;
        };
        let damaged = trouble.damaged;
        let findings = classify::findings(*trouble, self.schedule);
        if damaged {
            return Trial::Crashed(findings);
        }
        if executed.departed {
            return Trial::Departed;
        }
        let Some(finding) = failure.among(findings) else {
            return Trial::Other;
        };
        let choices = worker.plan().choices();
        let unusual = |choice: &&Choice| choice.kind != ChoiceKind::Task && choice.taken != 0;
        let is_stale = |event: &&FindingEvent| !event.newer.is_empty();
        Trial::Shown(Box::new(Shown {
            size: Size {
                stale: finding.events.iter().filter(is_stale).count() as u32,
                preemptions: finding.schedule.preemptions(),
                switches: executed.switches,
                steps: executed.steps,
                unusual: choices.iter().filter(unusual).count(),
            },
            script: Script::of(worker.trace(), worker.tasks(), choices, &worker.event_order()),
            breakpoints: executed.breakpoints,
            finding,
        }))
    }
}
