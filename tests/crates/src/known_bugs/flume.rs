//! A message was lost if its sender was dropped at once, up to 0.10.14 (zesterer/flume#120).

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::thread;

#[test]
fn a_message_arrives_though_its_sender_is_dropped() {
    let (sender, receiver) = flume::unbounded();
    thread::scope(|scope| {
        scope.spawn(move || sender.send(1).unwrap());
        let mut received = pin!(receiver.recv_async());
        let mut poll = || received.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        // As if the task was woken for another reason.
        let value = loop {
            match poll() {
                Poll::Ready(value) => break value,
                Poll::Pending => thread::yield_now(),
            }
        };
        assert_eq!(value, Ok(1));
    });
}
