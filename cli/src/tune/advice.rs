//! The recommended search, with the reason. It follows from counts alone, so that it is the same on every machine.

use super::cells::{Cell, Figures, Outcome};
use super::run::Ended;
use serde::Serialize;
use std::cmp::Ordering;

/// A recommendation for a program.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Advice {
    pub(crate) program: String,
    /// The recommended search; `None` if there is no reason to recommend one.
    pub(crate) search: Option<String>,
    pub(crate) why: String,
    /// The attribute that sets it.
    pub(crate) attribute: Option<String>,
    /// The lines of `intermezzo.toml` that set it.
    pub(crate) config: Option<String>,
    /// Its benefit, compared with a test without settings.
    pub(crate) worth: Option<String>,
}

/// Returns a recommendation for each program, in the order of the cells; they may be tests of a project.
pub(crate) fn of(cells: &[Cell], are_tests: bool) -> Vec<Advice> {
    let programs = cells.chunk_by(|one, next| one.program == next.program);
    programs.map(|cells| of_program(cells, are_tests)).collect()
}

/// The rank of a search on a program: the better one comes first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Standing {
    /// The class: 0 for a failure, then by decreasing coverage.
    class: u8,
    /// The share of runs that did not fail.
    missed: f64,
    /// The number of executions; or, negated, the number of different traces per execution.
    cost: f64,
}

impl Standing {
    /// Compares by class, then by share, then by cost.
    pub(crate) fn cmp(&self, other: &Standing) -> Ordering {
        let class = self.class.cmp(&other.class);
        let missed = self.missed.total_cmp(&other.missed);
        class.then(missed).then(self.cost.total_cmp(&other.cost))
    }
}

/// Returns the rank of a search with these figures. First come searches that fail: the most often, and of these the
/// soonest. Then come those that cover every schedule, then those that cover every schedule within their bound, each in
/// the fewest executions; then those that see the most traces.
pub(crate) fn standing(figures: &Figures) -> Standing {
    let of = |class, missed, cost| Standing { class, missed, cost };
    match (figures.to_failure, figures.ended) {
        (Some(soon), _) => of(0, 1.0 - figures.found as f64 / figures.runs as f64, soon),
        (None, Ended::Everything) => of(1, 0.0, figures.executions),
        (None, Ended::Bound) => of(2, 0.0, figures.executions),
        (None, _) => of(3, 0.0, -seen(figures)),
    }
}

/// A search and its figures.
type Candidate<'a> = (&'a Cell, &'a Figures);

fn of_program(cells: &[Cell], are_tests: bool) -> Advice {
    let ran: Vec<Candidate<'_>> = cells
        .iter()
        .filter_map(|cell| match &cell.outcome {
            Outcome::Ran(figures) => Some((cell, figures)),
            Outcome::Refused(_) => None,
        })
        .collect();
    let found = finders(&ran)
        .or_else(|| finishers(&ran, Ended::Everything, "covers every schedule"))
        .or_else(|| finishers(&ran, Ended::Bound, "covers every schedule within its bound"))
        .or_else(|| samplers(&ran));
    let (search, why) = found.map_or((None, "no search was run".into()), |(search, why)| {
        (Some(search), why)
    });
    let program = cells[0].program.clone();
    let taken = ran.iter().find(|(cell, _)| Some(cell.search.label()) == search);
    let given = taken.map(|(cell, _)| cell.search.paste());
    let quoted = |(name, value): &(&str, String)| match value.parse::<u64>() {
        Ok(number) => format!("{name} = {number}"),
        Err(_) => format!("{name} = \"{value}\""),
    };
    let lines = given.map(|given| given.iter().map(quoted).collect::<Vec<_>>());
    Advice {
        attribute: lines.as_ref().map(|lines| match &lines[..] {
            [] => "#[intermezzo::test]".into(),
            lines => format!("#[intermezzo::test({})]", lines.join(", ")),
        }),
        config: lines.filter(|lines| !lines.is_empty()).map(|lines| {
            let section = if are_tests {
                format!("[test.\"{program}\"]\n")
            } else {
                String::new()
            };
            section + &lines.join("\n")
        }),
        worth: taken.and_then(|taken| worth(*taken, &ran)),
        search,
        why,
        program,
    }
}

/// Returns the cost of the recommended search, compared with that of the default search.
fn worth((cell, figures): Candidate<'_>, ran: &[Candidate<'_>]) -> Option<String> {
    let mut worth = figures.cost();
    if cell.search.is_default() {
        worth.push_str("; it is the default search");
        return Some(worth);
    }
    let default = ran.iter().find(|(cell, _)| cell.search.is_default());
    let Some((_, default)) = default else {
        return Some(worth);
    };
    let (one, other) = (standing(figures), standing(default));
    worth.push_str(&format!("; the default search: {}", default.cost()));
    if one.class == other.class && one.missed == other.missed && one.class < 3 {
        worth.push_str(&format!(", {:.1} times as many", other.cost / one.cost.max(1.0)));
    }
    Some(worth)
}

impl Figures {
    /// Describes the number of executions to the failure or to the end, with the spread over seeds, and the time, if it is
    /// known.
    pub(crate) fn cost(&self) -> String {
        let mut cost = match (self.to_failure, self.failures) {
            (Some(mean), Some((soonest, latest))) if soonest != latest => {
                format!("fails after {} ({soonest} to {latest})", executions(mean))
            }
            (Some(mean), _) => format!("fails after {}", executions(mean)),
            (None, _) => format!("{} to {}", executions(self.executions), self.ended.end()),
        };
        if self.found > 0 && self.found < self.runs {
            cost.push_str(&format!(", in {} of {} runs", self.found, self.runs));
        }
        if let Some(seconds) = self.seconds {
            cost.push_str(&format!(", {:.3} s", seconds / self.runs as f64));
        }
        cost
    }
}

/// If something fails: recommends the search that fails most often, and then soonest.
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
    let shown = |(cell, figures, soon): &(&Cell, &Figures, f64)| {
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
    let mut why = format!("it finds the failure soonest: {}", shown(first));
    match others.first() {
        Some(next) => why.push_str(&format!("; next {}", shown(next))),
        None if ran.len() > 1 => why.push_str("; no other search fails"),
        None => {}
    }
    Some((first.0.search.label(), why))
}

/// If nothing fails: recommends the search that ends with the fewest executions.
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

/// If no search ends: recommends the one that showed the most traces.
fn samplers(ran: &[Candidate<'_>]) -> Option<(String, String)> {
    // Reversed, because `max_by` returns the last of several equal ones, and the first is wanted.
    let first = ran
        .iter()
        .rev()
        .max_by(|(_, a), (_, b)| seen(a).total_cmp(&seen(b)))?;
    let why = format!(
        "nothing fails and no search ends: it showed the most different traces, {} in {}",
        number(first.1.traces.unwrap_or(0.0)),
        executions(first.1.executions)
    );
    Some((first.0.search.label(), why))
}

/// Returns the number of different traces per execution.
fn seen(figures: &Figures) -> f64 {
    let traces = figures.traces.unwrap_or_default();
    traces / figures.executions.max(1.0)
}

/// Returns `1 execution`, `7.2 executions`.
fn executions(count: f64) -> String {
    let s = if count == 1.0 { "" } else { "s" };
    format!("{} execution{s}", number(count))
}

/// Returns a number with at most one digit after the point.
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
                failures: (found > 0).then_some((to_failure as u64, to_failure as u64)),
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
        let [advice] = <[Advice; 1]>::try_from(of(cells, false)).unwrap();
        (advice.search, advice.why)
    }

    #[test]
    fn the_search_that_fails_most_often_and_soonest_is_recommended() {
        let (search, why) = why(&[
            cell("a", 20, 7.25, 7.25, Ended::Failure),
            cell("b", 20, 5.0, 5.0, Ended::Failure),
            cell("c", 1, 1.0, 900.0, Ended::Limit),
        ]);
        assert_eq!(search.as_deref(), Some("b"));
        assert_eq!(
            why,
            "it finds the failure soonest: b after 5 executions in each of 20 runs; next a after 7.2 executions in each of 20 runs"
        );
    }

    #[test]
    fn the_search_that_covers_everything_soonest_is_recommended() {
        let (search, why) = why(&[
            cell("a", 0, 0.0, 50.0, Ended::Everything),
            cell("b", 0, 0.0, 6.0, Ended::Everything),
            cell("c", 0, 0.0, 5.0, Ended::Limit),
        ]);
        assert_eq!(search.as_deref(), Some("b"));
        assert_eq!(why, "it covers every schedule in 6 executions; next a in 50");
    }

    #[test]
    fn advice_has_the_lines_to_write_and_the_cost() {
        let mut dpor = cell("dfs", 0, 0.0, 18.0, Ended::Everything);
        dpor.search.reduction = "dpor".into();
        let mut auto = cell("auto", 0, 0.0, 45.0, Ended::Everything);
        auto.search.reduction = "auto".into();
        let [advice] = <[Advice; 1]>::try_from(of(&[dpor, auto.clone()], true)).unwrap();
        assert_eq!(
            advice.attribute.as_deref(),
            Some("#[intermezzo::test(strategy = \"dfs\", reduction = \"dpor\")]")
        );
        assert_eq!(
            advice.config.as_deref(),
            Some("[test.\"p\"]\nstrategy = \"dfs\"\nreduction = \"dpor\"")
        );
        assert_eq!(
            advice.worth.as_deref(),
            Some("18 executions to the end; the default search: 45 executions to the end, 2.5 times as many")
        );
        let [advice] = <[Advice; 1]>::try_from(of(&[auto], false)).unwrap();
        assert_eq!(advice.attribute.as_deref(), Some("#[intermezzo::test]"));
        assert_eq!(advice.config, None);
    }

    #[test]
    fn the_search_that_saw_most_traces_is_recommended() {
        let (search, why) = why(&[cell("a", 0, 0.0, 50.0, Ended::Limit)]);
        assert_eq!(search.as_deref(), Some("a"));
        assert!(why.ends_with("25 in 50 executions"), "{why}");
        let refused = Cell {
            outcome: Outcome::Refused("no".into()),
            ..cell("a", 0, 0.0, 0.0, Ended::Limit)
        };
        assert_eq!(super::of(&[refused], false)[0].search, None);
    }
}
