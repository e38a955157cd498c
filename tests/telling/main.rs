//! The texts of failures: a snapshot for each kind of finding and each monitor that ships. No line
//! is wider than allowed, and nothing is lost in a narrow terminal.

mod callers;
mod controls;
mod first_screen;
mod hangs;
mod names;
mod objects;
mod processes;
mod programs;
mod readers;
mod results;
mod twelve;
mod widths;

use intermezzo::monitors::{SHIPPED, by_name, names};
use intermezzo::report::TextStyle;
use intermezzo::sdk::FindingKind;
use intermezzo::{Explorer, ReplayedBy, Report, Settings, Verbosity};
use std::collections::BTreeSet;

/// A test with a finding: its name, its settings, and its body.
struct Case {
    name: &'static str,
    settings: &'static [(&'static str, &'static str)],
    body: fn(),
}

impl Case {
    fn explorer(&self) -> Explorer {
        let mut settings = Settings::default();
        for (name, value) in self.settings {
            settings.set(name, value).unwrap();
        }
        let program = format!("telling::programs::{}", self.name);
        Explorer::with_settings(settings)
            .program(program)
            .steps_per_execution(300)
            .monitors_by_name(by_name, names())
    }

    fn report(&self) -> Report {
        if self.name == "determinism" {
            return self.explorer().explore_deterministic(results::counted_at_once);
        }
        let report = self.explorer().explore(self.body);
        if self.name != "divergence" {
            return report;
        }
        // The schedule of another test.
        let schedule = report.findings()[0].schedule.clone();
        self.explorer().replay(schedule).explore(|| {
            intermezzo::choose(3);
        })
    }
}

/// Returns the style of a failing test of a project if the terminal is not known.
fn style() -> TextStyle {
    TextStyle::default().replayed_by(ReplayedBy::Test)
}

/// Returns every case with its report; each report is made once.
fn reports() -> impl Iterator<Item = (&'static Case, Report)> {
    let cases = programs::CASES.iter().chain(hangs::CASES).chain(results::CASES);
    let cases = cases.chain(callers::CASES);
    cases.map(|case| (case, case.report()))
}

#[test]
fn every_kind_and_every_monitor_has_a_snapshot() {
    let mut kinds: BTreeSet<String> = BTreeSet::new();
    let mut monitors: BTreeSet<String> = BTreeSet::new();
    for (case, report) in reports() {
        assert!(!report.findings().is_empty(), "{}: {report}", case.name);
        for finding in report.findings() {
            kinds.insert(finding.kind.as_str().into_owned());
            monitors.insert(finding.monitor.to_string());
        }
        let text = report.text(&style());
        insta::assert_snapshot!(case.name, text);
    }
    for (name, report) in objects::reports() {
        kinds.insert(report.failure.as_ref().unwrap().kind.as_str().into_owned());
        insta::assert_snapshot!(name, report.text(&style()));
    }
    for kind in FindingKind::ALL {
        assert!(kinds.contains(kind.as_str().as_ref()), "{kind} has no snapshot");
    }
    for shipped in SHIPPED {
        assert!(
            monitors.contains(shipped.name),
            "{} has no snapshot",
            shipped.name
        );
    }
}

#[test]
fn as_much_as_is_wanted() {
    let report = programs::CASES[0].report();
    let style = style();
    insta::assert_snapshot!("quiet", report.text(&style.clone().detail(Verbosity::Quiet)));
    insta::assert_snapshot!("verbose", report.text(&style.clone().detail(Verbosity::Verbose)));
    let colour = TextStyle {
        colour: true,
        ..style
    };
    insta::assert_snapshot!("colour", report.text(&colour).replace('\u{1b}', "ESC"));
}

#[test]
fn a_pass_states_its_coverage() {
    let body = || {
        let n = intermezzo::sync::Mutex::new(0);
        intermezzo::thread::scope(|scope| {
            scope.spawn(|| *n.lock().unwrap() += 1);
            *n.lock().unwrap() += 1;
        });
    };
    let explorer = || Explorer::new().program("telling::passes");
    let texts = [
        explorer().explore(body).to_string(),
        explorer().executions(1).explore(body).to_string(),
        explorer().executions(0).explore(body).to_string(),
    ];
    insta::assert_snapshot!("passes", texts.join("\n"));
}

/// The guide shows one of the snapshots.
#[test]
fn the_guide_shows_what_is_shown() {
    let guide = include_str!("../../docs/guide/src/failure.md");
    let case = programs::CASES
        .iter()
        .find(|case| case.name == "deadlock_of_crossed_locks");
    let text = case.unwrap().report().text(&style());
    assert!(guide.contains(&format!("```text\n{text}```\n")), "{text}");
}
