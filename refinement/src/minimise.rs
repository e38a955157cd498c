//! Minimising a failing scenario: parts that are not needed are removed, and arguments are simplified.

use crate::failure::Failure;
use crate::scenario::{Scenario, Step};
use crate::verify::Subject;
use std::collections::HashSet;

/// The largest number of scenarios that are tried.
const TRIED_MAX: u64 = 300;

/// The largest number of scenarios that are tried to escape from one that cannot be made smaller directly.
const ESCAPES_MAX: u64 = 60;

/// Returns the smallest scenario found that fails with the same kind of finding, its failure, and the number of
/// scenarios tried.
///
/// The algorithm is greedy, and begins again after each success. It removes whole tasks, then pairs of operations and
/// single operations, moves operations out of tasks to before and after them, and simplifies arguments. If no such
/// scenario fails, it tries the same operations in another order or in other tasks, with one further reduction. Each
/// scenario is checked from scratch.
pub(crate) fn minimise<T: Sync + 'static>(
    subject: &Subject<T>,
    scenario: Scenario,
    failure: Failure,
) -> (Scenario, Failure, u64) {
    let mut search = Search {
        subject,
        tried: 0,
        known: HashSet::from([format!("{scenario:?}")]),
    };
    let (mut scenario, mut failure) = (scenario, failure);
    'smaller: loop {
        for candidate in candidates(subject, &scenario) {
            if let Some(found) = search.fails(&candidate, &failure, TRIED_MAX) {
                (scenario, failure) = (candidate, found);
                continue 'smaller;
            }
        }
        let escapes_max = TRIED_MAX.min(search.tried + ESCAPES_MAX);
        for neighbour in neighbours(subject, &scenario) {
            if search.fails(&neighbour, &failure, escapes_max).is_none() {
                continue;
            }
            for candidate in candidates(subject, &neighbour) {
                let found = match candidate.len() < scenario.len() {
                    true => search.fails(&candidate, &failure, escapes_max),
                    false => None,
                };
                if let Some(found) = found {
                    (scenario, failure) = (candidate, found);
                    continue 'smaller;
                }
            }
        }
        break;
    }
    let tried = search.tried;
    // Only this one is shown: so only its schedule is worth making small.
    let failure = subject.told(&scenario).unwrap_or(failure);
    (scenario, failure, tried)
}

/// The search through scenarios.
struct Search<'a, T> {
    subject: &'a Subject<T>,
    tried: u64,
    known: HashSet<String>,
}

impl<T: Sync + 'static> Search<'_, T> {
    /// Returns the failure of a scenario that was not tried before, if it is of the same kind as `as_this` and fewer
    /// than `most` were tried.
    fn fails(&mut self, candidate: &Scenario, as_this: &Failure, most: u64) -> Option<Failure> {
        if self.tried >= most || !self.known.insert(format!("{candidate:?}")) {
            return None;
        }
        self.tried += 1;
        let found = self.subject.check(candidate).failure?;
        let same = found.kind == as_this.kind && found.progress == as_this.progress;
        same.then_some(found)
    }
}

/// Returns scenarios of the same operations: two of a task in the other order, or one in another task.
fn neighbours<T>(subject: &Subject<T>, scenario: &Scenario) -> Vec<Scenario> {
    let mut found = Vec::new();
    let tasks = scenario.tasks.len();
    for task in 0..tasks {
        for at in 1..scenario.tasks[task].len() {
            let mut other = scenario.clone();
            other.tasks[task].swap(at - 1, at);
            found.push(other);
        }
        let from = &scenario.tasks[task];
        let movable = from.iter().enumerate().filter(|(_, step)| {
            // An operation that only one task may perform stays there.
            subject.operations[step.operation].exclusive.is_none()
        });
        for (at, _) in movable {
            for to in (0..tasks).filter(|&to| to != task) {
                for end in [0, scenario.tasks[to].len()] {
                    let mut other = scenario.clone();
                    let step = other.tasks[task].remove(at);
                    other.tasks[to].insert(end, step);
                    other.tasks.retain(|task| !task.is_empty());
                    found.push(other);
                }
            }
        }
    }
    found
}

/// Returns scenarios that are a little smaller, smallest first.
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
        // From the end, so that earlier places stay valid.
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
        assert!(!task.is_empty(), "a scenario's tasks have operations");
        for end in [0, task.len() - 1] {
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
