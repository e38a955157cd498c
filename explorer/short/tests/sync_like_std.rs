//! The look-alikes of `std::sync` behave like std: one list of cases, run with std itself, with the look-alikes outside
//! an exploration, and with the look-alikes in every execution of an exploration.

use intermezzo_explorer::{Environment, Explorer};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// Returns the message with which a closure panics.
fn panic_of<R>(f: impl FnOnce() -> R) -> String {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(_) => "no panic".into(),
        Err(payload) => match payload.downcast::<String>() {
            Ok(message) => *message,
            Err(payload) => payload.downcast_ref::<&str>().expect("a message").to_string(),
        },
    }
}

fn assert_passes(case: impl Fn() + Send + Sync) {
    let report = Explorer::new()
        .environment(Environment::calm())
        .preemptions(2)
        .explore(case);
    assert!(report.verdict().is_pass(), "{report}");
}

const SOON: Duration = Duration::from_millis(1);

/// Outside an exploration, with real threads: each message is received once.
#[test]
fn busy_channels_lose_nothing() {
    use intermezzo_explorer::{sync::mpsc, thread};
    const SENDERS: usize = 4;
    const MESSAGES: usize = 300;
    for bound in [0, 1, 3] {
        let (sender, receiver) = mpsc::sync_channel(bound);
        for first in 0..SENDERS {
            let sender = sender.clone();
            thread::spawn(move || {
                for n in 0..MESSAGES {
                    let message = first * MESSAGES + n;
                    if n % 2 == 1 || sender.try_send(message).is_err() {
                        sender.send(message).unwrap();
                    }
                }
            });
        }
        drop(sender);
        let mut received = Vec::new();
        loop {
            let next = match received.len() % 3 {
                0 => receiver.recv_timeout(Duration::from_micros(1)),
                1 => receiver.try_recv().or_else(|_| receiver.recv_timeout(SOON)),
                _ => receiver.recv().map_err(mpsc::RecvTimeoutError::from),
            };
            match next {
                Ok(message) => received.push(message),
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
            }
        }
        received.sort_unstable();
        assert!(received.into_iter().eq(0..SENDERS * MESSAGES));
    }
}

macro_rules! cases {
    ($($(#[$attribute:meta])* $name:ident $body:block)*) => {
        mod std_itself {
            use super::*;
            use std::{sync::{self, *}, thread};
            $(#[test] $(#[$attribute])* fn $name() $body)*
        }
        mod outside {
            use super::*;
            use intermezzo_explorer::{sync::{self, *}, thread};
            $(#[test] $(#[$attribute])* fn $name() $body)*
        }
        mod explored {
            use super::*;
            use intermezzo_explorer::{sync::{self, *}, thread};
            $(#[test] $(#[$attribute])* fn $name() { assert_passes(|| $body) })*
        }
    };
}

cases! {
    readers_share_and_writers_do_not {
        let lock = RwLock::new(1);
        let first = lock.read().unwrap();
        let second = lock.try_read().unwrap();
        assert!(matches!(lock.try_write(), Err(TryLockError::WouldBlock)));
        assert_eq!(*first + *second, 2);
        drop((first, second));
        *lock.write().unwrap() += 1;
        let writer = lock.try_write().unwrap();
        assert!(matches!(lock.try_read(), Err(TryLockError::WouldBlock)));
        assert!(matches!(lock.try_write(), Err(TryLockError::WouldBlock)));
        assert_eq!(format!("{lock:?}"), "RwLock { data: <locked>, poisoned: false, .. }");
        assert_eq!(format!("{writer:?} {writer}"), "2 2");
        drop(writer);
        assert_eq!(format!("{lock:?}"), "RwLock { data: 2, poisoned: false, .. }");
        assert_eq!(lock.into_inner().unwrap(), 2);
    }

    a_writer_poisons_and_a_reader_does_not {
        let lock = std::sync::Arc::new(RwLock::new(0));
        let shared = lock.clone();
        let reader = thread::spawn(move || {
            let _guard = shared.read().unwrap();
            panic!("reading");
        });
        assert!(reader.join().is_err());
        assert!(!lock.is_poisoned());
        let shared = lock.clone();
        let writer = thread::spawn(move || {
            *shared.write().unwrap() = 7;
            let _guard = shared.write().unwrap();
            panic!("writing");
        });
        assert!(writer.join().is_err());
        assert!(lock.is_poisoned());
        assert_eq!(*lock.read().unwrap_err().into_inner(), 7);
        assert!(matches!(lock.try_write(), Err(TryLockError::Poisoned(_))));
        assert_eq!(format!("{lock:?}"), "RwLock { data: 7, poisoned: true, .. }");
        lock.clear_poison();
        assert_eq!(*lock.write().unwrap(), 7);
    }

    an_unsized_lock {
        let lock = RwLock::new([1, 2]);
        let slice: &RwLock<[i32]> = &lock;
        slice.write().unwrap()[0] = 3;
        assert_eq!(*slice.read().unwrap(), [3, 2]);
    }

    once_runs_once {
        let (once, runs) = (Once::new(), atomic::AtomicUsize::new(0));
        assert!(!once.is_completed());
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    once.call_once(|| {
                        runs.fetch_add(1, atomic::Ordering::SeqCst);
                    });
                    assert!(once.is_completed());
                });
            }
            once.wait();
        });
        once.call_once_force(|_| unreachable!());
        assert_eq!(runs.load(atomic::Ordering::SeqCst), 1);
        assert_eq!(format!("{once:?}"), "Once { .. }");
    }

    a_panic_poisons_a_once {
        let once = Once::new();
        assert_eq!(panic_of(|| once.call_once(|| panic!("first"))), "first");
        assert!(!once.is_completed());
        let poisoned = "Once instance has previously been poisoned";
        assert_eq!(panic_of(|| once.call_once(|| ())), poisoned);
        assert_eq!(panic_of(|| once.wait()), poisoned);
        once.call_once_force(|state| {
            assert!(state.is_poisoned());
            assert_eq!(format!("{state:?}"), "OnceState { poisoned: true }");
        });
        once.call_once(|| unreachable!());
        once.wait();
        once.wait_force();
        let fresh = Once::new();
        fresh.call_once_force(|state| assert!(!state.is_poisoned()));
    }

    a_once_lock_is_set_once {
        let mut cell = OnceLock::new();
        assert_eq!(cell.get(), None);
        assert_eq!(format!("{cell:?}"), "OnceLock(<uninit>)");
        assert_eq!((cell.set(1), cell.set(2)), (Ok(()), Err(2)));
        assert_eq!((cell.get(), cell.get_or_init(|| 3), cell.wait()), (Some(&1), &1, &1));
        assert_eq!(format!("{cell:?}"), "OnceLock(1)");
        assert_eq!(cell.clone(), cell);
        assert_eq!(OnceLock::from(1), cell);
        assert_eq!(OnceLock::from(1).set(2), Err(2));
        *cell.get_mut().unwrap() += 1;
        assert_eq!((cell.take(), cell.take(), cell.get()), (Some(2), None, None));
        assert_eq!((cell.get_or_init(|| 4), cell.wait()), (&4, &4));
        assert_ne!(OnceLock::default(), cell);
        assert_eq!(cell.into_inner(), Some(4));
    }

    a_once_lock_survives_a_panic {
        let cell = OnceLock::new();
        assert_eq!(panic_of(|| cell.get_or_init(|| panic!("first"))), "first");
        assert_eq!(cell.get(), None);
        assert_eq!(cell.get_or_init(|| 2), &2);
    }

    a_once_lock_has_one_winner {
        let cell = OnceLock::new();
        thread::scope(|s| {
            let tasks = [1, 2].map(|mine| {
                let cell = &cell;
                s.spawn(move || (mine, *cell.get_or_init(|| mine)))
            });
            let won = *cell.wait();
            for task in tasks {
                let (_, seen) = task.join().unwrap();
                assert_eq!(seen, won);
            }
        });
    }

    a_lazy_lock_runs_at_first_use {
        let runs = atomic::AtomicUsize::new(0);
        let lazy = LazyLock::new(|| runs.fetch_add(1, atomic::Ordering::SeqCst));
        assert_eq!(format!("{lazy:?}"), "LazyLock(<uninit>)");
        assert_eq!(runs.load(atomic::Ordering::SeqCst), 0);
        thread::scope(|s| {
            s.spawn(|| assert_eq!(*lazy, 0));
            assert_eq!(LazyLock::force(&lazy), &0);
        });
        assert_eq!(format!("{lazy:?}"), "LazyLock(0)");
        assert_eq!(runs.load(atomic::Ordering::SeqCst), 1);
        assert_eq!(*LazyLock::<String>::default(), "");
    }

    a_panic_poisons_a_lazy_lock {
        let lazy: LazyLock<u8> = LazyLock::new(|| panic!("first"));
        assert_eq!(panic_of(|| *lazy), "first");
        assert_eq!(panic_of(|| *lazy), "LazyLock instance has previously been poisoned");
        assert_eq!(format!("{lazy:?}"), "LazyLock(<uninit>)");
    }

    a_barrier_has_one_leader_per_generation {
        let (barrier, leaders) = (Barrier::new(2), atomic::AtomicUsize::new(0));
        let pass = || {
            for generation in 1..=2 {
                let leads = barrier.wait().is_leader();
                leaders.fetch_add(usize::from(leads), atomic::Ordering::SeqCst);
                barrier.wait();
                assert_eq!(leaders.load(atomic::Ordering::SeqCst), generation);
                barrier.wait();
            }
        };
        thread::scope(|s| {
            s.spawn(pass);
            pass();
        });
        assert_eq!(format!("{barrier:?}"), "Barrier { .. }");
    }

    a_barrier_for_one_leads {
        for size in [0, 1] {
            let barrier = Barrier::new(size);
            assert_eq!(format!("{:?}", barrier.wait()), "BarrierWaitResult { is_leader: true }");
            assert!(barrier.wait().is_leader());
        }
    }

    what_was_sent_outlives_its_senders {
        let (sender, receiver) = mpsc::channel();
        assert_eq!(receiver.try_recv(), Err(mpsc::TryRecvError::Empty));
        let other = sender.clone();
        sender.send(1).unwrap();
        drop(sender);
        other.send(2).unwrap();
        drop(other);
        assert_eq!((receiver.recv(), receiver.try_recv()), (Ok(1), Ok(2)));
        assert_eq!(receiver.try_recv(), Err(mpsc::TryRecvError::Disconnected));
        assert_eq!(receiver.recv(), Err(mpsc::RecvError));
        assert_eq!(receiver.recv_timeout(SOON), Err(mpsc::RecvTimeoutError::Disconnected));
    }

    nothing_is_sent_to_nobody {
        let (sender, receiver) = mpsc::channel();
        let counted = Arc::new(());
        sender.send(counted.clone()).unwrap();
        assert_eq!(Arc::strong_count(&counted), 2);
        drop(receiver);
        assert_eq!(Arc::strong_count(&counted), 1);
        let refused = sender.send(counted.clone()).unwrap_err();
        assert!(Arc::ptr_eq(&refused.0, &counted));
        let (sender, receiver) = mpsc::sync_channel(1);
        drop(receiver);
        assert_eq!(sender.send(1), Err(mpsc::SendError(1)));
        assert_eq!(sender.try_send(2), Err(mpsc::TrySendError::Disconnected(2)));
        let (sender, receiver) = mpsc::sync_channel(0);
        drop(receiver);
        assert_eq!(sender.send(1), Err(mpsc::SendError(1)));
        assert_eq!(sender.try_send(2), Err(mpsc::TrySendError::Disconnected(2)));
    }

    a_bounded_channel_fills {
        let (sender, receiver) = mpsc::sync_channel(1);
        assert_eq!((sender.try_send(1), sender.try_send(2)), (Ok(()), Err(mpsc::TrySendError::Full(2))));
        thread::scope(|s| {
            s.spawn(|| sender.send(3).unwrap());
            assert_eq!((receiver.recv(), receiver.recv()), (Ok(1), Ok(3)));
        });
        assert_eq!(receiver.recv_timeout(SOON), Err(mpsc::RecvTimeoutError::Timeout));
    }

    a_rendezvous_meets {
        let (sender, receiver) = mpsc::sync_channel(0);
        assert_eq!(sender.try_send(0), Err(mpsc::TrySendError::Full(0)));
        assert_eq!(receiver.try_recv(), Err(mpsc::TryRecvError::Empty));
        assert_eq!(receiver.recv_timeout(SOON), Err(mpsc::RecvTimeoutError::Timeout));
        assert_eq!(sender.try_send(0), Err(mpsc::TrySendError::Full(0)));
        let task = thread::spawn(move || {
            sender.send(1).unwrap();
            sender.send(2).unwrap();
        });
        assert_eq!((receiver.recv(), receiver.recv(), receiver.recv()), (Ok(1), Ok(2), Err(mpsc::RecvError)));
        task.join().unwrap();
    }

    a_rendezvous_takes_from_many {
        let (sender, receiver) = mpsc::sync_channel(0);
        let other = sender.clone();
        let tasks = [thread::spawn(move || sender.send(1)), thread::spawn(move || other.send(2))];
        assert_eq!(receiver.iter().sum::<i32>(), 3);
        for task in tasks {
            assert_eq!(task.join().unwrap(), Ok(()));
        }
    }

    a_rendezvous_hands_back_what_nobody_takes {
        let (sender, receiver) = mpsc::sync_channel(0);
        let task = thread::spawn(move || sender.send(1));
        thread::yield_now();
        drop(receiver);
        assert_eq!(task.join().unwrap(), Err(mpsc::SendError(1)));
    }

    channels_iterate {
        let (sender, receiver) = mpsc::channel();
        sender.send(1).unwrap();
        sender.send(2).unwrap();
        assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [1, 2]);
        sender.send(3).unwrap();
        assert_eq!(format!("{sender:?} {receiver:?}"), "Sender { .. } Receiver { .. }");
        assert_eq!(format!("{:?}", receiver.iter()), "Iter { rx: Receiver { .. } }");
        drop(sender);
        assert_eq!(IntoIterator::into_iter(&receiver).collect::<Vec<_>>(), [3]);
        assert_eq!(receiver.into_iter().next(), None);
        assert_eq!(format!("{:?}", mpsc::sync_channel::<u8>(1).0), "SyncSender { .. }");
    }

    arcs_count {
        let arc = Arc::new(5);
        let weak = Arc::downgrade(&arc);
        let other = Arc::clone(&arc);
        assert_eq!((Arc::strong_count(&arc), Arc::weak_count(&arc)), (2, 1));
        assert_eq!((weak.strong_count(), weak.clone().weak_count()), (2, 2));
        assert!(Arc::ptr_eq(&arc, &other) && Arc::ptr_eq(&other, &weak.upgrade().unwrap()));
        assert!(weak.ptr_eq(&Arc::downgrade(&arc)));
        assert_eq!(Arc::try_unwrap(other).map_err(|arc| Arc::strong_count(&arc)), Err(2));
        assert_eq!((Arc::strong_count(&arc), Arc::try_unwrap(arc)), (1, Ok(5)));
        assert_eq!((weak.upgrade(), weak.strong_count(), weak.weak_count()), (None, 0, 0));
        assert_eq!(format!("{weak:?}"), "(Weak)");
        assert!(Weak::<u8>::new().upgrade().is_none());
        assert!(Weak::<u8>::new().ptr_eq(&Weak::default()));
    }

    an_arc_is_unwrapped_by_its_last_handle {
        let arc = Arc::new(String::from("a"));
        let other = arc.clone();
        assert_eq!(Arc::into_inner(arc), None);
        assert_eq!(Arc::into_inner(other).as_deref(), Some("a"));
        let arc = Arc::new(String::from("b"));
        let other = arc.clone();
        assert_eq!((Arc::unwrap_or_clone(arc), Arc::strong_count(&other)), ("b".into(), 1));
        assert_eq!(Arc::unwrap_or_clone(other), "b");
    }

    an_arc_is_mutable_when_alone {
        let mut arc = Arc::new(1);
        *Arc::get_mut(&mut arc).unwrap() += 1;
        let other = arc.clone();
        assert_eq!(Arc::get_mut(&mut arc), None);
        *Arc::make_mut(&mut arc) += 1;
        assert_eq!((*arc, *other, Arc::strong_count(&arc), Arc::strong_count(&other)), (3, 2, 1, 1));
        let weak = Arc::downgrade(&arc);
        assert_eq!(Arc::get_mut(&mut arc), None);
        *Arc::make_mut(&mut arc) += 1;
        assert_eq!((*arc, weak.upgrade(), Arc::weak_count(&arc)), (4, None, 0));
        let mut slice: Arc<[u8]> = Arc::from([1, 2]);
        let other = slice.clone();
        Arc::make_mut(&mut slice)[0] = 9;
        assert_eq!((&*slice, &*other), (&[9, 2][..], &[1, 2][..]));
    }

    an_arc_may_hold_itself {
        struct Node {
            me: Weak<Node>,
        }
        let node = Arc::new_cyclic(|me: &Weak<Node>| {
            assert_eq!((me.strong_count(), me.upgrade().is_none()), (0, true));
            Node { me: me.clone() }
        });
        assert_eq!((Arc::strong_count(&node), Arc::weak_count(&node)), (1, 1));
        assert!(Arc::ptr_eq(&node.me.upgrade().unwrap(), &node));
        let mut kept = Weak::new();
        let panic = panic_of(|| {
            Arc::new_cyclic(|me: &Weak<u8>| {
                kept = me.clone();
                panic!("no value")
            })
        });
        assert_eq!((panic.as_str(), kept.upgrade()), ("no value", None));
    }

    an_arc_becomes_a_pointer {
        let arc = Arc::new(1);
        let pointer = Arc::into_raw(arc.clone());
        assert_eq!((pointer, Arc::strong_count(&arc)), (Arc::as_ptr(&arc), 2));
        // SAFETY: the pointer is from `into_raw`, and represents a count.
        unsafe { Arc::increment_strong_count(pointer) };
        assert_eq!(Arc::strong_count(&arc), 3);
        // SAFETY: the count that was just added.
        unsafe { Arc::decrement_strong_count(pointer) };
        // SAFETY: the count that `into_raw` left.
        let back = unsafe { Arc::from_raw(pointer) };
        assert_eq!(Arc::strong_count(&arc), 2);
        let weak = Arc::downgrade(&back).into_raw();
        drop((arc, back));
        // SAFETY: the pointer is from `into_raw`, and is taken back once.
        let weak = unsafe { Weak::from_raw(weak) };
        assert_eq!(weak.upgrade(), None);
    }

    an_arc_drops_its_value_once {
        struct Noisy<'a>(&'a atomic::AtomicUsize, Weak<Noisy<'a>>);
        impl Drop for Noisy<'_> {
            fn drop(&mut self) {
                assert!(self.1.upgrade().is_none());
                self.0.fetch_add(1, atomic::Ordering::SeqCst);
            }
        }
        let drops = atomic::AtomicUsize::new(0);
        let arc = Arc::new_cyclic(|me| Noisy(&drops, me.clone()));
        thread::scope(|s| {
            let other = arc.clone();
            s.spawn(move || drop(other));
            drop(arc);
        });
        assert_eq!(drops.load(atomic::Ordering::SeqCst), 1);
    }

    arcs_come_from_much {
        let text: Arc<str> = Arc::from("a");
        assert_eq!((&*text, Arc::from(String::from("a"))), ("a", text.clone()));
        assert_eq!(Arc::<[u8]>::from(text.clone())[..], *b"a");
        assert_eq!(format!("{text} {text:?}"), "a \"a\"");
        let list: Arc<[u8]> = (1..=2).collect();
        assert_eq!((list.clone(), &*list), (Arc::from(vec![1, 2]), &[1, 2][..]));
        assert_eq!(<Arc<[u8; 2]>>::try_from(list.clone()), Ok(Arc::new([1, 2])));
        assert_eq!(<Arc<[u8; 3]>>::try_from(list.clone()), Err(list));
        assert_eq!(Arc::<str>::from(std::borrow::Cow::Borrowed("a")), text);
        let shown: Arc<dyn std::fmt::Debug> = Arc::from(Box::new(3) as Box<dyn std::fmt::Debug>);
        assert_eq!(format!("{shown:?}"), "3");
        let any: Arc<dyn std::any::Any + Send + Sync> =
            Arc::from(Box::new(3) as Box<dyn std::any::Any + Send + Sync>);
        let any = any.downcast::<u8>().unwrap_err();
        assert_eq!(*any.downcast::<i32>().unwrap(), 3);
        assert!(Arc::new(1) < Arc::from(2) && Arc::<u8>::default() == Arc::new(0));
        assert_eq!(*std::collections::HashSet::from([Arc::new(7)]).get(&7).unwrap(), Arc::new(7));
        assert_eq!(*Arc::pin(8), 8);
    }

    std_is_complete {
        fn send_and_sync<T: Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe>() {}
        fn unwinds<T: std::panic::UnwindSafe>() {}
        fn send<T: Send>() {}
        send_and_sync::<RwLock<u8>>();
        send_and_sync::<(Once, Barrier)>();
        send_and_sync::<OnceLock<u8>>();
        send_and_sync::<LazyLock<u8>>();
        send_and_sync::<(mpsc::Sender<u8>, mpsc::SyncSender<u8>)>();
        send_and_sync::<(Arc<u8>, Weak<u8>)>();
        send_and_sync::<Arc<RwLock<u8>>>();
        send::<mpsc::Receiver<u8>>();
        unwinds::<(mpsc::Receiver<u8>, RwLockReadGuard<'_, u8>, RwLockWriteGuard<'_, u8>)>();
        #[allow(deprecated)]
        static ONCE: Once = sync::ONCE_INIT;
        ONCE.call_once(|| ());
        static WEAK: Weak<u8> = Weak::new();
        assert!(WEAK.upgrade().is_none());
    }
}
