//! Enforces the contract of a search of the user's own: its errors are reported as its own, never as failures of the test.
//!
//! Every call of the search is checked. A panic is caught, and a choice that is not an alternative is not made: the
//! execution is given up, and no further one is run. A call that crashes or hangs is recognised because it does not return.
//!
//! Blind spot: a search whose results are valid can still miss executions that it claims to have covered.

use crate::classify::subject;
use crate::report::{Finding, Report, TextStyle};
use intermezzo_engine::runtime::{known_task_name, panics};
use intermezzo_engine::schedule::{Choice, ChoiceKind};
use intermezzo_engine::strategy::{
    ChoicePoint, CompletedExecution, Coverage, Idle, Needs, Parallel, Partition, Partitioned, Plan,
    Resumable, SearchPosition, SearchState, SoFar, Status, Strategy, TimeIsOver,
};
use intermezzo_engine::trace::Trace;
use intermezzo_sdk::FindingKind;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The largest number of tasks that a message lists.
const TASKS_MAX: usize = 8;

/// An error of a search of the user's own ([`Strategy::custom`](crate::Strategy::custom)). The test is not judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StrategyError {
    /// The name of the search.
    pub strategy: String,
    /// The error, and what to do about it.
    pub problem: String,
    /// The findings of the search before the error. Each has a schedule that shows it again.
    pub findings: Vec<Finding>,
}

impl fmt::Display for StrategyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let StrategyError {
            strategy,
            problem,
            findings,
        } = self;
        let of_test = if findings.is_empty() {
            "nothing is said of the test"
        } else {
            "this was found before:"
        };
        let mut text =
            format!("the strategy `{strategy}` {problem}. The error is the strategy's, and {of_test}");
        for finding in findings {
            let message = finding.lines().swap_remove(0);
            text += &format!(
                "\n- {}: {message} (schedule {})",
                finding.kind,
                finding.schedule.token()
            );
        }
        f.write_str(&TextStyle::default().visible(text))
    }
}

impl std::error::Error for StrategyError {}

/// The call of a worker's share of the search that has begun and not yet returned.
type Unfinished = Arc<Mutex<Option<&'static str>>>;

/// The watch over a search, which its workers share.
#[derive(Debug)]
pub(crate) struct Watch {
    name: String,
    /// The first error.
    error: OnceLock<StrategyError>,
    calls: Mutex<Vec<Unfinished>>,
}

impl Watch {
    /// Returns the error of the search, if it has made one.
    ///
    /// # Errors
    /// As said.
    pub(crate) fn check(&self) -> Result<(), StrategyError> {
        self.error.get().cloned().map_or(Ok(()), Err)
    }

    /// Returns the error of the search, with the findings of the report. If a call did not return, that is the error, and
    /// the report has the reason.
    ///
    /// # Errors
    /// As said.
    pub(crate) fn check_report(&self, report: &Report) -> Result<(), StrategyError> {
        let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let unfinished = calls.iter().find_map(|call| *lock(call));
        let mut findings = report.findings().to_vec();
        if let Some(method) = unfinished {
            let ended = |finding: &Finding| matches!(finding.kind, FindingKind::Crash | FindingKind::Hang);
            let own = findings.iter().rposition(ended).map(|at| findings.remove(at));
            let why = own.map_or(String::new(), |finding| finding.message);
            self.fail(format!(
                "did not return from `{method}`: {why}. Its methods run on the small stacks of tasks (the setting `stack`), \
                 must not block, and must not end the process"
            ));
        }
        // An execution that was given up because of the error departs from its schedule.
        findings.retain(|finding| finding.kind != FindingKind::Divergence);
        self.check().map_err(|error| StrategyError { findings, ..error })
    }

    fn fail(&self, problem: String) {
        let strategy = self.name.clone();
        self.error.get_or_init(|| StrategyError {
            strategy,
            problem,
            findings: Vec::new(),
        });
    }

    fn has_failed(&self) -> bool {
        self.error.get().is_some()
    }
}

fn lock(call: &Unfinished) -> std::sync::MutexGuard<'_, Option<&'static str>> {
    call.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the search under watch.
pub(crate) fn watched(search: Box<dyn Strategy>) -> (Box<dyn Strategy>, Arc<Watch>) {
    let mut status = None;
    // Its name is needed for all that follows.
    let named = panics::caught(|| status = Some(search.status(&SoFar::default()).name));
    let watch = Arc::new(Watch {
        name: status.unwrap_or_else(|| "of your own".into()),
        error: OnceLock::new(),
        calls: Mutex::default(),
    });
    if let Err(panic) = named {
        watch.fail(format!("panicked in `status`, {panic}"));
    }
    (Box::new(Guarded::new(search, Arc::clone(&watch))), watch)
}

/// The caller of one worker's share of the search.
struct Caller {
    watch: Arc<Watch>,
    unfinished: Unfinished,
    /// The number of executions that this share has prepared.
    executions: u64,
}

impl Caller {
    /// Calls this method, unless the search has failed. Returns `None` if it fails now, or has before. `place` says
    /// where the search is.
    #[inline]
    fn call<R>(
        &self,
        method: &'static str,
        place: impl FnOnce() -> String,
        call: impl FnOnce() -> R,
    ) -> Option<R> {
        if self.watch.has_failed() {
            return None;
        }
        let mut unfinished = lock(&self.unfinished);
        if unfinished.is_some() {
            // A call has crashed.
            return None;
        }
        *unfinished = Some(method);
        drop(unfinished);
        let mut result = None;
        let called = panics::caught(|| result = Some(call()));
        *lock(&self.unfinished) = None;
        if let Err(panic) = called {
            let panic = panic.trim_end_matches('.');
            self.watch
                .fail(format!("panicked in `{method}`{}, {panic}", place()));
        }
        result
    }

    /// Calls a method between executions.
    fn call_between<R>(&self, method: &'static str, call: impl FnOnce() -> R) -> Option<R> {
        self.call(method, || format!(" after {} executions", self.executions), call)
    }
}

/// A worker's share of a search under watch.
struct Guarded {
    search: Box<dyn Strategy>,
    caller: Caller,
    /// `true` if the next execution must be prepared before the search is saved.
    prepares_before_save: bool,
    /// `true` if several workers can share the search.
    is_parallel: bool,
}

impl Guarded {
    fn new(search: Box<dyn Strategy>, watch: Arc<Watch>) -> Guarded {
        let unfinished = Unfinished::default();
        let mut calls = watch.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.push(Arc::clone(&unfinished));
        drop(calls);
        let caller = Caller {
            watch,
            unfinished,
            executions: 0,
        };
        Guarded {
            search,
            caller,
            prepares_before_save: false,
            is_parallel: false,
        }
    }

    fn of_parallel<R>(
        &mut self,
        method: &'static str,
        call: impl FnOnce(&mut dyn Parallel) -> R,
    ) -> Option<R> {
        let Guarded { search, caller, .. } = self;
        caller
            .call_between(method, || search.parallel().map(call))
            .flatten()
    }

    fn of_resumable<R>(
        &mut self,
        method: &'static str,
        call: impl FnOnce(&mut dyn Resumable) -> R,
    ) -> Option<R> {
        let Guarded { search, caller, .. } = self;
        caller
            .call_between(method, || search.resumable().map(call))
            .flatten()
    }

    fn of_partitioned<R>(
        &mut self,
        method: &'static str,
        call: impl FnOnce(&mut dyn Partitioned) -> R,
    ) -> Option<R> {
        let Guarded { search, caller, .. } = self;
        caller
            .call_between(method, || search.partitioned().ok().map(call))
            .flatten()
    }
}

/// Returns the choice at the point in words, with its alternatives.
fn in_words(point: &ChoicePoint<'_>) -> String {
    let name = |task: u32| format!("`{}`", known_task_name(point.tasks, task));
    let listed = |tasks: Vec<String>| match tasks.len().checked_sub(TASKS_MAX) {
        Some(more @ 1..) => format!("{} and {more} more", tasks[..TASKS_MAX].join(", ")),
        _ => tasks.join(", "),
    };
    let subject = subject(point.kind);
    if point.kind == ChoiceKind::Task {
        let mut tasks = Vec::new();
        point.for_each_task(|task| tasks.push(format!("{} is {}", tasks.len(), name(task.0))));
        return format!("{subject}: {}", listed(tasks));
    }
    let enabled = (0..point.created)
        .filter(|&task| point.is_enabled(task))
        .map(name);
    let of = format!("{subject}, one of {}", point.alternatives);
    // In the middle of a step none is.
    match listed(enabled.collect()) {
        enabled if enabled.is_empty() => of,
        enabled => format!("{of}; enabled are {enabled}"),
    }
}

/// Returns the first prescribed choice that cannot be made, with its number from 1. Those of the last execution were made.
fn impossible(plan: &Plan) -> Option<(usize, Choice)> {
    let choices = plan.choices().iter().copied().enumerate();
    let mut new = choices.skip(plan.kept());
    new.find_map(|(at, choice)| (choice.taken >= choice.alternatives).then_some((at + 1, choice)))
}

impl Strategy for Guarded {
    fn next(&mut self, plan: &mut Plan, trace: &Trace) -> bool {
        let Guarded { search, caller, .. } = self;
        let more = caller.call_between("next", || search.next(plan, trace));
        if more != Some(true) {
            return false;
        }
        caller.executions += 1;
        if let Some((at, choice)) = impossible(plan) {
            caller.watch.fail(format!(
                "prescribed alternative {} of {} as choice {at} of its execution {}. Alternatives are numbered from 0, and \
                 `Plan::take` accepts only those that there are",
                choice.taken, choice.alternatives, caller.executions
            ));
            // The engine makes prescribed choices without another look.
            plan.truncate(0);
            return false;
        }
        true
    }

    fn choose(&mut self, point: &ChoicePoint<'_>) -> Option<u32> {
        let Guarded { search, caller, .. } = self;
        let place = || {
            format!(
                ", in its execution {} at step {} ({})",
                caller.executions,
                point.step + 1,
                in_words(point)
            )
        };
        let taken = caller.call("choose", place, || search.choose(point))??;
        if taken < point.alternatives {
            return Some(taken);
        }
        caller.watch.fail(format!(
            "chose alternative {taken} of {}{}. `choose` returns the index of an alternative, below `point.alternatives`, \
             and no task's number: `point.task(index)` is the task behind it",
            point.alternatives,
            place()
        ));
        None
    }

    fn gives_up(&mut self) -> bool {
        let Guarded { search, caller, .. } = self;
        // No other execution follows one in which the search failed.
        caller
            .call_between("gives_up", || search.gives_up())
            .unwrap_or(true)
    }

    fn coverage(&self, finished: bool) -> Coverage {
        let covered = self
            .caller
            .call_between("coverage", || self.search.coverage(finished));
        covered.unwrap_or_else(Coverage::stopped)
    }

    fn status(&self, so_far: &SoFar<'_>) -> Status {
        let status = self.caller.call_between("status", || self.search.status(so_far));
        status.unwrap_or_else(|| Status::named(self.caller.watch.name.clone()))
    }

    fn needs(&self) -> Needs {
        let needs = self.caller.call_between("needs", || self.search.needs());
        needs.unwrap_or_default()
    }

    fn finished(&mut self, execution: &CompletedExecution<'_>) {
        let Guarded { search, caller, .. } = self;
        caller.call_between("finished", || search.finished(execution));
    }

    fn retry(&mut self) {
        let Guarded { search, caller, .. } = self;
        caller.call_between("retry", || search.retry());
    }

    fn heed_time(&mut self, is_over: &TimeIsOver) {
        let Guarded { search, caller, .. } = self;
        caller.call_between("heed_time", || search.heed_time(is_over));
    }

    fn gave_up(&self) -> bool {
        let gave_up = self.caller.call_between("gave_up", || self.search.gave_up());
        gave_up.unwrap_or(false)
    }

    fn keep_to_whole(&mut self) -> bool {
        let Guarded { search, caller, .. } = self;
        let keeps = caller.call_between("keep_to_whole", || search.keep_to_whole());
        keeps.unwrap_or(false)
    }

    fn restart(&mut self) -> Option<Box<dyn Strategy>> {
        let Guarded { search, caller, .. } = self;
        let again = caller.call_between("restart", || search.restart())??;
        Some(Box::new(Guarded::new(again, Arc::clone(&caller.watch))))
    }

    fn parallel(&mut self) -> Option<&mut dyn Parallel> {
        self.is_parallel |= self.of_parallel("parallel", |_| ()).is_some();
        // Also after an error: others wait for work until this worker has stopped them.
        match self.is_parallel {
            true => Some(self),
            false => None,
        }
    }

    fn partitioned(&mut self) -> Result<&mut dyn Partitioned, &'static str> {
        let Guarded { search, caller, .. } = self;
        let parts = caller.call_between("partitioned", || search.partitioned().map(|_| ()));
        match parts {
            Some(Ok(())) => Ok(self),
            Some(Err(why)) => Err(why),
            None => Err("it has failed"),
        }
    }

    fn resumable(&mut self) -> Option<&mut dyn Resumable> {
        self.prepares_before_save = self.of_resumable("resumable", |search| search.prepares_before_save())?;
        Some(self)
    }
}

impl Parallel for Guarded {
    fn split(&mut self) -> Box<dyn Strategy> {
        let share = self.of_parallel("split", |search| search.split());
        let share = share.unwrap_or_else(|| Box::new(Nothing));
        Box::new(Guarded::new(share, Arc::clone(&self.caller.watch)))
    }

    fn wait(&mut self) -> bool {
        if !self.caller.watch.has_failed()
            && let Some(more) = self.of_parallel("wait", |search| search.wait())
            && !self.caller.watch.has_failed()
        {
            return more;
        }
        // Another worker may wait for what this one no longer gives away.
        self.stop();
        false
    }

    fn idle(&mut self) -> Idle {
        self.of_parallel("idle", |search| search.idle())
            .unwrap_or(Idle::Over)
    }

    fn discard(&mut self) {
        self.of_parallel("discard", |search| search.discard());
    }

    fn stop(&mut self) {
        // Also after an error, for the sake of the others. A panic says nothing new then.
        let search = &mut *self.search;
        let stopped = panics::caught(|| {
            if let Some(search) = search.parallel() {
                search.stop();
            }
        });
        if let Err(panic) = stopped {
            self.caller.watch.fail(format!("panicked in `stop`, {panic}"));
        }
    }

    fn segment(&mut self) -> Option<SearchPosition> {
        self.of_parallel("segment", |search| search.segment()).flatten()
    }

    fn position(&mut self, choices: &[Choice]) -> SearchPosition {
        let position = self.of_parallel("position", |search| search.position(choices));
        position.unwrap_or_else(|| SearchPosition::of_choices(0, choices))
    }
}

impl Resumable for Guarded {
    fn prepares_before_save(&self) -> bool {
        self.prepares_before_save
    }

    fn save(&mut self, plan: &Plan) -> Option<String> {
        self.of_resumable("save", |search| search.save(plan)).flatten()
    }

    fn save_prepared(&mut self, plan: &Plan) -> Option<String> {
        self.of_resumable("save_prepared", |search| search.save_prepared(plan))
            .flatten()
    }

    fn save_shared(&mut self) -> Option<String> {
        self.of_resumable("save_shared", |search| search.save_shared())
            .flatten()
    }

    fn restore(&mut self, state: &SearchState) -> bool {
        self.of_resumable("restore", |search| search.restore(state))
            .unwrap_or(false)
    }
}

impl Partitioned for Guarded {
    fn keep_to(&mut self, partition: Partition) {
        self.of_partitioned("keep_to", |search| search.keep_to(partition));
    }

    fn is_here(&mut self, choices: &[Choice]) -> bool {
        self.of_partitioned("is_here", |search| search.is_here(choices))
            .unwrap_or(true)
    }

    fn is_elsewhere(&mut self, choices: &[Choice]) -> bool {
        self.of_partitioned("is_elsewhere", |search| search.is_elsewhere(choices))
            .unwrap_or(false)
    }
}

/// The share of a worker for which a search that failed made none.
struct Nothing;

impl Strategy for Nothing {
    fn next(&mut self, _: &mut Plan, _: &Trace) -> bool {
        false
    }

    fn choose(&mut self, _: &ChoicePoint<'_>) -> Option<u32> {
        None
    }

    fn coverage(&self, _: bool) -> Coverage {
        Coverage::stopped()
    }

    fn status(&self, _: &SoFar<'_>) -> Status {
        Status::named("nothing")
    }
}
