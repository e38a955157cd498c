//! The exploration: set up, run by one worker or several, and reported.

mod catalogue;
mod checkpoint;
mod common;
mod gate;
mod ledger;
mod listening;
mod reports;
mod shift;

pub use checkpoint::{CheckpointError, CheckpointProblem};
pub(crate) use listening::Listening;
pub(crate) use reports::{checkpoint_in, write_report};

use crate::explore::{ExploreError, OnProgress};
use crate::judge;
use crate::report::{Coverage, Report};
use crate::runtime::{Limits, Listeners, Reported, Worker, crash, panics};
use crate::schedule::Schedule;
use crate::search::{DepthFirst, IterativePreemptionBounding, RandomWalk, Replay, Strategy};
use crate::settings::{SettingError, Settings, StrategyKind};
use catalogue::{Catalogue, FINDINGS_MAX};
use checkpoint::{Checkpoint, CheckpointProblem as Problem, Ending, Identity, Restored};
use common::{AtHand, Books, Common, End, Keeping};
use intermezzo_sdk::Monitor;
use ledger::Ledger;
use shift::{Done, Shift};
use std::time::Duration;

/// What a report notes where fairness kept schedules out.
const UNFAIR_LEFT_OUT: &str = "fair scheduling: schedules are left out in which a task that yields again and again \
                               keeps others from running for ever";

/// An exploration, set up.
pub(crate) struct Exploration {
    pub(crate) settings: Settings,
    pub(crate) program: String,
    /// The address of the test's code.
    pub(crate) body: usize,
    pub(crate) custom: Option<Box<dyn Strategy>>,
    pub(crate) replay: Option<Schedule>,
    pub(crate) monitors: Vec<Listening>,
    pub(crate) progress: Option<OnProgress>,
}

/// The search that these settings ask for.
fn search_for(settings: &Settings) -> Box<dyn Strategy> {
    match (settings.strategy, settings.preemptions) {
        (StrategyKind::DepthFirst, None) => Box::new(DepthFirst::new()),
        (StrategyKind::DepthFirst, Some(most)) => Box::new(IterativePreemptionBounding::new(most)),
        (StrategyKind::Random, most) => {
            Box::new(RandomWalk::new(settings.seed, most).up_to(settings.executions))
        }
    }
}

fn refused(name: &str, problem: &str) -> ExploreError {
    ExploreError::Setting(SettingError {
        name: name.into(),
        problem: problem.into(),
    })
}

impl Exploration {
    /// Explores the test.
    ///
    /// # Errors
    /// Settings do not go together, or the checkpoint is none of this search.
    pub(crate) fn run(self, test: &(dyn Fn() + Sync)) -> Result<Report, ExploreError> {
        let Exploration {
            mut settings,
            program,
            body,
            custom,
            replay,
            monitors,
            progress,
        } = self;
        let replaying = replay.is_some();
        if replaying {
            // One execution: there is nothing to share, and nothing to keep.
            (settings.jobs, settings.checkpoint) = (1, None);
        }
        let jobs = settings.jobs;
        let own = !replaying && custom.is_none();
        if custom.is_some() && (jobs > 1 || settings.checkpoint.is_some()) {
            let name = if jobs > 1 { "jobs" } else { "checkpoint" };
            let problem = "a search of your own is run by one worker, and not kept in a checkpoint: \
                           give 1 worker and no checkpoint, or a search that comes with intermezzo";
            return Err(refused(name, problem));
        }
        let name = if jobs > 1 { "jobs" } else { "checkpoint" };
        let sets = listening::monitors(monitors, jobs, settings.checkpoint.is_some())
            .map_err(|problem| refused(name, problem))?;
        let mut strategy = match (replay, custom) {
            (Some(schedule), _) => Box::new(Replay::new(schedule.choices)),
            (None, Some(custom)) => custom,
            (None, None) => search_for(&settings),
        };

        let mut books = Books {
            ledger: Ledger::default(),
            catalogue: Catalogue::new(!settings.keep_going),
            redundant: 0,
            at_hand: vec![AtHand::default(); jobs],
            checkpoint_problem: None,
        };
        let (keeping, restored) = open_checkpoint(&settings, &program, body, &sets[0], &*strategy)?;
        let mut ending = None;
        let mut before = Duration::ZERO;
        let mut alone = jobs == 1;
        if let (Some(keeping), Some(Restored { mut contents, state })) = (&keeping, restored) {
            let refused = |problem| ExploreError::Checkpoint(keeping.refused(problem));
            contents
                .take(&mut books.ledger, &mut books.catalogue)
                .map_err(refused)?;
            (ending, before, books.redundant) = (contents.ending, contents.elapsed, contents.redundant);
            alone &= contents.alone;
            if !strategy.restore(&state) {
                return Err(refused(Problem::Unintelligible {
                    reason: "what is left of the search cannot be understood".into(),
                }));
            }
        }
        let mut report = Report::new(
            program.clone(),
            settings.environment,
            strategy.name(),
            settings.seed,
        );
        let hands = hands(strategy, jobs)?;
        let common = Common::new(&settings, (alone, replaying), books, before, keeping, progress);
        if let Some(ending) = ending {
            common.end(End::ForGood(ending));
        } else if settings.time.is_some_and(|most| before >= most) && !before.is_zero() {
            common.end(End::Time);
        }
        let done = work(&common, &program, hands, sets, test);

        let elapsed = common.elapsed();
        let ended = match common.ended() {
            None if common.narrowed() => Some(End::ForGood(Ending::Finding)),
            ended => ended,
        };
        if ending.is_none() {
            let for_good = match ended {
                Some(End::ForGood(ending)) => Some(ending),
                _ => None,
            };
            common.write(for_good, done[0].strategy.save_shared(), elapsed);
        }
        let books = common.into_books();
        settle(&mut report, &settings, books, ended, done, own, elapsed);
        Ok(report)
    }
}

/// The checkpoint that the settings ask for, and what is in it.
fn open_checkpoint(
    settings: &Settings,
    program: &str,
    body: usize,
    monitors: &[Box<dyn Monitor>],
    strategy: &dyn Strategy,
) -> Result<(Option<Keeping>, Option<Restored>), ExploreError> {
    let Some(path) = &settings.checkpoint else {
        return Ok((None, None));
    };
    if strategy.save_shared().is_none() {
        let problem = format!(
            "the search `{}` cannot be kept in a checkpoint: give `none`",
            strategy.name()
        );
        return Err(refused("checkpoint", &problem));
    }
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
    let keeping = Keeping::new(identity, checkpoint);
    Ok((Some(keeping), restored))
}

/// As many hands on the search as there are workers.
fn hands(mut strategy: Box<dyn Strategy>, jobs: usize) -> Result<Vec<Box<dyn Strategy>>, ExploreError> {
    let mut others = Vec::with_capacity(jobs);
    for _ in 1..jobs {
        others.push(strategy.fork().ok_or_else(|| {
            let problem = format!(
                "the search `{}` cannot be split among workers: give 1",
                strategy.name()
            );
            refused("jobs", &problem)
        })?);
    }
    let mut hands = vec![strategy];
    hands.append(&mut others);
    Ok(hands)
}

/// Has each hand worked with, on a thread of its own if there are several.
fn work(
    common: &Common<'_>,
    program: &str,
    hands: Vec<Box<dyn Strategy>>,
    sets: Vec<Vec<Box<dyn Monitor>>>,
    test: &(dyn Fn() + Sync),
) -> Vec<Done> {
    let settings = common.settings;
    let limits = Limits {
        steps: settings.steps,
        stack_bytes: settings.stack_bytes,
    };
    let _panics = panics::Guard::new();
    let _signals = crash::Guard::new();
    let shift = |number, strategy, monitors| {
        let worker = Worker::new(strategy, settings.environment, limits, Listeners::new(monitors));
        Shift::new(common, program, number, worker).run(&|| test())
    };
    let mut shifts: Vec<_> = hands.into_iter().zip(sets).enumerate().collect();
    if shifts.len() == 1 {
        let shifts = shifts.drain(..);
        return shifts
            .map(|(number, (strategy, monitors))| shift(number, strategy, monitors))
            .collect();
    }
    std::thread::scope(|scope| {
        let spawn = |(number, (strategy, monitors))| {
            let thread = std::thread::Builder::new().name(program.to_owned());
            let spawned = thread.spawn_scoped(scope, move || shift(number, strategy, monitors));
            spawned.expect("a thread for a worker")
        };
        let threads: Vec<_> = shifts.into_iter().map(spawn).collect();
        let mut done = Vec::with_capacity(threads.len());
        let mut panic = None;
        for thread in threads {
            match thread.join() {
                Ok(one) => done.push(one),
                Err(payload) => panic = panic.or(Some(payload)),
            }
        }
        if let Some(payload) = panic {
            std::panic::resume_unwind(payload);
        }
        done
    })
}

/// Puts what came of the exploration into its report.
fn settle(
    report: &mut Report,
    settings: &Settings,
    books: Books,
    ended: Option<End>,
    done: Vec<Done>,
    own: bool,
    elapsed: Duration,
) {
    let Books {
        ledger,
        mut catalogue,
        redundant,
        checkpoint_problem,
        ..
    } = books;
    // What several workers ran beyond the first finding is no part of what was looked for: a single one would not have.
    let last = match ended {
        Some(End::ForGood(Ending::Finding)) => catalogue.first().cloned(),
        _ => None,
    };
    let tally = ledger.total(last.as_ref());
    report.executions = tally.executions;
    report.steps = tally.steps;
    report.max_steps = tally.max_steps;
    report.max_tasks = tally.max_tasks;
    report.context_switches = tally.context_switches;
    report.first_failure = tally.first_failure;
    report.redundant = redundant + done.iter().map(|done| done.strategy.redundant()).sum::<u64>();
    let mut coverage = done[0].strategy.coverage(ended.is_none());
    let last_words: Vec<Reported> = done.into_iter().flat_map(|done| done.last_words).collect();
    if !last_words.is_empty() {
        let schedule = Schedule {
            program: report.program.clone(),
            environment: settings.environment,
            steps: settings.steps,
            choices: Vec::new(),
        };
        report.first_failure = report.first_failure.or(Some(report.executions));
        catalogue.add_last(judge::reported(last_words, &[], &schedule));
    }
    let (findings, more) = catalogue.into_findings();
    report.findings = findings;
    if tally.unfair_left_out {
        report.note(UNFAIR_LEFT_OUT);
    }
    if more {
        report.note(&format!(
            "more than {FINDINGS_MAX} different findings: the others are left out"
        ));
    }
    if ended == Some(End::ForGood(Ending::Crash)) {
        report.note("the exploration ended with a crash: the process may be damaged");
    }
    if let Some(problem) = checkpoint_problem {
        report.note(&problem);
    }
    match &mut coverage {
        // Each hand knows of its own.
        Coverage::Sampled { executions } if own => *executions = report.executions,
        Coverage::Bounded { reason, .. } => {
            if let Some(end) = ended {
                *reason = Some(end.reason(settings, report.executions));
            }
        }
        _ => {}
    }
    report.settle(coverage, tally.complete, elapsed);
}

impl Report {
    /// Adds a note, once.
    fn note(&mut self, note: &str) {
        if !self.notes.iter().any(|known| known == note) {
            self.notes.push(note.to_owned());
        }
    }
}
