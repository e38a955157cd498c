//! The texts of twelve failures: the two facts that are needed to fix each one are on the first screen.

use super::Case;
use super::twelve::*;
use intermezzo::ReplayedBy;
use intermezzo::report::TextStyle;
use intermezzo::report::lines::width;

/// The number of lines of a terminal of usual size.
const SCREEN: usize = 40;

/// A failure, with what its text must say on the first screen. Spaces in a row count as one.
struct Failure {
    case: Case,
    facts: [&'static str; 2],
}

const fn failure(
    name: &'static str,
    settings: &'static [(&'static str, &'static str)],
    body: fn(),
    facts: [&'static str; 2],
) -> Failure {
    let case = Case { name, settings, body };
    Failure { case, facts }
}

/// The first fact is what goes wrong. The second one is what has to come in another order, or is missing.
const FAILURES: &[Failure] = &[
    failure(
        "deque",
        &[],
        deque,
        [
            "load items[1] -> 2",
            "passes if main's `store bottom = 1` comes before task 1's `load bottom`",
        ],
    ),
    failure(
        "aba_stack",
        &[],
        aba_stack,
        [
            "compare_exchange head 2 -> 0",
            "passes if task 1's `compare_exchange head 0` comes before task 2's `compare_exchange head 2`",
        ],
    ),
    failure(
        "michael_scott_queue",
        &[],
        michael_scott_queue,
        ["store nodes[0].next = 1", "store nodes[0].next = 2"],
    ),
    failure(
        "bounded_ring",
        &[],
        bounded_ring,
        ["store slots[0].value = 1", "store slots[0].value = 2"],
    ),
    failure(
        "abba_deadlock",
        &[],
        abba_deadlock,
        [
            "main waits to lock `journal` at [1], held by auditor since [2]",
            "auditor waits to lock `accounts` at [3], held by main since [4]",
        ],
    ),
    failure(
        "lost_wake_up",
        &[],
        lost_wake_up,
        [
            "task 1 waits to be notified by `opened` at [2]",
            "passes if task 1's `wait opened` comes before main's `notify_all opened`",
        ],
    ),
    failure(
        "race_in_a_cell",
        &[("monitors", "data-race")],
        race_in_a_cell,
        [
            "data race on `Slab.value`: main writes it at [1], task 1 reads it at [2]",
            "main makes its access only after the store of `ready` at [3], which task 1 has read",
        ],
    ),
    failure(
        "poisoned_mutex",
        &[],
        poisoned_mutex,
        [
            "task 1 panicked at [1]: the limit is 0",
            "passes if task 1's `load limit` comes before main's `store limit = 0`",
        ],
    ),
    failure(
        "livelock",
        &[],
        livelock,
        ["main goes round: store of", "task 1 goes round: store of"],
    ),
    failure(
        "leak_cycle",
        &[("monitors", "leak")],
        leak_cycle,
        ["`ann (count)`, made by main at [1]", "count up ann (count)"],
    ),
    failure(
        "stale_load",
        &[("monitors", "stale-load:errors=true")],
        stale_load,
        ["load flags[0]", "store flags[0]"],
    ),
];

/// Returns the text in a terminal of this width.
fn style(columns: usize) -> TextStyle {
    TextStyle {
        width: Some(columns),
        ..TextStyle::default().replayed_by(ReplayedBy::Test)
    }
}

/// Returns what a text lacks of these facts on its first screen.
fn missing<'a>(text: &str, facts: &[&'a str]) -> Vec<&'a str> {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let screen: Vec<&str> = text.lines().take(SCREEN).collect();
    let screen = words(&screen.join(" "));
    facts
        .iter()
        .copied()
        .filter(|fact| !screen.contains(fact))
        .collect()
}

#[test]
fn both_facts_are_on_the_first_screen() {
    for Failure { case, facts } in FAILURES {
        let report = case.report();
        let text = report.text(&style(100));
        assert!(report.verdict().is_fail(), "{text}");
        assert!(text.starts_with("error["), "{}: {text}", case.name);
        assert_eq!(missing(&text, facts), [""; 0], "{}: {text}", case.name);
        for columns in [80, 100, 160] {
            let text = report.text(&style(columns));
            let longest = text.lines().map(width).max().unwrap();
            assert!(longest <= columns, "{}: {text}", case.name);
            insta::assert_snapshot!(format!("{}_in_{columns}_columns", case.name), text);
        }
    }
    let report = counter();
    for columns in [80, 100, 160] {
        let text = report.text(&style(columns));
        let facts = [
            "add(1) = 1, then add(2) of task 2 would return 3, but returned 2",
            "load count: 0",
        ];
        assert_eq!(missing(&text, &facts), [""; 0], "{text}");
        insta::assert_snapshot!(format!("counter_in_{columns}_columns"), text);
    }
}
