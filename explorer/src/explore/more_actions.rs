//! More searches of a test that was not written for intermezzo, in which the environment does more.
//!
//! In such a test, weak compare-exchanges do not fail without a reason, and no allocation gets the address of freed memory. With
//! these actions, there are many more executions, and few bugs need them. Those that do are hard to find in another way:
//! code that takes a failure for a changed value, and pointers that are equal although they point to something else (ABA).
//! So searches with these actions follow, one after the other, if the test has passed, created a task, and had an execution
//! in which the action was possible. Each has what the searches before it have left of the limits, and is short: it runs as
//! many executions as the first search, or [`EXECUTIONS_ALWAYS`] if that is more, and takes as long as all searches before
//! it, or [`TIME_ALWAYS`].
//!
//! A test of one task is left out: such tests say what data structures do when nothing else happens, and often take the success
//! of a weak exchange for granted.
//!
//! **Misses.** Both actions in one execution, these actions under a memory model, and time-outs that come early: a test's limit
//! of time is usually one that a real machine keeps.

use super::Explorer;
use crate::driver::{Exploration, ExploreError, limits_left};
use crate::report::{Action, Report};
use crate::settings::{Settings, StrategyKind};
use intermezzo_engine::environment::Environment;
use std::time::{Duration, Instant};

/// The number of executions that each search may run even if the first one ran fewer.
const EXECUTIONS_ALWAYS: u64 = 1_000;

/// The time that each search may take even if those before it took less.
const TIME_ALWAYS: Duration = Duration::from_secs(1);

/// The searches that may follow, in their order.
pub(super) struct MoreActions(Vec<(Action, Exploration)>);

impl MoreActions {
    /// Returns those of an explorer's search; none for a test that was written for intermezzo, if another search was requested,
    /// or if a monitor or a setting does not allow them.
    pub(super) fn of(explorer: &Explorer, program: &str, body: usize) -> MoreActions {
        let StrategyKind::Auto(options) = explorer.settings.strategy else {
            return MoreActions(Vec::new());
        };
        let environment = explorer.settings.environment;
        let weak_failures = Environment {
            weak_failures: options.weak_failures,
            ..environment
        };
        let address_reuse = Environment {
            address_reuse: options.address_reuse,
            ..environment
        };
        let all = [
            (
                Action::WeakFailure,
                weak_failures,
                environment.weak_failures == 0 && options.weak_failures > 0,
            ),
            (
                Action::AddressReuse,
                address_reuse,
                environment.address_reuse == 0 && options.address_reuse > 0,
            ),
        ];
        let wanted = all
            .into_iter()
            .filter(|(.., is_wanted)| *is_wanted && explorer.binary.is_unmodified());
        let searches = wanted.filter_map(|(action, environment, _)| {
            let settings = Settings {
                environment,
                checkpoint: None,
                ..explorer.settings.clone()
            };
            Some((action, explorer.again(settings)?.exploration(program, body)))
        });
        MoreActions(searches.collect())
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
        for (action, mut next) in self.0 {
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
            let setting = match action {
                Action::WeakFailure => format!("weak_failures={}", own.environment.weak_failures),
                Action::AddressReuse => format!("address_reuse={}", own.environment.address_reuse),
            };
            let next = next.run_apart(test)?;
            all += next.executions();
            if report.take_with_action(next, action, &setting) {
                *settings = own;
            }
        }
        Ok(())
    }
}
