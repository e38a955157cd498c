//! A new user finds three bugs in an ordinary crate, with no settings, by `cargo test` and the commands that it prints.

use crate::{run_in, throw_away};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// A queue whose slot is marked as free before its value is read, a queue whose index is stored without Release, and a
/// cache that checks and acts in two steps.
const TESTS: &str = r#"
use intermezzo::cell::UnsafeCell;
use intermezzo::sync::atomic::{AtomicBool, AtomicUsize, Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst}};
use intermezzo::sync::{Arc, Mutex};
use intermezzo::thread;
use std::collections::BTreeMap;

#[derive(Default)]
struct Slot {
    full: AtomicBool,
    value: UnsafeCell<u32>,
}

// SAFETY: none; that is the bug.
unsafe impl Sync for Slot {}

impl Slot {
    fn push(&self, value: u32) -> bool {
        if self.full.load(Acquire) {
            return false;
        }
        // SAFETY: the slot is empty, so only this task uses the value.
        unsafe { *self.value.get() = value };
        self.full.store(true, Release);
        true
    }

    fn pop(&self) -> Option<u32> {
        // The slot is free before its value is read.
        let full = self.full.swap(false, AcqRel);
        // SAFETY: none, as above.
        full.then(|| unsafe { *self.value.get() })
    }
}

#[intermezzo::test]
fn racy_slot() {
    let slot = Arc::new(Slot::default());
    assert!(slot.push(1));
    let popper = thread::spawn({ let slot = slot.clone(); move || slot.pop() });
    slot.push(2);
    assert!(popper.join().unwrap().is_some());
}

#[derive(Default)]
struct Ring {
    slots: [UnsafeCell<u32>; 2],
    tail: AtomicUsize,
}

// SAFETY: none; that is the bug.
unsafe impl Sync for Ring {}

impl Ring {
    fn push(&self, value: u32) {
        let tail = self.tail.load(Relaxed);
        // SAFETY: only the producer uses a slot that is not published.
        unsafe { *self.slots[tail % 2].get() = value };
        // The bug: Release is missing.
        self.tail.store(tail + 1, Relaxed);
    }

    fn first(&self) -> Option<u32> {
        (self.tail.load(Acquire) > 0).then(|| unsafe { *self.slots[0].get() })
    }
}

#[intermezzo::test]
fn relaxed_index() {
    let ring = Arc::new(Ring::default());
    let producer = thread::spawn({ let ring = ring.clone(); move || ring.push(7) });
    assert!(matches!(ring.first(), None | Some(7)));
    producer.join().unwrap();
}

#[derive(Default)]
struct Cache {
    known: Mutex<BTreeMap<u32, u32>>,
    computed: AtomicUsize,
}

impl Cache {
    fn square(&self, n: u32) -> u32 {
        if let Some(known) = self.known.lock().unwrap().get(&n) {
            return *known;
        }
        self.computed.fetch_add(1, SeqCst);
        self.known.lock().unwrap().insert(n, n * n);
        n * n
    }
}

#[intermezzo::test]
fn cache_computes_once() {
    let cache = Arc::new(Cache::default());
    let other = thread::spawn({ let cache = cache.clone(); move || cache.square(3) });
    assert_eq!(cache.square(3), 9);
    assert_eq!(other.join().unwrap(), 9);
    assert_eq!(cache.computed.load(SeqCst), 1);
}

#[intermezzo::test]
fn readers_share() {
    let slot = Arc::new(Slot::default());
    let reader = thread::spawn({ let slot = slot.clone(); move || unsafe { *slot.value.get() } });
    assert_eq!(unsafe { *slot.value.get() }, 0);
    reader.join().unwrap();
}
"#;

/// The bugs, by test, and a sentence about each.
const BUGS: [(&str, &str); 3] = [
    ("cache_computes_once", "error[assertion]"),
    ("racy_slot", "error[data_race]: data race on `Slot.value`"),
    ("relaxed_index", "error[data_race]: data race on `slots[0]`"),
];

/// A test that passes with a warning, and one that passes without.
const PASSES: &str = r#"
use intermezzo::cell::UnsafeCell;
use intermezzo::sync::{Condvar, Mutex};

#[intermezzo::test]
fn waits_once() {
    let (mutex, condvar) = (Mutex::new(0), Condvar::new());
    let guard = mutex.lock().unwrap();
    drop(condvar.wait_timeout(guard, std::time::Duration::from_millis(1)));
}

#[intermezzo::test]
fn reads() {
    assert_eq!(unsafe { *UnsafeCell::new(1).get() }, 1);
}
"#;

/// Runs this in the project, as a shell does.
fn shell(project: &Path, command: &str) -> Output {
    let mut shell = Command::new("sh");
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("INTERMEZZO_") {
            shell.env_remove(name);
        }
    }
    // The target directory of this build, in which the dependencies are already built.
    let target = Path::new(env!("CARGO_BIN_EXE_cargo-intermezzo"))
        .ancestors()
        .nth(2);
    shell
        .args(["-c", command])
        .env("CARGO_TARGET_DIR", target.unwrap())
        .env("CARGO_NET_OFFLINE", "true")
        .current_dir(project)
        .output()
        .unwrap()
}

/// Without any setting, the bugs are found, and each printed command shows its bug again.
pub(crate) fn bugs_are_found_with_nothing_set(project: &Path) {
    throw_away::write(&project.join("tests/new_user.rs"), TESTS);
    let ran = shell(project, "cargo test --test new_user");
    let text = String::from_utf8(ran.stdout).unwrap();
    let summary = "test result: FAILED. 1 passed; 3 failed";
    assert!(
        text.contains(summary),
        "{text}\n{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    for (test, says) in BUGS {
        let section = text
            .split("---- ")
            .find(|section| section.starts_with(&format!("{test} stdout ----")));
        let section = section.unwrap_or_else(|| panic!("{test} did not fail:\n{text}"));
        assert!(section.contains(says), "{section}");
        let command = section.lines().find(|line| line.contains("INTERMEZZO_REPLAY="));
        let command = command.unwrap_or_else(|| panic!("no command:\n{section}"));
        let command = command.trim().trim_start_matches("reproduce: ");
        let again = shell(project, command);
        let shown = String::from_utf8(again.stdout).unwrap();
        assert!(
            !again.status.success() && shown.contains(says),
            "{command}\n{shown}"
        );
        assert!(shown.contains("1 failed"), "{command}\n{shown}");
        assert!(shown.contains("replayed as recorded"), "{command}\n{shown}");
    }
    crate::tune::the_page_shows_tests_of_an_ordinary_crate(&|arguments| run_in(project, arguments));
    passes_show_coverage_and_warnings(project);
    fs::remove_file(project.join("tests/new_user.rs")).unwrap();
}

/// A passing test prints its coverage and its whole warnings, where the harness shows the output of tests.
fn passes_show_coverage_and_warnings(project: &Path) {
    throw_away::write(&project.join("tests/new_user.rs"), PASSES);
    let ran = shell(
        project,
        "cargo test --test new_user -- --nocapture --test-threads=1",
    );
    let told = String::from_utf8(ran.stderr).unwrap();
    assert!(ran.status.success(), "{told}");
    // Lines are as wide as the terminal.
    let words = told.split_whitespace().collect::<Vec<_>>().join(" ");
    for says in [
        "new_user::reads passed: 1 execution; every schedule was run; not explored: other tasks (the test created none)",
        "plain memory: 1 access, watched for data races",
        "monitors: data-race, leak, misuse",
        "warning[misuse]: main continues after a wait on `condvar` at [1] that ended without a notification, although its condition cannot have changed",
        "woken condvar, spuriously",
        "help: wait in a loop, or with `wait_while`",
        "new_user::waits_once passed: ",
    ] {
        assert!(words.contains(says), "{says}\n{told}");
    }
}
