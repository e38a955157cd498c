//! The monitors that are on by default: no test here sets a monitor, except to switch one off.

use intermezzo::cell::UnsafeCell;
use intermezzo::refinement::{fresh, refine};
use intermezzo::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use intermezzo::sync::{Arc, Mutex, RwLock, mpsc};
use intermezzo::{Explorer, PlainAccesses, Reduction, Report, Verdict, ptr, thread};
use std::collections::VecDeque;

/// A number that tasks share without synchronisation.
#[derive(Default)]
struct Plain(UnsafeCell<u32>);

// SAFETY: all tasks of an exploration take turns on one thread.
unsafe impl Sync for Plain {}

impl Plain {
    #[track_caller]
    fn read(&self) -> u32 {
        // SAFETY: it is read at once, while no other task runs.
        unsafe { *self.0.get() }
    }

    #[track_caller]
    fn write(&self, value: u32) {
        // SAFETY: as above.
        unsafe { *self.0.get() = value };
    }
}

/// Returns the kinds of the findings.
fn kinds(report: &Report) -> Vec<String> {
    let findings = report.findings().iter();
    findings.map(|finding| finding.kind.to_string()).collect()
}

fn lost_update() {
    let count = Plain::default();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| count.write(count.read() + 1));
        }
    });
    assert_eq!(count.read(), 2);
}

#[test]
fn an_update_that_is_lost_in_a_cell_is_found() {
    let report = Explorer::new().explore(lost_update);
    assert_eq!(kinds(&report), ["data_race", "data_race"], "{report}");
    assert_eq!(report.first_failure(), Some(1));
    assert_eq!(report.monitors(), ["data-race", "leak", "misuse"]);
    for finding in report.findings() {
        let again = Explorer::new()
            .replay(finding.schedule.clone())
            .explore(lost_update);
        let shown = |other: &intermezzo::Finding| other.message == finding.message;
        assert!(again.findings().iter().any(shown), "{again}");
    }
    // The consequences of the race are found if the search continues, in the same exploration.
    for reduction in [Reduction::None, Reduction::Dpor] {
        let report = Explorer::new()
            .reduction(reduction)
            .keep_going(true)
            .explore(lost_update);
        assert!(kinds(&report).contains(&"assertion".to_owned()), "{report}");
    }
    let report = Explorer::new()
        .keep_going(true)
        .reduction(Reduction::OrderedAtomics)
        .explore(lost_update);
    assert!(!kinds(&report).contains(&"assertion".to_owned()), "{report}");
    let coverage = report.coverage().to_string();
    assert!(
        coverage.contains("accesses that race were not tried in other orders"),
        "{report}"
    );
}

#[test]
fn a_pass_says_how_much_plain_memory_there_was_and_whether_it_was_watched() {
    let report = Explorer::new().monitors("-data-race").explore(lost_update);
    assert_eq!(report.verdict(), Verdict::Pass, "{report}");
    let expected = |seen, watched| PlainAccesses { seen, watched };
    assert_eq!(report.plain_accesses(), expected(5, false));
    assert!(
        report.to_string().replace("\n    ", " ").contains(
            "plain memory: 5 accesses, not watched: no monitor looked for data races, nor was the order of accesses explored"
        ),
        "{report}"
    );
    let report = Explorer::new().explore(|| Plain::default().write(1));
    assert_eq!(report.plain_accesses(), expected(1, true));
    assert!(
        report
            .to_string()
            .contains("plain memory: 1 access, watched for data races"),
        "{report}"
    );
}

/// Tasks that only read through pointers of `get` do not race, nor do readers with shares of a lock.
#[test]
fn readers_share_what_get_points_to() {
    let report = Explorer::new().explore(|| {
        let value = Arc::new(Plain::default());
        let lock = Arc::new(RwLock::new(Plain::default()));
        lock.read().unwrap().write(0);
        let reader = thread::spawn({
            let (value, lock) = (value.clone(), lock.clone());
            move || value.read() + lock.read().unwrap().read()
        });
        assert_eq!(value.read() + lock.read().unwrap().read(), 0);
        assert_eq!(reader.join().unwrap(), 0);
    });
    assert_eq!(report.verdict(), Verdict::Pass, "{report}");
    assert!(report.plain_accesses().watched);
    // Nothing orders a reader and a writer that both hold a share.
    let report = Explorer::new().explore(|| {
        let lock = Arc::new(RwLock::new(Plain::default()));
        let reader = thread::spawn({
            let lock = lock.clone();
            move || lock.read().unwrap().read()
        });
        lock.read().unwrap().write(1);
        reader.join().unwrap();
    });
    assert_eq!(kinds(&report), ["data_race"], "{report}");
}

/// The write is seen whichever access comes first, even if the cell is dropped right after it.
#[test]
fn writes_by_pointers_are_seen() {
    let report = Explorer::new()
        .keep_going(true)
        .set("data_points", "none")
        .explore(|| {
            let flag = Arc::new((Plain::default(), AtomicBool::new(false)));
            let other = thread::spawn({
                let flag = flag.clone();
                move || {
                    if flag.1.swap(true, Relaxed) {
                        flag.0.read();
                    } else {
                        flag.0.write(1);
                    }
                }
            });
            if flag.1.swap(true, Relaxed) {
                flag.0.read();
            } else {
                flag.0.write(1);
            }
            other.join().unwrap();
        });
    let messages: Vec<&str> = report.findings().iter().map(|found| &*found.message).collect();
    assert_eq!(messages.len(), 2, "{report}");
    // A cell that was moved, and whose former memory was reused.
    let report = Explorer::new().explore(|| {
        let mut all = Vec::new();
        for n in 0..2_000 {
            all.push(Plain::default());
            all[n].write(1);
        }
        let sum: u32 = all.iter().map(Plain::read).sum();
        assert_eq!(sum, 2_000);
    });
    assert_eq!(report.verdict(), Verdict::Pass, "{report}");
}

/// Naming an object that was not used before does not change which accesses are seen.
#[test]
fn data_races_have_the_names_that_the_test_gave() {
    let report = Explorer::new().explore(|| {
        let count = Plain::default();
        intermezzo::name(&count.0, "the count");
        thread::scope(|scope| {
            scope.spawn(|| count.write(1));
            count.read();
        });
    });
    assert_eq!(kinds(&report), ["data_race"], "{report}");
    let lines = report.findings()[0].lines().join("\n");
    assert!(
        lines.contains("`the count`") && !lines.contains("cell 0"),
        "{lines}"
    );
    let report = Explorer::new().explore(|| {
        let atomic = Racy(std::cell::UnsafeCell::new(AtomicUsize::new(0)));
        let atomic = &atomic;
        // SAFETY: as above.
        intermezzo::name(unsafe { &*atomic.0.get() }, "the atomic");
        thread::scope(|scope| {
            // SAFETY: no other task runs while there is an exclusive reference.
            scope.spawn(move || *unsafe { &mut *atomic.0.get() }.get_mut() = 1);
            // SAFETY: as above.
            scope.spawn(move || unsafe { &*atomic.0.get() }.load(Relaxed));
        });
    });
    assert_eq!(kinds(&report), ["data_race"], "{report}");
    let lines = report.findings()[0].lines().join("\n");
    assert!(lines.contains("`the atomic`"), "{lines}");
}

/// An atomic that is shared, and also accessed plainly.
struct Racy(std::cell::UnsafeCell<AtomicUsize>);

// SAFETY: as above.
unsafe impl Sync for Racy {}

#[test]
fn a_plain_write_to_an_atomic_that_was_not_used_before_is_seen() {
    let report = Explorer::new().explore(|| {
        let atomic = Racy(std::cell::UnsafeCell::new(AtomicUsize::new(0)));
        let atomic = &atomic;
        thread::scope(|scope| {
            // SAFETY: no other task runs while there is an exclusive reference.
            scope.spawn(move || *unsafe { &mut *atomic.0.get() }.get_mut() = 1);
            // SAFETY: as above.
            scope.spawn(move || unsafe { &*atomic.0.get() }.load(Relaxed));
        });
    });
    assert_eq!(kinds(&report), ["data_race"], "{report}");
    // The same for an atomic in allocated memory, which is published with an ordering that is too weak.
    let published = |order| {
        move || {
            use intermezzo::alloc::{Layout, alloc, dealloc};
            let pointer = intermezzo::sync::atomic::AtomicPtr::<AtomicUsize>::default();
            thread::scope(|scope| {
                scope.spawn(|| {
                    // SAFETY: the layout has a size, and is that of the atomic which is put there.
                    unsafe {
                        let place = alloc(Layout::new::<AtomicUsize>()).cast();
                        ptr::write(place, AtomicUsize::new(7));
                        pointer.store(place, order);
                    }
                });
                let there = pointer.load(Acquire);
                if !there.is_null() {
                    // SAFETY: the atomic was written before it was published.
                    assert_eq!(unsafe { &*there }.load(Relaxed), 7);
                }
            });
            // SAFETY: allocated with this layout, and all tasks that used it have ended.
            unsafe { dealloc(pointer.load(Relaxed).cast(), Layout::new::<AtomicUsize>()) };
        }
    };
    assert_eq!(kinds(&Explorer::new().explore(published(Relaxed))), ["data_race"]);
    let report = Explorer::new().explore(published(Release));
    assert_eq!(report.verdict(), Verdict::Pass, "{report}");
}

/// A queue whose length shows that an item exists, but whose items nothing orders.
#[derive(Default)]
struct Queue {
    items: [Plain; 4],
    tail: AtomicUsize,
    head: Mutex<usize>,
}

impl Queue {
    fn push(&self, value: u32) {
        let tail = self.tail.load(Relaxed);
        self.items[tail % 4].write(value);
        // The bug: Release is missing.
        self.tail.store(tail + 1, Relaxed);
    }

    fn pop(&self) -> Option<u32> {
        let mut head = self.head.lock().unwrap();
        (*head < self.tail.load(Acquire)).then(|| {
            *head += 1;
            self.items[(*head - 1) % 4].read()
        })
    }
}

#[test]
fn refinement_respects_monitors() {
    let test = || {
        refine(Queue::default)
            .op("push", fresh::<u32>(), |queue, value| queue.push(value))
            .op("pop", (), |queue, ()| queue.pop())
            .exclusive("producer", ["push"])
            .exclusive("consumer", ["pop"])
            .scenarios(10)
    };
    let report = test().run();
    let failure = report.failure.as_ref().expect("nothing orders the items");
    assert_eq!(failure.kind.to_string(), "data_race", "{}", failure.message);
    assert_eq!(report.monitors, ["refinement", "data-race", "leak", "misuse"]);
    let report = test().monitors("-data-race").run();
    assert_eq!(report.verdict(), Verdict::Pass);
    assert_eq!(report.monitors, ["refinement", "leak", "misuse"]);
    // A warning is no failure.
    let report = test().monitors("none;misuse").run();
    assert_eq!(report.verdict(), Verdict::Pass);
}

/// Behaviour that is common in correct programs is not reported.
#[test]
fn nothing_is_reported_for_correct_programs() {
    let report = Explorer::new().explore(|| {
        let jobs = Mutex::new(VecDeque::from([1, 2]));
        let (sender, receiver) = mpsc::channel();
        let receiver = Arc::new(Mutex::new(receiver));
        let worker = thread::spawn({
            let receiver = receiver.clone();
            // A task waits while it holds a lock, as in a pool of workers.
            move || receiver.lock().unwrap().recv().unwrap()
        });
        while let Some(job) = jobs.lock().unwrap().pop_front() {
            sender.send(job).unwrap();
        }
        assert_eq!(worker.join().unwrap(), 1);
        // The channel is dropped with a message in it, and a task is not joined.
        drop(thread::spawn(move || drop(receiver)));
    });
    assert_eq!(
        (report.verdict(), report.findings().len()),
        (Verdict::Pass, 0),
        "{report}"
    );
}
