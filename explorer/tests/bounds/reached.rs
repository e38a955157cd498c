//! The states that an execution of a caching search reaches become known to other workers when the execution has ended.

use intermezzo_engine::trace::{Fingerprints, Trace};
use intermezzo_explorer::search::{
    ChoicePoint, DepthFirst, IterativePreemptionBounding, Needs, Plan, SoFar, Status, Strategy as Search,
};
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::{Coverage, Explorer, Report, Strategy, thread};
use intermezzo_search::{Caching, Visits};
use std::sync::Arc;

/// The way a search ends.
#[derive(Clone, Copy)]
enum Ends {
    /// It runs all executions.
    Last,
    /// Its `next` is called only once, as if the worker had stopped within its first execution.
    Within,
    /// Its first execution departs from its schedule each time: its `next` has no choices of that execution.
    Departed,
}

/// A caching search.
struct Worker {
    search: Caching,
    ends: Ends,
    begun: bool,
}

impl Search for Worker {
    fn next(&mut self, plan: &mut Plan, trace: &Trace) -> bool {
        match (self.ends, std::mem::replace(&mut self.begun, true)) {
            (Ends::Within, true) => false,
            (Ends::Departed, true) => {
                self.search.next(&mut Plan::default(), trace);
                false
            }
            _ => self.search.next(plan, trace),
        }
    }
    fn choose(&mut self, point: &ChoicePoint<'_>) -> Option<u32> {
        self.search.choose(point)
    }
    fn coverage(&self, finished: bool) -> Coverage {
        self.search.coverage(finished)
    }
    fn status(&self, so_far: &SoFar<'_>) -> Status {
        self.search.status(so_far)
    }
    fn needs(&self) -> Needs {
        self.search.needs()
    }
}

fn explore(visits: &Visits, bounded: bool, ends: Ends) -> Report {
    let inner: Box<dyn Search> = match bounded {
        true => Box::new(IterativePreemptionBounding::new(1)),
        false => Box::new(DepthFirst::new()),
    };
    let worker = Worker {
        search: Caching::new(inner, visits.clone(), bounded),
        ends,
        begun: false,
    };
    let strategy = Strategy::custom(worker);
    Explorer::new().strategy(strategy).explore(|| {
        let n = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| (0..2).for_each(|_| _ = n.fetch_add(1, SeqCst)));
            }
        });
    })
}

/// The execution may be run again and not reach its states then, or depart each time. If another worker had taken them for
/// known, what follows them would be run by none.
#[test]
fn states_are_known_to_other_workers_once_the_execution_has_ended() {
    for bounded in [false, true] {
        let alone = explore(&Arc::new(Fingerprints::new(1 << 20)), bounded, Ends::Last);
        assert!(alone.executions() > 3, "{alone}");
        let visits = Arc::new(Fingerprints::new(1 << 20));
        for ends in [Ends::Within, Ends::Departed] {
            assert_eq!(explore(&visits, bounded, ends).executions(), 1);
        }
        let other = explore(&visits, bounded, Ends::Last);
        assert_eq!(
            (other.executions(), other.traces()),
            (alone.executions(), alone.traces())
        );
        // Now all states are known.
        for (ends, redundant) in [(Ends::Last, 1), (Ends::Departed, 0)] {
            let last = explore(&visits, bounded, ends);
            assert_eq!((last.executions(), last.redundant()), (1, redundant), "{last}");
        }
    }
}
