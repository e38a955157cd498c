//! The published table of buggy programs, with the executions that other tools needed to find their bugs.

use crate::{Arguments, Program, parse_full_name};
use std::sync::OnceLock;

/// `corpus/oracle/buggy_programs.csv`, whose columns `corpus/oracle/README.md` explains.
const TABLE: &str = include_str!("../oracle/buggy_programs.csv");

/// A row of the table: a program of the corpus, its twin without the bug, and its published figures.
pub struct Bug {
    columns: csv::StringRecord,
    cells: csv::StringRecord,
}

/// The tools of the table, by the beginnings of their columns' names.
pub const TOOLS: [&str; 7] = ["rff", "surw", "pos", "pct3", "random_walk", "maple", "period"];

/// The published result of a tool on a program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Published {
    /// Nothing.
    Unknown,
    /// It did not find the bug, in 10,000 executions of each trial or in all that it ran.
    NotFound,
    /// It found the bug.
    Found {
        /// Executions to the bug: their mean over those trials that found it.
        executions: f64,
        /// The number of trials of 20 that found it; `None` where the tool was run once.
        of_20: Option<u64>,
    },
}

impl Published {
    fn found(executions: f64, of_20: Option<u64>) -> Published {
        Published::Found { executions, of_20 }
    }
}

/// Returns the rows of the table, in its order.
pub fn bugs() -> &'static [Bug] {
    static BUGS: OnceLock<Vec<Bug>> = OnceLock::new();
    BUGS.get_or_init(|| {
        let mut table = csv::Reader::from_reader(TABLE.as_bytes());
        let columns = table.headers().expect("the table has a heading").clone();
        let rows = table.into_records().map(|cells| Bug {
            columns: columns.clone(),
            cells: cells.expect("the table's rows are as long as its heading"),
        });
        rows.collect()
    })
}

impl Bug {
    /// Returns the program with the bug, in the size that is published.
    pub fn program(&self) -> (&'static Program, Arguments) {
        named(self.cell("program"))
    }

    /// Returns the same without the bug.
    pub fn twin(&self) -> (&'static Program, Arguments) {
        named(self.cell("twin"))
    }

    /// Returns the row's text in this column; empty where nothing is known.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn cell(&self, column: &str) -> &str {
        let at = self.columns.iter().position(|name| name == column);
        &self.cells[at.unwrap_or_else(|| panic!("there is no column {column}"))]
    }

    /// Returns the number in this column; `None` where there is none.
    pub fn number(&self, column: &str) -> Option<u64> {
        self.cell(column).parse().ok()
    }

    /// Returns the published result of that tool on this program.
    ///
    /// # Panics
    /// If [`TOOLS`] has no such tool.
    pub fn published(&self, tool: &str) -> Published {
        assert!(TOOLS.contains(&tool), "there is no tool {tool} in the table");
        let executions = |column: String| {
            self.cell(&column)
                .parse()
                .expect("what was found took executions")
        };
        match tool {
            "maple" => match self.cell("maple_found") {
                "yes" => Published::found(executions("maple_schedules".into()), None),
                "no" => Published::NotFound,
                _ => Published::Unknown,
            },
            "period" if self.cell("period_schedules").is_empty() => Published::Unknown,
            "period" => Published::found(executions("period_schedules".into()), None),
            _ => match self.number(&format!("{tool}_found_of_20")) {
                None => Published::Unknown,
                Some(0) => Published::NotFound,
                found => Published::found(executions(format!("{tool}_mean")), found),
            },
        }
    }
}

fn named(full_name: &str) -> (&'static Program, Arguments) {
    parse_full_name(full_name).unwrap_or_else(|error| panic!("the table: {error}"))
}
