//! Bugs in ordinary code. `cargo intermezzo test` finds each with no settings except the table `[command]` of the project's
//! `intermezzo.toml`. The same code without the bugs passes.

use crate::throw_away;
use crate::unmodified::{project_of, report, run};
use std::path::Path;

const LIBRARY: &str = include_str!("seeded/bugs.rs");

/// The bugs, each with the kind of its finding.
const BUGS: [(&str, &str); 12] = [
    ("lost_update", "assertion"),
    ("check_then_act", "assertion"),
    ("crossed_locks", "deadlock"),
    ("crossed_locks_of_parking_lot", "deadlock"),
    ("unsafe_cell", "data_race"),
    ("static_mut", "data_race"),
    ("lost_wake_up", "deadlock"),
    ("use_after_free", "data_race"),
    ("leak", "leak"),
    ("leak_of_a_cycle", "leak"),
    ("relaxed_message", "assertion"),
    ("wishes_that_are_not_seen", "panic"),
];

/// Returns the project, or nothing if cargo cannot get parking_lot here.
fn project() -> Option<std::path::PathBuf> {
    let project = project_of("seeded", "[dependencies]\nparking_lot = \"=0.13.0\"\n", LIBRARY);
    throw_away::write(
        &project.join("intermezzo.toml"),
        "[command]\nunmodified = true\nraces = true\n",
    );
    has_its_packages(&project).then_some(project)
}

/// `true` if cargo can get all packages of the project. If not, prints so.
pub(super) fn has_its_packages(project: &Path) -> bool {
    let fetched = std::process::Command::new(env!("CARGO"))
        .args(["fetch", "--offline"])
        .current_dir(project)
        .output()
        .unwrap();
    if !fetched.status.success() {
        ignored("cargo has not all packages of the project here, and no network");
    }
    fetched.status.success()
}

/// Prints the reason why a test cannot run on this machine.
#[expect(
    clippy::print_stderr,
    reason = "the harness knows no test that is ignored while it runs"
)]
pub(super) fn ignored(why: &str) {
    eprintln!("ignored: {why}");
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "memory is watched on Linux")]
fn bugs_in_ordinary_code_are_found_and_nothing_else() {
    let Some(project) = project() else { return };
    let all = run(&project, &["test", "--json"]).ends_with(1).json();
    let reports = all["reports"].as_array().unwrap();
    assert_eq!(reports.len(), 2 * BUGS.len());
    for (bug, kind) in BUGS {
        let found = report(&all, &format!("seeded::bugs::{bug}"));
        assert_eq!(found["verdict"], "fail", "{bug}: {found:#}");
        assert_eq!(found["findings"][0]["kind"], kind, "{bug}: {found:#}");
        let fixed = report(&all, &format!("seeded::fixed::{bug}"));
        assert_eq!(fixed["verdict"], "pass", "{bug}: {fixed:#}");
        assert_ne!(fixed["coverage"]["kind"], "sampled", "{bug}: {fixed:#}");
    }
    // Without the settings in the file, no test is explored.
    run(&project, &["test", "--unmodified=false"]).ends_with(3);
}
