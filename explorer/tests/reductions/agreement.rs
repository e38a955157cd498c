//! Compares the reductions with a search without reduction, on programs that a test draws itself.

use intermezzo_explorer::{Coverage, Explorer, Reduction, Report, Strategy};
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::Mutex;

/// The number of executions without reduction at which a program is too large.
const EXECUTIONS_MAX: u64 = 4_000;

/// The searches that are compared, each with its number of workers.
const SEARCHES: [(Reduction, usize); 4] = [
    (Reduction::Dpor, 1),
    (Reduction::Dpor, 3),
    (Reduction::SourceDpor, 1),
    (Reduction::Caching, 1),
];

/// Random numbers (xorshift).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        (0..8).for_each(|_| _ = random.below(2));
        random
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % bound as u64) as usize
    }
}

/// Checks that all reductions show the outcomes that a search without reduction shows; and as many traces, if loops that
/// wait run round by round: a trace says where a task was parked, and a reduction may have it parked elsewhere. If fairness
/// leaves out schedules, they may show others that occur without fairness. Returns the report of `dpor`, for which
/// another reduction may have taken over.
///
/// # Errors
/// If the program is too large.
pub(crate) fn agree<O: Ord + Debug + Send>(
    program: &impl Debug,
    settings: &[(&str, &str)],
    test: impl Fn() -> O + Sync,
) -> Result<Report, ()> {
    let explore = |reduction, jobs, fair_yields| {
        let outcomes = Mutex::new(BTreeSet::new());
        let mut explorer = Explorer::new()
            .strategy(Strategy::dfs())
            .reduction(reduction)
            .jobs(jobs)
            .executions(EXECUTIONS_MAX)
            .set("spin_loops", format!("fair_yields={fair_yields}"))
            .set("monitors", "none");
        for (name, value) in settings {
            explorer = explorer.set(name, value);
        }
        let report = explorer.explore(|| {
            let outcome = test();
            outcomes.lock().unwrap().insert(outcome);
        });
        assert!(report.findings().is_empty(), "{program:?}: {report}");
        (report, outcomes.into_inner().unwrap())
    };
    let (reference, all) = explore(Reduction::None, 1, "1");
    if reference.executions() >= EXECUTIONS_MAX {
        return Err(());
    }
    let is_whole = *reference.coverage() == Coverage::Exhaustive;
    // More than this can occur only without fairness; empty if that has too many executions.
    let mut most = BTreeSet::new();
    if !is_whole {
        let (unfair, outcomes) = explore(Reduction::None, 1, "1000000");
        if unfair.executions() < EXECUTIONS_MAX {
            most = outcomes;
        }
    }
    let mut by_dpor = None;
    for (reduction, jobs) in SEARCHES {
        let (report, outcomes) = explore(reduction, jobs, "1");
        let said = format!("{program:?}: {reduction:?} with {jobs} workers: {report}");
        assert!(
            outcomes.is_superset(&all),
            "{said}: {outcomes:?}, and there are {all:?}"
        );
        assert!(
            most.is_empty() || outcomes.is_subset(&most),
            "{said}: {outcomes:?} of {most:?}"
        );
        if is_whole {
            assert_eq!(outcomes, all, "{said}");
        }
        if settings.contains(&("spin_loops", "run")) {
            let (own, others) = (report.traces(), reference.traces());
            assert!(
                if is_whole { own == others } else { own >= others },
                "{said}: there are {others:?} traces"
            );
        }
        if is_whole && jobs == 1 && report.reduction() == "dpor" {
            assert_eq!(report.redundant(), 0, "{said}");
        }
        by_dpor.get_or_insert(report);
    }
    Ok(by_dpor.expect("dpor is one of the searches"))
}
