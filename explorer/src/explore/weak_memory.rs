//! The second part of the search of a test that names none: the same search, under a memory model.
//!
//! The first part explores with sequentially consistent memory: it needs fewer executions, and a failure is simpler to
//! read. The second part follows if the test passed, and an execution had an operation on an atomic with an ordering weaker
//! than `SeqCst`. Without one, and without data races, all behaviours are sequentially consistent (Boehm and Adve,
//! "Foundations of the C++ Concurrency Memory Model", PLDI 2008).
//!
//! It runs at most as many executions as the first part, or [`EXECUTIONS_ALWAYS`] if that is more; or another number, if
//! the strategy has one (`weak_executions`). If no limit is set, it takes at most as long as the first part, or some seconds.

use super::Explorer;
use crate::driver::{Exploration, ExploreError, limits_left};
use crate::listening;
use crate::report::{Coverage, Limit, Report};
use crate::settings::{Settings, StrategyKind};
use intermezzo_engine::environment::Environment;
use std::num::NonZero;
use std::time::Instant;

/// The number of executions that the second part may run even if the first part ran fewer.
const EXECUTIONS_ALWAYS: u64 = 1_000;

/// The second part of a search.
pub(super) struct SecondPart {
    exploration: Exploration,
    /// The maximum number of executions that was requested; `None` for the usual number.
    most: Option<NonZero<u64>>,
}

impl SecondPart {
    /// Returns the second part of an explorer's search. Returns `None` if there is none: if another search was requested,
    /// if the first part has the memory model already, or if a setting or a monitor cannot be combined with one.
    pub(super) fn of(explorer: &mut Explorer, program: &str, body: usize) -> Option<SecondPart> {
        let StrategyKind::Auto(options) = explorer.settings.strategy else {
            return None;
        };
        let settings = Settings {
            environment: Environment {
                stale_reads: options.stale_reads,
                ..explorer.settings.environment
            },
            checkpoint: None,
            ..explorer.settings.clone()
        };
        if explorer.settings.environment.has_memory_model() || options.stale_reads == 0 {
            return None;
        }
        let second = explorer.again(settings)?;
        if !listening::follow_stale_reads(&second.monitors) {
            return None;
        }
        Some(SecondPart {
            exploration: second.exploration(program, body),
            most: options.weak_executions,
        })
    }

    /// Runs the second part after the first part has reported, if that leaves anything to explore. `before` is the number of
    /// executions so far, and `began` the moment at which the first part began. Adds its results. If it failed, the report is
    /// its own from now on, and so are the settings.
    ///
    /// # Errors
    /// As the exploration.
    pub(super) fn run(
        mut self,
        report: &mut Report,
        settings: &mut Settings,
        (before, began): (u64, Instant),
        test: &(dyn Fn() + Sync),
    ) -> Result<(), ExploreError> {
        if !report.verdict.is_pass() || !report.limits.iter().any(Limit::is_memory) {
            return Ok(());
        }
        let (executions, time) = limits_left(settings, before, report.elapsed_here(), false);
        let usual = report.executions.max(EXECUTIONS_ALWAYS);
        let most = self.most.map_or(usual, NonZero::get);
        let executions = executions.map_or(most, |left| left.min(most));
        if executions == 0 || time.is_some_and(|left| left.is_zero()) {
            return Ok(());
        }
        self.exploration.settings.executions = Some(executions);
        self.exploration.settings.time = time;
        self.exploration.settings.fair_yields = settings.fair_yields;
        let progress = self.exploration.progress.take();
        self.exploration.progress = progress.map(|call| report.continues(call, before, began));
        let own = self.exploration.settings.clone();
        let mut second = self.exploration.run_apart(test)?;
        // The user has set no such limit.
        if let Coverage::Bounded {
            reason: Some(reason), ..
        } = &mut second.coverage
            && second.executions == executions
            && (executions == most || settings.executions.is_none())
        {
            *reason = match self.most {
                Some(_) if executions == most => format!("the limit `weak_executions={most}` was reached"),
                _ => format!(
                    "{executions} executions were run; `stale_reads={}` in the `environment` explores further",
                    own.environment.stale_reads
                ),
            };
        }
        if report.take_second(second) {
            *settings = own;
        }
        Ok(())
    }
}
