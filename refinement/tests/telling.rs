//! The report of a failure: in words, as JSON, and by a schedule that shows it again.

use intermezzo_explorer::sync::atomic::{AtomicU8, Ordering::SeqCst};
use intermezzo_explorer::sync::{Condvar, Mutex};
use intermezzo_explorer::{Environment, Verdict, hint};
use intermezzo_refinement::{REFINEMENT_FORMAT, Refinement, RefinementReport, fresh, refine};
use serde_json::Value;

/// A stack in an array.
#[derive(Default)]
struct Stack {
    top: Mutex<usize>,
    slots: [AtomicU8; 3],
}

impl Stack {
    fn push(&self, value: u8) {
        let mut top = self.top.lock().unwrap();
        self.slots[*top].store(value, SeqCst);
        *top += 1;
    }
    /// Releases the lock before it reads.
    fn pop(&self) -> Option<u8> {
        let slot = {
            let mut top = self.top.lock().unwrap();
            *top = top.checked_sub(1)?;
            *top
        };
        Some(self.slots[slot].load(SeqCst))
    }
    fn shown(&self) -> String {
        let top = *self.top.lock().unwrap();
        format!("{top} of {:?}", self.slots)
    }
}

fn stack() -> Refinement<Stack> {
    refine(Stack::default)
        .name("a stack")
        .op("push", fresh::<u8>(), Stack::push)
        .op("pop", (), |stack: &Stack, ()| stack.pop())
        .show(Stack::shown)
        .pin(|s| {
            s.init("push", 1u8)
                .task(|t| t.op("push", 2u8))
                .task(|t| t.op("pop", ()))
                .post("pop", ())
        })
        .scenarios(0)
}

fn with_model(test: Refinement<Stack>) -> RefinementReport {
    test.spec(Vec::new)
        .means("push", |stack: &mut Vec<u8>, value: &u8| stack.push(*value))
        .means("pop", |stack, (): &()| stack.pop())
        .run()
}

fn fails(report: &RefinementReport) -> &intermezzo_refinement::Failure {
    assert_eq!(report.verdict(), Verdict::Fail, "{report}");
    report.failure.as_ref().unwrap()
}

#[test]
fn in_words() {
    insta::assert_snapshot!("stack", stack().run().to_string());
    insta::assert_snapshot!(
        "stack_against_a_model",
        fails(&with_model(stack())).explanation.as_ref().unwrap()
    );
    let report = stack().run();
    insta::assert_snapshot!("stack_in_few_columns", fails(&report).interleaving(60));
    insta::assert_snapshot!("stack_in_one_column", fails(&report).interleaving(40));
}

/// A wait that should end.
#[test]
fn of_a_wait() {
    #[derive(Default)]
    struct Event(Mutex<bool>, Condvar);
    let report = refine(Event::default)
        .op("set", (), |event: &Event, ()| {
            *event.0.lock().unwrap() = true;
            event.1.notify_one();
        })
        .op("wait", (), |event, ()| {
            let set = event.0.lock().unwrap();
            if !*set {
                drop(set);
                // Set meanwhile, perhaps.
                let _set = event.1.wait(event.0.lock().unwrap()).unwrap();
            }
        })
        .show(|event| *event.0.lock().unwrap())
        .explorer(|explorer| explorer.environment(Environment::calm()))
        .run();
    insta::assert_snapshot!("wait", fails(&report).to_string());
}

/// A failure without a history is reported step by step all the same.
#[test]
fn of_a_panic() {
    let report = refine(|| AtomicU8::new(0))
        .op("add", (), |n: &AtomicU8, ()| {
            let before = n.load(SeqCst);
            n.store(before + 1, SeqCst);
            assert!(
                n.load(SeqCst) > before + 1 || before == n.load(SeqCst) - 1,
                "lost"
            );
        })
        .show(|n| n.load(SeqCst))
        .run();
    let failure = fails(&report);
    insta::assert_snapshot!("panic", failure.to_string());
    assert_eq!(failure.columns.len(), 3, "{failure:?}");
}

fn json(report: &RefinementReport) -> Value {
    serde_json::from_str(&report.to_json()).unwrap()
}

#[test]
fn as_json() {
    let report = stack().run();
    insta::assert_snapshot!("stack_as_json", report.to_json());
    let value = json(&report);
    assert_eq!(value["format"], REFINEMENT_FORMAT);
    assert_eq!(
        (&value["program"], &value["verdict"]),
        (&"a stack".into(), &"fail".into())
    );
    let failure = &value["failure"];
    let steps = failure["steps"].as_array().unwrap();
    let columns = failure["columns"].as_array().unwrap();
    assert_eq!(columns.len(), 3);
    let operations = failure["operations"].as_array().unwrap();
    assert_eq!(operations.len(), 4);
    for operation in operations {
        let (first, last) = (operation["first_step"].as_u64(), operation["last_step"].as_u64());
        let (first, last) = (first.unwrap() as usize, last.unwrap() as usize);
        assert!(first < last && last < steps.len(), "{operation}");
        let place = operations.iter().position(|other| other == operation).unwrap();
        assert_eq!(steps[first]["operation"], place, "{operation}");
        assert_eq!(steps[last]["operation"], place, "{operation}");
    }
    for step in steps {
        assert!((step["column"].as_u64().unwrap() as usize) < columns.len());
    }
    // Conflicting accesses are marked, and the object is seen or locked in each step in which it exists.
    let conflicts = steps.iter().filter(|step| step["conflicts"] == true);
    assert_eq!(conflicts.count(), 6, "{failure:#}");
    let states = steps.iter().filter_map(|step| step["state"].as_str());
    assert!(states.clone().any(|state| state == "(locked)"));
    assert!(
        states
            .clone()
            .any(|state| state.starts_with("2 of [1, 2, ") || state.starts_with("1 of [2"))
    );
    assert_eq!(failure["orders"]["complete"], true);
    assert!(!failure["orders"]["dead_ends"].as_array().unwrap().is_empty());
    let dead_end = &failure["orders"]["dead_ends"][0];
    assert!(dead_end["would"].is_array() && dead_end["order"].is_array());
    assert_eq!(value["findings"][0]["schedule"], failure["schedule"]);
    assert_eq!(report.to_json(), stack().run().to_json());
    // A pass reports its coverage.
    let passed = refine(|| Mutex::new(0))
        .op("add", (), |n: &Mutex<u8>, ()| *n.lock().unwrap() += 1)
        .executions(3)
        .run();
    let value = json(&passed);
    assert!(value["failure"].is_null() && !value["not_in_full"].as_array().unwrap().is_empty());
    assert_eq!(value["coverage"]["kind"], "bounded");
}

#[test]
fn a_schedule_shows_it_again() {
    let report = stack().run();
    let failure = fails(&report);
    let schedule = failure.schedule.token();
    let again = stack().replay(&schedule).run();
    assert_eq!(fails(&again).to_string(), failure.to_string());
    assert!(
        report.to_string().contains(&format!(".replay(\"{schedule}\")")),
        "{report}"
    );
    let again = with_model(stack().replay(&schedule));
    assert_eq!(fails(&again).message, failure.message);
    // A schedule of another scenario.
    let other = || {
        refine(Stack::default)
            .op("pop", (), |stack: &Stack, ()| stack.pop())
            .pin(|s| s.task(|t| t.op("pop", ())))
            .replay(&schedule)
            .run()
    };
    let panic = std::panic::catch_unwind(other).unwrap_err();
    let message = panic.downcast::<String>().unwrap();
    assert!(message.contains("of another scenario"), "{message}");
    // Fixed, it passes.
    let fixed = refine(Stack::default)
        .op("push", fresh::<u8>(), Stack::push)
        .op("pop", (), |stack: &Stack, ()| {
            let mut top = stack.top.lock().unwrap();
            *top = top.checked_sub(1)?;
            let value = stack.slots[*top].load(SeqCst);
            Some(value)
        })
        .pin(|s| {
            s.init("push", 1u8)
                .task(|t| t.op("push", 2u8))
                .task(|t| t.op("pop", ()))
                .post("pop", ())
        })
        .replay(&schedule)
        .run();
    assert!(fixed.failure.is_none() || fixed.failure.unwrap().kind.as_str() == "divergence");
}

#[test]
fn what_was_covered_is_found() {
    let test = || {
        refine(|| Mutex::new(0))
            .op("add", (), |n: &Mutex<u8>, ()| *n.lock().unwrap() += 1)
            .executions(20)
            .scenarios(6)
    };
    let report = test().check();
    assert!(!report.short.is_empty() && report.short.len() < 6, "{report}");
    assert!(report.to_string().contains("not in full"), "{report}");
    assert_eq!(test().in_full().run().verdict(), Verdict::Inconclusive);
}

/// A task waits for its turn where one operation runs at a time: that is no step of the object.
#[test]
fn turns_are_no_steps() {
    let report = refine(|| AtomicU8::new(0))
        .op("set", (), |flag, ()| flag.store(1, SeqCst))
        .op("wait", (), |flag, ()| {
            while flag.load(SeqCst) == 0 {
                hint::spin_loop();
            }
        })
        .threads(1..=1)
        .run();
    let text = fails(&report).to_string();
    assert!(text.contains("load"), "{text}");
    for of_ours in ["turn/", "done/", "body.rs"] {
        assert!(!text.contains(of_ours), "{text}");
    }
}
