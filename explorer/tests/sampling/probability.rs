//! PCT and PCTVB find a bug of known depth with at least the probability that they state.

use crate::Order;
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::{Environment, Explorer, Strategy, thread};

/// The number of seeds for each program.
const SEEDS: u64 = 5_000;

/// The number of executions to learn from, before the one that is judged.
const LEARNED_FROM: u64 = 2;

/// A program, and a predicate for the orders of its steps that are the bug.
struct Case {
    name: &'static str,
    depth: u32,
    body: fn(&Order),
    is_bug: fn(&[u8]) -> bool,
}

/// Returns the positions of these steps in the order.
fn places<const N: usize>(order: &[u8], of: [u8; N]) -> [usize; N] {
    of.map(|what| order.iter().position(|&did| did == what).unwrap())
}

/// Tasks that each take a number of steps on one variable: task 0 performs 0, 1, .., task 1 performs 10, 11, ..
fn on_one_variable(order: &Order, steps: &[u8]) {
    let x = AtomicUsize::new(0);
    thread::scope(|scope| {
        for (task, &steps) in (0_u8..).zip(steps) {
            let x = &x;
            scope.spawn(move || {
                for step in 0..steps {
                    x.fetch_add(1, SeqCst);
                    order.did(10 * task + step);
                }
            });
        }
    });
}

/// Like `on_one_variable`, but each task also uses a variable that is irrelevant to the bug.
fn beside_others(order: &Order, steps: &[u8]) {
    let (x, others) = (AtomicUsize::new(0), [const { AtomicUsize::new(0) }; 3]);
    thread::scope(|scope| {
        for (task, &steps) in (0_u8..).zip(steps) {
            let (x, others) = (&x, &others);
            scope.spawn(move || {
                for step in 0..steps {
                    others[0].fetch_add(1, SeqCst);
                    x.fetch_add(1, SeqCst);
                    order.did(10 * task + step);
                    others[1].fetch_add(1, SeqCst);
                    others[2].fetch_add(1, SeqCst);
                }
            });
        }
    });
}

/// `true` if the first step of task 1 comes last of all.
fn last_of_all(order: &[u8]) -> bool {
    order.last() == Some(&10)
}

const CASES: [Case; 5] = [
    Case {
        name: "the first task comes last",
        depth: 1,
        body: |order| on_one_variable(order, &[1, 1, 1, 1]),
        is_bug: |order| order.last() == Some(&0),
    },
    Case {
        name: "a task comes last",
        depth: 1,
        body: |order| on_one_variable(order, &[3, 1, 2]),
        is_bug: last_of_all,
    },
    Case {
        name: "between two steps of another",
        depth: 2,
        body: |order| on_one_variable(order, &[2, 1, 2]),
        is_bug: |order| {
            let [begin, end, between] = places(order, [0, 1, 10]);
            begin < between && between < end
        },
    },
    Case {
        name: "between two late steps of another",
        depth: 2,
        body: |order| on_one_variable(order, &[6, 1]),
        is_bug: |order| {
            let [begin, end, between] = places(order, [3, 4, 10]);
            begin < between && between < end
        },
    },
    Case {
        name: "by turns",
        depth: 3,
        body: |order| on_one_variable(order, &[3, 3]),
        is_bug: |order| {
            let [a, b, c, d] = places(order, [0, 10, 1, 11]);
            a < b && b < c && c < d
        },
    },
];

/// Returns the probability that a note states: `1/(4 * 8^2)`, `1/(C(2,1) * 4 * 6^2)`.
fn stated(note: &str) -> f64 {
    let (_, text) = note.split_once(" at least 1/(").unwrap();
    let factors = text.strip_suffix(')').unwrap().split(" * ");
    let factor = |text: &str| -> f64 {
        if let Some((base, power)) = text.split_once('^') {
            return base.parse::<f64>().unwrap().powi(power.parse().unwrap());
        }
        if let Some(of) = text.strip_prefix("C(") {
            let (all, chosen) = of.trim_end_matches(')').split_once(',').unwrap();
            let (all, chosen): (u32, u32) = (all.parse().unwrap(), chosen.parse().unwrap());
            return (0..chosen)
                .map(|at| f64::from(all - at) / f64::from(at + 1))
                .product();
        }
        text.parse().unwrap()
    };
    1.0 / factors.map(factor).product::<f64>()
}

/// Returns the number of times that the bug was found, and the least probability that any report stated.
fn measured(case: &Case, body: fn(&Order), strategy: &str) -> (u64, f64) {
    let order = Order::default();
    let (mut found, mut least) = (0, 1.0_f64);
    for seed in 0..SEEDS {
        let report = Explorer::new()
            .environment(Environment::calm())
            .strategy(Strategy::named(strategy).unwrap())
            .seed(seed)
            .executions(LEARNED_FROM + 1)
            .explore(|| {
                order.take();
                body(&order);
            });
        assert_eq!(report.executions(), LEARNED_FROM + 1, "{report}");
        found += u64::from((case.is_bug)(&order.take()));
        least = least.min(stated(&report.notes()[0]));
    }
    (found, least)
}

/// Asserts that the rate is not below the bound, at 99.9 % confidence: by chance a rate is that far below it once in a
/// thousand times.
fn check(what: &str, (found, bound): (u64, f64)) {
    let seeds = SEEDS as f64;
    let least = seeds * bound - 3.09 * (seeds * bound * (1.0 - bound)).sqrt();
    let rate = found as f64 / seeds;
    println!("{what}: {found} of {SEEDS} found, {rate:.4}; stated {bound:.4}");
    assert!(
        found as f64 >= least,
        "{what}: {rate:.4} of the executions find it, but {bound:.4} is stated"
    );
}

#[test]
fn pct_finds_bugs_with_the_stated_probability() {
    for case in &CASES {
        let strategy = format!("pct({})", case.depth);
        check(
            &format!("{}, {strategy}", case.name),
            measured(case, case.body, &strategy),
        );
    }
}

#[test]
fn pct_by_variables_finds_bugs_with_the_stated_probability() {
    for (case, body) in [
        (&CASES[0], CASES[0].body),
        (&CASES[2], |order: &Order| beside_others(order, &[2, 1, 2])),
        (&CASES[4], |order: &Order| beside_others(order, &[3, 3])),
    ] as [(&Case, fn(&Order)); 3]
    {
        for variables in [1, 2] {
            let strategy = format!("pctvb({},{variables})", case.depth);
            check(
                &format!("{}, {strategy}", case.name),
                measured(case, body, &strategy),
            );
        }
    }
}

#[test]
fn pct_without_chance_finds_each() {
    for case in &CASES {
        let order = Order::default();
        let orders = Order::default();
        let found = std::sync::atomic::AtomicU64::new(0);
        let report = Explorer::new()
            .environment(Environment::calm())
            .set("strategy", format!("pct-all({})", case.depth))
            .explore(|| {
                order.take();
                (case.body)(&order);
                let order = order.take();
                found.fetch_add(u64::from((case.is_bug)(&order)), SeqCst);
                orders.did(0);
            });
        assert!(found.into_inner() > 0, "{}: {report}", case.name);
        let note = &report.notes()[0];
        assert!(note.contains("was found if there is one"), "{note}");
        let all: u64 = note
            .split_once("all of its ")
            .and_then(|(_, rest)| rest.split_once(" executions"))
            .map(|(all, _)| all.parse().unwrap())
            .unwrap();
        assert_eq!(report.executions(), LEARNED_FROM + all);
        assert_eq!(orders.take().len() as u64, report.executions());
    }
}
