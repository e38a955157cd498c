//! The exploration: set up, run by one worker or several, and reported.

mod checkpoint;
mod error;
mod finding_set;
mod notes;
mod pause_barrier;
mod progress;
mod reporting;
mod shared;
mod span_totals;
mod worker_loop;

pub use checkpoint::{CheckpointError, CheckpointProblem};
pub use error::ExploreError;
pub(crate) use progress::OnProgress;
pub use progress::Progress;

use crate::classify;
use crate::listening::{self, Listening};
use crate::report::Report;
use crate::settings::{Reduction, SettingError, Settings, StrategyKind, search};
use checkpoint::{Checkpoint, CheckpointProblem as Problem, Ending, Identity, Restored};
use finding_set::FindingSet;
use intermezzo_breakpoint::Armings;
use intermezzo_engine::runtime::{
    Abnormal, Emergency, Executor, Glancing, Limits, Listeners, Reported, crash, interrupt, journal, panics,
    take_charge,
};
use intermezzo_engine::schedule::{Schedule, TestBinary};
use intermezzo_engine::strategy::{Coverage, SoFar, Strategy};
use intermezzo_engine::trace::{Fingerprints, SoundReduction};
use intermezzo_sdk::{Interests, Monitor};
use intermezzo_search::Replay;
use intermezzo_search::classic::maple::Session;
use reporting::Outcome;
use shared::{CheckpointWriter, End, Results, Shared, WorkerState};
use span_totals::SpanTotals;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use worker_loop::{Done, WorkerLoop};

/// An exploration, set up.
pub(crate) struct Exploration {
    pub(crate) settings: Settings,
    pub(crate) program: String,
    /// The package and the target that it is in.
    pub(crate) binary: TestBinary,
    /// The address of the test's code.
    pub(crate) body: usize,
    pub(crate) custom: Option<Box<dyn Strategy>>,
    /// With a custom search beside it, only what the schedule takes for granted is from there.
    pub(crate) replay: Option<Schedule>,
    pub(crate) monitors: Vec<Listening>,
    pub(crate) progress: Option<OnProgress>,
    pub(crate) glancing: Option<Glancing>,
}

fn refused(name: &str, problem: &str) -> ExploreError {
    ExploreError::Setting(SettingError {
        name: name.into(),
        problem: problem.into(),
    })
}

impl Exploration {
    /// Explores the test, on a thread of its own: the stack of a task that crashed stays marked on its thread, and the
    /// caller's thread-locals are none of the test's business.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub(crate) fn run_apart(self, test: &(dyn Fn() + Sync)) -> Result<Report, ExploreError> {
        let emergency = Arc::new(Emergency::default());
        let (settings, program, binary) = (self.settings.clone(), self.program.clone(), self.binary.clone());
        std::thread::scope(|scope| {
            let explorer = std::thread::Builder::new().name(self.program.clone());
            let run = explorer.spawn_scoped(scope, || {
                let _over = Over(&emergency);
                self.run(test, &emergency)
            });
            let run = run.expect("a thread for the exploration");
            emergency.wait(|trouble, executions| {
                shutdown_reports(&settings, (&program, &binary), trouble, executions)
            });
            match run.join() {
                Ok(report) => report,
                // What the engine, a strategy or a monitor panicked with was not printed on its thread.
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
    /// Settings do not go together, or the checkpoint is none of this search.
    fn run(self, test: &(dyn Fn() + Sync), emergency: &Arc<Emergency>) -> Result<Report, ExploreError> {
        let Exploration {
            mut settings,
            program,
            binary,
            body,
            custom,
            replay,
            monitors,
            progress,
            glancing,
        } = self;
        let replaying = replay.is_some();
        let jobs = settings.jobs;
        let own = !replaying && custom.is_none();
        let name = if jobs > 1 { "jobs" } else { "checkpoint" };
        let mut sets = listening::monitors(monitors, jobs, settings.checkpoint.is_some())
            .map_err(|problem| refused(name, problem))?;
        let telling_apart = listening::telling_apart(&sets);
        let listens_to_memory = sets[0]
            .iter()
            .any(|monitor| monitor.interests().intersects(Interests::DATA_ACCESSES));
        let names: Vec<String> = sets[0].iter().map(|monitor| monitor.name().to_owned()).collect();
        let mut reduction_note = None;
        if own
            && settings.reduction_at_work() != Reduction::None
            && let Some(monitor) = &telling_apart
        {
            reduction_note = Some(format!(
                "reduction: off, for the monitor `{monitor}` tells apart executions that it would take for the same"
            ));
            settings.reduction = Reduction::None;
        }
        let iroots = match search::iroots(&settings).filter(|_| !replaying) {
            None => None,
            Some(options) => Some(Session::open(&options, &program).map_err(ExploreError::Memo)?),
        };
        if let Some(session) = &iroots {
            sets[0].push(session.observer());
        }
        let known_loops = match &replay {
            Some(schedule) => Some(schedule.known_loops.clone()).filter(|known| !known.is_empty()),
            None => settings.assume_awaits.then(Vec::new),
        };
        let data_points = replay
            .as_ref()
            .map_or(Vec::new(), |schedule| schedule.data_points.clone());
        let armings = match &replay {
            Some(schedule) => schedule.breakpoints.clone(),
            None => settings.breakpoints.clone(),
        };
        take_charge();
        let mut strategy = match (replay, custom, &iroots) {
            (_, Some(custom), _) => custom,
            (Some(schedule), None, _) => Box::new(Replay::new(schedule.choices)),
            (None, None, Some(session)) if settings.strategy == StrategyKind::Coverage => {
                session.strategy(settings.seed, settings.iroot_attempts)
            }
            (None, None, _) => search::strategy(&settings),
        };

        let asked = suits_asked(&settings, own);
        let mut books = Results {
            planned: asked,
            ledger: SpanTotals::default(),
            catalogue: FindingSet::new(!settings.keep_going),
            places: Vec::new(),
            touchers: BTreeSet::new(),
            gave_way: None,
            redundant: 0,
            unfitted: None,
            at_hand: vec![WorkerState::default(); jobs],
            checkpoint_problem: None,
        };
        let traces = Fingerprints::new(search::table_bytes(&settings));
        let (keeping, restored) = open_checkpoint(&settings, &program, body, &sets[0], &mut *strategy)?;
        let mut ending = None;
        let mut before = Duration::ZERO;
        let by_turns = own && settings.strategy == StrategyKind::Auto;
        let mut alone = jobs == 1 || asked < SoundReduction::Caching || by_turns;
        let mut several = jobs > 1;
        if let (Some(keeping), Some(Restored { mut contents, state })) = (&keeping, restored) {
            let refused = |problem| ExploreError::Checkpoint(keeping.refused(problem));
            contents.take(&mut books, &traces).map_err(refused)?;
            (ending, before) = (contents.ending, contents.elapsed);
            alone &= contents.alone;
            several |= contents.several;
            if books.planned > asked {
                strategy = search::weaker(&settings, books.planned, 0);
            }
            if !strategy.resumable().is_some_and(|search| search.restore(&state)) {
                return Err(refused(Problem::Unintelligible {
                    reason: "what is left of the search cannot be understood".into(),
                }));
            }
        }
        let mut report = Report::new(
            (program.clone(), binary.clone()),
            settings.environment,
            strategy.status(&SoFar::default()).name,
            settings.seed,
        );
        report.plain_accesses.watched = watches_plain_memory(&names, listens_to_memory);
        report.monitors = names;
        let learns = settings.preempt_at_races && report.plain_accesses.watched;
        let learns = learns && own && settings.may_preempt_at_races().is_ok();
        let quiet = settings.quiet_atomics && !replaying;
        if let Some(note) = reduction_note {
            report.note(&note);
        }
        if let Some(monitor) = telling_apart.filter(|_| quiet) {
            report.note(&format!(
                "quiet atomics: off, for the monitor `{monitor}` tells apart what they would take together"
            ));
        }
        if let Some(left) = settings
            .journal
            .directory()
            .and_then(|directory| journal::take_left(&directory, (&program, &binary)))
        {
            report.note(&format!(
                "an earlier run of this test ended in the middle of an execution, as its process did: \
                 INTERMEZZO_REPLAY={} runs that execution again",
                left.token()
            ));
        }
        let hands = hands(strategy, jobs);
        let mut common = Shared::new(
            &settings,
            [alone, several, own, replaying],
            books,
            traces,
            before,
            keeping,
            progress,
        );
        common.iroots.clone_from(&iroots);
        if let Some(ending) = ending {
            common.end(End::ForGood(ending));
        }
        let _panics = panics::Guard::install();
        let _signals = crash::Guard::install();
        let _interrupts = interrupt::Guard::install();
        let (mut worker, done, shutdown_reports) = work(
            &common,
            (&program, &binary),
            (known_loops, data_points, armings, learns),
            hands,
            (sets, glancing),
            (test, emergency),
        );

        let elapsed = common.elapsed();
        let ended = match common.ended() {
            None if common.narrowed() => Some(End::ForGood(Ending::Finding)),
            ended => ended,
        };
        if ending.is_none() {
            let shared = common.shared(0, worker.strategy());
            common.write(ended.and_then(End::for_good), shared, elapsed);
        }
        let alone = common.alone;
        let (books, traces, progress) = common.into_books();
        // What several workers ran beyond the first finding is among them.
        let measured = iroots.map(|session| session.close());
        let countable = alone || ended != Some(End::ForGood(Ending::Finding));
        let outcome = Outcome {
            settings: &settings,
            own,
            ended,
            elapsed,
            books,
            done,
            traces: countable.then_some(traces),
            alone,
            progress,
        };
        outcome.settle(
            &mut report,
            &mut worker,
            shutdown_reports,
            (!replaying).then_some(&|| test()),
        );
        if let Some((iroots, problem)) = measured {
            report.iroots = Some(iroots);
            problem
                .iter()
                .for_each(|problem| report.note(&problem.to_string()));
        }
        Ok(report)
    }
}

/// Says that the exploration has ended when it is dropped.
struct Over<'e>(&'e Emergency);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.over();
    }
}

/// The report of an exploration whose worker can do nothing any more: just its last execution is known.
fn shutdown_reports(
    settings: &Settings,
    (program, binary): (&str, &TestBinary),
    trouble: Abnormal,
    executions: u64,
) -> String {
    let schedule = |choices, premises| settings.schedule((program, binary), choices, premises);
    let findings = classify::findings(trouble, schedule);
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
    format!("{report}\n")
}

/// What a program may do for the reduction to suit it that the settings ask for, if the search is `own`.
fn suits_asked(settings: &Settings, own: bool) -> SoundReduction {
    match settings.reduction_at_work() {
        Reduction::Dpor if own => SoundReduction::WakeupTrees,
        Reduction::SourceDpor | Reduction::Bpor if own => SoundReduction::SourceSets,
        _ => SoundReduction::Caching,
    }
}

/// The checkpoint that the settings ask for, and what is in it.
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
    let names: Vec<String> = monitors.iter().map(|monitor| monitor.name().to_owned()).collect();
    let identity = Identity::new(program, body, settings, &names);
    let identity = identity.map_err(|error| {
        refused(
            "checkpoint",
            &format!("the executable cannot be read ({error}), so that nobody could tell whether it is the same later"),
        )
    })?;
    let (checkpoint, restored) =
        Checkpoint::open(path, settings.checkpoint_every, &identity).map_err(ExploreError::Checkpoint)?;
    let keeping = CheckpointWriter::new(identity, checkpoint);
    Ok((Some(keeping), restored))
}

/// Whether one of the monitors of these names finds data races. Where none was brought that does, whether one hears of memory.
fn watches_plain_memory(names: &[String], any_hears: bool) -> bool {
    match crate::plugin::data_race() {
        Some(data_race) => names.iter().any(|name| name == data_race),
        None => any_hears,
    }
}

/// As many hands on the search as there are workers.
fn hands(mut strategy: Box<dyn Strategy>, jobs: usize) -> Vec<Box<dyn Strategy>> {
    let split = |_| {
        let search = strategy.parallel();
        search.expect("searches that cannot be split are refused").split()
    };
    let mut others: Vec<_> = (1..jobs).map(split).collect();
    let mut hands = vec![strategy];
    hands.append(&mut others);
    hands
}

/// Has each hand worked with: the first on this thread, others on threads of their own. Returns the first worker, what
/// there is to say of each, and what the monitors of the others said at last. These loops are known to only wait, if any
/// are assumed to; at these places a replay has schedule points; these breakpoints are armed. The first worker's
/// executions are glanced at, if any are. Where it `learns`, the places of races become schedule points.
fn work(
    common: &Shared<'_>,
    (program, binary): (&str, &TestBinary),
    (known_loops, data_points, armings, learns): (Option<Vec<u64>>, Vec<u64>, Armings, bool),
    hands: Vec<Box<dyn Strategy>>,
    (sets, glancing): (Vec<Vec<Box<dyn Monitor>>>, Option<Glancing>),
    (test, emergency): (&(dyn Fn() + Sync), &Arc<Emergency>),
) -> (Executor, Vec<Done>, Vec<Reported>) {
    let settings = common.settings;
    let limits = Limits {
        steps: settings.steps,
        tasks: settings.tasks,
        stack_bytes: settings.stack_bytes,
        forgotten_bytes: settings.forgotten_bytes,
        fair_yields: settings.fair_yields,
        awaits: settings.awaits,
        deadlocks_allowed: settings.deadlocks_allowed,
        every_operation: settings.every_operation,
        hang: settings.hang,
    };
    let glancing = Mutex::new(glancing);
    let shift = |number: usize, strategy: Box<dyn Strategy>, monitors: Vec<Box<dyn Monitor>>| {
        let compatible = monitors.iter().all(|monitor| monitor.reduction_compatible());
        let heeds_scope = strategy.needs().scope;
        let mut listeners = Listeners::new(monitors);
        let mut glancing = glancing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(first) = glancing.take_if(|_| number == 0) {
            listeners.glance(first);
        }
        drop(glancing);
        let asked = suits_asked(settings, common.own);
        // Executions are worked out as the search needs it that was asked for, also where a weaker one goes on: else they
        // would not be told apart as they were before.
        let (first, weaker) = match common.books().planned > asked {
            true => (search::strategy(settings), Some(strategy)),
            false => (strategy, None),
        };
        let mut worker = Executor::new(
            first,
            settings.environment,
            limits,
            known_loops.clone(),
            listeners,
        );
        worker.tell_crashes_to(emergency.clone());
        weaker.into_iter().for_each(|weaker| worker.restart(weaker));
        if common.replaying {
            worker.assume_only(known_loops.as_deref().unwrap_or_default());
            worker.data_points_only(&data_points);
        } else {
            worker.data_points(settings.schedule_points_at.clone().and(armings.spots()), learns);
        }
        worker.arm(armings.clone());
        if heeds_scope {
            worker.scope(settings.preempt_in.clone(), settings.preempt_not_in.clone());
        }
        if settings.quiet_atomics && common.own && compatible {
            let settings = settings.clone();
            worker.quiet_atomics(move || search::strategy(&settings));
        }
        WorkerLoop::new(common, (program, binary), number, worker, asked).run(&|| test())
    };
    let mut shifts = hands.into_iter().zip(sets).enumerate();
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
