//! One scenario checked: what its operations do one at a time, and then whether all that they do at once is that.

use crate::failure::{Failure, Told};
use crate::judge::{Against, HistoryMonitor, Judge};
use crate::model::Model;
use crate::observations::{ObservationSet, Observations, ObservedScenario, Outcome, Undetermined};
use crate::operation::Operation;
use crate::run::body::Body;
use crate::run::record::{Mark, Record, Texts};
use crate::scenario::{Description, Scenario};
use crate::settings::{Granularity, Settings};
use hashbrown::HashMap;
use intermezzo_explorer::{Coverage, Environment, Explorer, Finding, Reduction, Report};
use intermezzo_sdk as sdk;
use sdk::{Context, Execution, FindingKind, Interests, Monitor};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What is tested: an object, its operations, and how.
pub(crate) struct Subject<T> {
    pub(crate) make: Box<dyn Fn() -> T + Send + Sync>,
    pub(crate) operations: Vec<Operation<T>>,
    pub(crate) names: Arc<Vec<String>>,
    pub(crate) settings: Settings,
    /// What it is compared with, if not with itself; and whether any of its operations may wait.
    pub(crate) model: Option<(Arc<dyn Model>, bool)>,
    /// What was observed of it before, if it is compared with that.
    pub(crate) observed: Option<ObservationSet>,
}

/// What a scenario came to.
#[derive(Default)]
pub(crate) struct Checked {
    pub(crate) executions: u64,
    pub(crate) traces: u64,
    pub(crate) histories: u64,
    pub(crate) observations: usize,
    pub(crate) solo_runs: u64,
    /// Why not every execution was run, if not.
    pub(crate) short: Option<String>,
    pub(crate) failure: Option<Failure>,
}

/// Takes what a mutex holds, whoever panicked.
pub(crate) fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T: Sync> Subject<T> {
    /// Checks a scenario. The schedule of a failure is as it was found: see [`Subject::smallest_schedule`].
    pub(crate) fn check(&self, scenario: &Scenario) -> Checked {
        self.check_with(scenario, false, |explorer| explorer.minimise(0))
    }

    /// The scenario's failure with a schedule that was made small.
    pub(crate) fn smallest_schedule(&self, scenario: &Scenario) -> Option<Failure> {
        let record = self.settings.record;
        self.check_with(scenario, record, |explorer| explorer.record(record))
            .failure
    }

    fn check_with(
        &self,
        scenario: &Scenario,
        record: bool,
        configure: impl Fn(Explorer) -> Explorer,
    ) -> Checked {
        let texts = Arc::new(Texts::default());
        let calls: Vec<String> = scenario
            .describe(&self.names)
            .calls()
            .map(str::to_owned)
            .collect();
        let body = Body {
            make: &*self.make,
            operations: &self.operations,
            scenario,
            texts: &texts,
            told: record.then_some(&*calls),
        };
        let mut checked = Checked::default();
        // First: an operation that goes round for ever would make every history of it a long one.
        if let Some(progress) = self.settings.progress {
            self.check_progress(progress, &body, &mut checked);
            if checked.failure.is_some() {
                return checked;
            }
        }
        let (against, some_wait) = match &self.model {
            Some((model, some_wait)) => (Against::Model(Arc::clone(model)), *some_wait),
            None => match self.expected(&body, &mut checked) {
                Some(observations) => {
                    checked.observations = observations.len();
                    let some_wait = observations.some_wait;
                    (Against::Itself(observations), some_wait)
                }
                None => return checked,
            },
        };
        let late = scenario.steps().map(|step| self.operations[step.operation].late);
        let judge = Arc::new(Judge {
            scenario: scenario.clone(),
            calls: calls.clone(),
            texts: Arc::clone(&texts),
            against,
            same: self.settings.same,
            late: late.collect(),
            histories: Mutex::default(),
            refused: Mutex::default(),
        });
        let explorer = Explorer::new()
            .program("refinement")
            .reduction(Reduction::Dpor)
            .executions(self.settings.executions);
        let listening = Arc::clone(&judge);
        let explorer = configure(self.settings.configure(explorer))
            .deadlocks_allowed(true)
            .monitor_with(move || HistoryMonitor {
                judge: Arc::clone(&listening),
                judged: HashMap::new(),
            });
        let report = explorer.explore(|| body.concurrent(some_wait, false));
        checked.executions += report.executions();
        checked.traces += report.traces().unwrap_or(0);
        checked.histories = *held(&judge.histories);
        checked.short = checked.short.take().or(not_whole(&report));
        checked.failure = report.findings().first().map(|finding| {
            let marks = held(&judge.refused).get(&finding.message).cloned();
            self.failure(&judge, finding, marks)
        });
        if let Some(failure) = checked.failure.as_mut().filter(|_| record) {
            failure.report = Some(report);
        }
        checked
    }

    /// What the object does one operation at a time, to be kept.
    ///
    /// # Errors
    /// It could not be observed; what the attempt came to.
    pub(crate) fn observe_apart(&self, scenario: &Scenario) -> Result<ObservedScenario, Box<Checked>> {
        let texts = Texts::default();
        let body = Body {
            make: &*self.make,
            operations: &self.operations,
            scenario,
            texts: &texts,
            told: None,
        };
        let mut checked = Checked::default();
        match self.observe(&body, &mut checked) {
            Some(observations) => {
                let scenario = scenario.describe(&self.names);
                Ok(ObservedScenario::of(scenario, &observations, &texts))
            }
            None => Err(Box::new(checked)),
        }
    }

    /// What the object is compared with if not with a model: what is known of it, or else what is observed now.
    fn expected(&self, body: &Body<'_, T>, checked: &mut Checked) -> Option<Observations> {
        let Some(known) = &self.observed else {
            return self.observe(body, checked);
        };
        let found = known.find(&body.scenario.describe(&self.names));
        if found.is_none() {
            checked.short = Some("there are no observations of this scenario".into());
        }
        found.map(|found| found.observations(body.texts))
    }

    /// What the object does one operation at a time. `None` if that failed: then the failure is in `checked`.
    fn observe(&self, body: &Body<'_, T>, checked: &mut Checked) -> Option<Observations> {
        let watched = Arc::new(Mutex::new(Observations::new(body.scenario.len())));
        let serial = self.settings.granularity == Granularity::Serial;
        let explorer = Explorer::new()
            .program("observations")
            .environment(Environment::calm())
            .executions(self.settings.serial_executions)
            .minimise(0)
            .deadlocks_allowed(true)
            .monitor(ObservationMonitor {
                observations: Arc::clone(&watched),
                serial,
                scenario: body.scenario.describe(&self.names),
            });
        let report = explorer.explore(|| match self.settings.granularity {
            Granularity::Serial => body.serial(),
            Granularity::Coarse => body.concurrent(false, true),
            Granularity::All => body.concurrent(false, false),
        });
        checked.executions += report.executions();
        let observations = std::mem::take(&mut *held(&watched));
        if let Some(finding) = report.findings().first() {
            let scenario = body.scenario.describe(&self.names);
            checked.failure = Some(Failure::new(finding, scenario, Told::default()));
            return None;
        }
        // That no operation was preempted is what was wanted.
        let coarse = self.settings.granularity == Granularity::Coarse;
        let whole = coarse && report.executions() < self.settings.serial_executions;
        if let Some(why) = not_whole(&report).filter(|_| !whole) {
            checked.short = Some(format!(
                "what operations do one at a time was not all observed: {why}"
            ));
            // What was not observed would be taken for wrong.
            return None;
        }
        Some(observations)
    }

    fn failure(&self, judge: &Judge, finding: &Finding, marks: Option<Vec<Mark>>) -> Failure {
        let scenario = judge.scenario.describe(&self.names);
        let told = match marks {
            None => Told::default(),
            Some(marks) => Told::new(judge, &marks, self.model.as_ref().map(|(model, _)| &**model)),
        };
        Failure::new(finding, scenario, told)
    }
}

/// Why not every execution was run, if not.
fn not_whole(report: &Report) -> Option<String> {
    match report.coverage() {
        Coverage::Exhaustive => None,
        _ if !report.findings().is_empty() => None,
        Coverage::Bounded {
            reason: Some(reason), ..
        } => Some(reason.clone()),
        Coverage::Bounded {
            preemptions: Some(most),
            ..
        } => Some(format!("every execution with at most {most} preemptions")),
        Coverage::Bounded { .. } => Some("a bound of the search".into()),
        Coverage::Sampled { executions } => Some(format!("{executions} executions drawn")),
    }
}

/// In words: the same operations, and two things that the last came to.
fn in_words(undetermined: &Undetermined, scenario: &Description) -> String {
    let calls: Vec<&str> = scenario.calls().collect();
    let before: Vec<&str> = undetermined
        .before
        .iter()
        .map(|(place, _)| calls[place.index()])
        .collect();
    let before = match before.is_empty() {
        true => "as the first operation".to_owned(),
        false => format!("after {}, one at a time,", before.join(", ")),
    };
    let waits = undetermined.outcomes.contains(&Outcome::Waits);
    let what = match waits {
        true => "once waits and once does not",
        false => "returns different things",
    };
    format!(
        "{before} {} {what}: what it does depends on more than the operations before it, so it is no specification of \
         itself",
        calls[undetermined.operation.index()]
    )
}

/// Hears of each execution's end, and keeps what was observed.
struct ObservationMonitor {
    observations: Arc<Mutex<Observations>>,
    serial: bool,
    scenario: Description,
}

impl Monitor for ObservationMonitor {
    fn name(&self) -> &str {
        "refinement"
    }
    fn interests(&self) -> Interests {
        Interests::NONE
    }
    fn reduction_compatible(&self) -> bool {
        false
    }
    fn on_execution_end(&mut self, execution: &Execution<'_>, cx: &mut Context<'_>) {
        let stuck = !execution.complete && cx.enabled().is_empty();
        let Some(marks) = Record::with(|record| (!record.panicked).then(|| record.marks.clone())) else {
            return;
        };
        if !execution.complete && !stuck {
            return;
        }
        let mut observations = held(&self.observations);
        if !self.serial {
            observations.add(&marks);
        } else if let Err(undetermined) = observations.add_serial(&marks) {
            let words = in_words(&undetermined, &self.scenario);
            cx.report(sdk::Report::new(FindingKind::NondeterministicSpec, words));
        }
    }
}
