//! Waits with a limit of time that none of them reaches, unless it ends early.

#![cfg(test)]

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(1);

#[test]
fn a_message_comes_in_time() {
    let (sender, receiver) = channel();
    let other = thread::spawn(move || sender.send(1));
    assert_eq!(receiver.recv_timeout(LIMIT), Ok(1));
    other.join().unwrap().unwrap();
}

/// The message is there when the wait begins, in the only execution that is run without early time-outs.
#[test]
fn a_message_has_come() {
    let (sender, receiver) = channel();
    let other = thread::spawn(move || assert_eq!(receiver.recv_timeout(LIMIT), Ok(1)));
    sender.send(1).unwrap();
    other.join().unwrap();
}

/// A wait that begins only if a load returns an older value.
#[test]
fn a_message_is_awaited_after_a_stale_read() {
    let (one, other) = (AtomicBool::new(false), AtomicBool::new(false));
    let (sender, receiver) = channel();
    thread::scope(|scope| {
        scope.spawn(|| {
            one.store(true, Relaxed);
            other.store(true, Relaxed);
            sender.send(1).unwrap();
        });
        if other.load(Relaxed) && !one.load(Relaxed) {
            assert_eq!(receiver.recv_timeout(LIMIT), Ok(1));
        }
    });
}

/// A permit that can be handed to the one that waits for it.
#[derive(Default)]
struct Permit {
    waits: bool,
    is_handed: bool,
    is_free: bool,
}

/// The one that gives up does not say so.
#[test]
fn a_permit_is_handed_to_one_that_has_given_up() {
    let shared = Arc::new((Mutex::new(Permit::default()), Condvar::new()));
    let other = shared.clone();
    let other = thread::spawn(move || {
        let mut permit = other.0.lock().unwrap();
        match permit.waits {
            true => permit.is_handed = true,
            false => permit.is_free = true,
        }
        other.1.notify_one();
    });
    let mut permit = shared.0.lock().unwrap();
    permit.waits = !permit.is_free;
    while permit.waits && !permit.is_handed {
        let (after, waited) = shared.1.wait_timeout(permit, LIMIT).unwrap();
        permit = after;
        if waited.timed_out() {
            break;
        }
    }
    let was_got = permit.is_handed || permit.is_free;
    drop(permit);
    other.join().unwrap();
    assert!(was_got || shared.0.lock().unwrap().is_free, "the permit is lost");
}

#[test]
fn a_time_out_is_followed_by_another_wait() {
    let (sender, receiver) = channel();
    let other = thread::spawn(move || sender.send(1));
    let received = match receiver.recv_timeout(LIMIT) {
        Err(RecvTimeoutError::Timeout) => receiver.recv().ok(),
        other => other.ok(),
    };
    assert_eq!(received, Some(1));
    other.join().unwrap().unwrap();
}

#[test]
fn there_are_many_time_outs() {
    let (sender, receiver) = channel();
    let others: Vec<_> = (0..2)
        .map(|_| {
            let sender = sender.clone();
            thread::spawn(move || (0..2).for_each(|_| sender.send(1).unwrap()))
        })
        .collect();
    drop(sender);
    let mut sum = 0;
    loop {
        match receiver.recv_timeout(LIMIT) {
            Ok(n) => sum += n,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    assert_eq!(sum, 4);
    others.into_iter().for_each(|other| other.join().unwrap());
}

#[test]
fn there_is_one_task() {
    let (_sender, receiver) = channel::<u32>();
    assert_eq!(receiver.recv_timeout(LIMIT), Err(RecvTimeoutError::Timeout));
}

#[test]
fn nothing_has_a_limit() {
    let (sender, receiver) = channel();
    let other = thread::spawn(move || sender.send(1));
    assert_eq!(receiver.recv(), Ok(1));
    other.join().unwrap().unwrap();
}
