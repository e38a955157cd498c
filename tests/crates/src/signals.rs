//! Events, wakers, and threads that park.

use crate::both;
use std::future::poll_fn;
use std::sync::atomic::{
    AtomicBool,
    Ordering::{Relaxed, SeqCst},
};
use std::task::Poll;

mod event_listener {
    use super::*;
    use ::event_listener::{Event, Listener};

    #[test]
    fn an_event_is_not_lost() {
        let (event, flag) = (Event::new(), AtomicBool::new(false));
        both(
            || {
                flag.store(true, SeqCst);
                event.notify(1);
            },
            || {
                while !flag.load(SeqCst) {
                    let listener = event.listen();
                    if flag.load(SeqCst) {
                        break;
                    }
                    listener.wait();
                }
            },
        );
    }
}

mod parking {
    use super::*;

    #[test]
    fn a_parked_thread_wakes() {
        let (parker, unparker) = ::parking::pair();
        both(move || unparker.unpark(), || parker.park());
    }
}

mod atomic_waker {
    use super::*;
    use ::atomic_waker::AtomicWaker;
    use ::futures_lite::future::block_on;

    #[test]
    fn a_flag_is_awaited() {
        let (waker, flag) = (AtomicWaker::new(), AtomicBool::new(false));
        both(
            || {
                flag.store(true, SeqCst);
                waker.wake();
            },
            || {
                block_on(poll_fn(|context| {
                    waker.register(context.waker());
                    match flag.load(SeqCst) {
                        true => Poll::Ready(()),
                        false => Poll::Pending,
                    }
                }))
            },
        );
    }
}

mod diatomic_waker {
    use super::*;
    use ::diatomic_waker::WakeSink;
    use ::futures_lite::future::block_on;

    #[test]
    fn a_flag_is_awaited() {
        let mut sink = WakeSink::new();
        let (source, flag) = (sink.source(), AtomicBool::new(false));
        both(
            || {
                flag.store(true, SeqCst);
                source.notify();
            },
            || block_on(sink.wait_until(|| flag.load(SeqCst).then_some(()))),
        );
    }
}

mod async_event {
    use super::*;
    use ::async_event::Event;
    use ::futures_lite::future::block_on;

    #[test]
    fn a_flag_is_awaited() {
        let (event, flag) = (Event::new(), AtomicBool::new(false));
        both(
            || {
                flag.store(true, Relaxed);
                event.notify_one();
            },
            || block_on(event.wait_until(|| flag.load(Relaxed).then_some(()))),
        );
    }
}

mod want {
    use super::*;
    use ::futures_lite::future::block_on;

    #[test]
    fn a_wish_is_told() {
        let (mut giver, mut taker) = ::want::new();
        let asks = || block_on(poll_fn(|context| giver.poll_want(context)));
        let ((), told) = both(|| taker.want(), asks);
        assert!(told.is_ok());
    }
}

mod synchronoise {
    use super::*;
    use ::synchronoise::SignalEvent;

    #[test]
    fn a_signal_is_taken() {
        let event = SignalEvent::auto(false);
        both(|| event.signal(), || event.wait());
        assert!(!event.status());
    }

    #[test]
    fn each_signal_wakes_a_thread() {
        let event = &SignalEvent::auto(false);
        std::thread::scope(|scope| {
            scope.spawn(|| event.wait());
            scope.spawn(|| event.wait());
            event.signal();
            while event.status() {
                std::thread::yield_now();
            }
            event.signal();
        });
    }
}

mod waitgroup {
    use super::*;
    use ::futures_lite::future::{block_on, poll_once};
    use ::waitgroup::WaitGroup;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn work_is_done_when_the_wait_is_over() {
        let (group, done) = (WaitGroup::new(), AtomicUsize::new(0));
        let workers = [group.worker(), group.worker()];
        let (mut wait, done) = (group.wait(), &done);
        std::thread::scope(|scope| {
            for worker in workers {
                scope.spawn(move || {
                    done.fetch_add(1, SeqCst);
                    drop(worker);
                });
            }
            for _ in 0..2 {
                if block_on(poll_once(&mut wait)).is_some() {
                    return assert_eq!(done.load(SeqCst), 2);
                }
            }
        });
    }
}

mod eyeball {
    use super::*;
    use ::eyeball::Observable;
    use ::futures_lite::future::block_on;

    #[test]
    fn the_end_is_noticed() {
        let observable = Observable::new(0);
        let mut subscriber = Observable::subscribe(&observable);
        let ((), next) = both(move || drop(observable), || block_on(subscriber.next()));
        assert_eq!(next, None);
    }
}
