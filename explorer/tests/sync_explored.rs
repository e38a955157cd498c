//! What explorations see of the look-alikes of `std::sync`: exactly the outcomes that std allows, and
//! findings where it would hang.

use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::{Arc, Barrier, LazyLock, Once, OnceLock, RwLock, Weak, mpsc};
use intermezzo_explorer::{Environment, Explorer, Report, sync, thread};
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::Mutex;
use std::time::Duration;

const SOON: Duration = Duration::from_millis(1);

/// What a test comes to in all its executions.
fn outcomes_in<T: Ord + Send>(environment: Environment, test: impl Fn() -> T + Send + Sync) -> BTreeSet<T> {
    let seen = Mutex::new(BTreeSet::new());
    let report = Explorer::new().environment(environment).explore(|| {
        let outcome = test();
        seen.lock().unwrap().insert(outcome);
    });
    assert!(report.verdict().is_pass(), "{report}");
    seen.into_inner().unwrap()
}

fn outcomes<T: Ord + Send>(test: impl Fn() -> T + Send + Sync) -> BTreeSet<T> {
    outcomes_in(Environment::calm(), test)
}

fn explore(test: impl Fn() + Send + Sync) -> Report {
    Explorer::new().environment(Environment::calm()).explore(test)
}

/// How many executions a test has that passes.
fn executions(test: impl Fn() + Send + Sync) -> u64 {
    let report = explore(test);
    assert!(report.verdict().is_pass(), "{report}");
    report.executions()
}

/// The test hangs, and the report says this about it.
#[track_caller]
fn assert_hangs(test: impl Fn() + Send + Sync, words: &str) {
    let report = explore(test);
    let found = report.findings().first().unwrap_or_else(|| panic!("{report}"));
    assert_eq!(found.kind.as_str(), "deadlock", "{report}");
    assert!(found.message.contains(words), "{report}");
}

#[track_caller]
fn assert_set<T: Ord + Debug, const N: usize>(seen: BTreeSet<T>, expected: [T; N]) {
    assert_eq!(seen, BTreeSet::from(expected));
}

#[test]
fn readers_overlap() {
    let seen = outcomes(|| {
        let (lock, readers, most) = (RwLock::new(()), AtomicUsize::new(0), AtomicUsize::new(0));
        let read = || {
            let _guard = lock.read().unwrap();
            most.fetch_max(readers.fetch_add(1, SeqCst) + 1, SeqCst);
            readers.fetch_sub(1, SeqCst);
        };
        thread::scope(|s| {
            s.spawn(read);
            s.spawn(read);
        });
        most.into_inner()
    });
    assert_set(seen, [1, 2]);
}

#[test]
fn a_writer_excludes() {
    let seen = outcomes(|| {
        let (lock, there) = (RwLock::new(0), AtomicUsize::new(0));
        thread::scope(|s| {
            s.spawn(|| {
                let mut guard = lock.write().unwrap();
                assert_eq!(there.fetch_add(1, SeqCst), 0);
                *guard = 1;
                there.fetch_sub(1, SeqCst);
            });
            let guard = lock.read().unwrap();
            assert_eq!(there.fetch_add(1, SeqCst), 0);
            there.fetch_sub(1, SeqCst);
            *guard
        })
    });
    assert_set(seen, [0, 1]);
}

#[test]
fn a_downgraded_writer_keeps_writers_out_and_lets_readers_in() {
    let seen = outcomes(|| {
        let lock = RwLock::new(0);
        thread::scope(|s| {
            s.spawn(|| *lock.write().unwrap() = 2);
            let reader = s.spawn(|| lock.try_read().is_ok());
            let mut guard = lock.write().unwrap();
            *guard = 1;
            let guard = sync::RwLockWriteGuard::downgrade(guard);
            let alone = lock.try_write().is_err();
            assert_eq!((*guard, alone), (1, true));
            let beside = reader.join().unwrap();
            assert_eq!(*guard, 1);
            beside
        })
    });
    assert_set(seen, [false, true]);
    let outside = RwLock::new(1);
    let guard = sync::RwLockWriteGuard::downgrade(outside.write().unwrap());
    assert!(outside.try_read().is_ok() && outside.try_write().is_err());
    drop(guard);
    assert!(outside.try_write().is_ok());
}

#[test]
fn a_try_of_a_free_lock_fails_only_if_the_environment_may() {
    let try_both = || {
        let lock = RwLock::new(());
        (lock.try_read().is_ok(), lock.try_write().is_ok())
    };
    assert_set(outcomes(try_both), [(true, true)]);
    let adverse = Environment { try_lock_failures: 1, ..Environment::calm() };
    assert_set(outcomes_in(adverse, try_both), [(true, true), (false, true), (true, false)]);
}

#[test]
fn a_lock_that_is_held_hangs() {
    let read_then_write = || {
        let lock = RwLock::new(());
        let _reader = lock.read();
        let _writer = lock.write();
    };
    assert_hangs(read_then_write, "waits to lock");
    let write_then_read = || {
        let lock = RwLock::new(());
        let _writer = lock.write();
        let _reader = lock.read();
    };
    assert_hangs(write_then_read, "which it holds itself");
}

/// Counts how often it is dropped, on the test's side.
struct Counted(&'static std::sync::atomic::AtomicUsize);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

#[test]
fn statics_are_fresh_in_every_execution() {
    static DROPS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    static MADE: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    static CELL: OnceLock<(usize, Counted)> = OnceLock::new();
    static ONCE: Once = Once::new();
    static LAZY: LazyLock<Box<Counted>> = LazyLock::new(|| {
        MADE.fetch_add(1, SeqCst);
        Box::new(Counted(&DROPS))
    });
    static LOCK: RwLock<Vec<u8>> = RwLock::new(Vec::new());
    // What happens to them outside stays outside.
    assert!(CELL.set((0, Counted(&DROPS))).is_ok());
    LAZY.0.load(SeqCst);
    LOCK.write().unwrap().push(1);
    MADE.store(0, SeqCst);
    let executions = executions(|| {
        assert!(CELL.get().is_none() && LazyLock::get(&LAZY).is_none() && !ONCE.is_completed());
        thread::scope(|s| {
            for mine in [1, 2] {
                s.spawn(move || {
                    let (won, _) = CELL.get_or_init(|| (mine, Counted(&DROPS)));
                    ONCE.call_once(|| LOCK.write().unwrap().push(2));
                    assert!(std::ptr::eq(&**LAZY, &**LAZY));
                    assert!([1, 2].contains(won));
                });
            }
        });
        assert_eq!(*LOCK.read().unwrap(), [2]);
    });
    assert!(executions > 2);
    assert_eq!(MADE.load(SeqCst) as u64, executions);
    assert_eq!(DROPS.load(SeqCst) as u64, 2 * executions);
    assert_eq!((CELL.get().unwrap().0, LOCK.read().unwrap().len()), (0, 1));
}

#[test]
fn either_initialises() {
    let seen = outcomes(|| {
        let cell = OnceLock::new();
        thread::scope(|s| {
            let other = s.spawn(|| cell.set(2).is_ok());
            let won = *cell.get_or_init(|| 1);
            assert_eq!(other.join().unwrap(), won == 2);
            (won, cell.get().copied())
        })
    });
    assert_set(seen, [(1, Some(1)), (2, Some(2))]);
}

#[test]
fn a_look_does_not_wait() {
    let seen = outcomes(|| {
        let (once, begun) = (Once::new(), AtomicUsize::new(0));
        thread::scope(|s| {
            s.spawn(|| once.call_once(|| begun.store(1, SeqCst)));
            (once.is_completed(), begun.load(SeqCst))
        })
    });
    assert_set(seen, [(false, 0), (false, 1), (true, 1)]);
}

#[test]
fn initialising_inside_itself_hangs() {
    let cell = || {
        let cell = OnceLock::new();
        cell.get_or_init(|| *cell.get_or_init(|| 1));
    };
    assert_hangs(cell, "which it holds itself");
    let once = || {
        let once = Once::new();
        once.call_once(|| once.call_once(|| ()));
    };
    assert_hangs(once, "which it holds itself");
    assert_hangs(|| drop(OnceLock::<u8>::new().wait()), "for once");
}

#[test]
fn either_leads() {
    let seen = outcomes(|| {
        let barrier = Barrier::new(2);
        thread::scope(|s| {
            let other = s.spawn(|| barrier.wait().is_leader());
            let first = barrier.wait().is_leader();
            (first, other.join().unwrap())
        })
    });
    assert_set(seen, [(true, false), (false, true)]);
    assert_hangs(|| drop(Barrier::new(2).wait()), "for barrier");
}

#[test]
fn messages_come_in_any_order_but_a_senders_own() {
    let seen = outcomes(|| {
        let (sender, receiver) = mpsc::channel();
        let other = sender.clone();
        thread::spawn(move || (1..3).for_each(|n| sender.send(n).unwrap()));
        thread::spawn(move || other.send(3).unwrap());
        receiver.into_iter().collect::<Vec<i32>>()
    });
    assert_set(seen, [vec![1, 2, 3], vec![1, 3, 2], vec![3, 1, 2]]);
}

#[test]
fn a_try_sees_every_state_of_a_channel() {
    let seen = outcomes(|| {
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || sender.send(1).unwrap());
        (receiver.try_recv(), receiver.try_recv()).into_comparable()
    });
    let (empty, gone) = (Err("empty"), Err("gone"));
    assert_set(seen, [(empty, empty), (empty, Ok(1)), (empty, empty), (Ok(1), empty), (Ok(1), gone)]);
}

/// The errors of std do not order.
trait Comparable {
    type Form;
    fn into_comparable(self) -> Self::Form;
}

impl Comparable for Result<i32, mpsc::TryRecvError> {
    type Form = Result<i32, &'static str>;
    fn into_comparable(self) -> Self::Form {
        self.map_err(|error| if error == mpsc::TryRecvError::Empty { "empty" } else { "gone" })
    }
}

impl<A: Comparable, B: Comparable> Comparable for (A, B) {
    type Form = (A::Form, B::Form);
    fn into_comparable(self) -> Self::Form {
        (self.0.into_comparable(), self.1.into_comparable())
    }
}

#[test]
fn a_channel_that_nobody_serves_hangs() {
    let nothing_comes = || {
        let (_sender, receiver) = mpsc::channel::<u8>();
        let _ = receiver.recv();
    };
    assert_hangs(nothing_comes, "to receive from");
    let for_ever = || {
        let (_sender, receiver) = mpsc::channel::<u8>();
        let _ = receiver.recv_timeout(Duration::MAX);
    };
    assert_hangs(for_ever, "to receive from");
    for bound in [0, 1] {
        let full = move || {
            let (sender, _receiver) = mpsc::sync_channel(bound);
            (0..=bound).for_each(|_| sender.send(()).unwrap());
        };
        assert_hangs(full, "to send to");
    }
}

#[test]
fn what_a_rendezvous_sent_was_received() {
    let seen = outcomes(|| {
        let (sender, receiver) = mpsc::sync_channel(0);
        let sent = Arc::new(AtomicUsize::new(0));
        let mark = sent.clone();
        thread::spawn(move || {
            sender.send(()).unwrap();
            mark.store(1, SeqCst);
        });
        let before = sent.load(SeqCst);
        receiver.recv().unwrap();
        (before, sent.load(SeqCst))
    });
    assert_set(seen, [(0, 0), (0, 1)]);
}

#[test]
fn a_rendezvous_is_tried_with_success_only_if_the_receiver_waits() {
    let adverse = Environment { timeouts: 1, ..Environment::calm() };
    let seen = outcomes_in(adverse, || {
        let (sender, receiver) = mpsc::sync_channel(0);
        let other = thread::spawn(move || sender.try_send(1).is_ok());
        let received = receiver.recv_timeout(SOON).ok();
        (other.join().unwrap(), received)
    });
    assert_set(seen, [(false, None), (true, Some(1))]);
}

#[test]
fn two_senders_and_a_sender_that_tries_meet_one_receiver() {
    let seen = outcomes(|| {
        let (sender, receiver) = mpsc::sync_channel(0);
        let (second, third) = (sender.clone(), sender.clone());
        let waits = [(1, sender), (2, second)].map(|(n, end)| thread::spawn(move || end.send(n).is_ok()));
        let tries = thread::spawn(move || third.try_send(4).is_ok());
        let first = receiver.recv().unwrap();
        drop(receiver);
        let went = waits.map(|task| task.join().unwrap());
        (first, went, tries.join().unwrap())
    });
    let expected =
        [(1, [true, false], false), (2, [false, true], false), (4, [false, false], true)];
    assert_set(seen, expected);
}

#[test]
fn a_wait_for_a_message_ends_by_time() {
    let alone = || {
        let (_sender, receiver) = mpsc::channel::<u8>();
        receiver.recv_timeout(SOON) == Err(mpsc::RecvTimeoutError::Timeout)
    };
    assert_set(outcomes(alone), [true]);
    let race = || {
        let (sender, receiver) = mpsc::channel();
        let task = thread::spawn(move || sender.send(1).unwrap());
        let received = receiver.recv_timeout(SOON).ok();
        task.join().unwrap();
        received
    };
    assert_set(outcomes(race), [Some(1)]);
    assert_set(outcomes_in(Environment { timeouts: 1, ..Environment::calm() }, race), [None, Some(1)]);
}

#[test]
fn an_arc_alone_or_not() {
    let seen = outcomes(|| {
        let mut arc = Arc::new(1);
        let other = arc.clone();
        let task = thread::spawn(move || Arc::try_unwrap(other).is_ok());
        let alone = Arc::get_mut(&mut arc).is_some();
        let count = Arc::strong_count(&arc);
        drop(arc);
        (alone, count, task.join().unwrap())
    });
    assert_set(seen, [(false, 1, false), (false, 2, false), (false, 2, true), (true, 1, false)]);
}

#[test]
fn exactly_one_handle_gets_the_value() {
    let seen = outcomes(|| {
        let arc = Arc::new(1);
        let other = arc.clone();
        let task = thread::spawn(move || Arc::into_inner(other));
        (Arc::into_inner(arc), task.join().unwrap())
    });
    assert_set(seen, [(None, Some(1)), (Some(1), None)]);
    let seen = outcomes(|| {
        let arc = Arc::new(1);
        let other = arc.clone();
        let task = thread::spawn(move || Arc::try_unwrap(other).ok());
        (Arc::try_unwrap(arc).ok(), task.join().unwrap())
    });
    assert_set(seen, [(None, None), (None, Some(1)), (Some(1), None)]);
}

#[test]
fn an_upgrade_meets_the_last_drop() {
    let seen = outcomes(|| {
        let arc = Arc::new(1);
        let weak: Weak<i32> = Arc::downgrade(&arc);
        let task = thread::spawn(move || weak.upgrade().is_some());
        let mut own = arc;
        let moved = Arc::get_mut(&mut own).is_some();
        drop(own);
        (moved, task.join().unwrap())
    });
    assert_set(seen, [(false, false), (false, true), (true, false), (true, true)]
        .into_iter().filter(|&outcome| outcome != (true, true)).collect::<Vec<_>>().try_into().unwrap() as [_; 3]);
}

#[test]
fn counts_are_schedule_points_only_where_they_can_be_seen() {
    let own = || {
        let work = || {
            let arc = Arc::new(1);
            drop(arc.clone());
            let mut again = arc;
            assert!(Arc::get_mut(&mut again).is_some());
        };
        thread::scope(|s| {
            s.spawn(work);
            s.spawn(work);
        });
    };
    // The clone's drop has its schedule point: three ways two of them fall out... none of which is two's.
    let _ = executions(own);
    let shared = || {
        let arc = Arc::new(1);
        let other = arc.clone();
        let task = thread::spawn(move || drop(other));
        drop(arc);
        task.join().unwrap();
    };
    assert_eq!(executions(shared), 2);
    let report = Explorer::new()
        .environment(Environment { arc_counts: false, ..Environment::calm() })
        .explore(shared);
    assert_eq!((report.executions(), report.verdict().is_pass()), (1, true));
}

#[test]
fn handles_from_outside_count() {
    let arc = Arc::new(7);
    let executed = executions(|| {
        let mine = arc.clone();
        let task = thread::spawn({
            let other = mine.clone();
            move || Arc::strong_count(&other)
        });
        let weak = Arc::downgrade(&mine);
        assert!(weak.upgrade().is_some());
        drop(mine);
        assert!((2..=3).contains(&task.join().unwrap()));
        assert_eq!((Arc::strong_count(&arc), Arc::weak_count(&arc)), (1, 1));
    });
    assert_eq!(executed, 1);
    assert_eq!((Arc::strong_count(&arc), Arc::weak_count(&arc)), (1, 0));
}

#[test]
fn a_trait_object_counts() {
    let seen = outcomes(|| {
        let arc: Arc<dyn Fn() -> i32 + Send + Sync> = Arc::from_std(std::sync::Arc::new(|| 3));
        let other = Arc::coerce(Arc::new([1, 2]), |arc| arc as std::sync::Arc<[i32]>);
        let (f, list) = (arc.clone(), other.clone());
        let task = thread::spawn(move || f() + list.len() as i32);
        let count = Arc::strong_count(&arc) + Arc::strong_count(&other);
        (count, task.join().unwrap())
    });
    assert_set(seen, [(2, 5), (3, 5), (4, 5)]);
}

#[test]
fn nothing_is_lost_when_an_execution_is_given_up() {
    static DROPS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    let hang = || {
        let arc = Arc::new(Counted(&DROPS));
        let cell = OnceLock::from(arc.clone());
        let (sender, receiver) = mpsc::sync_channel(1);
        sender.send((arc.clone(), Counted(&DROPS))).unwrap();
        let (meeting, _other_end) = mpsc::sync_channel(0);
        thread::scope(|s| {
            s.spawn(|| meeting.send(Counted(&DROPS)));
            s.spawn(|| sender.send((arc.clone(), Counted(&DROPS))));
            let (barrier, lock) = (Barrier::new(2), RwLock::new(Arc::downgrade(&arc)));
            let _guard = lock.write();
            cell.get_or_init(|| unreachable!());
            LazyLock::force(&LazyLock::new(|| barrier.wait()));
        });
        drop(receiver);
    };
    assert_hangs(hang, "for barrier");
    assert_eq!(DROPS.load(SeqCst), 4);
}
