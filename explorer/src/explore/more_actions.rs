//! More searches of a test that was not written for intermezzo, in which the environment does more.
//!
//! In such a test, weak compare-exchanges do not fail without a reason, no allocation gets the address of freed memory,
//! and waits with a limit of time do not end early. With these actions, there are many more executions, and few bugs
//! need them. Those that do are hard to find in another way: code that takes a failure for a changed value, pointers
//! that are equal although they point to something else (ABA), and a time-out that comes just when the wait would end.
//! So searches with these actions follow, one after the other, if the test has passed, created a task, and had an execution
//! in which the action was possible. Each has what the searches before it have left of the limits, and is short: it runs as
//! many executions as the first search, or [`EXECUTIONS_ALWAYS`] if that is more, and takes as long as all searches before
//! it, or [`TIME_ALWAYS`].
//!
//! A test of one task is left out: such tests say what data structures do when nothing else happens, and often take the success
//! of a weak exchange for granted.
//!
//! The limit of a wait in a test is usually one that a real machine keeps. So an error that needs an early time-out is a
//! warning, and the test passes.
//!
//! **Misses.** Two of these actions in one execution, and these actions under a memory model.

use super::Explorer;
use crate::driver::{Exploration, ExploreError, limits_left};
use crate::report::{Action, Report};
use crate::settings::{AutoOptions, Settings, StrategyKind};
use intermezzo_engine::environment::Environment;
use std::time::{Duration, Instant};

/// The number of executions that each search may run even if the first one ran fewer.
const EXECUTIONS_ALWAYS: u64 = 1_000;

/// The time that each search may take even if those before it took less.
const TIME_ALWAYS: Duration = Duration::from_secs(1);

/// The searches that may follow, in their order, each with its setting.
pub(super) struct MoreActions(Vec<(Action, String, Exploration)>);

/// Returns an action's bound in the search that follows, and that in an environment.
fn bounds<'a>(action: Action, options: &AutoOptions, environment: &'a mut Environment) -> (u32, &'a mut u32) {
    match action {
        Action::WeakFailure => (options.weak_failures, &mut environment.weak_failures),
        Action::AddressReuse => (options.address_reuse, &mut environment.address_reuse),
        Action::EarlyTimeout => (options.timeouts, &mut environment.timeouts),
    }
}

impl MoreActions {
    /// Returns those of an explorer's search; none for a test that was written for intermezzo, if another search was requested,
    /// or if a monitor or a setting does not allow them.
    pub(super) fn of(explorer: &Explorer, program: &str, body: usize) -> MoreActions {
        let StrategyKind::Auto(options) = explorer.settings.strategy else {
            return MoreActions(Vec::new());
        };
        if !explorer.binary.is_unmodified() {
            return MoreActions(Vec::new());
        }
        let mut searches = Vec::new();
        for action in Action::ALL {
            let mut settings = Settings {
                checkpoint: None,
                ..explorer.settings.clone()
            };
            let (wanted, bound) = bounds(action, &options, &mut settings.environment);
            if *bound > 0 || wanted == 0 {
                continue;
            }
            *bound = wanted;
            let setting = format!("{}={wanted}", action.setting());
            if let Some(again) = explorer.again(settings) {
                searches.push((action, setting, again.exploration(program, body)));
            }
        }
        MoreActions(searches)
    }

    /// Runs them after the other searches have reported, until one finds an error. That replaces the report, and the settings by
    /// its own. `before` is the number of executions so far, and `began` the moment at which the first search began.
    ///
    /// # Errors
    /// As the exploration.
    pub(super) fn run(
        self,
        report: &mut Report,
        settings: &mut Settings,
        (before, began): (u64, Instant),
        test: &(dyn Fn() + Sync),
    ) -> Result<(), ExploreError> {
        let weak_memory = report.weak_memory().map_or(0, |part| part.executions);
        let mut all = before + weak_memory;
        let mut possible: Vec<Action> = report.left_out().collect();
        let explored: Vec<Action> = self.0.iter().map(|(action, ..)| *action).collect();
        for (action, setting, mut next) in self.0 {
            if !report.verdict.is_pass() {
                break;
            }
            if !report.leaves_out(action) {
                continue;
            }
            let elapsed = report.elapsed_here();
            let (executions, time) = limits_left(settings, all, elapsed, false);
            let most = report.executions().max(EXECUTIONS_ALWAYS);
            let executions = executions.map_or(most, |left| left.min(most));
            let time = time.unwrap_or(Duration::MAX).min(elapsed.max(TIME_ALWAYS));
            if executions == 0 || settings.time.is_some_and(|most| most <= elapsed) {
                break;
            }
            (next.settings.executions, next.settings.time) = (Some(executions), Some(time));
            next.settings.fair_yields = settings.fair_yields;
            let progress = next.progress.take();
            next.progress = progress.map(|call| report.continues(call, all, began));
            let own = next.settings.clone();
            let next = next.run_apart(test)?;
            all += next.executions();
            possible.extend(next.left_out());
            if report.take_with_action(next, action, &setting) {
                *settings = own;
            }
        }
        if report.verdict.is_pass() {
            possible.retain(|action| explored.contains(action));
            report.note_apart(&possible);
        }
        Ok(())
    }
}
