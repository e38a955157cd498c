//! Waiting loops of ordinary code, and loops that do more than wait.

use std::cell::{Cell, UnsafeCell};
use std::hint;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::*, fence};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Runs `each` in the given number of threads, which share the state.
fn share<S: Send + Sync + 'static>(tasks: usize, state: S, each: fn(&S, usize)) -> Arc<S> {
    let state = Arc::new(state);
    let task = |number| {
        let state = state.clone();
        thread::spawn(move || each(&state, number))
    };
    let all: Vec<_> = (0..tasks).map(task).collect();
    all.into_iter().for_each(|task| task.join().unwrap());
    state
}

/// A number behind a lock.
struct Guarded<L> {
    lock: L,
    number: UnsafeCell<usize>,
}

unsafe impl<L: Sync> Sync for Guarded<L> {}

/// Lets the given number of threads add to a number under the lock, once each.
fn add_under<L: Lock>(tasks: usize, lock: L) {
    let guarded = Guarded { lock, number: UnsafeCell::new(0) };
    let guarded = share(tasks, guarded, |guarded, task| {
        guarded.lock.acquire(task);
        unsafe { *guarded.number.get() += 1 };
        guarded.lock.release();
    });
    assert_eq!(unsafe { *guarded.number.get() }, tasks);
}

trait Lock: Send + Sync + 'static {
    fn acquire(&self, task: usize);
    fn release(&self);
}

macro_rules! locks {
    ($($name:ident $type:ty, $self:ident, $task:ident, $acquire:block, $release:block)*) => {$(
        #[derive(Default)]
        struct $name($type);
        impl Lock for $name {
            fn acquire(&$self, $task: usize) { let _ = $task; $acquire }
            fn release(&$self) { $release }
        }
    )*};
}

locks! {
    TestAndSet AtomicBool, self, task, {
        while self.0.swap(true, Acquire) {
            hint::spin_loop();
        }
    }, { self.0.store(false, Release) }

    TestAndTestAndSet AtomicBool, self, task, {
        while self.0.swap(true, Acquire) {
            while self.0.load(Relaxed) {
                hint::spin_loop();
            }
        }
    }, { self.0.store(false, Release) }

    LookedAt AtomicBool, self, task, {
        while self.0.load(Relaxed) || self.0.swap(true, Acquire) {
            hint::spin_loop();
        }
    }, { self.0.store(false, Release) }

    Weak AtomicBool, self, task, {
        while self.0.compare_exchange_weak(false, true, Acquire, Relaxed).is_err() {
            while self.0.load(Relaxed) {
                hint::spin_loop();
            }
        }
    }, { self.0.store(false, Release) }

    Matched AtomicUsize, self, task, {
        loop {
            match self.0.compare_exchange(0, 1 + task, Acquire, Relaxed) {
                Ok(_) => break,
                Err(_) => hint::spin_loop(),
            }
        }
    }, { self.0.store(0, Release) }

    Ticket [AtomicUsize; 2], self, task, {
        let mine = self.0[0].fetch_add(1, Relaxed);
        while self.0[1].load(Acquire) != mine {
            hint::spin_loop();
        }
    }, { self.0[1].fetch_add(1, Release); }

    Repeated AtomicBool, self, task, {
        for () in std::iter::repeat(()) {
            if !self.0.swap(true, Acquire) {
                break;
            }
            hint::spin_loop();
        }
    }, { self.0.store(false, Release) }

    Closures AtomicBool, self, task, {
        let wait = |is_taken: &dyn Fn() -> bool, relax: Box<dyn Fn()>| {
            while is_taken() {
                relax();
            }
        };
        while self.0.swap(true, Acquire) {
            wait(&|| self.0.load(Relaxed), Box::new(hint::spin_loop));
        }
    }, { self.0.store(false, Release) }

    Helpers [AtomicBool; 2], self, task, {
        loop {
            // If it fails, most of the result's bytes on the stack stay unchanged.
            assert!(!is_set(&self.0[1]));
            if let Ok(result) = taken(&self.0[0]) {
                assert_eq!(result[7], 1);
                break;
            }
            hint::spin_loop();
        }
    }, { self.0[0].store(false, Release) }

    // The pause grows, up to a limit.
    Saturating AtomicBool, self, task, {
        let mut pause = 1;
        while self.0.swap(true, Acquire) {
            for _ in 0..pause {
                hint::spin_loop();
            }
            pause = (2 * pause).min(16);
        }
    }, { self.0.store(false, Release) }

    // Each round has another state, within its burst or among all rounds.
    Bursts AtomicBool, self, task, {
        loop {
            for _ in 0..3 {
                if !self.0.swap(true, Acquire) {
                    return;
                }
                hint::spin_loop();
            }
            thread::yield_now();
        }
    }, { self.0.store(false, Release) }

    Counting AtomicBool, self, task, {
        for _ in 0.. {
            if !self.0.swap(true, Acquire) {
                break;
            }
            hint::spin_loop();
        }
    }, { self.0.store(false, Release) }

    Silent AtomicBool, self, task, {
        while self.0.swap(true, Acquire) {
            while self.0.load(Relaxed) {}
        }
    }, { self.0.store(false, Release) }
}

fn is_set(flag: &AtomicBool) -> bool {
    flag.swap(false, Acquire)
}

#[inline(never)]
fn taken(flag: &AtomicBool) -> Result<[usize; 8], u8> {
    let result = if flag.swap(true, Acquire) { Err(3) } else { Ok([1; 8]) };
    result
}

fn a_flag(tasks: usize) {
    share(tasks, [AtomicBool::new(false), AtomicBool::new(false)], |[flag, data], task| {
        if task == 0 {
            data.store(true, Relaxed);
            flag.store(true, Release);
            return;
        }
        while !flag.load(Acquire) {
            thread::yield_now();
        }
        assert!(data.load(Relaxed));
    });
}

fn a_pointer(tasks: usize) {
    let pointer = share(tasks, AtomicPtr::<usize>::default(), |pointer, task| {
        if task == 0 {
            return pointer.store(Box::into_raw(Box::new(7)), Release);
        }
        let found = loop {
            let found = pointer.load(Acquire);
            if !found.is_null() {
                break found;
            }
            hint::spin_loop();
        };
        assert_eq!(unsafe { *found }, 7);
    });
    drop(unsafe { Box::from_raw(pointer.load(Acquire)) });
}

fn a_mutex(tasks: usize) {
    let mutex = share(tasks, Mutex::new(0), |mutex, _| {
        let mut guard = loop {
            if let Ok(guard) = mutex.try_lock() {
                break guard;
            }
            thread::yield_now();
        };
        *guard += 1;
    });
    assert_eq!(*mutex.lock().unwrap(), tasks);
}

/// Peterson's lock, and for more than two threads the filter lock.
fn peterson(tasks: usize) {
    const LEVELS: usize = 3;
    type Numbers = [AtomicUsize; LEVELS];
    let state: (Numbers, Numbers, AtomicUsize, AtomicUsize) = Default::default();
    state.2.store(tasks, Relaxed);
    let state = share(tasks, state, |(levels, last, tasks, data), task| {
        let tasks = tasks.load(Relaxed);
        for level in 1..tasks {
            levels[task].store(level, SeqCst);
            last[level].store(task, SeqCst);
            let is_there = |other: usize| other != task && levels[other].load(SeqCst) >= level;
            while (0..tasks).any(is_there) && last[level].load(SeqCst) == task {
                hint::spin_loop();
            }
        }
        let before = data.load(Relaxed);
        data.store(before + 1, Relaxed);
        levels[task].store(0, SeqCst);
    });
    assert_eq!(state.3.load(Relaxed), tasks);
}

fn a_sequence(tasks: usize) {
    let state = [AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0)];
    share(tasks, state, |[sequence, left, right], task| {
        if task == 0 {
            sequence.store(1, Relaxed);
            fence(Release);
            left.store(1, Relaxed);
            right.store(1, Relaxed);
            return sequence.store(2, Release);
        }
        let read = loop {
            let before = sequence.load(Acquire);
            if before % 2 == 0 {
                let read = (left.load(Relaxed), right.load(Relaxed));
                fence(Acquire);
                if sequence.load(Relaxed) == before {
                    break read;
                }
            }
            hint::spin_loop();
        };
        assert_eq!(read.0, read.1);
    });
}

macro_rules! tests {
    ($($module:ident $tasks:literal)*) => {$(
        mod $module {
            use super::*;
            #[test] fn test_and_set() { add_under($tasks, TestAndSet::default()) }
            #[test] fn test_and_test_and_set() { add_under($tasks, TestAndTestAndSet::default()) }
            #[test] fn looked_at() { add_under($tasks, LookedAt::default()) }
            #[test] fn weak() { add_under($tasks, Weak::default()) }
            #[test] fn matched() { add_under($tasks, Matched::default()) }
            #[test] fn ticket() { add_under($tasks, Ticket::default()) }
            #[test] fn repeated() { add_under($tasks, Repeated::default()) }
            #[test] fn closures() { add_under($tasks, Closures::default()) }
            #[test] fn flag() { a_flag($tasks) }
            #[test] fn pointer() { a_pointer($tasks) }
            #[test] fn mutex() { a_mutex($tasks) }
        }
    )*};
}

#[cfg(test)]
tests! { two 2 three 3 }

/// Loops with failed rounds that cannot be left out.
#[cfg(test)]
mod fair {
    use super::*;
    #[test] fn saturating() { add_under(2, Saturating::default()) }
    #[test] fn bursts() { add_under(2, Bursts::default()) }
    #[test] fn counting() { add_under(2, Counting::default()) }
    #[test] fn helpers() { add_under(2, Helpers::default()) }
    #[test] fn silent() { add_under(2, Silent::default()) }
    #[test] fn two_in_peterson() { peterson(2) }
    #[test] fn a_reader_of_a_sequence() { a_sequence(2) }
}

/// Loops that never end.
#[cfg(test)]
mod endless {
    use super::*;
    fn wait(lock: impl Lock) {
        thread::spawn(move || lock.acquire(0)).join().unwrap();
    }
    #[test] fn saturating() { wait(Saturating(AtomicBool::new(true))) }
    #[test] fn bursts() { wait(Bursts(AtomicBool::new(true))) }
    #[test] fn looked_at() { wait(LookedAt(AtomicBool::new(true))) }
}

/// Loops in which each round has an effect. Each test fails to show that some number of rounds is possible.
#[cfg(test)]
mod counted {
    use super::*;

    /// Lets a thread set the flag for which the loop waits. The loop must not return `never`.
    fn wait(never: usize, wait: fn(&AtomicBool) -> usize) {
        let flag = Arc::new(AtomicBool::new(false));
        let setter = flag.clone();
        let setter = thread::spawn(move || setter.store(true, Release));
        assert_ne!(wait(&flag), never, "the loop gave up");
        setter.join().unwrap();
    }

    #[test]
    fn rounds() {
        wait(2, |flag| {
            let mut rounds = 0;
            while !flag.load(Acquire) {
                rounds += 1;
                hint::spin_loop();
            }
            rounds
        });
    }

    #[test]
    fn a_growing_pause() {
        wait(4, |flag| {
            let mut pause = 1;
            while !flag.load(Acquire) {
                for _ in 0..pause {
                    hint::spin_loop();
                }
                pause = (2 * pause).min(4);
            }
            pause
        });
    }

    #[test]
    fn attempts() {
        wait(9, |flag| {
            for attempt in 0..3 {
                if flag.load(Acquire) {
                    return attempt;
                }
                thread::yield_now();
            }
            9
        });
    }

    #[test]
    fn a_limit_of_time() {
        wait(9, |flag| {
            let begin = Instant::now();
            while !flag.load(Acquire) {
                if begin.elapsed() > Duration::from_micros(5) {
                    return 9;
                }
                hint::spin_loop();
            }
            1
        });
    }

    #[test]
    fn an_array() {
        wait(1, |flag| {
            let (mut seen, mut at) = ([0; 4], 0);
            while !flag.load(Acquire) {
                seen[at] += 1;
                at = (at + 1) % 4;
                hint::spin_loop();
            }
            seen[1]
        });
    }

    #[test]
    fn a_cell() {
        wait(2, |flag| {
            let rounds = Cell::new(0);
            while !flag.load(Acquire) {
                rounds.set(rounds.get() + 1);
                hint::spin_loop();
            }
            rounds.get()
        });
    }

    #[test]
    fn the_second_of_a_burst() {
        wait(1, |flag| loop {
            for look in 0..2 {
                if flag.load(Acquire) {
                    return look;
                }
                hint::spin_loop();
            }
            thread::yield_now();
        });
    }

    #[test]
    fn an_atomic() {
        wait(2, |flag| {
            let rounds = AtomicUsize::new(0);
            while !flag.load(Acquire) {
                rounds.fetch_add(1, Relaxed);
                hint::spin_loop();
            }
            rounds.load(Relaxed)
        });
    }
}
