//! A failing scenario made small: what can be left out is left out, and arguments are made simple.

use crate::failure::Failure;
use crate::scenario::{Scenario, Step};
use crate::verify::Subject;
use std::collections::HashSet;

/// Most scenarios that are tried.
const TRIED_MAX: u64 = 300;

/// The smallest scenario found that fails with the same kind of finding, its failure, and how many were tried.
///
/// Greedily, from the beginning again after each success: whole tasks, then pairs of operations, single operations,
/// operations moved out of tasks to before and after, arguments. Each is checked from scratch.
pub(crate) fn minimise<T: Sync + 'static>(
    subject: &Subject<T>,
    scenario: Scenario,
    failure: Failure,
) -> (Scenario, Failure, u64) {
    let (mut scenario, mut failure, mut tried) = (scenario, failure, 0);
    let mut known: HashSet<String> = HashSet::new();
    'smaller: loop {
        for candidate in candidates(subject, &scenario) {
            if tried == TRIED_MAX {
                break 'smaller;
            }
            if !known.insert(format!("{candidate:?}")) {
                continue;
            }
            tried += 1;
            let found = subject.check(&candidate).failure;
            let same = |found: &Failure| found.kind == failure.kind && found.progress == failure.progress;
            if let Some(found) = found.filter(same) {
                (scenario, failure) = (candidate, found);
                continue 'smaller;
            }
        }
        break;
    }
    // Only this one is shown: so only its schedule is worth making small.
    let failure = subject.told(&scenario).unwrap_or(failure);
    (scenario, failure, tried)
}

/// Scenarios that are a little smaller, smallest first.
fn candidates<T>(subject: &Subject<T>, scenario: &Scenario) -> Vec<Scenario> {
    let mut found = Vec::new();
    let tasks = scenario.tasks.len();
    if tasks > 1 {
        for task in 0..tasks {
            let mut smaller = scenario.clone();
            smaller.tasks.remove(task);
            found.push(smaller);
        }
    }
    let places: Vec<(Part, usize)> = parts(scenario)
        .flat_map(|part| (0..part.steps(scenario).len()).map(move |at| (part, at)))
        .collect();
    let without = |left_out: &[(Part, usize)]| {
        let mut smaller = scenario.clone();
        // From the end, so that places before stay what they are.
        for &(part, at) in left_out.iter().rev() {
            part.steps_mut(&mut smaller).remove(at);
        }
        smaller.tasks.retain(|task| !task.is_empty());
        smaller
    };
    for (at, &first) in places.iter().enumerate() {
        for &second in &places[at + 1..] {
            found.push(without(&[first, second]));
        }
    }
    found.extend(places.iter().map(|&place| without(&[place])));
    for (number, task) in scenario.tasks.iter().enumerate() {
        for end in [0, task.len().saturating_sub(1)] {
            let mut smaller = scenario.clone();
            let step = smaller.tasks[number].remove(end);
            match end {
                0 => smaller.init.push(step),
                _ => smaller.post.insert(0, step),
            }
            smaller.tasks.retain(|task| !task.is_empty());
            found.push(smaller);
        }
    }
    for &(part, at) in &places {
        let step = &part.steps(scenario)[at];
        for argument in subject.operations[step.operation].simpler(&step.argument) {
            let mut smaller = scenario.clone();
            part.steps_mut(&mut smaller)[at].argument = argument;
            found.push(smaller);
        }
    }
    found.retain(|scenario| !scenario.tasks.is_empty());
    found
}

/// A list of operations of a scenario.
#[derive(Clone, Copy)]
enum Part {
    Init,
    Task(usize),
    Post,
}

fn parts(scenario: &Scenario) -> impl Iterator<Item = Part> + use<> {
    let tasks = (0..scenario.tasks.len()).map(Part::Task);
    std::iter::once(Part::Init)
        .chain(tasks)
        .chain(std::iter::once(Part::Post))
}

impl Part {
    fn steps(self, scenario: &Scenario) -> &[Step] {
        match self {
            Part::Init => &scenario.init,
            Part::Task(task) => &scenario.tasks[task],
            Part::Post => &scenario.post,
        }
    }

    fn steps_mut(self, scenario: &mut Scenario) -> &mut Vec<Step> {
        match self {
            Part::Init => &mut scenario.init,
            Part::Task(task) => &mut scenario.tasks[task],
            Part::Post => &mut scenario.post,
        }
    }
}
