//! Leaks, and memory that is released too early or too often.

use super::{explore, nothing, only};
use intermezzo::alloc::{Layout, Track, alloc, dealloc};
use intermezzo::cell::Cell;
use intermezzo::monitors::{DataRaces, Leaks};
use intermezzo::sdk::{FindingKind, Severity};
use intermezzo::sync::atomic::{AtomicBool, Ordering::SeqCst};
use intermezzo::sync::{Arc, LazyLock, Mutex, Weak, mpsc};
use intermezzo::{Explorer, Reduction, ptr, thread, thread_local};
use std::mem::ManuallyDrop;

/// A node that may hold another.
#[derive(Default)]
struct Node {
    next: Mutex<Option<Arc<Node>>>,
    back: Mutex<Weak<Node>>,
}

#[test]
fn a_cycle_of_arcs_is_a_leak() {
    let cycle = || {
        let (a, b) = (Arc::new(Node::default()), Arc::new(Node::default()));
        *a.next.lock().unwrap() = Some(b.clone());
        *b.next.lock().unwrap() = Some(a.clone());
    };
    let report = explore(Leaks::new, cycle);
    assert_eq!(report.findings().len(), 2, "{report}");
    for finding in report.findings() {
        assert_eq!(finding.kind, FindingKind::Leak);
        assert!(
            finding.message.starts_with("an `Arc` of ")
                && finding.message.ends_with("in a cycle or forgotten"),
            "{report}"
        );
    }
    let fixed = || {
        let (a, b) = (Arc::new(Node::default()), Arc::new(Node::default()));
        *a.next.lock().unwrap() = Some(b.clone());
        *b.back.lock().unwrap() = Arc::downgrade(&a);
    };
    nothing(&explore(Leaks::new, fixed));
}

#[test]
fn a_forgotten_handle_is_a_leak() {
    let shared = || {
        let handle = Arc::new(1);
        drop(handle.clone());
        std::mem::forget(handle);
    };
    let report = explore(Leaks::new, shared);
    assert_eq!(report.findings().len(), 1, "{report}");
    assert_eq!(report.findings()[0].kind, FindingKind::Leak);
}

/// Monitors learn of an `Arc` at the first step on its counts, or at the end of the execution if there is none.
#[test]
fn a_forgotten_handle_is_a_leak_if_its_counts_were_never_used() {
    let forgotten: [fn(); 3] = [
        || std::mem::forget(Arc::new(1)),
        || _ = Arc::into_raw(Arc::new(1)),
        || thread::scope(|scope| _ = scope.spawn(|| std::mem::forget(Arc::new(1)))),
    ];
    for (test, task) in forgotten.into_iter().zip(["main", "main", "task 1"]) {
        let report = explore(Leaks::new, test);
        assert_eq!(report.findings().len(), 1, "{report}");
        let message = &report.findings()[0].message;
        assert!(
            message.contains(&format!("made by {task} at tests/monitors_shipped/memory.rs"))
                && message.ends_with("its only handle was forgotten, or is a pointer"),
            "{report}"
        );
    }
    nothing(&explore(Leaks::new, || {
        let pointer = Arc::into_raw(Arc::new(1));
        // SAFETY: the pointer is from `into_raw`, and becomes a handle once.
        drop(unsafe { Arc::from_raw(pointer) });
    }));
}

/// Tasks that share a value and drop it in any order leak nothing, and use nothing too late.
#[test]
fn shares_that_are_dropped_are_no_leak() {
    let shared = || {
        let list = Arc::new(Mutex::new(Track::new(vec![1])));
        let tasks: Vec<_> = (0..2)
            .map(|n| {
                let list = list.clone();
                thread::spawn(move || list.lock().unwrap().get_mut().push(n))
            })
            .collect();
        drop(list);
        drop(tasks);
    };
    nothing(&explore(Leaks::new, shared));
}

/// A waker that is made of an `Arc` borrows the handle: it recreates it from the pointer, and forgets it.
#[test]
fn a_handle_that_is_borrowed_from_its_pointer_is_not_leaked() {
    nothing(&explore(Leaks::new, || {
        let arc = Arc::new(AtomicBool::new(false));
        let pointer = Arc::into_raw(arc.clone());
        let task = thread::spawn(move || arc.store(true, SeqCst));
        for _ in 0..2 {
            // SAFETY: the pointer is from `into_raw`, and its handle is not dropped.
            let handle = ManuallyDrop::new(unsafe { Arc::from_raw(pointer) });
            assert!(Arc::strong_count(&handle) <= 2);
        }
        task.join().unwrap();
        // SAFETY: the pointer is from `into_raw`, and this is the end of its handle.
        let last = unsafe { Arc::from_raw(pointer) };
        assert_eq!(Arc::strong_count(&last), 1);
    }));
    let forgotten = || {
        let arc = Arc::new(AtomicBool::new(false));
        let pointer = Arc::into_raw(arc.clone());
        // SAFETY: the pointer is from `into_raw`, and its handle is not dropped.
        let _ = ManuallyDrop::new(unsafe { Arc::from_raw(pointer) });
    };
    let report = explore(Leaks::new, forgotten);
    assert_eq!(report.findings().len(), 1, "{report}");
    assert_eq!(report.findings()[0].kind, FindingKind::Leak);
}

/// A list keeps a handle alive by the address of its value, and recreates the handle from it.
#[test]
fn a_handle_that_a_list_forgets_and_recreates_is_not_leaked() {
    fn listed(makes_again: bool) {
        let arc = Arc::new(AtomicBool::new(false));
        let address = Arc::as_ptr(&ManuallyDrop::new(arc.clone()));
        let task = thread::spawn(move || arc.store(true, SeqCst));
        if makes_again {
            // SAFETY: the handle that was forgotten is recreated once.
            drop(unsafe { Arc::from_raw(address) });
        }
        task.join().unwrap();
    }
    nothing(&explore(Leaks::new, || listed(true)));
    let report = explore(Leaks::new, || listed(false));
    assert_eq!(report.findings().len(), 1, "{report}");
    assert_eq!(report.findings()[0].kind, FindingKind::Leak);
}

#[test]
fn what_a_static_holds_is_no_leak() {
    static KEPT: Mutex<Option<Arc<u32>>> = Mutex::new(None);
    nothing(&explore(Leaks::new, || *KEPT.lock().unwrap() = Some(Arc::new(1))));
    static LAZY: LazyLock<Arc<u32>> = LazyLock::new(|| Arc::new(2));
    nothing(&explore(Leaks::new, || assert_eq!(**LAZY, 2)));
    // The monitor knows a shared value from the first change of its count.
    static CLONED: LazyLock<Arc<u32>> = LazyLock::new(|| Arc::new(2));
    nothing(&explore(Leaks::new, || {
        let clone = CLONED.clone();
        let task = thread::spawn(move || assert_eq!(*clone, 2));
        assert_eq!(**CLONED, 2);
        task.join().unwrap();
    }));
    static MADE: Mutex<Vec<Track<u32>>> = Mutex::new(Vec::new());
    nothing(&explore(Leaks::new, || MADE.lock().unwrap().push(Track::new(4))));
    thread_local!(static OWN: Track<u32> = Track::new(3));
    nothing(&explore(Leaks::new, || {
        OWN.with(|own| assert_eq!(*own.get_ref(), 3))
    }));
}

/// A static may be dropped before monitors see the end. A block that it does not hold is still a leak, and its
/// destructors may use anything.
#[test]
fn a_leak_beside_a_static_is_a_leak() {
    static KEPT: Mutex<Vec<Arc<AtomicBool>>> = Mutex::new(Vec::new());
    let leaks = || {
        let kept = Arc::new(AtomicBool::new(false));
        KEPT.lock().unwrap().push(kept.clone());
        // It is not joined, and uses what the static holds.
        thread::spawn(move || kept.store(true, SeqCst));
        std::mem::forget(Arc::new(AtomicBool::new(false)).clone());
    };
    let report = explore(Leaks::new, leaks);
    assert!(only(&report).message.contains("is never freed: "), "{report}");

    struct Ends(Arc<AtomicBool>);
    impl Drop for Ends {
        fn drop(&mut self) {
            let more = Arc::new(AtomicBool::new(false));
            more.clone().store(self.0.load(SeqCst), SeqCst);
            KEPT.lock().unwrap().push(more);
            assert!(!self.0.load(SeqCst), "a panic that cannot be told any more");
        }
    }
    static ENDS: Mutex<Option<Ends>> = Mutex::new(None);
    nothing(&explore(Leaks::new, || {
        let set = Arc::new(AtomicBool::new(false));
        *ENDS.lock().unwrap() = Some(Ends(set.clone()));
        thread::spawn(move || set.store(true, SeqCst));
    }));
}

#[test]
fn a_tracked_value_that_is_forgotten_is_a_leak() {
    let forgotten = || std::mem::forget(Track::new(7));
    let report = explore(Leaks::new, forgotten);
    assert!(
        only(&report)
            .message
            .starts_with("a value of 4 bytes is never freed"),
        "{report}"
    );
    nothing(&explore(Leaks::new, || drop(Track::new(7))));
}

#[test]
fn messages_that_are_not_received_are_a_warning() {
    fn sends(received: u32) {
        let (sender, receiver) = mpsc::channel();
        let task = thread::spawn(move || (0..2).for_each(|n| sender.send(n).unwrap()));
        for n in 0..received {
            assert_eq!(receiver.recv(), Ok(n));
        }
        task.join().unwrap();
    }
    let report = explore(Leaks::new, || sends(1));
    let finding = only(&report);
    assert_eq!(finding.severity, Severity::Warning);
    assert!(finding.message.ends_with("are never received"), "{report}");
    nothing(&explore(Leaks::new, || sends(2)));
    // A sender without a receiver gets its message back.
    let refused = || {
        let (sender, receiver) = mpsc::sync_channel(0);
        let task = thread::spawn(move || sender.send(1).unwrap_err());
        drop(receiver);
        assert_eq!(task.join().unwrap().0, 1);
    };
    nothing(&explore(Leaks::new, refused));
}

#[test]
fn tasks_that_are_not_joined_are_reported_on_request() {
    let tasks = || Leaks::with_arguments("tasks=true").unwrap();
    let report = explore(tasks, || drop(thread::spawn(|| ())));
    assert!(
        only(&report)
            .message
            .starts_with("task 1 is never joined, created by main"),
        "{report}"
    );
    nothing(&explore(tasks, || thread::spawn(|| ()).join().unwrap()));
    nothing(&explore(tasks, || {
        thread::scope(|scope| {
            scope.spawn(|| ());
        });
    }));
}

/// A piece of memory that two tasks share.
#[derive(Clone, Copy)]
struct Shared(*mut u8);

// SAFETY: the tests explore what tasks do with it. An execution runs one task at a time, and keeps released memory
// until it is over.
unsafe impl Send for Shared {}

impl Shared {
    fn new() -> Shared {
        // SAFETY: the layout has a size.
        Shared(unsafe { alloc(Layout::new::<u64>()) })
    }
    fn give_back(self) {
        // SAFETY: allocated with this layout; in an execution, releasing it again is harmless.
        unsafe { dealloc(self.0, Layout::new::<u64>()) }
    }
    fn touch(self) {
        ptr::track_read(self.0, 8);
    }
}

#[test]
fn memory_is_released_once() {
    fn frees(flag_is_one_step: bool) {
        let memory = Shared::new();
        let freed = Arc::new(AtomicBool::new(false));
        let free = move |freed: &AtomicBool| {
            let mine = if flag_is_one_step {
                !freed.swap(true, SeqCst)
            } else {
                let mine = !freed.load(SeqCst);
                freed.store(true, SeqCst);
                mine
            };
            if mine {
                // Captures the whole struct, and not only the pointer in it.
                let memory: Shared = memory;
                memory.give_back();
            }
        };
        let other = freed.clone();
        let task = thread::spawn(move || free(&other));
        free(&freed);
        task.join().unwrap();
    }
    let report = explore(Leaks::new, || frees(false));
    let double = report
        .findings()
        .iter()
        .filter(|finding| finding.message.starts_with("double free: "));
    assert_eq!(double.count(), 1, "{report}");
    nothing(&explore(Leaks::new, || frees(true)));
}

#[test]
fn memory_is_not_used_after_its_release() {
    fn uses(joined: bool) {
        let memory = Shared::new();
        let task = thread::spawn(move || {
            let memory: Shared = memory;
            memory.touch();
        });
        if joined {
            task.join().unwrap();
        }
        memory.give_back();
    }
    let report = explore(Leaks::new, || uses(false));
    let finding = only(&report);
    assert!(
        finding.message.starts_with("use after free: task 1 reads"),
        "{report}"
    );
    nothing(&explore(Leaks::new, || uses(true)));
}

/// A count that two tasks change without synchronisation.
#[derive(Default)]
struct Plain(Cell<u32>);

// SAFETY: all tasks of an exploration take turns on one thread.
unsafe impl Sync for Plain {}

/// No schedule point lies between the two halves of an increment: only the race shows that there should be one.
#[test]
fn the_consequences_of_a_race_are_found_with_the_race() {
    let explore = |at_races: bool| {
        Explorer::new()
            .monitors("none")
            .monitor(DataRaces::new())
            .reduction(Reduction::Dpor)
            .keep_going(true)
            .set("data_points", if at_races { "races" } else { "none" })
            .explore(|| {
                let count = Plain::default();
                thread::scope(|scope| {
                    for _ in 0..2 {
                        scope.spawn(|| {
                            let count = &count;
                            count.0.set(count.0.get() + 1);
                        });
                    }
                });
                assert_eq!(count.0.get(), 2, "an increment is lost");
            })
    };
    let kinds = |at_races| -> Vec<String> {
        let report = explore(at_races);
        report
            .findings()
            .iter()
            .map(|finding| finding.kind.to_string())
            .collect()
    };
    assert!(
        kinds(false).iter().all(|kind| kind == "data_race"),
        "{}",
        explore(false)
    );
    assert!(kinds(true).contains(&"assertion".to_owned()), "{}", explore(true));
}
