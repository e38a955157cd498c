//! Every kind of finding: it is found, the test binary survives it, and its schedule reproduces it byte for byte, in
//! this process and in another.

#[path = "findings/unwanted.rs"]
mod unwanted;

use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::{Condvar, Mutex};
use intermezzo_explorer::{Explorer, Finding, Report, Schedule, choose, thread};
use std::process::Command;
use std::sync::{Arc, Mutex as StdMutex, OnceLock};

/// A test with a finding: its name, the finding's kind, a part of the message, and its body.
type Case = (&'static str, &'static str, &'static str, fn());

fn lost_update() {
    let n = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| n.store(n.load(SeqCst) + 1, SeqCst));
        }
    });
    assert_eq!(n.load(SeqCst), 2);
}

fn panic_in_a_task() {
    let n = Arc::new(AtomicUsize::new(0));
    let m = n.clone();
    let task = thread::spawn(move || {
        if m.fetch_add(1, SeqCst) == 1 {
            panic!("second");
        }
    });
    n.fetch_add(1, SeqCst);
    task.join().unwrap();
}

fn crossed_locks() {
    let (a, b) = (Mutex::new(()), Mutex::new(()));
    thread::scope(|scope| {
        scope.spawn(|| {
            let _a = a.lock().unwrap();
            let _b = b.lock().unwrap();
        });
        let _b = b.lock().unwrap();
        let _a = a.lock().unwrap();
    });
}

fn lock_taken_twice() {
    let lock = Mutex::new(());
    let _held = lock.lock().unwrap();
    let _again = lock.lock().unwrap();
}

fn never_notified() {
    let lock = Mutex::new(());
    let waiter = Condvar::new();
    let mut held = lock.lock().unwrap();
    loop {
        held = waiter.wait(held).unwrap();
    }
}

fn endless() {
    let n = AtomicUsize::new(0);
    loop {
        n.fetch_add(1, SeqCst);
    }
}

/// Yields, and raises a flag that no task reads, so that no round fails.
fn polite() {
    let flag = AtomicUsize::new(0);
    loop {
        flag.store(1, SeqCst);
        flag.store(0, SeqCst);
        thread::yield_now();
    }
}

fn impolite() {
    let flag = AtomicUsize::new(0);
    while flag.load(SeqCst) == 0 {}
}

fn parked() {
    let flag = AtomicUsize::new(0);
    while flag.load(SeqCst) == 0 {
        thread::yield_now();
    }
}

fn nothing_to_choose() {
    choose(0);
}

fn carried() {
    static CARRIED: OnceLock<Mutex<u32>> = OnceLock::new();
    // Not a look-alike: it keeps its value from one execution to the next.
    *CARRIED.get_or_init(|| Mutex::new(7)).lock().unwrap() += 1;
    choose(2);
}

#[inline(never)]
#[allow(unconditional_recursion, reason = "that is the point")]
fn deep(n: &mut [u8; 100]) -> u8 {
    let mut more = [n[0].wrapping_add(1); 100];
    std::hint::black_box(&mut more);
    deep(&mut more).wrapping_add(more[1])
}

fn stack_overflow() {
    let n = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| n.store(1, SeqCst));
        if n.load(SeqCst) == 1 {
            std::hint::black_box(deep(&mut [0; 100]));
        }
    });
}

fn segmentation_fault() {
    let address = std::hint::black_box(8 as *mut u8);
    // SAFETY: none: the point is that it is wrong.
    unsafe { address.write_volatile(1) };
}

fn abort() {
    std::process::abort();
}

/// Panics when it is dropped.
pub(crate) struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("in a destructor");
    }
}

fn panic_while_unwinding() {
    let _bomb = Bomb;
    panic!("first");
}

const CASES: &[Case] = &[
    (
        "lost_update",
        "assertion",
        "main panicked at explorer/short/tests/findings.rs:",
        lost_update,
    ),
    (
        "panic_in_a_task",
        "panic",
        "second; then main panicked",
        panic_in_a_task,
    ),
    ("crossed_locks", "deadlock", "held by", crossed_locks),
    (
        "lock_taken_twice",
        "deadlock",
        "which it holds itself",
        lock_taken_twice,
    ),
    (
        "panic_of_an_unwanted_result",
        "panic",
        "in a destructor",
        unwanted::panic_of_an_unwanted_result,
    ),
    (
        "panic_of_an_unwanted_result_after_others",
        "panic",
        "it came out",
        unwanted::panic_of_an_unwanted_result_after_others,
    ),
    (
        "unwinding_of_an_unwanted_result",
        "panic",
        "main panicked: unwound without a message",
        unwanted::unwinding_of_an_unwanted_result,
    ),
    (
        "panic_of_an_unwanted_result_while_unwinding",
        "panic",
        "in a destructor",
        unwanted::panic_of_an_unwanted_result_while_unwinding,
    ),
    (
        "never_notified",
        "deadlock",
        "main waits to be notified by condvar 0.2",
        never_notified,
    ),
    ("endless", "step_limit", "limit of steps", endless),
    (
        "polite",
        "livelock",
        "main goes round: store of atomic 0.1 at explorer/short/tests/findings.rs:",
        polite,
    ),
    (
        "impolite",
        "unfair_spin",
        "never gives way to others, with `yield_now` or `spin_loop`; main goes round: load of atomic 0.1 at",
        impolite,
    ),
    (
        "parked",
        "livelock",
        "main goes round in a loop and waits for atomic 0.1 to be other than 0 at",
        parked,
    ),
    ("nothing_to_choose", "misuse", "choose(0)", nothing_to_choose),
    ("carried", "misuse", "already used before this execution", carried),
    (
        "stack_overflow",
        "crash",
        "main crashed: stack overflow",
        stack_overflow,
    ),
    (
        "segmentation_fault",
        "crash",
        "main crashed: segmentation fault",
        segmentation_fault,
    ),
    ("abort", "crash", "main crashed: abort", abort),
    (
        "panic_while_unwinding",
        "crash",
        "main crashed: abort",
        panic_while_unwinding,
    ),
];

/// Explorations of crashing tests take turns: a crash may leave the process's allocator in any state.
static TURN: StdMutex<()> = StdMutex::new(());

fn explorer(name: &str) -> Explorer {
    Explorer::new()
        .program(format!("findings::{name}"))
        .steps_per_execution(500)
}

/// The one place that explores: the events name it as the place where the test's body begins.
fn explore(explorer: Explorer, body: fn()) -> Report {
    explorer.explore(body)
}

fn only_finding(report: &Report) -> &Finding {
    match report.findings() {
        [finding] => finding,
        other => panic!("{} findings\n{report}", other.len()),
    }
}

/// Returns all of a finding, as bytes.
fn bytes(finding: &Finding) -> String {
    format!("{finding}{}", serde_json::to_string(finding).unwrap())
}

fn replayed(name: &str, body: fn(), schedule: &Schedule) -> String {
    let report = explore(explorer(name).replay(schedule.clone()), body);
    bytes(only_finding(&report))
}

#[test]
fn each_is_found_and_replays_byte_for_byte() {
    let _turn = TURN.lock().unwrap();
    for (name, kind, says, body) in CASES {
        let report = explore(explorer(name), *body);
        let finding = only_finding(&report);
        assert_eq!(finding.kind.as_str(), *kind, "{name}: {report}");
        assert!(finding.message.contains(says), "{name}: {report}");
        assert!(report.verdict().is_fail(), "{name}: {report}");
        let token = finding.schedule.token();
        let schedule = Schedule::from_token(&token).unwrap();
        let file = Schedule::from_json(&finding.schedule.to_json(None)).unwrap();
        assert_eq!(
            (&schedule, &file),
            (&finding.schedule, &finding.schedule),
            "{name}"
        );
        // State that is carried from one execution to the next shows only in the second.
        if *name != "carried" {
            for _ in 0..100 {
                assert_eq!(replayed(name, *body, &schedule), bytes(finding), "{name}");
            }
        }
    }
}

/// Set for the process that replays: the name of the case, and its token.
const REPLAY: &str = "FINDINGS_REPLAY";

#[test]
fn each_replays_in_another_process() {
    if let Ok(given) = std::env::var(REPLAY) {
        let (name, token) = given.split_once(' ').unwrap();
        let (.., body) = CASES.iter().find(|(known, ..)| *known == name).unwrap();
        let schedule = Schedule::from_token(token).unwrap();
        let again = replayed(name, *body, &schedule);
        for _ in 1..100 {
            assert_eq!(replayed(name, *body, &schedule), again, "{name}");
        }
        std::fs::write(std::env::var(format!("{REPLAY}_OUT")).unwrap(), again).unwrap();
        return;
    }
    let _turn = TURN.lock().unwrap();
    for (name, _, _, body) in CASES.iter().filter(|(name, ..)| *name != "carried") {
        let report = explore(explorer(name), *body);
        let finding = only_finding(&report);
        let out = std::env::temp_dir().join(format!("intermezzo-findings-{}-{name}", std::process::id()));
        let status = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "each_replays_in_another_process"])
            .env(REPLAY, format!("{name} {}", finding.schedule.token()))
            .env(format!("{REPLAY}_OUT"), &out)
            .status()
            .unwrap();
        assert!(status.success(), "{name}");
        assert_eq!(std::fs::read_to_string(&out).unwrap(), bytes(finding), "{name}");
        std::fs::remove_file(&out).unwrap();
    }
}

/// Set for the process whose heap breaks: the token to replay, or nothing.
const HEAP: &str = "FINDINGS_HEAP";

/// Frees a block twice, if the other task ran first. The C library holds the lock of its heap when it notices.
fn frees_twice() {
    let n = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| n.store(1, SeqCst));
        if n.load(SeqCst) == 1 {
            let layout = std::alloc::Layout::array::<u8>(4000).unwrap();
            // SAFETY: none: the point is that it is wrong. The second block keeps the first from the heap's end.
            unsafe {
                let [block, _behind] = std::hint::black_box([(); 2].map(|()| std::alloc::alloc(layout)));
                std::alloc::dealloc(block, layout);
                std::alloc::dealloc(std::hint::black_box(block), layout);
            }
        }
    });
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn a_broken_heap_is_reported_and_ends_the_process() {
    use std::os::unix::process::ExitStatusExt;
    if let Ok(token) = std::env::var(HEAP) {
        let explorer = match token.as_str() {
            "" => explorer("frees_twice").jobs(2),
            token => explorer("frees_twice").replay(Schedule::from_token(token).unwrap()),
        };
        explore(explorer, frees_twice);
        unreachable!("the process has ended");
    }
    // A process that hangs fails the test, in time.
    let says = |token: &str| {
        let child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "a_broken_heap_is_reported_and_ends_the_process",
                "--nocapture",
            ])
            .env(HEAP, token)
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let id = child.id() as i32;
        let (ended, waits) = std::sync::mpsc::channel::<()>();
        let watch = std::thread::spawn(move || {
            if waits.recv_timeout(std::time::Duration::from_secs(120)).is_err() {
                // SAFETY: a plain call; the child was not waited for yet.
                unsafe { libc::kill(id, libc::SIGKILL) };
            }
        });
        let output = child.wait_with_output().unwrap();
        ended.send(()).unwrap();
        watch.join().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{said}");
        assert!(said.contains("main crashed: abort"), "{said}");
        assert!(said.contains("left the process's heap locked"), "{said}");
        let token = said.split(|c: char| c.is_whitespace() || "'\"=`".contains(c));
        let token = token.into_iter().find(|word| word.starts_with("imz1."));
        token.unwrap_or_else(|| panic!("{said}")).to_owned()
    };
    let token = says("");
    let schedule = Schedule::from_token(&token).unwrap();
    assert_eq!(schedule.program, "findings::frees_twice");
    assert_eq!(says(&token), token);
}

#[test]
fn a_schedule_of_another_test_is_refused() {
    let report = explorer("lost_update").explore(lost_update);
    let schedule = only_finding(&report).schedule.clone();
    let error = explorer("other")
        .replay(schedule)
        .try_explore(lost_update)
        .unwrap_err();
    assert!(error.to_string().contains("findings::lost_update"), "{error}");
}

#[test]
fn a_changed_test_diverges() {
    let report = explorer("lost_update").explore(lost_update);
    let schedule = only_finding(&report).schedule.clone();
    let report = explorer("lost_update").replay(schedule).explore(|| {
        choose(3);
    });
    let finding = only_finding(&report);
    assert_eq!(finding.kind.as_str(), "divergence", "{report}");
    assert!(
        finding
            .message
            .contains("choice 1 should have been which task goes next, one of 2, but was a value"),
        "{report}"
    );
    assert!(!report.verdict().is_fail() && !report.verdict().is_pass());
}

#[test]
fn a_shortened_test_diverges() {
    let report = explorer("lost_update").explore(lost_update);
    let schedule = only_finding(&report).schedule.clone();
    let report = explorer("lost_update").replay(schedule).explore(|| ());
    assert_eq!(only_finding(&report).kind.as_str(), "divergence", "{report}");
    assert!(
        only_finding(&report)
            .message
            .contains("but was the end of the execution"),
        "{report}"
    );
}

#[test]
fn misuse_in_a_destructor_of_an_unwinding_task_is_contained() {
    static KEPT: StdMutex<Vec<Mutex<Vec<u8>>>> = StdMutex::new(Vec::new());
    struct Locks(Mutex<Vec<u8>>);
    impl Drop for Locks {
        fn drop(&mut self) {
            drop(self.0.lock());
        }
    }
    let report = Explorer::new().keep_going(true).explore(|| {
        let kept = KEPT.lock().unwrap().pop();
        let fresh = Mutex::new(vec![1]);
        drop(fresh.lock());
        KEPT.lock().unwrap().push(fresh);
        let _locks = kept.map(Locks);
        if choose(2) == 1 {
            panic!("unwinding");
        }
    });
    let kinds: Vec<_> = report
        .findings()
        .iter()
        .map(|finding| finding.kind.as_str().into_owned())
        .collect();
    assert_eq!(kinds, ["misuse"], "{report}");
}

#[test]
fn a_nondeterministic_test_diverges() {
    let calls = std::sync::atomic::AtomicUsize::new(0);
    let report = Explorer::new().explore(|| {
        for _ in 0..calls.fetch_add(1, SeqCst) {
            choose(2);
        }
        choose(3);
    });
    assert_eq!(only_finding(&report).kind.as_str(), "divergence", "{report}");
    assert!(!report.verdict().is_fail() && !report.verdict().is_pass());
}

/// A search that panics when it is asked for a decision after this many.
struct Faulty(usize);

impl intermezzo_explorer::search::Strategy for Faulty {
    fn next(
        &mut self,
        plan: &mut intermezzo_explorer::search::Plan,
        _: &intermezzo_explorer::trace::Trace,
    ) -> bool {
        plan.truncate(0);
        true
    }
    fn choose(&mut self, _: &intermezzo_explorer::search::ChoicePoint<'_>) -> Option<u32> {
        self.0 = self.0.checked_sub(1).expect("no more decisions");
        Some(0)
    }
    fn coverage(&self, _: bool) -> intermezzo_explorer::Coverage {
        intermezzo_explorer::Coverage::Exhaustive
    }
    fn status(&self, _: &intermezzo_explorer::search::SoFar<'_>) -> intermezzo_explorer::search::Status {
        intermezzo_explorer::search::Status::named("faulty")
    }
}

#[test]
fn a_panic_of_the_search_at_the_end_of_a_task_reaches_the_caller() {
    // The first decision with two remaining tasks comes when the first of three has ended.
    let body = || {
        let n = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| n.fetch_add(1, SeqCst));
            }
        });
    };
    let explore = |decisions| {
        let search = intermezzo_explorer::Strategy::custom(Faulty(decisions));
        let explorer = Explorer::new().executions(1).strategy(search);
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| explorer.explore(body)))
    };
    let panics: Vec<bool> = (0..6).map(|decisions| explore(decisions).is_err()).collect();
    assert!(panics.contains(&true), "{panics:?}");
    // The thread's stacks can be used again.
    assert!(Explorer::new().explore(body).verdict().is_pass());
}

#[test]
fn what_is_left_in_the_middle_is_dropped() {
    let drops = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    struct Counted(Arc<std::sync::atomic::AtomicUsize>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    let made = std::sync::atomic::AtomicUsize::new(0);
    let new = || {
        made.fetch_add(1, SeqCst);
        Counted(drops.clone())
    };
    let explorer = Explorer::new().set("stack", "forgotten=0").keep_going(true);
    let report = explorer.explore(|| {
        let _main = new();
        let (a, b) = (Mutex::new(new()), Mutex::new(new()));
        thread::scope(|scope| {
            scope.spawn(|| {
                let _one = new();
                let _a = a.lock().unwrap();
                let _b = b.lock().unwrap();
            });
            let _b = b.lock().unwrap();
            let _a = a.lock().unwrap();
        });
    });
    assert_eq!(
        (
            only_finding(&report).kind.as_str().as_ref(),
            only_finding(&report).count
        ),
        ("deadlock", 2),
        "{report}"
    );
    assert_eq!(
        drops.load(SeqCst),
        made.load(SeqCst),
        "each value is dropped, in {} executions",
        report.executions()
    );
}

#[test]
fn limits_are_kept_and_said() {
    let body = || {
        let n = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..4 {
                        n.fetch_add(1, SeqCst);
                    }
                });
            }
        });
    };
    for most in [1, 10, 100] {
        let report = Explorer::new().executions(most).explore(body);
        assert_eq!(report.executions(), most);
        assert!(report.verdict().is_pass());
        assert!(
            report
                .coverage()
                .to_string()
                .contains(&format!("the limit of {most} executions was reached")),
            "{report}"
        );
    }
    let report = Explorer::new().executions(0).explore(body);
    assert!(
        !report.verdict().is_pass() && !report.verdict().is_fail(),
        "nothing was run: {report}"
    );
    let report = Explorer::new().time(std::time::Duration::ZERO).explore(body);
    assert!(
        report.executions() < 34_650 && report.coverage().to_string().contains("seconds was reached"),
        "{report}"
    );
    let report = Explorer::new().preemptions(1).explore(body);
    assert_eq!(
        report.coverage().to_string(),
        "every schedule with at most 1 preemption was run: a failure that is left needs at least 2"
    );
}
