//! Tests that do not always do the same: executions before the search that are not judged, executions tried again, and
//! what the search loses where that does not help (CHESS, OSDI 2008, section 4.2).

use intermezzo_engine::runtime::{ExecutionOutcome, Executor};
use intermezzo_search::DepthFirst;
use serde::{Deserialize, Serialize};

/// What is to be done after an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    /// It was what it should have been.
    GoOn,
    /// It departed from its schedule, and is to be tried again.
    Again,
    /// It departed each time: what it should have been is lost.
    Lost,
    /// It departed, and too many have. It is tried again only if the search goes on after findings.
    TooMany,
}

/// Too many executions depart where these many do, and more than one in `ONE_OF`.
const DEPARTED_MIN: u64 = 10;
const ONE_OF: u64 = 10;

/// The executions of a search, each tried more than once if it departs from what was prescribed.
pub(crate) struct Retry {
    retries: u32,
    /// How many retries the running execution has left, and whether the next execution is one.
    left: u32,
    again: bool,
    /// Executions, and how many of them departed.
    executions: u64,
    departed: u64,
}

/// How often executions were not what they should have been.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Departures {
    /// Executions that departed from what was prescribed.
    pub(crate) departed: u64,
    /// Prescribed ones of which none was as it should be.
    pub(crate) lost: u64,
}

impl Retry {
    /// Each execution may be tried again so many times.
    pub(crate) fn new(retries: u32) -> Retry {
        Retry {
            retries,
            left: retries,
            again: false,
            executions: 0,
            departed: 0,
        }
    }

    /// Prepares the next execution: the last one again, if that is due. False if there is none.
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

    /// What was to be tried again is not wanted any more.
    pub(crate) fn forget(&mut self) {
        (self.left, self.again) = (self.retries, false);
    }

    /// Whether the last execution is still to be tried again.
    pub(crate) fn is_due(&self) -> bool {
        self.again
    }

    /// Takes up an execution: whether it departed.
    #[inline]
    pub(crate) fn after(&mut self, departed: bool, departures: &mut Departures) -> After {
        self.executions += 1;
        self.departed += u64::from(departed);
        departures.departed += u64::from(departed);
        if departed && self.left > 0 {
            self.left -= 1;
            self.again = true;
            let too_many = self.departed >= DEPARTED_MIN && self.departed * ONE_OF > self.executions;
            return if too_many { After::TooMany } else { After::Again };
        }
        self.left = self.retries;
        departures.lost += u64::from(departed);
        if departed { After::Lost } else { After::GoOn }
    }
}

impl Departures {
    /// Whether every execution was what it should have been.
    pub(crate) fn none(&self) -> bool {
        self.departed == 0
    }

    /// What a reader of the report should know.
    /// `untried` says whether the last one was still to be tried again.
    pub(crate) fn note(&self, untried: bool) -> Option<String> {
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
            format!(
                "the test does not always do the same under the same schedule: {} departed from what was prescribed; \
                 {settled}",
                executions(self.departed)
            )
        })
    }
}

/// Runs the test before the search, so often and as the default schedule has it, for what it sets up once and keeps; less
/// often if time `is_over`. These executions are not judged, unless one crashes: that one is returned.
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
