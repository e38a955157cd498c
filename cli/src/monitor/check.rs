//! `monitor check`: checks whether a file is a loadable monitor.

use crate::args::MonitorCheckArgs;
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;
use intermezzo::sdk::Interests;
use intermezzo::{MonitorRequest, Plugin, PluginProblem, Tried};
use serde::Serialize;
use std::path::{self, Path};

/// The events that a monitor may receive, in words.
const INTERESTS: [(Interests, &str); 7] = [
    (Interests::SCHEDULE_POINTS, "schedule points"),
    (Interests::SYNC_ACCESSES, "sync accesses"),
    (Interests::DATA_ACCESSES, "data accesses"),
    (Interests::USER_EVENTS, "user events"),
    (Interests::ATTRIBUTES, "attributes"),
    (Interests::ALLOCATIONS, "allocations"),
    (Interests::ENABLED_SETS, "enabled sets"),
];

/// The answer in JSON.
#[derive(Serialize)]
struct Checked<'a> {
    file: &'a Path,
    loadable: bool,
    problem: Option<String>,
    #[serde(flatten)]
    found: Option<Found<'a>>,
}

/// The monitor in the file, if it can be loaded.
#[derive(Serialize)]
struct Found<'a> {
    name: &'a str,
    plugin_version: Option<&'a str>,
    interests: Vec<&'static str>,
    reduction_compatible: bool,
    follows_stale_reads: bool,
    complaints: &'a [String],
}

/// Checks the file.
pub(crate) fn run(args: &MonitorCheckArgs) -> Result<Exit, Problem> {
    let file = args.file.as_path();
    check_attachable(file, &args.arguments)?;
    let checked = match Plugin::try_out(file, &args.arguments) {
        Ok(tried) => Ok(tried),
        Err(error) => match error.problem {
            PluginProblem::NoFile | PluginProblem::NotAFile(_) | PluginProblem::Unreadable(_) => {
                return Err(Problem::usage(error.to_string()));
            }
            problem => Err(problem.to_string()),
        },
    };
    let sound = checked.as_ref().is_ok_and(|tried| tried.complaints.is_empty());
    if args.json {
        output::json(&Checked {
            file,
            loadable: checked.is_ok(),
            problem: checked.as_ref().err().cloned(),
            found: checked.as_ref().ok().map(found),
        })?;
    } else {
        output::text(&match &checked {
            Ok(tried) => text(file, tried),
            Err(problem) => format!("{}: not a loadable monitor: {problem}\n", file.display()),
        })?;
    }
    Ok(if sound { Exit::Pass } else { Exit::Findings })
}

/// Checks that a value of `--monitor` can name the file with these arguments.
///
/// # Errors
/// If it cannot, with the reason.
fn check_attachable(file: &Path, arguments: &str) -> Result<(), Problem> {
    let refused = |why: &str, help: &str| {
        let file = file.display();
        Err(Problem::usage(format!(
            "`{file}` cannot be attached: {why}; {help}"
        )))
    };
    let Some(name) = file.to_str() else {
        return refused("its path is not UTF-8", "give it another path");
    };
    let as_given = |list: &str| {
        let list = MonitorRequest::parse(list).ok()?;
        let [one] = list.as_slice() else { return None };
        Some((one.name.clone(), one.arguments.clone()))
    };
    if as_given(name) != Some((name.to_owned(), String::new())) {
        return refused(
            "`--monitor` reads the text after a `:` as arguments, and the text after a `;` as another monitor",
            "give it a path without these, and without blanks at its ends",
        );
    }
    if name.starts_with('-') {
        let help = format!("give `.{}{name}`", path::MAIN_SEPARATOR);
        return refused(
            "`--monitor` reads a leading `-` as the removal of a monitor",
            &help,
        );
    }
    let arguments = arguments.trim();
    if as_given(&format!("{name}:{arguments}")) != Some((name.to_owned(), arguments.to_owned())) {
        return refused(
            &format!(
                "its arguments are `{arguments}`, and `--monitor` reads the text after a `;` as another monitor"
            ),
            "give others",
        );
    }
    Ok(())
}

fn found(tried: &Tried) -> Found<'_> {
    let interests = Interests::from_bits(tried.interests).unwrap_or(Interests::NONE);
    let wanted = INTERESTS
        .iter()
        .filter(|(interest, _)| interests.intersects(*interest));
    Found {
        name: &tried.name,
        plugin_version: tried.plugin_version.as_deref(),
        interests: wanted.map(|&(_, words)| words).collect(),
        reduction_compatible: tried.reduction_compatible,
        follows_stale_reads: tried.follows_stale_reads,
        complaints: &tried.complaints,
    }
}

fn text(file: &Path, tried: &Tried) -> String {
    let found = found(tried);
    let version = found
        .plugin_version
        .map_or(String::new(), |version| format!(" {version}"));
    let wants = match found.interests.as_slice() {
        [] => "only the beginning and end of executions".into(),
        interests => interests.join(", "),
    };
    let reductions = if found.reduction_compatible {
        "compatible: the verdict is the same on every execution of a trace"
    } else {
        "not compatible: they are off where it is attached"
    };
    let stale_reads = if found.follows_stale_reads {
        "followed: it can be attached with `stale_reads`"
    } else {
        "not followed: it is refused with `stale_reads`"
    };
    let mut text = format!(
        "{}: the monitor `{}`{version}\n  wants        {wants}\n  reductions   {reductions}\n  stale reads  {stale_reads}\n",
        file.display(),
        found.name
    );
    for complaint in found.complaints {
        text.push_str(&format!("  in the rehearsal, {complaint}\n"));
    }
    text
}
