//! Time, spinning, and futures.

use super::subject::future::{block_on, pending, poll_fn, ready};
use super::subject::sync::atomic::{AtomicBool, Ordering::SeqCst};
use super::subject::task::{Poll, Waker};
use super::subject::time::{Duration, Instant};
use super::subject::{hint, thread};
use crate::message_of;
use std::sync::{Arc, Mutex};

fn instants_are_ordered() {
    let first = Instant::now();
    let second = Instant::now();
    assert!(first <= second);
    assert_eq!(
        first.duration_since(second + Duration::from_secs(1)),
        Duration::ZERO
    );
    assert_eq!(
        first.checked_duration_since(first + Duration::from_nanos(1)),
        None
    );
    assert_eq!(second - first, second.duration_since(first));
    assert_eq!(first - (second + Duration::from_secs(1)), Duration::ZERO);
}

fn instants_add_up() {
    let begin = Instant::now();
    let mut later = begin + Duration::from_secs(2);
    later -= Duration::from_secs(1);
    later += Duration::from_millis(500);
    assert_eq!(later - begin, Duration::from_millis(1500));
    assert_eq!(
        begin.checked_add(Duration::from_secs(1)),
        Some(begin + Duration::from_secs(1))
    );
    assert_eq!(
        later.saturating_duration_since(begin),
        Duration::from_millis(1500)
    );
    assert_eq!(later.checked_sub(Duration::from_millis(1500)), Some(begin));
}

fn instants_overflow() {
    let now = Instant::now();
    assert_eq!(now.checked_add(Duration::MAX), None);
    assert_eq!(now.checked_sub(Duration::MAX), None);
    assert_eq!(
        message_of(|| now + Duration::MAX),
        "overflow when adding duration to instant"
    );
    assert_eq!(
        message_of(|| now - Duration::MAX),
        "overflow when subtracting duration from instant"
    );
}

fn sleep_takes_its_time() {
    let begin = Instant::now();
    thread::sleep(Duration::from_millis(3));
    assert!(begin.elapsed() >= Duration::from_millis(3));
    #[allow(deprecated, reason = "std has it too")]
    thread::sleep_ms(1);
    assert!(begin.elapsed() >= Duration::from_millis(4));
}

fn a_deadline_passes() {
    let deadline = Instant::now() + Duration::from_millis(2);
    while Instant::now() < deadline {
        thread::yield_now();
    }
    thread::park_timeout(Duration::from_millis(1));
    assert!(deadline.elapsed() < Duration::from_secs(600));
}

fn spinning_ends() {
    let go = AtomicBool::new(false);
    thread::scope(|s| {
        s.spawn(|| go.store(true, SeqCst));
        while !go.load(SeqCst) {
            hint::spin_loop();
        }
    });
}

fn what_is_ready_is_not_waited_for() {
    assert_eq!(block_on(ready(1)), 1);
    assert_eq!(block_on(async { ready(1).await + async { 2 }.await }), 3);
    let borrowed = String::from("borrowed");
    assert_eq!(block_on(async { borrowed.as_str() }), "borrowed");
}

fn a_future_may_wake_itself() {
    let mut polls = 0;
    block_on(poll_fn(|context| {
        polls += 1;
        context.waker().wake_by_ref();
        if polls < 3 { Poll::Pending } else { Poll::Ready(()) }
    }));
    assert_eq!(polls, 3);
}

/// A value that arrives once.
#[derive(Default)]
struct Mailbox(Mutex<(Option<u32>, Option<Waker>)>);

impl Mailbox {
    fn put(&self, value: u32) {
        let waker = {
            let mut inside = self.0.lock().unwrap();
            inside.0 = Some(value);
            inside.1.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    async fn take(&self) -> u32 {
        let look = poll_fn(|context| {
            let mut inside = self.0.lock().unwrap();
            inside.1 = Some(context.waker().clone());
            inside.0.take().map_or(Poll::Pending, Poll::Ready)
        });
        look.await
    }
}

fn woken_by_another_thread() {
    let (one, two) = (Arc::new(Mailbox::default()), Arc::new(Mailbox::default()));
    let (first, second) = (one.clone(), two.clone());
    let thread = thread::spawn(move || {
        first.put(1);
        let first = block_on(second.take());
        first + 10
    });
    let sum = block_on(async {
        let got = one.take().await;
        two.put(got + 1);
        got
    });
    assert_eq!((sum, thread.join().unwrap()), (1, 12));
}

fn calls_nest() {
    assert_eq!(block_on(async { block_on(async { 1 }) + 1 }), 2);
}

fn a_panic_passes_through() {
    assert_eq!(
        message_of(|| block_on(async { panic!("in a future") })),
        "in a future"
    );
}

fn wakers_are_told_apart() {
    let own = |context: &mut std::task::Context<'_>| Poll::Ready(context.waker().clone());
    let (one, two) = (block_on(poll_fn(own)), block_on(poll_fn(own)));
    assert!(one.will_wake(&one.clone()));
    // Late calls do nothing.
    one.wake();
    two.wake_by_ref();
    thread::park_timeout(Duration::ZERO);
    let mut never = std::pin::pin!(pending::<()>());
    let mut looks = 0;
    block_on(poll_fn(|context| {
        looks += 1;
        match never.as_mut().poll(context) {
            Poll::Pending => Poll::Ready(()),
            Poll::Ready(()) => unreachable!("it is never ready"),
        }
    }));
    assert_eq!(looks, 1);
}

cases! {
    instants_are_ordered instants_add_up instants_overflow sleep_takes_its_time a_deadline_passes spinning_ends
    what_is_ready_is_not_waited_for a_future_may_wake_itself woken_by_another_thread calls_nest
    a_panic_passes_through wakers_are_told_apart
}
