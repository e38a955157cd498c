//! Breakpoints inside explorations: an exact constraint on the order of tasks, without real time.

#![allow(
    clippy::print_stdout,
    reason = "figures for who asks for them, with `--nocapture`"
)]

#[path = "../../breakpoint/tests/reproduced/bugs.rs"]
mod bugs;
mod exact;
mod method_one;

/// The names that the bugs import.
mod facade {
    pub(crate) use intermezzo::{breakpoint, sync, thread};
}

use bugs::{BUGS, Bug};
use intermezzo::breakpoint::Armings;
use intermezzo::{Environment, Explorer, Report, Strategy};

fn armed(text: &str) -> Armings {
    text.parse().unwrap()
}

/// Explores a bug with its breakpoint armed, up to the first execution that shows it.
fn explore(bug: &Bug) -> Report {
    let environment = Environment::calm();
    Explorer::new()
        .program(bug.name)
        .environment(environment)
        .breakpoints(armed(bug.name))
        .explore(bug.run)
}

#[test]
fn armed_each_bug_shows_in_the_very_first_execution() {
    for bug in &BUGS {
        let report = explore(bug);
        assert!(report.verdict().is_fail(), "{report}");
        assert_eq!(report.first_failure(), Some(1), "{report}");
        let kind = report.findings()[0].kind.as_str();
        assert_eq!(kind == "deadlock", bug.stalls, "{}: {report}", bug.name);
        let figures = &report.breakpoints()[0];
        assert_eq!((figures.name.as_str(), figures.hits), (bug.name, 1), "{report}");
        assert_eq!((figures.timeouts, figures.unordered), (0, 0), "{report}");
    }
}

#[test]
fn unarmed_no_bug_shows_in_the_first_execution() {
    for bug in &BUGS {
        let report = Explorer::new()
            .executions(1)
            .environment(Environment::calm())
            .explore(bug.run);
        assert!(report.verdict().is_pass(), "{}: {report}", bug.name);
        assert!(report.breakpoints().is_empty());
    }
}

#[test]
fn armed_almost_every_execution_of_a_random_walk_shows_the_bug() {
    for bug in &BUGS {
        let explore = |armings| {
            let report = Explorer::new()
                .strategy(Strategy::random())
                .executions(200)
                .environment(Environment::calm())
                .keep_going(true)
                .minimise(0)
                .breakpoints(armings)
                .explore(bug.run);
            let failures: u64 = report.findings().iter().map(|finding| finding.count).sum();
            (
                failures,
                report
                    .breakpoints()
                    .first()
                    .map_or(0, |figures| figures.executions_hit),
            )
        };
        let (with, hit) = explore(armed(bug.name));
        let (without, _) = explore(Armings::default());
        println!(
            "{}: {with} armed ({hit} hit), {without} unarmed, of 200",
            bug.name
        );
        assert!(with >= hit, "{}", bug.name);
        assert!(hit >= 100 && hit > without, "{}: {hit}, {without}", bug.name);
    }
}

#[test]
fn a_schedule_replays_with_its_breakpoints_byte_for_byte() {
    for bug in &BUGS {
        let report = explore(bug);
        let finding = &report.findings()[0];
        assert_eq!(finding.schedule.breakpoints, armed(bug.name));
        let token = finding.schedule.token();
        let schedule = intermezzo::Schedule::parse(&token).unwrap();
        assert_eq!(schedule, finding.schedule);
        // The schedule arms the breakpoint, whatever the settings say.
        let replayed = Explorer::new()
            .program(bug.name)
            .breakpoints(armed("something-else"))
            .replay(schedule)
            .explore(bug.run);
        assert_eq!(replayed.findings(), report.findings(), "{replayed}");
        assert_eq!(replayed.findings()[0].schedule.token(), token);
    }
}

#[test]
fn several_workers_have_the_same_results() {
    for bug in &BUGS {
        let explore = |jobs| {
            let explorer = Explorer::new().program(bug.name).environment(Environment::calm());
            let explorer = explorer
                .breakpoints(armed(bug.name))
                .jobs(jobs)
                .keep_going(true)
                .preemptions(1);
            explorer.explore(bug.run)
        };
        let (one, two) = (explore(1), explore(2));
        assert_eq!(one.findings(), two.findings(), "{}", bug.name);
        assert_eq!(one.breakpoints(), two.breakpoints(), "{}", bug.name);
        assert_eq!(one.executions(), two.executions(), "{}", bug.name);
    }
}
