//! Known findings of the project: `test --baseline`.

use super::cargo::Ran;
use super::reports::ProjectReport;
use crate::cargo;
use crate::output;
use crate::problem::Problem;
use intermezzo::baseline::{Baseline, KnownFinding};
use intermezzo::report::source::Search;
use intermezzo::{TextStyle, Verdict};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The project's baseline.
pub(super) struct KnownFindings {
    path: PathBuf,
    baseline: Baseline,
    /// Finds the source files that findings name.
    search: Search,
}

/// A finding of a baseline in JSON.
#[derive(Serialize)]
pub(super) struct KnownFindingJson<'a> {
    test: &'a str,
    #[serde(rename = "in")]
    binary: &'a str,
    kind: &'a str,
    at: &'a BTreeSet<String>,
}

impl KnownFindings {
    /// Reads this file. A file that will be updated need not exist.
    ///
    /// # Errors
    /// If it cannot be read, or is not a baseline.
    pub(super) fn read(path: &Path, is_updated: bool) -> Result<KnownFindings, Problem> {
        let baseline = match fs::metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound && is_updated => Baseline::default(),
            Err(error) => {
                let help = "give another path, or write it with `--update-baseline`";
                return Err(Problem::file("read", path, &error, help));
            }
            Ok(_) => Baseline::read(path).map_err(|error| Problem::usage(error.to_string()))?,
        };
        Ok(KnownFindings {
            path: path.to_owned(),
            baseline,
            search: cargo::workspace_root().map_or_else(Search::here, Search::Root),
        })
    }

    /// Returns the absolute path of the file for the tests, which pass with known findings; `None` if there is no file yet.
    pub(super) fn file(&self) -> Option<PathBuf> {
        fs::canonicalize(&self.path).ok()
    }

    /// Returns a report's errors as the file would list them. A test of an object has none, because it does not read the
    /// file.
    fn errors(&self, report: &ProjectReport) -> Vec<KnownFinding> {
        if report.verdict != Verdict::Fail || report.refinement {
            return Vec::new();
        }
        let errors = report.findings.iter().filter(|finding| finding.is_error());
        errors
            .map(|finding| {
                let found = (&*finding.kind, finding.detail.as_ref(), &finding.places[..]);
                KnownFinding::new((&report.program, &report.binary), found, &self.search)
            })
            .collect()
    }

    /// Returns the listed findings.
    pub(super) fn all(&self) -> &BTreeSet<KnownFinding> {
        &self.baseline.known
    }

    /// Marks the reports that fail only because of known findings.
    pub(super) fn mark(&self, ran: &mut Ran) {
        for report in &mut ran.reports {
            report.known = self.baseline.has_all(&self.errors(report));
        }
    }

    /// Returns the listed findings of tests that passed.
    pub(super) fn gone(&self, ran: &Ran) -> Vec<&KnownFinding> {
        let passed = |known: &&KnownFinding| {
            let mut passing = ran.reports.iter().filter(|report| report.verdict.is_pass());
            passing.any(|report| known.is_of(&report.program, &report.binary))
        };
        self.baseline.known.iter().filter(passed).collect()
    }

    /// Returns a line for each listed finding that is not found any more.
    pub(super) fn gone_lines(&self, ran: &Ran, style: &TextStyle) -> String {
        let line = |known: &KnownFinding| {
            let within = match &*known.binary {
                "" => String::new(),
                binary => format!(" ({binary})"),
            };
            let at: Vec<&str> = known.at.iter().map(String::as_str).collect();
            let at = match &at[..] {
                [] => String::new(),
                places => format!(" at {}", places.join("; ")),
            };
            let text = format!("not found any more: {} in {}{within}{at}", known.kind, known.test);
            output::indented(&text, 0, style)
        };
        let mut text: String = self.gone(ran).into_iter().map(line).collect();
        if !text.is_empty() {
            text.push_str("`--update-baseline` removes these from the baseline\n");
        }
        text
    }

    /// Writes the findings of this run into the file, and keeps those of tests that were not run or had no verdict.
    pub(super) fn update(&mut self, ran: &Ran) -> Result<(), Problem> {
        let judged = |known: &KnownFinding| {
            let mut judged = ran
                .reports
                .iter()
                .filter(|report| report.verdict != Verdict::Inconclusive);
            judged.any(|report| known.is_of(&report.program, &report.binary))
        };
        self.baseline.known.retain(|known| !judged(known));
        for report in &ran.reports {
            let errors = self.errors(report);
            self.baseline.known.extend(errors);
        }
        fs::write(&self.path, self.baseline.to_text())
            .map_err(|error| Problem::file("write", &self.path, &error, "give a path that can be written"))?;
        let count = output::count(self.baseline.known.len() as u64, "known finding");
        output::complain(&format!("wrote {} ({count})", self.path.display()));
        Ok(())
    }
}

/// Returns findings of a baseline for JSON.
pub(super) fn json<'a>(all: impl IntoIterator<Item = &'a KnownFinding>) -> Vec<KnownFindingJson<'a>> {
    let json = |known: &'a KnownFinding| KnownFindingJson {
        test: &known.test,
        binary: &known.binary,
        kind: &known.kind,
        at: &known.at,
    };
    all.into_iter().map(json).collect()
}
