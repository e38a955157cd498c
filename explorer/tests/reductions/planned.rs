//! Steps that act differently in another order: a handle that is the last, a wait that times out, a choice of values.
//!
//! A sequence that reverses a race is planned from the steps of the execution that showed the race. `dpor` has to know
//! which of them will be different, or it runs some traces twice, or executions that show nothing.

use intermezzo_explorer::sync::Arc;
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::time::{Duration, Instant};
use intermezzo_explorer::{Coverage, Environment, Explorer, Reduction, any_bool, thread};

const MOMENT: Duration = Duration::from_millis(1);

/// Asserts that `dpor` runs each trace of a test once, and nothing else; returns the number of traces.
#[track_caller]
fn once(environment: &Environment, test: impl Fn() + Send + Sync + Copy + 'static) -> u64 {
    let explore = |reduction| {
        let explorer = Explorer::new().environment(*environment).minimise(0);
        let report = explorer.reduction(reduction).explore(test);
        assert_eq!(*report.coverage(), Coverage::Exhaustive, "{report}");
        assert!(report.verdict().is_pass(), "{report}");
        report
    };
    let (none, dpor) = (explore(Reduction::None), explore(Reduction::Dpor));
    let traces = none.traces().expect("few traces");
    let ran = (
        dpor.executions(),
        dpor.traces(),
        dpor.redundant(),
        dpor.reduction(),
    );
    assert_eq!(ran, (traces, Some(traces), 0, "dpor"), "{dpor}");
    traces
}

/// A value whose destructor may run code.
struct Dropped;

impl Drop for Dropped {
    fn drop(&mut self) {}
}

/// Drops commute except for the last one: the order decides only which handle is the last.
fn each_drops<const TASKS: usize>() {
    let value = Arc::new(Dropped);
    let handles: [_; TASKS] = std::array::from_fn(|_| value.clone());
    drop(value);
    let tasks = handles.map(|handle| thread::spawn(move || drop(handle)));
    for task in tasks {
        task.join().unwrap();
    }
}

#[test]
fn each_handle_is_the_last_once() {
    assert_eq!(once(&Environment::calm(), each_drops::<2>), 2);
    assert_eq!(once(&Environment::calm(), each_drops::<3>), 3);
    assert_eq!(once(&Environment::calm(), each_drops::<4>), 4);
}

/// A weak handle is never the last, and does not keep the value alive.
#[test]
fn a_weak_handle_drops_nothing() {
    once(&Environment::calm(), || {
        let value = Arc::new(Dropped);
        let weak = Arc::downgrade(&value);
        let task = thread::spawn(move || {
            let more = value.clone();
            drop(more);
            drop(value);
        });
        drop(weak);
        task.join().unwrap();
    });
}

/// The wait cannot end before the token, unless the environment lets it time out early.
#[test]
fn a_wait_with_a_limit_ends_by_its_token() {
    let test = || {
        let task = thread::spawn(|| thread::park_timeout(MOMENT));
        task.thread().unpark();
        task.join().unwrap();
    };
    assert_eq!(once(&Environment::calm(), test), 1);
    let early = Environment {
        timeouts: 1,
        ..Environment::calm()
    };
    // The wait ends by the token, whether it could have ended early or not, or ends early.
    assert_eq!(once(&early, test), 3);
}

/// The wait may end before the token if another task has moved time by then.
#[test]
fn a_wait_with_a_limit_ends_when_time_has_passed() {
    once(&Environment::calm(), || {
        let begin = Instant::now();
        let waits = thread::spawn(|| thread::park_timeout(MOMENT));
        let sleeps = thread::spawn(|| thread::sleep(2 * MOMENT));
        waits.thread().unpark();
        waits.join().unwrap();
        sleeps.join().unwrap();
        assert!(begin.elapsed() >= 2 * MOMENT);
    });
}

/// A step that chooses a value after its access is planned with the value it chose.
#[test]
fn a_step_is_planned_with_the_values_that_it_chose() {
    static X: AtomicUsize = AtomicUsize::new(0);
    static Y: AtomicUsize = AtomicUsize::new(0);
    let traces = once(&Environment::calm(), || {
        let task = thread::spawn(|| {
            X.store(1, SeqCst);
            if any_bool() {
                Y.store(1, SeqCst);
            }
        });
        Y.load(SeqCst);
        task.join().unwrap();
    });
    assert_eq!(traces, 3);
    once(&Environment::default(), || {
        let tasks = [0, 1].map(|_| {
            thread::spawn(|| {
                X.fetch_add(1, SeqCst);
                thread::park_timeout(MOMENT);
            })
        });
        Y.load(SeqCst);
        for task in tasks {
            task.join().unwrap();
        }
    });
}
