//! The channel is freed while the sender uses it, if the receiver is dropped after a poll (faern/oneshot#87, which is
//! open).

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};
use std::thread;

#[test]
fn a_receiver_is_dropped_after_a_poll() {
    let (sender, receiver) = super::oneshot_channel();
    thread::scope(|scope| {
        scope.spawn(move || _ = sender.send(Box::new(1)).is_ok());
        let mut receiver = pin!(receiver);
        _ = receiver
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
            .is_ready();
    });
}
