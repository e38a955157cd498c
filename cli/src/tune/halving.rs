//! The comparison without flags: the usual searches, by successive halving (Jamieson, Talwalkar, AISTATS 2016).
//!
//! All searches are run for a few executions with a few seeds, the better half of them for ten times as many with more
//! seeds, and so on. The comparison ends when a search has covered every schedule and nothing failed, after the last
//! round, or when the time is up. Differs: the better half is chosen by the order of the advice, failures first. The
//! default search of a test is never dropped, so that the others can be compared with it. Misses: a search that is better
//! only after more executions than those of the first rounds.

use super::advice;
use super::cells::Figures;
use super::matrix::{Matrix, Programs};
use super::run::{Ended, Run};
use super::search::Search;
use super::store::Store;
use super::work::{Item, one, progress, refused};
use crate::problem::Problem;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The searches, as strategy and reduction: those with a reduction first.
const SEARCHES: &[(&str, &str)] = &[
    ("dfs", "dpor"),
    ("dfs(2)", "caching"),
    ("dfs(2)", "dpor"),
    (DEFAULT.0, DEFAULT.1),
    ("surw", "none"),
    ("pos", "none"),
    ("places", "none"),
    ("pct(3)", "none"),
    ("dfs(delays=2)", "none"),
    ("dfs", "none"),
];

/// The default search of a test.
pub(crate) const DEFAULT: (&str, &str) = ("auto", "auto");

/// The maximum number of executions of each run, and the seeds of each search that draws at random, for each round.
const ROUNDS: [(u64, u64); 3] = [(100, 3), (1_000, 8), (10_000, 20)];

/// Returns the searches that are compared.
pub(crate) fn searches() -> Vec<Search> {
    let search = |&(strategy, reduction): &(&str, &str)| Search {
        strategy: strategy.into(),
        reduction: reduction.into(),
        preemptions: "none".into(),
        cache_bytes: None,
    };
    SEARCHES.iter().map(search).collect()
}

/// Runs the rounds, within the time if it is limited. Returns the results of each search in its last round.
///
/// # Errors
/// If a run cannot be carried out, or its result cannot be stored.
pub(crate) fn run(matrix: &Matrix, mut store: Store, time: Option<Duration>) -> Result<Vec<Item>, Problem> {
    let began = Instant::now();
    let programs = match &matrix.programs {
        Programs::Corpus(names) => names.len(),
        Programs::Tests(_) => 1,
    };
    let line = progress(programs);
    let mut all = Vec::new();
    for program in 0..programs {
        let spent = began.elapsed();
        let share = (programs - program) as u32;
        let until = time.map(|time| spent + time.saturating_sub(spent) / share);
        let left = || until.map(|until| until.saturating_sub(began.elapsed()));
        all.extend(rounds(matrix, &mut store, program, left, |search| {
            line.set_message(search.label());
        })?);
        line.inc(1);
    }
    line.finish_and_clear();
    Ok(all)
}

/// Runs the rounds of one program; `left` returns the remaining time.
fn rounds(
    matrix: &Matrix,
    store: &mut Store,
    program: usize,
    left: impl Fn() -> Option<Duration>,
    tell: impl Fn(&Search),
) -> Result<Vec<Item>, Problem> {
    let allowed = |&search: &usize| refused(matrix, &matrix.searches[search]).is_none();
    let mut contenders: Vec<usize> = (0..matrix.searches.len()).filter(allowed).collect();
    let mut results: BTreeMap<usize, Vec<Item>> = BTreeMap::new();
    'rounds: for (executions, seeds) in ROUNDS {
        let executions = executions.min(matrix.executions);
        for &number in &contenders {
            let search = &matrix.searches[number];
            let known = results.get(&number).map_or(0, Vec::len) as u64;
            let seeds = if search.draws_at_random() {
                seeds.min(matrix.seeds)
            } else {
                1
            };
            let is_over = results.get(&number).is_some_and(|items| !any_limit(items));
            if is_over && known >= seeds {
                continue;
            }
            let mut items = Vec::new();
            for seed in 0..seeds {
                let time = left();
                if time.is_some_and(|time| time.is_zero()) {
                    // A partial first round is shown; the results of a later one replace the earlier only if it is whole.
                    results.entry(number).or_insert(items);
                    break 'rounds;
                }
                tell(search);
                items.push(match store.take(program, number, seed, executions) {
                    Some(item) => item,
                    None => {
                        let item = one(matrix, program, number, seed, executions, time)?;
                        store.keep(&item)?;
                        item
                    }
                });
            }
            results.insert(number, items);
        }
        if executions == matrix.executions || is_decided(&results) {
            break;
        }
        contenders = better_half(matrix, &contenders, &results);
    }
    results.retain(|_, items| !items.is_empty());
    Ok(results.into_values().flatten().collect())
}

fn any_limit(items: &[Item]) -> bool {
    let mut runs = items.iter().flat_map(|item| &item.runs);
    runs.any(|run| run.ended == Ended::Limit)
}

/// Returns the runs of each program, or test, by its name.
fn by_name(items: &[Item]) -> BTreeMap<&str, Vec<&Run>> {
    let mut runs: BTreeMap<&str, Vec<&Run>> = BTreeMap::new();
    for run in items.iter().flat_map(|item| &item.runs) {
        runs.entry(&run.program).or_default().push(run);
    }
    runs
}

/// `true` if for each test a search covered every schedule, and nothing failed: no other search can do better.
fn is_decided(results: &BTreeMap<usize, Vec<Item>>) -> bool {
    let mut covered: BTreeMap<&str, bool> = BTreeMap::new();
    for run in results.values().flatten().flat_map(|item| &item.runs) {
        if run.ended == Ended::Failure {
            return false;
        }
        *covered.entry(&run.program).or_default() |= run.ended == Ended::Everything;
    }
    !covered.is_empty() && covered.into_values().all(|covered| covered)
}

/// Returns the searches that are in the better half for some test, and the default.
fn better_half(matrix: &Matrix, contenders: &[usize], results: &BTreeMap<usize, Vec<Item>>) -> Vec<usize> {
    let mut standings: BTreeMap<&str, Vec<(advice::Standing, usize)>> = BTreeMap::new();
    for &number in contenders {
        for (name, runs) in by_name(&results[&number]) {
            let figures = Figures::of(&runs, false).expect("there is a run");
            let standing = advice::standing(&figures);
            standings.entry(name).or_default().push((standing, number));
        }
    }
    let half = contenders.len().div_ceil(2);
    let mut better: Vec<usize> = Vec::new();
    for (_, mut standing) in standings {
        standing.sort_by(|(a, _), (b, _)| a.cmp(b));
        better.extend(standing.into_iter().take(half).map(|(_, number)| number));
    }
    let is_default = |&&number: &&usize| matrix.searches[number].is_default();
    better.extend(contenders.iter().filter(is_default));
    better.sort_unstable();
    better.dedup();
    better
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(search: usize, ended: Ended) -> Item {
        let failed = ended == Ended::Failure;
        Item {
            program: 0,
            search,
            seed: 0,
            most: 100,
            runs: vec![Run {
                program: "p".into(),
                seed: 0,
                failure: failed.then_some(3),
                kind: None,
                executions: 100 - search as u64,
                traces: Some(5),
                redundant: 0,
                ended,
                seconds: 0.0,
            }],
        }
    }

    #[test]
    fn full_coverage_without_a_failure_decides() {
        let of = |ended: &[Ended]| {
            let items = ended.iter().enumerate();
            is_decided(
                &items
                    .map(|(search, &ended)| (search, vec![item(search, ended)]))
                    .collect(),
            )
        };
        assert!(of(&[Ended::Limit, Ended::Everything]));
        assert!(!of(&[Ended::Limit, Ended::Bound]));
        assert!(!of(&[Ended::Failure, Ended::Everything]));
        assert!(!of(&[]));
    }
}
