//! `test --unmodified` on ordinary code: each bug is found with nothing set, and the same code without it passes.

use crate::unmodified::{project_of, replays, report, run, run_with};

/// The tests: those whose names begin with `bug` have one, the others have none. The second file begins with a line of its
/// own, which cannot be in the middle.
const PROGRAMS: &str = concat!(
    include_str!("ordinary/first.rs"),
    "// ",
    include_str!("ordinary/second.rs")
);

/// A test that fails with numbers that a process may have by chance: addresses, and random numbers of the system.
const SEEDS: &str = r#"
use std::sync::Mutex;
use std::thread;

static PLACE: Mutex<u8> = Mutex::new(0);

#[cfg(target_os = "linux")]
fn random() -> [u64; 3] {
    unsafe extern "C" {
        fn getrandom(into: *mut u64, size: usize, flags: u32) -> isize;
        fn getentropy(into: *mut u64, size: usize) -> i32;
        fn syscall(number: i64, ...) -> i64;
    }
    const NUMBER: i64 = if cfg!(target_arch = "x86_64") { 318 } else { 278 };
    let mut numbers = [0; 3];
    unsafe {
        assert_eq!(getrandom(&mut numbers[0], 8, 0), 8);
        assert_eq!(getentropy(&mut numbers[1], 8), 0);
        assert_eq!(syscall(NUMBER, &mut numbers[2], 8usize, 0u32), 8);
    }
    assert!(!numbers.contains(&0) && numbers[0] != numbers[1] && numbers[1] != numbers[2]);
    numbers
}
#[cfg(not(target_os = "linux"))]
fn random() -> [u64; 3] {
    [0; 3]
}

fn seeds() -> [usize; 4] {
    let local = 0_u8;
    [
        seeds as fn() -> [usize; 4] as usize,
        &raw const PLACE as usize,
        &raw const local as usize,
        &raw const *Box::new(0_u8) as usize,
    ]
}

#[test]
fn numbers_of_a_process() {
    let other = thread::spawn(|| (seeds(), random(), thread::current().id())).join().unwrap();
    let number: u64 = unsafe { std::mem::transmute(thread::current().id()) };
    panic!("{:x?} {:x?} {:x?} {number:x}", seeds(), random(), other);
}
"#;

#[test]
fn bugs_of_ordinary_code_are_found_and_nothing_else() {
    let project = project_of("ordinarily", "", PROGRAMS);
    // One test waits for ever, up to the limit of steps.
    let settings = [("INTERMEZZO_STEPS", "500000")];
    let all = run_with(&project, &["test", "--unmodified", "--json"], &settings)
        .ends_with(1)
        .json();
    let names = PROGRAMS
        .split("\nfn ")
        .skip(1)
        .filter_map(|text| Some(text.split_once('(')?.0));
    let is_test = |name: &&str| name.starts_with("bug_") || name.starts_with("ok_");
    let names: Vec<&str> = names.filter(is_test).collect();
    assert_eq!(all["reports"].as_array().unwrap().len(), names.len());
    assert!(names.len() > 50, "{names:?}");
    for name in names {
        let report = report(&all, &format!("ordinarily::{name}"));
        if name.starts_with("bug_") {
            assert_eq!(report["verdict"], "fail", "{name}: {report:#}");
            assert!(
                report["findings"][0]["schedule"].is_string(),
                "{name}: {report:#}"
            );
        } else {
            assert_eq!(report["verdict"], "pass", "{name}: {report:#}");
            let (kind, reason) = (&report["coverage"]["kind"], &report["coverage"]["reason"]);
            let is_fair = reason.as_str().is_some_and(|reason| reason.contains("fair"));
            assert!(kind == "exhaustive" || is_fair, "{name}: {report:#}");
        }
    }
    let kind = |name: &str| report(&all, &format!("ordinarily::{name}"))["findings"][0]["kind"].clone();
    assert_eq!(kind("bug_spin_early_return"), "livelock");
    assert_eq!(kind("bug_sync_channel"), "deadlock");
    // What is wrong with these is found by the harness, and their functions are the places.
    for (name, what) in [("bug_result", "it is 1"), ("bug_should_panic", "did not panic")] {
        let finding = &report(&all, &format!("ordinarily::{name}"))["findings"][0];
        let message = finding["message"].as_str().unwrap();
        let function = PROGRAMS
            .lines()
            .position(|line| line.starts_with(&format!("fn {name}(")));
        let place = format!("src/lib.rs:{}:4", function.unwrap() + 1);
        assert!(message.contains(&place) && message.contains(what), "{message}");
    }
}

/// Hashers take seeds from addresses, and from the system.
#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "addresses are the same on Linux")]
fn numbers_of_a_process_are_the_same_in_a_replay() {
    let project = project_of("seeds", "", SEEDS);
    let ran = run(&project, &["test", "--unmodified", "--json"]).ends_with(1);
    let all = ran.json();
    let finding = &report(&all, "seeds::numbers_of_a_process")["findings"][0];
    for _ in 0..3 {
        // It compares the messages.
        replays(&project, &ran, finding);
    }
}
