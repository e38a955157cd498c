//! Reads the reports to merge. The files may be damaged, or contain something else.

use super::Test;
use crate::problem::Problem;
#[cfg(feature = "pool")]
use intermezzo::Partition;
use intermezzo::{Share, foreign};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::fs;
use std::path::{Path, PathBuf};

/// The formats of reports that can be merged.
const REPORTS: [&str; 2] = ["intermezzo-report/1", intermezzo::refinement::REFINEMENT_FORMAT];

/// The beginning of the format of schedules, which are written next to reports.
const SCHEDULE: &str = "intermezzo-schedule/";

/// The largest depth of nested directories that are read.
const DEPTH_MAX: usize = 8;

/// A report as it was read, and the fields on which merging depends.
pub(crate) struct ReadReport {
    /// The file, and the number of the report in it if it has several.
    pub(super) name: String,
    pub(super) fields: Map<String, Value>,
    pub(super) head: Head,
}

/// The fields on which merging depends.
#[derive(Deserialize)]
pub(super) struct Head {
    format: String,
    #[serde(default)]
    program: String,
    #[serde(default)]
    package: String,
    #[serde(default)]
    target: String,
    pub(super) verdict: VerdictJson,
    #[serde(default)]
    pub(super) reduction: String,
    #[serde(default)]
    pub(super) executions: u64,
    pub(super) share: Option<Share>,
}

/// A verdict, as in reports, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum VerdictJson {
    Fail,
    Inconclusive,
    Pass,
}

impl VerdictJson {
    pub(super) fn word(self) -> &'static str {
        match self {
            VerdictJson::Fail => "fail",
            VerdictJson::Inconclusive => "inconclusive",
            VerdictJson::Pass => "pass",
        }
    }
}

impl ReadReport {
    /// Returns the share to which it belongs; `None` for a whole search.
    #[cfg(feature = "pool")]
    pub(crate) fn share(&self) -> Option<Partition> {
        self.head.share.as_ref().map(|share| share.share)
    }

    /// Returns the test to which it belongs.
    pub(crate) fn test(&self) -> Test {
        let Head {
            program,
            package,
            target,
            ..
        } = &self.head;
        (program.clone(), package.clone(), target.clone())
    }
}

/// Reads the reports in these files, and in the JSON files in these directories and their subdirectories.
///
/// # Errors
/// If a file cannot be read, or is not a report. The error names the file and the place in it.
pub(crate) fn read_all(paths: &[PathBuf]) -> Result<Vec<ReadReport>, Problem> {
    let mut reports = Vec::new();
    for path in paths {
        if path.is_dir() {
            read_directory(path, DEPTH_MAX, &mut reports)?;
        } else {
            read_file(path, false, &mut reports)?;
        }
    }
    Ok(reports)
}

fn read_directory(directory: &Path, depth: usize, reports: &mut Vec<ReadReport>) -> Result<(), Problem> {
    let trouble = |error| Problem::file("read the directory", directory, &error, "give another one");
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory).map_err(trouble)? {
        paths.push(entry.map_err(trouble)?.path());
    }
    paths.sort();
    for path in paths {
        if path.is_dir() && depth > 0 {
            read_directory(&path, depth - 1, reports)?;
        } else if path.extension().is_some_and(|extension| extension == "json") {
            read_file(&path, true, reports)?;
        }
    }
    Ok(())
}

/// Reads the reports in a file. With `skips_schedules`, a schedule file is ignored.
fn read_file(path: &Path, skips_schedules: bool, reports: &mut Vec<ReadReport>) -> Result<(), Problem> {
    let help =
        "give the report of a share: `cargo intermezzo test --partition 1/2 --reports DIR` writes some";
    let bytes = foreign::read(path).map_err(|error| Problem::file("read", path, &error, help))?;
    let name = path.display().to_string();
    let damaged = |why: String| {
        Problem::usage(format!(
            "{name}: this is not a report, or it was cut or altered ({why}): {help}"
        ))
    };
    let value: Value = serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
    let several = match value {
        Value::Object(mut fields) => {
            let format = fields.get("format").and_then(Value::as_str);
            if skips_schedules && format.is_some_and(|format| format.starts_with(SCHEDULE)) {
                return Ok(());
            }
            let has_none = format.is_none();
            match fields.remove("reports") {
                // The output of `test --json`.
                Some(Value::Array(several)) if has_none => several,
                _ => {
                    reports.push(parse(name.clone(), fields).map_err(damaged)?);
                    return Ok(());
                }
            }
        }
        // The output of `corpus run --json`.
        Value::Array(several) => several
            .into_iter()
            .map(|mut ran| ran.get_mut("report").map(Value::take).unwrap_or_default())
            .collect(),
        _ => return Err(damaged("it has no fields".into())),
    };
    for (report, number) in several.into_iter().zip(1..) {
        let Value::Object(fields) = report else {
            return Err(damaged(format!("report {number} has no fields")));
        };
        let report = parse(format!("{name}, report {number}"), fields);
        reports.push(report.map_err(|why| damaged(format!("report {number}: {why}")))?);
    }
    Ok(())
}

fn parse(name: String, fields: Map<String, Value>) -> Result<ReadReport, String> {
    let value = Value::Object(fields);
    let head = Head::deserialize(&value).map_err(|error| error.to_string())?;
    if !REPORTS.contains(&head.format.as_str()) {
        return Err(format!(
            "the format is {}, and {:?} is needed: use a cargo-intermezzo of the version that wrote it",
            foreign::quoted(&head.format),
            REPORTS[0]
        ));
    }
    let Value::Object(fields) = value else {
        return Err("it has no fields".into());
    };
    Ok(ReadReport { name, fields, head })
}
