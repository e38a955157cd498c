//! Reads reports from files and from other commands. Error messages name the place of the error.

use super::model::{FindingFile, Shown, ShownExecution, ShownFinding, ShownReport};
use super::{check, commands, partial};
use crate::problem::Problem;
use intermezzo::recording::Recorded;
use intermezzo::refinement::REFINEMENT_FORMAT;
use intermezzo::report::names::{in_row, in_text};
use intermezzo::{Coverage, WeakMemory, foreign};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use std::fs;
use std::path::Path;

/// The format that can be read.
const FORMAT: &str = "intermezzo-report/1";

#[derive(Deserialize)]
struct ReportFile {
    format: String,
    program: String,
    verdict: String,
    coverage: Coverage,
    weak_memory: Option<WeakMemory>,
    executions: u64,
    #[serde(default)]
    elapsed_seconds: f64,
    #[serde(default)]
    strategy: String,
    #[serde(default)]
    reduction: String,
    #[serde(default)]
    notes: Vec<String>,
    #[serde(default)]
    package: String,
    #[serde(default)]
    target: String,
    /// The test's path in its crate, if the report is about an object.
    #[serde(default)]
    test: Option<String>,
    #[serde(default)]
    replay_with: Vec<String>,
    findings: Vec<FindingFile>,
    #[serde(default)]
    recordings: Vec<Recorded>,
}

/// The output of `test --json`.
#[derive(Deserialize)]
struct TestFile {
    reports: Vec<ReportFile>,
}

/// The output of `corpus run --json` for each program.
#[derive(Deserialize)]
struct RanFile {
    report: ReportFile,
}

/// The fields that distinguish the kinds of files.
#[derive(Deserialize)]
struct Header {
    #[serde(default)]
    format: Option<String>,
    #[serde(default)]
    reports: Option<IgnoredAny>,
}

/// Reads the reports in a file, or those in all files of a directory that `test --reports` wrote, each with its commands.
///
/// # Errors
/// If one cannot be read or is not a report, or if there is none.
pub(super) fn path(path: &Path) -> Result<Shown, Problem> {
    if !path.is_dir() {
        return file(path);
    }
    let trouble = |error| Problem::file("read the directory", path, &error, "give another one");
    let mut files = Vec::new();
    for entry in fs::read_dir(path).map_err(trouble)? {
        files.push(entry.map_err(trouble)?.path());
    }
    files.sort();
    let mut all = Shown { reports: Vec::new() };
    for report in files {
        let name = report.file_name().unwrap_or_default().to_string_lossy();
        // `test` writes schedules next to reports, and `view` may write traces there.
        let is_other = [".schedule.json", ".perfetto.json"]
            .iter()
            .any(|end| name.ends_with(end));
        if !name.ends_with(".json") || is_other {
            continue;
        }
        let view = format!(
            "cargo intermezzo view {}",
            commands::word(&report.to_string_lossy())
        );
        for mut shown in file(&report)?.reports {
            shown.view = Some(view.clone());
            all.reports.push(shown);
        }
    }
    match all.reports.is_empty() {
        false => Ok(all),
        true => Err(Problem::usage(format!(
            "{path:?} is a directory without reports: `cargo intermezzo test --reports DIR` writes some"
        ))),
    }
}

/// Reads the reports in a file.
///
/// # Errors
/// If it cannot be read, or is not a report.
pub(super) fn file(path: &Path) -> Result<Shown, Problem> {
    let help = "give the file of a report: `cargo intermezzo test --reports DIR` writes some";
    let trouble = |error| Problem::file("read", path, &error, help);
    let bytes = foreign::read(path).map_err(trouble)?;
    let name = path.display();
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Problem::usage(format!("{name}: not text from byte {at} on: {help}"))
    })?;
    parse(&text).map_err(|why| {
        let more = match serde_json::from_str::<IgnoredAny>(&text) {
            Ok(_) => String::new(),
            Err(_) => format!(": the file is not JSON, or was cut off; {help}"),
        };
        Problem::usage(format!("{name}: {why}{more}"))
    })
}

/// Reads the reports of other commands, in their JSON form.
///
/// # Errors
/// If one is not a report.
pub(super) fn all<'a>(reports: impl Iterator<Item = &'a str>) -> Result<Shown, Problem> {
    let mut shown = Shown { reports: Vec::new() };
    for text in reports {
        let one = parse(text).map_err(|why| Problem::usage(format!("a report of this run: {why}")))?;
        shown.reports.extend(one.reports);
    }
    Ok(shown)
}

/// Reads the reports in a text.
///
/// # Errors
/// Describes the error and its place.
pub(super) fn parse(text: &str) -> Result<Shown, String> {
    let files = if text.trim_start().starts_with('[') {
        let ran: Vec<RanFile> = read(text)?;
        ran.into_iter().map(|ran| ran.report).collect()
    } else {
        let header: Header = read(text)?;
        match (header.format, header.reports) {
            (None, Some(_)) => read::<TestFile>(text)?.reports,
            (None, None) => {
                return Err(format!(
                    "no `format`: this is not a report of intermezzo ({FORMAT:?} is needed)"
                ));
            }
            // Checked before the fields, because another version may have other fields.
            (Some(format), _) if !is_known(&format) => return Err(other_format(&format)),
            (Some(_), _) => vec![read(text)?],
        }
    };
    let shown = files.into_iter().enumerate().map(|(at, file)| {
        if !is_known(&file.format) {
            return Err(format!("report {}: {}", at + 1, other_format(&file.format)));
        }
        shown(file).map_err(|why| format!("report {}: {why}", at + 1))
    });
    Ok(Shown {
        reports: shown.collect::<Result<_, _>>()?,
    })
}

/// `true` if reports of this format can be read. The executions of a test of an object are in separate reports.
fn is_known(format: &str) -> bool {
    [FORMAT, REFINEMENT_FORMAT].contains(&format)
}

fn other_format(format: &str) -> String {
    format!(
        "the format is {format:?}, but {FORMAT:?} is needed: use a cargo-intermezzo of the version that wrote it, or give a \
         report"
    )
}

/// Reads the text as JSON of that shape, or describes the error and its place.
fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        let inner = error.into_inner();
        match path.as_str() {
            "." | "?" => inner.to_string(),
            path => format!("{path}: {inner}"),
        }
    })?;
    reader.end().map_err(|error| error.to_string())?;
    Ok(value)
}

fn shown(file: ReportFile) -> Result<ShownReport, String> {
    let mut recorded: Vec<Option<Recorded>> = file.findings.iter().map(|_| None).collect();
    for (at, one) in file.recordings.into_iter().enumerate() {
        check::recorded(&one).map_err(|why| format!("recordings[{at}].{why}"))?;
        let place = recorded.get_mut(one.finding).ok_or_else(|| {
            format!(
                "recordings[{at}].finding is {}, but the last finding is {}",
                one.finding,
                file.findings.len() as i64 - 1
            )
        })?;
        *place = Some(one);
    }
    let findings = file.findings.into_iter().zip(recorded).enumerate();
    let (test, with) = (file.test.as_deref(), &file.replay_with);
    let findings = findings.map(|(at, (finding, recorded))| {
        let replay = commands::replay(&finding.schedule, &file.program, test, with);
        finding_with(finding, recorded, replay).map_err(|why| format!("findings[{at}].{why}"))
    });
    let run = commands::run(&file.program, &file.package, &file.target, test, with);
    let mut coverage = file.coverage.to_string();
    if let Some(part) = file.weak_memory {
        coverage.push_str(&format!("; {part}"));
    }
    Ok(ShownReport {
        run,
        view: None,
        findings: findings.collect::<Result<_, _>>()?,
        program: file.program,
        verdict: file.verdict,
        coverage,
        executions: file.executions,
        elapsed_seconds: file.elapsed_seconds,
        strategy: file.strategy,
        reduction: file.reduction,
        notes: file.notes,
    })
}

/// Replaces the identities of variables in a finding and its executions by their names in the source.
fn name_variables(executions: &mut [ShownExecution], finding: &mut FindingFile) {
    let names = &finding.names;
    finding.message = in_text(&finding.message, names);
    finding.suggestion = finding.suggestion.as_deref().map(|text| in_text(text, names));
    for operation in &mut finding.stale_operations {
        *operation = in_text(operation, names);
    }
    for waiting in &mut finding.waiting {
        waiting.var = in_row(&waiting.var, names);
    }
    for execution in executions {
        for var in &mut execution.recording.vars {
            if let Some(name) = var.source_name.take() {
                var.name = name;
            } else if !execution.passes {
                // A report without recordings has only the names in its finding.
                var.name = in_row(&var.name, names);
            }
        }
        if !execution.passes {
            for data in &mut execution.recording.data {
                data.location = in_row(&data.location, names);
            }
        }
        for deed in &mut execution.deeds {
            deed.what = in_row(&deed.what, names);
        }
    }
}

fn finding_with(
    mut finding: FindingFile,
    recorded: Option<Recorded>,
    replay: Option<String>,
) -> Result<ShownFinding, String> {
    let (mut executions, mut notes) = (Vec::new(), Vec::new());
    if let Some(recorded) = recorded {
        let whole = |passes, recording| ShownExecution {
            passes,
            partial: false,
            recording,
            deeds: Vec::new(),
        };
        executions.extend(recorded.execution.map(|recording| whole(false, recording)));
        if !executions.is_empty() {
            executions.extend(recorded.nearest_pass.map(|recording| whole(true, recording)));
        }
        notes = recorded.notes;
    }
    if executions.is_empty() && !finding.events.is_empty() {
        executions.push(partial::execution(&finding)?);
        if finding.events_left_out > 0 {
            notes.push(format!(
                "{} of the {} events of the execution are left out of the report: `cargo intermezzo replay` with its \
                 schedule and `--view FILE` shows all of them",
                finding.events_left_out,
                finding.events_left_out + finding.events.len()
            ));
        }
    }
    finding.lines = match &finding.detail {
        Some(detail) => detail.named(&finding.names).lines(),
        None => vec![in_text(&finding.message, &finding.names)],
    };
    name_variables(&mut executions, &mut finding);
    Ok(ShownFinding {
        said: finding,
        replay,
        executions,
        notes,
    })
}
