//! The arguments, contexts and expectations that the attributes of tests declare.

use intermezzo::sync::Mutex;
use intermezzo::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo::{Expected, Explorer, GrowingCase, Source, choose, run_growth_test, thread};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex as Kept;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Locked,
    Of(i32),
}

use Kind::{Locked, Of};

/// The cases that ran, which outlive their executions.
static RAN: Kept<BTreeMap<&str, BTreeSet<String>>> = Kept::new(BTreeMap::new());

fn ran(test: &'static str, case: String) {
    RAN.lock().unwrap().entry(test).or_default().insert(case);
}

#[intermezzo::test(args(tasks = 1..=2, kind = [Locked, Of(-1), Of(1)]), preemptions = 1)]
/// A test may have documentation.
#[allow(unused_mut)]
fn counts(mut tasks: usize, kind: Kind) -> Result<(), String> {
    let total = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..tasks {
            scope.spawn(|| total.fetch_add(1, SeqCst));
        }
    });
    ran("counts", format!("{tasks} {kind:?}"));
    match total.load(SeqCst) {
        all if all == tasks => Ok(()),
        other => Err(format!("{other}")),
    }
}

#[intermezzo::test(contexts(few(preemptions = 0), walk(strategy = "random", executions = 7)), args(map = [BTreeMap::from([(1, 'a')]), BTreeMap::new()]))]
fn has_contexts(map: BTreeMap<u8, char>) {
    ran("has_contexts", format!("{}", map.len()));
}

#[test]
fn each_combination_is_a_test() {
    // The cases are tests of this binary. Here the same functions are called as the harness does.
    counts::tasks_1_kind_locked();
    counts::tasks_1_kind_of_minus_1();
    counts::tasks_1_kind_of_1();
    counts::tasks_2_kind_locked();
    counts::tasks_2_kind_of_minus_1();
    counts::tasks_2_kind_of_1();
    has_contexts::few_map_btree_map_from_1_a();
    has_contexts::few_map_btree_map_new();
    has_contexts::walk_map_btree_map_from_1_a();
    has_contexts::walk_map_btree_map_new();
    let ran = RAN.lock().unwrap();
    let of = |test| ran[test].iter().map(String::as_str).collect::<Vec<_>>();
    let all = [
        "1 Locked", "1 Of(-1)", "1 Of(1)", "2 Locked", "2 Of(-1)", "2 Of(1)",
    ];
    assert_eq!(of("counts"), all);
    assert_eq!(of("has_contexts"), ["0", "1"]);
}

fn in_both_orders() {
    let (a, b) = (Mutex::new(()), Mutex::new(()));
    thread::scope(|scope| {
        scope.spawn(|| {
            let _a = a.lock();
            let _b = b.lock();
        });
        let _b = b.lock();
        let _a = a.lock();
    });
}

#[intermezzo::test(expect(deadlock))]
fn a_deadlock_is_expected() {
    in_both_orders();
}

#[intermezzo::test(expect(panic = "the message", executions = 1))]
fn a_panic_is_expected() {
    panic!("a part of the message");
}

#[intermezzo::test(
    expect(executions = 3, traces = 3, tasks = 3),
    strategy = "dfs",
    reduction = "dpor"
)]
fn figures_are_expected() {
    static N: AtomicUsize = AtomicUsize::new(0);
    let store = thread::spawn(|| N.store(1, SeqCst));
    let load = thread::spawn(|| N.load(SeqCst) + N.load(SeqCst));
    store.join().unwrap();
    load.join().unwrap();
}

#[intermezzo::test(deterministic)]
fn a_sum_is_one_result() -> Vec<usize> {
    let total = AtomicUsize::new(0);
    thread::scope(|scope| {
        for part in 1..=3 {
            let total = &total;
            scope.spawn(move || total.fetch_add(part, SeqCst));
        }
    });
    vec![total.load(SeqCst)]
}

#[intermezzo::test(deterministic, args(tasks = 1..=2), contexts(all(reduction = "dpor"), walk(strategy = "random", executions = 9)))]
fn cases_have_one_result(tasks: usize) -> Result<usize, String> {
    let total = Mutex::new(0);
    thread::scope(|scope| {
        for _ in 0..tasks {
            scope.spawn(|| *total.lock().unwrap() += 1);
        }
    });
    ran("cases_have_one_result", format!("{tasks}"));
    Ok(total.into_inner().unwrap())
}

#[intermezzo::test(deterministic, expect(determinism = "the test returned 1, and 0"))]
fn two_results_are_expected() -> usize {
    intermezzo::choose(2)
}

#[intermezzo::test(deterministic, expect(panic = "the test returned an error: \"wrong\""))]
fn an_error_is_no_result() -> Result<(), &'static str> {
    Err("wrong")
}

#[test]
fn cases_may_have_to_be_deterministic() {
    cases_have_one_result::all_tasks_1();
    cases_have_one_result::all_tasks_2();
    cases_have_one_result::walk_tasks_1();
    cases_have_one_result::walk_tasks_2();
    let ran = RAN.lock().unwrap();
    assert_eq!(
        ran["cases_have_one_result"].iter().collect::<Vec<_>>(),
        ["1", "2"]
    );
}

#[test]
fn a_result_that_differs_fails_the_test_with_both() {
    let run = || {
        let source = intermezzo::Source {
            package: option_env!("CARGO_MANIFEST_DIR"),
            package_name: None,
            binary: None,
            is_in_suite: true,
            file: file!(),
            should_panic: None,
            expected: &[],
            expects_finding: false,
        };
        intermezzo::run_deterministic_test("declared::differs", &[], source, || intermezzo::choose(2));
    };
    // On a thread of its own, because the panic is expected.
    let panic = std::thread::spawn(run).join().unwrap_err();
    let text = panic.downcast_ref::<String>().expect("a panic with a text");
    let first = "error[determinism]: the test returned 1, and 0 in its default execution\n";
    assert!(text.starts_with(first), "{text}");
    assert!(
        text.contains("\nor the default execution, which returned 0:\n  INTERMEZZO_REPLAY="),
        "{text}"
    );
}

/// Returns the notes of a report that fails.
#[track_caller]
fn failed(expected: &[(&str, &str)], test: impl Fn() + Send + Sync) -> Vec<String> {
    let add = |explorer: Explorer, (name, value): &(&str, &str)| {
        explorer.expect(Expected::named(name, value).unwrap())
    };
    let report = expected.iter().fold(Explorer::new(), add).explore(test);
    assert!(report.verdict().is_fail(), "{report}");
    assert!(!report.has_expected_finding(), "{report}");
    report.notes().to_vec()
}

#[track_caller]
fn has(notes: &[String], note: &str) {
    assert!(notes.iter().any(|known| known == note), "{notes:#?}");
}

/// Each of several declared findings has to be found, in any order.
#[test]
fn several_findings_are_expected() {
    let either = || panic!("{}", if choose(2) == 0 { "one" } else { "two" });
    let explore = |expected: [&str; 2], keep_going| {
        let [first, second] = expected.map(|text| Expected::named("panic", text).unwrap());
        let explorer = Explorer::new().expect(first).expect(second);
        explorer.keep_going(keep_going).explore(either)
    };
    for expected in [["one", "two"], ["two", "one"]] {
        let report = explore(expected, true);
        assert!(report.verdict().is_pass(), "{report}");
        let report = explore(expected, false);
        assert!(
            report.verdict().is_fail() && !report.has_expected_finding(),
            "{report}"
        );
        has(
            report.notes(),
            "the test should panic with \"two\" in its message, and no execution did",
        );
        let replayed = Explorer::new().replay(report.findings()[0].schedule.clone());
        let expected = expected.map(|text| Expected::named("panic", text).unwrap());
        let replayed = expected
            .into_iter()
            .fold(replayed, Explorer::expect)
            .explore(either);
        assert!(replayed.verdict().is_pass(), "{replayed}");
    }
    let report = explore(["one", "three"], true);
    assert!(report.verdict().is_fail(), "{report}");
}

#[test]
fn a_test_that_breaks_its_declaration_fails() {
    has(
        &failed(&[("deadlock", "")], || ()),
        "the test should show the finding deadlock, and no execution did",
    );
    has(
        &failed(&[("leak", "")], in_both_orders),
        "the test should show the finding leak: what was found is something else",
    );
    has(
        &failed(&[("deadlock", "mutex 7.7")], in_both_orders),
        "the test should show the finding deadlock with \"mutex 7.7\" in its message: what was found is something else",
    );
    has(
        &failed(&[("panic", "two")], || panic!("one")),
        "the test should panic with \"two\" in its message: what was found is something else",
    );
    has(
        &failed(&[("executions", "2")], || ()),
        "the test expects executions=2: there are 1",
    );
    has(
        &failed(&[("tasks", "2"), ("traces", "2")], || ()),
        "the test expects tasks=2: there are 1",
    );
}

#[test]
fn unknown_kinds_cannot_be_expected() {
    let refused = Expected::named("dead_lock", "").unwrap_err();
    assert!(
        refused.starts_with(
            "expect(dead_lock): there is no such finding or figure; there are: assertion, panic, deadlock, "
        ) && refused.ends_with("executions, traces, steps, tasks"),
        "{refused}"
    );
    assert_eq!(
        Expected::named("traces", "many").unwrap_err(),
        "expect(traces = many): a whole number is needed"
    );
}

#[test]
fn an_expected_finding_replays() {
    let report = Explorer::new()
        .program("declared::replayed")
        .expect(Expected::named("deadlock", "").unwrap())
        .explore(in_both_orders);
    assert!(
        report.verdict().is_pass() && report.has_expected_finding(),
        "{report}"
    );
    let schedule = report.findings()[0].schedule.clone();
    let again = Explorer::new()
        .program("declared::replayed")
        .expect(Expected::named("deadlock", "").unwrap())
        .expect(Expected::named("executions", "99").unwrap())
        .replay(schedule)
        .explore(in_both_orders);
    assert!(
        again.verdict().is_pass() && again.has_expected_finding(),
        "{again}"
    );
}

/// Each task adds once: the steps are proportional to the tasks.
#[intermezzo::test(args(tasks = 2..=4), growth(steps = 1.2, tasks = 1), strategy = "random", executions = 20)]
fn is_linear(tasks: usize) {
    let total = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..tasks {
            scope.spawn(|| total.fetch_add(1, SeqCst));
        }
    });
    assert_eq!(total.load(SeqCst), tasks);
}

/// Each task adds as many times as there are tasks.
fn quadratic(tasks: usize) {
    let total = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..tasks {
            scope.spawn(|| (0..tasks).for_each(|_| _ = total.fetch_add(1, SeqCst)));
        }
    });
}

/// Compares the cases of a test as the attribute does. Returns the failure.
fn growth_of(settings: &[(&str, &str)], most: &[(&str, &str)], cases: &[GrowingCase]) -> Option<String> {
    let source = Source {
        package: None,
        package_name: None,
        binary: None,
        is_in_suite: true,
        file: file!(),
        should_panic: None,
        expected: &[],
        expects_finding: false,
    };
    let compare = || run_growth_test("declared::growth", settings, source, "tasks", most, cases);
    let failed = std::panic::catch_unwind(compare).err()?;
    Some(failed.downcast_ref::<String>().expect("a text").clone())
}

#[test]
fn growth_is_bounded() {
    is_linear::growth();
    let cases: [GrowingCase; 3] = [
        (2, "declared::quadratic::tasks_2", || quadratic(2)),
        (4, "declared::quadratic::tasks_4", || quadratic(4)),
        (6, "declared::quadratic::tasks_6", || quadratic(6)),
    ];
    let few = [("strategy", "random"), ("executions", "20")];
    assert_eq!(growth_of(&few, &[("steps", "2")], &cases), None);
    let text = growth_of(&few, &[("steps", "1.2")], &cases).expect("it grows faster");
    assert!(
        text.starts_with("error[growth]: steps grow as tasks to the power of 2.00: "),
        "{text}"
    );
    assert!(text.ends_with("; the test allows an exponent of 1.2\n"), "{text}");
    assert!(text.contains(" with 2, ") && text.contains(" with 6; "), "{text}");
    // If a case fails, that is the failure, and it replays in its own test.
    let fails: [GrowingCase; 1] = [(3, "declared::quadratic::tasks_3", || panic!("three are too many"))];
    let text = growth_of(&few, &[("steps", "1.2")], &fails).expect("a case fails");
    assert!(text.contains("three are too many"), "{text}");
    for wrong in [("steps", "much"), ("speed", "1")] {
        let text = growth_of(&few, &[wrong], &cases).expect("it is refused");
        assert!(
            text.starts_with("growth(speed): there is no such figure")
                || text.starts_with("growth(steps = much)"),
            "{text}"
        );
    }
}
