//! Threads by `spawn` and `Builder`, their handles, and parking.

use super::subject::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use super::subject::thread::{self, Builder, Thread};
use crate::{message_of, panic_text};
use std::collections::HashSet;
use std::panic::{panic_any, resume_unwind};
use std::sync::Arc;
use std::time::Duration;

fn results_come_back() {
    let text = String::from("moved in");
    assert_eq!(thread::spawn(move || text.len()).join().unwrap(), 8);
    assert_eq!(thread::spawn(|| [7u64; 200]).join().unwrap()[199], 7);
    thread::spawn(|| thread::spawn(|| ()).join().unwrap())
        .join()
        .unwrap();
}

fn panics_come_back() {
    let text = |thread: thread::JoinHandle<()>| panic_text(&*thread.join().unwrap_err());
    assert_eq!(text(thread::spawn(|| panic!("a literal"))), "a literal");
    assert_eq!(text(thread::spawn(|| panic!("{} and {}", 1, 2))), "1 and 2");
    assert_eq!(
        *thread::spawn(|| panic_any(5u8))
            .join()
            .unwrap_err()
            .downcast::<u8>()
            .unwrap(),
        5
    );
    let quiet = thread::spawn(|| resume_unwind(Box::new("no hook")));
    assert_eq!(*quiet.join().unwrap_err().downcast::<&str>().unwrap(), "no hook");
}

fn unwinding_drops() {
    struct Sets(Arc<AtomicBool>);
    impl Drop for Sets {
        fn drop(&mut self) {
            self.0.store(thread::panicking(), SeqCst);
        }
    }
    let unwound = Arc::new(AtomicBool::new(false));
    let sets = Sets(unwound.clone());
    let thread = thread::spawn(move || {
        let _sets = sets;
        panic!("unwinds");
    });
    assert!(thread.join().is_err());
    assert!(unwound.load(SeqCst) && !thread::panicking());
}

fn names() {
    let named = Builder::new()
        .name("Ada".into())
        .spawn(|| thread::current().name().map(String::from))
        .unwrap();
    assert_eq!(named.thread().name(), Some("Ada"));
    assert_eq!(named.join().unwrap().as_deref(), Some("Ada"));
    let nameless = thread::spawn(|| thread::current().name().map(String::from));
    assert_eq!(nameless.thread().name(), None);
    assert_eq!(nameless.join().unwrap(), None);
    let name = thread::scope(|s| {
        let thread = Builder::new()
            .name("scoped".into())
            .spawn_scoped(s, thread::current)
            .unwrap();
        thread.join().unwrap().name().map(String::from)
    });
    assert_eq!(name.as_deref(), Some("scoped"));
}

fn impossible_names() {
    let expected = "thread name may not contain interior null bytes: NulError(1, [97, 0])";
    assert_eq!(
        message_of(|| Builder::new().name("a\0".into()).spawn(|| ())),
        expected
    );
    assert_eq!(
        message_of(|| thread::scope(|s| Builder::new().name("a\0".into()).spawn_scoped(s, || ()).map(drop))),
        expected
    );
}

fn identities() {
    let threads: Vec<_> = (0..3).map(|_| thread::spawn(|| thread::current().id())).collect();
    let mut ids = HashSet::from([thread::current().id()]);
    for thread in threads {
        let id = thread.thread().id();
        assert_eq!(thread.join().unwrap(), id);
        assert!(ids.insert(id), "{id:?}");
    }
    assert!(ids.iter().all(|id| format!("{id:?}").starts_with("ThreadId(")));
    assert_eq!(thread::current().id(), thread::current().id());
}

fn texts() {
    let thread = Builder::new().name("Ada".into()).spawn(|| ()).unwrap();
    let handle: Thread = thread.thread().clone();
    assert_eq!(
        format!("{handle:?}"),
        format!("Thread {{ id: {:?}, name: Some(\"Ada\"), .. }}", handle.id())
    );
    assert_eq!(format!("{thread:?}"), "JoinHandle { .. }");
    thread.join().unwrap();
}

fn builders() {
    let text = String::from("borrowed");
    // SAFETY: joined before the end of what it borrows.
    let thread = unsafe { Builder::new().stack_size(1 << 20).spawn_unchecked(|| text.len()) }.unwrap();
    assert_eq!(thread.join().unwrap(), 8);
    // No machine has so much memory.
    let too_large = || Builder::new().stack_size(usize::MAX / 4);
    assert!(too_large().spawn(|| ()).is_err());
    thread::scope(|scope| assert!(too_large().spawn_scoped(scope, || ()).is_err()));
    // The one after it has what it needs.
    let next = Builder::new().spawn(|| 9).unwrap();
    assert_eq!(next.join().unwrap(), 9);
}

fn is_finished() {
    let go = Arc::new(AtomicBool::new(false));
    let theirs = go.clone();
    let thread = thread::spawn(move || {
        while !theirs.load(SeqCst) {
            thread::yield_now();
        }
    });
    assert!(!thread.is_finished());
    go.store(true, SeqCst);
    while !thread.is_finished() {
        thread::yield_now();
    }
    thread.join().unwrap();
}

fn a_token_is_kept_once() {
    let me = thread::current();
    me.unpark();
    me.unpark();
    thread::park();
    thread::park_timeout(Duration::from_millis(1));
    thread::current().unpark();
    thread::park_timeout(Duration::from_secs(600));
}

fn unparked_by_another() {
    let ready = Arc::new(AtomicBool::new(false));
    let (theirs, me) = (ready.clone(), thread::current());
    let thread = thread::spawn(move || {
        theirs.store(true, SeqCst);
        me.unpark();
    });
    while !ready.load(SeqCst) {
        thread::park();
    }
    thread.join().unwrap();
    // The token may still be there.
    thread::park_timeout(Duration::ZERO);
}

fn the_ended_can_be_unparked() {
    let thread = thread::spawn(|| ());
    let handle = thread.thread().clone();
    thread.join().unwrap();
    handle.unpark();
}

fn a_detached_thread_goes_on() {
    let count = Arc::new(AtomicU32::new(0));
    let theirs = count.clone();
    drop(thread::spawn(move || {
        theirs.fetch_add(1, SeqCst);
    }));
    while count.load(SeqCst) == 0 {
        thread::yield_now();
    }
}

fn processors() {
    assert!(thread::available_parallelism().unwrap().get() >= 1);
}

cases! {
    results_come_back panics_come_back unwinding_drops names impossible_names identities texts builders is_finished
    a_token_is_kept_once unparked_by_another the_ended_can_be_unparked a_detached_thread_goes_on processors
}
