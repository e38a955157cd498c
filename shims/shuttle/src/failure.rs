//! The end of a run that has failed: what is said, and where the schedule is kept.

use crate::config::{Config, FailurePersistence, MaxSteps};
use crate::state::Noted;
use intermezzo::{Finding, FindingDetail, Report};
use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Write};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};

/// Returns the message of a failure in shuttle's words, or the report's if shuttle has none.
fn message(finding: &Finding, config: &Config, noted: &Noted) -> String {
    match &finding.detail {
        FindingDetail::Panic { panics, .. } => {
            let Some(first) = panics.first() else {
                return finding.message.clone();
            };
            match (config.max_steps, first.unwinding) {
                (MaxSteps::ContinueAfter(_), true) => format!(
                    "{} was unwinding a panic when the execution stopped, and blocked before it had finished: {}",
                    first.task, first.message
                ),
                _ => first.message.clone(),
            }
        }
        FindingDetail::Blocked { waiting, .. } if noted.is_torn_down() => {
            let tasks = waiting
                .iter()
                .map(|waiting| &*waiting.task)
                .filter(|&task| task != "main");
            let tasks: Vec<&str> = tasks.collect();
            let tasks = tasks.join(", ");
            format!(
                "deadlock while dropping the tasks that were unfinished at the end of the execution: [{tasks}]\n{}",
                finding.message
            )
        }
        FindingDetail::Blocked { waiting, .. } => {
            let tasks: Vec<&str> = waiting.iter().map(|waiting| &*waiting.task).collect();
            let own = waiting
                .iter()
                .find(|waiting| waiting.held_by.as_ref() == Some(&waiting.task));
            let own = own.map_or("", |own| match own.var.starts_with("rwlock") {
                true => ", one of which tried to acquire a RwLock it already holds",
                false => ", one of which tried to acquire a Mutex it already holds",
            });
            let tasks = tasks.join(", ");
            format!("deadlock! blocked tasks: [{tasks}]{own}\n{}", finding.message)
        }
        FindingDetail::Endless { .. } => match config.max_steps {
            MaxSteps::FailAfter(most) if noted.is_torn_down() => format!(
                "a task exceeded the step bound ({most}) while it was being dropped at the end of the execution\n{}",
                finding.message
            ),
            MaxSteps::FailAfter(most) => format!("exceeded max_steps bound {most}\n{}", finding.message),
            _ => finding.message.clone(),
        },
        _ => finding.message.clone(),
    }
}

/// Writes a schedule into a new file of this directory, or of the current one.
fn write(schedule: &str, directory: Option<&Path>) -> io::Result<PathBuf> {
    let directory = match directory {
        Some(directory) => directory.to_owned(),
        None => std::env::current_dir()?,
    };
    for number in 0.. {
        let path = directory.join(format!("schedule{number:03}.txt"));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(mut file) => {
                file.write_all(schedule.as_bytes())?;
                return path.canonicalize();
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    unreachable!("there are more numbers than files")
}

/// Returns what is said of the schedule.
fn persisted(schedule: &str, config: &Config) -> String {
    let printed = format!(
        "failing schedule:\n\"\n{schedule}\n\"\npass that string to `shuttle::replay` to replay the failure\n"
    );
    match &config.failure_persistence {
        FailurePersistence::None => String::new(),
        FailurePersistence::Print => printed,
        FailurePersistence::File(directory) => match write(schedule, directory.as_deref()) {
            Ok(path) => format!(
                "failing schedule persisted to file: {}\npass that path to `shuttle::replay_from_file` to replay the failure\n",
                path.display()
            ),
            Err(error) => format!("the schedule was not written to a file: {error}\n{printed}"),
        },
    }
}

/// Prints the report of a run that has failed, and panics.
#[track_caller]
pub(crate) fn fail(report: &Report, config: &Config, noted: &Noted) -> ! {
    #[allow(clippy::print_stderr, reason = "as shuttle does when a test fails")]
    {
        eprintln!("{report}");
    }
    let findings = report.findings().iter().filter(|finding| finding.is_error());
    let first = findings
        .into_iter()
        .next()
        .expect("a report that fails has a finding");
    let persisted = persisted(&first.schedule.token(), config);
    let message = message(first, config, noted);
    if let FindingDetail::Panic { .. } = &first.detail {
        // The test fails with the panic's own payload, as far as it is a text.
        #[allow(clippy::print_stderr, reason = "as shuttle does when a test fails")]
        {
            eprintln!("{persisted}");
        }
        match noted.literal(&message) {
            Some(literal) => resume_unwind(Box::new(literal)),
            None => resume_unwind(Box::new(message)),
        }
    }
    panic!("{message}\n{persisted}")
}
