//! Refinement tests of unchanged queues and deques from crates.io, explored by `test --unmodified`.
#![allow(clippy::print_stderr, reason = "the figures are for who runs it")]

use crate::registry::root;
use crate::throw_away;
use crate::unmodified::{project_of, run_with};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

const CRATES: &str = r#"
crossbeam-queue = "=0.3.14"
crossbeam-deque = "=0.8.8"
crossbeam-utils = "=0.8.23"
concurrent-queue = "=2.5.0"
"#;

/// The expected result of a subject.
enum Expected {
    /// It refines its specification in every execution of every scenario.
    Pass,
    /// It does so within the bounds of the search.
    Bounded(&'static str),
    /// It does not: there is a finding of this kind, with these words in the report.
    Finding(&'static str, &'static str),
}

use Expected::{Bounded, Finding, Pass};

/// The reason for schedules that fair scheduling leaves out, in addition to the bound.
const FAIRNESS: &str = "fair scheduling left out";

const PREEMPTIONS: &str = "every execution with at most 2 preemptions";

/// The known results for the crates. `docs/LOOM.md` describes each finding.
const EXPECTED: &[(&str, Expected)] = &[
    ("SegQueue itself", Pass),
    ("SegQueue model", Pass),
    ("SegQueue model bounded", Bounded(PREEMPTIONS)),
    ("SegQueue next-block model", Pass),
    ("SegQueue len", Pass),
    ("SegQueue is_empty", Pass),
    ("SegQueue weak", Bounded(PREEMPTIONS)),
    ("ArrayQueue itself", Pass),
    ("ArrayQueue model", Pass),
    ("ArrayQueue model bounded", Bounded(PREEMPTIONS)),
    // While a value is forced into a full queue, the queue appears to have one value fewer.
    ("ArrayQueue len", Finding("refinement", "len() = 1")),
    ("ArrayQueue is_empty", Pass),
    ("ArrayQueue is_full", Finding("refinement", "is_full() = false")),
    ("ArrayQueue weak", Bounded(PREEMPTIONS)),
    // While one task pops the value, another one first finds the queue empty, and then full.
    (
        "ConcurrentQueue single itself",
        Finding("refinement", "Err(Full("),
    ),
    ("ConcurrentQueue single model", Pass),
    ("ConcurrentQueue single model bounded", Bounded(PREEMPTIONS)),
    ("ConcurrentQueue bounded itself", Pass),
    ("ConcurrentQueue bounded three tasks", Pass),
    ("ConcurrentQueue bounded itself bounded", Bounded(PREEMPTIONS)),
    ("ConcurrentQueue bounded weak", Bounded(PREEMPTIONS)),
    ("ConcurrentQueue bounded len", Pass),
    ("ConcurrentQueue bounded force_push", Pass),
    // The write of `close` is overwritten: `close` reported that it closed the queue, but the queue is open.
    (
        "ConcurrentQueue bounded force_push and close",
        Finding("refinement", "close() = true"),
    ),
    ("ConcurrentQueue unbounded itself", Pass),
    ("ConcurrentQueue unbounded three tasks", Pass),
    ("ConcurrentQueue unbounded itself bounded", Bounded(PREEMPTIONS)),
    ("ConcurrentQueue unbounded weak", Bounded(PREEMPTIONS)),
    ("ConcurrentQueue unbounded len", Pass),
    ("Worker fifo itself", Pass),
    ("Worker fifo model", Pass),
    (
        "Worker fifo model bounded",
        Bounded("preemptions out of scope are left out"),
    ),
    ("Worker fifo steal_batch", Pass),
    ("Worker lifo itself", Pass),
    ("Worker lifo model", Pass),
    (
        "Worker lifo model bounded",
        Bounded("preemptions out of scope are left out"),
    ),
    ("Worker lifo steal_batch", Pass),
    ("Injector itself", Pass),
    // The execution is short, because the task is parked before it reaches a limit.
    ("Backoff for ever", Finding("livelock", "no task can continue")),
    ("mistake: force_push in two", Finding("refinement", "force_push")),
    ("mistake: pop after a look", Finding("panic", "pop()")),
];

/// Returns the difference between the result of a subject and the expected one, if there is one.
fn wrong(result: &Value, expected: &Expected) -> Option<&'static str> {
    let short: Vec<&str> = result["short"]
        .as_array()?
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let failure = &result["failure"];
    match expected {
        Finding(kind, words) => {
            let text = failure["text"].as_str().unwrap_or_default();
            (failure["kind"] != *kind || !text.contains(words)).then_some("the finding is not there")
        }
        _ if !failure.is_null() => Some("there is a finding"),
        Pass => (result["verdict"] != "Pass" || !short.is_empty()).then_some("not in full"),
        Bounded(why) => {
            let is_known = |short: &&str| short.starts_with(why) || short.starts_with(FAIRNESS);
            (!short.iter().all(is_known)).then_some("another bound")
        }
    }
}

/// Explores these subjects, and checks the results.
fn explored(name: &str, subjects: &[&(&str, Expected)], variables: &[(&str, &str)]) {
    let dependencies = format!(
        "[dev-dependencies]\nintermezzo = {{ path = {:?}, features = [\"explore\"] }}\nserde_json = \"1\"\n{CRATES}",
        root()
    );
    let project = project_of(name, &dependencies, "");
    throw_away::write(
        &project.join("tests/subjects.rs"),
        include_str!("real_crates/subjects.rs"),
    );
    let names: Vec<&str> = subjects.iter().map(|(name, _)| *name).collect();
    let only = names.join(",");
    let variables = [&[("SUBJECTS", &*only)], variables].concat();
    let test = ["test", "--unmodified", "--test", "subjects", "--", "--nocapture"];
    let ran = run_with(&project, &test, &variables);
    let results: Vec<Value> = ran
        .stdout
        .lines()
        .filter(|line| line.starts_with('{'))
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let named = |result: &Value| result["subject"].as_str().unwrap().to_owned();
    let by_name: BTreeMap<String, &Value> = results.iter().map(|result| (named(result), result)).collect();
    for result in &results {
        let figure = |name: &str| result[name].as_u64().unwrap();
        eprintln!(
            "{:<46} {:>12} {:>3} scenarios {:>6} executions {:>6} traces {:>5} histories {:>3} not in full {:>6.2} s",
            named(result),
            result["verdict"].as_str().unwrap(),
            figure("scenarios"),
            figure("executions"),
            figure("traces"),
            figure("histories"),
            result["short"].as_array().unwrap().len(),
            result["seconds"].as_f64().unwrap(),
        );
    }
    assert_eq!(results.len(), subjects.len(), "{}\n{}", ran.stdout, ran.stderr);
    for (subject, expected) in subjects {
        let result = by_name
            .get(*subject)
            .unwrap_or_else(|| panic!("no result of {subject}"));
        if let Some(why) = wrong(result, expected) {
            panic!("{subject}: {why}: {result:#}");
        }
    }
}

/// The subjects that take more than 15,000 executions, except for one of the deques.
const LONG: [&str; 11] = [
    "SegQueue model bounded",
    "SegQueue weak",
    "ArrayQueue model bounded",
    "ArrayQueue weak",
    "Worker fifo itself",
    "Worker fifo model bounded",
    "Worker fifo steal_batch",
    "Worker lifo itself",
    "Worker lifo model",
    "Worker lifo model bounded",
    "Worker lifo steal_batch",
];

#[test]
fn queues_and_deques_have_the_expected_results() {
    let is_long = |subject: &&(&str, Expected)| LONG.contains(&subject.0);
    let (long, short): (Vec<_>, Vec<_>) = EXPECTED.iter().partition(is_long);
    assert_eq!(long.len(), LONG.len());
    explored("short_subjects", &short, &[]);
}

#[test]
#[ignore = "it takes minutes: it builds the layer over std with optimisation, and runs a million executions"]
fn all_queues_and_deques_have_the_expected_results() {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("optimised-overlays");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("optimised-target");
    let subjects: Vec<_> = EXPECTED.iter().collect();
    let variables = [
        ("INTERMEZZO_CACHE", cache.to_str().unwrap()),
        ("CARGO_TARGET_DIR", target.to_str().unwrap()),
    ];
    explored("all_subjects", &subjects, &variables);
}
