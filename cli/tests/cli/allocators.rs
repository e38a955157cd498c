//! Programs with global allocators of their own, which use atomics, locks and thread-locals.

use crate::throw_away;
use crate::unmodified::{project_of, report, run};

/// The files of the test targets: each has an allocator.
const PROGRAMS: [(&str, &str); 3] = [
    ("counting", include_str!("allocators/counting.rs")),
    ("local", include_str!("allocators/local.rs")),
    ("locking", include_str!("allocators/locking.rs")),
];

/// The tests of each program.
const TESTS: &str = r#"
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;

#[test]
fn both_push() {
    let list = Arc::new(Mutex::new(vec![1]));
    let theirs = list.clone();
    let other = thread::spawn(move || theirs.lock().unwrap().push(2));
    list.lock().unwrap().push(3);
    other.join().unwrap();
    assert_eq!(list.lock().unwrap().len(), 3);
    assert!(allocations() > 0);
}

#[test]
fn an_addition_is_lost() {
    let sum = Arc::new(AtomicU32::new(0));
    let theirs = sum.clone();
    let other = thread::spawn(move || theirs.store(theirs.load(SeqCst) + 1, SeqCst));
    sum.store(sum.load(SeqCst) + 1, SeqCst);
    other.join().unwrap();
    assert_eq!(sum.load(SeqCst), 2);
}
"#;

#[test]
fn allocators_may_use_what_tests_use() {
    let project = project_of("with_allocators", "", "");
    for (name, allocator) in PROGRAMS {
        let text = format!("{allocator}{TESTS}");
        throw_away::write(&project.join(format!("tests/{name}.rs")), &text);
    }
    let all = run(&project, &["test", "--unmodified", "--json"])
        .ends_with(1)
        .json();
    for (name, _) in PROGRAMS {
        let passed = report(&all, &format!("{name}::both_push"));
        assert_eq!(passed["verdict"], "pass", "{passed:#}");
        // What the allocator does is no operation of the test, so there are as few orders as without it.
        assert!(passed["executions"].as_u64().unwrap() < 10, "{passed:#}");
        let failed = report(&all, &format!("{name}::an_addition_is_lost"));
        assert_eq!(failed["verdict"], "fail", "{failed:#}");
        let finding = failed["findings"][0]["message"].as_str().unwrap();
        assert!(finding.contains("left == right"), "{finding}");
    }
}

#[test]
fn a_lock_of_the_allocator_that_a_test_holds_ends_with_a_message() {
    let project = project_of("with_a_held_allocator", "", "");
    let (_, allocator) = PROGRAMS.into_iter().find(|(name, _)| *name == "locking").unwrap();
    let holding = allocator.replace("\n    1\n", "\n    *ALLOCATOR.0.lock().unwrap()\n");
    assert_ne!(holding, allocator);
    throw_away::write(&project.join("tests/held.rs"), &format!("{holding}{TESTS}"));
    let ran = run(&project, &["test", "--unmodified", "--", "--", "both_push"]).ends_with(1);
    let message = "the global allocator waits for a lock that a test holds";
    assert!(ran.stderr.contains(message), "{}", ran.stderr);
}
