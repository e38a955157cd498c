//! One more execution of a test that failed: whether it fails in the same way, and how large it is.

use super::deadline::Deadline;
use super::same::Failure;
use super::script::Script;
use crate::classify;
use crate::report::Finding;
use intermezzo_engine::described::BreakpointFigures;
use intermezzo_engine::runtime::Executor;
use intermezzo_engine::schedule::{Choice, ChoiceKind, Premises, Schedule};

/// How large an execution is: what counts most comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Size {
    pub(super) preemptions: u32,
    pub(super) switches: u64,
    pub(super) steps: u64,
    /// How many choices that are not of tasks came out otherwise than by default.
    unusual: usize,
}

/// An execution that shows the failure.
#[derive(Clone)]
pub(super) struct Shown {
    pub(super) finding: Finding,
    pub(super) size: Size,
    pub(super) script: Script,
    /// What became of the breakpoints that were armed.
    pub(super) breakpoints: Vec<BreakpointFigures>,
}

impl Shown {
    /// Whether it is smaller than this one; not if it would say the same as another finding.
    pub(super) fn improves(&self, best: &Shown, others: &[&Finding]) -> bool {
        let says =
            |other: &&Finding| other.kind == self.finding.kind && other.message == self.finding.message;
        self.size < best.size && !others.iter().any(says)
    }
}

/// What came of an execution.
pub(super) enum Trial {
    /// The strategy asked for no more.
    None,
    /// It does not show the failure.
    Other,
    /// It shows the failure.
    Shown(Box<Shown>),
    /// It departed from what was prescribed.
    Departed,
    /// It crashed, and may have damaged the process: nothing is to follow.
    Crashed(Vec<Finding>),
}

/// The most that minimising may cost, in executions and steps, and when it has to end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    most: u64,
    pub(super) executions: u64,
    pub(super) steps: u64,
    deadline: Deadline,
}

/// Steps for which an execution counts as one: the default budget is then a matter of seconds in a debug build.
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

    /// `true` if time was over while executions were left.
    pub(super) fn is_cut(&self) -> bool {
        self.spent() < self.most && self.deadline.is_over()
    }

    /// What is gone.
    pub(super) fn spent(&self) -> u64 {
        self.executions.max(self.steps / STEPS_PER_EXECUTION)
    }

    /// `true` if nothing is left.
    pub(super) fn is_spent(&self) -> bool {
        self.spent() >= self.most || self.deadline.is_over()
    }

    /// `true` if more than half is gone.
    pub(super) fn is_half_spent(&self) -> bool {
        self.spent() >= self.most.div_ceil(2) || self.deadline.is_over()
    }
}

/// A test, to be run again: what each trial needs beside its strategy.
#[derive(Clone, Copy)]
pub(super) struct Subject<'a> {
    pub(super) test: &'a dyn Fn(),
    pub(super) schedule: &'a dyn Fn(Vec<Choice>, Premises) -> Schedule,
    /// Called after each execution.
    pub(super) ran: &'a dyn Fn(),
}

impl Subject<'_> {
    /// Runs the next execution of the worker's strategy, at the expense of the budget.
    pub(super) fn run(&self, worker: &mut Executor, failure: &Failure, budget: &mut Budget) -> Trial {
        if !worker.prepare() {
            return Trial::None;
        }
        let executed = worker.execute(self.test);
        (self.ran)();
        budget.executions += 1;
        budget.steps += executed.steps;
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
        Trial::Shown(Box::new(Shown {
            size: Size {
                preemptions: finding.schedule.preemptions(),
                switches: executed.switches,
                steps: executed.steps,
                unusual: choices.iter().filter(unusual).count(),
            },
            script: Script::of(worker.trace(), worker.tasks(), choices),
            breakpoints: executed.breakpoints,
            finding,
        }))
    }
}
