//! Sets of observations: kept, compared, and compared with.

#[path = "common/waiting.rs"]
mod waiting_queue;

use intermezzo_explorer::Verdict;
use intermezzo_explorer::sync::{Condvar, Mutex};
use intermezzo_refinement::{Granularity, ObservationSet, Refinement, fresh, refine};
use std::fs;
use std::path::PathBuf;
use waiting_queue::Waiting;

type Stack = Mutex<Vec<u8>>;

fn stack(pop: fn(&Stack) -> Option<u8>) -> Refinement<Stack> {
    refine(Stack::default)
        .op("push", fresh::<u8>(), |stack: &Stack, value| {
            stack.lock().unwrap().push(value)
        })
        .op("pop", (), move |stack, ()| pop(stack))
        .scenarios(8)
}

fn last(stack: &Stack) -> Option<u8> {
    stack.lock().unwrap().pop()
}

fn first(stack: &Stack) -> Option<u8> {
    let mut stack = stack.lock().unwrap();
    (!stack.is_empty()).then(|| stack.remove(0))
}

/// A directory that is gone at the end.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Directory {
        let path =
            std::env::temp_dir().join(format!("intermezzo-observations-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Directory(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_golden_set_is_a_regression_test() {
    let directory = Directory::new("golden");
    let path = directory.0.join("stack.json");
    let golden = stack(last).observe().unwrap();
    golden.save(&path).unwrap();
    let loaded = ObservationSet::load(&path).unwrap();
    assert_eq!(loaded, golden);
    assert_eq!(loaded.to_json(), fs::read_to_string(&path).unwrap());
    assert_eq!(stack(last).observe().unwrap().diff(&golden), []);
    assert_eq!(stack(last).against(loaded.clone()).run().verdict(), Verdict::Pass);
    // A queue is no stack.
    let report = stack(first).against(loaded).run();
    assert_eq!(report.verdict(), Verdict::Fail, "{report}");
    let differences = stack(first).observe().unwrap().diff(&golden);
    let shown: Vec<String> = differences.iter().map(ToString::to_string).collect();
    assert!(shown.iter().any(|line| line.starts_with('-')), "{shown:#?}");
    assert!(shown.iter().any(|line| line.starts_with('+')), "{shown:#?}");
    // Overwriting is for files of its own kind.
    golden.save(&path).unwrap();
    let other = directory.0.join("notes.txt");
    fs::write(&other, "do not lose this").unwrap();
    let refused = golden.save(&other).unwrap_err().to_string();
    assert!(refused.contains("of another kind"), "{refused}");
    assert_eq!(fs::read_to_string(&other).unwrap(), "do not lose this");
}

#[test]
fn what_is_no_set_is_refused() {
    let text = stack(last).scenarios(2).observe().unwrap().to_json();
    let refused = |text: &str| ObservationSet::from_json(text).unwrap_err().to_string();
    for (text, expected) in [
        ("", "not JSON"),
        ("{}", "no `format`"),
        (&text.replace("observations/1", "observations/7"), "observe again"),
        (
            &text.replace("push(1)", "push(9)"),
            "changed since it was written",
        ),
        (&text.replace("\"order\"", "\"odrer\""), "unknown field"),
    ] {
        let refused = refused(text);
        assert!(refused.contains(expected), "{refused}");
    }
    let missing = ObservationSet::load("no/such/file").unwrap_err().to_string();
    assert!(
        missing.starts_with("observations \"no/such/file\": cannot be read"),
        "{missing}"
    );
}

/// Two that meet: the first waits for the second.
#[derive(Default)]
struct Meeting(Mutex<u8>, Condvar);

impl Meeting {
    fn meet(&self) {
        let mut here = self.0.lock().unwrap();
        *here += 1;
        if *here == 1 {
            while *here < 2 {
                here = self.1.wait(here).unwrap();
            }
        } else {
            self.1.notify_one();
        }
    }
}

/// One at a time they never meet; without preemption they do.
#[test]
fn granularity_matters_where_operations_wait_for_each_other() {
    let test = || {
        refine(Meeting::default)
            .op("meet", (), |meeting, ()| meeting.meet())
            .threads(2..=2)
            .ops(1..=1)
            .init(0..=0)
            .post(0..=0)
    };
    assert_eq!(test().run().verdict(), Verdict::Fail);
    for granularity in [Granularity::Coarse, Granularity::All] {
        let report = test().granularity(granularity).run();
        assert_eq!(report.verdict(), Verdict::Pass, "{granularity:?}: {report}");
    }
    let serial = test().observe().unwrap().to_string();
    let coarse = test()
        .granularity(Granularity::Coarse)
        .observe()
        .unwrap()
        .to_string();
    assert!(
        serial.contains("meet() waits") && !coarse.contains("meet() waits"),
        "{serial}\n{coarse}"
    );
}

/// An operation's state between two of its steps is not seen by coarse ones.
#[test]
fn coarse_operations_are_not_preempted() {
    let test = |granularity| {
        refine(|| Mutex::new(0))
            .op("add", (), |n: &Mutex<u8>, ()| {
                let before = *n.lock().unwrap();
                *n.lock().unwrap() = before + 1;
                before
            })
            .threads(2..=2)
            .ops(1..=1)
            .init(0..=0)
            .post(0..=0)
            .granularity(granularity)
    };
    for (granularity, verdict) in [
        (Granularity::Serial, Verdict::Fail),
        (Granularity::Coarse, Verdict::Fail),
        (Granularity::All, Verdict::Pass),
    ] {
        let report = test(granularity).run();
        assert_eq!(report.verdict(), verdict, "{granularity:?}: {report}");
        assert!(report.short.is_empty(), "{report}");
    }
}

fn two_that_pop(push: fn(&Waiting, u8)) -> Refinement<Waiting> {
    refine(Waiting::default)
        .op("push", fresh::<u8>(), push)
        .op("pop", (), |queue: &Waiting, ()| queue.pop())
        .threads(2..=2)
        .scenarios(20)
        // Two wait for ever, and one of them has something to do before.
        .pin(|s| {
            s.init("push", 1u8)
                .task(|t| t.op("pop", ()).op("pop", ()))
                .task(|t| t.op("pop", ()))
        })
}

/// Tasks that are observed at once wait together, and their observations have no beginnings.
#[test]
fn operations_may_wait_together() {
    for granularity in [Granularity::Serial, Granularity::Coarse, Granularity::All] {
        let test = || two_that_pop(Waiting::push).granularity(granularity);
        let report = test().run();
        assert_eq!(report.verdict(), Verdict::Pass, "{granularity:?}: {report}");
        let observed = test().observe().unwrap();
        let report = test().against(observed).run();
        assert_eq!(report.verdict(), Verdict::Pass, "{granularity:?}: {report}");
        assert!(report.short.is_empty(), "{granularity:?}: {report}");
    }
}

/// The second value finds two that wait, and wakes none if the first has not been taken.
#[test]
fn a_lost_wake_up_is_not_observed_together() {
    for granularity in [Granularity::Serial, Granularity::Coarse] {
        let lost = |push| {
            two_that_pop(push).granularity(granularity).scenarios(0).pin(|s| {
                s.task(|t| t.op("pop", ()))
                    .task(|t| t.op("pop", ()))
                    .task(|t| t.op("push", 1u8))
                    .task(|t| t.op("push", 2u8))
            })
        };
        let observed = lost(Waiting::push).observe().unwrap();
        let report = lost(Waiting::push_tells_only_of_the_first)
            .against(observed)
            .run();
        assert_eq!(report.verdict(), Verdict::Fail, "{granularity:?}: {report}");
        let failure = report.failure.unwrap();
        assert!(failure.message.contains("pop() waits"), "{failure}");
    }
}
