//! The page about the table of buggy programs, in Markdown: our strategies compared with published figures.

mod ratios;

use super::advice::number;
use super::cells::{Cell, Figures, Outcome};
use super::matrix::{Matrix, Programs};
use super::work::Item;
use crate::args::TuneArgs;
use crate::problem::Problem;
use intermezzo_corpus::bugs::{Bug, Published, bugs};

/// Our strategies, each with the published tool in the table that uses the same strategy.
const STRATEGIES: &[(&str, Option<&str>)] = &[
    ("surw", Some("surw")),
    ("pos", Some("pos")),
    ("pct(3)", Some("pct3")),
    ("random", Some("random_walk")),
    ("auto", None),
    ("places", None),
    ("surw(all)", None),
    ("portfolio(surw,pos,places)", None),
    ("pct-all(3)", None),
    ("pctvb(3,1)", None),
    ("ranked", None),
    ("best-first", None),
    ("maple", None),
    ("dfs(4)", None),
    ("dfs(delays=6)", None),
];

/// Published tools without a strategy of ours, and their names for people.
const OTHERS: &[(&str, &str)] = &[("rff", "RFF"), ("maple", "Maple"), ("period", "PERIOD")];

/// More sizes of the family that distinguishes strategies best, for which nothing is published.
const MORE: &[&str] = &["reorder_3_bad,setters=19", "reorder_3_bad,setters=80,checkers=20"];

/// The family, by its number of tasks.
const FAMILY: &str = "reorder_3_bad";

/// The best strategy should take fewer executions than this on the family, at each size.
const FAMILY_MAX: f64 = 30.0;

/// Returns the matrix of the page.
///
/// # Errors
/// If a strategy that was given does not exist.
pub(crate) fn matrix(args: &TuneArgs) -> Result<Matrix, Problem> {
    let programs = bugs()
        .iter()
        .map(|bug| bug.cell("program"))
        .chain(MORE.iter().copied());
    let strategies: Vec<&str> = STRATEGIES.iter().map(|(name, _)| *name).collect();
    let programs = Programs::Corpus(programs.map(str::to_owned).collect());
    let mut matrix = Matrix::new(args, programs, &strategies)?;
    // Only bugs are counted, so remembering traces would be a waste of time.
    matrix
        .settings
        .insert(0, ("reduction".into(), "cache_bytes=0".into()));
    Ok(matrix)
}

/// Returns the page about these cells.
pub(crate) fn page(matrix: &Matrix, cells: &[Cell], items: &[Item]) -> String {
    let page = Page {
        rows: cells.chunks(matrix.searches.len()).collect(),
    };
    let (seeds, executions) = (matrix.seeds, matrix.executions);
    let mut text = format!(
        "# How soon strategies find bugs\n\n\
         The figures are mean numbers of executions to the bug.\n\
         Each strategy was run with {seeds} seeds and at most {executions} executions.\n\
         The mean is over the seeds with which the bug was found; their number is in parentheses if it was not found with all.\n\
         Strategies that draw nothing at random are run once.\n\
         `-` means that the bug was not found, and an empty cell that no figure was published.\n\
         Executions that a strategy learns from are counted.\n\
         `dfs(4)` is `dfs` with at most 4 preemptions.\n\
         The programs and the sources of the published figures are in `corpus/oracle/`.\n\n\
         This page is what `cargo run --release -p cargo-intermezzo -- tune --bugs` prints.\n\n"
    );
    text.push_str("## Compared with published figures\n\n");
    text.push_str(&page.compared());
    text.push_str("\n## Other strategies\n\n");
    text.push_str(&page.others());
    text.push_str("\n## SURW compared with its published figures\n\n");
    text.push_str(&page.ratios(items));
    text.push_str("\n## What each strategy finds\n\n");
    text.push_str(&page.found());
    text.push_str(&other_failures(matrix, items));
    text.push_str(&format!("\n## The family `{FAMILY}`\n\n"));
    text.push_str(&page.family());
    text
}

/// The cells of a comparison, a slice for each program.
struct Page<'a> {
    rows: Vec<&'a [Cell]>,
}

impl Page<'_> {
    /// Returns the strategies that were run, each with the published tool that uses it.
    fn strategies(&self) -> Vec<(String, Option<&'static str>)> {
        let first = self.rows.first().copied().unwrap_or_default();
        let strategies = first.iter().map(|cell| {
            let label = cell.search.label();
            let same = STRATEGIES.iter().find(|(name, _)| *name == label);
            let tool = same.and_then(|(_, tool)| *tool);
            (label, tool)
        });
        strategies.collect()
    }

    /// Returns the rows with their published figures; `None` for those that are not in the table.
    fn rows(&self) -> impl Iterator<Item = (&[Cell], Option<&'static Bug>)> {
        self.rows.iter().map(|row| {
            let bug = bugs().iter().find(|bug| bug.cell("program") == row[0].program);
            (*row, bug)
        })
    }

    /// Compares strategies for which figures are published.
    fn compared(&self) -> String {
        let columns: Vec<(usize, String, &str)> = self
            .strategies()
            .into_iter()
            .enumerate()
            .filter_map(|(at, (label, tool))| Some((at, label, tool?)))
            .collect();
        let mut titles = vec!["program".to_owned()];
        for (_, label, _) in &columns {
            titles.extend([format!("`{label}`"), "published".into()]);
        }
        let rows = self.rows().map(|(cells, bug)| {
            let mut row = vec![format!("`{}`", cells[0].program)];
            for (at, _, tool) in &columns {
                row.push(ours(&cells[*at]));
                row.push(bug.map_or(String::new(), |bug| published(bug, tool)));
            }
            row
        });
        markdown(titles, rows)
    }

    /// Shows strategies without published figures, and other tools.
    fn others(&self) -> String {
        let strategies = self.strategies().into_iter().enumerate();
        let columns: Vec<(usize, String)> = strategies
            .filter(|(_, (_, tool))| tool.is_none())
            .map(|(at, (label, _))| (at, label))
            .collect();
        let mut titles = vec!["program".to_owned()];
        titles.extend(columns.iter().map(|(_, label)| format!("`{label}`")));
        titles.extend(OTHERS.iter().map(|(_, name)| format!("{name}, published")));
        let rows = self.rows().map(|(cells, bug)| {
            let mut row = vec![format!("`{}`", cells[0].program)];
            row.extend(columns.iter().map(|(at, _)| ours(&cells[*at])));
            row.extend(
                OTHERS
                    .iter()
                    .map(|(tool, _)| bug.map_or(String::new(), |bug| published(bug, tool))),
            );
            row
        });
        markdown(titles, rows)
    }

    /// Shows how many bugs each strategy finds, and the ones that it misses and a published tool finds.
    fn found(&self) -> String {
        let rows = self.strategies().into_iter().enumerate().map(|(at, (label, _))| {
            let finds = |cells: &[Cell]| figures(&cells[at]).is_some_and(|figures| figures.found > 0);
            let found = self.rows().filter(|(cells, _)| finds(cells)).count();
            let missed = self.rows().filter(|(cells, bug)| {
                let known = bug.is_some_and(|bug| {
                    let tools = intermezzo_corpus::bugs::TOOLS.iter();
                    tools
                        .map(|tool| bug.published(tool))
                        .any(|of_tool| matches!(of_tool, Published::Found { .. }))
                });
                known && !finds(cells)
            });
            let missed: Vec<String> = missed
                .map(|(cells, _)| format!("`{}`", cells[0].program))
                .collect();
            vec![
                format!("`{label}`"),
                format!("{found} of {}", self.rows.len()),
                missed.join(", "),
            ]
        });
        let titles = ["strategy", "bugs found", "not found, but by a published tool"];
        markdown(titles.map(str::to_owned).to_vec(), rows)
    }

    /// Shows the best strategy at each size of the family.
    fn family(&self) -> String {
        let of_family = self
            .rows
            .iter()
            .filter(|row| row[0].program.split(',').next() == Some(FAMILY));
        let rows = of_family.map(|row| {
            let soonest = row.iter().filter_map(|cell| {
                let figures = figures(cell).filter(|figures| figures.found == figures.runs)?;
                Some((cell, figures.to_failure?))
            });
            let soonest = soonest.min_by(|(_, one), (_, other)| one.total_cmp(other));
            let mut cells = vec![format!("`{}`", row[0].program)];
            match soonest {
                Some((cell, executions)) => {
                    let fewer = if executions < FAMILY_MAX { "yes" } else { "no" };
                    cells.extend([
                        format!("`{}`", cell.search.label()),
                        number(executions),
                        fewer.into(),
                    ]);
                }
                None => cells.extend(["-".into(), "-".into(), "no".into()]),
            }
            cells
        });
        let titles = ["program", "soonest of those that always find it", "executions"].map(str::to_owned);
        markdown(
            [titles.to_vec(), vec![format!("fewer than {FAMILY_MAX}")]].concat(),
            rows,
        )
    }
}

/// Lists runs with a failure of another kind than the table gives, which would not be the program's known bug.
fn other_failures(matrix: &Matrix, items: &[Item]) -> String {
    let mut lines: Vec<String> = Vec::new();
    for item in items {
        let Some(bug) = bugs().get(item.program) else {
            continue;
        };
        for kind in item.runs.iter().filter_map(|run| run.kind.as_ref()) {
            if kind != bug.cell("finding") {
                let search = matrix.searches[item.search].label();
                lines.push(format!("- `{}` with `{search}`: {kind}\n", bug.cell("program")));
            }
        }
    }
    lines.dedup();
    if lines.is_empty() {
        return "\nEvery failure was of the kind that the table of bugs gives for the program.\n".into();
    }
    format!(
        "\nFailures of another kind than the table of bugs gives:\n\n{}",
        lines.concat()
    )
}

fn figures(cell: &Cell) -> Option<&Figures> {
    match &cell.outcome {
        Outcome::Ran(figures) => Some(figures),
        Outcome::Refused(_) => None,
    }
}

/// Returns our result: `7.3`, or `7.3 (16/20)`.
fn ours(cell: &Cell) -> String {
    match figures(cell) {
        None => "refused".into(),
        Some(figures) => shown(figures.to_failure, figures.found, figures.runs),
    }
}

/// Returns the published result, in the same form.
fn published(bug: &Bug, tool: &str) -> String {
    match bug.published(tool) {
        Published::Unknown => String::new(),
        Published::NotFound => "-".into(),
        Published::Found { executions, of_20 } => {
            shown(Some(executions), of_20.unwrap_or(1), of_20.map_or(1, |_| 20))
        }
    }
}

fn shown(to_failure: Option<f64>, found: u64, runs: u64) -> String {
    match to_failure {
        None => "-".into(),
        Some(executions) if found == runs => number(executions),
        Some(executions) => format!("{} ({found}/{runs})", number(executions)),
    }
}

/// Returns a table in Markdown.
fn markdown(titles: Vec<String>, rows: impl Iterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let rule = vec!["---".to_owned(); titles.len()];
    let mut text = line(&titles) + &line(&rule);
    rows.for_each(|row| text.push_str(&line(&row)));
    text
}
