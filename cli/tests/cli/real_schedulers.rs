//! `test --unmodified`: code that was written for a real scheduler and a real system, and tests that use intermezzo with
//! code that does not.

use super::unmodified::{project_of, replays, report, run};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Waiting loops that do not yield, statics without look-alikes, and locks that call the system.
const WAITS: &str = r#"
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::*};
use std::sync::{Arc, Mutex, RwLock, mpsc};
use std::thread;

fn set(flag: &Arc<AtomicBool>) -> thread::JoinHandle<()> {
    let flag = flag.clone();
    thread::spawn(move || flag.store(true, Release))
}

#[test]
fn a_flag_is_awaited() {
    let flag = Arc::default();
    let task = set(&flag);
    while !flag.load(Acquire) {}
    task.join().unwrap();
}

#[test]
fn a_spin_lock_is_taken() {
    let lock = Arc::new((AtomicBool::new(false), AtomicUsize::new(0)));
    let add = |lock: &(AtomicBool, AtomicUsize)| {
        while lock.0.compare_exchange(false, true, Acquire, Relaxed).is_err() {}
        lock.1.store(lock.1.load(Relaxed) + 1, Relaxed);
        lock.0.store(false, Release);
    };
    let task = thread::spawn({ let lock = lock.clone(); move || add(&lock) });
    add(&lock);
    task.join().unwrap();
    assert_eq!(lock.1.load(Relaxed), 2);
}

#[test]
fn a_lost_update_is_behind_a_wait() {
    let flag = Arc::default();
    let n = Arc::new(AtomicUsize::new(0));
    let task = set(&flag);
    let other = thread::spawn({ let n = n.clone(); move || n.store(n.load(Acquire) + 1, Release) });
    while !flag.load(Acquire) {}
    n.store(n.load(Acquire) + 1, Release);
    task.join().unwrap();
    other.join().unwrap();
    assert_eq!(n.load(Acquire), 2);
}

#[test]
fn locks_and_channels_are_tried_again_and_again() {
    let lock = Arc::new((Mutex::new(false), RwLock::new(0)));
    let (sender, receiver) = mpsc::channel();
    let task = thread::spawn({
        let lock = lock.clone();
        move || {
            *lock.0.lock().unwrap() = true;
            drop(lock.1.write().unwrap());
            sender.send(1).unwrap();
        }
    });
    while !*lock.0.lock().unwrap() {}
    while lock.1.try_read().is_err() {}
    while receiver.try_recv().is_err() {}
    while !task.is_finished() {}
}

#[test]
fn a_loop_goes_on_for_long() {
    let n = AtomicUsize::new(0);
    while n.fetch_add(1, Relaxed) < 3_000_000 {}
}

struct Cell(UnsafeCell<(u32, Vec<u32>)>);
unsafe impl Sync for Cell {}
static CELL: Cell = Cell(UnsafeCell::new((5, Vec::new())));
static mut COUNT: u32 = 0;
static BESIDE: AtomicUsize = AtomicUsize::new(0);

#[test]
fn statics_are_as_they_were_compiled() {
    let task = thread::spawn(|| BESIDE.fetch_add(1, SeqCst));
    BESIDE.fetch_add(1, SeqCst);
    task.join().unwrap();
    let (cell, count) = unsafe { COUNT += 1; (&mut *CELL.0.get(), COUNT) };
    cell.0 += 1;
    cell.1.push(count);
    assert_eq!((cell.0, cell.1.len(), count, BESIDE.load(SeqCst)), (6, 1, 1, 2));
}

#[test]
fn the_thread_has_the_name_of_the_test() {
    assert_eq!(thread::current().name(), Some("the_thread_has_the_name_of_the_test"));
}

#[test]
fn a_large_stack_is_there() {
    fn depth(left: usize) -> usize {
        let frame = std::hint::black_box([left; 1000]);
        if left == 0 { 0 } else { 1 + depth(left - 1) + frame[7] - left }
    }
    let large = thread::Builder::new().stack_size(64 << 20).spawn(|| depth(4_000)).unwrap();
    assert_eq!((large.join().unwrap(), depth(200)), (4_000, 200));
}

#[test]
fn the_process_ends() {
    thread::spawn(|| std::process::exit(3)).join().unwrap();
}

/// A lock by futexes: Drepper, Futexes Are Tricky, 2011, mutex 2.
struct Lock(AtomicU32);

fn futex(word: &AtomicU32, op: i32, value: u32) {
    let none = std::ptr::null::<libc::timespec>();
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), op | libc::FUTEX_PRIVATE_FLAG, value, none) };
}

impl Lock {
    fn lock(&self) {
        if self.0.compare_exchange(0, 1, SeqCst, SeqCst).is_ok() {
            return;
        }
        while self.0.swap(2, SeqCst) != 0 {
            futex(&self.0, libc::FUTEX_WAIT, 2);
        }
    }
    /// Unlocks. If it `forgets` that others wait, it wakes none.
    fn unlock(&self, forgets: bool) {
        if self.0.swap(0, SeqCst) == 2 && !forgets {
            futex(&self.0, libc::FUTEX_WAKE, 1);
        }
    }
}

fn locked_twice(forgets: bool) {
    let lock = Arc::new((Lock(AtomicU32::new(0)), AtomicUsize::new(0)));
    let add = move |lock: &(Lock, AtomicUsize)| {
        lock.0.lock();
        lock.1.store(lock.1.load(Relaxed) + 1, Relaxed);
        lock.0.unlock(forgets);
    };
    let task = thread::spawn({ let lock = lock.clone(); move || add(&lock) });
    add(&lock);
    task.join().unwrap();
    assert_eq!(lock.1.load(Relaxed), 2);
}

#[test]
fn a_lock_by_futexes_is_right() {
    locked_twice(false);
}

#[test]
fn a_lock_by_futexes_forgets_to_wake() {
    locked_twice(true);
}
"#;

#[test]
fn code_for_real_schedulers_is_explored() {
    let project = project_of("waiting", "[dev-dependencies]\nlibc = \"0.2\"\n", WAITS);
    // One of them has more than 300,000 executions.
    let limited = ["test", "--unmodified", "--json", "--executions", "20000"];
    let ran = run(&project, &limited).ends_with(1);
    let all = ran.json();
    let verdicts = [
        ("a_flag_is_awaited", "pass", "bounded"),
        ("a_spin_lock_is_taken", "pass", "bounded"),
        ("a_lost_update_is_behind_a_wait", "fail", "assertion"),
        ("locks_and_channels_are_tried_again_and_again", "pass", ""),
        ("a_loop_goes_on_for_long", "inconclusive", "step_limit"),
        ("statics_are_as_they_were_compiled", "pass", "exhaustive"),
        ("the_thread_has_the_name_of_the_test", "pass", "exhaustive"),
        ("a_large_stack_is_there", "pass", "exhaustive"),
        ("the_process_ends", "fail", "misuse"),
        ("a_lock_by_futexes_is_right", "pass", ""),
        ("a_lock_by_futexes_forgets_to_wake", "fail", "deadlock"),
    ];
    assert_eq!(all["reports"].as_array().unwrap().len(), verdicts.len());
    for (test, verdict, expected) in verdicts {
        let report = report(&all, &format!("waiting::{test}"));
        assert_eq!(report["verdict"], verdict, "{report:#}");
        match verdict {
            "pass" if expected.is_empty() => {}
            "pass" => assert_eq!(report["coverage"]["kind"], expected, "{report:#}"),
            _ => {
                let finding = &report["findings"][0];
                assert_eq!(finding["kind"], expected, "{finding:#}");
                let token = finding["schedule"].as_str().unwrap();
                let again = run(&project, &["replay", token, "--json"]).json();
                assert_eq!(again["findings"][0]["message"], finding["message"], "{again:#}");
            }
        }
    }
}

/// Returns the test that the guide shows.
fn shown_test() -> String {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/guide/src/unmodified.md");
    let guide = fs::read_to_string(guide).unwrap();
    let (_, code) = guide.split_once("```rust\n").unwrap();
    code.split_once("```").unwrap().0.to_owned()
}

/// Tests that use intermezzo, of code that does not. The guide's test comes before them.
const USERS: &str = r#"
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;

#[test]
fn a_queue_of_others_is_linearizable() {
    refine(SegQueue::new)
        .op("push", fresh::<u8>(), |queue, item| queue.push(item))
        .op("pop", (), |queue, ()| queue.pop())
        .spec(VecDeque::new)
        .means("push", |model: &mut VecDeque<u8>, item| model.push_back(*item))
        .means("pop", |model: &mut VecDeque<u8>, ()| model.pop_front())
        .scenarios(10)
        .check();
}

#[derive(Default)]
struct Queue {
    items: Mutex<VecDeque<u8>>,
    count: AtomicUsize,
}

#[test]
#[should_panic(expected = "no order of the operations explains")]
fn a_queue_with_a_late_count_is_not() {
    refine(Queue::default)
        .op("push", fresh::<u8>(), |queue, item| {
            queue.items.lock().unwrap().push_back(item);
            queue.count.fetch_add(1, SeqCst);
        })
        .op("len", (), |queue, ()| (queue.count.load(SeqCst), queue.items.lock().unwrap().len()))
        .check();
}

#[intermezzo::test]
fn an_attribute_explores() {
    let queue = Arc::new(SegQueue::new());
    let task = thread::spawn({ let queue = queue.clone(); move || queue.push(1) });
    let first = queue.pop();
    task.join().unwrap();
    assert_eq!(first, None);
}

#[test]
fn a_plain_test_runs_once() {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    thread::spawn(|| RUNS.fetch_add(1, SeqCst)).join().unwrap();
    assert_eq!(RUNS.load(SeqCst), 1);
}
"#;

#[test]
fn tests_that_use_intermezzo_explore_their_dependencies() {
    let root = fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).unwrap();
    let dependencies = format!(
        "[dev-dependencies]\nintermezzo = {{ path = {root:?}, features = [\"explore\"] }}\ncrossbeam-queue = \"0.3\"\n"
    );
    let project = project_of("using", &dependencies, &format!("{}{USERS}", shown_test()));
    // Without a limit, comparisons take minutes.
    let ran = run(
        &project,
        &["test", "--unmodified", "--json", "--executions", "300"],
    )
    .ends_with(1);
    let all = ran.json();
    let found = report(&all, "using::an_attribute_explores");
    assert_eq!(found["verdict"], "fail", "{found:#}");
    let reports = all["reports"].as_array().unwrap();
    let others = reports
        .iter()
        .filter(|report| report["program"] != found["program"]);
    let is_refinement = |report: &&Value| {
        report["format"]
            .as_str()
            .is_some_and(|format| format.contains("refinement"))
    };
    let comparisons: Vec<_> = others.filter(is_refinement).collect();
    assert_eq!(comparisons.len(), 3, "{reports:#?}");
    for comparison in comparisons {
        let executions = comparison["executions"].as_u64().unwrap();
        let scenarios = comparison["scenarios"].as_u64().unwrap();
        // The executions with one operation at a time are in addition to these.
        assert!(executions <= 1_000 * scenarios, "{comparison:#}");
    }
    for test in [
        "the_queue_is_linearizable",
        "a_queue_of_others_is_linearizable",
        "a_queue_with_a_late_count_is_not",
        "a_plain_test_runs_once",
    ] {
        let passed = ran.stdout.lines().chain(ran.stderr.lines());
        let is_it = |line: &str| line.contains(test) && line.ends_with("ok");
        assert!(
            passed.into_iter().any(is_it),
            "{test}:\n{}\n{}",
            ran.stdout,
            ran.stderr
        );
    }

    replays(&project, &ran, &found["findings"][0]);
}
