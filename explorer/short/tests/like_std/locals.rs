//! Thread-locals: syntax, initialisation, and the order of destructors.

#![allow(
    clippy::missing_const_for_thread_local,
    reason = "both kinds of initialisers are wanted"
)]

use super::subject::{cell, thread, thread_local};
use crate::message_of;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

/// The messages of a case's values when they are dropped.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn say(&self, text: impl Into<String>) {
        self.0.lock().unwrap().push(text.into());
    }

    /// Returns the messages of a thread that ran this closure and has ended.
    fn of(f: impl FnOnce(&Log) + Send + 'static) -> Vec<String> {
        let log = Log::default();
        let theirs = log.clone();
        thread::spawn(move || f(&theirs)).join().unwrap();
        std::mem::take(&mut *log.0.lock().unwrap())
    }
}

/// Calls a closure when it is dropped.
struct Last(Option<Box<dyn FnOnce()>>);

impl Last {
    fn saying(log: &Log, text: &'static str) -> Last {
        let log = log.clone();
        Last::doing(move || log.say(text))
    }

    fn doing(f: impl FnOnce() + 'static) -> Last {
        Last(Some(Box::new(f)))
    }
}

impl Drop for Last {
    fn drop(&mut self) {
        if let Some(f) = self.0.take() {
            f();
        }
    }
}

type Slot = RefCell<Option<Last>>;

thread_local! {
    static A: Slot = const { RefCell::new(None) };
    static B: Slot = RefCell::new(None);
    static C: Slot = const { RefCell::new(None) };
    static NUMBER: Cell<u32> = const { Cell::new(0) };
    static LAZY_NUMBER: Cell<u32> = Cell::new(0);
}

fn keys_initialised_last_are_dropped_first() {
    let said = Log::of(|log| {
        B.set(Some(Last::saying(log, "b")));
        A.set(Some(Last::saying(log, "a")));
        C.set(Some(Last::saying(log, "c")));
        // The first use of the key counts, not that of the value.
        B.set(Some(Last::saying(log, "b again")));
        log.say("end");
    });
    assert_eq!(said, ["b", "end", "c", "a", "b again"]);
}

fn a_destructor_may_make_more_values() {
    let said = Log::of(|log| {
        A.set(Some(Last::saying(log, "a")));
        let theirs = log.clone();
        B.set(Some(Last::doing(move || {
            C.set(Some(Last::saying(&theirs, "c, made late")));
            theirs.say("b");
        })));
    });
    assert_eq!(said, ["b", "c, made late", "a"]);
}

fn destructors_see_what_is_left() {
    let said = Log::of(|log| {
        let look = |name: &'static str| {
            let log = log.clone();
            Last::doing(move || {
                let seen = [&A, &B, &C].map(|key| key.try_with(|_| ()).is_ok());
                NUMBER.set(NUMBER.get() + 1);
                LAZY_NUMBER.set(LAZY_NUMBER.get() + 10);
                log.say(format!(
                    "{name} sees {seen:?} {} {}",
                    NUMBER.get(),
                    LAZY_NUMBER.get()
                ));
            })
        };
        A.set(Some(look("a")));
        B.set(Some(look("b")));
        C.set(Some(look("c")));
        NUMBER.set(5);
    });
    assert_eq!(
        said,
        [
            "c sees [true, true, false] 6 10",
            "b sees [true, false, false] 7 20",
            "a sees [false, false, false] 8 30"
        ]
    );
}

fn what_cannot_be_reached_says_so() {
    let said = Log::of(|log| {
        let log = log.clone();
        A.set(Some(Last::doing(move || {
            let error = A.try_with(|_| ()).unwrap_err();
            log.say(format!("{error}, {error:?}, {}", error == { error }));
            for message in [
                message_of(|| A.with(|_| ())),
                message_of(|| A.set(None)),
                message_of(|| A.take()),
            ] {
                log.say(message);
            }
        })));
    });
    let panics = "cannot access a Thread Local Storage value during or after destruction: AccessError";
    assert_eq!(
        said,
        ["already destroyed, AccessError, true", panics, panics, panics]
    );
}

fn each_thread_has_its_own() {
    NUMBER.set(1);
    let theirs = thread::spawn(|| {
        let fresh = NUMBER.get();
        NUMBER.set(2);
        (fresh, NUMBER.get())
    });
    assert_eq!((theirs.join().unwrap(), NUMBER.get()), ((0, 2), 1));
    NUMBER.set(0);
}

fn values_are_dropped_after_a_panic() {
    let log = Log::default();
    let theirs = log.clone();
    let thread = thread::spawn(move || {
        let _local = Last::saying(&theirs, "on the stack");
        A.set(Some(Last::saying(&theirs, "thread-local")));
        std::panic::resume_unwind(Box::new("over"));
    });
    assert_eq!(*thread.join().unwrap_err().downcast::<&str>().unwrap(), "over");
    assert_eq!(*log.0.lock().unwrap(), ["on the stack", "thread-local"]);
}

fn an_initialiser_runs_once_per_thread() {
    thread_local! {
        static ORDINAL: u32 = { NUMBER.set(NUMBER.get() + 1); NUMBER.get() };
    }
    let look = || {
        NUMBER.set(0);
        ORDINAL.with(|&ordinal| ordinal) + ORDINAL.with(|&ordinal| ordinal) + NUMBER.get()
    };
    assert_eq!(thread::spawn(look).join().unwrap(), 3);
    assert_eq!(thread::spawn(look).join().unwrap(), 3);
}

fn an_initialiser_may_use_its_own_key() {
    struct Named(&'static str);
    impl Drop for Named {
        fn drop(&mut self) {
            let name = self.0;
            let _ = A.try_with(|log| log.borrow_mut().as_mut().map(|_| ()));
            NAMES.with(|names| names.say(format!("{name} is dropped")));
        }
    }
    thread_local! {
        static NAMES: Log = Log::default();
        static KEY: Named = {
            if NUMBER.replace(1) == 0 {
                KEY.with(|inner| NAMES.with(|names| names.say(format!("{} is there first", inner.0))));
                Named("outer")
            } else {
                Named("inner")
            }
        };
    }
    let said = Log::of(|log| {
        let names = NAMES.with(Log::clone);
        KEY.with(|now| names.say(format!("{} stays", now.0)));
        for line in names.0.lock().unwrap().iter() {
            log.say(line);
        }
    });
    assert_eq!(said, ["inner is there first", "inner is dropped", "outer stays"]);
}

fn a_panic_in_an_initialiser_leaves_nothing() {
    thread_local! {
        static FUSSY: u32 = if NUMBER.get() == 0 { panic!("not yet") } else { NUMBER.get() };
    }
    let outcome = thread::spawn(|| {
        let failed = message_of(|| FUSSY.with(|_| ()));
        NUMBER.set(3);
        (failed, FUSSY.with(|&n| n))
    });
    assert_eq!(outcome.join().unwrap(), ("not yet".to_string(), 3));
}

fn set_needs_no_initialiser() {
    thread_local! {
        static CELL: Cell<u32> = panic!("the initialiser of CELL");
        static REF_CELL: RefCell<String> = panic!("the initialiser of REF_CELL");
    }
    let outcome = thread::spawn(|| {
        let failed = message_of(|| CELL.get());
        CELL.set(1);
        REF_CELL.set("one".into());
        CELL.set(2);
        (failed, CELL.get(), REF_CELL.take())
    });
    assert_eq!(
        outcome.join().unwrap(),
        ("the initialiser of CELL".into(), 2, "one".into())
    );
}

fn shortcuts_of_cells() {
    thread_local! {
        static CELL: Cell<u32> = const { Cell::new(1) };
        static SAME: cell::Cell<u32> = const { cell::Cell::new(1) };
        static REF_CELL: RefCell<Vec<u32>> = RefCell::new(vec![1]);
    }
    assert_eq!(
        (CELL.replace(2), CELL.get(), CELL.take(), CELL.get()),
        (1, 2, 2, 0)
    );
    CELL.set(1);
    SAME.set(5);
    assert_eq!(
        (SAME.replace(2), SAME.get(), SAME.take(), SAME.get()),
        (5, 2, 2, 0)
    );
    SAME.set(1);
    REF_CELL.with_borrow_mut(|numbers| numbers.push(2));
    assert_eq!(REF_CELL.with_borrow(Vec::len), 2);
    assert_eq!(REF_CELL.replace(vec![3]), [1, 2]);
    assert_eq!(REF_CELL.take(), [3]);
    assert!(REF_CELL.with_borrow(Vec::is_empty));
    REF_CELL.set(vec![1]);
    let nested = catch_unwind(AssertUnwindSafe(|| {
        REF_CELL.with_borrow_mut(|_| REF_CELL.with_borrow(Vec::len))
    }));
    assert_eq!(
        crate::panic_text(&*nested.unwrap_err()),
        "RefCell already mutably borrowed"
    );
}

/// All syntax that the macro accepts.
mod syntax {
    use super::super::subject::thread_local;
    use std::cell::Cell;

    thread_local!(pub(super) static ONE: u32 = 1);
    thread_local!(static TWO: u32 = const { 2 });
    thread_local! {
        /// Documented.
        #[allow(dead_code)]
        static THREE: u32 = 3;
        #[cfg(any())]
        static NOT_THERE: Missing = missing();
        pub(in super::super) static FOUR: Option<Box<dyn Fn() -> u32>> = const {
            const SUM: u32 = 2 + 2;
            assert!(SUM == 4);
            None
        };
        #[allow(non_upper_case_globals)]
        pub static five: (u32, &'static str) = { let (a, b) = (2, 3); (a + b, "five") };
        static SIX: Cell<[u8; 6]> = const { Cell::new([6; 6]) }
    }
    thread_local! {}

    pub(super) fn sum() -> u32 {
        thread_local!(static LOCAL: u32 = helper());
        fn helper() -> u32 {
            6
        }
        let four = FOUR.with(|four| four.as_ref().map_or(4, |four| four()));
        ONE.with(|&n| n)
            + TWO.with(|&n| n)
            + four
            + five.with(|n| n.0)
            + LOCAL.with(|&n| n)
            + u32::from(SIX.get()[5])
    }
}

fn syntax_of_the_macro() {
    assert_eq!(syntax::sum(), 24);
    assert_eq!(format!("{:?}", syntax::ONE), "LocalKey { .. }");
}

fn a_key_may_be_copied() {
    struct Counter(thread::LocalKey<Cell<u32>>);
    impl Counter {
        fn next(&'static self) -> u32 {
            self.0.set(self.0.get() + 1);
            self.0.get()
        }
    }
    thread_local! {
        static FIRST: Cell<u32> = const { Cell::new(0) };
        static SAME_TYPE: Cell<u32> = const { Cell::new(0) };
        static LAZY: Cell<u32> = Cell::new(20);
    }
    const KEY: thread::LocalKey<Cell<u32>> = FIRST;
    const CONSTANT: Counter = Counter(FIRST);
    static KEPT: Counter = Counter(KEY);
    static MORE: [Counter; 3] = [Counter(FIRST), Counter(SAME_TYPE), Counter(LAZY)];

    let counts = || {
        let copy: &'static Counter = Box::leak(Box::new(Counter(LAZY)));
        FIRST.set(10);
        let first = [
            CONSTANT.next(),
            KEPT.next(),
            MORE[0].next(),
            FIRST.get(),
            KEY.get(),
        ];
        let other = [
            MORE[1].next(),
            SAME_TYPE.get(),
            MORE[2].next(),
            copy.next(),
            LAZY.get(),
        ];
        (first, other)
    };
    let expected = ([11, 12, 13, 13, 13], [1, 1, 21, 22, 22]);
    assert_eq!(thread::spawn(counts).join().unwrap(), expected);
    assert_eq!(thread::spawn(counts).join().unwrap(), expected);
}

fn a_copied_key_has_one_value_to_drop() {
    thread_local!(static KEY: Slot = const { RefCell::new(None) });
    static COPIES: [thread::LocalKey<Slot>; 2] = [KEY, KEY];
    let said = Log::of(|log| {
        COPIES[0].set(Some(Last::saying(log, "first")));
        COPIES[1].set(Some(Last::saying(log, "second")));
        log.say(format!("{}", KEY.with_borrow(Option::is_some)));
    });
    assert_eq!(said, ["first", "true", "second"]);
}

fn a_key_may_belong_to_a_type() {
    struct Pool<T>(T);
    impl<T> Pool<T> {
        thread_local! {
            /// Shared by the pools of all types.
            static NEXT: Cell<u32> = const { Cell::new(0) };
            static NAMES: RefCell<Vec<String>> = RefCell::default();
        }
        fn next() -> u32 {
            Self::NEXT.set(Self::NEXT.get() + 1);
            Self::NAMES.with_borrow_mut(|names| names.push("pool".into()));
            Self::NEXT.get() + Self::NAMES.with_borrow(Vec::len) as u32
        }
    }
    trait Numbered {
        thread_local!(static NUMBER: Cell<u32> = const { Cell::new(7) });
        fn number(&self) -> u32 {
            Self::NUMBER.replace(8)
        }
    }
    impl<T> Numbered for Pool<T> {}
    let numbers = || {
        (
            Pool::<u8>::next(),
            Pool::<String>::next(),
            Pool(1).number(),
            Pool("").number(),
        )
    };
    assert_eq!(thread::spawn(numbers).join().unwrap(), (2, 4, 7, 8));
}

cases! {
    keys_initialised_last_are_dropped_first a_destructor_may_make_more_values destructors_see_what_is_left
    what_cannot_be_reached_says_so each_thread_has_its_own values_are_dropped_after_a_panic
    an_initialiser_runs_once_per_thread an_initialiser_may_use_its_own_key a_panic_in_an_initialiser_leaves_nothing
    set_needs_no_initialiser shortcuts_of_cells syntax_of_the_macro
    a_key_may_be_copied a_copied_key_has_one_value_to_drop a_key_may_belong_to_a_type
}
