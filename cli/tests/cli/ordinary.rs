//! `test --unmodified` on ordinary code: each bug is found without any settings, and the same code without the bug passes.

use crate::unmodified::{project_of, replays, report, run, run_with};

/// The tests. Those whose names begin with `bug` have a bug, and the others do not. The first line of the second file is
/// commented out, because an inner doc comment must be at the beginning.
const PROGRAMS: &str = concat!(
    include_str!("ordinary/first.rs"),
    "// ",
    include_str!("ordinary/second.rs")
);

/// Threads that nothing joins: those of the first tests never end.
const LEFT_OVER: &str = r#"
#![cfg(test)]
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

static STOP: AtomicBool = AtomicBool::new(false);
static IDLE: AtomicUsize = AtomicUsize::new(0);
static COUNT: Mutex<usize> = Mutex::new(0);
const SHORT: Duration = Duration::from_millis(10);

#[test]
fn left_polls() {
    thread::spawn(|| {
        while !STOP.load(SeqCst) {
            thread::sleep(SHORT);
        }
    });
}
#[test]
fn left_spins() {
    thread::spawn(|| while !STOP.load(SeqCst) {});
}
#[test]
fn left_works() {
    thread::spawn(|| loop {
        thread::sleep(SHORT);
        *COUNT.lock().unwrap() += 1;
    });
    thread::sleep(SHORT);
    *COUNT.lock().unwrap() += 1;
}
#[test]
fn left_receives() {
    let (sender, receiver) = channel::<()>();
    Box::leak(Box::new(sender));
    thread::spawn(move || while receiver.recv_timeout(SHORT) == Err(RecvTimeoutError::Timeout) {});
}
#[test]
fn left_in_two_threads() {
    for _ in 0..2 {
        thread::spawn(|| while !STOP.load(SeqCst) {});
    }
}
// Waits like the threads of sled, by parking_lot: they read the clock before and after.
fn idle() {
    IDLE.fetch_add(1, SeqCst);
    let until = Instant::now() + Duration::from_secs(1);
    loop {
        let now = Instant::now();
        if now >= until {
            break;
        }
        thread::park_timeout(until - now);
    }
    IDLE.fetch_sub(1, SeqCst);
}
#[test]
fn left_idle() {
    thread::spawn(|| loop { idle() });
}
#[test]
fn left_idle_in_two_threads() {
    for _ in 0..2 {
        thread::spawn(|| loop { idle() });
    }
}
#[test]
fn left_idle_while_main_sleeps() {
    thread::spawn(|| loop { idle() });
    thread::sleep(Duration::from_secs(100));
}
#[test]
fn ended_by_itself() {
    thread::spawn(|| {
        for _ in 0..5 {
            thread::sleep(SHORT);
        }
    });
}
#[test]
fn bug_after_some_rounds() {
    thread::spawn(|| {
        for _ in 0..50 {
            thread::sleep(SHORT);
        }
        panic!("it is heard");
    });
    thread::spawn(|| while !STOP.load(SeqCst) {});
}
#[test]
fn bug_while_it_runs() {
    let seen = AtomicUsize::new(0);
    thread::spawn(|| loop {
        thread::sleep(SHORT);
        *COUNT.lock().unwrap() += 1;
    });
    seen.store(*COUNT.lock().unwrap(), SeqCst);
    assert_eq!(seen.load(SeqCst), *COUNT.lock().unwrap());
}
"#;

/// C's semaphores, which the crate ctrlc waits for.
const SEMAPHORES: &str = r#"
#![cfg(all(test, target_os = "linux", target_env = "gnu"))]
use std::thread;

#[repr(C, align(8))]
struct Semaphore([u64; 4]);
unsafe extern "C" {
    fn sem_init(semaphore: *mut Semaphore, is_shared: i32, count: u32) -> i32;
    fn sem_post(semaphore: *mut Semaphore) -> i32;
    fn sem_wait(semaphore: *mut Semaphore) -> i32;
    fn sem_trywait(semaphore: *mut Semaphore) -> i32;
    fn sem_timedwait(semaphore: *mut Semaphore, until: *const [i64; 2]) -> i32;
    fn sem_getvalue(semaphore: *mut Semaphore, into: *mut i32) -> i32;
    fn time(into: *mut i64) -> i64;
}

static mut SEMAPHORE: Semaphore = Semaphore([0; 4]);
static mut VALUE: u32 = 0;

fn semaphore(count: u32) -> *mut Semaphore {
    let semaphore = &raw mut SEMAPHORE;
    assert_eq!(unsafe { sem_init(semaphore, 0, count) }, 0);
    semaphore
}
fn count() -> i32 {
    let mut count = 7;
    assert_eq!(unsafe { sem_getvalue(&raw mut SEMAPHORE, &mut count) }, 0);
    count
}
#[test]
fn one_posts() {
    let semaphore = semaphore(0);
    let other = thread::spawn(|| unsafe {
        VALUE = 1;
        sem_post(&raw mut SEMAPHORE);
    });
    unsafe {
        assert_eq!(sem_wait(semaphore), 0);
        assert_eq!(VALUE, 1);
    }
    other.join().unwrap();
    assert_eq!((count(), unsafe { sem_trywait(semaphore) }), (0, -1));
}
#[test]
fn bug_posts_first() {
    let semaphore = semaphore(0);
    let other = thread::spawn(|| unsafe {
        sem_post(&raw mut SEMAPHORE);
        VALUE = 1;
    });
    unsafe {
        assert_eq!(sem_wait(semaphore), 0);
        assert_eq!(VALUE, 1);
    }
    other.join().unwrap();
}
#[test]
fn one_at_a_time() {
    let semaphore = semaphore(1);
    let add = || unsafe {
        sem_wait(&raw mut SEMAPHORE);
        VALUE += 1;
        sem_post(&raw mut SEMAPHORE);
    };
    let others = [(); 2].map(|()| thread::spawn(add));
    for other in others {
        other.join().unwrap();
    }
    assert_eq!((count(), unsafe { VALUE }), (1, 2));
    assert_eq!(unsafe { (sem_post(semaphore), sem_trywait(semaphore), sem_trywait(semaphore)) }, (0, 0, 0));
}
#[test]
fn bug_takes_two() {
    let semaphore = semaphore(1);
    unsafe { sem_wait(semaphore) };
    thread::spawn(|| unsafe { sem_wait(&raw mut SEMAPHORE) }).join().unwrap();
}
#[test]
fn left_waiting() {
    semaphore(0);
    thread::spawn(|| unsafe { sem_wait(&raw mut SEMAPHORE) });
}
#[test]
fn an_hour_passes() {
    let semaphore = semaphore(0);
    let began = unsafe { time(std::ptr::null_mut()) };
    assert_eq!(unsafe { sem_timedwait(semaphore, &[began + 3600, 0]) }, -1);
    assert!(unsafe { time(std::ptr::null_mut()) } >= began + 3600);
}
"#;

/// A deadlock that is not found, and a test that fails without a reason.
const STDOUT: &str = r#"
#![cfg(test)]
use std::io::stdout;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

#[test]
fn deadlock() {
    let mutex = Mutex::new(());
    thread::scope(|scope| {
        scope.spawn(|| {
            let _stdout = stdout().lock();
            let _guard = mutex.lock().unwrap();
        });
        let _guard = mutex.lock().unwrap();
        let _stdout = stdout().lock();
    });
}
#[test]
fn exclusion() {
    let count = AtomicUsize::new(0);
    let add = || {
        let _stdout = stdout().lock();
        count.store(count.load(SeqCst) + 1, SeqCst);
    };
    thread::scope(|scope| {
        scope.spawn(add);
        scope.spawn(add);
    });
    assert_eq!(count.load(SeqCst), 2);
}
"#;

/// A test that fails with numbers that differ between processes: addresses, and random numbers of the system.
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
    // The harness finds these failures, and the places of the findings are the functions.
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

/// Hashers take seeds from addresses and from the system.
#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "addresses are the same on Linux")]
fn numbers_of_a_process_are_the_same_in_a_replay() {
    let project = project_of("seeds", "", SEEDS);
    let ran = run(&project, &["test", "--unmodified", "--json"]).ends_with(1);
    let all = ran.json();
    let finding = &report(&all, "seeds::numbers_of_a_process")["findings"][0];
    for _ in 0..3 {
        // `replays` compares the messages.
        replays(&project, &ran, finding);
    }
}

#[test]
fn threads_that_outlive_a_test_are_not_a_livelock() {
    let project = project_of("left", "", LEFT_OVER);
    let arguments = ["test", "--unmodified", "--json", "--executions", "1000"];
    let all = run(&project, &arguments).ends_with(1).json();
    let reports = all["reports"].as_array().unwrap();
    assert_eq!(reports.len(), 11);
    for report in reports {
        let name = report["program"].as_str().unwrap();
        let is_cut = report["limits"]
            .as_array()
            .unwrap()
            .iter()
            .any(|limit| limit["kind"] == "left_over" && limit["rounds"] == 100);
        let test = name.rsplit("::").next().unwrap();
        let verdict = if test.starts_with("bug_") { "fail" } else { "pass" };
        assert_eq!(report["verdict"], verdict, "{report:#}");
        if verdict == "pass" {
            assert_eq!(is_cut, test.starts_with("left_"), "{report:#}");
            assert_eq!(report["coverage"]["kind"] != "exhaustive", is_cut, "{report:#}");
        }
    }
}

#[test]
#[cfg_attr(
    not(all(target_os = "linux", target_env = "gnu")),
    ignore = "semaphores are controlled with glibc"
)]
fn semaphores_of_c_are_controlled() {
    let project = project_of("semaphores", "", SEMAPHORES);
    let all = run(&project, &["test", "--unmodified", "--races", "--json"])
        .ends_with(1)
        .json();
    let reports = all["reports"].as_array().unwrap();
    assert_eq!(reports.len(), 6);
    for report in reports {
        let name = report["program"].as_str().unwrap();
        let kind = match name {
            "semaphores::bug_posts_first" => "data_race",
            "semaphores::bug_takes_two" => "deadlock",
            _ => {
                assert_eq!(report["verdict"], "pass", "{report:#}");
                continue;
            }
        };
        assert_eq!(report["findings"][0]["kind"], kind, "{report:#}");
    }
}

/// The guide documents this limit.
#[test]
fn the_lock_of_stdout_keeps_no_other_task_out() {
    let project = project_of("stdout", "", STDOUT);
    let all = run(&project, &["test", "--unmodified", "--json"])
        .ends_with(1)
        .json();
    assert_eq!(report(&all, "stdout::deadlock")["verdict"], "pass");
    assert_eq!(report(&all, "stdout::exclusion")["verdict"], "fail");
    // Under the model, executions are cut off while a task holds the lock. The harness prints the verdict, and waits
    // for ever if nothing releases it.
    let arguments = ["test", "--unmodified", "--json", "--environment", "stale_reads=1"];
    let all = run(&project, &arguments).ends_with(1).json();
    assert_eq!(report(&all, "stdout::exclusion")["verdict"], "fail");
}
