//! Tests that do not always do the same: warm-up executions that are not judged, retries of executions, and the losses
//! of the search if these do not help (CHESS, OSDI 2008, section 4.2).

use intermezzo_engine::runtime::{ExecutionOutcome, Executor};
use intermezzo_engine::serial::{Deserialize, Serialize};
use intermezzo_search::DepthFirst;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The action after an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    /// Continue: it followed its schedule.
    GoOn,
    /// It departed from its schedule, and is retried.
    Again,
    /// It departed on every attempt: the prescribed execution is lost.
    Lost,
    /// It departed, and too many have. It is retried only if the search continues after findings.
    TooMany,
}

/// Too many executions depart if at least this many do, and more than one in `ONE_OF`.
const DEPARTED_MIN: u64 = 10;
const ONE_OF: u64 = 10;

/// A number of executions, and the number of those that departed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Departed {
    pub(crate) executions: u64,
    pub(crate) departed: u64,
}

impl Departed {
    /// Returns `true` if too many departed.
    fn too_many(self) -> bool {
        self.departed >= DEPARTED_MIN && self.departed * ONE_OF > self.executions
    }
}

/// All executions of a search: those of each worker, and those before it was continued from a checkpoint.
pub(crate) struct DepartedOfAll {
    before: Departed,
    workers: Box<[DepartedOfWorker]>,
}

/// The executions of one worker, which it alone counts. In a cache line of its own.
#[derive(Default)]
#[repr(align(64))]
struct DepartedOfWorker {
    executions: AtomicU64,
    departed: AtomicU64,
}

impl DepartedOfAll {
    /// Begins to count the executions of this many workers.
    pub(crate) fn new(before: Departed, workers: usize) -> DepartedOfAll {
        DepartedOfAll {
            before,
            workers: (0..workers).map(|_| DepartedOfWorker::default()).collect(),
        }
    }

    /// Returns the counts so far.
    pub(crate) fn total(&self) -> Departed {
        let add = |total: Departed, worker: &DepartedOfWorker| Departed {
            executions: total.executions + worker.executions.load(Relaxed),
            departed: total.departed + worker.departed.load(Relaxed),
        };
        self.workers.iter().fold(self.before, add)
    }
}

impl DepartedOfWorker {
    /// Counts an execution of the worker.
    #[inline]
    fn count(&self, departed: bool) {
        let executions = self.executions.load(Relaxed);
        self.executions.store(executions + 1, Relaxed);
        if departed {
            self.departed.fetch_add(1, Relaxed);
        }
    }
}

/// The executions of a worker, each retried if it departs from its schedule.
pub(crate) struct Retry<'a> {
    retries: u32,
    /// The number of retries left for the current execution; and `true` if the next execution is one.
    left: u32,
    again: bool,
    all: &'a DepartedOfAll,
    worker: usize,
}

/// The number of executions that departed from their schedules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Departures {
    /// Executions that departed.
    pub(crate) departed: u64,
    /// Prescribed executions for which every attempt departed.
    pub(crate) lost: u64,
}

impl<'a> Retry<'a> {
    /// Allows this many retries for each execution of the worker, which are counted among `all`.
    pub(crate) fn new(retries: u32, all: &'a DepartedOfAll, worker: usize) -> Retry<'a> {
        Retry {
            retries,
            left: retries,
            again: false,
            all,
            worker,
        }
    }

    /// Prepares the next execution: the last one again, if a retry is due. Returns `false` if there is none.
    #[inline]
    pub(crate) fn prepare(&mut self, worker: &mut Executor) -> bool {
        if self.again {
            self.again = false;
            worker.prepare_again();
            true
        } else {
            worker.prepare()
        }
    }

    /// Cancels a retry that is due, because it is no longer wanted.
    pub(crate) fn forget(&mut self) {
        (self.left, self.again) = (self.retries, false);
    }

    /// Returns `true` if the last execution is still to be retried.
    pub(crate) fn is_due(&self) -> bool {
        self.again
    }

    /// Registers an execution, which departed or not, and returns what to do next.
    #[inline]
    pub(crate) fn after(&mut self, departed: bool, departures: &mut Departures) -> After {
        self.all.workers[self.worker].count(departed);
        departures.departed += u64::from(departed);
        if departed && self.left > 0 {
            self.left -= 1;
            self.again = true;
            let too_many = self.all.total().too_many();
            return if too_many { After::TooMany } else { After::Again };
        }
        self.left = self.retries;
        departures.lost += u64::from(departed);
        if departed { After::Lost } else { After::GoOn }
    }
}

impl Departures {
    /// Returns `true` if no execution departed.
    pub(crate) fn none(&self) -> bool {
        self.departed == 0
    }

    /// Returns a note for the report, if an execution departed. `untried` is `true` if the last one was still to be
    /// retried, and `of_own` if the search is the user's own.
    pub(crate) fn note(&self, untried: bool, of_own: bool) -> Option<String> {
        let executions = |count| match count {
            1 => "1 execution".to_owned(),
            count => format!("{count} executions"),
        };
        (self.departed > 0).then(|| {
            let settled = if untried {
                "the last was not tried again".to_owned()
            } else if self.lost == 0 {
                "each was as prescribed when it was tried again".to_owned()
            } else {
                format!("{} never came out as prescribed", executions(self.lost))
            };
            let or_search = match of_own {
                true => ", or the strategy expects choices that are not there",
                false => "",
            };
            format!(
                "the test does not always do the same under the same schedule{or_search}: {} departed from what was \
                 prescribed; {settled}",
                executions(self.departed)
            )
        })
    }
}

/// Runs the test before the search, up to `executions` times with the default schedule, for state that it sets up once
/// and keeps. Stops early if `is_over`. These executions are not judged; only one that crashes is returned.
pub(crate) fn warm_up(
    worker: &mut Executor,
    executions: u32,
    is_over: &dyn Fn() -> bool,
    test: &dyn Fn(),
) -> Option<ExecutionOutcome> {
    (0..executions).take_while(|_| !is_over()).find_map(|_| {
        let executed = worker.apart(Box::new(DepthFirst::new()), false, |worker| {
            worker.prepare().then(|| worker.execute(test))
        });
        executed.filter(|executed| executed.trouble.as_ref().is_some_and(|trouble| trouble.damaged))
    })
}
