//! Coverage-driven search: tries to expose iRoots, one after the other. Maple (Yu, Narayanasamy, Pereira, Pokam, OOPSLA
//! 2012).
//!
//! It begins with *profile runs*, most of which are drawn at random. They predict which iRoots could be exposed, and
//! end when three of them in a row have predicted nothing new. Then an active scheduler ([`active`]) tries each
//! predicted iRoot that no execution has exposed, idiom by idiom. It makes at most as many attempts as the parameter
//! `attempts` says, over all explorations that share a memo. When no iRoot is left, the search is over. With a target,
//! only this iRoot is tried, as soon as it is known.
//!
//! Differs: attempts predict, too, so that iRoots that only they reach are also tried. The first profile run has no
//! preemptions. Later ones are random walks, of which every second one mostly stays with its task (the paper uses its
//! best random tester, which has many context switches). Misses: bugs that need more than two dependencies, or
//! particular values.

mod active;
mod script;

use crate::classic::maple::{IRoot, Place, Session};
use crate::sampling::{Draw, is_at_clone};
use active::Active;
use intermezzo_engine::schedule::ChoiceKind;
use intermezzo_engine::strategy::{ChoicePoint, Coverage, Plan, SoFar, Status, Strategy};
use intermezzo_engine::trace::Trace;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeSet;

/// The number of profile runs in a row that must predict nothing new before attempts begin. It is the paper's number.
const QUIET_RUNS: u32 = 3;

/// The probability with which a profile run that mostly stays with its task does so. It is high enough for a task to do
/// several operations in a row.
const STAYS: f64 = 0.85;

/// A search that tries to expose iRoots.
pub(crate) struct CoverageDriven {
    session: Session,
    seed: u64,
    attempts_max: u32,
    executions: u64,
    /// The number of profile runs in a row that predicted nothing new.
    quiet_runs: u32,
    /// The iRoots that are to be tried, in order.
    queue: BTreeSet<IRoot>,
    /// The only iRoot that is to be tried, if there is a target and it is known, and the number of attempts at it.
    only: Option<IRoot>,
    attempts_at_only: u32,
    run: Run,
    places: Place,
    random: Xoshiro256PlusPlus,
}

/// The current execution.
enum Run {
    /// No execution yet.
    Nothing,
    /// A profile run without preemptions.
    Plain,
    /// A profile run that is drawn at random. With `stays`, it mostly stays with a task as long as that can continue.
    /// See [`Draw`] for `passes_clones`.
    Drawn { stays: bool, passes_clones: bool },
    /// An attempt to expose the session's current iRoot.
    Attempt(Box<Active>),
}

impl CoverageDriven {
    /// Returns a search that tries to expose the iRoots that the session predicts, each at most `attempts_max` times.
    pub(super) fn new(session: Session, seed: u64, attempts_max: u32) -> CoverageDriven {
        CoverageDriven {
            places: Place::new(session.clone()),
            session,
            seed,
            attempts_max,
            executions: 0,
            quiet_runs: 0,
            queue: BTreeSet::new(),
            only: None,
            attempts_at_only: 0,
            run: Run::Nothing,
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
        }
    }

    /// Processes the results of the last execution.
    fn learn(&mut self) {
        let mut session = self.session.get();
        let attempted = session.settle_attempt();
        let over = session.take_exposed().into_iter().chain(attempted);
        let fresh = session.take_fresh();
        let is_due = |iroot: &IRoot| session.is_due(iroot, self.attempts_max);
        for iroot in over.filter(|iroot| !is_due(iroot)) {
            self.queue.remove(&iroot);
        }
        let before = self.queue.len();
        self.queue.extend(fresh.into_iter().filter(is_due));
        let new = self.queue.len() > before;
        match self.run {
            Run::Nothing | Run::Attempt(..) => {}
            Run::Plain | Run::Drawn { .. } if new => self.quiet_runs = 0,
            Run::Plain | Run::Drawn { .. } => self.quiet_runs += 1,
        }
    }

    /// Returns the next run; `None` if nothing is left to do.
    fn next_run(&mut self) -> Option<Run> {
        if self.only.is_none() {
            let session = self.session.get();
            self.only = session.only().and_then(|id| session.find(id));
        }
        if let Some(iroot) = self.only {
            let attempt = self.attempts_at_only;
            self.attempts_at_only += 1;
            return (attempt < self.attempts_max).then(|| self.attempt(&iroot, attempt));
        }
        if self.quiet_runs < QUIET_RUNS {
            return Some(match self.executions {
                0 => Run::Plain,
                number => Run::Drawn {
                    stays: number % 2 == 0,
                    passes_clones: Draw::new(number).passes_clones,
                },
            });
        }
        if self.session.get().only().is_some() {
            return None;
        }
        let iroot = *self.queue.first()?;
        let attempt = self.session.get().attempts(&iroot);
        Some(self.attempt(&iroot, attempt))
    }

    /// Returns attempt number `attempt` at this iRoot, counted from 0.
    fn attempt(&self, iroot: &IRoot, attempt: u32) -> Run {
        let mut session = self.session.get();
        session.aim(*iroot);
        let window = session.window();
        drop(session);
        Run::Attempt(Box::new(Active::new(
            iroot,
            (attempt, window),
            self.random.clone(),
        )))
    }

    fn reseed(&mut self) {
        // The multiplier is odd, so different executions have different seeds.
        let seed = self
            .seed
            .wrapping_add(self.executions.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        self.random = Xoshiro256PlusPlus::seed_from_u64(seed);
    }
}

impl Strategy for CoverageDriven {
    fn next(&mut self, plan: &mut Plan, _: &Trace) -> bool {
        plan.truncate(0);
        self.learn();
        self.reseed();
        let Some(run) = self.next_run() else {
            self.run = Run::Nothing;
            return false;
        };
        self.run = run;
        self.executions += 1;
        true
    }

    fn choose(&mut self, point: &ChoicePoint<'_>) -> Option<u32> {
        let stays = match &mut self.run {
            Run::Nothing | Run::Plain => return Some(0),
            Run::Attempt(active) => return Some(active.choose(point, &mut self.places)),
            Run::Drawn {
                passes_clones: true, ..
            } if is_at_clone(point) => return Some(0),
            Run::Drawn { stays, .. } => *stays && point.kind == ChoiceKind::Task,
        };
        if stays && self.random.random_bool(STAYS) {
            return Some(0);
        }
        Some(self.random.random_range(0..point.alternatives))
    }

    fn restart(&mut self) -> Option<Box<dyn Strategy>> {
        self.session.get().restart();
        let session = self.session.clone();
        Some(Box::new(CoverageDriven::new(
            session,
            self.seed,
            self.attempts_max,
        )))
    }

    fn coverage(&self, _: bool) -> Coverage {
        Coverage::Sampled {
            executions: self.executions,
        }
    }

    fn status(&self, _: &SoFar<'_>) -> Status {
        let session = self.session.get();
        let left = self.queue.len();
        let note = match (session.only(), self.only) {
            (Some(id), None) => Some(format!(
                "coverage: iRoot {id}, the target, was neither predicted nor exposed: other seeds may predict it"
            )),
            (Some(_), Some(_)) => None,
            (None, _) => (left > 0).then(|| {
                format!(
                    "coverage: the search ended before {left} predicted iRoots were tried as often as they should be"
                )
            }),
        };
        let attempted = match self.run {
            Run::Attempt(_) => session.attempted(),
            _ => None,
        };
        Status {
            notes: note.into_iter().collect(),
            drawn_by: attempted.map(|iroot| format!("an attempt at {iroot}")),
            ..Status::named("maple")
        }
    }
}
