//! Channels.

use crate::both;
use ::futures_lite::future::{block_on, poll_once};

mod crossbeam_channel {
    use super::*;
    use ::crossbeam_channel::{Select, bounded, unbounded};

    #[test]
    fn rendezvous() {
        let (sender, receiver) = bounded(0);
        let (sent, received) = both(move || sender.send(1), || receiver.recv());
        assert_eq!((sent, received), (Ok(()), Ok(1)));
    }

    #[test]
    fn a_list() {
        let (sender, receiver) = unbounded();
        let ((), received) = both(move || sender.send(1).unwrap(), || receiver.iter().sum::<u32>());
        assert_eq!(received, 1);
    }

    #[test]
    fn one_of_two_is_selected() {
        let (one, first) = bounded(1);
        let (two, second) = bounded(1);
        both(
            || _ = (one.send(1), two.send(2)),
            || {
                let mut select = Select::new();
                select.recv(&first);
                select.recv(&second);
                let operation = select.select();
                match operation.index() {
                    0 => assert_eq!(operation.recv(&first), Ok(1)),
                    _ => assert_eq!(operation.recv(&second), Ok(2)),
                }
            },
        );
    }
}

mod async_priority_channel {
    use super::*;

    #[test]
    fn a_message_arrives() {
        let (sender, receiver) = ::async_priority_channel::bounded(1);
        let (sent, received) = both(move || block_on(sender.send(1, 0)), || block_on(receiver.recv()));
        assert!(sent.is_ok());
        assert_eq!(received.unwrap(), (1, 0));
    }
}

mod postage {
    use super::*;
    use ::postage::prelude::{Sink, Stream};

    #[test]
    fn a_message_arrives() {
        let (mut sender, mut receiver) = ::postage::mpsc::channel(1);
        let (sent, received) = both(move || block_on(sender.send(1)), || block_on(receiver.recv()));
        assert!(sent.is_ok());
        assert_eq!(received, Some(1));
    }
}

mod flume {
    use super::*;

    #[test]
    fn bounded() {
        let (sender, receiver) = ::flume::bounded(1);
        let ((), received) = both(move || sender.send(1).unwrap(), || receiver.iter().sum::<u32>());
        assert_eq!(received, 1);
    }

    #[test]
    fn a_message_is_selected() {
        let (sender, receiver) = ::flume::unbounded();
        let (_silent, other) = ::flume::unbounded();
        let task = std::thread::spawn(move || sender.send(1).unwrap());
        let selector = ::flume::Selector::new()
            .recv(&receiver, |value| value)
            .recv(&other, |value| value);
        assert_eq!(selector.wait(), Ok(1));
        task.join().unwrap();
    }

    #[test]
    fn a_cancelled_receive_wakes_another() {
        let (sender, receiver) = ::flume::unbounded();
        let other = receiver.clone();
        let mut cancelled = Box::pin(receiver.recv_async());
        assert!(block_on(poll_once(&mut cancelled)).is_none());
        let ((), received) = both(
            move || {
                sender.send(1).unwrap();
                drop(cancelled);
            },
            move || other.recv(),
        );
        assert_eq!(received, Ok(1));
    }

    #[test]
    fn a_future_that_is_polled_again_is_woken() {
        let (sender, receiver) = ::flume::unbounded();
        let other = receiver.clone();
        let ((), received) = both(
            || {
                sender.send(1).unwrap();
                if receiver.try_recv().is_ok() {
                    sender.send(2).unwrap();
                }
            },
            move || block_on(other.recv_async()),
        );
        assert!(received.is_ok());
    }
}

mod kanal {
    use super::*;

    #[test]
    fn bounded() {
        let (sender, receiver) = ::kanal::bounded(1);
        let (sent, received) = both(move || sender.send(1).is_ok(), || receiver.recv().ok());
        assert_eq!((sent, received), (true, Some(1)));
    }
}

mod loole {
    use super::*;

    #[test]
    fn unbounded() {
        let (sender, receiver) = ::loole::unbounded();
        let (sent, received) = both(move || sender.send(1).is_ok(), || receiver.recv().ok());
        assert_eq!((sent, received), (true, Some(1)));
    }
}

mod oneshot {
    use super::*;

    #[test]
    fn a_message_arrives() {
        let (sender, receiver) = ::oneshot::channel();
        let (sent, received) = both(move || sender.send(1).is_ok(), || receiver.recv());
        assert_eq!((sent, received), (true, Ok(1)));
    }

    #[test]
    fn an_end_is_dropped() {
        let (sender, receiver) = ::oneshot::channel::<Box<u32>>();
        both(
            move || _ = sender.send(Box::new(1)).is_ok(),
            move || drop(receiver),
        );
    }
}

mod async_oneshot {
    use super::*;
    use std::pin::Pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::task::{Context, Poll, Wake, Waker};

    #[test]
    fn a_message_arrives() {
        let (mut sender, receiver) = ::async_oneshot::oneshot();
        let (sent, received) = both(move || sender.send(1).is_ok(), || block_on(receiver).ok());
        assert_eq!((sent, received), (true, Some(1)));
    }

    #[test]
    fn a_sender_waits_for_the_receiver() {
        let (sender, receiver) = ::async_oneshot::oneshot();
        let (sent, received) = both(
            move || block_on(sender.wait()).unwrap().send(1).is_ok(),
            || block_on(receiver).ok(),
        );
        assert_eq!((sent, received), (true, Some(1)));
    }

    #[test]
    fn a_message_is_dropped() {
        let (mut sender, receiver) = ::async_oneshot::oneshot();
        both(
            move || _ = sender.send(Box::new(1)).is_ok(),
            move || drop(receiver),
        );
    }

    #[test]
    fn a_receiver_is_polled_again() {
        let (mut sender, mut receiver) = ::async_oneshot::oneshot();
        let (sent, received) = both(
            move || sender.send(1).is_ok(),
            || {
                let mut nothing = Context::from_waker(Waker::noop());
                match Pin::new(&mut receiver).poll(&mut nothing) {
                    Poll::Ready(received) => received.ok(),
                    Poll::Pending => block_on(receiver).ok(),
                }
            },
        );
        assert_eq!((sent, received), (true, Some(1)));
    }

    /// Counts how often it is woken.
    #[derive(Default)]
    struct Counter(AtomicUsize);

    impl Wake for Counter {
        fn wake(self: Arc<Counter>) {
            self.0.fetch_add(1, SeqCst);
        }
    }

    #[test]
    fn a_receiver_gets_another_waker() {
        let (mut sender, mut receiver) = ::async_oneshot::oneshot();
        let mut poll = || {
            let waker = Waker::from(Arc::new(Counter::default()));
            Pin::new(&mut receiver).poll(&mut Context::from_waker(&waker))
        };
        both(
            move || sender.send(1).is_ok(),
            || _ = poll().is_pending() && poll().is_pending(),
        );
    }
}

mod catty {
    use super::*;

    #[test]
    fn a_message_arrives() {
        let (sender, receiver) = ::catty::oneshot();
        let (sent, received) = both(move || sender.send(1), || block_on(receiver).ok());
        assert_eq!((sent, received), (Ok(()), Some(1)));
    }
}

mod async_channel {
    use super::*;

    #[test]
    fn a_message_arrives() {
        let (sender, receiver) = ::async_channel::bounded(1);
        let (sent, received) = both(
            move || sender.send_blocking(1).is_ok(),
            || block_on(receiver.recv()).ok(),
        );
        assert_eq!((sent, received), (true, Some(1)));
    }
}

mod async_broadcast {
    use super::*;

    #[test]
    fn a_message_arrives() {
        let (sender, mut receiver) = ::async_broadcast::broadcast(1);
        let (sent, received) = both(
            move || block_on(sender.broadcast_direct(1)).is_ok(),
            || block_on(receiver.recv_direct()).ok(),
        );
        assert_eq!((sent, received), (true, Some(1)));
    }
}

mod tachyonix {
    use super::*;

    #[test]
    fn a_message_arrives() {
        let (sender, mut receiver) = ::tachyonix::channel(1);
        let (sent, received) = both(
            move || block_on(sender.send(1)).is_ok(),
            || block_on(receiver.recv()).ok(),
        );
        assert_eq!((sent, received), (true, Some(1)));
    }
}

mod thingbuf {
    use super::*;

    #[test]
    fn a_message_arrives() {
        let (sender, receiver) = ::thingbuf::mpsc::blocking::channel(1);
        let (sent, received) = both(move || sender.send(1).is_ok(), || receiver.recv());
        assert_eq!((sent, received), (true, Some(1)));
    }
}

mod bus {
    use super::*;

    #[test]
    fn a_message_arrives() {
        let mut bus = ::bus::Bus::new(1);
        let mut receiver = bus.add_rx();
        let ((), received) = both(move || bus.broadcast(1), || receiver.recv().ok());
        assert_eq!(received, Some(1));
    }
}

mod futures {
    use super::*;
    use ::futures::StreamExt;
    use ::futures::channel::{mpsc, oneshot};

    #[test]
    fn a_single_message_arrives() {
        let (sender, receiver) = oneshot::channel();
        let (sent, received) = both(
            move || sender.send(1),
            || ::futures::executor::block_on(receiver).ok(),
        );
        assert_eq!((sent, received), (Ok(()), Some(1)));
    }

    #[test]
    fn messages_arrive() {
        let (sender, mut receiver) = mpsc::unbounded();
        let (sent, received) = both(
            move || sender.unbounded_send(1).is_ok(),
            || ::futures::executor::block_on(receiver.next()),
        );
        assert_eq!((sent, received), (true, Some(1)));
    }
}

mod tokio {
    use super::*;
    use ::tokio::sync::{Mutex, Notify, Semaphore, mpsc, oneshot, watch};

    #[test]
    fn a_single_message_arrives() {
        let (sender, receiver) = oneshot::channel();
        let (sent, received) = both(move || sender.send(1), || block_on(receiver).ok());
        assert_eq!((sent, received), (Ok(()), Some(1)));
    }

    #[test]
    fn messages_arrive() {
        let (sender, mut receiver) = mpsc::channel(1);
        let (sent, received) = both(
            move || sender.blocking_send(1).is_ok(),
            || receiver.blocking_recv(),
        );
        assert_eq!((sent, received), (true, Some(1)));
    }

    #[test]
    fn a_change_is_seen() {
        let (sender, mut receiver) = watch::channel(0);
        both(
            move || sender.send(1).unwrap(),
            || assert!(block_on(receiver.wait_for(|value| *value == 1)).is_ok()),
        );
    }

    #[test]
    fn mutex() {
        let lock = Mutex::new(0);
        let add = || *lock.blocking_lock() += 1;
        both(add, add);
        assert_eq!(lock.into_inner(), 2);
    }

    #[test]
    fn semaphore() {
        let semaphore = Semaphore::new(1);
        let take = || drop(block_on(semaphore.acquire()).unwrap());
        both(take, take);
        assert_eq!(semaphore.available_permits(), 1);
    }

    #[test]
    fn notify() {
        let notify = Notify::new();
        both(|| notify.notify_one(), || block_on(notify.notified()));
    }
}

mod crossfire {
    use super::*;
    use ::crossfire::mpmc::bounded_blocking;

    #[test]
    fn bounded() {
        let (sender, receiver) = bounded_blocking(1);
        let send = || {
            sender.send(1).unwrap();
            sender.send(2).unwrap();
        };
        let ((), received) = both(send, || [receiver.recv().unwrap(), receiver.recv().unwrap()]);
        assert_eq!(received, [1, 2]);
    }
}

mod multiqueue2 {
    use super::*;

    #[test]
    fn a_message_arrives() {
        let (sender, receiver) = ::multiqueue2::mpmc_queue(1);
        let (sent, received) = both(move || sender.try_send(1).is_ok(), move || receiver.recv().ok());
        assert_eq!((sent, received), (true, Some(1)));
    }
}
