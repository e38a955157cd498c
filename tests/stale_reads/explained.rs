//! Findings and recordings show stale reads.

use super::{explored, message, store_buffer};
use intermezzo::sync::Arc;
use intermezzo::sync::atomic::AtomicU32;
use intermezzo::sync::atomic::Ordering::Relaxed;
use intermezzo::{Effect, Explorer, FindingEvent, TextStyle, Verbosity, thread};

#[test]
fn a_finding_names_stale_operations() {
    let report = explored(|| message(Relaxed, Relaxed, false)).to_string();
    assert!(report.contains("load atomic -> 0 (Relaxed), stale"), "{report}");
    assert!(!report.contains("every order"), "{report}");
}

/// The descriptions of stale operations are the same in the text, in JSON and in the value, and the events are data.
#[test]
fn a_finding_names_the_store_that_was_read_and_the_newer_ones() {
    let report = explored(|| {
        let vars = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
        let other = Arc::clone(&vars);
        let task = thread::spawn(move || {
            other[0].store(5, Relaxed);
            other[0].store(6, Relaxed);
            other[0].store(7, Relaxed);
            other[1].store(1, Relaxed);
        });
        assert!(vars[1].load(Relaxed) == 0 || vars[0].load(Relaxed) != 5, "old");
        task.join().unwrap();
    });
    let finding = &report.findings()[0];
    let place = |op: &str, value: u64| {
        let is_it =
            |event: &&FindingEvent| event.op == op && [event.read, event.written].contains(&Some(value));
        finding.events.iter().find(is_it).expect("the event")
    };
    let (read, stored) = (place("load", 5), place("store", 5));
    let newer = [place("store", 6), place("store", 7)];
    assert_eq!(
        (read.effect, &read.from),
        (Some(Effect::Stale), &Some(stored.id.clone()))
    );
    assert_eq!(read.newer, newer.map(|event| event.id.clone()));
    let stale = format!(
        "main reads 5 from {} at {}, stored by task 1 at {}. It passes over 6, stored by task 1 at {}, and 7, \
         stored by task 1 at {}",
        read.var, read.site, stored.site, newer[0].site, newer[1].site
    );
    assert_eq!(finding.stale_operations(), std::slice::from_ref(&stale));
    let json: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
    let json = &json["findings"][0];
    assert_eq!(json["stale_operations"], serde_json::json!([stale]));
    let events = json["events"].as_array().unwrap();
    let event = events.iter().find(|event| event["id"] == *read.id).unwrap();
    assert_eq!(event["from"], *stored.id);
    assert_eq!(event["newer"], serde_json::json!(read.newer));
    let text = report.to_string().replace("\n  ", " ");
    assert!(
        text.contains("\nstale: main reads 5 from `vars[0]` at ["),
        "{text}"
    );
    assert!(text.contains("It passes over 6, stored by task 1 at ["), "{text}");
}

/// The read value may be the initial one, and a store may be stale, too.
#[test]
fn initial_values_and_stale_stores_are_explained() {
    let report = explored(|| store_buffer(Relaxed, Relaxed, false));
    let stale = report.findings()[0].stale_operations().join("\n");
    assert!(
        stale.contains(", the value before any store. It passes over 1, stored by "),
        "{stale}"
    );
    let report = explored(|| {
        let vars = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
        let other = Arc::clone(&vars);
        let task = thread::spawn(move || {
            other[0].store(1, Relaxed);
            other[1].store(2, Relaxed);
        });
        vars[1].store(1, Relaxed);
        vars[0].store(2, Relaxed);
        task.join().unwrap();
        assert_ne!([vars[0].load(Relaxed), vars[1].load(Relaxed)], [1, 1]);
    });
    let stale = report.findings()[0].stale_operations().join("\n");
    assert!(stale.contains(", but behind a newer value: "), "{stale}");
}

/// A replay and its recording show the same.
#[test]
fn recordings_have_the_stores() {
    let found = explored(|| message(Relaxed, Relaxed, false));
    let replayed = Explorer::new()
        .replay(found.findings()[0].schedule.clone())
        .record(true)
        .explore(|| message(Relaxed, Relaxed, false));
    let (finding, again) = (&found.findings()[0], &replayed.findings()[0]);
    assert_eq!(finding.stale_operations(), again.stale_operations());
    let recording = replayed.recordings()[0]
        .execution
        .as_ref()
        .expect("it is recorded");
    let id = |at: usize| {
        let event = &recording.events[at];
        format!("{}.{}", event.task, event.index)
    };
    assert_eq!(recording.events.len(), finding.events.len());
    for (at, known) in finding.events.iter().enumerate() {
        let event = &recording.events[at];
        assert_eq!((id(at), event.effect), (known.id.clone(), known.effect));
        assert_eq!(event.from.map(id), known.from);
        assert_eq!(
            event.newer.iter().copied().map(id).collect::<Vec<_>>(),
            known.newer
        );
    }
    assert!(
        finding
            .events
            .iter()
            .any(|event| event.effect == Some(Effect::Stale))
    );
}

/// Turning points concern only the order of the tasks.
#[test]
fn a_long_report_says_that_there_is_no_turning_point() {
    let report = explored(|| message(Relaxed, Relaxed, false));
    assert!(report.turning_points().is_empty());
    let style = TextStyle::default().detail(Verbosity::Verbose);
    let text = report.text(&style);
    assert!(text.contains("no turning point: under `stale_reads`"), "{text}");
}
