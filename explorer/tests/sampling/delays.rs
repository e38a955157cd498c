//! The orders of tasks to which random delays lead.

use crate::Order;
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::{Environment, Explorer, Strategy, thread};
use std::collections::BTreeSet;
use std::sync::Mutex;

/// The number of executions to learn from, which are drawn differently.
const LEARNED_FROM: usize = 2;

/// Returns the orders of two tasks with three steps each, as `000111`.
fn orders(strategy: Strategy) -> BTreeSet<String> {
    let (order, orders) = (Order::default(), Mutex::new(Vec::new()));
    let report = Explorer::new()
        .environment(Environment::calm())
        .strategy(strategy)
        .executions(1_000)
        .explore(|| {
            order.take();
            let x = AtomicUsize::new(0);
            thread::scope(|scope| {
                for task in 0..2_u8 {
                    let (x, order) = (&x, &order);
                    scope.spawn(move || {
                        for _ in 0..3 {
                            x.fetch_add(1, SeqCst);
                            order.did(task);
                        }
                    });
                }
            });
            let steps = order.take();
            let steps = steps.iter().map(|task| char::from(b'0' + task));
            orders.lock().unwrap().push(steps.collect::<String>());
        });
    assert!(report.verdict().is_pass(), "{report}");
    let orders = orders.into_inner().unwrap();
    orders.into_iter().skip(LEARNED_FROM).collect()
}

#[test]
fn random_delays_lead_to_the_expected_orders() {
    // One delay: the first task is interrupted once, and comes after the second one.
    let one = orders(Strategy::named("random-delays(1)").unwrap());
    let expected = ["000111", "001110", "011100", "111000"];
    assert_eq!(one, expected.map(str::to_owned).into());
    // More delays lead to more orders, up to all of them.
    let two = orders(Strategy::named("random-delays(2)").unwrap());
    assert!(one.is_subset(&two) && two.len() > one.len(), "{two:?}");
    let switches = |order: &String| {
        order
            .as_bytes()
            .windows(2)
            .filter(|pair| pair[0] != pair[1])
            .count()
    };
    assert!(two.iter().all(|order| switches(order) <= 4), "{two:?}");
    let many = orders(Strategy::named("random-delays(12)").unwrap());
    assert_eq!(many.len(), 20);
}
