//! Every standard and every order of operations, where the memory is weak.

use crate::weak;
use intermezzo_explorer::sync::atomic::{AtomicBool, AtomicU8, Ordering::*};
use intermezzo_explorer::sync::{Condvar, Mutex};
use intermezzo_explorer::{Explorer, Verdict};
use intermezzo_refinement::{Granularity, ObservationSet, Progress, Refinement, Same, fresh, refine};

/// A value, and a flag that says that it is there.
struct Message {
    value: AtomicU8,
    is_there: AtomicBool,
    releases: bool,
}

/// Writes and reads in one task each: if the flag is seen, `write` happens before `read`, so that must not be 0.
fn message(releases: bool) -> Refinement<Message> {
    refine(move || Message {
        value: AtomicU8::new(0),
        is_there: AtomicBool::new(false),
        releases,
    })
    .op("write", (), |message, ()| message.value.store(1, Relaxed))
    .op("announce", (), |message: &Message, ()| {
        let order = if message.releases { Release } else { Relaxed };
        message.is_there.store(true, order);
    })
    .op("look", (), |message, ()| message.is_there.load(Acquire))
    .op("read", (), |message, ()| message.value.load(Relaxed))
    .pin(|scenario| {
        scenario
            .task(|task| task.op("write", ()).op("announce", ()))
            .task(|task| task.op("look", ()).op("read", ()))
    })
    .scenarios(0)
    .monitors("none")
    .explorer(weak(1))
}

#[test]
fn a_relaxed_message_passes_where_memory_is_strong() {
    message(false).explorer(|explorer| explorer).check();
}

/// The test above, in a process whose environment asks for the model.
#[test]
fn the_environment_of_the_process_counts() {
    let run = |environment: &str| {
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "criteria::a_relaxed_message_passes_where_memory_is_strong",
            ])
            .env("INTERMEZZO_ENVIRONMENT", environment)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains("running 1 test"), "{text}");
        (output.status.success(), text)
    };
    assert!(run("calm").0);
    let (passes, text) = run("stale_reads=1");
    assert!(!passes && text.contains("keeps happens-before"), "{text}");
    let (passes, text) = run("stale_reeds=1");
    assert!(!passes && text.contains("environment"), "{text}");
}

#[test]
fn each_standard_tells_whether_a_message_is_released() {
    for (releases, verdict) in [(true, Verdict::Pass), (false, Verdict::Fail)] {
        let observed: ObservationSet = message(releases).observe().unwrap();
        let modelled = message(releases)
            .spec(|| (0, false))
            .means("write", |state: &mut (u8, bool), (): &()| state.0 = 1)
            .means("announce", |state: &mut (u8, bool), (): &()| state.1 = true)
            .means("look", |state: &mut (u8, bool), (): &()| state.1)
            .means("read", |state: &mut (u8, bool), (): &()| state.0);
        for report in [
            message(releases).run(),
            message(releases).orders(0).run(),
            message(releases).granularity(Granularity::Coarse).run(),
            message(releases).granularity(Granularity::All).run(),
            message(releases).against(observed).run(),
            message(releases).same(Same::Sequential).run(),
            message(releases).same(Same::Quiescent).run(),
            modelled.run(),
        ] {
            assert_eq!(report.verdict(), verdict, "releases: {releases}: {report}");
            assert!(report.by_happens_before);
        }
    }
}

/// A load that comes later in the steps may read an old value, as long as nothing tells its task.
#[test]
fn steps_are_no_time() {
    let register = || {
        refine(|| AtomicU8::new(0))
            .op("write", fresh::<u8>(), |register, value| {
                register.store(value, Relaxed)
            })
            .op("read", (), |register, ()| register.load(Relaxed))
            .monitors("none")
            .explorer(weak(2))
    };
    let report = register().scenarios(30).run();
    assert_eq!(report.verdict(), Verdict::Pass, "{report}");
    assert!(report.short.is_empty(), "{report}");
}

/// A flag and a condition: a waiter that reads an old flag before it waits misses the wake-up.
#[test]
fn an_operation_that_waits_for_ever_is_found() {
    struct Event {
        is_set: AtomicBool,
        lock: Mutex<()>,
        changed: Condvar,
        locked: bool,
    }
    let event = |locked: bool| {
        refine(move || Event {
            is_set: AtomicBool::new(false),
            lock: Mutex::new(()),
            changed: Condvar::new(),
            locked,
        })
        .op("set", (), |event: &Event, ()| {
            if event.locked {
                let _lock = event.lock.lock().unwrap();
                event.is_set.store(true, Relaxed);
            } else {
                event.is_set.store(true, Relaxed);
                drop(event.lock.try_lock());
            }
            event.changed.notify_all();
        })
        .op("wait", (), |event, ()| {
            let mut lock = event.lock.lock().unwrap();
            while !event.is_set.load(Relaxed) {
                lock = event.changed.wait(lock).unwrap();
            }
        })
        .threads(2..=2)
        .ops(1..=1)
        .scenarios(8)
        .monitors("none")
        .explorer(weak(1))
    };
    let right = event(true).run();
    assert_eq!(right.verdict(), Verdict::Pass, "{right}");
    let wrong = event(false).run();
    assert_eq!(wrong.verdict(), Verdict::Fail, "{wrong}");
    assert!(wrong.to_string().contains("wait() waits"), "{wrong}");
}

/// Its runs are sequentially consistent, as the reference says.
#[test]
fn progress_is_checked_without_the_model() {
    let report = message(true).progress(Progress::LockFree).run();
    assert_eq!(report.verdict(), Verdict::Pass, "{report}");
    assert!(report.solo_runs > 0, "{report}");
}

/// The schedule of a failure under the model shows it again.
#[test]
fn a_failure_replays() {
    let report = message(false).run();
    let failure = report.failure.as_ref().unwrap();
    assert_eq!(failure.schedule.environment.stale_reads, 1);
    // The schedule brings the environment along.
    let again = message(false)
        .explorer(|explorer: Explorer| explorer)
        .replay(&failure.schedule.token())
        .run();
    let told = again.failure.as_ref().expect("it fails again");
    assert_eq!(
        (&told.message, &told.happens_before),
        (&failure.message, &failure.happens_before)
    );
    assert_eq!(told.interleaving(100), failure.interleaving(100));
}
