//! The growth of the checks of long histories: 10,000, 100,000 and 1,000,000 operations, and the exponent of the
//! growth.
//!
//! The exponents are of processor time, the least of three runs each, fitted by least squares in logarithms.

#![allow(clippy::print_stdout, reason = "the exponents are what this bench is for")]

use criterion::{BatchSize, Criterion, Throughput};
use intermezzo_refinement::check::long::{CheckLong, Long};
use intermezzo_refinement::history::History;
use intermezzo_refinement::specs::{counter, priority_queue, queue, register, set, stack};
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

mod made;

const SIZES: [usize; 3] = [10_000, 100_000, 1_000_000];

/// Returns the processor time that this process has used, in seconds.
fn processor_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn measure<S: CheckLong>(
    criterion: &mut Criterion,
    name: &str,
    specification: &S,
    made: fn(usize) -> History<S::Call, S::Return>,
) {
    let mut group = criterion.benchmark_group(name);
    group
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1));
    let mut points = Vec::new();
    for size in SIZES {
        let history = made(size);
        group.throughput(Throughput::Elements(size as u64));
        group.bench_function(size.to_string(), |bencher| {
            bencher.iter_batched(
                || (),
                |()| assert_eq!(specification.check_long(&history), Long::Linearizable),
                BatchSize::PerIteration,
            );
        });
        let least = (0..3)
            .map(|_| {
                let before = processor_seconds();
                assert_eq!(specification.check_long(&history), Long::Linearizable);
                processor_seconds() - before
            })
            .fold(f64::INFINITY, f64::min);
        points.push((size as f64, least));
    }
    group.finish();
    println!("{name}: n^{:.3}, {points:?}", exponent(&points));
}

/// Returns the slope of a line through the logarithms.
fn exponent(points: &[(f64, f64)]) -> f64 {
    let count = points.len() as f64;
    let logarithms: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let (x, y) = logarithms.iter().fold((0.0, 0.0), |(x, y), point| {
        (x + point.0 / count, y + point.1 / count)
    });
    let products = logarithms.iter().map(|point| (point.0 - x) * (point.1 - y));
    let squares = logarithms.iter().map(|point| (point.0 - x).powi(2));
    products.sum::<f64>() / squares.sum::<f64>()
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let criterion = &mut criterion;
    measure(criterion, "queue", &queue::Queue::unbounded(), made::queue);
    measure(criterion, "stack", &stack::Stack::new(), made::stack);
    let priority_queue = priority_queue::PriorityQueue::new();
    measure(criterion, "priority queue", &priority_queue, made::priority_queue);
    measure(criterion, "set", &set::Set::new(), made::set);
    measure(
        criterion,
        "register",
        &register::Register(u64::MAX),
        made::register,
    );
    measure(criterion, "counter", &counter::Counter(0), made::counter);
    criterion.final_summary();
}
