//! Every synchronisation object orders atomics under the memory model of C++20: a message that is passed by it is never
//! read stale. If the object is imitated by relaxed atomics, the message is read stale.

use intermezzo::sync::atomic::Ordering::{Relaxed, Release, SeqCst};
use intermezzo::sync::atomic::{AtomicU32, AtomicUsize, fence};
use intermezzo::sync::mpsc::{channel, sync_channel};
use intermezzo::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock};
use intermezzo::{Coverage, Environment, Explorer, Report, Verdict, hint, thread};
use std::time::Duration;

fn explored(test: impl Fn() + Send + Sync + 'static) -> Report {
    let environment = Environment {
        stale_reads: 2,
        ..Environment::calm()
    };
    Explorer::new().environment(environment).explore(test)
}

/// Checks that a message is read in every execution that the model allows. The message is 7.
fn never_stale(name: &str, test: impl Fn(Arc<AtomicU32>) + Send + Sync + 'static) {
    let report = explored(move || test(Arc::new(AtomicU32::new(0))));
    assert_eq!(report.verdict(), Verdict::Pass, "{name}: {report}");
    assert_eq!(report.coverage(), &Coverage::Exhaustive, "{name}: {report}");
}

/// Checks that a message is not read in some execution, because a load returns an old value.
fn stale(name: &str, test: impl Fn(Arc<AtomicU32>) + Send + Sync + 'static) {
    let report = explored(move || test(Arc::new(AtomicU32::new(0))));
    assert_eq!(report.verdict(), Verdict::Fail, "{name}: {report}");
    let told = report.findings()[0].stale_operations();
    assert!(
        told.iter().any(|told| told.contains("It passes over 7")),
        "{name}: {report}"
    );
}

/// Waits for a flag by relaxed loads, as an imitation of a synchronisation object.
fn until(flag: &AtomicU32) {
    while flag.load(Relaxed) == 0 {
        hint::spin_loop();
    }
}

fn read(message: &AtomicU32) {
    assert_eq!(message.load(Relaxed), 7);
}

#[test]
fn channels_order() {
    never_stale("channel", |message| {
        let (sender, receiver) = channel();
        let sent = Arc::clone(&message);
        let task = thread::spawn(move || {
            sent.store(7, Relaxed);
            sender.send(()).unwrap();
        });
        receiver.recv().unwrap();
        read(&message);
        task.join().unwrap();
    });
    for room in [0, 1] {
        never_stale("sync_channel", move |message| {
            let (sender, receiver) = sync_channel(room);
            let sent = Arc::clone(&message);
            let task = thread::spawn(move || {
                sent.store(7, Relaxed);
                sender.send(()).unwrap();
            });
            receiver.recv().unwrap();
            read(&message);
            task.join().unwrap();
        });
    }
    // The end of the sender orders, too.
    never_stale("a closed channel", |message| {
        let (sender, receiver) = channel::<()>();
        let sent = Arc::clone(&message);
        let task = thread::spawn(move || {
            sent.store(7, Relaxed);
            drop(sender);
        });
        receiver.recv().unwrap_err();
        read(&message);
        task.join().unwrap();
    });
    stale("a queue of one flag", |message| {
        let queue = Arc::new(AtomicU32::new(0));
        let (sent, sender) = (Arc::clone(&message), Arc::clone(&queue));
        let task = thread::spawn(move || {
            sent.store(7, Relaxed);
            sender.store(1, Relaxed);
        });
        until(&queue);
        read(&message);
        task.join().unwrap();
    });
}

/// A receiver orders by making room, by waiting for a message, and by its end.
#[test]
fn receivers_order() {
    never_stale("room for a message", |message| {
        let (sender, receiver) = sync_channel(1);
        sender.send(()).unwrap();
        let received = Arc::clone(&message);
        let task = thread::spawn(move || {
            received.store(7, Relaxed);
            receiver.iter().count()
        });
        sender.send(()).unwrap();
        read(&message);
        drop(sender);
        task.join().unwrap();
    });
    for limit in [None, Some(Duration::from_millis(1))] {
        never_stale("a rendezvous", move |message| {
            let (sender, receiver) = sync_channel(0);
            let received = Arc::clone(&message);
            let task = thread::spawn(move || {
                received.store(7, Relaxed);
                match limit {
                    None => receiver.recv().is_ok(),
                    Some(limit) => receiver.recv_timeout(limit).is_ok(),
                }
            });
            if sender.try_send(()).is_ok() {
                read(&message);
            }
            drop(sender);
            task.join().unwrap();
        });
    }
    never_stale("a closed channel", |message| {
        let (sender, receiver) = channel();
        let received = Arc::clone(&message);
        let task = thread::spawn(move || {
            received.store(7, Relaxed);
            drop(receiver);
        });
        if sender.send(()).is_err() {
            read(&message);
        }
        task.join().unwrap();
    });
    // A receiver that does not wait is not noticed.
    stale("a rendezvous that fails", |message| {
        let (sender, receiver) = sync_channel(0);
        let (received, begun) = (Arc::clone(&message), Arc::new(AtomicU32::new(0)));
        let is_begun = Arc::clone(&begun);
        let task = thread::spawn(move || {
            received.store(7, Relaxed);
            is_begun.store(1, Relaxed);
            receiver.iter().count()
        });
        if sender.try_send(()).is_err() && begun.load(Relaxed) == 1 {
            read(&message);
        }
        drop(sender);
        task.join().unwrap();
    });
}

#[test]
fn barriers_order() {
    never_stale("Barrier", |message| {
        let barrier = Arc::new(Barrier::new(2));
        let (sent, other) = (Arc::clone(&message), Arc::clone(&barrier));
        let task = thread::spawn(move || {
            sent.store(7, Relaxed);
            other.wait();
        });
        barrier.wait();
        read(&message);
        task.join().unwrap();
    });
    stale("a relaxed count", |message| {
        let count = Arc::new(AtomicUsize::new(0));
        let (sent, other) = (Arc::clone(&message), Arc::clone(&count));
        let wait = |count: &AtomicUsize| {
            count.fetch_add(1, Relaxed);
            while count.load(Relaxed) < 2 {
                hint::spin_loop();
            }
        };
        let task = thread::spawn(move || {
            sent.store(7, Relaxed);
            wait(&other);
        });
        wait(&count);
        read(&message);
        task.join().unwrap();
    });
}

#[test]
fn initialisations_order() {
    never_stale("Once", |message| {
        let once = Arc::new(Once::new());
        let (sent, other) = (Arc::clone(&message), Arc::clone(&once));
        let task = thread::spawn(move || other.call_once(|| sent.store(7, Relaxed)));
        once.call_once(|| message.store(7, Relaxed));
        read(&message);
        task.join().unwrap();
    });
    never_stale("Once::is_completed", |message| {
        let once = Arc::new(Once::new());
        let (sent, other) = (Arc::clone(&message), Arc::clone(&once));
        let task = thread::spawn(move || other.call_once(|| sent.store(7, Relaxed)));
        if once.is_completed() {
            read(&message);
        }
        task.join().unwrap();
    });
    never_stale("OnceLock", |message| {
        let cell = Arc::new(OnceLock::new());
        let (sent, other) = (Arc::clone(&message), Arc::clone(&cell));
        let task = thread::spawn(move || {
            other.get_or_init(|| sent.store(7, Relaxed));
        });
        if cell.get().is_some() {
            read(&message);
        }
        task.join().unwrap();
    });
    never_stale("LazyLock", |message| {
        let made = Arc::clone(&message);
        let lazy = Arc::new(LazyLock::new(move || made.store(7, Relaxed)));
        let other = Arc::clone(&lazy);
        let task = thread::spawn(move || {
            LazyLock::force(&*other);
        });
        LazyLock::force(&*lazy);
        read(&message);
        task.join().unwrap();
    });
    stale("a relaxed flag", |message| {
        let done = Arc::new(AtomicU32::new(0));
        let (sent, other) = (Arc::clone(&message), Arc::clone(&done));
        let task = thread::spawn(move || {
            sent.store(7, Relaxed);
            other.store(1, Relaxed);
        });
        if done.load(Relaxed) == 1 {
            read(&message);
        }
        task.join().unwrap();
    });
}

#[test]
fn statics_order_their_initialisation() {
    never_stale("a lazily initialised static", |message| {
        static MADE: LazyLock<AtomicU32> = LazyLock::new(|| {
            let made = AtomicU32::new(0);
            made.store(7, Relaxed);
            made
        });
        let task = thread::spawn(|| read(&MADE));
        read(&MADE);
        task.join().unwrap();
        _ = message;
    });
    stale("a static that is filled by hand", |_| {
        static MADE: [AtomicU32; 2] = [AtomicU32::new(0), AtomicU32::new(0)];
        let task = thread::spawn(|| {
            MADE[0].store(7, Relaxed);
            MADE[1].store(1, Relaxed);
        });
        if MADE[1].load(Relaxed) == 1 {
            read(&MADE[0]);
        }
        task.join().unwrap();
    });
}

#[test]
fn locks_and_condition_variables_order() {
    never_stale("Mutex", |message| {
        let lock = Arc::new(Mutex::new(false));
        let (sent, other) = (Arc::clone(&message), Arc::clone(&lock));
        let task = thread::spawn(move || {
            sent.store(7, Relaxed);
            *other.lock().unwrap() = true;
        });
        let sent = *lock.lock().unwrap();
        if sent {
            read(&message);
        }
        task.join().unwrap();
    });
    never_stale("RwLock", |message| {
        let lock = Arc::new(RwLock::new(false));
        let (sent, other) = (Arc::clone(&message), Arc::clone(&lock));
        let task = thread::spawn(move || {
            sent.store(7, Relaxed);
            *other.write().unwrap() = true;
        });
        let sent = *lock.read().unwrap();
        if sent {
            read(&message);
        }
        task.join().unwrap();
    });
    never_stale("Condvar", |message| {
        let shared = Arc::new((Mutex::new(false), Condvar::new()));
        let (sent, other) = (Arc::clone(&message), Arc::clone(&shared));
        let task = thread::spawn(move || {
            sent.store(7, Relaxed);
            *other.0.lock().unwrap() = true;
            other.1.notify_one();
        });
        let is_set = shared.0.lock().unwrap();
        drop(shared.1.wait_while(is_set, |is_set| !*is_set).unwrap());
        read(&message);
        task.join().unwrap();
    });
    // A lock that was released before the store orders nothing.
    stale("a store after the lock", |message| {
        let shared = Arc::new((Mutex::new(()), AtomicU32::new(0)));
        let (sent, other) = (Arc::clone(&message), Arc::clone(&shared));
        let task = thread::spawn(move || {
            drop(other.0.lock().unwrap());
            sent.store(7, Relaxed);
            other.1.store(1, Relaxed);
        });
        until(&shared.1);
        drop(shared.0.lock().unwrap());
        read(&message);
        task.join().unwrap();
    });
}

#[test]
fn parking_orders() {
    never_stale("park", |message| {
        let main = thread::current();
        let sent = Arc::clone(&message);
        let task = thread::spawn(move || {
            sent.store(7, Relaxed);
            main.unpark();
        });
        thread::park();
        read(&message);
        task.join().unwrap();
    });
    // Steps after the unpark are not ordered.
    stale("a store after the unpark", |message| {
        let (main, flag) = (thread::current(), Arc::new(AtomicU32::new(0)));
        let (sent, other) = (Arc::clone(&message), Arc::clone(&flag));
        let task = thread::spawn(move || {
            main.unpark();
            sent.store(7, Relaxed);
            other.store(1, Relaxed);
        });
        thread::park();
        if flag.load(Relaxed) == 1 {
            read(&message);
        }
        task.join().unwrap();
    });
}

#[test]
fn the_beginnings_and_ends_of_threads_order() {
    never_stale("spawn", |message| {
        message.store(7, Relaxed);
        thread::spawn(move || read(&message)).join().unwrap();
    });
    never_stale("join", |message| {
        let sent = Arc::clone(&message);
        thread::spawn(move || sent.store(7, Relaxed)).join().unwrap();
        read(&message);
    });
    never_stale("a scope", |message| {
        message.store(6, Relaxed);
        thread::scope(|scope| {
            scope.spawn(|| {
                assert_eq!(message.load(Relaxed), 6);
                message.store(7, Relaxed);
            });
        });
        read(&message);
    });
    stale("a thread that was not joined", |message| {
        let done = Arc::new(AtomicU32::new(0));
        let (sent, other) = (Arc::clone(&message), Arc::clone(&done));
        thread::spawn(move || {
            sent.store(7, Relaxed);
            other.store(1, Relaxed);
        });
        until(&done);
        read(&message);
    });
}

/// Passes a message to a task that reads its flag relaxed, and then does this.
fn after_a_relaxed_load(barrier: impl Fn() + Send + Sync + 'static) -> impl Fn(Arc<AtomicU32>) {
    move |message| {
        let flag = Arc::new(AtomicU32::new(0));
        let (sent, other) = (Arc::clone(&message), Arc::clone(&flag));
        let task = thread::spawn(move || {
            sent.store(7, Relaxed);
            other.store(1, Release);
        });
        let is_set = flag.load(Relaxed) == 1;
        barrier();
        if is_set {
            read(&message);
        }
        task.join().unwrap();
    }
}

/// Some crates use an exchange for a fence on x86, where it is one.
#[test]
fn a_fence_orders_and_an_exchange_in_its_place_does_not() {
    never_stale("a fence", after_a_relaxed_load(|| fence(SeqCst)));
    stale(
        "an exchange",
        after_a_relaxed_load(|| {
            AtomicU32::new(0).swap(1, SeqCst);
        }),
    );
}
