//! Executions that end in all ways: their findings, which outlive them.

use super::{Notes, alone, explored, explorer};
use intermezzo_engine::runtime::panics::{set_hook, take_hook};
use intermezzo_explorer::report::{Finding, Report};
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::{LazyLock, Mutex, OnceLock, mpsc};
use intermezzo_explorer::thread;
use intermezzo_explorer::{Coverage, Explorer, Schedule};
use intermezzo_sdk::FindingKind;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any, resume_unwind};
use std::sync::Arc;

/// Two tasks that add to a number, each with memory of its own, before `end` runs in the first.
fn race(end: impl FnOnce(usize)) {
    let n = Arc::new(AtomicUsize::new(0));
    let other = thread::Builder::new()
        .name(format!("the task of {n:?}"))
        .spawn({
            let n = n.clone();
            move || {
                let words = vec![String::from("one"); 10];
                let seen = n.load(SeqCst);
                n.store(seen + words.len() / 10, SeqCst);
            }
        })
        .unwrap();
    let words = vec![String::from("two"); 10];
    let seen = n.load(SeqCst);
    n.store(seen + words.len() / 10, SeqCst);
    other.join().unwrap();
    let n = n.load(SeqCst);
    end(n);
}

/// The error that a test has: its report is made in all ways, and it is replayed, with another exploration in between.
fn the_error(settings: impl Fn(Explorer) -> Explorer, test: impl Fn() + Send + Sync + Copy) -> Finding {
    let report = explored(settings(explorer()).record(true), test);
    let found = error_of(&report).clone();
    assert!(!serde_json::to_string(&report).unwrap().is_empty());
    let between = explored(explorer().preemptions(1), || race(|_| {}));
    assert!(between.verdict().is_pass(), "{between}");
    let schedule: Schedule = found.schedule.clone();
    let again = explored(settings(explorer()).replay(schedule), test);
    let second = error_of(&again);
    assert_eq!(
        (&found.kind, told(&found)),
        (&second.kind, told(second)),
        "{report}\n{again}"
    );
    found
}

/// The message, without the place where a hang was ended: the clock decides it.
fn told(found: &Finding) -> &str {
    match found.kind {
        FindingKind::Hang => found.message.split(", in ").next().unwrap_or_default(),
        _ => &found.message,
    }
}

fn error_of(report: &Report) -> &Finding {
    let error = report.findings().iter().find(|finding| finding.is_error());
    error.unwrap_or_else(|| panic!("{report}"))
}

fn kind_and_text(test: impl Fn() + Send + Sync + Copy) -> (FindingKind, String) {
    let found = the_error(|explorer| explorer, test);
    (found.kind, found.message)
}

#[test]
fn panics_with_all_payloads() {
    let _alone = alone();
    let (kind, text) = kind_and_text(|| race(|n| assert!(n == 2, "the text of {}", vec![n; 2].len())));
    assert_eq!(kind, FindingKind::Panic);
    assert!(text.contains("the text of 2"), "{text}");
    let (kind, _) = kind_and_text(|| {
        race(|n| {
            if n != 2 {
                panic_any(vec![n; 100])
            }
        })
    });
    assert_eq!(kind, FindingKind::Panic);
    let (_, text) = kind_and_text(|| {
        race(|n| {
            if n != 2 {
                resume_unwind(Box::new(format!("{n}")))
            }
        })
    });
    assert!(text.contains("without a message"), "{text}");
    // In another task, with the payload left in its room.
    let (_, text) = kind_and_text(|| {
        race(|n| drop(thread::spawn(move || assert!(n == 2, "{}", format!("left {n}")))));
    });
    assert!(text.contains("left 1"), "{text}");
    // Caught, and thrown again from a destructor's task.
    let (_, text) = kind_and_text(|| {
        race(|n| {
            let error = thread::spawn(move || assert!(n == 2, "joined {n}")).join();
            if let Err(error) = error {
                resume_unwind(error);
            }
        });
    });
    assert!(text.contains("joined 1"), "{text}");
}

/// Panics that are laid down when their task is suspended.
#[test]
fn panics_that_wait() {
    let _alone = alone();
    struct Adds(Arc<AtomicUsize>);
    impl Drop for Adds {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
            self.0.fetch_add(1, SeqCst);
        }
    }
    let report = explored(explorer(), || {
        let n = Arc::new(AtomicUsize::new(0));
        let tasks = [0, 1].map(|number| {
            let adds = Adds(n.clone());
            thread::spawn(move || {
                let _adds = adds;
                let _ = catch_unwind(AssertUnwindSafe(|| {
                    let _more = Adds(_adds.0.clone());
                    panic!("panic {number}");
                }));
            })
        });
        tasks.into_iter().for_each(|task| task.join().unwrap());
        assert_eq!(n.load(SeqCst), 8);
    });
    assert!(report.verdict().is_pass(), "{report}");
}

#[test]
fn deadlocks_with_tasks_left() {
    let _alone = alone();
    let deadlock = || {
        let locks = Arc::new((Mutex::new(vec![1]), Mutex::new(vec![2])));
        let other = thread::spawn({
            let locks = locks.clone();
            move || {
                let mut one = locks.0.lock().unwrap();
                one.push(1);
                locks.1.lock().unwrap().push(1);
            }
        });
        {
            let mut two = locks.1.lock().unwrap();
            two.push(2);
            locks.0.lock().unwrap().push(2);
        }
        other.join().unwrap();
    };
    assert_eq!(kind_and_text(deadlock).0, FindingKind::Deadlock);
    // Tasks are unwound, not forgotten.
    let unwound = the_error(|explorer| explorer.set("stack", "forgotten=0"), deadlock);
    assert_eq!(unwound.kind, FindingKind::Deadlock);
}

#[test]
fn misuses() {
    let _alone = alone();
    let (kind, text) = kind_and_text(|| race(|n| assert_eq!(intermezzo_explorer::choose(n - 1), 0)));
    assert_eq!(kind, FindingKind::Misuse);
    assert!(text.contains("choose(0)"), "{text}");
}

#[test]
fn double_frees() {
    let _alone = alone();
    let twice = || {
        race(|n| {
            let block = Box::new([n; 5]);
            let again = std::ptr::from_ref(&*block).cast_mut();
            drop(block);
            if n == 1 {
                // SAFETY: none. This is what the arena has to report.
                drop(unsafe { Box::from_raw(black_box(again)) });
            }
        });
    };
    let (kind, text) = kind_and_text(twice);
    assert_eq!(
        (kind, text.as_str()),
        (FindingKind::Misuse, "memory is freed twice")
    );
    let unwound = the_error(|explorer| explorer.set("stack", "forgotten=0"), twice);
    assert_eq!(unwound.kind, FindingKind::Misuse);
}

#[test]
fn what_a_static_keeps_is_reported() {
    let _alone = alone();
    if std::env::var_os(super::CHECK).is_some() {
        // It crashes, as it should.
        return;
    }
    static KEPT: std::sync::Mutex<Option<Box<u64>>> = std::sync::Mutex::new(None);
    let report = explored(explorer(), || {
        // A new block at this address would be taken for it.
        drop(KEPT.lock().unwrap().take());
        race(|_| {});
        *KEPT.lock().unwrap() = Some(Box::new(1));
    });
    let found = error_of(&report);
    assert!(found.message.contains("has not allocated"), "{report}");
}

#[test]
fn crashes_and_hangs() {
    let _alone = alone();
    if cfg!(not(target_os = "linux")) {
        return;
    }
    let crash = || {
        race(|n| {
            if n == 1 {
                // SAFETY: none. A signal ends the task.
                unsafe { std::ptr::without_provenance_mut::<u8>(black_box(8)).write_volatile(1) };
            }
        });
    };
    let (kind, _) = kind_and_text(crash);
    assert_eq!(kind, FindingKind::Crash);
    // In the middle of the allocator, more often than not.
    let hang = || {
        race(|n| {
            let mut words: BTreeMap<usize, String> = BTreeMap::new();
            let mut at = 0;
            while black_box(n) == 1 {
                words.insert(at % 10, at.to_string());
                at += 1;
            }
        });
    };
    let found = the_error(|explorer| explorer.set("hang", 1), hang);
    assert_eq!(found.kind, FindingKind::Hang);
}

#[test]
fn statics_locals_and_messages() {
    let _alone = alone();
    static TABLE: LazyLock<Mutex<BTreeMap<String, Vec<usize>>>> = LazyLock::new(Mutex::default);
    static NAME: OnceLock<String> = OnceLock::new();
    struct Ends(Vec<String>);
    impl Drop for Ends {
        fn drop(&mut self) {
            TABLE.lock().unwrap().insert(self.0.concat(), vec![1; 3]);
        }
    }
    thread::thread_local! {
        static ENDS: RefCell<Ends> = RefCell::new(Ends(vec!["the ".into()]));
        static PLAIN: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
    }
    let test = || {
        let (sender, receiver) = mpsc::channel::<Vec<String>>();
        let tasks = [0, 1].map(|number| {
            let sender = sender.clone();
            thread::Builder::new()
                .name(format!("task {number}"))
                .spawn(move || {
                    ENDS.with_borrow_mut(|ends| ends.0.push(format!("end of {number}")));
                    PLAIN.with_borrow_mut(|plain| plain.extend([1, 2, 3]));
                    NAME.get_or_init(|| format!("named by {number}"));
                    let name = thread::current().name().unwrap().to_owned();
                    sender
                        .send(vec![name, "a message that nothing receives".into()])
                        .unwrap();
                })
                .unwrap()
        });
        drop(sender);
        let first = receiver.recv().unwrap();
        assert!(first[0].starts_with("task"));
        tasks.into_iter().for_each(|task| task.join().unwrap());
        assert_eq!(TABLE.lock().unwrap().len(), 2);
        thread::scope(|scope| {
            let named = scope.spawn(|| NAME.get().unwrap().clone());
            assert_ne!(named.join().unwrap(), "named by 1", "{first:?}");
        });
    };
    let found = the_error(|explorer| explorer.preemptions(2), test);
    assert_eq!(found.kind, FindingKind::Assertion);
}

#[test]
fn poisoned_locks() {
    let _alone = alone();
    let (_, text) = kind_and_text(|| {
        let lock = Arc::new(Mutex::new(vec![1]));
        let other = thread::spawn({
            let lock = lock.clone();
            move || {
                let _guard = lock.lock();
                panic!("poisons {}", lock.is_poisoned());
            }
        });
        let poisoned = lock.lock().is_err();
        let _ = other.join();
        assert!(!poisoned, "{:?}", lock.lock());
    });
    assert!(text.contains("PoisonError"), "{text}");
}

#[test]
fn panic_hooks_are_the_executions() {
    let _alone = alone();
    let heard = Arc::new(Notes::new());
    let report = explored(explorer(), || {
        race(|_| {});
        let words = vec![String::from("a hook"); 3];
        let heard = heard.clone();
        set_hook(
            Box::new(move |info| heard.add((words[2].len(), info.to_string().len()))),
            || (),
        );
        assert!(catch_unwind(|| panic!("caught {}", 1)).is_err());
        let own = take_hook();
        assert!(catch_unwind(|| panic!("unheard")).is_err());
        set_hook(Box::new(move |info| own(info)), || ());
        assert!(catch_unwind(|| panic!("caught {}", 22)).is_err());
    });
    assert!(report.verdict().is_pass(), "{report}");
    let executions = report.executions() as usize;
    assert_eq!(Notes::take(&heard).len(), 2 * executions);
}

#[test]
fn several_settings() {
    let _alone = alone();
    let lost = || race(|n| assert_eq!(n, 2));
    for (name, value) in [
        ("strategy", "random"),
        ("reduction", "dpor"),
        ("spin_loops", "run"),
        ("keep_going", "true"),
    ] {
        let found = the_error(|explorer| explorer.set(name, value).set("executions", 300), lost);
        assert_eq!(found.kind, FindingKind::Assertion, "{name}={value}");
    }
    let found = the_error(
        |explorer| explorer.set("hang", 1).steps_per_execution(50),
        || {
            race(|n| {
                let words = Mutex::new(vec![n]);
                while black_box(n) == 1 {
                    words.lock().unwrap().push(n);
                }
            });
        },
    );
    assert_eq!(found.kind, FindingKind::UnfairSpin);
}

#[test]
fn uses_after_free() {
    let _alone = alone();
    type ByAddress = intermezzo_lookalikes::sync::atomic::by_address::AtomicUsize;
    // Freed, and used by the one that comes later.
    fn used<T: 'static>(before: bool, new: fn() -> T, use_it: fn(&T)) -> (FindingKind, String) {
        kind_and_text(move || {
            race(|n| {
                let object = Box::new((7_u8, new()));
                if before {
                    use_it(&object.1);
                }
                let again = std::ptr::from_ref(&object.1);
                if n == 1 {
                    drop(object);
                }
                // SAFETY: none. This is what has to be reported.
                use_it(unsafe { &*black_box(again) });
            });
        })
    }
    for before in [true, false] {
        for (kind, text) in [
            used(before, || ByAddress::new(1), |n| _ = n.fetch_add(1, SeqCst)),
            used(before, || AtomicUsize::new(1), |n| _ = n.fetch_add(1, SeqCst)),
            used(before, || Mutex::new(1), |lock| drop(lock.lock())),
        ] {
            assert_eq!(kind, FindingKind::Misuse, "{text}");
            assert!(text.contains("in memory that was freed"), "{text}");
        }
    }
}

/// The memory of an atomic is freed while another task is about to use it.
#[test]
fn uses_after_free_by_another_task() {
    let _alone = alone();
    type ByAddress = intermezzo_lookalikes::sync::atomic::by_address::AtomicUsize;
    let (kind, text) = kind_and_text(|| {
        let object = Box::into_raw(Box::new((7_u8, ByAddress::new(1))));
        let address = object.expose_provenance();
        thread::scope(|scope| {
            scope.spawn(move || {
                // SAFETY: it is freed once, below; after that, this is what has to be reported.
                let n = unsafe { &(*std::ptr::with_exposed_provenance::<(u8, ByAddress)>(address)).1 };
                if n.fetch_add(1, SeqCst) == 1 {
                    n.store(3, SeqCst);
                }
            });
            // SAFETY: as above.
            if unsafe { &(*object).1 }.swap(5, SeqCst) == 2 {
                // SAFETY: it is from a box.
                drop(unsafe { Box::from_raw(object) });
            }
        });
    });
    assert_eq!(kind, FindingKind::Misuse, "{text}");
    assert!(text.contains("in memory that was freed"), "{text}");
}

/// A lock wakes a thread at a word that the thread may free first: that needs the address alone.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn a_word_may_be_freed_before_its_waiters_are_woken() {
    use intermezzo_lookalikes::futex::syscall;
    use intermezzo_lookalikes::sync::atomic::by_address::AtomicU32;
    use libc::{FUTEX_PRIVATE_FLAG, FUTEX_WAIT, FUTEX_WAKE, SYS_futex, c_long};

    let _alone = alone();
    fn futex(address: usize, op: i32, value: c_long) {
        let op = c_long::from(op | FUTEX_PRIVATE_FLAG);
        // SAFETY: a wait is for a word that lives, and has no limit of time; a wake-up looks at the address only.
        unsafe { syscall(SYS_futex, address as c_long, op, value, 0, 0, 0) };
    }
    let report = explored(explorer(), || {
        let word = Box::into_raw(Box::new((7_u8, AtomicU32::new(1))));
        // SAFETY: it is freed at the end, below.
        let flag = unsafe { &(*word).1 };
        let address = flag.as_ptr().expose_provenance();
        let other = thread::spawn(move || {
            // SAFETY: it lives until the store.
            let flag = unsafe { AtomicU32::from_ptr(std::ptr::with_exposed_provenance_mut(address)) };
            flag.store(0, SeqCst);
            futex(address, FUTEX_WAKE, 1);
        });
        while flag.load(SeqCst) == 1 {
            futex(address, FUTEX_WAIT, 1);
        }
        // SAFETY: it is from a box.
        drop(unsafe { Box::from_raw(word) });
        other.join().unwrap();
    });
    assert!(report.verdict().is_pass(), "{report}");
    assert_eq!(report.coverage(), &Coverage::Exhaustive, "{report}");
}
