//! Determinism tests: tests that return the same in every execution.
//!
//! The value of an execution is what the test returned, as `Debug` shows it. It is compared with that of the *default
//! execution*, in which every choice takes its default. That one is run first, apart from the search: so each worker, each
//! replay and each search that continues from a checkpoint compares with the same value, whichever execution comes first.
//!
//! Misses: values that differ and that `Debug` shows alike. An execution in which the test does not return has no value.

use crate::driver::{Exploration, ExploreError};
use crate::listening::Listening;
use crate::report::{FindingDetail, Report, Verdict};
use crate::settings::{JournalAt, Reduction, Settings, SpinLoops, StrategyKind};
use intermezzo_engine::runtime::arena::outside;
use intermezzo_sdk::{Context, Execution, FindingKind, Interests, Monitor, MonitorFinding};
use std::cell::RefCell;
use std::fmt::Debug;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

/// The name of the monitor that compares.
const NAME: &str = "determinism";

thread_local! {
    /// The value of the execution that runs on this thread, once the test has returned. All tasks of a worker run there.
    static RETURNED: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Notes the value that the test returned in this execution.
pub(crate) fn note(value: &impl Debug) {
    let text = format!("{value:?}");
    // It outlives the execution, and the text's memory may not.
    outside(|| RETURNED.with_borrow_mut(|returned| *returned = Some(text.as_str().to_owned())));
}

/// Takes the value of the execution that is over.
fn take() -> Option<String> {
    RETURNED.with_borrow_mut(Option::take)
}

/// The default execution of a test, with which every other one is compared.
pub(crate) struct DefaultExecution {
    returned: Option<Arc<str>>,
    /// Its schedule.
    token: String,
    report: Report,
}

impl DefaultExecution {
    /// Runs the default execution of an exploration. Its test notes its value.
    ///
    /// # Errors
    /// As the exploration.
    pub(crate) fn of(
        mut exploration: Exploration,
        test: &(dyn Fn() + Sync),
    ) -> Result<DefaultExecution, ExploreError> {
        let slot = Arc::new(Mutex::new(None));
        let settings = &mut exploration.settings;
        *settings = Settings {
            strategy: StrategyKind::DFS,
            reduction: Reduction::None,
            preemptions: None,
            executions: Some(1),
            jobs: 1,
            checkpoint: None,
            minimise: 0,
            iroots: None,
            // It has to be the same in a replay, and a schedule says with which of these it was found.
            breakpoints: Default::default(),
            schedule_points_at: Default::default(),
            preempt_at_races: false,
            spin_loops: match settings.spin_loops {
                SpinLoops::Assume => SpinLoops::Park,
                loops => loops,
            },
            first_execution: None,
            // What an earlier process left there is for the search to report.
            journal: JournalAt::Off,
            ..settings.clone()
        };
        exploration.monitors = vec![Listening::One(Box::new(Returned::Taken(Arc::clone(&slot))))];
        let mut report = exploration.run_apart(test)?;
        let is_ours = |kind: &FindingKind| *kind == FindingKind::Determinism;
        let ours = report.findings.iter().position(|finding| is_ours(&finding.kind));
        let token = ours.map(|at| report.findings.remove(at).schedule.token());
        let returned = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
        Ok(DefaultExecution {
            returned: returned.map(String::into),
            token: token.unwrap_or_default(),
            report,
        })
    }

    /// Returns the monitor that compares every execution with this one; `None` if this one returned nothing.
    pub(crate) fn comparison(&self) -> Option<Listening> {
        let wanted = self.returned.clone()?;
        Some(Listening::Each(Arc::new(move || {
            Box::new(Returned::Compared(Arc::clone(&wanted)))
        })))
    }

    /// Returns its report if it left the process in a state in which no other execution may follow.
    pub(crate) fn take_if_damaged(&mut self) -> Option<Report> {
        let damages = |kind: &FindingKind| matches!(kind, FindingKind::Crash | FindingKind::Hang);
        let is_damaged = self.report.errors().any(|finding| damages(&finding.kind));
        is_damaged.then(|| {
            let schedule = &self.report.findings[0].schedule;
            let (program, binary) = (schedule.program.clone(), schedule.binary.clone());
            let empty = Report::new((program, binary), schedule.environment, String::new(), 0);
            mem::replace(&mut self.report, empty)
        })
    }

    /// Completes the report of an exploration whose executions were compared with this one.
    pub(crate) fn settle(&self, report: &mut Report, is_replay: bool) {
        let Some(wanted) = &self.returned else {
            if !is_replay && report.verdict.is_pass() {
                self.settle_without(report);
            }
            return;
        };
        for finding in &mut report.findings {
            if finding.kind == FindingKind::Determinism
                && let Some(detail) = FindingDetail::of_results(&finding.message, wanted, &self.token)
            {
                finding.detail = detail;
            }
        }
        if report.verdict.is_pass() && !is_replay {
            report.note(&format!("the test returned {wanted} in each execution"));
        }
    }

    /// Settles the verdict of a search that found nothing and compared nothing.
    fn settle_without(&self, report: &mut Report) {
        let failed: Vec<_> = self.report.errors().cloned().collect();
        if failed.is_empty() {
            report.verdict = Verdict::Inconclusive;
            report.note("the test did not return in its default execution, so no results were compared");
        } else {
            report.verdict = Verdict::Fail;
            report.take_findings(failed);
            report
                .note("the default execution failed, which the search did not run: no results were compared");
        }
    }
}

/// A monitor of what the test returns.
enum Returned {
    /// Takes the value of the default execution, and reports its schedule.
    Taken(Arc<Mutex<Option<String>>>),
    /// Compares the value of each execution with that of the default execution.
    Compared(Arc<str>),
}

impl Monitor for Returned {
    fn name(&self) -> &str {
        NAME
    }

    fn interests(&self) -> Interests {
        Interests::NONE
    }

    // All executions of a trace end in one state, and the test returns what follows from it.
    fn reduction_compatible(&self) -> bool {
        true
    }

    fn follows_stale_reads(&self) -> bool {
        true
    }

    fn on_execution_begin(&mut self, _: &Execution<'_>) {
        take();
    }

    fn on_execution_end(&mut self, _: &Execution<'_>, cx: &mut Context<'_>) {
        let returned = take();
        match self {
            Returned::Taken(slot) => {
                *slot.lock().unwrap_or_else(PoisonError::into_inner) = returned;
                let schedule = "the schedule of the default execution";
                cx.report(MonitorFinding::new(FindingKind::Determinism, schedule).warning());
            }
            Returned::Compared(wanted) => {
                if let Some(returned) = returned.filter(|returned| *returned != **wanted) {
                    let words = FindingDetail::message_of_results(&returned, wanted);
                    let advice =
                        "if the order may decide, return what it leaves as it is: a sum, or a sorted list";
                    cx.report(MonitorFinding::new(FindingKind::Determinism, words).suggest(advice));
                }
            }
        }
    }
}
