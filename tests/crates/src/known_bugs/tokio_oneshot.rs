//! A message was taken twice if the receiver was closed while the sender sent, up to 1.13.0 (RUSTSEC-2021-0124).

use std::thread;
use tokio::sync::oneshot;

#[test]
fn a_message_is_taken_once() {
    let (sender, mut receiver) = oneshot::channel();
    thread::scope(|scope| {
        let sent = scope.spawn(move || sender.send(Box::new(1)).is_ok());
        receiver.close();
        let received = receiver.try_recv().is_ok();
        assert_eq!(sent.join().unwrap(), received);
    });
}
