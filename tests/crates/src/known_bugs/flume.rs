//! A message was lost if its sender was dropped at once, up to 0.10.14 (zesterer/flume#120).

use std::thread;

#[test]
fn a_message_arrives_though_its_sender_is_dropped() {
    let (sender, receiver) = flume::unbounded();
    thread::scope(|scope| {
        scope.spawn(move || sender.send(1).unwrap());
        let received = futures_lite::future::block_on(receiver.recv_async());
        assert_eq!(received, Ok(1));
    });
}
