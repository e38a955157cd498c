//! A structure's row of the document, and its section if the structure is not linearizable.

use intermezzo::Verdict;
use intermezzo::refinement::{Description, RefinementReport};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The structures, in the order of the document.
const ROWS: &str = include_str!("rows.txt");

/// The text before the table.
const ABOVE: &str = include_str!("above.md");

const HEADING: &str = "\
| structure | crate | operations | against itself | against a model | scenarios | executions | coverage |
|---|---|---|---|---|---:|---:|---|
";

/// The row of a structure.
#[must_use]
pub struct Row {
    structure: &'static str,
    package: &'static str,
    operations: &'static str,
    reports: Vec<(&'static str, RefinementReport)>,
}

impl Row {
    /// Creates the row of a structure of this package.
    pub fn new(structure: &'static str, package: &'static str, operations: &'static str) -> Row {
        Row {
            structure,
            package,
            operations,
            reports: Vec::new(),
        }
    }

    /// Adds the comparison with itself.
    pub fn itself(mut self, report: RefinementReport) -> Row {
        self.reports.push(("itself", report));
        self
    }

    /// Adds the comparison with a model.
    pub fn model(mut self, report: RefinementReport) -> Row {
        self.reports.push(("a model", report));
        self
    }

    /// Asserts that nothing was found.
    ///
    /// # Panics
    /// If something was found, or if the document has another row.
    pub fn linearizable(self) {
        for (with, report) in &self.reports {
            assert!(
                report.failure.is_none(),
                "{}, against {with}: {report}",
                self.structure
            );
        }
        self.settle(None);
    }

    /// Asserts that the structure is not linearizable in one of these scenarios, compared with itself and with the
    /// model; the document says why.
    ///
    /// # Panics
    /// If it is linearizable, or fails in another scenario, or if the document has another row.
    pub fn not_linearizable(self, scenarios: &[&str], why: &str) {
        for (with, report) in &self.reports {
            let found = report.failure.as_ref().map(|failure| one_line(&failure.scenario));
            let is_known = found.as_deref().is_some_and(|found| scenarios.contains(&found));
            assert!(
                is_known,
                "{}, against {with}: {found:?}: {report}",
                self.structure
            );
        }
        self.settle(Some(why));
    }

    /// Compares the row with the document's, or writes it.
    fn settle(self, why: Option<&str>) {
        let text = self.line();
        assert!(
            ROWS.lines().any(|row| row == self.structure),
            "src/rows.txt does not name {:?}",
            self.structure
        );
        let section = why.map(|why| self.section(why)).unwrap_or_default();
        if std::env::var_os("UPDATE_DOCS").is_some() {
            write(self.structure, &format!("{text}\n{section}"));
            return;
        }
        let document = fs::read_to_string(document()).unwrap_or_default();
        let known = document.lines().any(|line| line == text);
        assert!(
            known && document.contains(&section),
            "docs/LINEARIZABILITY.md does not have this:\n{text}\n{section}"
        );
    }

    fn line(&self) -> String {
        let verdict = |with: &str| {
            let found = self.reports.iter().find(|(name, _)| *name == with);
            match found.map(|(_, report)| report.verdict()) {
                None => "",
                Some(Verdict::Pass) => "yes",
                Some(Verdict::Fail) => "**no**",
                Some(_) => "nothing found",
            }
        };
        let sum = |count: fn(&RefinementReport) -> u64| {
            number(self.reports.iter().map(|(_, report)| count(report)).sum())
        };
        format!(
            "| {} | {} {} | {} | {} | {} | {} | {} | {} |",
            self.structure,
            self.package,
            version(self.package),
            self.operations,
            verdict("itself"),
            verdict("a model"),
            sum(|report| report.scenarios),
            sum(|report| report.executions),
            self.coverage(),
        )
    }

    fn coverage(&self) -> String {
        if self.reports.iter().any(|(_, report)| report.failure.is_some()) {
            return "to the first failure".to_owned();
        }
        let short: usize = self.reports.iter().map(|(_, report)| report.short.len()).sum();
        match short {
            0 => "every schedule".to_owned(),
            short => format!("{short} scenarios not in full"),
        }
    }

    fn section(&self, why: &str) -> String {
        let failures = self
            .reports
            .iter()
            .filter_map(|(with, report)| Some((with, report.failure.as_ref()?)));
        let mut text = format!("\n### {}\n", self.structure);
        let mut last = String::new();
        for (with, failure) in failures {
            let scenario = one_line(&failure.scenario);
            if scenario != last {
                let timeline = failure.timeline.as_deref().unwrap_or_default();
                text.push_str(&format!(
                    "\nAgainst {with}:\n\n```text\n{scenario}\n\n{}\n```\n",
                    timeline.trim_end()
                ));
            }
            last = scenario;
        }
        text.push_str(&format!("\n{why}\n"));
        text
    }
}

/// Returns the scenario in the documents' form: `push(1); { pop() } ‖ { pop() }`.
fn one_line(scenario: &Description) -> String {
    let tasks: Vec<String> = scenario
        .tasks
        .iter()
        .map(|task| format!("{{ {} }}", task.join("; ")))
        .collect();
    let tasks = tasks.join(" ‖ ");
    let parts = scenario.init.iter().chain([&tasks]).chain(&scenario.post);
    parts.map(String::as_str).collect::<Vec<_>>().join("; ")
}

/// Returns the version of a package in the lock file.
fn version(package: &str) -> &'static str {
    let lock = include_str!("../Cargo.lock");
    let name = format!("name = \"{package}\"\nversion = \"");
    let after = lock
        .split(&name)
        .nth(1)
        .unwrap_or_else(|| panic!("Cargo.lock does not have {package}"));
    after.split('"').next().unwrap_or_default()
}

/// Returns a number with commas between thousands.
fn number(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn document() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/LINEARIZABILITY.md")
}

/// Keeps a row and its section, and writes the document if all rows are known.
fn write(structure: &str, text: &str) {
    static ONE: Mutex<()> = Mutex::new(());
    let _alone = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/rows");
    let file = |structure: &str| {
        let name: String = structure
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
            .collect();
        kept.join(name)
    };
    fs::create_dir_all(&kept).unwrap();
    fs::write(file(structure), text).unwrap();
    let rows: Option<Vec<String>> = ROWS
        .lines()
        .map(|row| fs::read_to_string(file(row)).ok())
        .collect();
    let Some(rows) = rows else { return };
    let mut document = format!("{ABOVE}\n{HEADING}");
    let (mut sections, mut lines) = (String::new(), String::new());
    for row in &rows {
        let (line, section) = row.split_once('\n').unwrap_or((row, ""));
        lines.push_str(&format!("{line}\n"));
        sections.push_str(section);
    }
    document.push_str(&format!("{lines}\n## Those that are not\n{sections}"));
    fs::write(self::document(), document).unwrap();
}
