//! A comparison as text, as CSV and as JSON.

use super::advice::{Advice, number};
use super::cells::{Cell, Figures, Outcome};
use super::grow::Grown;
use super::run::Ended;
use crate::output;
use crate::problem::Problem;
use serde::Serialize;

/// The results of a comparison.
#[derive(Serialize)]
pub(crate) struct Comparison {
    pub(crate) cells: Vec<Cell>,
    pub(crate) growth: Vec<Grown>,
    pub(crate) advice: Vec<Advice>,
    /// `true` if figures that depend on the machine are shown.
    #[serde(skip)]
    pub(crate) times: bool,
}

/// A column: its title, `true` if it depends on time, and the contents of a cell.
type Column = (&'static str, bool, fn(&Figures) -> String);

/// The columns after the program and the search.
const FIGURES: &[Column] = &[
    ("FOUND", false, |figures| {
        format!("{}/{}", figures.found, figures.runs)
    }),
    ("TO FAILURE", false, |figures| {
        figures.to_failure.map_or("-".into(), number)
    }),
    ("EXECUTIONS", false, |figures| number(figures.executions)),
    ("TRACES", false, |figures| {
        figures.traces.map_or("-".into(), number)
    }),
    ("REDUNDANT", false, |figures| {
        format!("{:.1} %", 100.0 * figures.redundant)
    }),
    ("ENDED BY", false, |figures| figures.ended.words().into()),
    ("SECONDS", true, |figures| {
        figures
            .seconds
            .map_or("-".into(), |seconds| format!("{seconds:.3}"))
    }),
    ("TRACES/S", true, |figures| {
        figures
            .traces_per_second
            .map_or("-".into(), |rate| format!("{rate:.0}"))
    }),
];

impl Comparison {
    /// Returns the table, the reasons for refusals, the growth of costs, and the advice.
    pub(crate) fn text(&self) -> String {
        let mut rows = vec![self.titles()];
        let mut reasons: Vec<&str> = Vec::new();
        for cell in &self.cells {
            let mut row = self.search(cell);
            match &cell.outcome {
                Outcome::Ran(figures) => row.extend(self.figures(figures)),
                Outcome::Refused(reason) => {
                    let known = reasons.iter().position(|known| known == reason);
                    let number = known.unwrap_or_else(|| {
                        reasons.push(reason);
                        reasons.len() - 1
                    });
                    row.push(format!("refused ({})", number + 1));
                }
            }
            rows.push(row);
        }
        let mut text = output::table(&rows);
        if !reasons.is_empty() {
            text.push_str("\nrefused:\n");
        }
        for (reason, number) in reasons.iter().zip(1..) {
            text.push_str(&format!("  ({number}) {reason}\n"));
        }
        if !self.growth.is_empty() {
            text.push_str("\ngrowth:\n");
        }
        for grown in &self.growth {
            text.push_str(&growth_line(grown));
        }
        text.push_str("\nadvice:\n");
        for advice in &self.advice {
            text.push_str(&advised(advice));
        }
        text.push_str(&self.bars());
        text
    }

    /// Draws bars in text: for each search of each program the executions to the failure or the end, on a logarithmic scale
    /// where each sign is a factor of 1.5.
    fn bars(&self) -> String {
        let mut text = String::from("\nexecutions to the failure or the end, each # is a factor of 1.5:\n");
        let mut rows = Vec::new();
        for cell in &self.cells {
            let Outcome::Ran(figures) = &cell.outcome else {
                continue;
            };
            let (executions, sign) = match (figures.to_failure, figures.ended) {
                (Some(executions), _) => (executions, '#'),
                (None, Ended::Limit) => (figures.executions, '.'),
                (None, _) => (figures.executions, '='),
            };
            let length = 1 + (executions.max(1.0).ln() / 1.5_f64.ln()).round() as usize;
            let bar: String = std::iter::repeat_n(sign, length).collect();
            rows.push(vec![
                cell.program.clone(),
                cell.search.label(),
                format!("{bar} {}", number(executions)),
            ]);
        }
        text.push_str(&output::table(&rows));
        text.push_str("# to a failure, = to an end without one, . to the limit\n");
        text
    }

    /// Returns the table as CSV: numbers as they are, and reasons for refusals in the last column.
    pub(crate) fn csv(&self) -> Result<String, Problem> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let written = self
            .csv_rows()
            .iter()
            .try_for_each(|row| writer.write_record(row));
        written.map_err(|error| Problem::usage(format!("cannot make CSV: {error}")))?;
        let bytes = writer.into_inner().expect("memory takes what is written to it");
        Ok(String::from_utf8(bytes).expect("cells are text"))
    }

    fn csv_rows(&self) -> Vec<Vec<String>> {
        let exact = |number: Option<f64>| number.map_or(String::new(), |number| number.to_string());
        let mut titles = vec!["program", "strategy", "reduction", "preemptions", "cache_bytes"];
        titles.extend([
            "runs",
            "found",
            "to_failure",
            "executions",
            "traces",
            "redundant",
            "ended",
        ]);
        if self.times {
            titles.extend(["seconds", "traces_per_second"]);
        }
        let width = titles.len();
        titles.push("refused");
        let mut rows = vec![titles.into_iter().map(str::to_owned).collect()];
        for cell in &self.cells {
            let search = cell.search.clone();
            let mut row = vec![
                cell.program.clone(),
                search.strategy,
                search.reduction,
                search.preemptions,
            ];
            row.push(search.cache_bytes.unwrap_or_default());
            let mut refused = String::new();
            match &cell.outcome {
                Outcome::Ran(figures) => {
                    row.extend([figures.runs, figures.found].map(|count| count.to_string()));
                    row.extend([figures.to_failure, Some(figures.executions), figures.traces].map(exact));
                    row.extend([exact(Some(figures.redundant)), figures.ended.words().into()]);
                    if self.times {
                        row.extend([figures.seconds, figures.traces_per_second].map(exact));
                    }
                }
                Outcome::Refused(reason) => refused.clone_from(reason),
            }
            row.resize(width, String::new());
            row.push(refused);
            rows.push(row);
        }
        rows
    }

    fn has_budgets(&self) -> bool {
        self.cells.iter().any(|cell| cell.search.cache_bytes.is_some())
    }

    fn titles(&self) -> Vec<String> {
        let mut titles = vec!["PROGRAM", "STRATEGY", "REDUCTION", "PREEMPTIONS"];
        if self.has_budgets() {
            titles.push("MEMORY");
        }
        titles.extend(self.columns().map(|(name, ..)| name));
        titles.into_iter().map(str::to_owned).collect()
    }

    fn columns(&self) -> impl Iterator<Item = &'static Column> {
        FIGURES
            .iter()
            .filter(|(_, about_times, _)| self.times || !about_times)
    }

    fn search(&self, cell: &Cell) -> Vec<String> {
        let search = &cell.search;
        let mut row = vec![
            cell.program.clone(),
            search.strategy.clone(),
            search.reduction.clone(),
            search.preemptions.clone(),
        ];
        if self.has_budgets() {
            row.push(search.cache_bytes.clone().unwrap_or_default());
        }
        row
    }

    fn figures(&self, figures: &Figures) -> Vec<String> {
        self.columns().map(|(.., show)| show(figures)).collect()
    }
}

/// Returns the advice on a program: the search, the lines to write, and the cost.
fn advised(advice: &Advice) -> String {
    let Advice {
        program,
        search,
        why,
        attribute,
        config,
        worth,
    } = advice;
    let Some(search) = search else {
        return format!("  {program}: none: {why}\n");
    };
    let mut text = format!("  {program}: use {search}: {why}\n");
    if let Some(worth) = worth {
        text.push_str(&format!("    cost: {worth}\n"));
    }
    if let Some(attribute) = attribute {
        text.push_str(&format!("    {attribute}\n"));
    }
    if let Some(config) = config {
        text.push_str("    or in intermezzo.toml:\n");
        for line in config.lines() {
            text.push_str(&format!("      {line}\n"));
        }
    }
    text
}

/// Returns a line such as `counter, dfs: tasks=2: 6, tasks=3: 90; 15.00 times as many executions from each to the next`.
fn growth_line(grown: &Grown) -> String {
    let executions = grown.executions.iter();
    let executions: Vec<String> = executions
        .map(|(value, executions)| format!("{}={value}: {}", grown.parameter, number(*executions)))
        .collect();
    let factor = match grown.factor {
        Some(factor) => format!("; {factor:.2} times as many executions from each to the next"),
        None => "; too few ended to say how it grows".into(),
    };
    format!(
        "  {}, {}: {}{factor}\n",
        grown.program,
        grown.search,
        executions.join(", ")
    )
}
