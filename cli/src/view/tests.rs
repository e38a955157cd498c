//! Pages and exports of real reports, and of 2,000 that were tampered with.

mod formats;
mod mutations;

use super::load;
use super::model::Shown;
use crate::view::export::{annotations, junit, sarif};
use intermezzo::sync::atomic::AtomicUsize;
use intermezzo::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};
use intermezzo::sync::{Arc, Mutex};
use intermezzo::{Explorer, thread};
use intermezzo_corpus::parse_full_name;
use std::collections::BTreeSet;

/// The report of a deadlock, as JSON, with its executions recorded or not.
fn deadlock(record: bool) -> String {
    let report = Explorer::new()
        .program("store::tests::two <locks> & \"one\" cycle")
        .record(record)
        .explore(|| {
            let locks = Arc::new((Mutex::new(()), Mutex::new(())));
            let other = {
                let locks = locks.clone();
                thread::spawn(move || {
                    let _second = locks.1.lock();
                    let _first = locks.0.lock();
                })
            };
            {
                let _first = locks.0.lock();
                let _second = locks.1.lock();
            }
            other.join().unwrap();
        });
    assert!(report.verdict().is_fail(), "{report}");
    report.to_json()
}

/// Returns the report of a lost update, whose message has several lines and characters that no XML may hold.
fn lost_update() -> String {
    let report = Explorer::new()
        .program("store::tests::count")
        .record(true)
        .explore(|| {
            let n = AtomicUsize::new(0);
            thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| n.store(n.load(SeqCst) + 1, SeqCst));
                }
            });
            assert_eq!(n.load(SeqCst), 2, "]]> \u{1} <lost>");
        });
    report.to_json()
}

/// The report of two tasks that ask for pointers to one cell.
fn data_race(record: bool) -> String {
    let (program, arguments) = parse_full_name("corpus::racy").unwrap();
    let explorer = program.explorer(program.settings(), &arguments).record(record);
    explorer.explore(program.test(&arguments)).to_json()
}

/// Without recordings, the two accesses are described in words, and for a pointer it is known if it was used to write.
#[test]
fn a_race_has_both_accesses_with_recordings_or_without() {
    let without = shown(&[data_race(false)]);
    let finding = &without.reports[0].findings[0];
    assert!(
        finding.said.message.contains(": task 1 uses a pointer to it at "),
        "{}",
        finding.said.message
    );
    let execution = &finding.executions[0];
    let told: BTreeSet<String> = execution
        .deeds
        .iter()
        .map(|deed| {
            assert_eq!(execution.recording.events[deed.at - 1].task, deed.task);
            let site = &execution.recording.sites[deed.site];
            assert!(site.starts_with("corpus/src/programs/plain.rs:") && finding.said.message.contains(site));
            format!("{}: {}", execution.recording.tasks[deed.task].name, deed.what)
        })
        .collect();
    assert_eq!(
        told.iter().map(String::as_str).collect::<Vec<_>>(),
        ["task 1: write by pointer data", "task 2: write by pointer data"]
    );

    let with = shown(&[data_race(true)]);
    let execution = &with.reports[0].findings[0].executions[0];
    assert!(execution.deeds.is_empty() && !execution.partial);
    let data = &execution.recording.data;
    assert!(!data.is_empty() && data.iter().all(|access| access.by_pointer));

    let altered = data_race(false).replace("\"after\": \"", "\"after\": \"9");
    let refused = load::parse(&altered).err().unwrap();
    assert!(
        refused.contains("findings[0].deeds[0].after is \"9") && refused.contains("no event has that id"),
        "{refused}"
    );
}

/// A page uses the same names of variables as the text, also in the execution that passes, and without the sources.
#[test]
fn variables_have_their_names() {
    let text = lost_update().replace(file!(), "no/such/file.rs");
    let shown = shown(&[text]);
    let finding = &shown.reports[0].findings[0];
    assert_eq!(finding.said.names["atomic 1.1"], "n");
    assert_eq!(finding.executions.len(), 2);
    for execution in &finding.executions {
        let vars = execution.recording.vars.iter().filter(|var| var.kind == "atomic");
        let names: Vec<&str> = vars.map(|var| var.name.as_str()).collect();
        assert_eq!(names, ["n"], "passes: {}", execution.passes);
    }
    let shown = self::shown(&[deadlock(false)]);
    let said = &shown.reports[0].findings[0].said;
    let told = said.lines.join("\n") + &said.message;
    assert!(told.contains("`locks.0`") && told.contains("`locks.1`"), "{told}");
    assert!(!told.contains("mutex"), "{told}");
}

/// The report of a message that is read too early under a memory model.
fn stale(record: bool) -> String {
    let environment = intermezzo::Environment {
        stale_reads: 1,
        ..intermezzo::Environment::calm()
    };
    let explorer = Explorer::new().environment(environment).record(record);
    let report = explorer.explore(|| {
        let (data, ready) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            scope.spawn(|| {
                data.store(5, Relaxed);
                data.store(7, Relaxed);
                ready.store(1, Relaxed);
            });
            assert!(ready.load(Acquire) == 0 || data.load(Relaxed) != 5);
        });
    });
    report.to_json()
}

/// A page and the exports say which store was read and which were passed over, with recordings or without.
#[test]
fn stale_reads_have_their_stores() {
    for record in [false, true] {
        let shown = shown(&[stale(record)]);
        let finding = &shown.reports[0].findings[0];
        let [told] = &finding.said.stale_operations[..] else {
            panic!("{:?}", finding.said.stale_operations)
        };
        assert!(told.starts_with("main reads 5 from `data` at "), "{told}");
        assert!(
            told.contains(". It passes over 7, stored by task 1 at "),
            "{told}"
        );
        let advice = finding.said.suggestion.as_deref().unwrap_or_default();
        assert!(
            advice.starts_with("the failure does not occur with `Release` for the store of `ready` at "),
            "{advice}"
        );
        for export in [
            junit::suites(&shown, &[]).unwrap(),
            annotations::lines(&shown, &[]),
            sarif::log(&shown),
        ] {
            assert!(
                export.contains(told.as_str()) && export.contains(advice),
                "{export}"
            );
        }
        assert!(junit::suites(&shown, &[]).unwrap().contains(" 5, stale"));

        let execution = &finding.executions[0];
        assert_eq!(execution.partial, !record);
        let events = &execution.recording.events;
        let stale: Vec<_> = events.iter().filter(|event| !event.newer.is_empty()).collect();
        let [read] = stale[..] else { panic!("{events:?}") };
        assert_eq!((read.op.as_str(), read.read), ("load", Some(5)));
        assert_eq!(read.from.map(|at| events[at].written), Some(Some(5)));
        let newer: Vec<_> = read.newer.iter().map(|&at| events[at].written).collect();
        assert_eq!(newer, [Some(7)]);
        let page = serde_json::to_string(&shown).unwrap();
        assert!(
            page.contains("\"effect\":\"stale\"") && page.contains("\"stale_operations\":["),
            "{page}"
        );
    }
    // The indexes of stores are checked like all others.
    let altered = stale(true).replace("\"newer\": [\n              ", "\"newer\": [\n              9");
    assert!(altered.contains("\"newer\": [\n              9"), "{altered}");
    let refused = load::parse(&altered).err().unwrap();
    assert!(refused.contains("newer is 9"), "{refused}");
}

/// A report in which nothing was found.
fn pass() -> String {
    Explorer::new()
        .program("store::tests::nothing")
        .explore(|| ())
        .to_json()
}

fn shown(reports: &[String]) -> Shown {
    load::all(reports.iter().map(String::as_str)).unwrap()
}

fn both() -> Shown {
    shown(&[deadlock(true), lost_update(), pass()])
}
