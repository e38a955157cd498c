//! Every object of the corpus that is not what its sequential self is, is found out, in a small scenario.

use intermezzo_corpus::objects::{Effort, Object, Outcome};
use intermezzo_corpus::{Expected, objects};
use std::time::Instant;

/// `INTERMEZZO_CATALOGUE=large` tries more.
fn effort() -> Effort {
    match std::env::var("INTERMEZZO_CATALOGUE").as_deref() {
        Ok("large") => Effort::Large,
        _ => Effort::Usual,
    }
}

/// What is wrong with the outcome.
fn compare(object: &Object, outcome: &Outcome) -> Option<String> {
    let start = Instant::now();
    let report = object.run(outcome.against, effort());
    let name = format!("{} against {}", object.name, outcome.against);
    println!(
        "{name}: {} scenarios, {} more to minimise, {} executions, {} traces, {} histories, {} observations, {:.2} s, {} short, {}",
        report.scenarios, report.minimising, report.executions, report.traces, report.histories, report.observations,
        start.elapsed().as_secs_f64(), report.short.len(),
        report.failure.as_ref().map_or(String::new(), |failure| format!("{} in {:?}", failure.kind, failure.scenario)),
    );
    let found = report.failure.as_ref().map(|failure| (failure.kind.as_str().into_owned(), failure.scenario.calls().count()));
    let expected = match outcome.expected {
        Expected::Pass => None,
        Expected::Fail(kind) => Some((kind.to_owned(), outcome.operations)),
    };
    let whole = report.short.is_empty();
    (found != expected || !whole).then(|| format!("{name}: expected {expected:?}, found {found:?}\n{report}"))
}

#[test]
fn catalogue() {
    let only = std::env::var("ONLY").unwrap_or_default();
    let all = objects().iter().filter(|object| object.name.contains(&only)).flat_map(|object| object.outcomes.iter().map(move |outcome| (object, outcome)));
    let wrong: Vec<String> = all.filter_map(|(object, outcome)| compare(object, outcome)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
