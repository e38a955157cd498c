//! Searches of the user's own that do what no search may: that is told as their error, and never as a failure of the test.

use intermezzo_explorer::schedule::ChoiceKind;
use intermezzo_explorer::search::{
    ChoicePoint, CompletedExecution, DepthFirst, Parallel, Plan, SoFar, Status, Strategy as Search,
};
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::{Arc, Mutex};
use intermezzo_explorer::trace::Trace;
use intermezzo_explorer::{
    Coverage, ExploreError, Explorer, Report, Strategy, StrategyError, choose, thread,
};

/// The deeds of the search `own`, of which one is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    Nothing,
    Beyond(u32),
    PanicsIn(&'static str),
    Prescribes,
    Returns(Option<u32>),
    Overflows,
    Hangs,
}

struct Own {
    wrong: Wrong,
    executions: u64,
    /// It does the wrong thing in this execution.
    at: u64,
}

impl Own {
    fn new(wrong: Wrong, at: u64) -> Own {
        Own {
            wrong,
            executions: 0,
            at,
        }
    }

    fn is_wrong(&self) -> bool {
        self.executions == self.at
    }

    fn panic_in(&self, method: &'static str) {
        if self.wrong == Wrong::PanicsIn(method) && self.is_wrong() {
            panic!("boom in {method}");
        }
    }
}

#[inline(never)]
#[allow(unconditional_recursion, reason = "that is the point")]
fn deep(n: &mut [u8; 100]) -> u8 {
    let mut more = [n[0].wrapping_add(1); 100];
    std::hint::black_box(&mut more);
    deep(&mut more).wrapping_add(more[1])
}

impl Search for Own {
    fn next(&mut self, plan: &mut Plan, _: &Trace) -> bool {
        self.executions += 1;
        self.panic_in("next");
        if self.wrong == Wrong::Prescribes && self.is_wrong() {
            let mut choices = plan.choices().to_vec();
            choices[0].taken = 7;
            plan.replace(&choices);
        } else {
            plan.truncate(0);
        }
        true
    }

    fn choose(&mut self, point: &ChoicePoint<'_>) -> Option<u32> {
        self.panic_in("choose");
        match self.wrong {
            Wrong::Beyond(by) if self.is_wrong() && point.kind == ChoiceKind::Task => {
                Some(point.alternatives.saturating_add(by))
            }
            Wrong::Returns(taken) if self.is_wrong() => taken,
            Wrong::Overflows if self.is_wrong() => Some(deep(&mut [1; 100]).into()),
            Wrong::Hangs if self.is_wrong() => loop {
                std::hint::spin_loop();
            },
            _ => Some(0),
        }
    }

    fn coverage(&self, _: bool) -> Coverage {
        self.panic_in("coverage");
        Coverage::Sampled {
            executions: self.executions,
        }
    }

    fn status(&self, _: &SoFar<'_>) -> Status {
        self.panic_in("status");
        Status::named("own")
    }

    fn finished(&mut self, _: &CompletedExecution<'_>) {
        self.panic_in("finished");
    }
}

/// A correct test, with choices of tasks and one of a value.
fn right() {
    let n = AtomicUsize::new(0);
    thread::scope(|scope| {
        let add = || _ = n.fetch_add(choose(2), SeqCst);
        scope.spawn(add);
        thread::Builder::new()
            .name("named".into())
            .spawn_scoped(scope, add)
            .unwrap();
    });
    assert!(n.load(SeqCst) <= 2);
}

fn explore(own: Own) -> Result<Report, ExploreError> {
    let explorer = Explorer::new().set("hang", "1").executions(20);
    explorer.strategy(Strategy::custom(own)).try_explore(right)
}

fn error(own: Own) -> StrategyError {
    match explore(own) {
        Err(ExploreError::Strategy(error)) => error,
        Err(error) => panic!("{error}"),
        Ok(report) => panic!("{report}"),
    }
}

#[test]
fn a_choice_that_is_no_alternative_is_the_strategys_error() {
    for (wrong, taken) in [(Wrong::Beyond(0), "2"), (Wrong::Beyond(u32::MAX), "4294967295")] {
        let error = error(Own::new(wrong, 3));
        assert_eq!(error.strategy, "own");
        let told = error.to_string();
        let begin =
            format!("the strategy `own` chose alternative {taken} of 2, in its execution 3 at step 1 (");
        assert!(told.starts_with(&begin), "{told}");
        assert!(
            told.contains("which task goes next: 0 is `task 1`, 1 is `named`"),
            "{told}"
        );
        assert!(told.contains("`point.task(index)`"), "{told}");
        assert!(told.ends_with("nothing is said of the test"), "{told}");
    }
}

#[test]
fn a_panic_is_the_strategys_error() {
    // The status is asked for before the first execution, and with the coverage after the last.
    let calls = [
        ("status", 0),
        ("next", 1),
        ("choose", 2),
        ("finished", 2),
        ("status", 20),
        ("coverage", 20),
    ];
    for (method, at) in calls {
        let told = error(Own::new(Wrong::PanicsIn(method), at)).to_string();
        assert!(told.contains(&format!("panicked in `{method}`")), "{told}");
        assert!(told.contains(&format!("boom in {method}")), "{told}");
        // Before the exploration begins the place is not known.
        assert!(at == 0 || told.contains("own_strategies.rs:"), "{told}");
    }
}

/// An error also has the findings before it, with schedules that can be replayed.
#[test]
fn an_error_keeps_what_was_found_before() {
    let odd = || assert_eq!(choose(2), 0, "an odd one");
    let explore = |wrong, at| {
        let own = Alternates(Own::new(wrong, at));
        let explorer = Explorer::new().set("hang", "1").executions(20).keep_going(true);
        explorer.strategy(Strategy::custom(own)).try_explore(odd)
    };
    for wrong in [
        Wrong::PanicsIn("next"),
        Wrong::PanicsIn("choose"),
        Wrong::Overflows,
        Wrong::Hangs,
    ] {
        let Err(ExploreError::Strategy(error)) = explore(wrong, 4) else {
            panic!("{wrong:?}")
        };
        let [found] = &error.findings[..] else {
            panic!("{error}")
        };
        let told = error.to_string();
        assert!(told.contains("this was found before:\n- assertion: "), "{told}");
        assert!(told.contains("an odd one"), "{told}");
        assert!(
            told.ends_with(&format!("(schedule {})", found.schedule.token())),
            "{told}"
        );
        let again = Explorer::new()
            .replay(found.schedule.clone())
            .try_explore(odd)
            .unwrap();
        assert!(again.verdict().is_fail(), "{again}");
    }
    let Err(ExploreError::Strategy(error)) = explore(Wrong::PanicsIn("next"), 1) else {
        panic!("it did not fail")
    };
    assert_eq!(error.findings, []);
}

/// A search like the one within it, which chooses the other alternative in every other execution.
struct Alternates(Own);

impl Search for Alternates {
    fn next(&mut self, plan: &mut Plan, trace: &Trace) -> bool {
        self.0.next(plan, trace)
    }
    fn choose(&mut self, point: &ChoicePoint<'_>) -> Option<u32> {
        let taken = self.0.choose(point)?;
        Some(if self.0.executions.is_multiple_of(2) {
            point.alternatives - 1
        } else {
            taken
        })
    }
    fn coverage(&self, finished: bool) -> Coverage {
        self.0.coverage(finished)
    }
    fn status(&self, so_far: &SoFar<'_>) -> Status {
        self.0.status(so_far)
    }
}

#[test]
fn a_prescribed_choice_that_is_no_alternative_is_the_strategys_error() {
    let told = error(Own::new(Wrong::Prescribes, 2)).to_string();
    let says = "prescribed alternative 7 of 2 as choice 1 of its execution 2";
    assert!(told.contains(says), "{told}");
}

#[test]
fn a_call_that_does_not_return_is_the_strategys_error() {
    for (wrong, why) in [(Wrong::Overflows, "overflow"), (Wrong::Hangs, "visible")] {
        let told = error(Own::new(wrong, 2)).to_string();
        assert!(told.contains("did not return from `choose`"), "{told}");
        assert!(told.contains(why), "{told}");
    }
}

#[test]
fn where_no_choice_was_expected_the_strategy_is_named() {
    let report = explore(Own::new(Wrong::Returns(None), 2)).unwrap();
    let [finding] = report.findings() else {
        panic!("{report}")
    };
    assert_eq!(finding.kind.as_str(), "divergence");
    let advice = finding.suggestion.as_deref().unwrap();
    assert!(
        advice.starts_with("the strategy `own` is your own, and may be at fault"),
        "{report}"
    );
    let note = "or the strategy expects choices that are not there";
    assert!(report.notes().iter().any(|said| said.contains(note)), "{report}");
}

#[test]
fn a_right_strategy_is_not_blamed() {
    for wrong in [Wrong::Nothing, Wrong::Returns(Some(1))] {
        let report = explore(Own::new(wrong, 2)).unwrap();
        assert!(report.verdict().is_pass(), "{report}");
        assert_eq!((report.executions(), report.strategy()), (20, "own"));
    }
}

/// A search that uses look-alikes, one of which its owner has as well.
struct Uses {
    own: Mutex<Vec<u32>>,
    shared: Arc<Mutex<usize>>,
    count: AtomicUsize,
}

impl Uses {
    fn all(&self, taken: u32) {
        self.own.lock().unwrap().push(taken);
        self.count.fetch_add(1, SeqCst);
        thread::yield_now();
    }
}

impl Search for Uses {
    fn next(&mut self, plan: &mut Plan, _: &Trace) -> bool {
        self.all(0);
        plan.truncate(0);
        true
    }
    fn choose(&mut self, point: &ChoicePoint<'_>) -> Option<u32> {
        self.all(point.alternatives);
        if let Ok(mut seen) = self.shared.try_lock() {
            *seen += 1;
        }
        Some(0)
    }
    fn finished(&mut self, _: &CompletedExecution<'_>) {
        self.all(1);
    }
    fn coverage(&self, _: bool) -> Coverage {
        Coverage::Sampled { executions: 1 }
    }
    fn status(&self, _: &SoFar<'_>) -> Status {
        Status::named("uses")
    }
}

/// Look-alikes are std's own types where a search uses them: it is no task, although it is called in the middle of a step.
#[test]
fn look_alikes_in_a_strategy_are_stds() {
    let shared = Arc::new(Mutex::new(0));
    let search = Uses {
        own: Mutex::default(),
        shared: shared.clone(),
        count: AtomicUsize::new(0),
    };
    let explorer = Explorer::new().set("hang", "1").executions(20);
    let report = explorer
        .strategy(Strategy::custom(search))
        .try_explore(right)
        .unwrap();
    assert!(report.verdict().is_pass(), "{report}");
    assert_eq!(report.executions(), 20);
    let usual = explore(Own::new(Wrong::Nothing, 0)).unwrap();
    assert_eq!(format!("{:?}", report.limits()), format!("{:?}", usual.limits()));
    assert!(*shared.lock().unwrap() > 20);
}

/// A search that several workers share, of which one share fails.
struct Shared {
    search: Box<dyn Search>,
    executions: u64,
}

impl Search for Shared {
    fn next(&mut self, plan: &mut Plan, trace: &Trace) -> bool {
        self.executions += 1;
        assert!(self.executions < 3, "boom");
        self.search.next(plan, trace)
    }
    fn choose(&mut self, point: &ChoicePoint<'_>) -> Option<u32> {
        self.search.choose(point)
    }
    fn coverage(&self, finished: bool) -> Coverage {
        self.search.coverage(finished)
    }
    fn status(&self, _: &SoFar<'_>) -> Status {
        Status::named("shared")
    }
    fn parallel(&mut self) -> Option<&mut dyn Parallel> {
        self.search.parallel()
    }
}

/// A correct test with more interleavings than the workers run, so that each of them always has work.
fn large() {
    let n = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| (0..4).for_each(|_| _ = n.fetch_add(1, SeqCst)));
        }
    });
}

/// The others do not wait for work that the one which fails does not give them any more.
#[test]
fn the_error_of_one_worker_ends_all() {
    for jobs in 1..4 {
        let search = Shared {
            search: Box::new(DepthFirst::new()),
            executions: 0,
        };
        let explorer = Explorer::new().jobs(jobs).keep_going(true);
        let error = explorer
            .strategy(Strategy::custom(search))
            .try_explore(large)
            .unwrap_err();
        assert!(error.to_string().contains("panicked in `next` after "), "{error}");
    }
}
