//! Symmetric tasks: the executions that they save, and their reports.

use intermezzo::extras::spawn_symmetric;
use intermezzo::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo::sync::{Arc, Mutex};
use intermezzo::{Coverage, Explorer, Limit, Reduction, Report, thread};

fn explore(reduction: Reduction, test: impl Fn() + Send + Sync + 'static) -> Report {
    Explorer::new().reduction(reduction).minimise(0).explore(test)
}

#[test]
fn symmetric_increments_take_one_execution_of_six() {
    static N: AtomicUsize = AtomicUsize::new(0);
    let increment = || {
        for _ in 0..3 {
            N.fetch_add(1, SeqCst);
        }
    };
    for reduction in [Reduction::None, Reduction::SourceDpor, Reduction::Dpor] {
        let one_by_one = explore(reduction, move || {
            let tasks = [(); 3].map(|()| thread::spawn(increment));
            for task in tasks {
                task.join().unwrap();
            }
        });
        let symmetric = explore(reduction, move || {
            spawn_symmetric(3, increment).join();
            assert_eq!(N.load(SeqCst), 9);
        });
        assert_eq!((one_by_one.executions(), symmetric.executions()), (1_680, 280));
        assert_eq!(symmetric.traces(), Some(280));
        assert_eq!(*symmetric.coverage(), Coverage::Exhaustive);
        assert!(symmetric.limits().contains(&Limit::Symmetry { differ: false }));
        assert!(
            symmetric.to_string().contains("symmetric tasks in other orders"),
            "{symmetric}"
        );
    }
}

#[test]
fn tasks_that_are_distinguished_narrow_the_coverage() {
    struct Noisy(Arc<AtomicUsize>);
    impl Drop for Noisy {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    let asks = || {
        let n = Arc::new(AtomicUsize::new(0));
        spawn_symmetric(2, move || {
            n.fetch_add(1, SeqCst);
            thread::current().id()
        })
        .join();
    };
    let draws = || {
        let n = Arc::new(AtomicUsize::new(0));
        spawn_symmetric(2, move || {
            let _ = intermezzo::rand::rng();
            n.fetch_add(1, SeqCst)
        })
        .join();
    };
    let gives_up = || {
        let n = Arc::new(AtomicUsize::new(0));
        drop(spawn_symmetric(2, move || Noisy(n.clone())));
    };
    let number = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let differs = move || {
        let (n, number) = (Arc::new(AtomicUsize::new(0)), number.clone());
        number.store(0, SeqCst);
        spawn_symmetric(2, move || match number.fetch_add(1, SeqCst) {
            0 => n.fetch_add(1, SeqCst),
            _ => n.load(SeqCst),
        })
        .join();
    };
    // The identity of a child contains that of its creator.
    let child_asks = || {
        let n = Arc::new(AtomicUsize::new(0));
        spawn_symmetric(2, move || {
            n.fetch_add(1, SeqCst);
            thread::spawn(|| thread::current().id()).join().unwrap()
        })
        .join();
    };
    let other_place = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let stores_elsewhere = move || {
        let (n, other) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let number = other_place.clone();
        number.store(0, SeqCst);
        spawn_symmetric(2, move || match number.fetch_add(1, SeqCst) {
            0 => n.store(1, SeqCst),
            _ => other.store(1, SeqCst),
        })
        .join();
    };
    let reports = [
        ("child asks", explore(Reduction::None, child_asks)),
        ("stores elsewhere", explore(Reduction::None, stores_elsewhere)),
        ("asks", explore(Reduction::None, asks)),
        ("draws", explore(Reduction::None, draws)),
        ("gives up", explore(Reduction::None, gives_up)),
        ("differs", explore(Reduction::None, differs)),
    ];
    for (name, report) in reports {
        assert!(
            report.limits().contains(&Limit::Symmetry { differ: true }),
            "{name}: {report}"
        );
        assert_ne!(*report.coverage(), Coverage::Exhaustive, "{name}: {report}");
    }
}

#[test]
fn all_begin_before_it_is_quiet() {
    for every_operation in [false, true] {
        let test = || {
            let n = Arc::new(AtomicUsize::new(0));
            let theirs = n.clone();
            let threads = spawn_symmetric(3, move || theirs.fetch_add(1, SeqCst));
            intermezzo::quiesce();
            assert_eq!(n.load(SeqCst), 3);
            threads.join();
        };
        let explorer = Explorer::new().reduction(Reduction::None);
        let report = explorer.every_operation(every_operation).explore(test);
        assert!(report.verdict().is_pass(), "{report}");
        assert!(report.limits().contains(&Limit::Symmetry { differ: false }));
    }
}

#[test]
fn senders_that_close_do_not_differ() {
    let report = explore(Reduction::None, || {
        let (sender, receiver) = intermezzo::sync::mpsc::channel::<u8>();
        let n = Arc::new(AtomicUsize::new(0));
        let threads = spawn_symmetric(2, move || {
            drop(sender);
            n.fetch_add(1, SeqCst)
        });
        drop(receiver);
        threads.join();
    });
    assert_eq!(*report.coverage(), Coverage::Exhaustive, "{report}");
}

#[test]
fn a_deadlock_shows_where_each_symmetric_task_waits() {
    for reduction in [Reduction::None, Reduction::Dpor] {
        let test = || {
            let lock = Arc::new(Mutex::new(()));
            let theirs = lock.clone();
            let held = lock.lock().unwrap();
            let threads = spawn_symmetric(3, move || drop(theirs.lock().unwrap()));
            threads.join();
            drop(held);
        };
        let report = explore(reduction, test);
        let finding = &report.findings()[0];
        assert_eq!(finding.kind.to_string(), "deadlock");
        let text = report.to_string();
        for task in ["task 1 waits", "task 2 waits", "task 3 waits"] {
            assert!(text.contains(task), "{text}");
        }
        let again = Explorer::new().replay(finding.schedule.clone()).explore(test);
        assert_eq!(again.findings()[0].kind.to_string(), "deadlock");
    }
}
