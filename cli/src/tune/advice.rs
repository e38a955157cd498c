//! Which search to take, and why: from counts alone, so that it is the same on every machine.

use super::cells::{Cell, Figures, Outcome};
use super::run::Ended;
use serde::Serialize;

/// A recommendation for a program.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Advice {
    pub(crate) program: String,
    /// The search to take; `None` if none says anything.
    pub(crate) search: Option<String>,
    pub(crate) why: String,
}

/// A recommendation for each program, in the order of the cells.
pub(crate) fn of(cells: &[Cell]) -> Vec<Advice> {
    let programs = cells.chunk_by(|one, next| one.program == next.program);
    programs.map(of_program).collect()
}

/// A search and its figures.
type Candidate<'a> = (&'a Cell, &'a Figures);

fn of_program(cells: &[Cell]) -> Advice {
    let ran: Vec<Candidate<'_>> = cells
        .iter()
        .filter_map(|cell| match &cell.outcome {
            Outcome::Ran(figures) => Some((cell, figures)),
            Outcome::Refused(_) => None,
        })
        .collect();
    let (search, why) = finders(&ran)
        .or_else(|| finishers(&ran, Ended::Everything, "covers every schedule"))
        .or_else(|| finishers(&ran, Ended::Bound, "covers every schedule within its bound"))
        .or_else(|| samplers(&ran))
        .map_or((None, "no search was run".into()), |(search, why)| {
            (Some(search), why)
        });
    Advice {
        program: cells[0].program.clone(),
        search,
        why,
    }
}

/// Where something fails: who fails most often, and then soonest.
fn finders(ran: &[Candidate<'_>]) -> Option<(String, String)> {
    let failing = ran
        .iter()
        .filter_map(|&(cell, figures)| Some((cell, figures, figures.to_failure?)));
    let mut failing: Vec<_> = failing.collect();
    let share = |figures: &Figures| figures.found as f64 / figures.runs as f64;
    failing.sort_by(|(_, a, soon_a), (_, b, soon_b)| {
        let oftener = share(b).total_cmp(&share(a));
        oftener.then(soon_a.total_cmp(soon_b))
    });
    let told = |(cell, figures, soon): &(&Cell, &Figures, f64)| {
        let often = match (figures.found, figures.runs) {
            (1, 1) => String::new(),
            (found, runs) if found == runs => format!(" in each of {runs} runs"),
            (found, runs) => format!(" in {found} of {runs} runs"),
        };
        format!(
            "{} after {} executions{often}",
            cell.search.label(),
            number(*soon)
        )
    };
    let (first, others) = failing.split_first()?;
    let mut why = format!("it fails soonest: {}", told(first));
    match others.first() {
        Some(next) => why.push_str(&format!("; next {}", told(next))),
        None if ran.len() > 1 => why.push_str("; no other search fails"),
        None => {}
    }
    Some((first.0.search.label(), why))
}

/// Where nothing fails: who comes to its end with the fewest executions.
fn finishers(ran: &[Candidate<'_>], ended: Ended, what: &str) -> Option<(String, String)> {
    let mut ending: Vec<&Candidate<'_>> = ran.iter().filter(|(_, figures)| figures.ended == ended).collect();
    ending.sort_by(|(_, a), (_, b)| a.executions.total_cmp(&b.executions));
    let (first, others) = ending.split_first()?;
    let mut why = format!("it {what} in {}", executions(first.1.executions));
    if let Some((cell, figures)) = others.first() {
        why.push_str(&format!(
            "; next {} in {}",
            cell.search.label(),
            number(figures.executions)
        ));
    }
    Some((first.0.search.label(), why))
}

/// Where nobody comes to an end: who saw most.
fn samplers(ran: &[Candidate<'_>]) -> Option<(String, String)> {
    let seen = |figures: &Figures| {
        figures
            .traces
            .map_or(0.0, |traces| traces / figures.executions.max(1.0))
    };
    // The first of those that saw as much.
    let first = ran
        .iter()
        .rev()
        .max_by(|(_, a), (_, b)| seen(a).total_cmp(&seen(b)))?;
    let why = format!(
        "nothing fails and no search ends: it saw most different traces, {} in {}",
        number(first.1.traces.unwrap_or(0.0)),
        executions(first.1.executions)
    );
    Some((first.0.search.label(), why))
}

/// `1 execution`, `7.2 executions`.
fn executions(count: f64) -> String {
    let s = if count == 1.0 { "" } else { "s" };
    format!("{} execution{s}", number(count))
}

/// A number with at most one digit behind the point.
pub(crate) fn number(number: f64) -> String {
    if number.fract() == 0.0 {
        format!("{number}")
    } else {
        format!("{number:.1}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::search::Search;

    fn cell(strategy: &str, found: u64, to_failure: f64, executions: f64, ended: Ended) -> Cell {
        Cell {
            program: "p".into(),
            search: Search {
                strategy: strategy.into(),
                reduction: "none".into(),
                preemptions: "none".into(),
                cache_bytes: None,
            },
            outcome: Outcome::Ran(Figures {
                runs: 20,
                found,
                to_failure: (found > 0).then_some(to_failure),
                executions,
                traces: Some(executions / 2.0),
                redundant: 0.0,
                ended,
                seconds: None,
                traces_per_second: None,
            }),
        }
    }

    fn why(cells: &[Cell]) -> (Option<String>, String) {
        let [advice] = <[Advice; 1]>::try_from(of(cells)).unwrap();
        (advice.search, advice.why)
    }

    #[test]
    fn who_finds_oftenest_and_soonest_is_taken() {
        let (search, why) = why(&[
            cell("a", 20, 7.25, 7.25, Ended::Failure),
            cell("b", 20, 5.0, 5.0, Ended::Failure),
            cell("c", 1, 1.0, 900.0, Ended::Limit),
        ]);
        assert_eq!(search.as_deref(), Some("b"));
        assert_eq!(
            why,
            "it fails soonest: b after 5 executions in each of 20 runs; next a after 7.2 executions in each of 20 runs"
        );
    }

    #[test]
    fn who_covers_all_with_least_is_taken() {
        let (search, why) = why(&[
            cell("a", 0, 0.0, 50.0, Ended::Everything),
            cell("b", 0, 0.0, 6.0, Ended::Everything),
            cell("c", 0, 0.0, 5.0, Ended::Limit),
        ]);
        assert_eq!(search.as_deref(), Some("b"));
        assert_eq!(why, "it covers every schedule in 6 executions; next a in 50");
    }

    #[test]
    fn who_saw_most_is_taken() {
        let (search, why) = why(&[cell("a", 0, 0.0, 50.0, Ended::Limit)]);
        assert_eq!(search.as_deref(), Some("a"));
        assert!(why.ends_with("25 in 50 executions"), "{why}");
        let refused = Cell {
            outcome: Outcome::Refused("no".into()),
            ..cell("a", 0, 0.0, 0.0, Ended::Limit)
        };
        assert_eq!(super::of(&[refused])[0].search, None);
    }
}
