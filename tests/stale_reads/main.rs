//! Executions under the memory model of C++20: findings, replays, reports and refusals.

mod auto;
mod explained;
mod looks;
mod plain_memory;
mod random;
mod time;

use intermezzo::cell::{ByPointer as _, UnsafeCell};
use intermezzo::sdk::{Context, Execution, Interests, Monitor, SyncVarAccess, SyncVarOp};
use intermezzo::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use intermezzo::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering, compiler_fence, fence};
use intermezzo::sync::{Arc, Mutex};
use intermezzo::{Coverage, Environment, Explorer, Limit, Reduction, Report, Strategy, Verdict, thread};

fn weak() -> Explorer {
    Explorer::new().environment(Environment {
        stale_reads: 2,
        ..Environment::calm()
    })
}

fn explored(test: impl Fn() + Send + Sync + 'static) -> Report {
    weak().explore(test)
}

/// Stores to one variable and loads the other, in two tasks.
fn store_buffer(store: Ordering, load: Ordering, fenced: bool) {
    let vars = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
    let other = Arc::clone(&vars);
    let side = move |vars: &[AtomicU32; 2], own: usize| {
        vars[own].store(1, store);
        if fenced {
            fence(SeqCst);
        }
        vars[1 - own].load(load)
    };
    let task = thread::spawn(move || side(&other, 0));
    let read = side(&vars, 1);
    assert!(task.join().unwrap() + read > 0, "both read 0");
}

#[test]
fn store_buffers_need_sequential_consistency() {
    let sc = Explorer::new().explore(|| store_buffer(Relaxed, Relaxed, false));
    assert_eq!(sc.verdict(), Verdict::Pass);
    for (store, load, fenced, verdict) in [
        (Relaxed, Relaxed, false, Verdict::Fail),
        (Release, Acquire, false, Verdict::Fail),
        (SeqCst, Relaxed, false, Verdict::Fail),
        (SeqCst, SeqCst, false, Verdict::Pass),
        (Relaxed, Relaxed, true, Verdict::Pass),
    ] {
        let report = explored(move || store_buffer(store, load, fenced));
        assert_eq!(report.verdict(), verdict, "{store:?} {load:?} {fenced}: {report}");
    }
}

/// Stores to one variable and loads the other, in two tasks; between the two, `between` stands for a fence.
fn store_buffer_with(between: fn()) -> Verdict {
    let test = move || {
        let vars = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
        let other = Arc::clone(&vars);
        let side = move |vars: &[AtomicU32; 2], own: usize| {
            vars[own].store(1, Relaxed);
            between();
            vars[1 - own].load(Relaxed)
        };
        let task = thread::spawn(move || side(&other, 0));
        let read = side(&vars, 1);
        assert!(task.join().unwrap() + read > 0, "both read 0");
    };
    let report = explored(test);
    let is_listed = report.limits().contains(&Limit::CompilerFences);
    assert_eq!(is_listed, report.verdict() == Verdict::Pass, "{report}");
    report.verdict()
}

#[test]
fn an_exchange_and_a_compiler_fence_are_a_fence_of_x86() {
    let is_fence = match cfg!(any(target_arch = "x86", target_arch = "x86_64")) {
        true => Verdict::Pass,
        false => Verdict::Fail,
    };
    let changes = || {
        AtomicU32::new(0).fetch_or(0, SeqCst);
        compiler_fence(SeqCst);
    };
    assert_eq!(store_buffer_with(changes), is_fence);
    let fails = || {
        let _ = AtomicU32::new(0).compare_exchange(1, 2, SeqCst, SeqCst);
        compiler_fence(SeqCst);
    };
    assert_eq!(store_buffer_with(fails), is_fence);
    let orders_nothing: [fn(); 6] = [
        || compiler_fence(SeqCst),
        || {
            AtomicU32::new(0).fetch_or(0, SeqCst);
        },
        || {
            AtomicU32::new(0).fetch_or(0, AcqRel);
            compiler_fence(SeqCst);
        },
        || {
            AtomicU32::new(0).fetch_or(0, SeqCst);
            compiler_fence(AcqRel);
        },
        || {
            let _ = AtomicU32::new(0).compare_exchange(1, 2, SeqCst, Relaxed);
            compiler_fence(SeqCst);
        },
        || {
            AtomicU32::new(0).fetch_or(0, SeqCst);
            AtomicU32::new(0).store(1, SeqCst);
            compiler_fence(SeqCst);
        },
    ];
    for (at, between) in orders_nothing.into_iter().enumerate() {
        assert_eq!(store_buffer_with(between), Verdict::Fail, "{at}");
    }
}

#[test]
fn a_finding_replays_under_the_same_model() {
    let found = explored(|| store_buffer(Relaxed, Relaxed, false));
    let finding = &found.findings()[0];
    assert_eq!(finding.schedule.environment.stale_reads, 2);
    // The schedule sets the environment, not the settings.
    let again = Explorer::new()
        .replay(finding.schedule.clone())
        .explore(|| store_buffer(Relaxed, Relaxed, false));
    assert_eq!(again.findings()[0].message, finding.message);
}

/// Passes a message through an atomic, or through a cell if `cell`.
fn message(publish: Ordering, take: Ordering, cell: bool) {
    struct Shared {
        atomic: AtomicU32,
        cell: UnsafeCell<u32>,
        flag: AtomicBool,
    }
    // SAFETY: if there is a race, the exploration reports it.
    unsafe impl Sync for Shared {}
    let shared = Arc::new(Shared {
        atomic: AtomicU32::new(0),
        cell: UnsafeCell::new(0),
        flag: AtomicBool::new(false),
    });
    let other = Arc::clone(&shared);
    let task = thread::spawn(move || {
        match cell {
            // SAFETY: as above.
            true => other.cell.with_mut(|value| unsafe { *value = 7 }),
            false => other.atomic.store(7, Relaxed),
        }
        other.flag.store(true, publish);
    });
    if shared.flag.load(take) {
        let read = match cell {
            // SAFETY: as above.
            true => shared.cell.with(|value| unsafe { *value }),
            false => shared.atomic.load(Relaxed),
        };
        assert_eq!(read, 7);
    }
    task.join().unwrap();
}

#[test]
fn messages_need_release_and_acquire() {
    for cell in [false, true] {
        assert_eq!(
            explored(move || message(Release, Acquire, cell)).verdict(),
            Verdict::Pass
        );
        for (publish, take) in [(Relaxed, Acquire), (Release, Relaxed), (Relaxed, Relaxed)] {
            let report = explored(move || message(publish, take, cell));
            assert_eq!(report.verdict(), Verdict::Fail, "{publish:?} {take:?} {cell}");
        }
    }
    // Under sequential consistency, the values of the atomics are right in every order.
    let sc = Explorer::new().explore(|| message(Relaxed, Relaxed, false));
    assert_eq!(sc.verdict(), Verdict::Pass);
}

/// Reads a flag that was set again. The second store publishes the second message, and the reader has not read it.
#[test]
fn a_stale_flag_orders_only_what_precedes_its_store() {
    struct Shared(AtomicU32, UnsafeCell<u32>);
    // SAFETY: as above.
    unsafe impl Sync for Shared {}
    let report = explored(|| {
        let shared = Arc::new(Shared(AtomicU32::new(0), UnsafeCell::new(0)));
        let other = Arc::clone(&shared);
        let task = thread::spawn(move || {
            other.0.store(1, Release);
            // SAFETY: as above.
            other.1.with_mut(|value| unsafe { *value = 1 });
            other.0.store(2, Release);
        });
        // 1 is read although 2 was stored, which does not order the second write.
        if shared.0.load(Acquire) == 1 {
            // SAFETY: as above.
            shared.1.with(|value| unsafe { *value });
        }
        task.join().unwrap();
    });
    assert_eq!(report.verdict(), Verdict::Fail, "{report}");
    assert!(report.findings()[0].message.contains("race"), "{report}");
}

#[test]
fn loops_that_wait_end() {
    let report = explored(|| {
        let shared = Arc::new((AtomicBool::new(false), AtomicU32::new(0)));
        let other = Arc::clone(&shared);
        let task = thread::spawn(move || {
            other.1.store(7, Relaxed);
            other.0.store(true, Release);
        });
        while !shared.0.load(Acquire) {
            intermezzo::hint::spin_loop();
        }
        assert_eq!(shared.1.load(Relaxed), 7);
        task.join().unwrap();
    });
    assert_eq!(report.verdict(), Verdict::Pass, "{report}");
    assert!(
        report.limits().contains(&Limit::StaleReads { most: 2 }),
        "{report}"
    );
    let memory = Limit::Memory {
        model: "cpp20".into(),
    };
    assert!(report.limits().contains(&memory), "{report}");
}

#[test]
fn locks_order_guarded_accesses() {
    let report = explored(|| {
        let shared = Arc::new((Mutex::new(()), AtomicU32::new(0)));
        let tasks: Vec<_> = (0..2)
            .map(|_| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    let _guard = shared.0.lock().unwrap();
                    let read = shared.1.load(Relaxed);
                    shared.1.store(read + 1, Relaxed);
                })
            })
            .collect();
        tasks.into_iter().for_each(|task| task.join().unwrap());
        assert_eq!(shared.1.load(Relaxed), 2);
    });
    assert_eq!(report.verdict(), Verdict::Pass, "{report}");
    assert_eq!(*report.coverage(), Coverage::Exhaustive, "{report}");
}

#[test]
fn read_modify_writes_read_the_newest_store() {
    let report = explored(|| {
        let count = Arc::new(AtomicUsize::new(0));
        let tasks: Vec<_> = (0..3)
            .map(|_| {
                let count = Arc::clone(&count);
                thread::spawn(move || count.fetch_add(1, Relaxed))
            })
            .collect();
        let mut read: Vec<usize> = tasks.into_iter().map(|task| task.join().unwrap()).collect();
        read.sort_unstable();
        assert_eq!(read, [0, 1, 2]);
    });
    assert_eq!(report.verdict(), Verdict::Pass, "{report}");
}

/// Stores to two variables in opposite orders: each may end with the value that was stored first.
#[test]
fn stores_may_come_in_another_order_than_they_are_performed() {
    let both_first = |order: Ordering| {
        explored(move || {
            let vars = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
            let other = Arc::clone(&vars);
            let task = thread::spawn(move || {
                other[0].store(1, order);
                other[1].store(2, order);
            });
            vars[1].store(1, order);
            vars[0].store(2, order);
            task.join().unwrap();
            assert_ne!([vars[0].load(Relaxed), vars[1].load(Relaxed)], [1, 1]);
        })
    };
    assert_eq!(both_first(Relaxed).verdict(), Verdict::Fail);
    assert_eq!(both_first(SeqCst).verdict(), Verdict::Pass);
}

#[test]
fn reductions_find_the_same() {
    let test = || {
        let vars = Arc::new([AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(0)]);
        let tasks: Vec<_> = (0..3)
            .map(|own| {
                let vars = Arc::clone(&vars);
                thread::spawn(move || {
                    vars[own].store(1, Release);
                    vars[(own + 1) % 3].load(Acquire)
                })
            })
            .collect();
        tasks.into_iter().for_each(|task| {
            task.join().unwrap();
        });
    };
    let by = |reduction| {
        weak()
            .strategy(Strategy::dfs())
            .reduction(reduction)
            .explore(test)
    };
    let (all, reduced) = (by(Reduction::None), by(Reduction::Dpor));
    assert_eq!([all.coverage(), reduced.coverage()], [&Coverage::Exhaustive; 2]);
    assert!(
        reduced.executions() * 3 < all.executions(),
        "{} {}",
        reduced.executions(),
        all.executions()
    );
    assert_eq!(reduced.reduction(), "dpor");
}

#[test]
fn samples_read_stale_values() {
    for strategy in [Strategy::random(), Strategy::pct(3)] {
        let report = weak()
            .strategy(strategy)
            .executions(1_000)
            .explore(|| store_buffer(Relaxed, Relaxed, false));
        assert_eq!(report.verdict(), Verdict::Fail, "{report}");
    }
}

/// A task panics while it may be in an execution that ends because of an inconsistent store: the panic is handled later.
#[test]
fn panics_are_not_handled_in_inconsistent_executions() {
    let report = explored(|| {
        let vars = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
        let other = Arc::clone(&vars);
        let task = thread::spawn(move || {
            other[0].store(1, SeqCst);
            other[1].load(SeqCst);
            panic!("handled");
        });
        vars[1].store(1, SeqCst);
        vars[0].load(SeqCst);
        task.join().unwrap_err();
    });
    assert_eq!(report.verdict(), Verdict::Pass, "{report}");
    assert!(report.redundant() > 0, "{report}");
}

/// Two weak exchanges fail spuriously. With their failure ordering they act as the two loads of a store buffer.
#[test]
fn a_weak_exchange_that_fails_has_its_failure_ordering() {
    let both_fail = |failure: Ordering| {
        let environment = Environment {
            stale_reads: 2,
            weak_failures: 1,
            ..Environment::calm()
        };
        Explorer::new().environment(environment).explore(move || {
            let vars = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
            let other = Arc::clone(&vars);
            let side = move |vars: &[AtomicU32; 2], own: usize| {
                vars[own].store(1, SeqCst);
                let exchanged = vars[1 - own].compare_exchange_weak(0, 0, Relaxed, failure);
                exchanged == Err(0)
            };
            let task = thread::spawn(move || side(&other, 0));
            let own = side(&vars, 1);
            assert!(!(task.join().unwrap() && own), "both fail with 0");
        })
    };
    assert_eq!(both_fail(Relaxed).verdict(), Verdict::Fail);
    let report = both_fail(SeqCst);
    assert_eq!(report.verdict(), Verdict::Pass, "{report}");
}

/// Counts the executions in which both loads of a store buffer read 0.
#[derive(Clone, Default)]
struct BothZero(Arc<std::sync::Mutex<(u32, u32)>>);

impl Monitor for BothZero {
    fn name(&self) -> &str {
        "both-zero"
    }
    fn interests(&self) -> Interests {
        Interests::SYNC_ACCESSES
    }
    fn reduction_compatible(&self) -> bool {
        true
    }
    fn follows_stale_reads(&self) -> bool {
        true
    }
    fn on_execution_begin(&mut self, _: &Execution<'_>) {
        self.0.lock().unwrap().0 = 0;
    }
    fn on_sync_var_access(&mut self, access: &SyncVarAccess, _: &mut Context<'_>) {
        let (zeros, both) = &mut *self.0.lock().unwrap();
        *zeros += u32::from(access.op == SyncVarOp::AtomicLoad && access.read == 0);
        *both += u32::from(*zeros == 2);
        assert!(
            access.op != SyncVarOp::AtomicStore || access.store >= 2,
            "{access:?}"
        );
    }
}

#[test]
fn monitors_do_not_see_inconsistent_executions() {
    for (order, seen) in [(Relaxed, true), (SeqCst, false)] {
        let monitor = BothZero::default();
        weak()
            .keep_going(true)
            .monitor(monitor.clone())
            .explore(move || store_buffer(order, order, false));
        assert_eq!(monitor.0.lock().unwrap().1 > 0, seen, "{order:?}");
    }
}

#[test]
fn samples_draw_again_instead_of_inconsistent_executions() {
    let report = weak()
        .strategy(Strategy::random())
        .executions(500)
        .explore(|| store_buffer(SeqCst, SeqCst, false));
    assert_eq!(report.verdict(), Verdict::Pass, "{report}");
    assert_eq!(report.redundant(), 0, "{report}");
}

/// A loop waits for a variable. Another store to it may be performed last, and come before the one that ends the loop.
#[test]
fn a_loop_waits_for_the_newest_store_and_not_for_the_last_one() {
    let report = explored(|| {
        let vars = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
        let other = Arc::clone(&vars);
        let task = thread::spawn(move || {
            thread::scope(|scope| {
                scope.spawn(|| other[0].store(1, Relaxed));
                scope.spawn(|| other[0].store(0, Relaxed));
            });
            other[1].store(1, Relaxed);
        });
        while vars[0].load(Relaxed) == 0 && vars[1].load(Relaxed) == 0 {
            thread::yield_now();
        }
        task.join().unwrap();
    });
    assert_eq!(report.verdict(), Verdict::Pass, "{report}");
    assert!(
        !report.limits().contains(&Limit::Awaits { seen: true }),
        "{report}"
    );
}

#[test]
fn monitors_follow_stale_reads_or_are_refused() {
    for follows in ["data-race", "leak", "lock-order", "misuse", "statistics"] {
        let report = weak().monitors(follows).try_explore(|| ());
        assert!(report.is_ok(), "{follows}: {report:?}");
    }
    for refused in ["atomicity", "contention", "happens-before-counter", "stale-load"] {
        let report = weak().monitors(refused).try_explore(|| ());
        let error = report.map(|_| ()).expect_err("it cannot follow").to_string();
        assert!(error.contains(&format!("`-{refused}`")), "{error}");
    }
}

/// A place for one number, which leads to a cell.
struct Mailbox {
    cells: [UnsafeCell<usize>; 4],
    used: AtomicUsize,
    number: AtomicUsize,
    order: Ordering,
}

// SAFETY: the exploration watches the cells, and one task runs at a time.
unsafe impl Sync for Mailbox {}

impl Mailbox {
    fn put(&self) {
        let at = self.used.fetch_add(1, Relaxed);
        // SAFETY: no other operation has the number yet.
        self.cells[at].with_mut(|cell| unsafe { *cell = at });
        self.number.swap(at + 1, self.order);
    }

    fn take(&self) -> Option<usize> {
        let at = self.number.swap(0, self.order).checked_sub(1)?;
        // SAFETY: the cell was written before its number was published.
        Some(self.cells[at].with(|cell| unsafe { *cell }))
    }
}

/// The results are right, but nothing orders the write of the cell before the read, which the monitor of data races
/// reports.
#[test]
fn objects_are_compared_and_monitored() {
    let run = |order: Ordering, monitors: &str| {
        intermezzo::refinement::refine(move || Mailbox {
            cells: std::array::from_fn(|_| UnsafeCell::new(0)),
            used: AtomicUsize::new(0),
            number: AtomicUsize::new(0),
            order,
        })
        .op("put", (), |mailbox: &Mailbox, ()| mailbox.put())
        .op("take", (), |mailbox, ()| mailbox.take())
        .exclusive("sender", ["put"])
        .scenarios(10)
        .monitors(monitors)
        .explorer(|explorer| {
            explorer.environment(Environment {
                stale_reads: 1,
                ..Environment::calm()
            })
        })
        .run()
    };
    for (order, monitors) in [(Relaxed, "none"), (AcqRel, "default")] {
        let report = run(order, monitors);
        assert_eq!(report.verdict(), Verdict::Pass, "{order:?}: {report}");
        assert!(report.by_happens_before);
    }
    let report = run(Relaxed, "default");
    let failure = report.failure.as_ref().expect("the cell is read unordered");
    assert_eq!(failure.kind.as_str(), "data_race", "{report}");
}

/// Each round reads the store of the previous one.
#[test]
fn loops_that_wait_by_read_modify_writes_end() {
    let report = explored(|| {
        let shared = Arc::new((AtomicBool::new(true), AtomicU32::new(0)));
        let other = Arc::clone(&shared);
        let task = thread::spawn(move || {
            other.1.store(7, Relaxed);
            other.0.store(false, Release);
        });
        while shared.0.swap(true, Acquire) {
            intermezzo::hint::spin_loop();
        }
        assert_eq!(shared.1.load(Relaxed), 7);
        task.join().unwrap();
    });
    assert_eq!(report.verdict(), Verdict::Pass, "{report}");
    assert!(
        report.limits().contains(&Limit::StaleReads { most: 2 }),
        "{report}"
    );
}

/// The greatest number of loads at one place of a task in an execution that read the first value after a newer one was
/// stored.
#[derive(Clone, Default)]
struct StaleLoads(Arc<std::sync::Mutex<(bool, u32, u32)>>);

impl Monitor for StaleLoads {
    fn name(&self) -> &str {
        "stale-loads"
    }
    fn interests(&self) -> Interests {
        Interests::SYNC_ACCESSES
    }
    fn reduction_compatible(&self) -> bool {
        false
    }
    fn follows_stale_reads(&self) -> bool {
        true
    }
    fn on_execution_begin(&mut self, _: &Execution<'_>) {
        let mut counts = self.0.lock().unwrap();
        (counts.0, counts.1) = (false, 0);
    }
    fn on_sync_var_access(&mut self, access: &SyncVarAccess, _: &mut Context<'_>) {
        let (is_stored, stale, most) = &mut *self.0.lock().unwrap();
        *is_stored |= access.op == SyncVarOp::AtomicStore;
        *stale += u32::from(*is_stored && access.op == SyncVarOp::AtomicLoad && access.store == 1);
        *most = (*most).max(*stale);
    }
}

#[test]
fn a_place_reads_an_old_store_as_often_as_the_bound_says() {
    for stale_reads in [1, 2, 3] {
        let monitor = StaleLoads::default();
        let environment = Environment {
            stale_reads,
            ..Environment::calm()
        };
        Explorer::new()
            .environment(environment)
            .monitor(monitor.clone())
            .explore(|| {
                let var = Arc::new(AtomicU32::new(0));
                let other = Arc::clone(&var);
                let task = thread::spawn(move || other.store(1, Relaxed));
                (0..5).for_each(|_| _ = var.load(Relaxed));
                task.join().unwrap();
            });
        assert_eq!(monitor.0.lock().unwrap().2, stale_reads);
    }
}
