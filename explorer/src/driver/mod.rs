//! The exploration: set up, run by one worker or several, and reported.

mod checkpoint;
mod cut_off;
mod error;
mod finding_set;
mod found;
mod log;
mod notes;
mod pace;
mod pause_barrier;
mod progress;
mod reporting;
mod running_guard;
mod shared;
mod span_totals;
mod worker_loop;

pub use checkpoint::{CheckpointError, CheckpointProblem};
pub use error::ExploreError;
pub(crate) use found::Decide;
pub use found::OnFound;
pub(crate) use progress::OnProgress;
pub use progress::Progress;
pub(crate) use shared::limits_left;

use crate::classify;
use crate::listening::{self, Listening};
use crate::report::source::Search;
use crate::report::{ReplayedBy, Report, TextStyle, names, replay_command};
use crate::settings::{Reduction, SettingError, Settings, SpinLoops, StrategyKind, search};
use checkpoint::{Checkpoint, CheckpointProblem as Problem, Ending, Identity, Restored};
use intermezzo_engine::memory_model::RaisedOrders;
use intermezzo_engine::runtime::{
    Abnormal, Emergency, Executor, Inspector, Limits, Listeners, Reported, crash, interrupt, journal, panics,
    take_charge,
};
use intermezzo_engine::schedule::{Premises, Schedule, TestBinary};
use intermezzo_engine::strategy::{Coverage, SoFar, Strategy};
use intermezzo_engine::trace::{Fingerprints, SoundReduction};
use intermezzo_sdk::{FindingKind, Interests, Monitor};
use intermezzo_search::Replay;
use intermezzo_search::classic::maple::Session;
use log::Log;
use reporting::Outcome;
use shared::{CheckpointWriter, End, Kind, Results, Shared, Workers};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use worker_loop::{Done, WorkerLoop};

/// An exploration that is set up and can run.
pub(crate) struct Exploration {
    pub(crate) settings: Settings,
    pub(crate) program: String,
    /// The package and the target that contain the test.
    pub(crate) binary: TestBinary,
    /// The arguments that a replay by the command line needs besides the token.
    pub(crate) replay_with: Vec<String>,
    /// The address of the test's code.
    pub(crate) body: usize,
    pub(crate) custom: Option<Box<dyn Strategy>>,
    /// The schedule to replay. With a custom search, only its premises are used.
    pub(crate) replay: Option<Schedule>,
    pub(crate) monitors: Vec<Listening>,
    pub(crate) progress: Option<OnProgress>,
    /// Decides about each failure, if it is set.
    pub(crate) decide: Option<Decide>,
    /// The kinds of findings that are no errors in this search, and are not reported.
    pub(crate) passes_over: Vec<FindingKind>,
    pub(crate) inspector: Option<Inspector>,
    /// The orderings that are raised under a memory model.
    pub(crate) raised: RaisedOrders,
    /// `true` if another exploration follows once orderings weaker than `SeqCst` were seen, for which a part of the limits
    /// is kept.
    pub(crate) is_followed: bool,
    /// The way in which source files are found, for monitors that ask for names.
    pub(crate) sources: Search,
}

fn refused(name: &str, problem: &str) -> ExploreError {
    ExploreError::Setting(SettingError::new(name, problem))
}

impl Exploration {
    /// Explores the test on a thread of its own, for two reasons. The stack of a task that crashed stays marked on its
    /// thread. And the test must not touch the caller's thread-locals.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub(crate) fn run_apart(self, test: &(dyn Fn() + Sync)) -> Result<Report, ExploreError> {
        let emergency = Arc::new(Emergency::default());
        let (settings, program, binary) = (self.settings.clone(), self.program.clone(), self.binary.clone());
        let replay_with = self.replay_with.clone();
        std::thread::scope(|scope| {
            let explorer = std::thread::Builder::new().name(self.program.clone());
            let run = explorer.spawn_scoped(scope, || {
                let _over = Over(&emergency);
                self.run(test, &emergency)
            });
            let run = run.expect("a thread for the exploration");
            emergency.wait(|trouble, executions| {
                shutdown_reports(
                    &settings,
                    (&program, &binary, replay_with.clone()),
                    trouble,
                    executions,
                )
            });
            match run.join() {
                Ok(report) => report,
                // A panic of the engine, a strategy or a monitor was not printed on its own thread.
                Err(panic) => match panic.downcast::<String>() {
                    Ok(text) => panic!("the exploration itself panicked: {text}"),
                    Err(panic) => match panic.downcast::<&str>() {
                        Ok(text) => panic!("the exploration itself panicked: {text}"),
                        Err(panic) => std::panic::resume_unwind(panic),
                    },
                },
            }
        })
    }

    /// Explores the test.
    ///
    /// # Errors
    /// If the settings contradict each other, or the checkpoint belongs to another search.
    fn run(mut self, test: &(dyn Fn() + Sync), emergency: &Arc<Emergency>) -> Result<Report, ExploreError> {
        let kind = self.kind();
        let jobs = self.settings.jobs;
        let mut sets = self.monitor_sets()?;
        if self.settings.environment.has_memory_model() {
            listening::check_stale_reads(&sets)?;
        }
        let observers = Observers::of(&sets[0], listening::telling_apart(&sets));
        let log = Log::open(&self.settings, &self.program).map_err(ExploreError::Setting)?;
        let reduction_note = self.without_reduction(kind, &observers);
        let iroots = match search::iroots(&self.settings).filter(|_| kind != Kind::Replay) {
            None => None,
            Some(options) => Some(Session::open(&options, &self.program).map_err(ExploreError::Memo)?),
        };
        if let Some(session) = &iroots {
            sets[0].push(session.observer());
        }
        let premises = match &self.replay {
            Some(schedule) => schedule.premises(),
            None => Premises {
                breakpoints: self.settings.breakpoints.clone(),
                ..Premises::default()
            },
        };
        take_charge();
        let mut strategy = self.strategy(iroots.as_ref());
        let settings = &self.settings;
        let asked = soundness_asked(settings, kind);
        let mut results = Results::new(settings, asked);
        let traces = Fingerprints::new(search::table_bytes(settings));
        let (keeping, restored) =
            open_checkpoint(settings, &self.program, self.body, &sets[0], &mut *strategy)?;
        let identity = match settings.partition.filter(|_| kind != Kind::Replay) {
            Some(partition) => Some((
                partition,
                identity("partition", settings, &self.program, self.body, &sets[0])?,
            )),
            None => None,
        };
        let mut ending = None;
        let mut before = Duration::ZERO;
        let by_turns = kind == Kind::OfSettings && settings.strategy.is_auto();
        let mut workers = Workers {
            alone: jobs == 1 || asked < SoundReduction::Caching || by_turns,
            several: jobs > 1,
        };
        if let (Some(keeping), Some(Restored { mut contents, state })) = (&keeping, restored) {
            let refused = |problem| ExploreError::Checkpoint(keeping.refused(problem));
            contents.take(&mut results, &traces).map_err(refused)?;
            (ending, before) = (contents.ending, contents.elapsed);
            workers.alone &= contents.alone;
            workers.several |= contents.several;
            if results.planned > asked {
                strategy = search::weaker(settings, results.planned, None, 0);
            }
            if !strategy.resumable().is_some_and(|search| search.restore(&state)) {
                return Err(refused(Problem::Unintelligible {
                    reason: "what is left of the search cannot be understood".into(),
                }));
            }
        }
        if let Some(log) = &log {
            let name = strategy.status(&SoFar::default()).name;
            log.say(format_args!("begins: search: {name}, workers: {jobs}"));
            sets = sets.into_iter().map(|set| log.timed(set)).collect();
        }
        let mut report = self.first_report(&*strategy, observers, reduction_note);
        report.earlier = before;
        let Exploration {
            settings,
            program,
            binary,
            progress,
            decide,
            passes_over,
            inspector,
            raised,
            is_followed,
            sources,
            ..
        } = self;
        let learns_races = settings.preempt_at_races
            && report.plain_accesses.watched
            && kind == Kind::OfSettings
            && settings.may_preempt_at_races().is_ok();
        let shares = shares(strategy, jobs);
        let mut shared = Shared::new(&settings, kind, workers, results, traces, before, keeping);
        shared.follows(is_followed);
        shared.progress = progress;
        shared.decide = decide;
        shared.passes_over = passes_over;
        shared.log = log;
        shared.raised = raised;
        shared.iroots.clone_from(&iroots);
        if let Some(ending) = ending {
            shared.end(End::ForGood(ending));
        }
        let _panics = panics::Guard::install();
        let _signals = crash::Guard::install();
        let _interrupts = interrupt::Guard::install();
        let (mut worker, done, shutdown_reports) = work(
            &shared,
            (&program, &binary, &sources),
            &premises,
            learns_races,
            shares,
            (sets, inspector),
            (test, emergency),
        );

        // If a weaker search took over at the end, the first worker may not have taken its share. The report is about
        // that search.
        if let Some((_, strategy, forgets_traces)) = shared.share_of_weaker(0) {
            if forgets_traces {
                shared.traces.clear();
            }
            worker.restart(strategy);
        }
        let elapsed = shared.elapsed();
        let ended = match shared.ended() {
            None if shared.narrowed() => Some(End::ForGood(Ending::Finding)),
            ended => ended,
        };
        // What is left of a search of long executions takes long to write.
        if ending.is_none() && shared.keeping.is_some() {
            let state = shared.shared(0, worker.strategy());
            shared.write(ended.and_then(End::for_good), state, elapsed);
        }
        let log = shared.log.take();
        log.iter()
            .for_each(|log| log.searched(&done, elapsed.saturating_sub(before)));
        let alone = shared.alone;
        let keeps_rest = shared.keeps_rest();
        let (results, traces, progress) = shared.into_books();
        // If several workers stopped at a finding, their executions beyond it are included.
        let measured = iroots.map(|session| session.close());
        let countable = alone || ended != Some(End::ForGood(Ending::Finding));
        let outcome = Outcome {
            settings: &settings,
            kind,
            ended,
            elapsed,
            books: results,
            done,
            traces: countable.then_some(traces),
            alone,
            progress,
            identity,
            keeps_rest,
        };
        outcome.settle(
            &mut report,
            &mut worker,
            shutdown_reports,
            (kind != Kind::Replay).then_some(&|| test()),
        );
        log.iter().for_each(|log| log.ends(&report));
        if let Some((iroots, problem)) = measured {
            report.iroots = Some(iroots);
            problem
                .iter()
                .for_each(|problem| report.note(&problem.to_string()));
        }
        Ok(report)
    }

    fn kind(&self) -> Kind {
        match (&self.replay, &self.custom) {
            (Some(_), _) => Kind::Replay,
            (None, Some(_)) => Kind::Custom,
            (None, None) => Kind::OfSettings,
        }
    }

    /// Makes the monitors of each worker.
    ///
    /// # Errors
    /// If there are several workers or a checkpoint, and one of the monitors cannot be created more than once.
    fn monitor_sets(&mut self) -> Result<Vec<Vec<Box<dyn Monitor>>>, ExploreError> {
        let jobs = self.settings.jobs;
        let name = if jobs > 1 { "jobs" } else { "checkpoint" };
        listening::monitors(
            std::mem::take(&mut self.monitors),
            jobs,
            self.settings.checkpoint.is_some(),
        )
        .map_err(|problem| refused(name, problem))
    }

    /// Turns the reduction off if a monitor distinguishes executions that the reduction treats as equal. Returns a note
    /// if it did.
    fn without_reduction(&mut self, kind: Kind, observers: &Observers) -> Option<String> {
        let monitor = observers.telling_apart.as_ref()?;
        if kind != Kind::OfSettings || self.settings.reduction_at_work() == Reduction::None {
            return None;
        }
        self.settings.reduction = Reduction::None;
        Some(format!(
            "reduction: off, because the monitor `{monitor}` distinguishes executions that it would treat as equal"
        ))
    }

    /// Returns the custom search, or makes the one that the settings or the replay ask for.
    fn strategy(&mut self, iroots: Option<&Session>) -> Box<dyn Strategy> {
        let settings = &self.settings;
        match (self.custom.take(), &self.replay, iroots) {
            (Some(custom), ..) => custom,
            (None, Some(schedule), _) => Box::new(match settings.execution_time {
                None => Replay::new(schedule.choices.clone()),
                // The clock ended the execution that was recorded, perhaps. This one ends by the clock, too.
                Some(_) => Replay::and_on(schedule.choices.clone()),
            }),
            (None, None, session) => match (&settings.strategy, session) {
                (StrategyKind::Maple(options), Some(session)) => {
                    session.strategy(settings.seed, options.attempts)
                }
                _ => search::strategy(settings),
            },
        }
    }

    /// Makes the report as it is before the first execution.
    fn first_report(&self, strategy: &dyn Strategy, observers: Observers, note: Option<String>) -> Report {
        let settings = &self.settings;
        let mut report = Report::new(
            (self.program.clone(), self.binary.clone()),
            settings.environment,
            strategy.status(&SoFar::default()).name,
            settings.seed,
        );
        report.replay_with.clone_from(&self.replay_with);
        report.plain_accesses.watched = watches_plain_memory(&observers.names, observers.hear_memory);
        report.monitors = observers.names;
        if let Some(note) = note {
            report.note(&note);
        }
        let Some(journal) = settings.journal.directory() else {
            return report;
        };
        if let Some(left) = journal::take_left(&journal, (&self.program, &self.binary)) {
            let token = left.schedule.token();
            let again = match self.binary.is_unmodified() {
                true => format!("`{}`", replay_command(&token, &self.replay_with)),
                false => format!("INTERMEZZO_REPLAY={token}"),
            };
            let how_far = match left.is_whole {
                true => "",
                false => " as far as it was kept",
            };
            report.note_for_good(&format!(
                "an earlier run of this test ended in the middle of an execution, as its process did: {again} runs that \
                 execution again{how_far}"
            ));
        }
        for damaged in journal::take_damaged(&journal) {
            report.note_for_good(&damaged.to_string());
        }
        report
    }
}

/// The properties of an exploration's monitors on which the search depends.
struct Observers {
    names: Vec<String>,
    /// `true` if one of them receives accesses to plain memory.
    hear_memory: bool,
    /// The monitor that distinguishes executions of one trace, if any.
    telling_apart: Option<String>,
}

impl Observers {
    fn of(monitors: &[Box<dyn Monitor>], telling_apart: Option<String>) -> Observers {
        let hears = |monitor: &dyn Monitor| monitor.interests().intersects(Interests::DATA_ACCESSES);
        Observers {
            names: monitors.iter().map(|monitor| monitor.name().to_owned()).collect(),
            hear_memory: monitors.iter().any(|monitor| hears(&**monitor)),
            telling_apart,
        }
    }
}

/// A guard that marks the exploration as ended when it is dropped.
struct Over<'e>(&'e Emergency);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.over();
    }
}

/// Returns the report of an exploration whose worker cannot continue. Only its last execution is known.
fn shutdown_reports(
    settings: &Settings,
    (program, binary, replay_with): (&str, &TestBinary, Vec<String>),
    trouble: Abnormal,
    executions: u64,
) -> String {
    let schedule = |choices, premises| settings.schedule((program, binary), choices, premises);
    let findings = classify::findings(trouble, &schedule);
    let strategy = search::strategy(settings).status(&SoFar::default()).name;
    let mut report = Report::new(
        (program.to_owned(), binary.clone()),
        settings.environment,
        strategy,
        settings.seed,
    );
    report.executions = executions;
    report.take_findings(findings);
    report.note(
        "the crash left the process's heap locked: this report is written by another thread, without figures, and \
         the process ends",
    );
    report.settle(Coverage::stopped(), 0, Duration::ZERO);
    report.replay_with = replay_with;
    let style = match binary.is_unmodified() {
        true => TextStyle::default().replayed_by(ReplayedBy::CommandLine),
        false => TextStyle::default(),
    };
    report.text(&style) + "\n"
}

/// Returns the reduction that the settings ask for, if they chose the search.
fn soundness_asked(settings: &Settings, kind: Kind) -> SoundReduction {
    let own = kind == Kind::OfSettings;
    match settings.reduction_at_work() {
        Reduction::Dpor if own && (settings.preemptions.is_none() || settings.tries_all_first()) => {
            SoundReduction::WakeupTrees
        }
        Reduction::Dpor | Reduction::SourceDpor if own => SoundReduction::SourceSets,
        _ => SoundReduction::Caching,
    }
}

/// Opens the checkpoint that the settings ask for, and returns it with its contents.
fn open_checkpoint(
    settings: &Settings,
    program: &str,
    body: usize,
    monitors: &[Box<dyn Monitor>],
    strategy: &mut dyn Strategy,
) -> Result<(Option<CheckpointWriter>, Option<Restored>), ExploreError> {
    let Some(path) = &settings.checkpoint else {
        return Ok((None, None));
    };
    assert!(
        strategy.resumable().is_some(),
        "searches that cannot be kept are refused"
    );
    let identity = identity("checkpoint", settings, program, body, monitors)?;
    let (checkpoint, restored) =
        Checkpoint::open(path, settings.checkpoint_every, &identity).map_err(ExploreError::Checkpoint)?;
    let keeping = CheckpointWriter::new(identity, checkpoint);
    Ok((Some(keeping), restored))
}

/// Returns the identity of the search. The setting of this name needs it.
fn identity(
    setting: &str,
    settings: &Settings,
    program: &str,
    body: usize,
    monitors: &[Box<dyn Monitor>],
) -> Result<Identity, ExploreError> {
    let names: Vec<String> = monitors.iter().map(|monitor| monitor.name().to_owned()).collect();
    Identity::new(program, body, settings, &names).map_err(|error| {
        refused(
            setting,
            &format!("the executable cannot be read ({error}), so it could not be checked that another search is the same"),
        )
    })
}

/// `true` if the monitor that finds data races is among these names. If no such monitor is known to the process,
/// `true` if any monitor receives memory accesses.
fn watches_plain_memory(names: &[String], any_hears: bool) -> bool {
    match crate::plugin::data_race() {
        Some(data_race) => names.iter().any(|name| name == data_race),
        None => any_hears,
    }
}

/// Splits the search into one share for each worker.
fn shares(mut strategy: Box<dyn Strategy>, jobs: usize) -> Vec<Box<dyn Strategy>> {
    let split = |_| {
        let search = strategy.parallel();
        search.expect("searches that cannot be split are refused").split()
    };
    let mut others: Vec<_> = (1..jobs).map(split).collect();
    let mut shares = vec![strategy];
    shares.append(&mut others);
    shares
}

/// Runs every worker: the first on this thread, the others on threads of their own. Returns the first worker's
/// executor, a summary of each worker, and the shutdown reports of the other workers' monitors.
///
/// All workers make the assumptions of `premises`. With `learns_races`, the places of races become schedule points.
/// Only the first worker's executions are probed.
fn work(
    common: &Shared<'_>,
    (program, binary, sources): (&str, &TestBinary, &Search),
    premises: &Premises,
    learns_races: bool,
    shares: Vec<Box<dyn Strategy>>,
    (sets, inspector): (Vec<Vec<Box<dyn Monitor>>>, Option<Inspector>),
    (test, emergency): (&(dyn Fn() + Sync), &Arc<Emergency>),
) -> (Executor, Vec<Done>, Vec<Reported>) {
    let settings = common.settings;
    let limits = Limits {
        steps: settings.steps,
        tasks: settings.tasks,
        stack_bytes: settings.stack_bytes,
        forgotten_bytes: settings.forgotten_bytes,
        fair_yields: settings.fair_yields,
        awaits: settings.spin_loops != SpinLoops::Run,
        deadlocks_allowed: settings.deadlocks_allowed,
        long_allowed: settings.long_allowed,
        reads_once: settings.reads_once,
        keeps_objects: settings.keeps_objects,
        unmodified: binary.is_unmodified(),
        is_program: binary.is_program(),
        every_operation: settings.every_operation,
        hang: settings.hang,
        execution: settings.execution_time,
    };
    let replays = common.kind == Kind::Replay;
    let assumes_loops = match replays {
        true => !premises.known_loops.is_empty(),
        false => settings.spin_loops == SpinLoops::Assume,
    };
    let inspector = Mutex::new(inspector);
    let shift = |number: usize, strategy: Box<dyn Strategy>, monitors: Vec<Box<dyn Monitor>>| {
        let compatible = monitors.iter().all(|monitor| monitor.reduction_compatible());
        let heeds_scope = strategy.needs().scope;
        let mut listeners = Listeners::new(monitors);
        listeners.read_names_by(Box::new(names::Reader::new(sources.clone())));
        let mut inspector = inspector.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(first) = inspector.take_if(|_| number == 0) {
            listeners.inspect(first);
        }
        drop(inspector);
        let asked = soundness_asked(settings, common.kind);
        // The executor is made for the search that was requested, even if a weaker one has taken over: this keeps the
        // fingerprints of executions as they were before.
        let (first, weaker) = match common.books().planned > asked {
            true => (search::strategy(settings), Some(strategy)),
            false => (strategy, None),
        };
        let mut worker = Executor::new(
            first,
            settings.environment,
            limits,
            assumes_loops.then(|| premises.known_loops.clone()),
            listeners,
        );
        worker.tell_crashes_to(emergency.clone());
        worker.raise(common.raised.clone());
        weaker.into_iter().for_each(|weaker| worker.restart(weaker));
        if replays {
            worker.assume(premises.clone());
        } else {
            let places = settings.schedule_points_at.clone();
            worker.data_points(places.and(premises.breakpoints.spots()), learns_races);
            worker.arm(premises.breakpoints.clone());
        }
        if heeds_scope {
            worker.scope(
                settings.preempt_in.clone(),
                settings.preempt_not_in.clone(),
                Box::new(names::Reader::new(sources.clone())),
            );
        }
        if settings.reduction == Reduction::OrderedAtomics && common.kind == Kind::OfSettings && compatible {
            let settings = settings.clone();
            worker.quiet_atomics(move || search::strategy(&settings));
        }
        WorkerLoop::new(common, (program, binary), number, worker, asked).run(&|| test())
    };
    let mut shifts = shares.into_iter().zip(sets).enumerate();
    let (_, (first, monitors)) = shifts.next().expect("there is a worker");
    std::thread::scope(|scope| {
        let spawn = |(number, (strategy, monitors))| {
            let thread = std::thread::Builder::new().name(program.to_owned());
            let run = move || {
                let (mut worker, done) = shift(number, strategy, monitors);
                (done, worker.shut_down())
            };
            thread.spawn_scoped(scope, run).expect("a thread for a worker")
        };
        let threads: Vec<_> = shifts.map(spawn).collect();
        let (worker, first) = shift(0, first, monitors);
        let (mut done, mut shutdown_reports) = (vec![first], Vec::new());
        let mut panic = None;
        for thread in threads {
            match thread.join() {
                Ok((one, said)) => {
                    done.push(one);
                    shutdown_reports.extend(said);
                }
                Err(payload) => panic = panic.or(Some(payload)),
            }
        }
        if let Some(payload) = panic {
            std::panic::resume_unwind(payload);
        }
        (worker, done, shutdown_reports)
    })
}
