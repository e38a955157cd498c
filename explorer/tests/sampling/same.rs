//! An execution depends only on the seed and its number, not on the worker or on earlier executions.

use crate::Order;
use crate::common::told;
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::{Environment, Explorer, Strategy, thread};
use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;

/// The strategies that draw executions.
pub(crate) const SAMPLERS: [&str; 10] = [
    "random",
    "pct(3)",
    "pct-all(3)",
    "pctvb(2,1)",
    "random-delays(3)",
    "pos",
    "places",
    "surw",
    "surw(all)",
    "portfolio(pct(2),2*pos,surw,places,random)",
];

fn explorer(strategy: &str) -> Explorer {
    Explorer::new()
        .environment(Environment::calm())
        .strategy(Strategy::named(strategy).unwrap())
        .seed(11)
}

thread_local! {
    /// The steps of the execution that runs on this thread.
    static RUNNING: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Three tasks on two variables. The worker that runs an execution records its order.
fn body(orders: &Mutex<Vec<Vec<u8>>>) {
    RUNNING.with_borrow_mut(Vec::clear);
    let (x, y) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for task in 0..3_u8 {
            let (x, y) = (&x, &y);
            scope.spawn(move || {
                for step in 0..3 {
                    match step {
                        1 => y.fetch_add(1, SeqCst),
                        _ => x.fetch_add(1, SeqCst),
                    };
                    RUNNING.with_borrow_mut(|order| order.push(task));
                }
            });
        }
    });
    let order = RUNNING.with_borrow_mut(std::mem::take);
    orders.lock().unwrap().push(order);
}

#[test]
fn workers_run_the_same_executions() {
    for strategy in SAMPLERS {
        let run = |jobs| {
            let orders = Mutex::new(Vec::new());
            let report = explorer(strategy)
                .jobs(jobs)
                .executions(300)
                .program("body")
                .explore(|| body(&orders));
            let mut orders = orders.into_inner().unwrap();
            orders.sort();
            (told(&report), report.notes().to_vec(), orders)
        };
        let single = run(1);
        assert!(single.2.len() >= 60, "{strategy}: {}", single.2.len());
        for jobs in [2, 3] {
            assert_eq!(run(jobs), single, "{strategy}, {jobs} workers");
        }
    }
}

#[test]
fn each_execution_is_the_same_alone() {
    for strategy in SAMPLERS {
        let run = |first: u64, executions| {
            let orders = Mutex::new(Vec::new());
            explorer(strategy)
                .set("seed", format!("0/{first}"))
                .executions(executions)
                .explore(|| body(&orders));
            orders.into_inner().unwrap()
        };
        let all = run(1, 40);
        let learned_from = match strategy {
            "random" | "pos" | "places" => 0,
            _ => 2,
        };
        for number in [3, 4, 17, 40] {
            let alone = run(number, learned_from + 1);
            assert_eq!(alone.len() as u64, learned_from + 1, "{strategy}");
            assert_eq!(
                alone.last(),
                Some(&all[number as usize - 1]),
                "{strategy}, {number}"
            );
        }
        let learned_from = learned_from as usize;
        assert_eq!(
            run(30, 2 + learned_from as u64)[learned_from..],
            all[29..31],
            "{strategy}"
        );
    }
}

/// Loses updates.
fn lost_updates() {
    let n = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| n.store(n.load(SeqCst) + 1, SeqCst));
        }
    });
    assert_eq!(n.into_inner(), 3);
}

/// A file for each test, which is removed at its end.
struct File(PathBuf);

impl File {
    fn new(name: &str) -> File {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, SeqCst);
        let name = format!("intermezzo-sampling-{}-{name}-{number}", std::process::id());
        File(std::env::temp_dir().join(name))
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn a_sampling_search_in_parts_has_the_same_results() {
    for strategy in SAMPLERS {
        let explorer = |most| {
            explorer(strategy)
                .program("lost_updates")
                .keep_going(true)
                .minimise(0)
                .executions(most)
        };
        let whole = explorer(400).explore(lost_updates);
        let file = File::new("parts");
        for (most, jobs) in [(1, 1), (2, 2), (100, 3), (101, 2), (377, 1), (400, 2)] {
            let part = explorer(most)
                .checkpoint(&file.0)
                .jobs(jobs)
                .explore(lost_updates);
            assert!(part.executions() <= most, "{strategy}: {part}");
            if most == 400 {
                assert_eq!(told(&part), told(&whole), "{strategy}");
                assert_eq!(part.notes(), whole.notes(), "{strategy}");
            }
        }
    }
}

#[test]
fn an_order_belongs_to_one_execution() {
    let order = Order::default();
    order.did(1);
    assert_eq!((order.take(), order.take()), (vec![1], vec![]));
}
