//! Tasks that do nothing visible for too long: they are found, named and ended, and the process continues.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

use super::kinds;
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::{Explorer, Report, Strategy, choose, thread};
use std::hint::black_box;
use std::io::{PipeReader, Read};
use std::os::fd::AsRawFd;
use std::sync::Mutex as StdMutex;
use std::time::Duration;

fn explorer() -> Explorer {
    Explorer::new().set("hang", "0.3")
}

fn message(report: &Report) -> &str {
    assert_eq!(kinds(report), ["hang"], "{report}");
    &report.findings()[0].message
}

#[inline(never)]
fn goes_round() {
    let mut n = 0_u64;
    loop {
        n = black_box(n + 1);
    }
}

#[inline(never)]
fn allocates_for_ever() {
    let mut lists = [const { Vec::<usize>::new() }; 16];
    // Nothing is written: so it is inside the allocator most of the time.
    for n in 0_usize.. {
        lists[n % 16] = black_box(Vec::with_capacity(1 + n % 5_000));
    }
}

/// A test that hangs only if the other task runs first.
fn hangs_in_one_order() {
    let n = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| n.store(1, SeqCst));
        scope.spawn(|| {
            if n.load(SeqCst) == 1 {
                goes_round();
            }
        });
    });
}

fn real_lock_across_a_point() {
    let (real, n) = (StdMutex::new(()), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let _held = real.lock();
                n.fetch_add(1, SeqCst);
            });
        }
    });
}

/// Asserts that the process works, after something was ended in the middle.
fn the_process_is_well() {
    let churn = || {
        (0..20_000_usize)
            .map(|n| vec![n; 1 + n % 700].len())
            .sum::<usize>()
    };
    let threads: Vec<_> = (0..3).map(|_| std::thread::spawn(churn)).collect();
    let sums = threads.into_iter().map(|thread| thread.join().unwrap());
    assert!(sums.into_iter().all(|sum| sum == churn()));
    let report = Explorer::new().explore(|| _ = choose(3));
    assert_eq!((report.findings().len(), report.executions()), (0, 3), "{report}");
}

#[test]
fn a_loop_without_a_visible_operation_is_found_with_its_place() {
    for jobs in [1, 2] {
        let report = explorer().jobs(jobs).explore(hangs_in_one_order);
        // Line tables name functions without their paths.
        let message = message(&report).replace("teardown::hangs::", "");
        assert!(
            message
                .starts_with("task 2 has run for 0.3 seconds without a visible operation, in `goes_round`"),
            "{report}"
        );
        let schedule = report.findings()[0].schedule.clone();
        assert!(!schedule.choices.is_empty());
        let again = explorer()
            .program(report.program())
            .replay(schedule)
            .explore(hangs_in_one_order);
        assert_eq!(kinds(&again), ["hang"], "{again}");
        the_process_is_well();
    }
}

#[test]
fn a_real_lock_held_across_a_schedule_point_is_named() {
    let report = explorer().explore(real_lock_across_a_point);
    let message = message(&report).replace("teardown::hangs::", "");
    // With debugging information, the place in the source follows.
    let begins = "task 2 has been blocked for 0.3 seconds by something that is not controlled, in ";
    assert!(message.starts_with(begins), "{message}");
    // The function, or with line tables alone the closure in it.
    assert!(
        message.contains("`real_lock_across_a_point`")
            || message.contains("a closure at explorer/short/tests/teardown/hangs.rs:"),
        "{message}"
    );
    let ends = ": a lock or a channel of std, most likely a `std::sync::Mutex` that another task holds while it waits for its turn";
    assert!(message.ends_with(ends), "{message}");
    the_process_is_well();
}

#[test]
fn a_sleep_of_std_is_told_from_a_lock() {
    let report = explorer().explore(|| std::thread::sleep(Duration::from_secs(3_600)));
    assert!(
        message(&report).ends_with("a sleep of std, or of the system"),
        "{report}"
    );
}

#[test]
fn a_system_call_that_waits_is_named() {
    let report = explorer().explore(|| {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let read = reader.read(&mut [0]);
        drop(writer);
        read.unwrap();
    });
    let ends =
        "the system call `read`, which is not a schedule point: other tasks cannot run until it returns";
    assert!(message(&report).ends_with(ends), "{report}");
    the_process_is_well();
}

/// Waits until something is in a pipe, for this long at most, in milliseconds.
fn poll(pipe: &PipeReader, limit: i32) -> i32 {
    let mut entry = libc::pollfd {
        fd: pipe.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    // SAFETY: one entry is there.
    unsafe { libc::poll(&raw mut entry, 1, limit) }
}

/// Signals end the call, and each further one is progress.
#[test]
fn a_system_call_that_signals_end_is_named() {
    for rounds_before in [0, 100] {
        let report = explorer().explore(|| {
            let (reader, _writer) = std::io::pipe().unwrap();
            let n = AtomicUsize::new(0);
            (0..rounds_before).for_each(|_| assert_eq!(poll(&reader, 1), 0));
            while poll(&reader, -1) < 0 {
                n.fetch_add(1, SeqCst);
            }
        });
        let ends =
            "the system call `poll`, which is not a schedule point: other tasks cannot run until it returns";
        assert!(message(&report).ends_with(ends), "{report}");
        the_process_is_well();
    }
}

/// A process that holds back the next signal of a thread for some time, as a machine without a free processor may.
struct HoldsBack(libc::pid_t);

impl HoldsBack {
    /// Holds back the next signal of this thread. `None` if the system does not allow that.
    fn own_signal() -> Option<HoldsBack> {
        // SAFETY: plain calls. The copy of the process makes calls of the system only, until it ends.
        unsafe {
            libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY, 0, 0, 0);
            let thread = libc::gettid();
            let (mut reader, writer) = std::io::pipe().unwrap();
            let process = libc::fork();
            if process == 0 {
                hold_back_signal(thread, writer.as_raw_fd());
            }
            drop(writer);
            let holds_back = HoldsBack(process);
            reader.read_exact(&mut [0]).ok().map(|()| holds_back)
        }
    }
}

impl Drop for HoldsBack {
    fn drop(&mut self) {
        // SAFETY: plain calls.
        unsafe {
            libc::kill(self.0, libc::SIGKILL);
            libc::waitpid(self.0, std::ptr::null_mut(), 0);
        }
    }
}

/// Writes to the descriptor, and holds back the next signal of the thread. Ends the process.
///
/// # Safety
/// The process has no other thread.
unsafe fn hold_back_signal(thread: libc::pid_t, begun: libc::c_int) -> ! {
    // SAFETY: the calls get valid arguments.
    unsafe {
        if libc::ptrace(libc::PTRACE_SEIZE, thread, 0, 0) != 0
            || libc::write(begun, [1].as_ptr().cast(), 1) != 1
        {
            libc::_exit(1);
        }
        let (mut status, mut delay) = (0, 800_000);
        while libc::waitpid(thread, &raw mut status, libc::__WALL) == thread && libc::WIFSTOPPED(status) {
            // Longer than the watchdog waits for an answer. Later signals are no longer about the call.
            libc::usleep(delay);
            delay = 0;
            libc::ptrace(libc::PTRACE_CONT, thread, 0, libc::WSTOPSIG(status));
        }
        libc::_exit(0);
    }
}

/// The signal that ends the call may come late: the call does not return then, either.
#[test]
fn a_system_call_that_a_late_signal_ends_does_not_return() {
    let holds_back = StdMutex::new(None);
    let report = explorer().explore(|| {
        // Once, because a failure is replayed.
        if holds_back.lock().unwrap().is_some() {
            return;
        }
        *holds_back.lock().unwrap() = HoldsBack::own_signal();
        if holds_back.lock().unwrap().is_none() {
            #[expect(clippy::print_stderr, reason = "a part that is left out is named")]
            {
                eprintln!("the system does not let a process hold back a signal: this is not tested");
            }
            return;
        }
        let (reader, _writer) = std::io::pipe().unwrap();
        assert!(poll(&reader, -1) >= 0, "{}", std::io::Error::last_os_error());
    });
    if holds_back.into_inner().unwrap().is_some() {
        assert!(message(&report).contains("the system call `poll`"), "{report}");
    }
    the_process_is_well();
}

#[test]
fn a_loop_of_short_waits_is_named() {
    let report = explorer().explore(|| {
        let (reader, _writer) = std::io::pipe().unwrap();
        while poll(&reader, 1) <= 0 {}
    });
    assert!(message(&report).contains("main has "), "{report}");
    the_process_is_well();
}

/// Waits that end are progress, if something visible is done in between.
#[test]
fn waits_that_end_are_no_hang() {
    // Far longer than a wait, because other work may delay that, and shorter than all of them.
    let explorer = explorer().set("hang", "1.5");
    let report = explorer.explore(|| {
        let (reader, _writer) = std::io::pipe().unwrap();
        let n = AtomicUsize::new(0);
        for _ in 0..20 {
            poll(&reader, 100);
            n.fetch_add(1, SeqCst);
        }
    });
    assert_eq!((kinds(&report), report.executions()), (vec![], 1), "{report}");
}

/// The allocator's locks are free again, whatever the task was doing.
#[test]
fn a_loop_that_allocates_is_ended_outside_the_allocator() {
    for _ in 0..3 {
        let report = explorer().explore(allocates_for_ever);
        assert!(message(&report).contains("allocates_for_ever"), "{report}");
        the_process_is_well();
    }
}

#[test]
fn executions_before_the_search_and_after_it_are_watched_too() {
    let report = explorer().set("warm_up", 1).explore(goes_round);
    assert_eq!(
        (kinds(&report), report.executions()),
        (vec!["hang".into()], 1),
        "{report}"
    );
    let report = explorer().set("stack", "forgotten=0").explore(|| {
        let _end = super::OnDrop(|| {
            if std::thread::panicking() {
                goes_round();
            }
        });
        choose(0);
    });
    assert_eq!(kinds(&report), ["misuse", "hang"], "{report}");
}

/// Many executions, each of which is short, are no hang; nor is one that does visible things all the time.
#[test]
fn what_goes_on_is_no_hang() {
    let long = || {
        let n = AtomicUsize::new(0);
        (0..400_000).for_each(|_| _ = n.fetch_add(1, SeqCst));
    };
    let report = Explorer::new()
        .set("hang", "0.1")
        .steps_per_execution(1_000_000)
        .explore(long);
    assert_eq!((kinds(&report), report.executions()), (vec![], 1), "{report}");
    let report = Explorer::new()
        .set("hang", "0.1")
        .strategy(Strategy::random())
        .executions(20_000)
        .explore(|| _ = choose(2));
    assert_eq!(
        (kinds(&report), report.executions()),
        (vec![], 20_000),
        "{report}"
    );
}

/// An execution that does visible things all the time, and takes a second.
fn takes_a_second() {
    let n = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..200 {
                std::thread::sleep(Duration::from_millis(5));
                n.fetch_add(1, SeqCst);
            }
        });
        scope.spawn(|| n.store(1, SeqCst));
    });
}

#[test]
fn an_execution_that_takes_too_long_is_ended_with_its_task_and_place() {
    let explorer = || Explorer::new().set("hang", "10,execution=0.2");
    let report = explorer().explore(takes_a_second);
    let message = message(&report);
    let begins = "the execution took longer than its limit of 0.2 seconds: task 1 ran last, and was ended before the \
                  operation at explorer/short/tests/teardown/hangs.rs:";
    assert!(message.starts_with(begins), "{message}");
    assert_eq!(report.executions(), 1, "{report}");
    // The other limit may stay as it is.
    assert!(
        report.to_string().contains("INTERMEZZO_HANG=execution=600"),
        "{report}"
    );
    // However fast it is, the replay goes on until its own time is over.
    let schedule = report.findings()[0].schedule.clone();
    let replay = explorer().program(report.program()).replay(schedule);
    let again = replay.explore(takes_a_second);
    assert_eq!(kinds(&again), ["hang"], "{again}");
    the_process_is_well();
    // Where there is time enough, all is well; and the process goes on after those that take too long.
    let report = Explorer::new()
        .set("hang", "execution=600")
        .executions(1)
        .explore(takes_a_second);
    assert_eq!(kinds(&report).len(), 0, "{report}");
    let report = explorer().keep_going(true).executions(3).explore(takes_a_second);
    assert_eq!(
        (kinds(&report), report.executions()),
        (vec!["hang".into()], 3),
        "{report}"
    );
}

/// Neither is the time without a visible operation longer than that of the execution.
#[test]
fn a_task_that_does_nothing_visible_ends_with_the_time_of_its_execution() {
    let report = Explorer::new()
        .set("hang", "none")
        .set("hang", "execution=0.2")
        .explore(goes_round);
    let begins = "main has run for 0.2 seconds without a visible operation";
    assert!(message(&report).starts_with(begins), "{report}");
}

#[test]
fn the_watchdog_can_be_switched_off() {
    let report = Explorer::new()
        .set("hang", "none")
        .explore(|| std::thread::sleep(Duration::from_millis(500)));
    assert_eq!(kinds(&report).len(), 0, "{report}");
}
