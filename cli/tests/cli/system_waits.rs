//! `test --unmodified`: tests that wait in system calls, and tests of tokio with all its features.
#![cfg(all(target_os = "linux", target_env = "gnu"))]

use super::unmodified::{project_of, replays, report, run, run_with};
use crate::Ran;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

const LIBC: &str = "[dev-dependencies]\nlibc = \"0.2\"\n";
const ALL_OF_TOKIO: &str = "[dev-dependencies]\ntokio = { version = \"1\", features = [\"full\"] }\n";

const RUSTIX: &str =
    "[dev-dependencies]\nrustix = { version = \"1\", features = [\"event\", \"time\"] }\nlibc = \"0.2\"\n";

const TOKIO: &str = r#"
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

async fn add(n: Arc<AtomicUsize>) {
    n.store(n.load(SeqCst) + 1, SeqCst);
}

#[tokio::test]
async fn work_that_blocks_is_awaited() {
    assert_eq!(tokio::task::spawn_blocking(|| 3).await.unwrap(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_hour_passes() {
    let begun = Instant::now();
    tokio::spawn(tokio::time::sleep(Duration::from_secs(3_600))).await.unwrap();
    assert!(begun.elapsed() >= Duration::from_secs(3_600));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_workers_add() {
    let n = Arc::new(AtomicUsize::new(0));
    for task in [0, 1].map(|_| tokio::spawn(add(n.clone()))) {
        task.await.unwrap();
    }
    assert_eq!(n.load(SeqCst), 2);
}

#[tokio::test]
async fn an_update_is_lost_to_work_that_blocks() {
    let n = Arc::new(AtomicUsize::new(0));
    let other = tokio::task::spawn_blocking({
        let n = n.clone();
        move || n.store(n.load(SeqCst) + 1, SeqCst)
    });
    add(n.clone()).await;
    other.await.unwrap();
    assert_eq!(n.load(SeqCst), 2);
}

#[tokio::test]
async fn a_sender_is_kept() {
    let (sender, receiver) = tokio::sync::oneshot::channel::<()>();
    let _ = receiver.await;
    drop(sender);
}

#[tokio::test]
async fn a_connection_never_comes() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    listener.accept().await.unwrap();
}
"#;

const SYSTEM: &str = include_str!("system_waits/system.rs");

/// Timers by rustix, which calls the system without the C library unless a switch is set.
const TIMERS: &str = r#"
use rustix::event::{EventfdFlags, epoll, eventfd};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::io::{read, write};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_gettime, timerfd_settime,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

fn timer() -> OwnedFd {
    timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC).unwrap()
}

fn seconds(tv_sec: i64) -> Timespec {
    Timespec { tv_sec, tv_nsec: 0 }
}

/// Returns the old times.
fn set(timer: &OwnedFd, first: i64, every: i64) -> Itimerspec {
    let times = Itimerspec { it_interval: seconds(every), it_value: seconds(first) };
    timerfd_settime(timer, TimerfdTimerFlags::empty(), &times).unwrap()
}

fn count(timer: &OwnedFd) -> u64 {
    let mut bytes = [0; 8];
    assert_eq!(read(timer, &mut bytes).unwrap(), 8);
    u64::from_ne_bytes(bytes)
}

/// Waits until one of these is ready, and returns its index.
fn first_of(all: &[&OwnedFd]) -> u64 {
    let set = epoll::create(epoll::CreateFlags::CLOEXEC).unwrap();
    for (at, one) in all.iter().enumerate() {
        epoll::add(&set, one, epoll::EventData::new_u64(at as u64), epoll::EventFlags::IN).unwrap();
    }
    let mut events = Vec::with_capacity(1);
    epoll::wait(&set, rustix::buffer::spare_capacity(&mut events), None).unwrap();
    events[0].data.u64()
}

#[test]
fn an_hour_passes() {
    let (begun, timer) = (Instant::now(), timer());
    set(&timer, 3_600, 0);
    assert_eq!(count(&timer), 1);
    let hour = Duration::from_secs(3_600)..Duration::from_secs(3_601);
    assert!(hour.contains(&begun.elapsed()));
    assert_eq!(timerfd_gettime(&timer).unwrap().it_value, seconds(0));
}

#[test]
fn a_timer_repeats() {
    let timer = timer();
    set(&timer, 1, 2);
    thread::sleep(Duration::from_secs(6));
    assert_eq!(count(&timer), 3);
    // The number of expirations that was not read is lost.
    thread::sleep(Duration::from_secs(6));
    let old = set(&timer, 9, 0);
    assert_eq!(old.it_interval, seconds(2));
    assert!(old.it_value.tv_sec <= 1);
    assert_eq!(count(&timer), 1);
}

#[test]
fn a_time_of_the_clock_comes() {
    let (timer, begun) = (timer(), Instant::now());
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let at = Itimerspec { it_interval: seconds(0), it_value: Timespec { tv_sec: now.tv_sec + 100, ..now } };
    timerfd_settime(&timer, TimerfdTimerFlags::ABSTIME, &at).unwrap();
    assert_eq!(count(&timer), 1);
    let passed = Duration::from_secs(99)..Duration::from_secs(101);
    assert!(passed.contains(&begun.elapsed()), "{:?}", begun.elapsed());
}

#[test]
fn a_timer_is_set_while_a_task_waits() {
    let (begun, timer) = (Instant::now(), Arc::new(timer()));
    set(&timer, 3_600, 0);
    let task = thread::spawn({
        let timer = timer.clone();
        move || count(&timer)
    });
    set(&timer, 1, 0);
    assert_eq!(task.join().unwrap(), 1);
    assert!(begun.elapsed() < Duration::from_secs(2));
}

#[test]
fn the_first_timer_comes_first() {
    let (late, early, never) = (timer(), timer(), timer());
    set(&late, 3, 0);
    set(&early, 2, 0);
    set(&never, 1, 0);
    set(&never, 0, 0);
    assert_eq!(first_of(&[&late, &early, &never]), 1);
}

/// Returns the index of what comes first: of a timer of a second, or of a number that a task writes after this time.
fn timer_or_event(pause: Duration) -> u64 {
    let (timer, event) = (timer(), Arc::new(eventfd(0, EventfdFlags::CLOEXEC).unwrap()));
    set(&timer, 1, 0);
    let task = thread::spawn({
        let event = event.clone();
        move || {
            thread::sleep(pause);
            write(&*event, &1_u64.to_ne_bytes()).unwrap();
        }
    });
    let first = first_of(&[&timer, &event]);
    task.join().unwrap();
    first
}

#[test]
fn a_timer_comes_before_what_is_later() {
    assert_eq!(timer_or_event(Duration::from_secs(1)), 0);
}

#[test]
fn a_timer_comes_after_what_is_earlier() {
    assert_eq!(timer_or_event(Duration::from_millis(500)), 1);
}

/// Waits with a limit, by a call for which rustix has no function.
#[test]
fn a_limit_in_nanoseconds_is_virtual() {
    let (begun, set) = (Instant::now(), epoll::create(epoll::CreateFlags::CLOEXEC).unwrap());
    let limit = Timespec { tv_sec: 100, tv_nsec: 5 };
    let mut event = [0_u64; 2];
    let called = unsafe { libc::syscall(libc::SYS_epoll_pwait2, set.as_raw_fd(), &mut event, 1, &limit, 0, 8) };
    assert_eq!(called, 0);
    let passed = begun.elapsed();
    assert!(passed >= Duration::new(100, 5) && passed < Duration::from_secs(101), "{passed:?}");
}

/// There are more executions than possible numbers of descriptors.
#[test]
fn events_and_timers_are_left_open() {
    let left = (eventfd(0, EventfdFlags::CLOEXEC).unwrap(), timer());
    let n = Arc::new(AtomicUsize::new(0));
    let tasks = [0; 4].map(|_| {
        let n = n.clone();
        thread::spawn(move || n.fetch_add(1, SeqCst))
    });
    n.fetch_add(1, SeqCst);
    tasks.map(|task| task.join().unwrap());
    assert!(left.0.as_raw_fd() < 64);
    std::mem::forget(left);
}

#[test]
fn nothing_comes() {
    let (timer, event) = (timer(), eventfd(0, EventfdFlags::CLOEXEC).unwrap());
    set(&timer, 5, 0);
    set(&timer, 0, 0);
    first_of(&[&timer, &event]);
}
"#;

const AROUND: &str = include_str!("system_waits/around.rs");

/// Downloads the dependencies of a project. Returns `false` if that fails.
fn are_there(project: &Path) -> bool {
    let mut cargo = Command::new(env!("CARGO"));
    let fetched = cargo.arg("fetch").current_dir(project).output().unwrap();
    fetched.status.success()
}

/// Explores the tests of a project. Some of them fail.
fn explored(project: &Path) -> Ran {
    explored_with(project, 1)
}

fn explored_with(project: &Path, code: i32) -> Ran {
    let arguments = [
        "test",
        "--unmodified",
        "--json",
        // In one of the tests another process answers, which takes longer on a busy machine.
        "--hang",
        "8",
        "--executions",
        "2000",
    ];
    // One test at a time, because the end of one test's child process could end another test's wait.
    run_with(project, &arguments, &[("RUST_TEST_THREADS", "1")]).ends_with(code)
}

fn check(library: &str, ran: &Ran, verdicts: &[(&str, &str, &str)]) -> Value {
    let all = ran.json();
    assert_eq!(all["reports"].as_array().unwrap().len(), verdicts.len());
    for (test, verdict, kind) in verdicts {
        let report = report(&all, &format!("{library}::{test}"));
        assert_eq!(report["verdict"], *verdict, "{report:#}");
        // A test that measures how long a wait takes has a warning, because the wait may take longer.
        let mut findings = report["findings"].as_array().unwrap().iter();
        let error = findings.find(|finding| finding["severity"] == "error");
        let found = error.and_then(|error| error["kind"].as_str());
        assert_eq!(found.unwrap_or_default(), *kind, "{report:#}");
    }
    all
}

#[test]
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn tests_of_tokio_with_all_features_are_explored() {
    let project = project_of("full", ALL_OF_TOKIO, TOKIO);
    if !are_there(&project) {
        eprintln!("skipped: the crates that tokio needs with all features cannot be downloaded");
        return;
    }
    let ran = explored(&project);
    let all = check(
        "full",
        &ran,
        &[
            ("work_that_blocks_is_awaited", "pass", ""),
            ("an_hour_passes", "pass", ""),
            ("two_workers_add", "fail", "assertion"),
            ("an_update_is_lost_to_work_that_blocks", "fail", "assertion"),
            ("a_sender_is_kept", "fail", "deadlock"),
            ("a_connection_never_comes", "inconclusive", "hang"),
        ],
    );
    let never = &report(&all, "full::a_connection_never_comes")["findings"][0];
    assert_eq!(never["detail"]["call"], "epoll_wait", "{never:#}");
    for test in [
        "two_workers_add",
        "an_update_is_lost_to_work_that_blocks",
        "a_sender_is_kept",
    ] {
        replays(
            &project,
            &ran,
            &report(&all, &format!("full::{test}"))["findings"][0],
        );
    }
}

#[test]
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn timers_of_the_system_have_virtual_time() {
    let project = project_of("timers", RUSTIX, TIMERS);
    if !are_there(&project) {
        eprintln!("skipped: the crate rustix cannot be downloaded");
        return;
    }
    let ran = explored(&project);
    let verdicts = [
        ("an_hour_passes", "pass", ""),
        ("a_timer_repeats", "pass", ""),
        ("a_time_of_the_clock_comes", "pass", ""),
        ("a_timer_is_set_while_a_task_waits", "pass", ""),
        ("the_first_timer_comes_first", "pass", ""),
        ("a_timer_comes_before_what_is_later", "pass", ""),
        ("a_timer_comes_after_what_is_earlier", "pass", ""),
        ("a_limit_in_nanoseconds_is_virtual", "pass", ""),
        ("events_and_timers_are_left_open", "pass", ""),
        ("nothing_comes", "fail", "deadlock"),
    ];
    let all = check("timers", &ran, &verdicts);
    replays(
        &project,
        &ran,
        &report(&all, "timers::nothing_comes")["findings"][0],
    );
}

#[test]
fn waits_in_the_system_are_steps() {
    let project = project_of("waits", LIBC, SYSTEM);
    let ran = explored(&project);
    let all = check(
        "waits",
        &ran,
        &[
            ("a_pipe_orders_what_it_passes", "pass", ""),
            (
                "an_update_is_lost_because_the_pipe_is_written_early",
                "fail",
                "assertion",
            ),
            ("a_full_pipe_is_emptied", "pass", ""),
            ("a_pipe_is_read_before_it_is_written", "fail", "deadlock"),
            ("a_limit_of_time_is_virtual", "pass", ""),
            ("a_connection_is_made", "pass", ""),
            ("a_locked_file_excludes", "pass", ""),
            (
                "an_update_is_lost_because_a_file_is_unlocked_early",
                "fail",
                "assertion",
            ),
            ("a_locked_file_is_locked_again", "fail", "deadlock"),
            ("a_locked_file_is_shared", "pass", ""),
            ("a_lock_is_left", "pass", ""),
            ("a_lock_that_was_left_is_taken", "pass", ""),
            ("a_shared_lock_becomes_exclusive", "pass", ""),
            ("a_writer_meets_the_readers_of_a_file", "fail", "assertion"),
            ("a_port_decides", "inconclusive", "divergence"),
            ("a_child_is_heard", "pass", ""),
            ("a_thread_of_c_counts", "pass", ""),
            ("a_thread_that_cannot_be_made_does_not_count", "pass", ""),
            ("a_childs_child_is_heard", "pass", ""),
            ("a_pair_is_left_open", "pass", ""),
            ("a_thread_is_left_that_listens", "pass", ""),
            ("threads_are_left_that_listen_and_poll", "pass", ""),
            ("a_message_never_comes", "inconclusive", "hang"),
            ("a_call_is_repeated_for_ever", "inconclusive", "hang"),
        ],
    );
    let source = &report(&all, "waits::a_port_decides")["findings"][0]["suggestion"];
    let is_named = source
        .as_str()
        .unwrap()
        .contains("the likely source is the system");
    assert!(is_named, "{source}");
    let limits = &report(&all, "waits::a_thread_of_c_counts")["limits"];
    assert_eq!(limits[0]["kind"], "other_threads", "{limits:#}");
    let threads = limits[0]["threads"].to_string();
    assert!(
        threads.contains("a thread made by C's `pthread_create`"),
        "{threads}"
    );
    let of_none = report(&all, "waits::a_thread_that_cannot_be_made_does_not_count");
    assert_eq!(of_none["coverage"]["kind"], "exhaustive", "{of_none:#}");
    assert!(
        !of_none["limits"].to_string().contains("other_threads"),
        "{of_none:#}"
    );
    // Such a wait has no place in the source. The child may be so fast that there is none.
    let notes = report(&all, "waits::a_child_is_heard")["notes"].to_string();
    assert!(
        !notes.contains("not sound")
            || notes.contains("not sound: a wait for what comes from outside the test"),
        "{notes}"
    );
    // Not every execution waits for the thread.
    let left = report(&all, "waits::a_thread_is_left_that_listens");
    assert_eq!(left["coverage"]["kind"], "exhaustive", "{left:#}");
    for (test, call) in [
        ("a_message_never_comes", "recvfrom"),
        ("a_call_is_repeated_for_ever", "select"),
    ] {
        let finding = &report(&all, &format!("waits::{test}"))["findings"][0];
        assert_eq!(finding["detail"]["call"], call, "{finding:#}");
    }
    let lost = report(&all, "waits::an_update_is_lost_because_the_pipe_is_written_early");
    replays(&project, &ran, &lost["findings"][0]);

    // A panic must not unwind out of a C function.
    let unwound = [
        "test",
        "--unmodified",
        "--json",
        "--stack",
        "forgotten=0",
        "a_pipe_is_read",
    ];
    let unwound = run(&project, &unwound).ends_with(1);
    assert!(
        !unwound.stderr.contains("non-unwinding panic"),
        "{}",
        unwound.stderr
    );
    let findings = &unwound.json()["reports"][0]["findings"];
    assert_eq!(findings[0]["kind"], "deadlock", "{findings:#}");
    // The message has no place, because neither an earlier event nor the test's body has one.
    let message = findings[0]["message"].as_str().unwrap();
    assert_eq!(message, "no task can continue: main waits for atomic 0.1");

    // A pipe orders everything before a write before everything after the read of it.
    let races = ["test", "--unmodified", "--races", "--json", "a_pipe_orders"];
    let raced = run(&project, &races).ends_with(0).json();
    assert_eq!(raced["reports"].as_array().unwrap().len(), 1);
    let executions = raced["reports"][0]["executions"].as_u64().unwrap();
    assert!(executions > 1, "{raced:#}");
}

#[test]
fn handlers_of_signals_and_changes_of_files_come_from_outside() {
    let project = project_of("signals", LIBC, AROUND);
    let ran = explored_with(&project, 3);
    let verdicts = [
        ("a_file_that_changes_is_noticed", "pass", ""),
        ("a_handler_is_set_in_each_execution", "pass", ""),
        ("an_older_handler_is_set_in_each_execution", "pass", ""),
        ("a_call_that_is_ended_does_not_return", "inconclusive", "hang"),
    ];
    let all = check("signals", &ran, &verdicts);
    let executions = |test: &str| {
        report(&all, &format!("signals::{test}"))["executions"]
            .as_u64()
            .unwrap()
    };
    assert!(executions("a_handler_is_set_in_each_execution") > 1);
    let ended = &report(&all, "signals::a_call_that_is_ended_does_not_return")["findings"];
    assert_eq!(ended.as_array().unwrap().len(), 1, "{ended:#}");
    assert_eq!(ended[0]["detail"]["call"], "select", "{ended:#}");
}

#[test]
fn processes_run_in_real_time_and_counters_do_not() {
    let project = project_of("clocks", LIBC, include_str!("system_waits/clocks.rs"));
    let ran = explored_with(&project, 0);
    let mut verdicts = vec![
        ("a_process_ends_between_sleeps", "pass", ""),
        ("a_process_ends_between_waits_with_limits", "pass", ""),
        ("a_process_ends_before_a_deadline", "pass", ""),
        ("a_process_writes_before_a_limit", "pass", ""),
        ("a_process_runs_on", "pass", ""),
    ];
    if cfg!(target_arch = "x86_64") {
        verdicts.push(("the_counter_of_the_processor_is_virtual", "pass", ""));
    }
    check("clocks", &ran, &verdicts);
}
