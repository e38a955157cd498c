//! What becomes of results while an exploration runs: counted, listed once, written for the command line.

use crate::report::{Finding, Report};
use std::path::Path;

/// Most different findings that a report lists; more are counted in a note.
const FINDINGS_MAX: usize = 100;

/// Writes a report into a directory, for the command line that asked for it, over no file that is there: tests
/// of different binaries may have the same name. A report that cannot be written is missing there, which the
/// reader of the directory notices; the test's own outcome stands.
pub(super) fn write_report(directory: &Path, report: &Report) {
    use std::io::Write;
    let _ = std::fs::create_dir_all(directory);
    let plain = |c: char| if c.is_alphanumeric() || c == '_' { c } else { '-' };
    let name: String = report.program().chars().map(plain).collect();
    for number in 1..1000 {
        let file = if number == 1 {
            format!("{name}.json")
        } else {
            format!("{name}.{number}.json")
        };
        match std::fs::File::create_new(directory.join(file)) {
            Ok(mut file) => return drop(file.write_all(report.to_json().as_bytes())),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(_) => return,
        }
    }
}

impl Report {
    /// The search starts anew: what it found stays, what it counted does not.
    pub(super) fn forget_counts(&mut self) {
        (self.executions, self.steps, self.context_switches) = (0, 0, 0);
        (self.max_steps, self.max_tasks) = (0, 0);
    }

    /// Adds what an execution showed; what is known already is counted.
    pub(super) fn take_findings(&mut self, found: Vec<Finding>) {
        if !found.is_empty() {
            self.first_failure.get_or_insert(self.executions);
        }
        for finding in found {
            let same = |known: &Finding| known.kind == finding.kind && known.message == finding.message;
            match self.findings.iter().position(same) {
                Some(known) => self.findings[known].count += 1,
                None if self.findings.len() < FINDINGS_MAX => self.findings.push(finding),
                None => {
                    self.note(&format!(
                        "more than {FINDINGS_MAX} different findings: the others are left out"
                    ));
                }
            }
        }
    }

    /// Adds a note, once.
    pub(super) fn note(&mut self, note: &str) {
        if !self.notes.iter().any(|known| known == note) {
            self.notes.push(note.to_owned());
        }
    }
}
