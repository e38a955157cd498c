//! SURW draws all orders of interesting steps with equal frequency, and a random walk does not.

use crate::Order;
use intermezzo_explorer::search::Interesting;
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::{Environment, Explorer, Strategy, thread};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// The number of executions for each order.
const EACH: u64 = 200;

/// The number of executions to learn from, which are drawn differently.
const LEARNED_FROM: u64 = 2;

fn explorer() -> Explorer {
    Explorer::new().environment(Environment::calm())
}

/// Counts how often each order occurred, in `executions` executions after the first `skipped` ones.
fn drawn(explorer: Explorer, executions: u64, skipped: u64, body: fn(&Order)) -> BTreeMap<Vec<u8>, u64> {
    let (order, orders) = (Order::default(), Mutex::new(Vec::new()));
    let report = explorer.executions(executions + skipped).explore(|| {
        order.take();
        body(&order);
        orders.lock().unwrap().push(order.take());
    });
    assert!(report.verdict().is_pass(), "{report}");
    let mut counts = BTreeMap::new();
    for order in orders.into_inner().unwrap().into_iter().skip(skipped as usize) {
        *counts.entry(order).or_default() += 1;
    }
    counts
}

/// Returns the number of all orders.
fn all(body: fn(&Order)) -> usize {
    drawn(explorer(), 1_000_000, 0, body).len()
}

/// Returns chi-squared of these counts, if all orders are equally likely.
fn chi_squared(counts: &BTreeMap<Vec<u8>, u64>, orders: usize) -> f64 {
    let expected = counts.values().sum::<u64>() as f64 / orders as f64;
    let missing = (orders - counts.len()) as f64;
    let of = |&count: &u64| (count as f64 - expected).powi(2) / expected;
    counts.values().map(of).sum::<f64>() + missing * expected
}

/// Returns the value that chi-squared exceeds by chance once in a thousand times (Wilson and Hilferty's approximation).
fn critical(orders: usize) -> f64 {
    let free = orders as f64 - 1.0;
    let spread = 2.0 / (9.0 * free);
    free * (1.0 - spread + 3.09 * spread.sqrt()).powi(3)
}

/// Two tasks with very different numbers of steps.
fn unlike(order: &Order) {
    let x = AtomicUsize::new(0);
    thread::scope(|scope| {
        for (task, steps) in [(0, 1), (1, 9)] {
            let x = &x;
            scope.spawn(move || {
                for _ in 0..steps {
                    x.fetch_add(1, SeqCst);
                    order.did(task);
                }
            });
        }
    });
}

/// Three tasks.
fn three(order: &Order) {
    let x = AtomicUsize::new(0);
    thread::scope(|scope| {
        for (task, steps) in [(0, 1), (1, 2), (2, 4)] {
            let x = &x;
            scope.spawn(move || {
                for _ in 0..steps {
                    x.fetch_add(1, SeqCst);
                    order.did(task);
                }
            });
        }
    });
}

/// A task creates another one between its steps, while a third task runs: the orders are those of a forest.
fn creating(order: &Order) {
    let x = AtomicUsize::new(0);
    let step = |task| {
        x.fetch_add(1, SeqCst);
        order.did(task);
    };
    let step = &step;
    thread::scope(|scope| {
        scope.spawn(move || {
            step(0);
            scope.spawn(move || {
                step(1);
                step(1);
                step(1);
            });
            step(0);
        });
        scope.spawn(move || {
            step(2);
            step(2);
        });
    });
}

/// Like `unlike`, but only one variable is interesting, and each task also has work of its own.
fn beside_work(order: &Order) {
    let (x, own) = (AtomicUsize::new(0), [const { AtomicUsize::new(0) }; 2]);
    thread::scope(|scope| {
        for (task, steps, work) in [(0, 2, 7), (1, 5, 1)] {
            let (x, own) = (&x, &own[usize::from(task)]);
            scope.spawn(move || {
                for _ in 0..steps {
                    for _ in 0..work {
                        own.fetch_add(1, SeqCst);
                    }
                    x.fetch_add(1, SeqCst);
                    order.did(task);
                }
            });
        }
    });
}

/// A program, the number of its orders, and the interesting steps.
type Shape = (&'static str, fn(&Order), usize, fn() -> Interesting);

const SHAPES: [Shape; 5] = [
    ("unlike, all", unlike, 10, || Interesting::All),
    ("unlike, one variable", unlike, 10, || Interesting::OneVariable),
    ("three", three, 105, || Interesting::All),
    ("creating", creating, 84, || Interesting::All),
    ("beside work", beside_work, 21, || Interesting::OneVariable),
];

#[test]
fn surw_is_uniform_over_orders_of_interesting_steps() {
    for (name, body, orders, interesting) in SHAPES {
        if !name.starts_with("beside") {
            assert_eq!(all(body), orders, "{name}");
        }
        for seed in [1, 2, 3] {
            let explorer = explorer().strategy(Strategy::surw(interesting())).seed(seed);
            let counts = drawn(explorer, EACH * orders as u64, LEARNED_FROM, body);
            let (chi, critical) = (chi_squared(&counts, orders), critical(orders));
            println!("{name}, seed {seed}: chi-squared {chi:.1}, critical {critical:.1}");
            assert!(
                counts.len() <= orders && chi < critical,
                "{name}, seed {seed}: {chi} > {critical}: {counts:?}"
            );
        }
    }
}

#[test]
fn a_random_walk_is_not() {
    for (name, body, orders, _) in SHAPES {
        let explorer = explorer().strategy(Strategy::random()).seed(1);
        let counts = drawn(explorer, EACH * orders as u64, 0, body);
        let (chi, critical) = (chi_squared(&counts, orders), critical(orders));
        println!("{name}: chi-squared {chi:.1}, critical {critical:.1}");
        assert!(chi > 5.0 * critical, "{name}: {chi}, {critical}: {counts:?}");
    }
}
