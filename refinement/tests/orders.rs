//! Orders run on demand give the same results as all orders run first.

#[path = "common/waiting.rs"]
mod waiting_queue;

use intermezzo_explorer::sync::Mutex;
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::{Explorer, Reduction, Strategy, Verdict, choose};
use intermezzo_refinement::{Refinement, RefinementReport, Same, fresh, refine};
use waiting_queue::Waiting;

type Stack = Mutex<Vec<u8>>;

fn right(stack: &Stack) -> Option<u8> {
    stack.lock().unwrap().pop()
}

/// Looks, releases the lock, and takes.
fn in_two(stack: &Stack) -> Option<u8> {
    let top = *stack.lock().unwrap().last()?;
    stack.lock().unwrap().pop();
    Some(top)
}

fn stack(pop: fn(&Stack) -> Option<u8>) -> Refinement<Stack> {
    refine(Stack::default)
        .op("push", fresh::<u8>(), |stack: &Stack, value| {
            stack.lock().unwrap().push(value)
        })
        .op("pop", (), move |stack, ()| pop(stack))
        .op("len", (), |stack, ()| stack.lock().unwrap().len())
}

fn waiting(push: fn(&Waiting, u8)) -> Refinement<Waiting> {
    refine(Waiting::default)
        .op("push", fresh::<u8>(), push)
        .op("pop", (), |queue: &Waiting, ()| queue.pop())
}

/// Returns the results that must be the same whether orders are run first or on demand.
fn told(report: &RefinementReport) -> (Verdict, u64, u64, u64, Option<String>) {
    let failure = report.failure.as_ref().map(|failure| format!("{failure}"));
    (
        report.verdict(),
        report.scenarios,
        report.histories,
        report.minimising,
        failure,
    )
}

fn same<T: Sync + 'static>(name: &str, test: impl Fn() -> Refinement<T>) {
    for level in [Same::Linearizable, Same::Sequential, Same::Quiescent] {
        for seed in 0..2 {
            let test = || {
                test()
                    .same(level)
                    .seed(seed)
                    .scenarios(8)
                    .threads(2..=3)
                    .executions(1_000)
            };
            let (first, on_demand) = (test().run(), test().orders(0).run());
            assert_eq!(told(&first), told(&on_demand), "{name}, {level:?}, seed {seed}");
            assert!(first.orders == 0 && on_demand.orders > 0, "{first}\n{on_demand}");
        }
    }
}

#[test]
fn of_a_stack() {
    same("stack", || stack(right));
}

#[test]
fn of_a_stack_that_is_none() {
    same("stack in two", || stack(in_two));
}

#[test]
fn of_operations_that_wait() {
    same("waiting queue", || waiting(Waiting::push));
    same("forgetful queue", || {
        waiting(Waiting::push_tells_only_of_the_first)
    });
}

/// Configures the explorer to draw executions.
fn drawn(explorer: Explorer) -> Explorer {
    explorer.strategy(Strategy::random()).reduction(Reduction::None)
}

/// Four tasks of four operations have 63 million orders.
#[test]
fn scenarios_that_have_too_many_orders_are_compared() {
    let large = |pop| {
        stack(pop)
            .threads(4..=4)
            .ops(4..=4)
            .scenarios(3)
            .explorer(drawn)
            .executions(200)
    };
    let report = large(right).run();
    assert!(report.failure.is_none() && report.histories > 100, "{report}");
    assert!(
        report
            .short
            .iter()
            .all(|short| short.starts_with("200 executions drawn")),
        "{report}"
    );
    let report = large(in_two).run();
    let calls = report.failure.unwrap().scenario.calls().count();
    assert!(calls <= 6, "{calls}");
}

#[test]
fn what_is_not_determined_is_told_of() {
    let report = refine(|| AtomicUsize::new(0))
        .op("guess", (), |n: &AtomicUsize, ()| {
            n.fetch_add(1, SeqCst) + choose(2)
        })
        .orders(0)
        .run();
    let failure = report.failure.unwrap();
    assert_eq!(failure.kind.as_str(), "nondeterministic_spec", "{failure}");
}

#[test]
fn what_fails_alone_is_told_of() {
    let report = refine(|| ())
        .op("fail", (), |(), ()| assert!(choose(1) == 1, "as ever"))
        .orders(0)
        .run();
    let failure = report.failure.unwrap();
    assert!(failure.message.contains("as ever"), "{failure}");
}

/// A limit that is reached is reported.
#[test]
fn a_limit_of_orders_is_told() {
    let report = stack(right)
        .threads(3..=3)
        .ops(4..=4)
        .orders(0)
        .scenarios(1)
        .explorer(drawn)
        .executions(2_000)
        .run();
    assert!(report.failure.is_none(), "{report}");
    let short = report.short.join("\n");
    assert!(
        short.contains("executions drawn") || short.contains("are not decided"),
        "{short}"
    );
}
