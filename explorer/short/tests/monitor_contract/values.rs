//! The values that events read and write, according to the table at `SyncVarAccess`.

use super::recorder::{lines_with, recorded};
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::mpsc::{RecvError, SendError, TrySendError, channel, sync_channel};
use intermezzo_explorer::sync::{Arc, Barrier, Condvar, Mutex, Once};
use intermezzo_explorer::{Environment, Explorer, choose, thread};
use intermezzo_sdk::Interests;
use std::time::Duration;

/// Returns the values that a test's events read and write, in all its executions.
fn values(test: impl Fn() + Send + Sync) -> Vec<Vec<String>> {
    let explorer = Explorer::new().environment(Environment::calm());
    recorded(explorer, Interests::SYNC_ACCESSES, test)
}

#[test]
fn atomics_and_choices() {
    let seen = values(|| {
        let n = AtomicUsize::new(7);
        n.store(8, SeqCst);
        n.fetch_add(2, SeqCst);
        n.load(SeqCst);
        assert!(n.compare_exchange(1, 2, SeqCst, SeqCst).is_err());
        choose(2);
    });
    let expected = [
        "0.2 store atomic 0.1 0 8",
        "0.3 read-modify-write atomic 0.1 8 10",
        "0.4 load atomic 0.1 10 0",
        "0.5 failed compare-exchange atomic 0.1 10 0",
    ];
    for (execution, chosen) in seen.iter().zip(0..2) {
        assert_eq!(execution[1..5], expected);
        assert_eq!(execution[5], format!("0.6 choose  {chosen} 0"));
    }
    assert_eq!(seen.len(), 2);
}

#[test]
fn tasks_by_number() {
    let seen = values(|| {
        let first = thread::spawn(|| {});
        let second = thread::spawn(|| {});
        second.join().unwrap();
        _ = first.is_finished();
        first.join().unwrap();
    });
    assert_eq!(
        lines_with(&seen, "spawn"),
        ["0.2 spawn task 1 1 0", "0.3 spawn task 2 2 0"]
    );
    // Its last step may be over for some time before it has ended.
    assert_eq!(
        lines_with(&seen, "is it"),
        ["0.5 is it finished task 1 1 0", "0.5 is it finished task 1 0 1"]
    );
    assert_eq!(
        lines_with(&seen, "join"),
        ["0.4 join task 2 2 0", "0.6 join task 1 1 0"]
    );
}

#[test]
fn a_wait_names_the_mutex() {
    let seen = values(|| {
        let shared = (Mutex::new(false), Condvar::new(), Mutex::new(()));
        thread::scope(|scope| {
            scope.spawn(|| {
                *shared.0.lock().unwrap() = true;
                shared.1.notify_one();
            });
            let _other = shared.2.lock().unwrap();
            let mut ready = shared.0.lock().unwrap();
            while !*ready {
                ready = shared.1.wait(ready).unwrap();
            }
        });
    });
    let waits = lines_with(&seen, " wait ");
    assert!(!waits.is_empty());
    for wait in waits {
        let (_, mutex) = wait.split_once(" and mutex ").expect("a mutex");
        let taken = |line: &&String| line.contains(&format!(" lock mutex {}", &mutex[..3]));
        assert!(seen.iter().flatten().any(|line| taken(&line)), "{wait}");
    }
    assert!(
        lines_with(&seen, "woken")
            .iter()
            .all(|line| line.ends_with(" 0 0"))
    );
}

#[test]
fn a_wake_that_nobody_caused() {
    let environment = Environment {
        spurious_wakeups: 1,
        ..Environment::calm()
    };
    let explorer = Explorer::new().environment(environment);
    let seen = recorded(explorer, Interests::SYNC_ACCESSES, || {
        let main = thread::current();
        let waker = thread::spawn(move || main.unpark());
        thread::park();
        waker.join().unwrap();
    });
    let parks = lines_with(&seen, " park ");
    assert!(
        parks.iter().any(|line| line.ends_with("park main 1 0")),
        "{parks:?}"
    );
    assert!(
        parks.iter().any(|line| line.ends_with("park main 0 0")),
        "{parks:?}"
    );
}

#[test]
fn messages_by_number() {
    let seen = values(|| {
        let (sender, receiver) = channel();
        let (other, unused) = channel::<u8>();
        sender.send('a').unwrap();
        sender.send('b').unwrap();
        other.send(1).unwrap();
        assert_eq!((receiver.recv(), receiver.recv()), (Ok('a'), Ok('b')));
        assert!(receiver.try_recv().is_err());
        drop(sender);
        assert_eq!(receiver.recv(), Err(RecvError));
        drop(unused);
        assert_eq!(other.send(2), Err(SendError(2)));
    });
    let [execution] = &seen[..] else {
        panic!("{seen:?}")
    };
    let expected = [
        "0.2 send channel 0.1 0 1",
        "0.3 send channel 0.1 0 2",
        "0.4 send channel 0.2 0 1",
        "0.5 receive channel 0.1 1 0",
        "0.6 receive channel 0.1 2 0",
        "0.7 channel not ready channel 0.1 0 0",
        "0.8 close channel 0.1 0 0",
        "0.9 receive channel 0.1 0 0",
        "0.10 close channel 0.2 1 1",
        "0.11 send channel 0.2 0 0",
    ];
    assert_eq!(execution[1..11], expected);
}

#[test]
fn a_rendezvous_says_what_was_taken() {
    let seen = values(|| {
        let (sender, receiver) = sync_channel(0);
        let task = thread::spawn(move || (receiver.recv(), receiver.recv()));
        sender.send('a').unwrap();
        sender.send('b').unwrap();
        assert_eq!(task.join().unwrap(), (Ok('a'), Ok('b')));
    });
    for execution in &seen {
        let sends: Vec<&String> = execution.iter().filter(|line| line.contains(" send ")).collect();
        let values = |line: &&String| {
            line.split(' ')
                .rev()
                .take(2)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let sent: Vec<Vec<String>> = sends.iter().map(values).collect();
        // Offered and accepted, twice: written and read, in this order.
        let expected = [["1", "0"], ["0", "1"], ["2", "0"], ["0", "2"]];
        assert_eq!(
            sent,
            expected.map(|pair| pair.map(str::to_owned).to_vec()),
            "{execution:#?}"
        );
        let receipts: Vec<&String> = execution.iter().filter(|line| line.contains("receive")).collect();
        let received: Vec<Vec<String>> = receipts.iter().map(values).collect();
        let taken: Vec<&str> = received
            .iter()
            .filter(|pair| pair[0] == "0")
            .map(|pair| &*pair[1])
            .collect();
        assert_eq!(taken, ["1", "2"], "{execution:#?}");
        let waits = received.iter().filter(|pair| pair[0] == "1");
        assert!(waits.into_iter().all(|pair| pair[1] == "0"), "{execution:#?}");
    }
    assert!(seen.len() > 1);
}

#[test]
fn a_rendezvous_that_comes_to_nothing() {
    let seen = values(|| {
        let (sender, receiver) = sync_channel(0);
        assert_eq!(sender.try_send('a'), Err(TrySendError::Full('a')));
        let task = thread::spawn(move || sender.send('b'));
        drop(receiver);
        assert_eq!(task.join().unwrap(), Err(SendError('b')));
    });
    let sends = lines_with(&seen, " send ");
    assert!(
        sends.iter().any(|line| line.ends_with(" 0 1")),
        "laid on the table: {sends:?}"
    );
    let refused = sends.iter().filter(|line| line.ends_with(" 0 0"));
    assert!(refused.count() > 1, "refused at once, or later: {sends:?}");
    assert!(!sends.iter().any(|line| line.ends_with(" 1 0")), "{sends:?}");
}

#[test]
fn rounds_of_a_barrier() {
    let seen = values(|| {
        let barrier = Barrier::new(2);
        thread::scope(|scope| {
            scope.spawn(|| [barrier.wait(), barrier.wait()]);
            barrier.wait();
            barrier.wait();
        });
    });
    for execution in &seen {
        for word in ["arrive", "pass"] {
            let rounds: Vec<&str> = execution
                .iter()
                .filter(|line| line.contains(word))
                .map(|line| line.rsplit(' ').nth(1).unwrap())
                .collect();
            assert_eq!(rounds, ["1", "1", "2", "2"], "{word} in {execution:#?}");
        }
    }
    assert!(seen.len() > 1);
}

#[test]
fn initialisations() {
    let seen = values(|| {
        let once = Once::new();
        let broken = || once.call_once_force(|_| panic!("at first"));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(broken)).is_err());
        assert!(!once.is_completed());
        once.call_once_force(|_| {});
        once.call_once(|| {});
    });
    let [execution] = &seen[..] else {
        panic!("{seen:?}")
    };
    let expected = [
        "0.2 begin once once 0.1 0 0",
        "0.3 once complete once 0.1 0 0",
        "0.4 is it complete once 0.1 0 0",
        "0.5 begin once once 0.1 0 0",
        "0.6 once complete once 0.1 0 1",
        "0.7 is it complete once 0.1 1 0",
    ];
    assert_eq!(execution[1..7], expected);
}

#[test]
fn counts_before_and_after() {
    let seen = values(|| {
        let value = Arc::new(1);
        let weak = Arc::downgrade(&value);
        let more = value.clone();
        assert_eq!(Arc::strong_count(&value), 2);
        drop((value, more));
        assert!(weak.upgrade().is_none());
    });
    let [execution] = &seen[..] else {
        panic!("{seen:?}")
    };
    let expected = [
        "0.2 count up count 0.1 0 1",
        "0.3 count up count 0.1 1 2",
        "0.4 read count count 0.1 2 2",
        "0.5 count down count 0.1 2 1",
        "0.6 count down count 0.1 1 0",
        "0.7 read count count 0.1 0 0",
    ];
    assert_eq!(execution[1..7], expected);
}

#[test]
fn a_replay_tells_the_same() {
    let test = || {
        let (sender, receiver) = channel();
        let shared = Arc::new((Mutex::new(0), Condvar::new()));
        let theirs = shared.clone();
        let task = thread::spawn(move || {
            let taken = theirs.0.lock().unwrap();
            let (taken, _) = theirs.1.wait_timeout(taken, Duration::from_millis(1)).unwrap();
            sender.send(*taken).unwrap();
        });
        *shared.0.lock().unwrap() += 1;
        shared.1.notify_all();
        let sent = receiver.recv().unwrap();
        task.join().unwrap();
        assert_eq!(sent, 1, "it was too early");
    };
    let record = |explorer: Explorer| {
        let (recorder, noted) = super::recorder::Recorder::new(Interests::ALL);
        let report = explorer
            .program("replay")
            .minimise(0)
            .monitor(recorder)
            .explore(test);
        let noted = noted.lock().unwrap().clone();
        (report, noted)
    };
    let (report, noted) = record(Explorer::new());
    let [finding] = report.findings() else {
        panic!("{report}")
    };
    let (_, again) = record(Explorer::new().replay(finding.schedule.clone()));
    // The search was replayed once, after its last execution.
    assert_eq!(again[0], noted[report.executions() as usize - 1]);
}
