//! Memory that unmodified tests leave behind, and memory that something holds.
//!
//! `cargo test -p intermezzo-engine --features unmodified,intermezzo-lookalikes/unmodified --test leaks`

#[path = "arena/setup.rs"]
mod setup;

use intermezzo_engine::runtime::arena::shortage;
use intermezzo_engine::runtime::lay_over_std;
use intermezzo_explorer::report::{Finding, Report};
use intermezzo_explorer::sync::Mutex;
use intermezzo_explorer::sync::atomic::by_address::{AtomicPtr, AtomicUsize};
use intermezzo_explorer::{Explorer, Reduction, Strategy, thread, thread_local_lookalike};
use intermezzo_monitors::leak::Leaks;
use setup::explorer;
use std::cell::{Cell, RefCell};
use std::hint::black_box;
use std::mem::forget;
use std::panic::catch_unwind;
use std::ptr::null_mut;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{self, AtomicU64};
use std::sync::{Arc, MutexGuard, Weak};

fn alone() -> MutexGuard<'static, ()> {
    lay_over_std();
    setup::alone()
}

/// Explores a test with the monitor for leaks.
fn explored(explorer: Explorer, test: impl Fn() + Send + Sync) -> Report {
    let report = explorer.monitor(Leaks::new()).explore(test);
    assert_eq!(shortage(), None, "the arena was there");
    report
}

/// The messages of the findings, without the directories of files.
fn messages(report: &Report) -> Vec<String> {
    let short = |finding: &Finding| finding.message.replace(file!(), "leaks.rs");
    report.findings().iter().map(short).collect()
}

/// The findings of a test that goes through all its schedules.
fn found(test: impl Fn() + Send + Sync) -> Vec<String> {
    messages(&explored(explorer().keep_going(true), test))
}

/// A node that may hold itself, through others.
#[derive(Default)]
struct Node {
    next: Mutex<Option<Arc<Node>>>,
    name: Mutex<String>,
}

/// Makes a cycle of two nodes, with more memory in one of them.
fn cycle() {
    let first = Arc::new(Node::default());
    let second = Arc::new(Node::default());
    *second.name.lock().unwrap() = "the second".repeat(3);
    *first.next.lock().unwrap() = Some(second.clone());
    *second.next.lock().unwrap() = Some(first);
}

const CYCLE: u32 = line!() - 7;

#[test]
fn a_cycle_is_found_with_the_place_of_its_first_block() {
    let _alone = alone();
    let report = explored(explorer(), || thread::spawn(cycle).join().unwrap());
    let [finding] = report.findings() else {
        panic!("{report}")
    };
    assert_eq!(finding.kind.as_str(), "leak");
    assert_eq!(report.executions(), 1);
    let size = size_of::<Node>() + 2 * size_of::<usize>();
    let expected =
        format!("memory of {size} bytes is never freed: block 1.1, made by task 1 at leaks.rs:{CYCLE}:17");
    assert_eq!(messages(&report), [expected]);
    let again = explored(explorer().replay(finding.schedule.clone()), || {
        thread::spawn(cycle).join().unwrap()
    });
    assert_eq!(messages(&again), messages(&report));
}

/// Pushes a node onto a list by a load and a store, so that one of two may be lost.
fn push(head: &AtomicPtr<(u64, usize)>) {
    let node = Box::into_raw(Box::new((7, head.load(SeqCst).expose_provenance())));
    head.store(node, SeqCst);
}

const PUSHED: u32 = line!() - 4;

static HEAD: AtomicPtr<(u64, usize)> = AtomicPtr::new(null_mut());

#[test]
fn a_node_that_is_lost_in_some_schedules_is_found() {
    let _alone = alone();
    let test = || {
        HEAD.store(null_mut(), SeqCst);
        let other = thread::spawn(|| push(&HEAD));
        push(&HEAD);
        other.join().unwrap();
    };
    let lost = |block: &str, task: &str| {
        format!("memory of 16 bytes is never freed: block {block}, made by {task} at leaks.rs:{PUSHED}:30")
    };
    let mut found = found(test);
    // Nothing restores statics here, and what is in them would hide leaks of other tests.
    HEAD.store(null_mut(), SeqCst);
    found.sort();
    assert_eq!(found, [lost("0.1", "main"), lost("1.1", "task 1")]);
}

#[test]
fn one_place_stands_for_all_that_it_allocates() {
    let _alone = alone();
    let found = found(|| (0..100).for_each(|n| _ = Box::into_raw(black_box(Box::new(n)))));
    assert_eq!(found.len(), 1, "{found:#?}");
}

fn leaked<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

#[test]
fn memory_that_is_leaked_on_purpose_is_no_leak() {
    let _alone = alone();
    let found = found(|| {
        let n: &'static AtomicUsize = leaked(AtomicUsize::new(0));
        let words: &'static _ = Box::leak(vec!["one".to_owned(), "two".to_owned()].into_boxed_slice());
        // What hangs on it is held by it, wherever it was allocated.
        let list: &'static Mutex<Vec<String>> = leaked(Mutex::default());
        list.lock().unwrap().push("three".repeat(3));
        let other = thread::spawn(move || n.fetch_add(words.len(), SeqCst));
        n.fetch_add(1, SeqCst);
        other.join().unwrap();
    });
    assert_eq!(found, [""; 0]);
}

thread_local_lookalike! {
    static LOCAL: RefCell<Vec<String>> = RefCell::default();
    static PLAIN: Cell<usize> = const { Cell::new(0) };
}

/// Words that lead to memory: with a mark in the low bits, in the high ones, and shifted.
static WORDS: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];

#[test]
fn a_place_is_known_though_earlier_tests_left_memory_at_other_places() {
    let _alone = alone();
    let small = || {
        for number in 0..40_u64 {
            leaked(number);
        }
    };
    assert_eq!(found(small), [""; 0]);
    for size in (160..320).step_by(16) {
        let behind_a_large_one = move || {
            drop(black_box(vec![1_u8; size]));
            leaked(7_u64);
        };
        assert_eq!(found(behind_a_large_one), [""; 0], "{size}");
    }
}

#[test]
fn what_statics_lead_to_is_no_leak() {
    let _alone = alone();
    static LIST: std::sync::Mutex<Vec<Vec<String>>> = std::sync::Mutex::new(Vec::new());
    let found = found(|| {
        // The memory of the execution before is gone.
        forget(std::mem::take(&mut *LIST.lock().unwrap()));
        let other = thread::spawn(|| LOCAL.with_borrow_mut(|local| local.push(2.to_string())));
        LOCAL.with_borrow_mut(|local| local.push(1.to_string()));
        LIST.lock().unwrap().push(vec!["a text".to_owned()]);
        let mark = |word: &AtomicU64, by: fn(usize) -> usize| {
            let address = Box::into_raw(Box::new(1_u64)).expose_provenance();
            word.store(by(address) as u64, atomic::Ordering::SeqCst);
        };
        mark(&WORDS[0], |address| address | 1);
        mark(&WORDS[1], |address| address | 0x1234 << 48);
        mark(&WORDS[2], |address| address << 16 | 0x1234);
        other.join().unwrap();
    });
    assert_eq!(found, [""; 0]);
    forget(std::mem::take(&mut *LIST.lock().unwrap()));
    WORDS
        .iter()
        .for_each(|word| word.store(0, atomic::Ordering::SeqCst));
}

#[test]
fn what_a_lookalike_in_a_static_holds_is_no_leak() {
    let _alone = alone();
    static HELD: AtomicPtr<u64> = AtomicPtr::new(null_mut());
    let found = found(|| HELD.store(Box::into_raw(Box::new(5)), SeqCst));
    assert_eq!(found, [""; 0]);
}

#[test]
fn what_has_no_destructor_is_forgotten_with_its_task() {
    let _alone = alone();
    let found = found(|| {
        let other = thread::spawn(|| PLAIN.set(Box::into_raw(Box::new(5_u64)).expose_provenance()));
        other.join().unwrap();
    });
    assert_eq!(found.len(), 1, "{found:#?}");
}

#[test]
fn memory_of_unfinished_work_is_no_leak() {
    let _alone = alone();
    let left = found(|| {
        let waits = Box::new(1);
        thread::spawn(move || {
            thread::park();
            drop(waits);
        });
    });
    assert_eq!(left, [""; 0], "a task that is left");
    let result = found(|| {
        let task = thread::spawn(|| Box::new(1));
        forget(task);
    });
    assert_eq!(result, [""; 0], "a result that is not taken");
    let panicked = found(|| {
        assert!(catch_unwind(|| panic!("{:p}", Box::into_raw(Box::new(1)))).is_err());
    });
    assert_eq!(panicked, [""; 0], "a panic that is caught");
}

#[test]
fn all_that_is_freed_is_no_leak() {
    let _alone = alone();
    let found = found(|| {
        let shared = Arc::new_cyclic(|own: &Weak<(Weak<()>, Mutex<Vec<u64>>)>| {
            let _upgraded = own.upgrade();
            (Weak::new(), Mutex::new(vec![1; 100]))
        });
        let named = thread::Builder::new().name("a name".repeat(3));
        let task = named.spawn({
            let shared = shared.clone();
            move || shared.1.lock().unwrap().extend(0..1000)
        });
        thread::scope(|scope| {
            scope.spawn(|| shared.1.lock().unwrap().shrink_to_fit());
        });
        task.unwrap().join().unwrap();
    });
    assert_eq!(found, [""; 0]);
}

/// The number of executions that have left memory.
static LEAKS: atomic::AtomicUsize = atomic::AtomicUsize::new(0);

/// Leaks in some of its schedules.
fn leaks_in_some() {
    let n = Arc::new(AtomicUsize::new(0));
    let tasks = [1, 2].map(|_| {
        let n = n.clone();
        thread::spawn(move || {
            let seen = n.load(SeqCst);
            n.store(seen + 1, SeqCst);
            if seen == 1 {
                LEAKS.fetch_add(1, SeqCst);
                _ = Box::into_raw(black_box(Box::new([1; 10])));
            }
        })
    });
    tasks.into_iter().for_each(|task| task.join().unwrap());
}

/// Checks that leaks that are found change nothing in what is explored: an execution that is run twice counts once.
#[test]
fn the_search_is_the_same_with_leaks() {
    let _alone = alone();
    let searches: [fn(Explorer) -> Explorer; 5] = [
        |explorer| explorer.reduction(Reduction::None),
        |explorer| explorer.reduction(Reduction::Dpor),
        |explorer| explorer.preemptions(1),
        |explorer| {
            explorer
                .strategy(Strategy::random())
                .seed(7)
                .set("executions", 50)
        },
        |explorer| explorer.strategy(Strategy::pct(2)).seed(7).set("executions", 50),
    ];
    for search in searches {
        let run = |listens: bool| {
            let explorer = search(explorer().set("keep_going", true));
            match listens {
                true => explored(explorer, leaks_in_some),
                false => explorer.explore(leaks_in_some),
            }
        };
        let with = run(true);
        LEAKS.store(0, SeqCst);
        let without = run(false);
        let found: u64 = with.findings().iter().map(|finding| finding.count).sum();
        assert_eq!(found, LEAKS.load(SeqCst) as u64);
        assert!(
            !with.findings().is_empty() && without.findings().is_empty(),
            "{with}\n{without}"
        );
        let counts = |report: &Report| (report.executions(), report.coverage().clone());
        assert_eq!(
            format!("{:?}", counts(&with)),
            format!("{:?}", counts(&without)),
            "{with}\n{without}"
        );
    }
}
