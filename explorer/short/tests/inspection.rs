//! Probes of a test's objects: they change nothing, and see the values.

use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::{Mutex, RwLock, mpsc};
use intermezzo_explorer::{Explorer, Inspection, Schedule, thread};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex as StdMutex};

struct Shared {
    n: AtomicUsize,
    list: Mutex<Vec<usize>>,
    limit: RwLock<usize>,
    unused: AtomicUsize,
}

thread_local! {
    static SHARED: RefCell<Option<Rc<Shared>>> = const { RefCell::new(None) };
}

fn shared() -> Rc<Shared> {
    SHARED.with_borrow(|shared| Rc::clone(shared.as_ref().unwrap()))
}

fn test() {
    let shared = Rc::new(Shared {
        n: AtomicUsize::new(0),
        list: Mutex::new(Vec::new()),
        limit: RwLock::new(7),
        unused: AtomicUsize::new(3),
    });
    SHARED.set(Some(Rc::clone(&shared)));
    let shared = &*shared;
    thread::scope(|scope| {
        for number in 1..3 {
            scope.spawn(move || {
                let before = shared.n.load(SeqCst);
                shared.list.lock().unwrap().push(number);
                let _limit = shared.limit.read().unwrap();
                shared.n.store(before + 1, SeqCst);
            });
        }
    });
    assert_eq!(shared.n.load(SeqCst), 2);
}

/// Returns the results of probing the failing execution, and the report in words.
fn inspected(look: Option<fn() -> String>, schedule: &Schedule) -> (Vec<(String, Inspection)>, String) {
    let told = Arc::new(StdMutex::new(Vec::new()));
    let mut explorer = Explorer::new().program("inspection").replay(schedule.clone());
    if let Some(look) = look {
        let told = Arc::clone(&told);
        let tell = move |event: intermezzo_sdk::EventId, inspect| {
            let id = format!("{}.{}", event.task.0, event.index);
            told.lock().unwrap().push((id, inspect));
        };
        explorer = explorer.inspect(look, tell);
    }
    let report = explorer.explore(test);
    let told = told.lock().unwrap().clone();
    (told, format!("{:?}", report.findings()))
}

fn failing() -> Schedule {
    let report = Explorer::new().program("inspection").explore(test);
    report.findings()[0].schedule.clone()
}

#[test]
fn inspections_change_nothing() {
    let schedule = failing();
    let (none, plain) = inspected(None, &schedule);
    assert!(none.is_empty());
    let looks: [fn() -> String; 4] = [
        || format!("{:?}", shared().n),
        || {
            let shared = shared();
            let list = shared.list.lock().unwrap();
            format!("{list:?} {:?} {:?}", shared.limit.read(), shared.unused)
        },
        || panic!("no"),
        || {
            while shared().unused.load(SeqCst) == 3 {
                thread::yield_now();
            }
            String::new()
        },
    ];
    for look in looks {
        let (told, finding) = inspected(Some(look), &schedule);
        assert_eq!(finding, plain);
        assert!(told.len() > 10);
    }
}

#[test]
fn what_is_there_is_seen() {
    let schedule = failing();
    let (told, _) = inspected(Some(|| shared().n.load(SeqCst).to_string()), &schedule);
    let mut seen: Vec<Inspection> = told.into_iter().map(|(_, inspect)| inspect).collect();
    seen.dedup();
    // The first event belongs to a task that has made nothing yet.
    assert_eq!(seen[0], Inspection::Failed);
    let seen: Vec<Inspection> = seen
        .into_iter()
        .filter(|inspect| *inspect != Inspection::Failed)
        .collect();
    assert_eq!(seen, [Inspection::Seen("0".into()), Inspection::Seen("1".into())]);
}

#[test]
fn what_is_locked_is_not_seen() {
    let schedule = failing();
    let look = || format!("{:?}", shared().list.lock().unwrap());
    let (told, _) = inspected(Some(look), &schedule);
    let locked = told
        .iter()
        .filter(|(_, inspect)| *inspect == Inspection::Locked)
        .count();
    assert!(locked >= 2, "{told:#?}");
    let last = told
        .iter()
        .rev()
        .find(|(_, inspect)| matches!(inspect, Inspection::Seen(_)));
    let Some((_, Inspection::Seen(last))) = last else {
        panic!("{told:#?}")
    };
    assert!(last == "[1, 2]" || last == "[2, 1]", "{last}");
}

/// A message from an empty channel would have to be waited for, and so is not seen.
#[test]
fn an_inspection_does_not_wait() {
    let body = || {
        let (sender, receiver) = mpsc::channel::<u8>();
        WORDS.set(Some(receiver));
        drop(sender);
        WORDS.set(None);
    };
    thread_local! {
        static WORDS: RefCell<Option<mpsc::Receiver<u8>>> = const { RefCell::new(None) };
    }
    let told = Arc::new(StdMutex::new(Vec::new()));
    let hearing = Arc::clone(&told);
    let report = Explorer::new()
        .inspect(
            || WORDS.with_borrow(|words| format!("{:?}", words.as_ref().map(mpsc::Receiver::recv))),
            move |_, inspect| hearing.lock().unwrap().push(inspect),
        )
        .explore(body);
    assert!(report.verdict().is_pass(), "{report}");
    let told = told.lock().unwrap();
    assert!(told.contains(&Inspection::Seen("None".into())), "{told:?}");
}
