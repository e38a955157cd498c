//! States that an execution of a caching search reaches, before and after the execution has ended.

use intermezzo_engine::trace::{Fingerprints, Trace};
use intermezzo_explorer::search::{
    ChoicePoint, DepthFirst, IterativePreemptionBounding, Needs, Plan, SoFar, Status, Strategy as Search,
};
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::{Coverage, Explorer, Report, Strategy, thread};
use intermezzo_search::{Caching, Visits};
use std::sync::Arc;

/// A caching search. If it `stops`, its `next` is called only once, as if the worker had stopped within its first execution.
struct Worker {
    search: Caching,
    stops: bool,
    begun: bool,
}

impl Search for Worker {
    fn next(&mut self, plan: &mut Plan, trace: &Trace) -> bool {
        let stops = self.stops && self.begun;
        self.begun = true;
        !stops && self.search.next(plan, trace)
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

fn explore(visits: &Visits, bounded: bool, stops: bool) -> Report {
    let inner: Box<dyn Search> = match bounded {
        true => Box::new(IterativePreemptionBounding::new(1)),
        false => Box::new(DepthFirst::new()),
    };
    let worker = Worker {
        search: Caching::new(inner, visits.clone(), bounded),
        stops,
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

/// The execution may be run again and not reach its states then. If another worker had taken them for known, what
/// follows them would be run by none.
#[test]
fn states_are_known_to_other_workers_once_the_execution_has_ended() {
    for bounded in [false, true] {
        let alone = explore(&Arc::new(Fingerprints::new(1 << 20)), bounded, false);
        assert!(alone.executions() > 3, "{alone}");
        let visits = Arc::new(Fingerprints::new(1 << 20));
        assert_eq!(explore(&visits, bounded, true).executions(), 1);
        let other = explore(&visits, bounded, false);
        assert_eq!(
            (other.executions(), other.traces()),
            (alone.executions(), alone.traces())
        );
        // Now all of them are.
        assert_eq!(explore(&visits, bounded, false).executions(), 1);
    }
}
