//! `loom::model`: runs a test once per schedule, and panics with the report if one fails.

use crate::lazy_static;
use intermezzo::sdk::FindingKind;
use intermezzo::{AutoOptions, Environment, Explorer, Finding, Reduction, Settings, StrategyKind, thread};
use std::num::NonZero;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// Runs the test once per schedule.
///
/// # Panics
/// If the test fails under some schedule, with a report that names it; or if a variable of the environment is
/// invalid.
pub fn model<F: Fn() + Sync + Send + 'static>(f: F) {
    Builder::new().check(f);
}

/// Settings of a model: loom's names. Those that have no meaning here are kept and ignored.
#[derive(Debug)]
#[non_exhaustive]
pub struct Builder {
    /// Ignored: there is no such limit.
    pub max_threads: usize,
    /// Steps of an execution: one that has more fails.
    pub max_branches: usize,
    /// Executions after which the search ends.
    pub max_permutations: Option<usize>,
    /// Time after which the search ends.
    pub max_duration: Option<Duration>,
    /// The maximum number of preemptions in an execution.
    pub preemption_bound: Option<usize>,
    /// The file in which the search is kept now and then, and from which it continues.
    pub checkpoint_file: Option<PathBuf>,
    /// Ignored: checkpoints are written by time.
    pub checkpoint_interval: usize,
    /// Ignored: all is explored, from the beginning.
    pub expect_explicit_explore: bool,
    /// Ignored: reports always have places.
    pub location: bool,
    /// Prints the number of executions at the end, and what they covered.
    pub log: bool,
}

/// Steps of an execution, unless set otherwise: intermezzo's own limit, because loom counts branches only.
const STEPS: usize = 20_000;

/// The time after which the search ends if neither it nor the number of executions is limited.
const TIME: Duration = Duration::from_secs(120);

/// The most executions under weak memory, which follow those with sequentially consistent memory: few, because they take
/// longer, and loom's users expect loom's times.
const WEAK_EXECUTIONS: NonZero<u64> = NonZero::new(256).unwrap();

/// Returns a variable of the environment, if it is set.
fn variable<T: FromStr>(name: &str) -> Option<T> {
    let text = std::env::var(name).ok()?;
    match text.parse() {
        Ok(value) => Some(value),
        Err(_) => panic!("{name}={text}: give a number"),
    }
}

impl Builder {
    /// Creates the settings that loom's environment variables give.
    ///
    /// # Panics
    /// If a variable is not a number.
    pub fn new() -> Builder {
        Builder {
            max_threads: crate::MAX_THREADS,
            max_branches: variable("LOOM_MAX_BRANCHES").unwrap_or(STEPS),
            max_permutations: variable("LOOM_MAX_PERMUTATIONS"),
            max_duration: variable("LOOM_MAX_DURATION").map(Duration::from_secs),
            preemption_bound: variable("LOOM_MAX_PREEMPTIONS"),
            checkpoint_file: std::env::var_os("LOOM_CHECKPOINT_FILE").map(PathBuf::from),
            checkpoint_interval: variable("LOOM_CHECKPOINT_INTERVAL").unwrap_or(20_000),
            expect_explicit_explore: false,
            location: std::env::var_os("LOOM_LOCATION").is_some(),
            log: std::env::var_os("LOOM_LOG").is_some(),
        }
    }

    /// Sets the file of checkpoints.
    pub fn checkpoint_file(&mut self, file: &str) -> &mut Builder {
        self.checkpoint_file = Some(file.into());
        self
    }

    /// Runs the test once per schedule, by partial-order reduction. intermezzo's environment variables override these
    /// settings.
    ///
    /// # Panics
    /// Like [`model`].
    pub fn check<F: Fn() + Sync + Send + 'static>(&self, f: F) {
        let settings = Settings {
            // Without the bound, a small test has fewer executions: all are run, if there are few.
            strategy: StrategyKind::Auto(AutoOptions {
                weak_executions: Some(WEAK_EXECUTIONS),
                // As in loom, a thread that yields lets the others go first.
                fair_yields: NonZero::<u32>::MIN,
                ..AutoOptions::DEFAULT
            }),
            reduction: Reduction::Dpor,
            preemptions: self
                .preemption_bound
                .map(|most| most.try_into().unwrap_or(u32::MAX)),
            executions: self.max_permutations.map(|most| most as u64),
            time: self
                .max_duration
                .or(self.max_permutations.is_none().then_some(TIME)),
            // In loom the end of the first thread is a branch as well.
            steps: self.max_branches.saturating_sub(1).max(1) as u64,
            // In loom a weak exchange never fails without cause, no wait ends early, and the first waiter is woken.
            environment: Environment::calm(),
            checkpoint: self.checkpoint_file.clone(),
            ..Settings::default()
        };
        // In loom the first thread has no name.
        thread::name_main(None);
        let report = Explorer::with_settings(settings)
            .program("loom::model")
            .with_variables()
            .unwrap_or_else(|error| panic!("{error}"))
            .try_explore(move || lazy_static::with_statics(&f))
            .unwrap_or_else(|error| panic!("{error}"));
        if self.log {
            #[allow(clippy::print_stdout, reason = "as loom's log does")]
            {
                let weak = report.weak_memory().map_or(0, |part| part.executions);
                println!("Completed in {} iterations", report.executions() + weak);
                if report.verdict().is_pass() {
                    println!("{report}");
                }
            }
        }
        // Reaching a limit that was requested is loom's way to end, and no failure.
        if report.verdict().is_fail() {
            let is_long = |finding: &Finding| finding.kind == FindingKind::StepLimit;
            match report.findings().iter().any(is_long) {
                true => panic!(
                    "the model exceeded its maximum number of branches, {} (`max_branches`, LOOM_MAX_BRANCHES)\n{report}",
                    self.max_branches
                ),
                false => panic!("{report}"),
            }
        }
    }
}

impl Default for Builder {
    fn default() -> Builder {
        Builder::new()
    }
}
