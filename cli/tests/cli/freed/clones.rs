//! Small programs in which threads clone handles by raw pointers, or by handles of their own, and drop them. The
//! clones by raw pointers break the contracts of what they call, if another thread drops the last handle first: those
//! are the faults to find.

use std::mem::{self, ManuallyDrop};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering::SeqCst};
use std::sync::{Arc, Mutex, Weak};
use std::thread;

/// Random numbers from a seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % bound
    }
}

/// Two pointers to strong handles, one to a weak handle, and a strong handle behind a lock.
struct Shared {
    strong: [AtomicPtr<u32>; 2],
    weak: AtomicPtr<u32>,
    locked: Mutex<Option<Arc<u32>>>,
}

/// The handles of a thread.
#[derive(Default)]
struct Own {
    strong: Vec<Arc<u32>>,
    weak: Vec<Weak<u32>>,
}

impl Shared {
    fn act(&self, action: u64, own: &mut Own) {
        let slot = &self.strong[action as usize % 2];
        match action / 2 {
            // The clone is kept, or dropped at once.
            0 | 1 => {
                let value = slot.load(SeqCst);
                if !value.is_null() {
                    unsafe { Arc::increment_strong_count(value) };
                    let clone = unsafe { Arc::from_raw(value) };
                    if action / 2 == 0 {
                        own.strong.push(clone);
                    }
                }
            }
            // The last handle of a slot is removed, and dropped or kept.
            2 | 3 => {
                let value = slot.swap(ptr::null_mut(), SeqCst);
                if !value.is_null() {
                    let handle = unsafe { Arc::from_raw(value) };
                    if action / 2 == 3 {
                        own.strong.push(handle);
                    }
                }
            }
            // A handle of a thread is cloned, or dropped, or put into the slot.
            4 => {
                let clone = own.strong.last().cloned();
                own.strong.extend(clone);
            }
            5 => drop(own.strong.pop()),
            6 => {
                if let Some(handle) = own.strong.pop() {
                    let before = slot.swap(Arc::into_raw(handle).cast_mut(), SeqCst);
                    if !before.is_null() {
                        drop(unsafe { Arc::from_raw(before) });
                    }
                }
            }
            // A weak handle is cloned by its pointer, or upgraded, or dropped.
            7 => {
                let value = self.weak.load(SeqCst);
                if !value.is_null() {
                    let handle = ManuallyDrop::new(unsafe { Weak::from_raw(value) });
                    match action % 2 {
                        0 => own.weak.push((*handle).clone()),
                        _ => own.strong.extend(handle.upgrade()),
                    }
                }
            }
            8 => {
                let value = self.weak.swap(ptr::null_mut(), SeqCst);
                if !value.is_null() {
                    drop(unsafe { Weak::from_raw(value) });
                }
            }
            9 => match action % 2 {
                0 => own.weak.extend(own.strong.last().map(Arc::downgrade)),
                _ => own.strong.extend(own.weak.last().and_then(Weak::upgrade)),
            },
            10 => match action % 2 {
                0 => drop(own.weak.pop()),
                _ => {
                    if let Some(handle) = own.weak.pop() {
                        let before = self.weak.swap(handle.into_raw().cast_mut(), SeqCst);
                        if !before.is_null() {
                            drop(unsafe { Weak::from_raw(before) });
                        }
                    }
                }
            },
            11 => {
                let clone = self.locked.lock().unwrap().clone();
                own.strong.extend(clone);
            }
            _ => drop(mem::take(&mut *self.locked.lock().unwrap())),
        }
    }
}

fn raw(value: &Arc<u32>) -> AtomicPtr<u32> {
    AtomicPtr::new(Arc::into_raw(value.clone()).cast_mut())
}

fn program(seed: u64) {
    let mut numbers = Numbers(seed.wrapping_mul(0x9e3779b97f4a7c15));
    let values = [Arc::new(1), Arc::new(2)];
    let shared = Arc::new(Shared {
        strong: [raw(&values[0]), raw(&values[1])],
        weak: AtomicPtr::new(Arc::downgrade(&values[0]).into_raw().cast_mut()),
        locked: Mutex::new((numbers.below(2) == 0).then(|| values[1].clone())),
    });
    let mut own = Own::default();
    if numbers.below(2) == 0 {
        own.strong.extend(values);
    } else {
        drop(values);
    }
    let count = 1 + numbers.below(2);
    let threads: Vec<_> = (0..count)
        .map(|_| {
            let actions: Vec<u64> = (0..4 - count).map(|_| numbers.below(26)).collect();
            let shared = shared.clone();
            let mut own = Own {
                strong: match numbers.below(2) {
                    0 => own.strong.last().cloned().into_iter().collect(),
                    _ => Vec::new(),
                },
                weak: Vec::new(),
            };
            thread::spawn(move || actions.into_iter().for_each(|action| shared.act(action, &mut own)))
        })
        .collect();
    for _ in 0..2 {
        shared.act(numbers.below(26), &mut own);
    }
    drop(own);
    for thread in threads {
        thread.join().unwrap();
    }
}

macro_rules! programs {
    ($($name:ident = $seed:expr),*) => {
        $(#[test] fn $name() { program($seed); })*
    };
}

programs! {
    p1004 = 1004, p1006 = 1006, p1007 = 1007, p1008 = 1008, p1009 = 1009, p1014 = 1014, p1020 = 1020,
    p1021 = 1021, p1023 = 1023, p1025 = 1025, p1027 = 1027, p1028 = 1028, p1034 = 1034, p1035 = 1035,
    p1037 = 1037, p1038 = 1038, p1041 = 1041, p1042 = 1042, p1043 = 1043, p1044 = 1044, p1045 = 1045,
    p1047 = 1047, p1084 = 1084, p1091 = 1091, p1093 = 1093, p1096 = 1096, p1106 = 1106, p1111 = 1111,
    p1132 = 1132, p1148 = 1148, p1151 = 1151, p1177 = 1177, p1180 = 1180, p1202 = 1202, p1204 = 1204,
    p1206 = 1206, p1208 = 1208, p1244 = 1244, p1257 = 1257, p1266 = 1266
}
