//! A block of an unbounded channel was freed twice, up to 0.5.14 (RUSTSEC-2025-0024).

use std::thread;

#[test]
fn a_receiver_is_dropped_while_two_threads_send() {
    let (sender, receiver) = crossbeam_channel::unbounded();
    thread::scope(|scope| {
        for n in 0..2 {
            let sender = sender.clone();
            scope.spawn(move || sender.send(Box::new(n)).is_ok());
        }
        drop(sender);
        drop(receiver);
    });
}
