//! Small programs in which threads use handles of one `Arc`. Each execution adds its outcome to a file of the program.

use std::cell::Cell;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Weak};
use std::thread;

/// Random numbers from a seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % bound
    }
}

thread_local! {
    static THREAD: Cell<u32> = const { Cell::new(1) };
}

/// A value that notes which thread drops it.
struct Value(Arc<AtomicU32>);

impl Drop for Value {
    fn drop(&mut self) {
        self.0.store(THREAD.get(), SeqCst);
    }
}

/// The handles of a thread.
#[derive(Default)]
struct Handles {
    strong: Vec<Arc<Value>>,
    weak: Vec<Weak<Value>>,
}

/// The result of an operation for which there is no handle.
const NOTHING: usize = 9;

impl Handles {
    fn act(&mut self, operation: u64) -> usize {
        let Handles { strong, weak } = self;
        match operation {
            0 => {
                let clone = strong.last().cloned();
                let is_some = clone.is_some();
                strong.extend(clone);
                usize::from(is_some)
            }
            1 | 2 => usize::from(strong.pop().is_some()),
            3 => strong.last().map_or(NOTHING, Arc::strong_count),
            4 => strong.last().map_or(NOTHING, Arc::weak_count),
            5 => strong
                .last_mut()
                .map_or(NOTHING, |handle| usize::from(Arc::get_mut(handle).is_some())),
            6 => match strong.pop().map(Arc::try_unwrap) {
                None => NOTHING,
                Some(Ok(_)) => 1,
                Some(Err(handle)) => {
                    strong.push(handle);
                    0
                }
            },
            7 => strong
                .pop()
                .map_or(NOTHING, |handle| usize::from(Arc::into_inner(handle).is_some())),
            8 => {
                let handle = strong.last().map(Arc::downgrade);
                let is_some = handle.is_some();
                weak.extend(handle);
                usize::from(is_some)
            }
            9 | 10 => match weak.last().map(Weak::upgrade) {
                None => NOTHING,
                Some(None) => 0,
                Some(Some(handle)) => {
                    strong.push(handle);
                    1
                }
            },
            11 => usize::from(weak.pop().is_some()),
            12 => {
                let clone = weak.last().cloned();
                weak.extend(clone);
                0
            }
            13 => weak.last().map_or(NOTHING, Weak::strong_count),
            14 => weak.last().map_or(NOTHING, Weak::weak_count),
            _ => weak
                .last()
                .map_or(NOTHING, |handle| usize::from(handle.upgrade().is_some())),
        }
    }
}

fn program(seed: u64) {
    let mut numbers = Numbers(seed.wrapping_mul(0x9e3779b97f4a7c15));
    let dropped_by = Arc::new(AtomicU32::new(0));
    let mut own = Handles::default();
    own.strong.push(Arc::new(Value(dropped_by.clone())));
    if numbers.below(3) > 0 {
        own.weak.push(Arc::downgrade(&own.strong[0]));
    }
    let count = 1 + numbers.below(2);
    let threads: Vec<_> = (0..count)
        .map(|thread| {
            let length = 3 - count + numbers.below(2);
            let operations: Vec<u64> = (0..length).map(|_| numbers.below(16)).collect();
            let mut own = Handles {
                strong: match numbers.below(3) {
                    0 => Vec::new(),
                    _ => own.strong.last().cloned().into_iter().collect(),
                },
                weak: match numbers.below(2) {
                    0 => Vec::new(),
                    _ => own.weak.last().cloned().into_iter().collect(),
                },
            };
            thread::spawn(move || {
                THREAD.set(2 + thread as u32);
                let results: Vec<usize> = operations.into_iter().map(|it| own.act(it)).collect();
                drop(own.weak);
                drop(own.strong);
                results
            })
        })
        .collect();
    let length = 1 + numbers.below(2);
    let results: Vec<usize> = (0..length).map(|_| own.act(numbers.below(16))).collect();
    drop(own.strong);
    drop(own.weak);
    let mut outcome = format!("{results:?}");
    for thread in threads {
        write!(outcome, " {:?}", thread.join().unwrap()).unwrap();
    }
    write!(outcome, " dropped by {}", dropped_by.load(SeqCst)).unwrap();
    note(&seed.to_string(), &outcome);
}

fn note(name: &str, outcome: &str) {
    let path = format!("{}/outcomes/{name}", env!("CARGO_MANIFEST_DIR"));
    let mut file = OpenOptions::new().append(true).create(true).open(path).unwrap();
    file.write_all(format!("{outcome}\n").as_bytes()).unwrap();
}

/// While the handle is unique, `make_mut` takes it away and puts it back.
#[test]
fn made_unique() {
    let mut own = Arc::new(1);
    let (mut other, weak) = (own.clone(), Arc::downgrade(&own));
    let thread = thread::spawn(move || {
        *Arc::make_mut(&mut other) += 1;
        let upgraded = weak.upgrade().map(|value| *value);
        (upgraded, *other)
    });
    *Arc::make_mut(&mut own) += 2;
    *Arc::make_mut(&mut own) += 2;
    let result = thread.join().unwrap();
    note("made_unique", &format!("{own} {result:?}"));
}

/// Many changes of a count are concurrent: there is one trace, which is not searched without a reduction.
#[test]
#[ignore = "for a search with a reduction"]
fn many_clones() {
    let value = Arc::new(1);
    let work = |value: &Arc<u32>| (0..300).for_each(|_| drop(value.clone()));
    thread::scope(|scope| {
        for _ in 0..3 {
            let value = value.clone();
            scope.spawn(move || work(&value));
        }
        work(&value);
    });
}

macro_rules! programs {
    ($($name:ident = $seed:expr),*) => {
        $(#[test] fn $name() { program($seed); })*
    };
}

programs! {
    p11 = 11, p13 = 13, p14 = 14, p18 = 18, p20 = 20, p27 = 27, p37 = 37, p40 = 40, p44 = 44, p47 = 47, p48 = 48,
    p53 = 53, p56 = 56, p58 = 58, p59 = 59, p62 = 62, p63 = 63, p74 = 74, p76 = 76, p77 = 77, p80 = 80, p85 = 85,
    p89 = 89, p92 = 92, p94 = 94, p99 = 99, p102 = 102, p103 = 103, p104 = 104, p105 = 105, p106 = 106, p114 = 114,
    p116 = 116, p117 = 117, p118 = 118, p119 = 119, p120 = 120, p122 = 122, p133 = 133, p190 = 190
}
