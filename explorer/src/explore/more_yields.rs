//! More searches of a test that names none, for schedules that fair scheduling left out before.
//!
//! With fairness, a task that yields continues only after the tasks that could run have taken a step. A loop that tries
//! ten times, and then waits in another way, rarely makes that many attempts: a lock is free again after the few steps of a short
//! critical section. On real threads the loop may get there at any time. So after a search that is complete but for
//! fairness, the next one counts only every fourth yield of a task, and so on, up to the option `fair_yields` of
//! `auto`. Each allows more schedules than those before it, so its report replaces theirs. A search that a limit ends
//! is only noted.
//!
//! **Misses.** Schedules with still more yields, and all of this if the first search is not complete.

use super::Explorer;
use crate::driver::{Exploration, ExploreError, limits_left};
use crate::report::{Expected, Limit, Report};
use crate::settings::{Settings, StrategyKind};
use intermezzo_sdk::FindingKind;
use std::iter::successors;
use std::time::Instant;

/// The factor from one number of yields to the next.
const FACTOR: u32 = 4;

/// The searches that may follow, in their order.
pub(super) struct MoreYields(Vec<Exploration>);

impl MoreYields {
    /// Returns those of an explorer's search, of a test that expects this; none if another search was requested, or if a
    /// monitor or a setting does not allow them.
    pub(super) fn of(explorer: &Explorer, program: &str, body: usize, expected: &[Expected]) -> MoreYields {
        let StrategyKind::Auto(options) = explorer.settings.strategy else {
            return MoreYields(Vec::new());
        };
        let first = explorer.settings.fair_yields.max(1);
        let numbers = successors(Some(first), |number| number.checked_mul(FACTOR)).skip(1);
        let searches = numbers
            .take_while(|&number| number <= options.fair_yields.get())
            .map_while(|number| {
                let settings = Settings {
                    fair_yields: number,
                    checkpoint: None,
                    ..explorer.settings.clone()
                };
                let mut search = explorer.again(settings)?.exploration(program, body);
                // A loop may make more rounds without an error. A test that expects this shows it all the same.
                search.passes_over = vec![
                    FindingKind::Livelock,
                    FindingKind::StepLimit,
                    FindingKind::UnfairSpin,
                ];
                search
                    .passes_over
                    .retain(|kind| !expected.iter().any(|expected| expected.is_of(kind)));
                Some(search)
            });
        MoreYields(searches.collect())
    }

    /// Runs them after the first search has reported, as long as each is complete but for fairness. A search that is
    /// complete or finds an error replaces the report, and the settings by its own. `rest` is `true` if another search
    /// follows, and `began` the moment at which the first one began. Returns the number of executions of all searches,
    /// including the first.
    ///
    /// # Errors
    /// As the exploration.
    pub(super) fn run(
        self,
        report: &mut Report,
        settings: &mut Settings,
        rest: bool,
        began: Instant,
        test: &(dyn Fn() + Sync),
    ) -> Result<u64, ExploreError> {
        let mut all = report.executions();
        for mut next in self.0 {
            let is_fair = |limit: &Limit| matches!(limit, Limit::Fairness { .. });
            if !report.verdict.is_pass()
                || !report.is_complete_but_for_fairness()
                || !report.limits.iter().any(is_fair)
            {
                break;
            }
            let keeps_rest = rest && report.limits.iter().any(Limit::is_memory);
            let (executions, time) = limits_left(settings, all, report.elapsed_here(), keeps_rest);
            let own = next.settings.clone();
            if executions == Some(0) || time.is_some_and(|left| left.is_zero()) {
                report.note(&format!(
                    "with `fair_yields={}`, which leaves out fewer schedules, nothing was searched: the limits were used up",
                    own.fair_yields
                ));
                break;
            }
            (next.settings.executions, next.settings.time) = (executions, time);
            let progress = next.progress.take();
            next.progress = progress.map(|call| report.continues(call, all, began));
            let next = next.run_apart(test)?;
            all += next.executions();
            if !report.take_with_more_yields(next, own.fair_yields, settings.fair_yields) {
                break;
            }
            *settings = own;
        }
        Ok(all)
    }
}
