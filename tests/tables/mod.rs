//! The tables of `corpus/oracle`, row by row.

mod comparison;

pub(crate) use comparison::Comparison;
use intermezzo::{Environment, Explorer, Report, Settings};
use intermezzo_corpus::{Arguments, Program, parse_full_name};
use std::collections::BTreeMap;

/// Counts and verdicts by tools that explore graphs.
pub(crate) const TRACE_COUNTS: &str = include_str!("../../corpus/oracle/trace_counts.csv");

/// A row of a table, by the names of its columns.
pub(crate) struct Row(BTreeMap<&'static str, String>);

impl Row {
    pub(crate) fn cell(&self, column: &str) -> &str {
        self.0
            .get(column)
            .unwrap_or_else(|| panic!("there is no column {column}"))
    }

    pub(crate) fn program(&self) -> (&'static Program, Arguments) {
        parse_full_name(self.cell("program")).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Returns the numbers of a cell, which slashes separate; none if it is empty.
    pub(crate) fn numbers(&self, column: &str) -> Vec<u64> {
        let numbers = self.cell(column).split('/').filter(|number| !number.is_empty());
        numbers.map(|number| number.parse().expect("a number")).collect()
    }

    pub(crate) fn is(&self, comparable: &str) -> bool {
        self.cell("comparable") == comparable
    }

    /// Explores the program under these settings, in a calm environment, with further changes.
    pub(crate) fn explore(&self, settings: Settings, change: impl FnOnce(Explorer) -> Explorer) -> Report {
        let (program, arguments) = self.program();
        let settings = Settings {
            environment: Environment::calm(),
            steps: program.settings().steps,
            spin_loops: match self.is("awaits") {
                true => intermezzo::SpinLoops::Assume,
                false => intermezzo::SpinLoops::Park,
            },
            ..settings
        };
        change(program.explorer(settings, &arguments).monitors("none")).explore(program.test(&arguments))
    }
}

pub(crate) fn rows(table: &'static str) -> Vec<Row> {
    let mut lines = table.lines();
    let columns: Vec<&str> = lines.next().expect("a heading").split(',').collect();
    let row = |line| Row(columns.iter().copied().zip(cells(line)).collect());
    lines.map(row).collect()
}

/// Returns the cells of a line: those that contain commas are in quotes.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    for (at, part) in line.split('"').enumerate() {
        let mut pieces = if at % 2 == 1 {
            vec![part]
        } else {
            part.split(',').collect()
        }
        .into_iter();
        *cells.last_mut().expect("one to begin with") += pieces.next().expect("split gives one");
        cells.extend(pieces.map(str::to_owned));
    }
    cells
}
