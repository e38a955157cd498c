//! Processes that end in the middle of an exploration: by `exit`, by a signal, by Ctrl-C. Each test runs itself in a
//! process of its own.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
#![allow(
    clippy::print_stdout,
    reason = "how a child process tells its parent what it does"
)]

use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::AcqRel, Ordering::Relaxed, Ordering::SeqCst};
use intermezzo_explorer::{Explorer, Report, Schedule, Strategy, choose, preemptions_off, thread};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Set for the process that ends: the way to end, and the directory for its files.
const ENDS: &str = "HARDSHIPS_ENDS";

/// Runs a test of this binary in a process of its own, which gets `how` and a directory in its environment.
fn process(test: &str, how: &str, directory: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("ends::{test}"), "--nocapture"])
        .env(ENDS, how)
        .env(format!("{ENDS}_IN"), directory)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Returns the way to end and the directory, in the process that is to end.
fn asked() -> Option<(String, PathBuf)> {
    let how = std::env::var(ENDS).ok()?;
    Some((how, std::env::var_os(format!("{ENDS}_IN")).unwrap().into()))
}

fn directory(name: &str) -> PathBuf {
    let directory = std::env::temp_dir().join(format!("intermezzo-ends-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    directory
}

fn explorer(directory: &Path) -> Explorer {
    Explorer::new()
        .program("ends")
        .set("journal", directory.display())
}

/// Calls `happens` in one of many executions only: when both tasks have taken the second value of three, and task 2 is
/// first.
fn in_one_execution(happens: impl Fn() + Sync) {
    let (n, values) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for task in 1..=2 {
            let (n, values, happens) = (&n, &values, &happens);
            scope.spawn(move || {
                values.fetch_add(choose(3) as usize, SeqCst);
                let before = n.fetch_add(1, SeqCst);
                if task == 2 && before == 0 && values.load(SeqCst) == 3 {
                    happens();
                }
            });
        }
    });
}

/// Returns the schedule with which a process says that it can be replayed.
fn schedule_in(told: &str) -> Schedule {
    let token = told
        .split("INTERMEZZO_REPLAY=")
        .nth(1)
        .and_then(|rest| rest.split(' ').next());
    Schedule::from_token(token.unwrap()).unwrap()
}

/// `true` if the execution of this schedule is the one in which it happens.
fn happens_in(schedule: Schedule) -> bool {
    let happened = std::sync::atomic::AtomicBool::new(false);
    Explorer::new()
        .program("ends")
        .set("journal", "none")
        .replay(schedule)
        .explore(|| in_one_execution(|| happened.store(true, std::sync::atomic::Ordering::Relaxed)));
    happened.into_inner()
}

fn read(stream: &mut Option<impl Read>) -> String {
    let mut text = String::new();
    stream.as_mut().unwrap().read_to_string(&mut text).unwrap();
    text
}

#[test]
fn a_call_of_exit_is_told_with_its_schedule() {
    if let Some((_, directory)) = asked() {
        explorer(&directory).explore(|| in_one_execution(|| std::process::exit(0)));
        unreachable!("the process has ended");
    }
    let directory = directory("exit");
    let mut child = process("a_call_of_exit_is_told_with_its_schedule", "exit", &directory);
    let told = read(&mut child.stderr);
    assert_eq!(child.wait().unwrap().code(), Some(101), "{told}");
    assert!(
        told.starts_with("error[exit]: `ends` called `exit` in the middle of an execution"),
        "{told}"
    );
    assert!(happens_in(schedule_in(&told)), "{told}");
    assert_eq!(
        std::fs::read_dir(&directory).unwrap().count(),
        0,
        "the journal is gone"
    );
    std::fs::remove_dir(&directory).unwrap();
}

/// Two tasks that each read what the other stores, and then draw a value. Calls `happens` if both have drawn 1, and both
/// miss the other's store, if `has_memory_model`.
fn in_an_execution_with_regions(has_memory_model: bool, happens: impl Fn() + Sync) {
    let (stores, missed) = ([AtomicUsize::new(0), AtomicUsize::new(0)], AtomicUsize::new(0));
    thread::scope(|scope| {
        for task in 0..2 {
            let (stores, missed, happens) = (&stores, &missed, &happens);
            scope.spawn(move || {
                preemptions_off(|| {
                    stores[task].store(1, Relaxed);
                    missed.fetch_add(0, Relaxed);
                });
                let misses = stores[1 - task].load(Relaxed) == 0 || !has_memory_model;
                let before = missed.fetch_add(usize::from(misses && choose(2) == 1), Relaxed);
                if misses && before == 1 {
                    happens();
                }
            });
        }
    });
}

#[test]
fn a_journal_has_the_points_that_were_closed() {
    let settings = [
        ("dpor", "stale_reads=1", true),
        ("none", "stale_reads=1", true),
        ("none", "calm", false),
    ];
    let explorer_with = |directory: &Path, at: usize| {
        let (reduction, environment, _) = settings[at];
        explorer(directory)
            .set("reduction", reduction)
            .set("environment", environment)
    };
    if let Some((how, directory)) = asked() {
        let at: usize = how.parse().unwrap();
        explorer_with(&directory, at)
            .explore(|| in_an_execution_with_regions(settings[at].2, || std::process::exit(0)));
        unreachable!("the process has ended");
    }
    for (at, (.., has_memory_model)) in settings.into_iter().enumerate() {
        let directory = directory(&format!("closed-{at}"));
        let mut child = process(
            "a_journal_has_the_points_that_were_closed",
            &at.to_string(),
            &directory,
        );
        let told = read(&mut child.stderr);
        assert_eq!(child.wait().unwrap().code(), Some(101), "{told}");
        let happened = std::sync::atomic::AtomicBool::new(false);
        let report = explorer_with(&directory, at)
            .set("journal", "none")
            .replay(schedule_in(&told))
            .explore(|| {
                in_an_execution_with_regions(has_memory_model, || {
                    happened.store(true, std::sync::atomic::Ordering::Relaxed);
                });
            });
        assert!(happened.into_inner(), "{at}: {told}\n{report}");
        std::fs::remove_dir_all(&directory).unwrap();
    }
}

#[test]
fn an_execution_outlives_its_process() {
    if let Some((_, directory)) = asked() {
        let killed = || {
            println!("now");
            loop {
                std::thread::park();
            }
        };
        explorer(&directory).explore(|| in_one_execution(killed));
        unreachable!("the process is killed");
    }
    let directory = directory("killed");
    let mut child = process("an_execution_outlives_its_process", "killed", &directory);
    let mut said = String::new();
    let mut byte = [0];
    while !said.ends_with("now\n") {
        assert_eq!(
            child.stdout.as_mut().unwrap().read(&mut byte).unwrap(),
            1,
            "{said}"
        );
        said.push(byte[0].into());
    }
    // While its process runs, it is not unfinished.
    assert_eq!(intermezzo_explorer::unfinished(&directory).len(), 0);
    child.kill().unwrap();
    child.wait().unwrap();
    let [left] = &intermezzo_explorer::unfinished(&directory)[..] else {
        panic!("one execution is left");
    };
    assert_eq!(left.schedule.program, "ends");
    assert!(happens_in(left.schedule.clone()), "{:?}", left.schedule);
    // The next run of the test reports it, once.
    let noted = |report: &Report| {
        let begins = "an earlier run of this test ended in the middle of an execution";
        report
            .notes()
            .iter()
            .filter(|note| note.starts_with(begins))
            .count()
    };
    let again = || explorer(&directory).explore(|| in_one_execution(|| {}));
    assert_eq!(noted(&again()), 1);
    assert_eq!(noted(&again()), 0);
    assert_eq!(intermezzo_explorer::unfinished(&directory).len(), 0);
}

/// A journal with one flipped bit is refused, and kept under another name. Without its checksum many would be replayed as
/// other executions.
#[test]
fn a_damaged_journal_is_told_and_kept() {
    if let Some((_, directory)) = asked() {
        let dies = || {
            // SAFETY: a plain call; 9 ends the process at once.
            unsafe { raise(9) };
        };
        explorer(&directory).explore(|| in_one_execution(dies));
        unreachable!("the process is killed");
    }
    let first = directory("damaged");
    let mut child = process("a_damaged_journal_is_told_and_kept", "killed", &first);
    assert!(!child.wait().unwrap().success());
    let [left] = &intermezzo_explorer::unfinished(&first)[..] else {
        panic!("one execution is left");
    };
    let whole = std::fs::read(&left.file).unwrap();
    let choices = left.schedule.choices.len();
    // The bits of the choices begin at this byte; those of a choice's alternatives and of the taken one are changed.
    for at in (0..choices).flat_map(|choice| [1, 4].map(|byte| 4096 + 8 * choice + byte)) {
        let directory = directory(&format!("damaged-{at}"));
        let file = directory.join("1-1.journal");
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        std::fs::write(&file, &bytes).unwrap();
        let run = || explorer(&directory).explore(|| in_one_execution(|| {}));
        let report = run();
        let [note] = report.notes() else {
            panic!("{:?}", report.notes());
        };
        let (file, moved) = (file.display(), directory.join("1-1.journal.damaged"));
        let told = format!(
            "an earlier run of tests ended in the middle of an execution, which cannot be run again: {file} is damaged \
             (its checksum is wrong); it is now called {} and is not read again: delete it",
            moved.display()
        );
        assert_eq!(*note, told);
        assert_eq!(std::fs::read(moved).unwrap(), bytes);
        assert_eq!(run().notes().len(), 0);
        std::fs::remove_dir_all(&directory).unwrap();
    }
    std::fs::remove_dir_all(&first).unwrap();
}

/// Ctrl-C ends the exploration with a summary, and with its checkpoint; one that begins later ends at once.
#[test]
fn an_interrupt_ends_explorations_with_what_they_have() {
    let many = || {
        let n = AtomicUsize::new(0);
        thread::scope(|scope| {
            (0..4).for_each(|_| drop(scope.spawn(|| (0..6).for_each(|_| _ = n.fetch_add(1, SeqCst)))));
        });
    };
    if let Some((_, directory)) = asked() {
        let mut interrupted = false;
        // A process in the background is started with this signal ignored, which the explorer respects.
        // SAFETY: a plain call; 0 is the default action.
        unsafe { signal(2, 0) };
        let report = explorer(&directory)
            .checkpoint(directory.join("checkpoint"))
            .on_progress(move |progress| {
                if progress.executions > 1_000 && !std::mem::replace(&mut interrupted, true) {
                    // SAFETY: a plain call.
                    assert_eq!(unsafe { raise(2) }, 0);
                }
            })
            .explore(many);
        assert!(
            report.findings().is_empty() && report.executions() > 1_000,
            "{report}"
        );
        println!("{} {:?}", report.verdict().is_pass(), report.coverage());
        let next = explorer(&directory).explore(|| {});
        println!("{} {}", next.verdict().is_pass(), next.executions());
        return;
    }
    let directory = directory("interrupted");
    let mut child = process(
        "an_interrupt_ends_explorations_with_what_they_have",
        "sigint",
        &directory,
    );
    let said = read(&mut child.stdout);
    assert!(child.wait().unwrap().success(), "{said}");
    let mut lines = said
        .lines()
        .filter_map(|line| line.find("false").map(|at| &line[at..]));
    assert!(lines.next().unwrap().contains("it was interrupted"), "{said}");
    assert_eq!(lines.next(), Some("false 0"), "{said}");
    assert!(directory.join("checkpoint").exists());
    std::fs::remove_dir_all(&directory).unwrap();
}

/// Ctrl-C in the part of a search under weak memory leaves what the part before has covered.
#[test]
fn an_interrupt_ends_the_part_under_weak_memory() {
    const NAME: &str = "an_interrupt_ends_the_part_under_weak_memory";
    if let Some((_, directory)) = asked() {
        let mut interrupted = false;
        // SAFETY: as above.
        unsafe { signal(2, 0) };
        let report = explorer(&directory)
            .strategy(Strategy::auto())
            .executions(4_000)
            .on_progress(move |progress| {
                // A quarter is for weak memory.
                if progress.executions > 3_000 && !std::mem::replace(&mut interrupted, true) {
                    // SAFETY: a plain call.
                    assert_eq!(unsafe { raise(2) }, 0);
                }
            })
            .explore(|| {
                let n = AtomicUsize::new(0);
                thread::scope(|scope| {
                    (0..4)
                        .for_each(|_| drop(scope.spawn(|| (0..6).for_each(|_| _ = n.fetch_add(1, AcqRel)))));
                });
            });
        println!(
            "{:?} {} {:?} {:?}",
            report.verdict(),
            report.executions(),
            report.weak_memory(),
            report.coverage()
        );
        return;
    }
    let directory = directory("interrupted-weak");
    let mut child = process(NAME, "sigint", &directory);
    let said = read(&mut child.stdout);
    assert!(child.wait().unwrap().success(), "{said}");
    for says in ["Inconclusive 3000 None ", "it was interrupted under weak memory"] {
        assert!(said.contains(says), "{says:?} is not in:\n{said}");
    }
    std::fs::remove_dir_all(&directory).unwrap();
}

/// Ctrl-C in a search in which fewer yields count leaves what the search before has covered, and no other follows.
#[test]
fn an_interrupt_ends_the_searches_with_more_yields() {
    const NAME: &str = "an_interrupt_ends_the_searches_with_more_yields";
    if let Some((_, directory)) = asked() {
        let waits = || {
            let (held, weaker) = (AtomicUsize::new(0), AtomicUsize::new(0));
            thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| {
                        for _ in 0..5 {
                            if held.swap(1, SeqCst) == 0 {
                                held.store(0, SeqCst);
                                break;
                            }
                            thread::yield_now();
                        }
                        weaker.fetch_add(1, AcqRel);
                    });
                }
            });
        };
        let first = explorer(&directory)
            .strategy(Strategy::named("auto(fair_yields=1,stale_reads=0)").unwrap())
            .executions(100_000)
            .explore(waits);
        let before = first.executions();
        let mut interrupted = false;
        // SAFETY: as above.
        unsafe { signal(2, 0) };
        let report = explorer(&directory)
            .strategy(Strategy::auto())
            .executions(200_000)
            .on_progress(move |progress| {
                if progress.executions > before + 100 && !std::mem::replace(&mut interrupted, true) {
                    // SAFETY: a plain call.
                    assert_eq!(unsafe { raise(2) }, 0);
                }
            })
            .explore(waits);
        println!(
            "{:?} {} {:?} {:?}",
            report.verdict(),
            report.executions() == before,
            report.weak_memory(),
            report.coverage()
        );
        return;
    }
    let directory = directory("interrupted-yields");
    let mut child = process(NAME, "sigint", &directory);
    let said = read(&mut child.stdout);
    assert!(child.wait().unwrap().success(), "{said}");
    for says in [
        "Inconclusive true None ",
        "it was interrupted with `fair_yields=4`",
    ] {
        assert!(said.contains(says), "{says:?} is not in:\n{said}");
    }
    std::fs::remove_dir_all(&directory).unwrap();
}

unsafe extern "C" {
    fn raise(signal: i32) -> i32;
    fn signal(signal: i32, action: usize) -> usize;
}
