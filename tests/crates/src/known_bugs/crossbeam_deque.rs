//! A batch was stolen from a buffer that the deque no longer used: a task was taken twice and another was lost, up to
//! 0.8.0 (RUSTSEC-2021-0093).

use crossbeam_deque::Worker;
use std::iter::from_fn;
use std::thread;

#[test]
fn each_task_is_taken_once() {
    let (deque, mut all, mut taken) = (Worker::new_lifo(), 0..66, Vec::new());
    // The buffer has room for 64 tasks at first. It gets smaller when fewer than 32 are left.
    all.by_ref().take(65).for_each(|task| deque.push(task));
    taken.extend(from_fn(|| deque.pop()).take(33));
    let stealer = deque.stealer();
    let thief = thread::spawn(move || {
        let stolen = Worker::new_lifo();
        _ = stealer.steal_batch(&stolen);
        from_fn(|| stolen.pop()).collect::<Vec<i32>>()
    });
    let owner = thread::spawn(move || {
        taken.extend(from_fn(|| deque.pop()).take(31));
        all.for_each(|task| deque.push(task));
        (deque, taken)
    });
    let stolen = thief.join().unwrap();
    let (deque, mut taken) = owner.join().unwrap();
    taken.extend(stolen);
    taken.extend(from_fn(|| deque.pop()));
    taken.sort_unstable();
    assert_eq!(taken, (0..66).collect::<Vec<_>>());
}
