//! Tests that create many tasks, or create them for ever; and tasks that need much of their stacks.

use super::kinds;
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::{Explorer, Report, thread};
use std::sync::Arc;

fn only_message(report: &Report) -> &str {
    let [finding] = report.findings() else {
        panic!("{report}")
    };
    &finding.message
}

#[test]
fn a_task_that_creates_itself_reaches_the_limit() {
    fn spawns_itself() {
        thread::spawn(spawns_itself);
    }
    let report = Explorer::new().explore(spawns_itself);
    assert_eq!(kinds(&report), ["step_limit"], "{report}");
    assert_eq!((report.executions(), report.max_tasks()), (1, 4096), "{report}");
    let message = only_message(&report);
    assert!(
        message.starts_with(
            "the execution was stopped at its limit of 4096 tasks: task 1^4095 would have created one more at \
             explorer/short/tests/teardown/many_tasks.rs:"
        ),
        "{message}"
    );
    let advice = report.findings()[0].suggestion.as_deref().unwrap();
    assert!(advice.contains("`stack = \"tasks=8192\"`"), "{advice}");
}

#[test]
fn a_loop_that_creates_tasks_reaches_the_limit() {
    let report = Explorer::new().set("stack", "tasks=100").explore(|| {
        loop {
            thread::spawn(|| ());
        }
    });
    assert_eq!(kinds(&report), ["step_limit"], "{report}");
    assert_eq!(report.max_tasks(), 100);
    assert!(
        only_message(&report).contains("limit of 100 tasks: main would have"),
        "{report}"
    );
    // It replays, and the limit is no end if it is not reached.
    let schedule = report.findings()[0].schedule.clone();
    let creates = |tasks: u32| move || (1..tasks).for_each(|_| drop(thread::spawn(|| ())));
    let replayed = Explorer::new().set("stack", "tasks=100").replay(schedule);
    assert_eq!(kinds(&replayed.explore(creates(101))), ["step_limit"]);
    let within = Explorer::new().set("stack", "tasks=100").explore(creates(100));
    assert!(within.verdict().is_pass(), "{within}");
}

#[test]
fn destructors_that_create_tasks_end() {
    struct Spawns;
    impl Drop for Spawns {
        fn drop(&mut self) {
            loop {
                thread::spawn(|| ());
            }
        }
    }
    let report = Explorer::new().set("stack", "forgotten=0").explore(|| {
        thread::spawn(|| {
            let _spawns = Spawns;
            loop {
                thread::park();
            }
        });
        panic!("body");
    });
    assert_eq!(kinds(&report), ["panic"], "{report}");
}

/// Nests tasks, each in the one before. The innermost one fails, if `fails`.
fn nest(depth: u32, fails: bool, n: &Arc<AtomicUsize>) {
    n.fetch_add(1, SeqCst);
    if depth > 0 {
        let n = n.clone();
        thread::spawn(move || nest(depth - 1, fails, &n)).join().unwrap();
    }
    assert!(depth > 0 || !fails, "the innermost");
}

#[test]
fn nested_tasks_take_little_more_each() {
    // The work is measured by the size of the report: names that grew with the depth made it grow with the square.
    let report = |depth, fails| {
        let explorer = Explorer::new().minimise(0);
        explorer.explore(move || nest(depth, fails, &Arc::default()))
    };
    assert!(report(3000, false).verdict().is_pass());
    let bytes = |depth| report(depth, true).to_json().len();
    let (few, many) = (bytes(200), bytes(1600));
    assert!(many < 9 * few, "{few} bytes for 200 tasks, {many} for 1,600");
    // Names with up to 8 levels are complete.
    let names = |depth| report(depth, true).findings()[0].tasks.clone();
    assert_eq!(
        names(8),
        [
            "task 1.1.1.1.1.1.1.1",
            "task 1.1.1.1.1.1.1",
            "task 1.1.1.1.1.1",
            "task 1.1.1.1.1",
            "task 1.1.1.1",
            "task 1.1.1",
            "task 1.1",
            "task 1",
            "main"
        ]
    );
    assert_eq!(names(9)[..2], ["task 1^9", "task 1.1.1.1.1.1.1.1"]);
}

#[test]
fn a_large_result_fits_the_stack() {
    let report = Explorer::new().explore(|| {
        let large = thread::spawn(|| [7u8; 200 << 10]).join().unwrap();
        assert_eq!(
            large.iter().map(|&byte| usize::from(byte)).sum::<usize>(),
            7 * (200 << 10)
        );
    });
    assert!(report.verdict().is_pass(), "{report}");
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
#[test]
fn a_stack_overflow_says_the_size_and_what_to_set() {
    #[allow(unconditional_recursion, reason = "that is the point")]
    fn deep(n: &mut [u8; 1000]) -> u8 {
        let mut more = [n[0].wrapping_add(1); 1000];
        std::hint::black_box(&mut more);
        deep(&mut more).wrapping_add(more[1])
    }
    let overflows = || {
        std::hint::black_box(deep(&mut [0; 1000]));
    };
    for (explorer, kib, more) in [
        (Explorer::new(), 2048, "`stack = 8388608`"),
        (Explorer::new().set("stack", 64 << 10), 64, "`stack = 262144`"),
    ] {
        let report = explorer.explore(overflows);
        assert_eq!(kinds(&report), ["crash"], "{report}");
        assert_eq!(
            only_message(&report),
            format!("main crashed: stack overflow (a task's stack has {kib} KiB)")
        );
        let advice = report.findings()[0].suggestion.as_deref().unwrap();
        assert!(advice.contains(more), "{advice}");
    }
}
