//! `shuttle::Runner`: runs a test under a scheduler.

use crate::clocks;
use crate::config::{Config, MaxSteps};
use crate::failure::fail;
use crate::scheduler::{Asked, Kind, Scheduler};
use crate::spans;
use crate::state::{self, Data, Noted};
use crate::teardown;
use intermezzo::{Environment, Explorer, Settings, Strategy, StrategyKind};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;
use tracing::subscriber::NoSubscriber;
use tracing::{dispatcher, info};

/// The name of the test in schedules: shuttle does not know it either.
const PROGRAM: &str = "shuttle";

/// The longest time that a task may do nothing visible. shuttle has no limit, but a task that waits for a lock of std that
/// another task holds would wait for ever.
const HANG: Duration = Duration::from_secs(60);

/// The most tasks of an execution. shuttle has no limit.
const TASKS: u32 = 1 << 16;

/// The interval of the yields that count for fairness. In shuttle a task that yields may continue at once, and a loop that
/// yields may run for ever.
const FAIR_YIELDS: u32 = 100;

/// The most rounds that destructors may wait in, by yielding, before a stack is unwound.
const PATIENCE: usize = 1_000;

/// The seed of environments, which schedules keep, that says that random numbers were the same in each execution. The tests
/// of shuttle take none from it.
const FIXED: u64 = 1;

/// Runs a test under a scheduler.
pub struct Runner<S: ?Sized + Scheduler> {
    config: Config,
    scheduler: Box<S>,
}

impl<S: Scheduler + 'static> Runner<S> {
    /// Returns a runner with this scheduler and these settings.
    pub fn new(scheduler: S, config: Config) -> Runner<S> {
        Runner {
            config,
            scheduler: Box::new(scheduler),
        }
    }

    /// Runs the test once per execution of the scheduler, and returns the number of executions. intermezzo's environment
    /// variables override the settings.
    ///
    /// # Panics
    /// If an execution fails: with the panic's own text, or with a description and the schedule. The report, with the
    /// schedule, is printed on stderr.
    #[track_caller]
    pub fn run<F: Fn() + Send + Sync + 'static>(self, f: F) -> usize {
        let patience = patience(self.config.max_steps);
        let search = self.scheduler.search().0;
        let needs_concurrency = matches!(
            &search,
            Kind::AskedOfSeveral
                | Kind::Ours {
                    kind: StrategyKind::Pct(_),
                    ..
                }
        );
        let dispatcher = dispatcher::get_default(Clone::clone);
        let explorer = explorer(&self.config, &search);
        let (explorer, data) = match search {
            Kind::Ours { data, .. } => (explorer, data),
            Kind::Replay(schedule) => {
                let data = match schedule.environment.seed {
                    FIXED => Data::fixed(),
                    _ => Data::Chosen,
                };
                (explorer.replay(*schedule), data)
            }
            Kind::Asked | Kind::AskedOfSeveral | Kind::Twice => {
                let asked = Asked::new(self.scheduler);
                (explorer.strategy(Strategy::custom(asked)), Data::Chosen)
            }
        };
        let noted = Arc::new(Noted::default());
        let has_subscriber = !dispatcher.is::<NoSubscriber>();
        let keeps_spans = has_subscriber && spans::are_logged();
        let records_steps = self.config.record_steps_in_span;
        let executions = AtomicUsize::new(0);
        let seen = noted.clone();
        let report = explorer
            .with_variables()
            .unwrap_or_else(|error| panic!("{error}"))
            .try_explore(|| {
                // Executions run on another thread.
                let _subscriber = has_subscriber.then(|| dispatcher::set_default(&dispatcher));
                if keeps_spans {
                    spans::begin(&dispatcher, executions.fetch_add(1, Relaxed), records_steps);
                }
                clocks::begin();
                state::begin(data.clone(), &seen);
                state::name_in_logs();
                if let Err(payload) = catch_unwind(AssertUnwindSafe(&f)) {
                    state::note_payload(&*payload);
                    resume_unwind(payload);
                }
                teardown::run(patience);
                state::note_end();
            })
            .unwrap_or_else(|error| panic!("{error}"));
        info!(target: "shuttle_engine::scheduler::metrics", iterations = report.executions(), "run finished");
        if report.verdict().is_fail() {
            fail(&report, &self.config, &noted);
        }
        assert!(
            noted.has_concurrency() || !needs_concurrency || report.executions() < 2,
            "test closure did not exercise any concurrency"
        );
        report.executions() as usize
    }
}

/// Returns the number of rounds that destructors may wait in, by yielding, before a stack is unwound. A loop must not reach
/// the limit of steps before.
fn patience(max_steps: MaxSteps) -> usize {
    match max_steps {
        MaxSteps::None => PATIENCE,
        MaxSteps::FailAfter(most) | MaxSteps::ContinueAfter(most) => PATIENCE.min(most / 16),
    }
}

/// Returns an explorer with these settings, for this search.
fn explorer(config: &Config, search: &Kind) -> Explorer {
    let mut settings = Settings {
        time: Some(config.max_time.unwrap_or(Duration::MAX)),
        // In shuttle a weak exchange never fails without cause, and no wait ends early; but any waiter is notified.
        environment: Environment {
            notify_any: true,
            ..Environment::calm()
        },
        tasks: TASKS,
        hang: Some(HANG),
        fair_yields: FAIR_YIELDS,
        // shuttle runs none after the one that fails.
        minimise: 0,
        as_found: true,
        reads_once: true,
        keeps_objects: matches!(search, Kind::Twice),
        long_allowed: matches!(config.max_steps, MaxSteps::ContinueAfter(_)),
        steps: match config.max_steps {
            MaxSteps::None => u64::MAX,
            // The beginning of the test's own body counts, too.
            MaxSteps::FailAfter(most) | MaxSteps::ContinueAfter(most) => (most as u64).saturating_sub(1),
        },
        ..Settings::default()
    };
    settings.stack_bytes = settings.stack_bytes.max(config.stack_size);
    settings
        .set("monitors", "none")
        .expect("no monitor is a list of monitors");
    if let Kind::Ours {
        kind,
        executions,
        seed,
        data,
    } = search
    {
        settings.strategy = kind.clone();
        settings.executions = executions.map(|most| most as u64);
        settings.seed = *seed;
        if let Data::Fixed(_) = data {
            settings.environment.seed = FIXED;
        }
    }
    let explorer = Explorer::with_settings(settings).program(PROGRAM);
    match clocks::ARE_KEPT {
        true => explorer.monitor_with(|| clocks::Listener),
        false => explorer,
    }
}

impl<S: ?Sized + Scheduler> fmt::Debug for Runner<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runner").finish_non_exhaustive()
    }
}
