//! Locks were taken and given back with orderings that are too weak, up to 0.5.1 (RUSTSEC-2019-0013).

use std::thread;

#[test]
fn a_reader_and_a_writer() {
    let lock = spin::RwLock::new(vec![1]);
    thread::scope(|scope| {
        scope.spawn(|| lock.read().len());
        lock.write().push(2);
    });
}
