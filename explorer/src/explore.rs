//! The explorer: the builder that sets up an exploration call by call.

mod deterministic;
mod limits;
mod more_actions;
mod more_yields;
mod run;
mod strategy;
mod weak_memory;
#[cfg(feature = "all-searches")]
mod within;

pub use strategy::Strategy;
#[cfg(feature = "all-searches")]
pub use within::Within;

use crate::driver::{Decide, ExploreError, OnFound, OnProgress, Progress};
use crate::listening::Listening;
use crate::plugin::{self, ByName};
use crate::recording;
use crate::report::source::Search;
use crate::report::{Expected, Finding, Report};
use crate::settings::{Reduction, Settings, variables};
use crate::stop_before::{StopPoint, Stopped, Stopper};
use intermezzo_breakpoint::Armings;
use intermezzo_engine::environment::Environment;
use intermezzo_engine::runtime::{Inspection, Inspector};
use intermezzo_engine::schedule::{Schedule, TestBinary};
use intermezzo_engine::serial;
use intermezzo_sdk::{EventId, Monitor};
use intermezzo_search as search;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use strategy::Chosen;

/// Explores the executions of a test.
///
/// ```
/// # use intermezzo_explorer as intermezzo;
/// use intermezzo::{Explorer, sync::atomic::{AtomicUsize, Ordering::SeqCst}, thread};
///
/// let report = Explorer::new().explore(|| {
///     let n = AtomicUsize::new(0);
///     thread::scope(|s| {
///         s.spawn(|| n.store(n.load(SeqCst) + 1, SeqCst));
///         s.spawn(|| n.store(n.load(SeqCst) + 1, SeqCst));
///     });
///     assert_eq!(n.load(SeqCst), 2);
/// });
/// assert!(report.verdict().is_fail(), "{report}");
/// assert_eq!(report.findings()[0].kind.as_str(), "assertion");
/// ```
#[must_use = "an explorer does nothing until `explore` is called"]
#[derive(Default)]
pub struct Explorer {
    settings: Settings,
    program: Option<String>,
    binary: TestBinary,
    /// The arguments that a replay by the command line needs besides the token.
    replay_with: Vec<String>,
    custom: Option<Box<dyn search::Strategy>>,
    replay: Option<Schedule>,
    monitors: Vec<Listening>,
    known: plugin::NamedMonitors,
    progress: Option<OnProgress>,
    decide: Option<Decide>,
    inspector: Option<Inspector>,
    reports: Option<PathBuf>,
    checkpoints: Option<PathBuf>,
    record: bool,
    /// The monitor that stops a replay, if it is to stop.
    stopper: Option<Stopper>,
    expected: Vec<Expected>,
    sources: Option<Search>,
    /// `true` if the test notes what it returns, which has to be the same in every execution.
    deterministic: bool,
}

impl Explorer {
    /// Returns an explorer that searches depth-first, without bounds, up to the first finding. Limits: 20,000 steps per
    /// execution, and two minutes unless [`executions`](Explorer::executions) or [`time`](Explorer::time) is set.
    pub fn new() -> Explorer {
        Explorer::default()
    }

    /// Returns an explorer with these settings.
    pub fn with_settings(settings: Settings) -> Explorer {
        Explorer {
            settings,
            ..Explorer::default()
        }
    }

    /// Sets the settings for which there are environment variables, named `INTERMEZZO_` and the setting's name in capitals.
    ///
    /// Further variables: `INTERMEZZO_REPLAY`, a schedule to replay, as a token or a file; `INTERMEZZO_REPORTS`, a directory
    /// for a file with the report in its JSON form; `INTERMEZZO_CHECKPOINTS`, a directory in which each test has a
    /// checkpoint of its own, if none is set for it; and `INTERMEZZO_RECORD`, with any value, to
    /// [`record`](Explorer::record).
    ///
    /// # Errors
    /// If a value does not fit its setting, or is no schedule.
    pub fn with_variables(mut self) -> Result<Explorer, Box<dyn std::error::Error + Send + Sync>> {
        self.settings.override_from_environment()?;
        #[cfg(not(feature = "files"))]
        for variable in [
            "INTERMEZZO_REPORTS",
            "INTERMEZZO_CHECKPOINTS",
            "INTERMEZZO_RECORD",
        ] {
            if std::env::var_os(variable).is_some() {
                return Err(format!("{variable}: {}", serial::NO_FILES).into());
            }
        }
        if let Some(directory) = std::env::var_os("INTERMEZZO_REPORTS") {
            self.reports = Some(directory.into());
        }
        if let Some(directory) = std::env::var_os("INTERMEZZO_CHECKPOINTS") {
            self.checkpoints = Some(directory.into());
        }
        self.record |= std::env::var_os("INTERMEZZO_RECORD").is_some();
        if let Ok(words) = std::env::var(variables::REPLAY_WITH) {
            let words = serial::from_str(&words);
            self.replay_with = words.map_err(|error| format!("{}: {error}", variables::REPLAY_WITH))?;
        }
        match std::env::var("INTERMEZZO_REPLAY") {
            Ok(schedule) => match Schedule::parse(&schedule) {
                Ok(schedule) => Ok(self.replay(schedule)),
                Err(error) => Err(format!("INTERMEZZO_REPLAY: {error}").into()),
            },
            Err(_) => Ok(self),
        }
    }

    /// Sets the test's name in reports and schedules. Default: the path of the closure that is explored.
    ///
    /// ```
    /// # use intermezzo_explorer as intermezzo;
    /// use intermezzo::Explorer;
    ///
    /// let report = Explorer::new().program("queue::tests::push").explore(|| {});
    /// assert_eq!(report.program(), "queue::tests::push");
    /// ```
    pub fn program(mut self, name: impl Into<String>) -> Explorer {
        self.program = Some(name.into());
        self
    }

    /// Sets the package and the target of the test. Schedules carry them, because several may have tests of one name.
    /// Default: unknown.
    pub fn binary(mut self, binary: TestBinary) -> Explorer {
        self.binary = binary;
        self
    }

    /// Sets the places to look for source files, which have the names of variables. Default: the current directory, and
    /// those above it.
    ///
    /// ```
    /// # use intermezzo_explorer as intermezzo;
    /// use intermezzo::{Explorer, report::source::Search};
    ///
    /// let package = Search::of_package(env!("CARGO_MANIFEST_DIR").as_ref(), file!());
    /// let report = Explorer::new().sources(package).explore(|| {});
    /// assert!(report.verdict().is_pass());
    /// ```
    pub fn sources(mut self, sources: Search) -> Explorer {
        self.sources = Some(sources);
        self
    }

    /// Sets a setting by its name, as attributes and environment variables do: the one way for settings without a method of
    /// their own. [`Settings::all`] lists them. A value of a setting with members changes only what it names.
    ///
    /// ```
    /// # use intermezzo_explorer as intermezzo;
    /// use intermezzo::Explorer;
    ///
    /// let explorer = Explorer::new()
    ///     .set("strategy", "dfs(delays=2)")
    ///     .set("environment", "spurious_wakeups=2")
    ///     .set("stack", 1 << 20);
    /// ```
    ///
    /// # Panics
    /// If there is no such setting, or the value does not fit.
    #[track_caller]
    pub fn set(mut self, name: &str, value: impl ToString) -> Explorer {
        if name == "strategy" {
            self.custom = None;
        }
        if let Err(error) = self.settings.set(name, &value.to_string()) {
            panic!("{error}");
        }
        self
    }

    /// Sets the search to run. Default: depth-first.
    ///
    /// ```
    /// # use intermezzo_explorer as intermezzo;
    /// use intermezzo::{Coverage, Explorer, Strategy};
    ///
    /// let report = Explorer::new().strategy(Strategy::random()).executions(10).explore(|| {});
    /// assert_eq!(report.coverage(), &Coverage::Sampled { executions: 10 });
    /// ```
    pub fn strategy(mut self, strategy: Strategy) -> Explorer {
        self.custom = None;
        match strategy.0 {
            Chosen::Kind(kind) => self.settings.strategy = kind,
            Chosen::Custom(custom) => self.custom = Some(custom),
        }
        self
    }

    /// Sets the method of leaving out executions that show nothing new. Default: with [`Strategy::auto`] the strongest sound
    /// reduction; with any other strategy none, so that every schedule is run.
    ///
    /// ```
    /// # use intermezzo_explorer as intermezzo;
    /// use intermezzo::{Coverage, Explorer, Reduction};
    ///
    /// let report = Explorer::new().reduction(Reduction::Dpor).explore(|| {});
    /// assert_eq!((report.reduction(), report.coverage()), ("dpor", &Coverage::Exhaustive));
    /// ```
    pub fn reduction(mut self, reduction: Reduction) -> Explorer {
        self.settings.reduction = reduction;
        self
    }

    /// Arms breakpoints: `.breakpoints("lost-update".parse()?)`. A task that reaches one continues when its partner has
    /// reached it, or no other task can continue. Default: none is armed, whatever the environment arms outside
    /// explorations.
    pub fn breakpoints(mut self, armings: Armings) -> Explorer {
        self.settings.breakpoints = armings;
        self
    }

    /// Sets the seed of the search's own randomness; a search that draws executions begins with its first. Default: 0.
    ///
    /// ```
    /// # use intermezzo_explorer as intermezzo;
    /// use intermezzo::{Explorer, Strategy};
    ///
    /// let first = |seed| {
    ///     let explorer = Explorer::new().strategy(Strategy::random()).seed(seed).executions(100);
    ///     explorer.explore(|| assert_ne!(intermezzo::choose(10), 7)).first_failure()
    /// };
    /// assert_eq!(first(3), first(3));
    /// ```
    pub fn seed(mut self, seed: u64) -> Explorer {
        (self.settings.seed, self.settings.first_execution) = (seed, None);
        self
    }

    /// Sets the possible actions of the environment.
    pub fn environment(mut self, environment: Environment) -> Explorer {
        self.settings.environment = environment;
        self
    }

    /// Attaches a monitor. Monitors are called in the order in which they were attached.
    pub fn monitor(mut self, monitor: impl Monitor + 'static) -> Explorer {
        self.monitors.push(Listening::One(Box::new(monitor)));
        self
    }

    /// Attaches a monitor of which each worker gets one of its own. It must judge each execution by itself, because it is
    /// told of some only, and counts those from 1.
    pub fn monitor_with<M: Monitor + 'static>(
        mut self,
        make: impl Fn() -> M + Send + Sync + 'static,
    ) -> Explorer {
        self.monitors
            .push(Listening::Each(Arc::new(move || Box::new(make()))));
        self
    }

    /// Sets the monitors that [`Settings::monitors`] may name, and their names. Other names are those of plugins, by name or
    /// path (see [`Plugin::find`](crate::Plugin::find)). Each worker gets monitors of its own, as with
    /// [`Explorer::monitor_with`]. Default: plugins only.
    pub fn monitors_by_name(
        mut self,
        by_name: ByName,
        names: impl IntoIterator<Item = &'static str>,
    ) -> Explorer {
        self.known.by_name = Some(by_name);
        self.known.names = names.into_iter().collect();
        self
    }

    /// Changes which monitors are on, as the setting `monitors` does: a list separated by `;`, in which a name adds a
    /// monitor, `-NAME` removes one of the defaults, and `none` removes all. Default: those that were
    /// [brought](crate::bring_monitors): `data-race`, `leak` and `misuse`, if the crate `intermezzo` is part of the program.
    ///
    /// # Panics
    /// If the list is invalid.
    pub fn monitors(self, list: &str) -> Explorer {
        self.set("monitors", list)
    }

    /// Calls this now and then while the exploration runs, on the thread of one of its workers.
    pub fn on_progress(mut self, call: impl FnMut(&Progress) + Send + 'static) -> Explorer {
        self.progress = Some(Arc::new(Mutex::new(call)));
        self
    }

    /// Decides about each failure when it is found, once for each execution that shows it: the search continues or ends, or
    /// the failure is settled and not reported. It sets [`keep_going`](Explorer::keep_going). Warnings are not asked about.
    /// Of several workers one asks at a time, in no fixed order.
    ///
    /// ```
    /// # use intermezzo_explorer as intermezzo;
    /// use intermezzo::{Explorer, OnFound};
    ///
    /// // Nothing but an index out of bounds is of interest.
    /// let report = Explorer::new()
    ///     .on_finding(|finding| match finding.message.contains("out of bounds") {
    ///         true => OnFound::Stop,
    ///         false => OnFound::Settle,
    ///     })
    ///     .explore(|| _ = [7, 8][intermezzo::choose(9)] / intermezzo::choose(2));
    /// assert_eq!(report.findings().len(), 1);
    /// ```
    pub fn on_finding(mut self, decide: impl FnMut(&Finding) -> OnFound + Send + 'static) -> Explorer {
        self.decide = Some(Arc::new(Mutex::new(decide)));
        self.keep_going(true)
    }

    /// Looks at the test's objects right after each visible operation, on the task that performed it, and passes on the event
    /// and the text of `look`. It is meant for replays: of several workers, only the first one's executions are looked at.
    ///
    /// `look` is no part of the execution: its operations on look-alikes happen at once, unrecorded, without schedule points
    /// and choices. It must only read, because a change that it makes lasts. An operation that would wait, such as locking
    /// a held lock, ends the look, and [`Inspection::Locked`] is passed on.
    pub fn inspect(
        mut self,
        look: impl FnMut() -> String + Send + 'static,
        tell: impl FnMut(EventId, Inspection) + Send + 'static,
    ) -> Explorer {
        self.inspector = Some(Inspector {
            look: Box::new(look),
            tell: Box::new(tell),
        });
        self
    }

    /// Adds recordings to the report: of each finding its execution, event by event, and the nearest execution found that
    /// passes (see [`Report::recordings`]). This takes more executions of the test after the search, up to some hundred for
    /// each finding, which are not counted. Default: none.
    ///
    /// ```
    /// # use intermezzo_explorer as intermezzo;
    /// use intermezzo::Explorer;
    ///
    /// let report = Explorer::new().record(true).explore(|| assert_eq!(intermezzo::choose(2), 0));
    /// assert_eq!(report.recordings().len(), 1);
    /// ```
    pub fn record(mut self, on: bool) -> Explorer {
        self.record = on;
        self
    }

    /// Runs only the execution of this schedule, with the environment, the limit on steps and the treatment of waiting loops
    /// under which it was found. The monitors that it names are attached, and after them those of [`Settings::monitors`]
    /// that it does not name.
    ///
    /// ```
    /// # use intermezzo_explorer as intermezzo;
    /// use intermezzo::Explorer;
    ///
    /// let test = || assert_eq!(intermezzo::choose(4), 0);
    /// let found = Explorer::new().explore(test);
    /// let schedule = found.findings()[0].schedule.clone();
    /// let again = Explorer::new().replay(schedule).explore(test);
    /// assert_eq!((again.executions(), again.findings().len()), (1, 1));
    /// ```
    pub fn replay(mut self, schedule: Schedule) -> Explorer {
        recording::settings_of_replay(&mut self.settings, &schedule);
        self.replay = Some(schedule);
        self
    }

    /// Calls this right before a step of the execution that is replayed, on the task's own stack; then the replay
    /// continues. Without [`replay`](Explorer::replay) nothing is stopped.
    ///
    /// ```
    /// # use intermezzo_explorer as intermezzo;
    /// use intermezzo::{Explorer, sync::atomic::{AtomicU32, Ordering::SeqCst}};
    ///
    /// let test = || assert_eq!(AtomicU32::new(0).swap(1, SeqCst), 1);
    /// let schedule = Explorer::new().explore(test).findings()[0].schedule.clone();
    /// let seen = |stopped: &intermezzo::Stopped| assert!(stopped.next.contains("swap"), "{stopped}");
    /// Explorer::new().replay(schedule).stop_before("main step 2".parse().unwrap(), seen).explore(test);
    /// ```
    pub fn stop_before(mut self, at: StopPoint, call: impl FnMut(&Stopped) + Send + 'static) -> Explorer {
        self.stopper = Some(Stopper::new(at, Box::new(call)));
        self
    }

    /// Explores the test.
    ///
    /// The test is run once per execution, always from the same state: what it shares with other
    /// executions must not change. It runs on a thread of its own, with its tasks on small stacks.
    ///
    /// ```
    /// # use intermezzo_explorer as intermezzo;
    /// use intermezzo::Explorer;
    ///
    /// let report = Explorer::new().explore(|| assert!(intermezzo::choose(3) < 2));
    /// assert!(report.verdict().is_fail());
    /// ```
    ///
    /// # Panics
    /// If the schedule to replay is of another test, settings do not go together, or a search of your own does what
    /// none may: use [`Explorer::try_explore`] where that may be.
    pub fn explore<F: Fn() + Send + Sync>(self, test: F) -> Report {
        self.try_explore(test).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Explores the test, as [`Explorer::explore`] does.
    ///
    /// ```
    /// # use intermezzo_explorer as intermezzo;
    /// use intermezzo::{Explorer, Reduction, Strategy};
    ///
    /// // A reduction needs a search that follows its plan.
    /// let refused = Explorer::new().strategy(Strategy::random()).reduction(Reduction::Dpor).try_explore(|| {});
    /// assert!(refused.is_err());
    /// ```
    ///
    /// # Errors
    /// If the schedule to replay is of another test, or settings do not go together. Or the search is your own, and
    /// panics, or chooses an alternative that there is not: then the test is not judged.
    pub fn try_explore<F: Fn() + Send + Sync>(mut self, test: F) -> Result<Report, ExploreError> {
        let program = self.program.take().unwrap_or_else(name_of::<F>);
        self.explore_body(program, call::<F> as *const () as usize, &|| call(&test))
    }
}

/// Returns the path of a closure, as the name of a test that has no other.
fn name_of<F>() -> String {
    std::any::type_name::<F>().replace("::{{closure}}", "")
}

/// Calls the test: its address tells tests apart that have the same name.
#[inline(never)]
fn call<F: Fn()>(test: &F) {
    test();
}
