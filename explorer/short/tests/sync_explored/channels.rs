//! Channels.

use super::{SOON, assert_hangs, assert_set, explore, outcomes, outcomes_in};
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::{Arc, mpsc};
use intermezzo_explorer::{Environment, Explorer, Reduction, thread};
use std::time::Duration;

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
        thread::spawn(move || {
            let _ = sender.send(1);
        });
        (receiver.try_recv(), receiver.try_recv()).into_comparable()
    });
    let (empty, gone) = (Err("empty"), Err("gone"));
    assert_set(
        seen,
        [
            (empty, empty),
            (empty, Ok(1)),
            (empty, empty),
            (Ok(1), empty),
            (Ok(1), gone),
        ],
    );
}

/// The errors of std have no order.
trait Comparable {
    type Form;
    fn into_comparable(self) -> Self::Form;
}

impl Comparable for Result<i32, mpsc::TryRecvError> {
    type Form = Result<i32, &'static str>;
    fn into_comparable(self) -> Self::Form {
        self.map_err(|error| {
            if error == mpsc::TryRecvError::Empty {
                "empty"
            } else {
                "gone"
            }
        })
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
    let adverse = Environment {
        timeouts: 1,
        ..Environment::calm()
    };
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
    let expected = [
        (1, [true, false], false),
        (2, [false, true], false),
        (4, [false, false], true),
    ];
    assert_set(seen, expected);
}

/// Until its schedule point is passed, a receiver that is about to be dropped is still there for all searches.
#[test]
fn a_sender_is_dropped_before_a_receiver_or_after_it() {
    let test = || {
        let (sender, receiver) = mpsc::sync_channel(0);
        let other = sender.clone();
        thread::spawn(move || _ = other.try_send(0));
        AtomicUsize::new(0).load(SeqCst);
        drop(receiver);
        let _ = sender.try_send(1);
    };
    let all = explore(test);
    let reduced = Explorer::new()
        .environment(Environment::calm())
        .reduction(Reduction::Dpor)
        .explore(test);
    assert_eq!((all.reduction(), all.traces()), ("none", Some(4)), "{all}");
    assert_eq!(reduced.reduction(), "dpor", "{reduced}");
    assert_eq!(
        (reduced.traces(), reduced.executions()),
        (Some(4), 4),
        "{reduced}"
    );
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
    assert_set(
        outcomes_in(
            Environment {
                timeouts: 1,
                ..Environment::calm()
            },
            race,
        ),
        [None, Some(1)],
    );
}
