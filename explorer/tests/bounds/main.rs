//! Compares bounds, scopes and orders of search with the enumerator of interleavings.

mod adversity;
mod arrays;
mod best_first;
#[path = "../common/mod.rs"]
mod common;
mod delays;
mod depth;
mod interleavings;
mod log;
mod ordered_atomics;
mod priorities;
mod ranked;
mod reached;
mod regions;
mod scope;
mod workers;

use common::Collect;
use interleavings::{Interleaving, Op, Program, path, run};
use intermezzo_explorer::{Environment, Explorer, Report, Settings};
use std::collections::BTreeMap;

/// The number of random programs that each of these tests compares.
const PROGRAMS: u64 = 25;

/// Returns the executions of a search with these settings (`name=value`, separated by spaces), in order, and its
/// report.
fn explored(settings: &str, test: impl Fn() + Send + Sync) -> (Vec<Vec<u32>>, Report) {
    let mut chosen = Settings {
        environment: Environment::calm(),
        keep_going: true,
        ..Settings::default()
    };
    for setting in settings.split_whitespace() {
        let (name, value) = setting.split_once('=').expect("name=value");
        chosen.set(name, value).unwrap();
    }
    let (_, seen) = Collect::new();
    let shared = seen.clone();
    let report = Explorer::with_settings(chosen)
        .monitor_with(move || Collect::into(shared.clone()))
        .explore(test);
    let all_deadlocks = report
        .findings()
        .iter()
        .all(|finding| finding.kind.as_str() == "deadlock");
    assert!(all_deadlocks, "{report}");
    let seen = std::mem::take(&mut *seen.lock().unwrap());
    // An execution is run again if earlier contents of stacks may have affected its loops, a few times in a process.
    let again = seen.len() as u64 - report.executions();
    assert!(again < 4, "{again}");
    (seen, report)
}

/// Does the same for a random program.
fn explored_program(settings: &str, program: &Program) -> (Vec<Vec<u32>>, Report) {
    explored(settings, || run(program))
}

/// Returns the interleavings that satisfy a condition, each with count 1.
fn once_each(all: &[Interleaving], fulfil: impl Fn(&Interleaving) -> bool) -> BTreeMap<Vec<u32>, u32> {
    let chosen = all.iter().filter(|interleaving| fulfil(interleaving));
    chosen.map(|interleaving| (path(interleaving), 1)).collect()
}

fn preemptions(interleaving: &Interleaving) -> u32 {
    interleaving.iter().filter(|step| step.preempts()).count() as u32
}

/// `true` if an operation is on the second atomic or lock, which are out of scope in these tests.
fn on_second(op: Op, held: &[usize]) -> bool {
    match op {
        Op::Load(at) | Op::Store(at) | Op::Add(at) | Op::Lock(at) | Op::TryLock(at) => at == 1,
        Op::Unlock => held.last() == Some(&1),
    }
}
