//! The iRoots of one exploration: those that its executions exposed and predicted, and the memo.

use super::access::{Access, Accesses, Effect, Places, word};
use super::exposed::Detector;
use super::iroot::{IRoot, IRootId};
use super::measured::{IRootCoverage, IRootsExposed, Point, Searched, thinned};
use super::memo::{Memo, MemoError, MemoFile, News};
use super::observer::Observer;
use super::predict::Predictor;
use super::profile::Profiler;
use super::search::CoverageDriven;
use super::sharing::Sharing;
use hashbrown::HashSet;
use intermezzo_engine::strategy::{Operation, Strategy};
use intermezzo_engine::trace::{Lock, lock};
use intermezzo_sdk::{EventId, Monitor, SyncVarAccess, SyncVarOp};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The maximum number of iRoots that an exploration predicts. It bounds the memory; a search will hardly try that many.
const PREDICTED_MAX: usize = 100_000;

/// The maximum number of profiles whose digests are kept. Predictions from further profiles may be repeated.
const PROFILES_MAX: usize = 1 << 20;

/// The iRoots of an exploration. The monitor that observes executions, the search, and the driver share them.
#[derive(Clone)]
pub struct Session(Arc<Mutex<Inner>>);

/// The options about iRoots of an exploration.
pub struct Options {
    /// `true` if they are searched for; otherwise they are only measured.
    pub searches: bool,
    /// The maximum distance between two accesses of an iRoot in one task, in events of that task.
    pub window: u32,
    /// The only iRoot that is tried; `None` for all that are predicted.
    pub target: Option<IRootId>,
    /// The file of the memo; `None` for no memo.
    pub memo: Option<PathBuf>,
    /// The time between two writes of the memo.
    pub write_every: Duration,
}

/// The data of a session.
pub(crate) struct Inner {
    program: String,
    window: u32,
    places: Places,
    sharing: Sharing,
    detector: Detector,
    /// The profiler, if iRoots are searched for, and the predictor.
    profiler: Option<Profiler>,
    predictor: Predictor,
    /// The maximum number of iRoots that are predicted.
    pub(super) predicted_max: usize,
    found: Found,
    /// The iRoots that the last execution was the first to expose, until it is known whether it failed.
    last: Vec<IRoot>,
    last_failed: bool,
    /// The iRoot that the last execution was to expose, if it was an attempt.
    target: Option<IRoot>,
    /// The only iRoot that is tried, if there is one.
    only: Option<IRootId>,
    /// `true` if any execution failed.
    failed: bool,
    /// The contents of the memo when the session was opened.
    known: Memo,
    memo: Option<MemoWriter>,
    over: bool,
}

/// The results of an exploration so far.
#[derive(Default)]
struct Found {
    executions: u64,
    exposed: HashSet<IRoot>,
    counts: IRootsExposed,
    curve: Vec<Point>,
    predicted: HashSet<IRoot>,
    /// The digests of the profiles from which predictions were made.
    profiles: HashSet<u128>,
    /// The predicted iRoots that the search has not taken over yet.
    fresh: Vec<IRoot>,
    /// The exposed iRoots that the search has not taken over yet.
    newly_exposed: Vec<IRoot>,
    /// `true` if a predicted iRoot was left out because there were too many.
    overflowed: bool,
    /// The iRoots exposed by all executions except perhaps the last, of which it is not known yet whether it failed.
    settled: BTreeSet<IRoot>,
    /// The number of failed attempts of this exploration at each iRoot.
    tried: BTreeMap<IRoot, u32>,
    attempts: u64,
    successes: u64,
}

/// The file of a memo, and what was written to it.
struct MemoWriter {
    file: MemoFile,
    every: Duration,
    written: Instant,
    /// The numbers written so far: executions, attempts, and failed attempts at each iRoot.
    executions: u64,
    attempts: u64,
    tried: BTreeMap<IRoot, u32>,
}

impl Session {
    /// Opens a session for the test with this name.
    ///
    /// # Errors
    /// The memo cannot be read, or the file is not a memo.
    pub fn open(options: &Options, program: &str) -> Result<Session, MemoError> {
        let mut places = Places::default();
        let (known, memo) = match &options.memo {
            None => (Memo::default(), None),
            Some(path) => {
                let (file, known) = MemoFile::open(path, &mut places)?;
                let keeping = MemoWriter {
                    file,
                    every: options.write_every,
                    written: Instant::now(),
                    executions: 0,
                    attempts: 0,
                    tried: BTreeMap::new(),
                };
                (known, Some(keeping))
            }
        };
        Ok(Session(Arc::new(Mutex::new(Inner {
            program: program.to_owned(),
            window: options.window,
            places,
            sharing: Sharing::default(),
            detector: Detector::default(),
            profiler: options.searches.then(Profiler::default),
            predictor: Predictor::default(),
            predicted_max: PREDICTED_MAX,
            found: Found::default(),
            last: Vec::new(),
            last_failed: false,
            target: None,
            only: options.target,
            failed: false,
            known,
            memo,
            over: false,
        }))))
    }

    /// Locks the data of the session.
    pub(super) fn get(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the monitor that passes executions to the session.
    pub fn observer(&self) -> Box<dyn Monitor> {
        Box::new(Observer::new(self.clone()))
    }

    /// Returns the search for its iRoots. It tries to expose each at most `attempts_max` times, over all explorations
    /// that share a memo; or only the target, that many times.
    pub fn strategy(&self, seed: u64, attempts_max: u32) -> Box<dyn Strategy> {
        Box::new(CoverageDriven::new(self.clone(), seed, attempts_max))
    }

    /// Notes the next operations of the tasks that waited forever when the last execution ended; none if there were no
    /// such tasks.
    pub fn stuck(&self, wanted: &[Operation]) {
        let mut inner = self.get();
        let takes = wanted.iter().filter(|next| lock(next.op) == Lock::Takes);
        let access = |next: &Operation| {
            let of = EventId {
                task: next.task,
                // It comes after all events of the task.
                index: inner.detector.events_of(next.task.0) + 1,
            };
            Some(Access::own(of, next.var, inner.effect(next.op, next.site)?))
        };
        let wants: Vec<Access> = takes.filter_map(access).collect();
        if wants.is_empty() {
            return;
        }
        let window = inner.window;
        inner.detector.stuck(&wants, window);
        inner.expose();
    }

    /// Notes that the last execution showed an error.
    pub fn failed(&self) {
        self.get().last_failed = true;
    }

    /// Closes the session, which observes no more executions. Returns the exposed iRoots, and the error if the memo
    /// could not be written.
    pub fn close(&self) -> (IRootCoverage, Option<MemoError>) {
        let mut inner = self.get();
        inner.over = true;
        inner.settle_attempt();
        inner.settle();
        let problem = inner.keep();
        (inner.measured(), problem)
    }
}

impl Inner {
    /// Returns `true` unless the session is closed.
    pub(super) fn listens(&self) -> bool {
        !self.over
    }

    /// Returns the effect of an operation at a site; `None` if it is not an access.
    pub(super) fn effect(&mut self, op: SyncVarOp, site: impl Display) -> Option<Effect> {
        let word = word(op)?;
        Effect::of(op, self.places.number(format!("{site} {word}")))
    }

    /// Returns the maximum distance between two accesses of an iRoot in one task, in events of that task.
    pub(crate) fn window(&self) -> u32 {
        self.window
    }

    /// Begins the observation of an execution.
    pub(super) fn begin(&mut self) {
        self.settle();
        self.sharing.clear();
        self.detector.clear();
        if let Some(profiler) = &mut self.profiler {
            profiler.clear();
        }
    }

    /// Notes the effect of the next event. All events of the execution have to be noted before any is added.
    #[inline(always)]
    pub(super) fn note(&mut self, event: &SyncVarAccess, effect: Effect) {
        self.sharing.note(event.event, event.var, effect);
    }

    /// Adds the next access of the execution to the detector.
    #[inline(always)]
    pub(super) fn add(&mut self, event: &SyncVarAccess, effect: Effect) {
        let own = Access::own(event.event, event.var, effect);
        if self.sharing.matters(event.var, effect) {
            self.detector.add(own, self.window);
        } else {
            self.detector.pass(event.event);
        }
        if let Some(released) = own.released(event.other_var()) {
            self.detector.add(released, self.window);
        }
    }

    /// Returns `true` if predictions are to be made from the execution: if it is a profile run, or an attempt that
    /// exposed an iRoot that had been neither predicted nor exposed. The detector has to have the whole execution.
    /// Other attempts are much like earlier executions, and a profile costs as much as the rest of an attempt.
    pub(super) fn is_profiled(&self) -> bool {
        // After one iRoot has been left out, no other one would be added.
        let may_be = self.profiler.is_some() && !self.found.overflowed;
        // Idiom 6 is never predicted.
        let is_surprising = |iroot: &IRoot| iroot.idiom < 6 && !self.found.predicted.contains(iroot);
        may_be && (self.target.is_none() || self.detector.newly_found().iter().any(is_surprising))
    }

    /// Adds the next event of the execution to the profiler, with its effect if it is an access.
    #[inline(always)]
    pub(super) fn profile(&mut self, event: &SyncVarAccess, effect: Option<Effect>) {
        let Some(profiler) = &mut self.profiler else {
            return;
        };
        let accesses = effect.map(|effect| Accesses::of(event, effect));
        let that_matter = match &accesses {
            Some(accesses) => self.sharing.that_matter(accesses),
            None => &[],
        };
        profiler.add(event, that_matter, self.window);
    }

    /// Predicts iRoots from the execution, of which the profiler has all events.
    pub(super) fn predict(&mut self) {
        let Some(profiler) = &mut self.profiler else {
            return;
        };
        let found = &mut self.found;
        profiler.finish();
        let digest = profiler.digest();
        if found.profiles.contains(&digest) {
            return;
        }
        let predicted = &mut found.predicted;
        let (new, whole) = self
            .predictor
            .predict(profiler, self.window, predicted, self.predicted_max);
        found.overflowed = !whole;
        found.fresh.extend(new);
        if found.profiles.len() < PROFILES_MAX {
            found.profiles.insert(digest);
        }
    }

    /// Ends the observation of the execution.
    pub(super) fn end(&mut self) {
        self.found.executions += 1;
        self.expose();
    }

    /// Takes over the iRoots that the detector has newly found in the last execution.
    fn expose(&mut self) {
        let found = &mut self.found;
        let before = found.exposed.len();
        for iroot in self.detector.take_new() {
            found.exposed.insert(iroot);
            found.counts.0[usize::from(iroot.idiom) - 1] += 1;
            self.last.push(iroot);
            if self.profiler.is_some() {
                found.newly_exposed.push(iroot);
            }
        }
        if found.exposed.len() > before {
            found.curve.retain(|point| point.execution < found.executions);
            found.curve.push(Point {
                execution: found.executions,
                exposed: found.counts,
            });
        }
    }

    /// Counts the last execution, when it is known whether it failed.
    fn settle(&mut self) {
        self.failed |= std::mem::take(&mut self.last_failed);
        self.found.settled.extend(self.last.drain(..));
        let due = |keeping: &MemoWriter| keeping.written.elapsed() >= keeping.every;
        if !self.over && self.memo.as_ref().is_some_and(due) {
            // An error is reported by the last write.
            let _ = self.keep();
        }
    }

    /// Forgets the results of the search, because it restarts.
    pub(crate) fn restart(&mut self) {
        self.settle();
        self.target = None;
        self.found = Found::default();
        self.detector = Detector::default();
        if let Some(keeping) = &mut self.memo {
            (keeping.executions, keeping.attempts) = (0, 0);
            keeping.tried.clear();
        }
    }

    /// Removes and returns the predicted iRoots that have not been taken over yet.
    pub(crate) fn take_fresh(&mut self) -> Vec<IRoot> {
        std::mem::take(&mut self.found.fresh)
    }

    /// Removes and returns the exposed iRoots that have not been taken over yet.
    pub(crate) fn take_exposed(&mut self) -> Vec<IRoot> {
        std::mem::take(&mut self.found.newly_exposed)
    }

    /// Returns `true` if an iRoot is to be tried, if each is tried at most `attempts_max` times.
    pub(crate) fn is_due(&self, iroot: &IRoot, attempts_max: u32) -> bool {
        !self.found.exposed.contains(iroot)
            && !self.known.exposed.contains(iroot)
            && self.attempts(iroot) < attempts_max
    }

    /// Returns the number of failed attempts at an iRoot: those of this exploration and those in the memo.
    pub(crate) fn attempts(&self, iroot: &IRoot) -> u32 {
        let before = self.known.tried.get(iroot).copied().unwrap_or(0);
        before + self.found.tried.get(iroot).copied().unwrap_or(0)
    }

    /// Returns the exposed and the predicted iRoots.
    #[cfg(test)]
    pub(super) fn found(&self) -> [HashSet<IRoot>; 2] {
        [&self.found.exposed, &self.found.predicted].map(HashSet::clone)
    }

    /// Returns the only iRoot that is tried, if there is one.
    pub(crate) fn only(&self) -> Option<IRootId> {
        self.only
    }

    /// Returns the iRoot with this identity, if it has been exposed or predicted, or is in the memo.
    pub(crate) fn find(&self, id: IRootId) -> Option<IRoot> {
        let known = self.known.exposed.iter().chain(self.known.tried.keys());
        let mut all = self
            .found
            .predicted
            .iter()
            .chain(&self.found.exposed)
            .chain(known);
        all.find(|iroot| iroot.id(&self.places) == id).copied()
    }

    /// Returns the iRoot that the last execution was to expose, as text.
    pub(crate) fn attempted(&self) -> Option<String> {
        let target = self.target.as_ref()?;
        Some(format!(
            "iRoot {} ({})",
            target.id(&self.places),
            target.name(&self.places)
        ))
    }

    /// Makes this iRoot the target of the next execution.
    pub(crate) fn aim(&mut self, iroot: IRoot) {
        self.target = Some(iroot);
    }

    /// Counts the result of the last execution, if it was an attempt. Returns the iRoot that it was to expose.
    pub(crate) fn settle_attempt(&mut self) -> Option<IRoot> {
        let iroot = self.target.take()?;
        self.found.attempts += 1;
        if self.detector.has_found(&iroot) {
            self.found.successes += 1;
        } else {
            *self.found.tried.entry(iroot).or_default() += 1;
        }
        Some(iroot)
    }

    /// Adds the news to the memo, if there is one and no execution has failed: a failure has to be found again.
    fn keep(&mut self) -> Option<MemoError> {
        let Inner {
            program,
            places,
            found,
            memo,
            ..
        } = self;
        let keeping = memo.as_mut().filter(|_| !self.failed)?;
        let written = |iroot| keeping.tried.get(iroot).copied().unwrap_or(0);
        let news = News {
            program,
            over: self.over,
            executions: found.executions - keeping.executions,
            attempts: found.attempts - keeping.attempts,
            exposed: &found.settled,
            tried: &found
                .tried
                .iter()
                .map(|(iroot, times)| (*iroot, times - written(iroot)))
                .filter(|(_, times)| *times > 0)
                .collect(),
        };
        let added = keeping.file.add(places, &news);
        keeping.written = Instant::now();
        if added.is_ok() {
            (keeping.executions, keeping.attempts) = (found.executions, found.attempts);
            keeping.tried.clone_from(&found.tried);
        }
        added.err()
    }

    fn measured(&self) -> IRootCoverage {
        let found = &self.found;
        let mut names: Vec<(u8, String)> = found
            .exposed
            .iter()
            .map(|iroot| (iroot.idiom, iroot.name(&self.places)))
            .collect();
        names.sort();
        let searched_for = |point: &&Point| point.exposed.total() == found.counts.total();
        let saturated = found.curve.iter().find(searched_for);
        let count =
            |of: &dyn Fn(&IRoot) -> bool| found.predicted.iter().filter(|iroot| of(iroot)).count() as u64;
        let known = |iroot: &IRoot| self.known.exposed.contains(iroot);
        let search = self.profiler.is_some().then(|| Searched {
            predicted: found.predicted.len() as u64,
            predicted_exposed: count(&|iroot| found.exposed.contains(iroot) || known(iroot)),
            known: count(&|iroot| !found.exposed.contains(iroot) && known(iroot)),
            attempts: found.attempts,
            successes: found.successes,
            overflowed: found.overflowed,
        });
        IRootCoverage {
            exposed: found.counts,
            total: found.counts.total(),
            window: self.window,
            saturated_at: saturated
                .filter(|_| found.counts.total() > 0)
                .map_or(0, |point| point.execution),
            curve: thinned(found.curve.clone()),
            search,
            names: names.into_iter().map(|(_, name)| name).collect(),
            named: Vec::new(),
        }
    }
}
